//! The rows of all functions.

use super::Form::{Keys, List, Map, OneOrList};
use super::{
    Function, alone, by_place, environment, external, files, full, images, labels, logic, paths, pure, python, random,
    scalars, schema, text, topology, whole,
};
use purlin_value::function::{Parameter, many, one, optional, some};

const NAME: &[Parameter] = &[one("name", "string")];
const VALUE: &[Parameter] = &[one("value", "any")];
const BOTH: &[Parameter] = &[one("a", "any"), one("b", "any")];
const TESTS: &[Parameter] = &[some("test", "expression")];
const ENTITY: &[Parameter] = &[
    one("instance", "name"),
    optional("requirement or capability", "name"),
    one("name", "string"),
    many("key", "name or index"),
];
const RANDOM: &[Parameter] =
    &[optional("preset", "string"), optional("len", "integer"), optional("ranges", "list of lists")];
const LABEL: &[Parameter] = &[one("value", "string, list or mapping"), many("option", "any")];
const URL: &[Parameter] = &[
    one("scheme", "string"),
    one("host", "string"),
    optional("port", "integer"),
    optional("path", "string"),
    optional("query", "string"),
    optional("fragment", "string"),
];
const VALIDATE: &[Parameter] = &[one("value", "any"), one("schema", "JSON schema")];
const DEFAULTED: &[Parameter] = &[one("name", "string"), optional("default", "any")];
const PLACE: &[Parameter] =
    &[one("path", "string"), optional("location", "name of a folder"), optional("mkdir", "boolean")];

