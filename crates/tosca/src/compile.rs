//! All phases in order, for callers that need the complete result.

use crate::check;
use crate::edition::Standard;
use crate::entities;
use crate::evaluate::{Evaluator, Values};
use crate::finish;
use crate::library;
use crate::load::Options;
use crate::model::{self, Model};
use crate::multiply;
use crate::problem::{Problem, Problems};
use crate::render::{self, Inputs, MissingInputs};
use crate::resolve::{self, Resolution};
use crate::rules;
use crate::substitute::{self, Assigned, Nesting, Substituted};
use crate::topology::{Node, Requirement, Topology};
use crate::val::Text;
use purlin_model::Kind;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, RuleClass, Span};
use purlin_value::Session;
use std::sync::Arc;

/// The settings of a compilation.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// How files are read.
    pub options: Options,
    /// Values given from outside.
    pub inputs: Inputs,
    /// The location at which another project requests the service, if any.
    pub asked: Option<Span>,
    /// Whether inputs without a value are a problem; by default they are before TOSCA 2.0.
    pub missing: Option<MissingInputs>,
    /// Whether command line values are taken as strings where a string is expected, even if YAML would read them
    /// otherwise.
    pub plain_inputs: bool,
    /// Whether literal values are checked in a service that has other errors.
    pub judge_literals: bool,
    /// Whether other services are put in the place of nodes that ask for it.
    pub substitution: Substitution,
    /// Whether origins of values are recorded.
    pub track: bool,
    /// Whether requirements are left unresolved.
    pub unresolved: bool,
    /// Whether values are left unevaluated, so that no function is called and no constraint is checked.
    pub unevaluated: bool,
    /// The phase to stop after; by default all are run.
    pub stop: Option<u8>,
}

/// How nodes with the directive `substitute` are treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Substitution {
    /// Find a template for them.
    #[default]
    CarryOut,
    /// Leave it to an orchestrator, as Puccini does.
    Leave,
}

/// The result of a compilation.
#[derive(Debug)]
pub struct Compiled {
    /// Files, names and types.
    pub model: Arc<Model>,
    /// The rendered service.
    pub topology: Topology,
    /// The capability that meets each requirement.
    pub resolution: Arc<Resolution>,
    /// Nodes replaced by other services.
    pub substituted: Vec<Substituted>,
    /// All values, evaluated; none after a problem in an earlier phase.
    pub values: Arc<Values>,
    /// The problems found.
    pub problems: Problems,
}

/// Problems of types and definitions, which do not depend on inputs.
struct Checked(Problems);

/// Runs all phases.
pub fn compile(session: &Session, path: &str, settings: &Settings) -> Compiled {
    let mut problems = Problems::new();
    let mut model = model::build(session, path, &settings.options, &mut problems);
    model.given = settings.inputs.values().filter_map(|value| session.sources.get(value.span.file)).collect();
    model.given.dedup_by_key(|source| source.id());
    model.asked = settings.asked;
    model.plain_inputs = settings.plain_inputs;
    let model = Arc::new(model);
    let checked = |mut problems: Problems| {
        check::check(&model, &mut problems);
        library::collect(&model, &mut problems);
        problems
    };
    if model.files.edition.is_some() {
        problems = match session.has_variants() {
            true => {
                let about = settings.options.identity(path);
                session.in_common(&about, || Checked(checked(problems))).0.clone()
            }
            false => checked(problems),
        };
    }
    let root = model.files.root().map_or_else(|| path.to_owned(), |file| file.path.to_string());
    service(session, model, settings, &[], &mut Nesting::new(&root), problems)
}

