//! Keys available in each phase: the layers added to the project's scope, phase by phase.
//!
//! [`KEYS`] is the one list of template keys and when they become available; messages and the reference page read it.

use crate::bind::Env;
use crate::ground::Ground;
use crate::project::Project;
use crate::scopes::{Cell, Late};
use crate::vars::VarScope;
use ecow::EcoString;
use purlin_value::{Eval, Layer, Lookup, Map, MapLayer, Scope, Value};
use std::sync::Arc;

/// A key of templates, the phase it is available from, and its description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemplateKey {
    /// The key at the top of a lookup.
    pub name: &'static str,
    /// From when on it exists, as the end of "it exists …"; empty if always.
    pub phase: &'static str,
    /// Description, in one sentence; if the key has fields of its own, without full stop, and they follow.
    doc: &'static str,
    /// The keys below it, if they are fixed.
    pub fields: &'static [&'static str],
}

const fn key(name: &'static str, phase: &'static str, doc: &'static str) -> TemplateKey {
    TemplateKey { name, phase, doc, fields: &[] }
}

impl TemplateKey {
    const fn with(mut self, fields: &'static [&'static str]) -> Self {
        self.fields = fields;
        self
    }

    /// Description, in one sentence.
    pub fn sentence(&self) -> String {
        match self.fields {
            [] => self.doc.to_owned(),
            fields => format!("{}: `{}`.", self.doc, fields.join("`, `")),
        }
    }
}

/// The fixed keys below a key; empty if they depend on the project.
pub fn fields(name: &str) -> &'static [&'static str] {
    KEYS.iter().find(|key| key.name == name).map_or(&[], |key| key.fields)
}

/// All keys.
pub const KEYS: &[TemplateKey] = &[
    key("local", "", "The machine").with(&[
        "env",
        "username",
        "usernameLowerCase",
        "platform",
        "arch",
        "projectPath",
        "artifactsPath",
    ]),
    key("command", "", "The command that runs").with(&["name", "params"]),
    key("datetime", "", "The time of this run").with(&["now", "today", "timestamp"]),
    key("project", "", "The project").with(&["name"]),
    key("git", "", "The repository").with(&["branch", "commitHash", "originUrl"]),
    key("secrets", "from the project's own fields on", "Values of `importVariables` and `--secret-file`; never shown."),
    key("imported", "from the project's own fields on", "The same as `secrets`."),
    key("var", "from the project's own fields on", "Variables, the nearest scope first."),
    key("variables", "from the project's own fields on", "The same as `var`."),
    key("environment", "once the environment is chosen", "The environment").with(&["name", "fullName", "namespace"]),
    key("providers", "once providers are resolved", "Providers by name, with `config` and `outputs`."),
    key("modules", "once modules are resolved", "Modules by name, with `path`, `version`, `outputs`, `var`."),
    key("runtime", "in actions and modules", "Outputs of Deploys (`services`) and Runs (`tasks`)."),
    key(
        "actions",
        "in `spec` and `variables` of actions",
        "Actions by kind and name, with `outputs`, `version`, `var` and more.",
    ),
    key("inputs", "in configurations made from a template", "What the use of the template gives."),
    key("parent", "in configurations made from a template", "The use of the template").with(&["name"]),
    key("template", "in configurations made from a template", "The template").with(&["name"]),
    key("this", "in actions and modules", "The action or module itself").with(&[
        "name",
        "mode",
        "buildPath",
        "sourcePath",
    ]),
    key("item", "inside `$forEach`", "The item of this round").with(&["key", "value"]),
    key("steps", "in steps of workflows and commands", "Earlier steps by name, with `outputs` and `log`."),
    key("args", "in commands of your own", "The command's arguments."),
    key("opts", "in commands of your own", "The command's options."),
];

/// The subject of one phase, and the keys its templates have besides those that always exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// The subject.
    pub what: &'static str,
    /// The keys.
    pub keys: &'static [&'static str],
}

