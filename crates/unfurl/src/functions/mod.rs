//! The functions of expressions: a table, one row each.

pub mod codecs;
pub mod environment;
pub mod external;
pub mod files;
pub mod images;
pub mod labels;
pub mod logic;
pub mod paths;
pub mod python;
pub mod random;
pub mod scalars;
pub mod schema;
pub mod text;
pub mod topology;

use crate::error::Result;
use crate::eval::Ctx;
use crate::val::{MapKey, Val, ValMap};
use purlin_value::Cost;

/// What a function does.
pub type Run = fn(&Ctx<'_, '_>, &Call<'_>) -> Result<Val>;

/// A function.
#[derive(Debug)]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// Whether it needs no `eval` around it.
    pub standalone: bool,
    /// Whether it has no effects and reads nothing outside, so that safe mode allows it.
    pub safe: bool,
    /// Whether its result is one match even if it is a list.
    pub whole: bool,
    /// Names of the arguments after the first, when called from a template.
    pub positional: &'static [&'static str],
    /// What it takes.
    pub takes: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// What it costs: most charge themselves as they evaluate their arguments.
    pub cost: Cost,
    /// What it does.
    pub run: Run,
}

impl Function {
    /// Calls it; what it makes is counted.
    pub fn call(&self, ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
        let _held = if call.ready {
            Some(ctx.engine.charge_call(self.cost, std::iter::once(call.arg).chain(call.entries.values()))?)
        } else {
            ctx.engine.spend(1)?;
            None
        };
        let result = (self.run)(ctx, call)?;
        ctx.engine.made(&result)?;
        Ok(result)
    }
}

/// A call of a function.
pub struct Call<'v> {
    /// Which one.
    pub name: &'static str,
    /// Its argument.
    pub arg: &'v Val,
    /// The map it is written in: further arguments by name.
    pub entries: &'v ValMap,
    /// Whether arguments are evaluated already.
    pub ready: bool,
}

impl Call<'_> {
    /// The argument, evaluated.
    pub fn value(&self, ctx: &Ctx<'_, '_>) -> Result<Val> {
        self.evaluated(ctx, self.arg)
    }

    /// A part of the call, evaluated unless it is already.
    pub fn evaluated(&self, ctx: &Ctx<'_, '_>, raw: &Val) -> Result<Val> {
        if self.ready { ctx.engine.force(raw.clone()) } else { ctx.map_value(raw) }
    }

    /// A named argument as written.
    pub fn raw(&self, name: &str) -> Option<&Val> {
        self.entries.get(&MapKey::Str(name.into()))
    }

    /// A named argument, evaluated.
    pub fn named(&self, ctx: &Ctx<'_, '_>, name: &str) -> Result<Option<Val>> {
        self.raw(name).map(|raw| self.evaluated(ctx, raw)).transpose()
    }
}

/// A function under `eval` that may read or write outside.
const fn full(name: &'static str, takes: &'static str, summary: &'static str, run: Run) -> Function {
    Function {
        name,
        standalone: false,
        safe: false,
        whole: false,
        positional: &[],
        takes,
        summary,
        cost: Cost::Deep,
        run,
    }
}

/// A function under `eval` without effects.
const fn pure(name: &'static str, takes: &'static str, summary: &'static str, run: Run) -> Function {
    Function { safe: true, ..full(name, takes, summary, run) }
}

/// A function that stands alone.
const fn alone(function: Function) -> Function {
    Function { standalone: true, ..function }
}

/// A function whose result is one match.
const fn whole(function: Function) -> Function {
    Function { whole: true, ..function }
}

/// A function with arguments after the first when called from a template.
const fn with(function: Function, positional: &'static [&'static str]) -> Function {
    Function { positional, ..function }
}

const ENTITY: &str = "[instance, requirement or capability?, name, key*]";
const RANDOM: &str = "{preset?, len?, ranges?}";
const LABEL: &str = "text | list | map, options";
const URL: &str = "[scheme, host, port?, path?, query?, fragment?]";