/// All functions.
pub const FUNCTIONS: &[Function] = &[
    alone(pure(
        "concat",
        Keys,
        &[one("strings", "list"), optional("sep", "string")],
        "Joins the texts of values.",
        text::concat,
    )),
    alone(full(
        "get_artifact",
        List,
        &[one("instance", "name"), one("artifact", "name")],
        "An artifact's file or image; null if there is none.",
        topology::get_artifact,
    )),
    alone(pure("get_attribute", List, ENTITY, "An attribute of an instance.", topology::get_attribute)),
    alone(full("get_env", OneOrList, DEFAULTED, "An environment variable, or all of them.", environment::get_env)),
    alone(full("get_input", OneOrList, DEFAULTED, "An input of the topology.", topology::get_input)),
    alone(pure(
        "get_nodes_of_type",
        Keys,
        &[one("type", "node type")],
        "All instances of a type.",
        topology::get_nodes_of_type,
    )),
    alone(pure("get_property", List, ENTITY, "A property of a template.", topology::get_property)),
    alone(full("has_env", Keys, NAME, "Whether there is an environment variable.", environment::has_env)),
    alone(pure(
        "join",
        List,
        &[one("strings", "list"), optional("delimiter", "string")],
        "Joins strings with a delimiter.",
        text::join,
    )),
    whole(alone(pure("q", Keys, VALUE, "The value as it is written, unevaluated.", logic::quote))),
    alone(pure(
        "token",
        List,
        &[one("string", "string"), one("separator", "string"), one("index", "integer")],
        "A part of a string.",
        text::token,
    )),
    alone(pure("generate_string", Map, RANDOM, "A random string.", random::generate)),
    alone(pure("_generate", Map, RANDOM, "A random string.", random::generate)),
    full("abspath", OneOrList, PLACE, "The full path of a file.", paths::abspath),
    pure("and", List, TESTS, "The last value, or the first that is false.", logic::and),
    pure("eq", List, BOTH, "Whether two values are equal.", logic::eq),
    pure("ne", List, BOTH, "Whether two values differ.", logic::ne),
    pure("gt", List, BOTH, "Whether the first is greater.", logic::gt),
    pure("ge", List, BOTH, "Whether the first is not smaller.", logic::ge),
    pure("lt", List, BOTH, "Whether the first is smaller.", logic::lt),
    pure("le", List, BOTH, "Whether the first is not greater.", logic::le),
    pure("add", List, BOTH, "The sum of two values.", logic::add),
    pure("sub", List, BOTH, "The difference of two numbers.", logic::sub),
    pure("mul", List, BOTH, "The product of two values.", logic::mul),
    pure("pow", List, BOTH, "One number to the power of another.", logic::pow),
    pure("div", List, BOTH, "The quotient of two numbers.", logic::div),
    pure("truediv", List, BOTH, "The quotient of two numbers.", logic::div),
    pure("floordiv", List, BOTH, "The quotient of two numbers, rounded down.", logic::floordiv),
    pure("mod", List, BOTH, "The remainder of a division.", logic::modulo),
    full("external", Keys, NAME, "The values another ensemble shows.", external::external),
    full(
        "file",
        Keys,
        &[one("path", "string"), optional("dir", "path"), optional("encoding", "string"), optional("contents", "any")],
        "A file to read, or to write if there are `contents`.",
        files::file,
    ),
    pure(
        "foreach",
        Map,
        &[optional("key", "expression"), optional("value", "expression")],
        "The body for each item of the current value.",
        logic::foreach,
    ),
    full(
        "get_dir",
        OneOrList,
        &[one("location", "name of a folder"), optional("mkdir", "boolean")],
        "A named folder, or the folder of a repository.",
        paths::get_dir,
    ),
    pure(
        "if",
        Keys,
        &[one("test", "expression"), optional("then", "expression"), optional("else", "expression")],
        "One of two expressions.",
        logic::if_,
    ),
    full("local", Keys, NAME, "A local value of the environment.", external::local),
    full("lookup", Map, &[one("name", "arguments"), many("option", "any")], "An Ansible lookup.", external::lookup),
    pure("or", List, TESTS, "The first value that is true, or false.", logic::or),
    pure("not", Keys, &[one("test", "expression")], "Whether a test is false.", logic::not),
    full(
        "python",
        Keys,
        &[one("function", "path#name or module.name"), optional("args", "any")],
        "What a Python function returns.",
        python::python,
    ),
    full("secret", Keys, NAME, "A secret of the environment, marked as sensitive.", external::secret),
    whole(pure("sensitive", Keys, VALUE, "The value, marked as sensitive.", logic::sensitive)),
    full(
        "tempfile",
        Keys,
        &[one("contents", "any"), optional("encoding", "string"), optional("suffix", "string")],
        "A temporary file with contents.",
        files::tempfile,
    ),
    pure(
        "template",
        Keys,
        &[one("template", "string or {path}"), optional("overrides", "mapping")],
        "A template, rendered.",
        text::template,
    ),
    pure("validate", List, VALIDATE, "Whether a value conforms to a JSON schema.", schema::validate),
    pure("validate_json", List, VALIDATE, "Whether a value conforms to a JSON schema.", schema::validate),
    pure("is_function_defined", Keys, NAME, "Whether there is such a function.", logic::is_function_defined),
    full(
        "to_env",
        Keys,
        &[one("rules", "mapping"), optional("update_os_environ", "boolean")],
        "Environment variables from rules.",
        environment::to_env,
    ),
    pure("portspec", Keys, &[one("port", "integer, string or mapping")], "A port specification.", scalars::portspec),
    full("container_image", Keys, &[one("image", "string")], "A container image's full name.", images::container_image),
    by_place(pure("urljoin", List, URL, "A URL from its parts.", text::urljoin)),
    pure("to_label", Keys, LABEL, "A label with allowed characters only.", labels::to_label),
    pure("to_dns_label", Keys, LABEL, "A DNS label.", labels::to_dns_label),
    pure("to_kubernetes_label", Keys, LABEL, "A Kubernetes label.", labels::to_kubernetes_label),
    pure("to_googlecloud_label", Keys, LABEL, "A Google Cloud label.", labels::to_googlecloud_label),
    full(
        "get_ensemble_metadata",
        Keys,
        &[optional("name", "string")],
        "What is known of the running job.",
        external::get_ensemble_metadata,
    ),
    by_place(pure(
        "scalar_value",
        Keys,
        &[one("scalar", "string"), optional("unit", "string"), optional("round", "integer or name")],
        "A number with a unit, converted.",
        scalars::scalar_value,
    )),
    pure("scalar", Keys, &[one("scalar", "string")], "A number with a unit.", scalars::scalar_function),
    full(
        "find_connection",
        Keys,
        &[one("relation", "relationship type")],
        "The default connection of a type, or null.",
        external::find_connection,
    ),
    full("_arguments", Keys, &[], "The arguments of the running operation, or null.", external::arguments),
];
