//! The rules of the Garden dialect: possible problems of a project.

use purlin_syntax::{About, Loses, Rule};

/// A template string that cannot be read.
pub const TEMPLATE_SYNTAX: Rule = Rule::error("garden-template-syntax", "A template string cannot be read.")
    .advice("look at the quotes, brackets and operators; write `$${` for a literal `${`");
/// A key that does not exist.
pub const UNKNOWN_KEY: Rule = Rule::error("garden-unknown-key", "A template refers to a key that does not exist.")
    .advice("define the key, or give a fallback with `||`")
    .about(About::Name);
/// A key that is known only in a later phase.
pub const KEY_TOO_EARLY: Rule =
    Rule::error("garden-key-too-early", "A template refers to a key that becomes available only in a later phase.")
        .advice("move the expression to a place where the key is available");
/// Operands or operators that do not fit.
pub const TEMPLATE_TYPE: Rule = Rule::error("garden-template-type", "A template uses a value of the wrong type.")
    .advice("convert one side, for example with `string(…)`");
/// A helper function that does not exist or was called wrongly.
pub const HELPER_FUNCTION: Rule =
    Rule::error("garden-helper-function", "A helper function is unknown, or its arguments are wrong.")
        .advice("change the argument; hover over the function, or see the reference of functions");
/// `$merge`, `$concat`, `$forEach` or `$if` used wrongly.
pub const STRUCTURAL_OPERATOR: Rule =
    Rule::error("garden-structural-operator", "`$merge`, `$concat`, `$forEach` or `$if` is used incorrectly.")
        .advice("see `purlin explain garden-structural-operator` for the keys of each operator");

/// A configuration that is no map, or that uses keys it must not.
pub const CONFIG_SHAPE: Rule = Rule::error("garden-config-shape", "A configuration has the wrong shape.")
    .advice("write a mapping with `kind:` and `name:`");
/// A configuration without a known `kind`.
pub const CONFIG_KIND: Rule = Rule::error("garden-config-kind", "A configuration has no `kind`, or an unknown one.")
    .advice("use one of `Build`, `Deploy`, `Run`, `Test`, `Workflow`, `ConfigTemplate` and `RenderTemplate`")
    .loses(Loses::Entity);
/// A file with variables that is missing or cannot be used.
pub const VARFILE: Rule = Rule::error("garden-varfile", "A varfile is missing or not valid.")
    .advice("write `NAME=VALUE` lines, or a YAML mapping");
/// A path that leads out of the project.
pub const OUTSIDE_PROJECT: Rule = Rule::error("garden-outside-project", "A path leads out of the project.")
    .advice("use a path inside the project, or allow the folder with `--allow-path DIR`");
/// Values from outside that cannot be read.
pub const IMPORT: Rule = Rule::warning("garden-import-variables", "Variables from outside cannot be imported.");
/// Something about the project itself.
pub const PROJECT: Rule = Rule::error("garden-project", "A folder has no project that can be read.");
/// An environment that does not exist or is incomplete.
pub const ENVIRONMENT: Rule = Rule::error("garden-environment", "An environment does not exist or is incomplete.")
    .advice("name a declared environment with `--env`")
    .about(About::Name);
/// A plugin that cannot be asked, or an answer that cannot be used.
pub const PLUGIN: Rule = Rule::error("garden-plugin", "A plugin failed, or its answer cannot be used.")
    .advice("run the program on its own, with a question on its standard input");
/// Two configurations with the same name.
pub const DUPLICATE: Rule =
    Rule::error("garden-duplicate", "Two configurations of the same kind share a name.").advice("rename one of them");
/// A template that does not exist or cannot be rendered.
pub const TEMPLATE: Rule = Rule::error("garden-template", "A template does not exist, or cannot be rendered.")
    .advice("declare a `ConfigTemplate` with this name")
    .about(About::Name)
    .loses(Loses::Entity);
/// Inputs that do not fit a template.
pub const TEMPLATE_INPUTS: Rule =
    Rule::error("garden-template-inputs", "The inputs of a template do not match its schema.")
        .advice("change the input, or the schema of the template")
        .about(About::Value);
/// A field that waits for something that runs later.
pub const TOO_LATE: Rule =
    Rule::error("garden-known-too-late", "A field that is needed early depends on something that runs later.");
/// A name that is shown would come from a secret.
pub const SECRET_NAME: Rule = Rule::error("garden-secret-name", "A name that the graph shows is made from a secret.");
/// A dependency that names no action.
pub const DEPENDENCY: Rule = Rule::error("garden-dependency", "A dependency does not name an action.")
    .advice("write `KIND.NAME`, for example `build.api`");
/// A template without the name of an action.
pub const ACTION_REFERENCE: Rule =
    Rule::error("garden-action-reference", "A template refers to an action in an incomplete way.")
        .advice("write it as `actions.KIND.NAME`, for example `actions.build.api`");