/// All functions.
pub const FUNCTIONS: &[Function] = &[
    alone(pure("concat", "[string*], sep?", "Joins the texts of values.", text::concat)),
    alone(full(
        "get_artifact",
        "[instance, artifact]",
        "An artifact's file or image; null if there is none.",
        topology::get_artifact,
    )),
    alone(pure("get_attribute", ENTITY, "An attribute of an instance.", topology::get_attribute)),
    alone(full("get_env", "name | [name, default?]", "An environment variable, or all of them.", environment::get_env)),
    alone(full("get_input", "name | [name, default]", "An input of the topology.", topology::get_input)),
    alone(pure("get_nodes_of_type", "type", "All instances of a type.", topology::get_nodes_of_type)),
    alone(pure("get_property", ENTITY, "A property of a template.", topology::get_property)),
    alone(full("has_env", "name", "Whether there is an environment variable.", environment::has_env)),
    alone(pure("join", "[[string*], delimiter?]", "Joins strings with a delimiter.", text::join)),
    whole(alone(pure("q", "any", "The value as it is written, unevaluated.", logic::quote))),
    alone(pure("token", "[string, separator, index]", "A part of a string.", text::token)),
    alone(pure("generate_string", RANDOM, "A random string.", random::generate)),
    alone(pure("_generate", RANDOM, "A random string.", random::generate)),
    full("abspath", "path | [path, location?, mkdir?]", "The full path of a file.", paths::abspath),
    pure("and", "[test+]", "The last value, or the first that is false.", logic::and),
    pure("eq", "[a, b]", "Whether two values are equal.", logic::eq),
    pure("ne", "[a, b]", "Whether two values differ.", logic::ne),
    pure("gt", "[a, b]", "Whether the first is greater.", logic::gt),
    pure("ge", "[a, b]", "Whether the first is not smaller.", logic::ge),
    pure("lt", "[a, b]", "Whether the first is smaller.", logic::lt),
    pure("le", "[a, b]", "Whether the first is not greater.", logic::le),
    pure("add", "[a, b]", "The sum of two values.", logic::add),
    pure("sub", "[a, b]", "The difference of two numbers.", logic::sub),
    pure("mul", "[a, b]", "The product of two values.", logic::mul),
    pure("pow", "[a, b]", "One number to the power of another.", logic::pow),
    pure("div", "[a, b]", "The quotient of two numbers.", logic::div),
    pure("truediv", "[a, b]", "The quotient of two numbers.", logic::div),
    pure("floordiv", "[a, b]", "The quotient of two numbers, rounded down.", logic::floordiv),
    pure("mod", "[a, b]", "The remainder of a division.", logic::modulo),
    full("external", "name", "The values another ensemble shows.", external::external),
    full(
        "file",
        "path, dir?, encoding?, contents?",
        "A file to read, or to write if there are `contents`.",
        files::file,
    ),
    pure("foreach", "{key?, value?}", "The body for each item of the current value.", logic::foreach),
    full("get_dir", "location | [location, mkdir?]", "A named folder, or the folder of a repository.", paths::get_dir),
    pure("if", "test, then?, else?", "One of two expressions.", logic::if_),
    full("local", "name", "A local value of the environment.", external::local),
    full("lookup", "{name: arguments, key: value…}", "An Ansible lookup.", external::lookup),
    pure("or", "[test+]", "The first value that is true, or false.", logic::or),
    pure("not", "test", "Whether a test is false.", logic::not),
    full("python", "path#function | module.function, args?", "What a Python function returns.", python::python),
    full("secret", "name", "A secret of the environment, marked as sensitive.", external::secret),
    whole(pure("sensitive", "any", "The value, marked as sensitive.", logic::sensitive)),
    full("tempfile", "contents, encoding?, suffix?", "A temporary file with contents.", files::tempfile),
    pure("template", "text | {path}, overrides?", "A template, rendered.", text::template),
    pure("validate", "[value, schema]", "Whether a value conforms to a JSON schema.", schema::validate),
    pure("validate_json", "[value, schema]", "Whether a value conforms to a JSON schema.", schema::validate),
    pure("is_function_defined", "name", "Whether there is such a function.", logic::is_function_defined),
    full("to_env", "{rule: value…}, update_os_environ?", "Environment variables from rules.", environment::to_env),
    pure("portspec", "port | text | map", "A port specification.", scalars::portspec),
    full("container_image", "image", "A container image's full name.", images::container_image),
    with(pure("urljoin", URL, "A URL from its parts.", text::urljoin), &["host", "port", "path", "query", "fragment"]),
    pure("to_label", LABEL, "A label with allowed characters only.", labels::to_label),
    pure("to_dns_label", LABEL, "A DNS label.", labels::to_dns_label),
    pure("to_kubernetes_label", LABEL, "A Kubernetes label.", labels::to_kubernetes_label),
    pure("to_googlecloud_label", LABEL, "A Google Cloud label.", labels::to_googlecloud_label),
    full("get_ensemble_metadata", "name?", "What is known of the running job.", external::get_ensemble_metadata),
    with(
        pure("scalar_value", "scalar, unit?, round?", "A number with a unit, converted.", scalars::scalar_value),
        &["unit", "round"],
    ),
    pure("scalar", "scalar", "A number with a unit.", scalars::scalar_function),
    full("find_connection", "relation", "The default connection of a type, or null.", external::find_connection),
    full("_arguments", "null", "The arguments of the running operation, or null.", external::arguments),
];

/// The function of a name.
pub fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

/// The function whose name is written most alike.
pub fn nearest(name: &str) -> Option<&'static str> {
    closest(name, FUNCTIONS.iter().map(|function| function.name))
}

/// The candidate that is written most alike, if one is close.
pub fn closest<'c>(name: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    purlin_syntax::suggest::nearest(name, candidates)
}
