//! The graph of actions: the dependencies of each, from its fields and from references of its templates.

use crate::action::Action;
use crate::config::ActionKind;
use crate::draft::Draft;
use crate::entities::spec_type;
use crate::ground::Ground;
use crate::references::{Reference, Step, references};
use crate::rules;
use ecow::EcoString;
use purlin_graph::Digraph;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, Rule, Span, suggest};
use purlin_value::{FastIndex, Value};
use std::sync::Arc;

/// Kind of dependency of one action on another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needed {
    /// The other action's key.
    pub key: EcoString,
    /// Its kind.
    pub kind: ActionKind,
    /// Its name.
    pub name: EcoString,
    /// The user wrote it, or it is a Build whose outputs are used.
    pub explicit: bool,
    /// A part of it that is known before it runs is used.
    pub needs_static: bool,
    /// A part of it that is known only after it runs is used.
    pub needs_executed: bool,
    /// Where it is written.
    pub span: Option<Span>,
    /// Parts read by references, as written behind its name.
    pub read: Vec<EcoString>,
}

/// Actions by key, in the order they were found.
pub type Actions = FastIndex<EcoString, Arc<Action>>;

/// All actions with their dependencies.
pub struct Graph {
    /// The actions.
    pub actions: Actions,
    /// Dependencies of each action, in the same order.
    pub needs: FastIndex<EcoString, Vec<Needed>>,
    /// Actions that templates refer to and that do not exist, or that refer to themselves, which was reported.
    pub missing: Vec<(ActionKind, EcoString)>,
    /// Actions that are part of a cycle, or depend on one; they have no version.
    pub cyclic: Vec<EcoString>,
}

/// Builds the graph and reports its problems.
pub(crate) fn build_graph(ground: &Ground<'_>, actions: Actions) -> Graph {
    let mut missing = Vec::new();
    let needs: FastIndex<EcoString, Vec<Needed>> = actions
        .values()
        .map(|action| (action.key.clone(), action_needs(ground, action, &actions, &mut missing)))
        .collect();
    let cyclic = report_cycles(ground, &actions, &needs);
    Graph { actions, needs, missing, cyclic }
}

impl Graph {
    /// Dependencies of an action.
    pub fn needs(&self, key: &str) -> &[Needed] {
        self.needs.get(key).map_or(&[], Vec::as_slice)
    }
}

fn action_needs(
    ground: &Ground<'_>,
    action: &Action,
    actions: &Actions,
    missing: &mut Vec<(ActionKind, EcoString)>,
) -> Vec<Needed> {
    let mut needs: Vec<Needed> = Vec::new();
    let links = action.links.get_or_init(|| Links::of(ground, action));
    for (field, need) in &links.explicit {
        if !actions.contains_key(&need.key) {
            report_missing(ground, actions, need, Some((field, &action.key)));
            continue;
        }
        add(&mut needs, need.clone());
    }
    for reference in &links.references {
        let Some(need) = referred(ground, action, actions, reference) else { continue };
        if actions.contains_key(&need.key) && need.key != action.key {
            add(&mut needs, need);
        } else {
            missing.push((need.kind, need.name));
        }
    }
    needs.shrink_to_fit();
    needs
}

/// References of an action to others, whether or not they exist.
#[derive(Debug)]
pub struct Links {
    /// Actions named by its fields, with the field.
    explicit: Vec<(&'static str, Needed)>,
    /// References of its templates.
    references: Vec<Reference>,
    /// Problems that looking for references met.
    pub problems: Vec<Diagnostic>,
    /// Whether the references differ between environments.
    pub varies: bool,
}

impl Links {
    fn of(ground: &Ground<'_>, action: &Action) -> Self {
        let before = ground.session.sink.len();
        let inputs: Vec<Draft> =
            action.rendered().map(|r| r.inputs.iter().map(|(_, draft)| draft.clone()).collect()).unwrap_or_default();
        let drafts: Vec<&Draft> = std::iter::once(&action.config.body).chain(&inputs).collect();
        let find = || {
            let env = action.before_graph();
            env.map_or_else(Vec::new, |env| references(ground, &env, &["actions", "runtime"], &drafts))
        };
        let (mut references, varies) = ground.watched(find);
        let problems = ground.session.sink.since(before);
        references.shrink_to_fit();
        Links { explicit: explicit_needs(ground, action), references, problems, varies }
    }

    /// The actions that its fields name, with where.
    pub(crate) fn named(&self) -> impl Iterator<Item = (EcoString, Span)> + '_ {
        self.explicit.iter().filter_map(|(_, need)| Some((need.key.clone(), need.span?)))
    }

