//! Workflows and the user's own commands: they run later, but their mistakes are found now.
//!
//! All known values are evaluated. Outputs of earlier steps and the user's arguments are pending; a later step or an
//! undeclared argument does not exist.

use crate::bind::{Binder, Env};
use crate::draft::Draft;
use crate::phases::{Stage, env_at};
use crate::render::Config;
use crate::resolve::Resolution;
use crate::vars::VarSource;
use ecow::EcoString;
use purlin_value::{Data, Eval, Map, MapLayer, Value};
use std::sync::Arc;

/// The key of the steps, in a configuration and in templates.
const STEPS: &str = "steps";

/// Keys with the work of a step, which is known only when it runs.
pub(crate) const WORK: &[&str] = &["command", "script"];

/// Arguments that every command has: the whole command line, the rest of it, and the part after `--`.
const GIVEN_ARGUMENTS: &[&str] = &["$all", "$rest", "--"];

/// Evaluates all workflows and commands; problems go to the sink.
pub(crate) fn evaluate_all(resolution: &Resolution<'_>) {
    for workflow in &resolution.workflows {
        evaluate(resolution, workflow, &workflow_env(resolution, workflow));
    }
    for command in &resolution.commands {
        evaluate(resolution, command, &command_env(resolution, command, &pending_arguments(command)));
    }
}

/// The scope of a workflow's templates; one made by a template also has that template's scope.
fn workflow_env(resolution: &Resolution<'_>, workflow: &Config) -> Arc<Env> {
    let ground = &resolution.ground;
    let env = ground.env(resolution.project.full_scope());
    match &workflow.rendered {
        Some(rendered) => env.with_scope(env.scope.push(rendered.layer(ground, &env))),
        None => env,
    }
}

fn evaluate(resolution: &Resolution<'_>, config: &Config, env: &Arc<Env>) {
    let session = resolution.ground.session;
    let force = |draft: &Draft, env: &Arc<Env>| {
        let bound = draft.bind(&mut Binder::new(env));
        Eval::new(session).force_deep(&bound);
    };
    for (key, draft) in config.body.entries() {
        if key != STEPS && key != "variables" {
            force(&draft, env);
        }
    }
    let mut earlier = Arc::new(Map::new());
    for (index, step) in config.body.get(STEPS).iter().flat_map(Draft::items).enumerate() {
        let layer = Map::from_iter([(STEPS.into(), Value::new(Data::Map(Arc::clone(&earlier))))]);
        force(&step, &env.with_scope(env.scope.push(MapLayer::new(STEPS, Value::map(layer)))));
        let name = step_name(&step, index);
        let what = |part: &str| Value::pending(name.clone(), ecow::eco_format!("steps.{name}.{part}"));
        let given = ["log", "outputs"].map(|part| (EcoString::from(part), what(part)));
        // The layer is gone by now, so that this copies nothing.
        Arc::make_mut(&mut earlier).insert(name.clone(), Value::map(Map::from_iter(given)));
    }
}

/// A workflow evaluated, except the work of its steps.
pub(crate) fn fields_but_work(resolution: &Resolution<'_>, workflow: &Config) -> Value {
    let env = workflow_env(resolution, workflow);
    let force = |draft: &Draft| Eval::new(resolution.ground.session).force_deep(&draft.bind(&mut Binder::new(&env)));
    let without_work = |step: Draft| {
        let fields = step.entries().into_iter().filter(|(key, _)| !WORK.contains(&key.as_str()));
        Value::map(fields.map(|(key, draft)| (key, force(&draft))).collect())
    };
    let field = |(key, draft): (EcoString, Draft)| {
        let value = match key == STEPS {
            true => Value::list(draft.items().into_iter().map(without_work).collect()),
            false => force(&draft),
        };
        (key, value)
    };
    Value::map(workflow.body.entries().into_iter().map(field).collect())
}

/// A step without a name is called by its number.
fn step_name(step: &Draft, index: usize) -> EcoString {
    let written = step.get("name").and_then(|draft| draft.written().as_str().map(EcoString::from));
    written.unwrap_or_else(|| ecow::eco_format!("step-{}", index + 1))
}

