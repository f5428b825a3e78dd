//! Plugins: programs that see the graph of actions before it is final, and add actions and dependencies to it.
//!
//! A program gets one JSON document on its standard input and answers with one on its standard output; the page
//! `docs/howto/plugins.md` describes both. It is a command like any other: it runs only if the user allows commands. Each
//! plugin sees what those before it added. It must not know where plugins are named.

use crate::action::{Action, preprocess};
use crate::config::{ActionKind, ConfigKind};
use crate::draft::Draft;
use crate::graph::{Actions, Graph, Needed, build_graph};
use crate::ground::Ground;
use crate::phases::Phases;
use crate::place::NodeRef;
use crate::project::Project;
use crate::render::Config;
use crate::resolve::keep;
use crate::rules;
use ecow::EcoString;
use purlin_model::Plugin;
use purlin_syntax::write::JsonLayout;
use purlin_syntax::{Diagnostic, Flavor, Node, Span, Tree};
use purlin_value::emit::{Secrets, to_json};
use purlin_value::world::{Bounds, Command};
use purlin_value::{Map, Origin, Value, WorldError};
use std::sync::Arc;

/// The version of the exchange with plugins, part of every question.
pub const PROTOCOL: &str = "purlin-plugin/v1";

/// What a plugin may use to answer.
const BOUNDS: Bounds = Bounds { bytes: 8 << 20, seconds: 60 };

/// Maximum number of actions and dependencies in one answer.
const MOST_ADDITIONS: usize = 10_000;

/// Maximum length of a plugin's own message in a problem.
const MOST_SAID: usize = 400;

/// The keys of an answer.
const KEYS: &[&str] = &["protocol", "actions", "dependencies"];

/// Additions made by a plugin.
#[derive(Default)]
struct Additions {
    actions: Vec<(ActionKind, Config)>,
    dependencies: Vec<Link>,
}

/// A dependency that a plugin adds: the action that needs another, and the other, by their keys.
struct Link {
    from: EcoString,
    to: EcoString,
    span: Option<Span>,
}

/// The graph with the additions of the plugins of a request.
pub(crate) fn augmented(ground: &Ground<'_>, project: &Project, phases: &Phases, graph: Graph) -> Graph {
    let mut graph = graph;
    for plugin in &ground.request.plugins {
        let Some(tree) = ask(ground, project, plugin, &graph) else { continue };
        let additions = Reader { ground, project, plugin, tree: &tree }.read();
        graph = with(ground, project, phases, plugin, (graph, additions));
    }
    graph
}

/// The graph as plugins see it: names and dependencies, and no value that may be secret.
fn question(project: &Project, graph: &Graph) -> Value {
    let text = |text: &str| Value::str(text);
    let action = |action: &Arc<Action>| {
        let need = |need: &Needed| {
            Value::map(Map::from_iter([
                ("to".into(), Value::str(need.key.clone())),
                ("usesOutputs".into(), Value::from(need.needs_executed)),
            ]))
        };
        Value::map(Map::from_iter([
            ("id".into(), Value::str(action.key.clone())),
            ("kind".into(), text(action.kind.name())),
            ("type".into(), Value::str(action.type_name.clone())),
            ("name".into(), Value::str(action.name.clone())),
            ("disabled".into(), Value::from(action.disabled)),
            ("folder".into(), Value::str(action.source_folder.clone())),
            ("dependencies".into(), Value::list(graph.needs(&action.key).iter().map(need).collect())),
        ]))
    };
    Value::map(Map::from_iter([
        ("protocol".into(), text(PROTOCOL)),
        ("request".into(), text("augment")),
        ("project".into(), text(&project.name)),
        ("environment".into(), text(&project.environment)),
        ("actions".into(), Value::list(graph.actions.values().map(action).collect())),
    ]))
}

