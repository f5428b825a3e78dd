//! `python`: a user's function, run in a child process, if that is allowed.
//!
//! The child gets a context object with the current instance, the variables and the arguments. When it needs a query
//! without a known answer, it stops and reports the query; it is run again with the answer.

use super::{Call, files};
use crate::convert::{self, JsonStyle};
use crate::error::{Error, Kind, Result, limit, value_error};
use crate::eval::Ctx;
use crate::eval::path::as_one;
use crate::eval::special::{ancestors, key_of};
use crate::val::{Data, MapKey, Val, ValMap};
use purlin_value::WorldError;
use purlin_value::world::Command;

/// How often a function may ask a new query.
const MOST_QUERIES: usize = 100;

/// The program of the child: reads a request, calls the function, writes an answer.
const SHIM: &str = r#"
import importlib, importlib.util, json, os, sys
sys.dont_write_bytecode = True

class Unanswered(BaseException):
    def __init__(self, query):
        self.query = query

class Instance:
    def __init__(self, data, ask):
        self.name = data["name"]
        self.type = data["type"]
        self.key = data["key"]
        self.attributes = data["attributes"]
        self.status = data["status"]
        self._ask = ask
        self.parents = data["parents"]

    def query(self, expression):
        return self._ask(expression)

    def __getitem__(self, name):
        return self.attributes[name]

class Context:
    def __init__(self, request):
        self._answers = request["answers"]
        self.currentResource = Instance(request["instance"], self.query)
        self.vars = request["vars"]
        self.strict = request["strict"]
        self.base_dir = request["base_dir"]

    def query(self, expression):
        if expression not in self._answers:
            raise Unanswered(expression)
        return self._answers[expression]

