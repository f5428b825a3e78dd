//! All phases in order, for those who want the whole answer.

use crate::check;
use crate::evaluate::Evaluator;
use crate::finish;
use crate::load::Options;
use crate::model::{self, Model};
use crate::problem::Problems;
use crate::render::{self, Inputs, MissingInputs};
use crate::resolve::{self, Resolution};
use crate::rules;
use crate::topology::Topology;
use purlin_syntax::{Diagnostic, RuleClass};
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
    /// The phase to stop after; all are gone through if nothing is said.
    pub stop: Option<u8>,
}

/// What came of it.
#[derive(Debug)]
pub struct Compiled {
    /// Files, names and types.
    pub model: Model,
    /// The rendered service.
    pub topology: Topology,
    /// Which capability meets which requirement.
    pub resolution: Resolution,
    /// What is wrong.
    pub problems: Problems,
}

/// Reads, links, inherits and renders.
pub fn compile(session: &Session, path: &str, settings: &Settings) -> Compiled {
    let mut problems = Problems::new();
    let model = model::build(session, path, &settings.options, &mut problems);
    let mut topology = Topology::default();
    let mut resolution = Resolution::default();
    if model.files.edition.is_some() {
        check::check(&model, &mut problems);
        let missing = settings.missing.unwrap_or(if model.edition().is_2() {
            MissingInputs::Accept
        } else {
            MissingInputs::Refuse
        });
        if settings.stop.is_none_or(|phase| phase >= 5) {
            topology = render::render(&model, &settings.inputs, missing, &mut problems);
        }
    }
    // Requirements and values are looked at only in a service that is sound so far: what is missing or misspelt would
    // be reported a second time.
    if !is_invalid(&problems) && settings.stop.is_none() {
        resolution = resolve::resolve(&model, &topology, &mut problems);
        if !is_invalid(&problems) {
            let mut evaluator = Evaluator::with_resolution(&model, &topology, &resolution);
            finish::check_all(&mut evaluator, &topology);
            let found = evaluator.problems().list().to_vec();
            found.into_iter().for_each(|problem| problems.add(problem));
        }
    }
    Compiled { model, topology, resolution, problems }
}

/// Whether the configuration is invalid; that something was not allowed or could not be fetched says nothing about it.
pub fn is_invalid(problems: &Problems) -> bool {
    let outside = |diagnostic: &Diagnostic| {
        diagnostic.rule.class == RuleClass::Denied || diagnostic.rule == &purlin_value::rules::FETCH_FAILED
    };
    problems.list().iter().any(|problem| problem.diagnostic.is_error() && !outside(&problem.diagnostic))
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