    /// Whether another action is named under `dependencies` and nowhere else among its fields.
    pub(crate) fn only_lists(&self, key: &str) -> bool {
        self.explicit.iter().filter(|(_, need)| need.key == key).all(|(field, _)| *field == "dependencies")
    }

    /// Whether everything it refers to is an action that it names.
    pub(crate) fn are_definite(&self) -> bool {
        let is_named = |reference: &Reference| (0..3).all(|step| reference.name(step).is_some());
        self.references.iter().all(is_named)
    }
}

/// One entry for each other action; flags add up.
fn add(needs: &mut Vec<Needed>, need: Needed) {
    match needs.iter_mut().find(|known| known.key == need.key) {
        Some(known) => {
            known.explicit |= need.explicit;
            known.needs_static |= need.needs_static;
            known.needs_executed |= need.needs_executed;
            for read in need.read {
                if !known.read.contains(&read) {
                    known.read.push(read);
                }
            }
        }
        None => needs.push(need),
    }
}

fn needed(kind: ActionKind, name: &str, span: Option<Span>) -> Needed {
    let key = ecow::eco_format!("{}.{name}", kind.lower());
    let read = Vec::new();
    Needed { key, kind, name: name.into(), explicit: false, needs_static: false, needs_executed: false, span, read }
}

/// Actions named by `dependencies`, `build` and `copyFrom`.
fn explicit_needs(ground: &Ground<'_>, action: &Action) -> Vec<(&'static str, Needed)> {
    let mut found = Vec::new();
    let mut push = |field: &'static str, kind: Option<ActionKind>, name: Option<&str>, span: Option<Span>| {
        if let (Some(kind), Some(name)) = (kind, name) {
            found.push((field, Needed { explicit: true, ..needed(kind, name, span) }));
        }
    };
    for item in action.fields.get("dependencies").and_then(Value::as_list).unwrap_or(&[]) {
        let kind = item.get("kind").and_then(Value::as_str).and_then(ActionKind::named);
        push("dependencies", kind, item.get("name").and_then(Value::as_str), ground.span_of(item));
    }
    if let Some(build) = action.fields.get("build") {
        push("build", Some(ActionKind::Build), build.as_str(), ground.span_of(build));
    }
    for copy in action.fields.get("copyFrom").and_then(Value::as_list).unwrap_or(&[]) {
        let build = copy.get("build");
        let span = build.and_then(|build| ground.span_of(build)).or_else(|| ground.span_of(copy));
        push("copyFrom", Some(ActionKind::Build), build.and_then(Value::as_str), span);
    }
    found.shrink_to_fit();
    found
}

/// The target of a template's reference.
fn referred(ground: &Ground<'_>, action: &Action, actions: &Actions, reference: &Reference) -> Option<Needed> {
    let bad = |message: String| {
        let diagnostic = Diagnostic::nowhere(&rules::ACTION_REFERENCE, message);
        let hint = "write it as `actions.run.my-run.outputs.log`";
        ground.push(diagnostic.hint(hint), reference.span);
    };
    if reference.path.iter().take(3).any(|step| *step == Step::Broken) {
        return None;
    }
    if reference.path.iter().take(3).any(|step| *step == Step::Secret) {
        ground.report_secret_name("actions", reference.span);
        return None;
    }
    let Some(word) = reference.name(1) else {
        bad("a reference to an action needs its kind, known before anything runs".into());
        return None;
    };
    let kind = match (reference.name(0).map(EcoString::as_str), word.as_str()) {
        (Some("runtime"), "services") => ActionKind::Deploy,
        (Some("runtime"), "tasks") => ActionKind::Run,
        (Some("actions"), "build") => ActionKind::Build,
        (Some("actions"), "deploy") => ActionKind::Deploy,
        (Some("actions"), "run") => ActionKind::Run,
        (Some("actions"), "test") => ActionKind::Test,
        // A key that does not exist is reported by evaluation.
        _ => return None,
    };
    let Some(name) = reference.name(2) else {
        bad(format!("a reference to a {} action needs its name, known before anything runs", kind.name()));
        return None;
    };
    let mut need = needed(kind, name, reference.span);
    need.read.extend(read_of(reference));
    let Some(other) = actions.get(&need.key) else {
        report_missing(ground, actions, &need, None);
        return Some(need);
    };
    if other.key == action.key {
        let message = format!("`{}` cannot refer to itself", action.key);
        ground.report(&rules::SELF_REFERENCE, reference.span, message);
        return Some(need);
    }
    if reference.name(3).is_some_and(|field| field == "outputs") {
        let known = spec_type(&other.type_name, kind);
        let listed = known.map_or(&[] as &[&str], |spec| spec.static_outputs);
        let is_static = reference.name(4).is_some_and(|output| listed.contains(&output.as_str()));
        if let Some(output) = reference.name(4).filter(|_| !is_static) {
            warn_of_near_output(ground, other, output, listed, reference.span);
        }
        // The outputs of a project of another dialect are known, and yet it comes before its dependents.
        need.needs_static = is_static || known.is_some_and(|spec| spec.is_project());
        need.needs_executed = !is_static;
        need.explicit = kind == ActionKind::Build;
    } else {
        need.needs_static = true;
    }
    Some(need)
}

