//! All phases in order, for those who want the whole answer.

use crate::check;
use crate::load::Options;
use crate::model::{self, Model};
use crate::problem::Problems;
use crate::render::{self, Inputs, MissingInputs};
use crate::rules;
use crate::topology::Topology;
use purlin_syntax::Diagnostic;
use purlin_value::Session;

/// What to compile with.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// How files are read.
    pub options: Options,
    /// Values given from outside.
    pub inputs: Inputs,
    /// Whether inputs without a value are a problem; if nothing is said, they are before TOSCA 2.0.
    pub missing: Option<MissingInputs>,
}

/// What came of it.
#[derive(Debug)]
pub struct Compiled {
    /// Files, names and types.
    pub model: Model,
    /// The rendered service.
    pub topology: Topology,
    /// What is wrong.
    pub problems: Problems,
}

/// Reads, links, inherits and renders.
pub fn compile(session: &Session, path: &str, settings: &Settings) -> Compiled {
    let mut problems = Problems::new();
    let model = model::build(session, path, &settings.options, &mut problems);
    let mut topology = Topology::default();
    if model.files.edition.is_some() {
        check::check(&model, &mut problems);
        let missing = settings.missing.unwrap_or(if model.edition().is_2() {
            MissingInputs::Accept
        } else {
            MissingInputs::Refuse
        });
        topology = render::render(&model, &settings.inputs, missing, &mut problems);
    }
    Compiled { model, topology, problems }
}

/// The problem of quirks that do not exist.
pub fn unknown_quirk(name: &str) -> Diagnostic {
    let known = crate::quirks::QUIRKS
        .iter()
        .map(|(name, _)| *name)
        .chain(crate::quirks::COMBINATIONS.iter().map(|(name, _)| *name));
    let near = crate::suggest::nearest(name, known).map(|near| format!("did you mean `{near}`?"));
    Diagnostic::nowhere(&rules::QUIRK, format!("there is no quirk `{name}`")).maybe_hint(near)
}