/// The user's arguments, before the command line is known.
fn pending_arguments(command: &Config) -> Map {
    let pending = |head: &str, names: Vec<EcoString>| {
        let entry = |name: EcoString| {
            let what = ecow::eco_format!("{head}.{name}");
            (name, Value::pending(command.name.clone(), what))
        };
        (EcoString::from(head), Value::map(names.into_iter().map(entry).collect()))
    };
    let mut arguments = declared(command, "args");
    arguments.extend(GIVEN_ARGUMENTS.iter().map(|name| EcoString::from(*name)));
    Map::from_iter([pending("args", arguments), pending("opts", declared(command, "opts"))])
}

/// The names of a command's arguments or options.
fn declared(command: &Config, key: &str) -> Vec<EcoString> {
    let items = command.body.get(key).map(|draft| draft.items()).unwrap_or_default();
    items.iter().filter_map(|item| item.get("name")?.written().as_str().map(EcoString::from)).collect()
}

/// The scope of a command's templates; `typed` has `args` and `opts`.
fn command_env(resolution: &Resolution<'_>, command: &Config, typed: &Map) -> Arc<Env> {
    let base = resolution.phases.action_base(Stage::Full).push(MapLayer::new("arguments", Value::map(typed.clone())));
    let ground = &resolution.ground;
    let mut vars = resolution.project.vars.below();
    if let Some(variables) = command.field("variables") {
        vars = vars.with(ground, &base, &VarSource::Draft(variables), false);
        Eval::new(ground.session).force_deep(&vars.merged());
    }
    env_at(ground, vars.over(&base), Stage::Full)
}

/// A workflow, or the user's own command, during its run: each part is evaluated when it is reached.
pub struct Script<'r, 's> {
    resolution: &'r Resolution<'s>,
    config: &'r Config,
    env: Arc<Env>,
}

impl<'r, 's> Script<'r, 's> {
    /// The workflow of a name.
    pub fn workflow(resolution: &'r Resolution<'s>, name: &str) -> Option<Self> {
        let config = resolution.workflows.iter().find(|workflow| workflow.name == name)?;
        Some(Script { resolution, config, env: workflow_env(resolution, config) })
    }

    /// The command of a name, with the user's arguments: `args` and `opts`.
    pub fn command(resolution: &'r Resolution<'s>, name: &str, typed: &Map) -> Option<Self> {
        let config = resolution.commands.iter().find(|command| command.name == name)?;
        Some(Script { resolution, config, env: command_env(resolution, config, typed) })
    }

    /// A field other than the steps.
    pub fn field(&self, key: &str) -> Option<Value> {
        Some(self.force(&self.config.body.get(key)?, &self.env))
    }

    /// The names of its steps.
    pub fn step_names(&self) -> Vec<EcoString> {
        let steps = self.config.body.get(STEPS).map(|draft| draft.items()).unwrap_or_default();
        steps.iter().enumerate().map(|(index, step)| step_name(step, index)).collect()
    }

    /// A step as written, to decide whether it runs.
    pub fn written_step(&self, index: usize) -> Value {
        let steps = self.config.body.get(STEPS).map(|draft| draft.items()).unwrap_or_default();
        steps.get(index).map_or_else(Value::null, Draft::written)
    }

    /// A step, with the results of earlier ones: `log` and `outputs` by name.
    pub fn step(&self, index: usize, earlier: &Map) -> Value {
        let steps = self.config.body.get(STEPS).map(|draft| draft.items()).unwrap_or_default();
        let Some(step) = steps.get(index) else { return Value::null() };
        let layer = Map::from_iter([(EcoString::from(STEPS), Value::map(seen_steps(earlier)))]);
        let env = self.env.with_scope(self.env.scope.push(MapLayer::new(STEPS, Value::map(layer))));
        self.force(step, &env)
    }

    fn force(&self, draft: &Draft, env: &Arc<Env>) -> Value {
        Eval::new(self.resolution.ground.session).force_deep(&draft.bind(&mut Binder::new(env)))
    }
}

/// Earlier steps as seen by later ones.
fn seen_steps(earlier: &Map) -> Map {
    let seen = |(name, step): (&EcoString, &Value)| {
        let parts = ["log", "outputs"].into_iter();
        let parts = parts.filter_map(|part| Some((EcoString::from(part), step.get(part)?.clone())));
        (name.clone(), Value::map(parts.collect()))
    };
    earlier.iter().map(seen).collect()
}