/// The part of an action that a reference reads: `outputs.host`, `version`. Parts computed at run time are left out.
fn read_of(reference: &Reference) -> Option<EcoString> {
    let steps: Vec<&str> =
        (3..reference.path.len()).map_while(|step| reference.name(step)).map(EcoString::as_str).collect();
    (!steps.is_empty()).then(|| steps.join(".").into())
}

fn report_missing(ground: &Ground<'_>, actions: &Actions, need: &Needed, field: Option<(&str, &EcoString)>) {
    if ground.misses_source() {
        return;
    }
    let same_kind = actions.values().filter(|action| action.kind == need.kind).map(|action| action.name.as_str());
    let other_kind = || {
        let other = actions.values().find(|action| action.name == need.name)?;
        Some(format!("there is `{}`", other.key).into())
    };
    let near = suggest::nearest(&need.name, same_kind);
    let near = near.map(|name| match field {
        None => Hint::meant(need.name.as_str(), name),
        Some(_) => {
            let kind = need.kind.name().to_lowercase();
            Hint::meant(format!("{kind}.{}", need.name), format!("{kind}.{name}"))
        }
    });
    let hint = near.or_else(other_kind);
    let unknown = what::unknown("action", &need.key);
    let message = match field {
        Some((field, of)) => unknown.under(format!("`{field}` of `{of}`: ")),
        None => unknown,
    };
    ground.push(Diagnostic::nowhere(&rules::MISSING_ACTION, message).maybe_hint(hint), need.span);
}

/// An output that a type of actions does not have, and that is nearly called like one that it has: Garden only finds
/// out when the action has run.
fn warn_of_near_output(ground: &Ground<'_>, of: &Action, output: &str, listed: &[&str], span: Option<Span>) {
    let Some(near) = suggest::nearest(output, listed.iter().copied()) else { return };
    let message = what::unknown("output", output).and(format!(" of `{}`, which is of type `{}`", of.key, of.type_name));
    let diagnostic = Diagnostic::nowhere(&rules::UNKNOWN_KEY, message).warning();
    ground.push(diagnostic.hint(Hint::meant(output, near)), span);
}

/// Reports every cycle once, with the location of each step. Returns all actions that reach one.
fn report_cycles(ground: &Ground<'_>, actions: &Actions, needs: &FastIndex<EcoString, Vec<Needed>>) -> Vec<EcoString> {
    let mut graph: Digraph<EcoString> = Digraph::new();
    for key in actions.keys() {
        graph.add(key.clone());
    }
    for (key, list) in needs {
        for need in list {
            graph.connect(key.clone(), need.key.clone());
        }
    }
    let cycles = graph.cycles();
    if cycles.is_empty() {
        return Vec::new();
    }
    let mut members: Vec<EcoString> = Vec::new();
    // Builds of modules need each other because their modules do, which was reported there.
    let from_module =
        |key: &EcoString| actions.get(key).is_some_and(|a| a.kind == ActionKind::Build && a.module.is_some());
    for cycle in &cycles {
        if !cycle.path.iter().all(from_module) {
            report_cycle(ground, &cycle.path, needs);
        }
        members.extend(cycle.path.iter().cloned());
    }
    let reversed = graph.reversed();
    reversed.reachable(members.iter()).into_iter().cloned().collect()
}

fn report_cycle(ground: &Ground<'_>, keys: &[EcoString], needs: &FastIndex<EcoString, Vec<Needed>>) {
    report_dependency_cycle(ground, &rules::ACTION_CYCLE, "circular dependency", keys, |key, next| {
        needs.get(key)?.iter().find(|need| need.key == *next)?.span
    });
}

/// Reports a dependency cycle; `place` returns where one names the next.
pub(crate) fn report_dependency_cycle(
    ground: &Ground<'_>,
    rule: &'static Rule,
    what: &str,
    names: &[EcoString],
    place: impl Fn(&EcoString, &EcoString) -> Option<Span>,
) {
    let following = names.iter().cycle().skip(1);
    let members: Vec<_> = names.iter().zip(following).map(|(name, next)| (name, place(name, next))).collect();
    ground.push(Diagnostic::cycle(rule, what, &members).hint("remove one of these dependencies"), None);
}