/// Runs a plugin and parses its answer. Problems are reported.
fn ask(ground: &Ground<'_>, project: &Project, plugin: &Plugin, graph: &Graph) -> Option<Arc<Tree>> {
    let session = ground.session;
    let question = question(project, graph);
    let stdin = to_json(&question, Secrets::Hide, JsonLayout::Compact).unwrap_or_default().into_bytes();
    let command =
        Command { argv: plugin.command.clone(), env: session.world.env_all(), folder: plugin.folder.clone(), stdin };
    let problem = match session.world.run_within(&command, BOUNDS) {
        Ok(output) if output.code == 0 => match String::from_utf8(output.stdout) {
            Ok(text) => return answer(ground, plugin, &text),
            Err(_) => "its answer is not UTF-8".to_owned(),
        },
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let said: String = said.trim().lines().last().unwrap_or_default().chars().take(MOST_SAID).collect();
            let said = if said.is_empty() { said } else { format!(": {said}") };
            format!("it ended with code {}{said}", output.code)
        }
        Err(WorldError::Denied(why)) => {
            let message = format!("plugin `{}` may not run", plugin.name);
            let denied = Diagnostic::nowhere(&purlin_value::rules::NOT_ALLOWED, message).hint(why);
            ground.push(denied, plugin.span);
            return None;
        }
        Err(error) => error.reason().to_owned(),
    };
    report(ground, plugin, plugin.span, &problem);
    None
}

fn report(ground: &Ground<'_>, plugin: &Plugin, span: Option<Span>, problem: &str) {
    ground.report(&rules::PLUGIN, span, format!("plugin `{}`: {problem}", plugin.name));
}

/// The tree of an answer, which is registered as a text of its own: problems point into it.
fn answer(ground: &Ground<'_>, plugin: &Plugin, text: &str) -> Option<Arc<Tree>> {
    let source = ground.session.sources.insert(&format!("(answer of plugin {})", plugin.name), text);
    let parse = || ground.session.parse_yaml(source, Flavor::Core);
    let (tree, is_sound) = ground.session.sink.succeeds(parse);
    if is_sound {
        ground.templates.read(&tree, ground.session);
    }
    is_sound.then_some(tree)
}

/// Reads one answer.
struct Reader<'r, 's> {
    ground: &'r Ground<'s>,
    project: &'r Project,
    plugin: &'r Plugin,
    tree: &'r Arc<Tree>,
}

impl Reader<'_, '_> {
    fn report(&self, at: Node<'_>, problem: &str) {
        report(self.ground, self.plugin, Some(at.span()), problem);
    }

    fn read(&self) -> Additions {
        let mut additions = Additions::default();
        let Some(root) = self.tree.root().filter(|root| root.is_map()) else {
            report(self.ground, self.plugin, self.plugin.span, "expected a mapping with `actions` and `dependencies`");
            return additions;
        };
        for key in root.entries().map(|entry| entry.key) {
            if !KEYS.contains(&key.text()) {
                self.report(key, &format!("unknown key `{}`; known keys: {}", key.text(), KEYS.join(", ")));
            }
        }
        if let Some(protocol) = root.get("protocol").filter(|protocol| protocol.text() != PROTOCOL) {
            self.report(protocol, &format!("expected protocol `{PROTOCOL}`, found `{}`", protocol.text()));
            return additions;
        }
        let [actions, dependencies] = ["actions", "dependencies"].map(|key| self.items(root, key));
        if actions.len() + dependencies.len() > MOST_ADDITIONS {
            self.report(root, &format!("it adds more than {MOST_ADDITIONS} actions and dependencies"));
            return additions;
        }
        additions.actions.extend(actions.into_iter().filter_map(|item| self.action(item)));
        additions.dependencies.extend(dependencies.into_iter().filter_map(|item| self.link(item)));
        additions
    }