const fn phase(what: &'static str, keys: &'static [&'static str]) -> Phase {
    Phase { what, keys }
}

/// All phases in order. Keys that a template adds (`inputs`, `parent`, `template`) exist only in its results.
pub const PHASES: &[Phase] = &[
    phase("`defaultEnvironment` of the project", &[]),
    phase("other fields of the project, its variables", &["secrets", "imported", "var", "variables"]),
    phase("`environments` of the project", &["secrets", "imported", "var", "variables"]),
    phase(
        "`sources`, `scan`, `excludeValuesFromActionVersions`",
        &["secrets", "imported", "var", "variables", "environment"],
    ),
    phase("uses of templates (`template`, `disabled`, `matrix`)", &["secrets", "imported", "var", "variables"]),
    phase(
        "names and paths that templates make",
        &["secrets", "imported", "var", "variables", "inputs", "parent", "template"],
    ),
    phase("providers", &["secrets", "imported", "var", "variables", "environment", "providers"]),
    phase(
        "modules",
        &[
            "secrets",
            "imported",
            "var",
            "variables",
            "environment",
            "providers",
            "modules",
            "runtime",
            "inputs",
            "parent",
            "template",
            "this",
        ],
    ),
    phase(
        "fields of actions (`include`, `disabled`, `dependencies`, `timeout`, …)",
        &["secrets", "imported", "var", "variables", "environment", "inputs", "parent", "template", "this"],
    ),
    phase(
        "`spec` and `variables` of actions, inputs of templates",
        &[
            "secrets",
            "imported",
            "var",
            "variables",
            "environment",
            "providers",
            "modules",
            "runtime",
            "actions",
            "inputs",
            "parent",
            "template",
            "this",
        ],
    ),
    phase(
        "workflows",
        &["secrets", "imported", "var", "variables", "environment", "inputs", "parent", "template", "steps"],
    ),
    phase(
        "commands of your own",
        &[
            "secrets",
            "imported",
            "var",
            "variables",
            "environment",
            "providers",
            "modules",
            "runtime",
            "actions",
            "steps",
            "args",
            "opts",
        ],
    ),
    phase(
        "`outputs` of the project",
        &["secrets", "imported", "var", "variables", "environment", "providers", "modules", "runtime", "actions"],
    ),
];

/// The lowest layer: the keys that exist later.
pub struct LaterKeys;

impl Layer for LaterKeys {
    fn name(&self) -> &str {
        "later phases"
    }

    fn get(&self, key: &str, _eval: &mut Eval<'_>) -> Lookup {
        match KEYS.iter().find(|known| known.name == key && !known.phase.is_empty()) {
            Some(known) => Lookup::Later { phase: known.phase },
            None => Lookup::NotHere { available: Vec::new() },
        }
    }

    fn keys(&self) -> Vec<EcoString> {
        Vec::new()
    }
}

/// The scopes of everything after the environment.
#[derive(Clone)]
pub struct Phases {
    /// Base keys and environment, without variables.
    scope: Scope,
    providers: Cell,
    modules: Cell,
    actions: Cell,
    /// Everything but variables in actions, before the graph and after.
    bases: [Scope; 2],
    /// Everything but variables, in names made by templates.
    names: Scope,
}

/// Whether the graph exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Before: other actions are not known.
    PreGraph,
    /// After: other actions are known, outputs of runs are pending.
    Full,
}

impl Phases {
    /// Scopes upon a project's.
    pub fn new(ground: &Ground<'_>, project: &Project) -> Self {
        let [providers, modules, actions] = [ground.cell(), ground.cell(), ground.cell()];
        let scope = project.scope.clone();
        let shared = scope.push(Late::new("providers", &providers)).push(Late::new("modules", &modules));
        let bases = [shared.push(unknown_actions()), shared.push(Late::new("actions", &actions))];
        let names = project.early.push(unknown_actions());
        Phases { scope, providers, modules, actions, bases, names }
    }

    /// The same for other actions, which are not known yet.
    pub fn renewed(&self, ground: &Ground<'_>) -> Self {
        let actions = ground.cell();
        let shared = self.scope.push(Late::new("providers", &self.providers));
        let after = shared.push(Late::new("modules", &self.modules)).push(Late::new("actions", &actions));
        let [before, _] = &self.bases;
        Phases { actions, bases: [before.clone(), after], ..self.clone() }
    }

    /// The cell that `providers` is read from: a map with that one key.
    pub fn providers(&self) -> &Cell {
        &self.providers
    }

    /// The cell that `modules` is read from.
    pub fn modules(&self) -> &Cell {
        &self.modules
    }

    /// The cell that `actions` and `runtime` are read from once the graph exists.
    pub fn actions(&self) -> &Cell {
        &self.actions
    }

    /// The scope of provider configurations.
    pub(crate) fn provider_scope(&self, vars: &VarScope) -> Scope {
        vars.over(&self.scope.push(Late::new("providers", &self.providers)))
    }

    /// Everything but variables, in modules, which are resolved before the graph exists.
    pub(crate) fn module_base(&self) -> Scope {
        let scope = self.scope.push(Late::new("providers", &self.providers)).push(Late::new("modules", &self.modules));
        scope.push(unknown_runtime())
    }

    /// Everything but variables, in the fields that every action has: they determine the graph, so keys of later phases
    /// do not exist for them.
    pub(crate) fn field_base(&self) -> &Scope {
        &self.scope
    }

    /// Everything but variables, in uses of templates and in the names they make, which come before the environment.
    pub(crate) fn name_base(&self) -> &Scope {
        &self.names
    }

    /// Everything but variables, in actions and in configurations that are read after them.
    pub(crate) fn action_base(&self, stage: Stage) -> &Scope {
        let [before, after] = &self.bases;
        match stage {
            Stage::PreGraph => before,
            Stage::Full => after,
        }
    }
}

/// Before the graph exists, everything about other actions is unknown.
fn unknown_actions() -> MapLayer {
    let layer = ["actions", "runtime"].map(|key| (EcoString::from(key), Value::pending("graph", key)));
    MapLayer::new("actions", Value::map(Map::from_iter(layer)))
}

fn unknown_runtime() -> MapLayer {
    let layer = Map::from_iter([("runtime".into(), Value::pending("graph", "runtime"))]);
    MapLayer::new("runtime", Value::map(layer))
}

/// An environment for templates at a stage.
pub(crate) fn env_at(ground: &Ground<'_>, scope: Scope, stage: Stage) -> Arc<Env> {
    let mut env = ground.plain_env(scope);
    env.pre_graph = stage == Stage::PreGraph;
    Arc::new(env)
}