/// An action that does not exist.
pub const MISSING_ACTION: Rule = Rule::error("garden-missing-action", "An action that does not exist is referred to.")
    .advice("correct the name, or declare the action")
    .about(About::Name);
/// Something that refers to itself.
pub const SELF_REFERENCE: Rule = Rule::error("garden-self-reference", "An action or module refers to itself.")
    .advice("use `this.name` and the like, or remove the reference");
/// Actions that need each other.
pub const ACTION_CYCLE: Rule = Rule::error("garden-action-cycle", "Actions depend on each other in a cycle.");
/// A service or task that does not exist.
pub const MISSING_SERVICE: Rule =
    Rule::error("garden-missing-service", "A service, task or test depends on something that does not exist.")
        .advice("correct the name, or remove the dependency")
        .about(About::Name);
/// A module that does not exist.
pub const MISSING_MODULE: Rule = Rule::error("garden-missing-module", "A module that does not exist is referred to.")
    .advice("correct the name, or remove the dependency")
    .about(About::Name);
/// Modules that need each other.
pub const MODULE_CYCLE: Rule = Rule::error("garden-module-cycle", "Modules depend on each other in a cycle.");
/// Modules that share files.
pub const MODULE_OVERLAP: Rule = Rule::error("garden-module-overlap", "Modules share files without saying so.");
/// An action type that is not known.
pub const UNKNOWN_TYPE: Rule =
    Rule::error("garden-unknown-type", "An action or module has a type that does not exist.")
        .advice("use one of `container`, `exec`, `helm`, `kubernetes`, `terraform` or another type of Garden");
/// A name that Garden does not take.
pub const INVALID_NAME: Rule = Rule::error("garden-invalid-name", "A name is not valid in Garden.")
    .advice("use lower-case letters, digits and single dashes, beginning with a letter");
/// A value that its key does not take.
pub const INVALID_VALUE: Rule = Rule::error("garden-invalid-value", "A value is not valid for its key.");
/// A provider that does not exist, is missing, or depends on itself.
pub const PROVIDER: Rule =
    Rule::error("garden-provider", "A provider does not exist, is missing, or depends on itself.")
        .advice("add the provider under `providers` of the project")
        .about(About::Name);
/// A variable that Garden would find elsewhere.
pub const VARIABLE_SCOPE: Rule =
    Rule::warning("garden-variable-scope", "A variable means something else here than it does in Garden.");

/// A variable of one environment that nearly has the name of another.
pub const NEAR_VARIABLE: Rule = Rule::warning(
    "garden-near-variable",
    "A variable of one environment is nearly called like one of the project or of the other environments.",
);

/// A command that is not beside the project.
pub const UNREAD_COMMAND: Rule = Rule::warning(
    "garden-unread-command",
    "A command is declared in a folder where Garden does not look for commands.",
);
/// A file that an action needs when it runs.
pub const FILE: Rule = Rule::warning("garden-file", "A file that an action needs does not exist.");
/// The project inside an action.
pub const INNER: Rule = Rule::error("garden-inner-project", "The project that an action refers to does not exist.")
    .advice("correct the path; it starts at the action's folder");
/// Manifests that are not rendered.
pub const NOT_RENDERED: Rule = Rule::warning("garden-not-rendered", "Manifests of an action are not rendered here.");
/// Patches without a target.
pub const UNUSED_PATCH: Rule =
    Rule::warning("garden-unused-patch", "A patch is for a resource that the action does not have.");

/// Keys that only steer what Purlin does not use.
pub const NO_EFFECT: Rule =
    Rule::warning("garden-no-effect", "A key has no effect when Purlin builds, deploys or runs actions.");

/// All rules.
pub const RULES: &[&Rule] = &[
    &TEMPLATE_SYNTAX,
    &UNKNOWN_KEY,
    &KEY_TOO_EARLY,
    &TEMPLATE_TYPE,
    &HELPER_FUNCTION,
    &STRUCTURAL_OPERATOR,
    &CONFIG_SHAPE,
    &CONFIG_KIND,
    &VARFILE,
    &OUTSIDE_PROJECT,
    &IMPORT,
    &PROJECT,
    &ENVIRONMENT,
    &PLUGIN,
    &DUPLICATE,
    &TEMPLATE,
    &TEMPLATE_INPUTS,
    &TOO_LATE,
    &SECRET_NAME,
    &DEPENDENCY,
    &ACTION_REFERENCE,
    &MISSING_ACTION,
    &SELF_REFERENCE,
    &ACTION_CYCLE,
    &MISSING_SERVICE,
    &MISSING_MODULE,
    &MODULE_CYCLE,
    &MODULE_OVERLAP,
    &UNKNOWN_TYPE,
    &INVALID_NAME,
    &INVALID_VALUE,
    &PROVIDER,
    &VARIABLE_SCOPE,
    &NEAR_VARIABLE,
    &UNREAD_COMMAND,
    &FILE,
    &INNER,
    &NOT_RENDERED,
    &UNUSED_PATCH,
    &NO_EFFECT,
];