    fn items<'t>(&self, root: Node<'t>, key: &str) -> Vec<Node<'t>> {
        match root.get(key) {
            Some(list) if list.is_list() => list.items().collect(),
            Some(other) => {
                self.report(other, &format!("expected a list of {key}"));
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// A text under a key that must be there.
    fn text(&self, item: Node<'_>, key: &str, what: &str) -> Option<EcoString> {
        let found = item.get(key).filter(|text| text.is_scalar() && !text.text().is_empty());
        if found.is_none() {
            self.report(item, &format!("{what} has no `{key}`"));
        }
        Some(found?.text().into())
    }

    fn action(&self, item: Node<'_>) -> Option<(ActionKind, Config)> {
        let [kind, type_name, name] = ["kind", "type", "name"].map(|key| self.text(item, key, "an action"));
        let (kind, type_name, name) = (kind?, type_name?, name?);
        let Some(known) = ActionKind::named(&kind) else {
            self.report(item, &format!("`{kind}` is no kind of action; expected Build, Deploy, Run or Test"));
            return None;
        };
        let config = Config {
            kind: ConfigKind::Action(known),
            type_name,
            name,
            body: Draft::Node(NodeRef::new(self.tree, item)),
            file: self.project.document.file.as_str().into(),
            folder: self.ground.root.as_str().into(),
            span: Some(item.span()),
            named: Origin::NONE,
            rendered: None,
            varies: true,
        };
        Some((known, config))
    }

    fn link(&self, item: Node<'_>) -> Option<Link> {
        let [from, to] = ["from", "to"].map(|key| self.text(item, key, "a dependency"));
        Some(Link { from: from?, to: to?, span: Some(item.span()) })
    }
}

/// The graph with the additions of one plugin.
fn with(
    ground: &Ground<'_>,
    project: &Project,
    phases: &Phases,
    plugin: &Plugin,
    (graph, additions): (Graph, Additions),
) -> Graph {
    let mut actions = graph.actions;
    for (kind, config) in additions.actions {
        keep(ground, &mut actions, preprocess(ground, project, phases, kind, config, None));
    }
    let mut added: Vec<(EcoString, Vec<EcoString>)> = Vec::new();
    for link in additions.dependencies {
        if let Some(missing) = [&link.from, &link.to].into_iter().find(|key| !actions.contains_key(*key)) {
            report(ground, plugin, link.span, &format!("a dependency names `{missing}`, which does not exist"));
            continue;
        }
        match added.iter_mut().find(|(from, _)| *from == link.from) {
            Some((_, to)) if to.contains(&link.to) => {}
            Some((_, to)) => to.push(link.to),
            None => added.push((link.from, vec![link.to])),
        }
    }
    for (from, to) in added {
        depend(ground, project, phases, &mut actions, (&from, &to));
    }
    build_graph(ground, actions)
}

/// Adds dependencies to an action, as if they were written in its configuration. The action is made anew, since others
/// may hold it.
fn depend(
    ground: &Ground<'_>,
    project: &Project,
    phases: &Phases,
    actions: &mut Actions,
    (from, to): (&EcoString, &[EcoString]),
) {
    let Some(action) = actions.get(from) else { return };
    let mut renewed = preprocess(ground, project, phases, action.kind, action.config.clone(), action.module.clone());
    if let Some(action) = Arc::get_mut(&mut renewed) {
        let written = action.fields.get("dependencies").and_then(Value::as_list).unwrap_or(&[]);
        let list = written.iter().cloned().chain(to.iter().filter_map(|key| dependency(key))).collect();
        action.fields.insert("dependencies".into(), Value::list(list));
        action.links.take();
    }
    actions.insert(from.clone(), renewed);
}

/// A dependency in the form of the evaluated field.
fn dependency(key: &str) -> Option<Value> {
    let (kind, name) = key.split_once('.')?;
    let kind = ActionKind::named(kind)?;
    let entry = [("kind".into(), Value::str(kind.name())), ("name".into(), Value::str(name))];
    Some(Value::map(Map::from_iter(entry)))
}