/// The phases after the model is built, for a service that may be nested in another one.
pub(crate) fn service(
    session: &Session,
    model: Arc<Model>,
    settings: &Settings,
    assigned: &[Assigned],
    nesting: &mut Nesting,
    mut problems: Problems,
) -> Compiled {
    let mut topology = Topology::default();
    let mut resolution = Arc::<Resolution>::default();
    let mut substituted = Vec::new();
    let mut values = Arc::<Values>::default();
    let missing =
        settings.missing.unwrap_or(if model.edition().is_2() { MissingInputs::Accept } else { MissingInputs::Refuse });
    if model.files.edition.is_some() && settings.stop.is_none_or(|phase| phase >= 5) {
        topology = render::render(&model, &settings.inputs, missing, &mut problems);
        substitute::assign(&model, &mut topology, assigned);
    }
    // Requirements and values are checked only in a service that is sound so far: missing or misspelt names would be
    // reported a second time.
    if !is_invalid(&problems) && settings.stop.is_none() && is_whole(&model, &topology) {
        if model.edition().is_2() {
            topology = multiply::multiply(&model, topology, &mut problems);
        }
        if !settings.unresolved {
            resolution = resolved(&model, &topology, &mut problems);
        }
        if !is_invalid(&problems) {
            if settings.substitution == Substitution::CarryOut {
                let within = substitute::Service { session, settings, model: &model, resolution: &resolution };
                (topology, substituted) = within.substitute(topology, nesting, &mut problems);
            }
            if !settings.unevaluated {
                let mut evaluator = Evaluator::with_resolution(&model, &topology, &resolution);
                evaluator.origins = settings.track.then_some(&session.origins);
                let frame = model.frame().filter(|frame| frame.holds(&topology, &resolution));
                if let Some(frame) = frame {
                    evaluator = evaluator.among_variants(frame.values.get().cloned());
                }
                finish::check_all(&mut evaluator, &topology);
                problems.absorb(evaluator.problems());
                let is_steady = evaluator.is_steady();
                values = Arc::new(evaluator.into_values());
                if let Some(frame) = frame.filter(|_| is_steady) {
                    // The values of the first variant are kept.
                    frame.values.get_or_init(|| values.clone());
                }
            }
        }
    }
    if is_invalid(&problems) && settings.judge_literals && settings.stop.is_none() && !settings.unevaluated {
        let mut evaluator = Evaluator::with_resolution(&model, &topology, &resolution);
        finish::check_literals(&mut evaluator, &topology);
        take_news(&mut problems, evaluator.problems());
    }
    // Evaluation on behalf of a decision reports only exceeded limits.
    let told = |problem: &Problem| problem.diagnostic.rule.class == RuleClass::Limit;
    if let Some(diagnostic) = model.budget.exceeded().filter(|_| !problems.list().iter().any(told)) {
        problems.push(diagnostic.clone());
    }
    Compiled { model, topology, resolution, substituted, values, problems }
}

/// The capability that meets each requirement. Where no input decides, it is the same in all variants of a project.
fn resolved(model: &Model, topology: &Topology, problems: &mut Problems) -> Arc<Resolution> {
    let frame = model.frame().filter(|frame| frame.has_nodes_of(topology));
    if let Some(known) = frame.and_then(|frame| frame.resolution.get()) {
        return known.clone();
    }
    let before = problems.len();
    let (resolution, varies) = resolve::resolve_watched(model, topology, problems);
    let resolution = Arc::new(resolution);
    if let Some(frame) = frame.filter(|_| !varies && problems.len() == before) {
        frame.resolution.get_or_init(|| resolution.clone());
    }
    resolution
}

/// Takes problems of values that are not reported yet.
fn take_news(problems: &mut Problems, found: &Problems) {
    let span = |problem: &Problem| problem.diagnostic.span;
    let known: Vec<Span> = problems.list().iter().filter_map(span).collect();
    let is_known = |at: Span| known.iter().any(|k| k.file == at.file && k.start < at.end && at.start < k.end);
    for problem in found.list().iter().filter(|problem| span(problem).is_some_and(|at| !is_known(at))) {
        problems.add(problem.clone());
    }
    found.hidden().iter().for_each(|span| problems.hide(*span));
}

/// Whether all nodes and their requirements are known. The declarations of an unread import may have any capability
/// and any value, so requirements and references cannot be judged.
fn is_whole(model: &Model, topology: &Topology) -> bool {
    if model.host.is_some() || !model.files.any_unread {
        return true;
    }
    let service = model.service();
    let templates = service.map_or(0, |service| service.entries("node_templates").count());
    let is_unread = |text: &Text, kind: Kind| {
        let template = service.and_then(|service| service.named("node_templates", &text.text));
        let declared = model.names.find(text.span.file, kind, &text.text);
        template.is_none() && declared.is_none() && model.files.may_be_unread(text)
    };
    let is_known = |requirement: &Requirement| {
        [&requirement.assignment, &requirement.definition].into_iter().flatten().all(|entity| {
            !entity.text("node").is_some_and(|text| is_unread(text, entities::NODE_TYPE))
                && !entity.text("capability").is_some_and(|text| is_unread(text, entities::CAPABILITY_TYPE))
        })
    };
    let whole = |node: &Arc<Node>| !node.partial && node.requirements.iter().all(is_known);
    topology.nodes.len() == templates && topology.nodes.values().all(whole)
}

/// Whether the configuration is invalid. Missing permissions and failed downloads do not make it so.
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
    let near = crate::suggest::did_you_mean(name, known);
    Diagnostic::nowhere(&rules::QUIRK, what::unknown("quirk", name)).maybe_hint(near)
}