def find(place):
    if '#' in place:
        path, name = place.split('#', 1)
        sys.path.insert(0, os.path.dirname(path))
        spec = importlib.util.spec_from_file_location(os.path.basename(path).rsplit(".", 1)[0], path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    else:
        module_name, name = place.rsplit(".", 1)
        module = importlib.import_module(module_name)
    if not hasattr(module, name):
        raise LookupError("unknown function `%s`" % name)
    function = getattr(module, name)
    if not callable(function):
        raise TypeError("`%s` is not a function" % name)
    return function

request = json.load(sys.stdin)
out = sys.stdout
sys.stdout = sys.stderr
try:
    function = find(request["place"])
    context = Context(request)
    result = function(context, request["args"]) if "args" in request else function(context)
    answer = {"result": result}
except Unanswered as question:
    answer = {"query": question.query}
except Exception as problem:
    answer = {"error": "%s: %s" % (type(problem).__name__, problem)}
json.dump(answer, out, default=str)
"#;

/// `python`
pub fn python(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let value = call.value(ctx)?;
    let place = ctx.text(&value)?;
    let place = match place.split_once('#') {
        Some((file, name)) => {
            let full = files::from_source(ctx, file);
            if files::read_optional(ctx, &full)?.is_none() {
                return Err(Error::new(Kind::Io, format!("file `{file}` not found")));
            }
            format!("{full}#{name}")
        }
        None if place.contains('.') => place.to_string(),
        None => return value_error(format!("`{place}` names no function: write `path#function` or `module.function`")),
    };
    let args = call.named(ctx, "args")?;
    let mut answers = ValMap::default();
    for _ in 0..MOST_QUERIES {
        let request = request(ctx, &place, args.as_ref(), &answers)?;
        let secret = request.tainted_within();
        let answer = run(ctx, &request)?;
        if let Some(query) = answer.get("query").and_then(Val::as_str) {
            let found = ctx.engine.force(as_one(ctx.query(query)?))?;
            answers.insert(MapKey::Str(query.into()), found);
            continue;
        }
        if let Some(problem) = answer.get("error").and_then(Val::as_str) {
            let why = if secret { "it failed" } else { problem };
            return value_error(format!("the Python function `{place}`: {why}"));
        }
        // The function may return an expression.
        let result = answer.get("result").cloned().unwrap_or_else(Val::null);
        return Ok(ctx.map_value(&result)?.taint_if(secret));
    }
    limit(format!("the Python function `{place}` asks more than {MOST_QUERIES} queries"))
}

fn request(ctx: &Ctx<'_, '_>, place: &str, args: Option<&Val>, answers: &ValMap) -> Result<Val> {
    let engine = ctx.engine;
    let id = ctx.instance();
    let node = engine.tree.node(id);
    let parents = ancestors(engine.tree, id).into_iter().skip(1);
    let instance = Val::record([
        ("name", Val::str(node.name.clone())),
        ("type", Val::str(node.type_name())),
        ("key", Val::str(key_of(engine.tree, id))),
        ("status", Val::str(crate::eval::status::effective(engine.tree, id).name())),
        ("attributes", attributes(ctx)?),
        ("parents", Val::list(parents.map(|parent| Val::str(key_of(engine.tree, parent))).collect())),
    ]);
    let mut entries = vec![
        ("place", Val::str(place)),
        ("instance", instance),
        ("vars", variables(ctx)?),
        ("strict", Val::bool(ctx.strict())),
        ("base_dir", Val::str(files::base(ctx))),
        ("answers", Val::map(answers.clone())),
    ];
    if let Some(args) = args {
        entries.push(("args", args.clone()));
    }
    Ok(Val::record(entries))
}

/// The instance's attributes, except the one being computed and those that cannot be.
fn attributes(ctx: &Ctx<'_, '_>) -> Result<Val> {
    let engine = ctx.engine;
    let id = ctx.instance();
    let mut out = ValMap::default();
    for name in engine.tree.node(id).attributes.keys() {
        if engine.stack.borrow().iter().any(|(node, busy)| *node == id && busy == name) {
            continue;
        }
        if let Ok(Some(value)) = engine.attribute(id, name)
            && let Ok(value) = engine.force(value)
        {
            out.insert(MapKey::Str(name.clone()), value);
        }
    }
    Ok(Val::map(out))
}

fn variables(ctx: &Ctx<'_, '_>) -> Result<Val> {
    let mut out = ValMap::default();
    let mut layer = ctx.frame.scope.as_ref();
    while let Some(scope) = layer {
        for variable in &scope.variables {
            let key = MapKey::Str(variable.name.clone());
            if out.contains_key(&key) {
                continue;
            }
            if let Some(value) = ctx.variable(&variable.name)?
                && !matches!(value.data, Data::Object(_))
            {
                out.insert(key, ctx.engine.force(value)?);
            }
        }
        layer = scope.parent.as_ref();
    }
    Ok(Val::map(out))
}

fn run(ctx: &Ctx<'_, '_>, request: &Val) -> Result<Val> {
    let engine = ctx.engine;
    let style = JsonStyle { indent: None, sorted: false, ascii: true };
    let stdin = convert::to_json(request, engine.tree, style)?.into_bytes();
    let world = &engine.session.world;
    let env = ["PATH", "HOME", "PYTHONPATH", "VIRTUAL_ENV"];
    let env = env.iter().filter_map(|name| world.env(name).map(|value| ((*name).to_owned(), value)));
    // Do not leave files beside the user's.
    let env = env.chain([("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned())]).collect();
    let argv = vec!["python3".to_owned(), "-c".to_owned(), SHIM.to_owned()];
    let folder = engine.tree.base_dir.to_string();
    let folder = if folder.is_empty() { ".".to_owned() } else { folder };
    let output = world.run(&Command { argv, env, folder, stdin }).map_err(|error| match error {
        WorldError::Denied(hint) => {
            Error::new(Kind::Refused, "`python` runs a command, which is not allowed").hint(hint)
        }
        _ => Error::new(Kind::Io, "the Python interpreter cannot be run"),
    })?;
    let text = String::from_utf8_lossy(&output.stdout);
    match convert::from_json(&text) {
        Ok(answer) if output.code == 0 => Ok(answer),
        _ => value_error("the Python interpreter did not answer"),
    }
}
