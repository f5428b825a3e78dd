//! The tools for an assistant: a table of read-only commands with their arguments.
//!
//! A tool's arguments become words of a command line, each in the form `--option=value` or after `--`, so that no value
//! is read as an option. Paths are confined here. Must not know how a command is run.

use crate::native;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The type of an argument.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Text for an option.
    Text,
    /// Several texts, the option repeated.
    Texts,
    /// A file or folder for an option.
    File,
    /// Several of them.
    Files,
    /// A location `FILE:LINE` for an option.
    Location,
    /// A number for an option.
    Count,
    /// A word without an option.
    Word,
    /// Several words.
    Words,
    /// A file or folder as a word.
    Path,
}

/// An argument of a tool.
struct Argument {
    name: &'static str,
    form: Form,
    /// The option that it becomes; empty for words.
    option: &'static str,
    is_required: bool,
    about: &'static str,
}

/// A tool.
pub(super) struct Tool {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    /// The command with the options for machine-readable output.
    command: &'static [&'static str],
    /// Whether it prints JSON, or else text.
    pub is_json: bool,
    /// Its own arguments, in addition to those that select the target.
    own: &'static [Argument],
    /// Whether it has the arguments that select the target.
    is_targeted: bool,
    /// How to request a shorter answer.
    pub narrower: &'static str,
}

const fn optional(name: &'static str, form: Form, option: &'static str, about: &'static str) -> Argument {
    Argument { name, form, option, is_required: false, about }
}

const fn required(name: &'static str, form: Form, option: &'static str, about: &'static str) -> Argument {
    Argument { name, form, option, is_required: true, about }
}

const PROJECT: &str = "Folder or file of the project, from the folder of the server. Default: that folder.";

/// The target arguments, for every tool that resolves something.
#[rustfmt::skip]
const TARGET: &[Argument] = &[
    optional("environment", Form::Text, "env", "Environment of a Garden project or an ensemble. Default: the project's own default."),
    optional("profiles", Form::Texts, "profile", "Profiles of a Skaffold configuration."),
    optional("modules", Form::Texts, "module", "Only these modules of a Skaffold configuration."),
    optional("values", Form::Files, "values", "Values files of a chart."),
    optional("set", Form::Texts, "set", "Values of a chart, as `key=value`."),
    optional("variables", Form::Texts, "var", "Variables of a Garden project, as `name=value`."),
    optional("inputs", Form::Texts, "input", "Inputs of a TOSCA service or an ensemble, as `name=value`."),
];

/// All tools.
#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    Tool {
        name: "check",
        title: "Find mistakes",
        about: "Resolve every project at or below a path, in every environment, profile and values file, and report all problems with their locations and hints. Lists the projects and environments that were checked.",
        command: &["check", "--output=json"],
        is_json: true,
        own: &[optional("path", Form::Path, "", PROJECT)],
        is_targeted: true,
        narrower: "name a `path`",
    },
    Tool {
        name: "why",
        title: "Explain a value",
        about: "Show how the value of a field was made: the lines that wrote it, the steps between, what it overrode, and its value in the other environments. Without a field, the fields of the node.",
        command: &["why", "--output=json"],
        is_json: true,
        own: &[
            required("node", Form::Word, "", "Node, such as `deploy.api/Deployment/api`, `Deployment/web` or `variables`; `graph` lists them."),
            optional("field", Form::Word, "", "Field, such as `spec.replicas` or `spec.containers.0.image`."),
            optional("path", Form::File, "path", PROJECT),
        ],
        is_targeted: true,
        narrower: "name a `field`",
    },
    Tool {
        name: "affects",
        title: "Show what a line reaches",
        about: "List the values that a line of a file contributes to, in all environments.",
        command: &["why", "--output=json", "--all-envs"],
        is_json: true,
        own: &[
            required("location", Form::Location, "file", "`FILE:LINE`, from the folder of the server, counted from 1."),
            optional("path", Form::File, "path", PROJECT),
        ],
        is_targeted: false,
        narrower: "name another line",
    },
    Tool {
        name: "diff",
        title: "Compare",
        about: "Compare two environments, profiles or git revisions of a project: every difference in the resolved configuration, with the lines that cause it. Between revisions, all environments are compared.",
        command: &["diff", "--output=json"],
        is_json: true,
        own: &[
            optional("path", Form::File, "path", PROJECT),
            optional("revision", Form::Text, "rev", "Git revision of the first side, such as `main`. Default: the working tree."),
            optional("to_revision", Form::Text, "to-rev", "Git revision of the other side. Default: the working tree."),
            optional("to_environment", Form::Text, "to-env", "Environment of the other side."),
            optional("to_profiles", Form::Texts, "to-profile", "Profiles of the other side."),
            optional("to_path", Form::File, "to-path", "Folder or file of the other side."),
        ],
        is_targeted: true,
        narrower: "name an `environment`",
    },
    Tool {
        name: "graph",
        title: "List nodes and dependencies",
        about: "List the nodes of a project with their kinds, and the dependencies between them.",
        command: &["graph", "--output=json"],
        is_json: true,
        own: &[
            optional("path", Form::File, "path", PROJECT),
            optional("focus", Form::Text, "focus", "Only this node, its dependencies and its dependents."),
            optional("depth", Form::Count, "depth", "Number of steps from `focus`."),
            optional("kinds", Form::Texts, "kind", "Only nodes of these kinds, such as `Deploy` or `Deployment`."),
        ],
        is_targeted: true,
        narrower: "name a `focus` or `kinds`",
    },
    Tool {
        name: "resolve",
        title: "Resolve",
        about: "The resolved configuration: variables, outputs, and every field of the nodes.",
        command: &["resolve", "--output=json"],
        is_json: true,
        own: &[
            optional("nodes", Form::Words, "", "Only these nodes."),
            optional("path", Form::File, "path", PROJECT),
        ],
        is_targeted: true,
        narrower: "name `nodes`",
    },
    Tool {
        name: "render",
        title: "Render manifests",
        about: "The Kubernetes manifests of a project as YAML. Data of Secrets are hidden.",
        command: &["render"],
        is_json: false,
        own: &[
            optional("nodes", Form::Words, "", "Only the manifests of these nodes."),
            optional("path", Form::File, "path", PROJECT),
        ],
        is_targeted: true,
        narrower: "name `nodes`",
    },
    Tool {
        name: "explain",
        title: "Explain a rule",
        about: "The page of a rule that a finding names: what is wrong, with an example and how to correct it.",
        command: &["explain"],
        is_json: false,
        own: &[required("rule", Form::Word, "", "The rule, such as `unknown-key`.")],
        is_targeted: false,
        narrower: "name a rule",
    },
];

/// JSON Schemas of the answers: the tool's name, and the schema.
const SCHEMAS: &[(&str, &str)] = &[
    ("check", include_str!("../../../../../docs/schemas/check.json")),
    ("why", include_str!("../../../../../docs/schemas/why.json")),
    ("affects", include_str!("../../../../../docs/schemas/affects.json")),
    ("diff", include_str!("../../../../../docs/schemas/diff.json")),
    ("graph", include_str!("../../../../../docs/schemas/graph.json")),
    ("resolve", include_str!("../../../../../docs/schemas/resolve.json")),
    ("finding", include_str!("../../../../../docs/schemas/diagnostic.json")),
];

/// The beginning of a schema's address.
const SCHEMA_ADDRESS: &str = "purlin://schemas/";

/// The tool of a name.
pub(super) fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// All tools, as the protocol lists them.
pub(super) fn described() -> Vec<Value> {
    TOOLS.iter().map(Tool::described).collect()
}

/// All schemas, as the protocol lists them.
pub(super) fn schemas() -> Vec<Value> {
    let resource = |(name, _): &(&str, &str)| {
        let (uri, title) = (format!("{SCHEMA_ADDRESS}{name}"), format!("JSON Schema of what `{name}` answers"));
        json!({ "uri": uri, "name": name, "title": title, "mimeType": "application/schema+json" })
    };
    SCHEMAS.iter().map(resource).collect()
}

/// The schema at an address.
pub(super) fn schema(address: &str) -> Option<&'static str> {
    let name = address.strip_prefix(SCHEMA_ADDRESS)?;
    SCHEMAS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

impl Tool {
    fn arguments(&self) -> impl Iterator<Item = &'static Argument> {
        let target: &[Argument] = if self.is_targeted { TARGET } else { &[] };
        self.own.iter().chain(target)
    }

    fn described(&self) -> Value {
        let properties: Map<String, Value> =
            self.arguments().map(|argument| (argument.name.to_owned(), argument.described())).collect();
        let required: Vec<&str> = self.own.iter().filter(|own| own.is_required).map(|own| own.name).collect();
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.about,
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            },
            "annotations": { "title": self.title, "readOnlyHint": true, "openWorldHint": false },
        })
    }

    /// The command line of a call from the folder `start`, or an error message.
    pub(super) fn words(
        &self,
        given: &Map<String, Value>,
        start: &Path,
        allowed: &[PathBuf],
    ) -> Result<Vec<String>, String> {
        if let Some(unknown) = given.keys().find(|name| self.arguments().all(|argument| argument.name != **name)) {
            let known: Vec<&str> = self.arguments().map(|argument| argument.name).collect();
            return Err(format!(
                "unknown argument `{unknown}` of `{}`; expected one of {}",
                self.name,
                known.join(", ")
            ));
        }
        let mut words: Vec<String> = self.command.iter().map(|word| (*word).to_owned()).collect();
        let mut plain = Vec::new();
        for argument in self.arguments() {
            let value = given.get(argument.name).filter(|value| !value.is_null());
            let Some(value) = value else {
                match argument.is_required {
                    true => return Err(format!("`{}` needs the argument `{}`", self.name, argument.name)),
                    false => continue,
                }
            };
            let texts = argument.texts(value)?;
            for text in &texts {
                argument.confine(text, start, allowed)?;
            }
            match argument.option {
                "" => plain.extend(texts),
                option => words.extend(texts.into_iter().map(|text| format!("--{option}={text}"))),
            }
        }
        if !plain.is_empty() {
            words.push("--".to_owned());
            words.extend(plain);
        }
        Ok(words)
    }
}

impl Argument {
    fn is_list(&self) -> bool {
        matches!(self.form, Form::Texts | Form::Files | Form::Words)
    }

    fn described(&self) -> Value {
        match self.form {
            _ if self.is_list() => {
                json!({ "type": "array", "items": { "type": "string" }, "description": self.about })
            }
            Form::Count => json!({ "type": "integer", "minimum": 0, "description": self.about }),
            _ => json!({ "type": "string", "description": self.about }),
        }
    }

    /// The value as texts.
    fn texts(&self, value: &Value) -> Result<Vec<String>, String> {
        let wrong = |expected: &str| Err(format!("expected {expected} for `{}`", self.name));
        match (self.form, value) {
            (Form::Count, Value::Number(number)) if number.is_u64() => Ok(vec![number.to_string()]),
            (Form::Count, _) => wrong("a number"),
            (_, Value::Array(items)) if self.is_list() => {
                let texts = items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<_>>();
                texts.map_or_else(|| wrong("a list of strings"), Ok)
            }
            _ if self.is_list() => wrong("a list of strings"),
            (_, Value::String(text)) => Ok(vec![text.clone()]),
            _ => wrong("a string"),
        }
    }

    /// Refuses paths outside the folder of the server and the folders its user has allowed, links followed.
    fn confine(&self, text: &str, start: &Path, allowed: &[PathBuf]) -> Result<(), String> {
        let file = match self.form {
            Form::File | Form::Files | Form::Path => text,
            Form::Location => text.rsplit_once(':').map_or(text, |(file, _)| file),
            _ => return Ok(()),
        };
        let full = native::canonical_or_same(start.join(file));
        let goes_up = full.components().any(|part| part == std::path::Component::ParentDir);
        let mut roots = std::iter::once(start.to_owned()).chain(allowed.iter().map(|folder| start.join(folder)));
        let is_inside = roots.any(|root| full.starts_with(native::canonical_or_same(root)));
        if is_inside && !goes_up && !file.contains("://") && file != "-" {
            return Ok(());
        }
        Err(format!("`{text}` is outside of the folder that the server was started in"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(name: &str, given: &Value) -> Result<Vec<String>, String> {
        let (tool, none) = (find(name), Map::new());
        let given = given.as_object().unwrap_or(&none);
        tool.map_or_else(|| Err("no tool".to_owned()), |tool| tool.words(given, Path::new("/shop"), &[]))
    }

    #[test]
    fn no_value_is_taken_for_an_option() {
        let given = json!({ "node": "--reveal", "field": "-o", "set": ["--allow-exec"], "environment": "-x" });
        let expected = ["why", "--output=json", "--env=-x", "--set=--allow-exec", "--", "--reveal", "-o"];
        assert_eq!(words("why", &given).unwrap_or_default(), expected);
    }

    #[test]
    fn arguments_are_checked() {
        for (tool, given, message) in [
            ("why", json!({}), "`why` needs the argument `node`"),
            ("why", json!({ "node": 1 }), "expected a string for `node`"),
            ("check", json!({ "reveal": true }), "unknown argument `reveal`"),
            ("check", json!({ "values": "a" }), "expected a list of strings for `values`"),
            ("graph", json!({ "focus": "a", "depth": -1 }), "expected a number for `depth`"),
        ] {
            assert!(words(tool, &given).is_err_and(|error| error.contains(message)), "{given}");
        }
    }

    #[test]
    fn paths_stay_inside() {
        for path in ["/etc", "..", "a/../../b", "https://example.com/x", "../shop-2"] {
            for (tool, given) in [
                ("check", json!({ "path": path })),
                ("check", json!({ "values": [path] })),
                ("affects", json!({ "location": format!("{path}:3") })),
                ("diff", json!({ "to_path": path })),
            ] {
                assert!(words(tool, &given).is_err_and(|error| error.contains("outside")), "{given}");
            }
        }
        assert!(words("check", &json!({ "path": "charts/web" })).is_ok());
    }

    #[test]
    fn every_tool_is_a_command_line_that_is_understood() {
        use clap::Parser;
        for tool in TOOLS {
            let sample = |argument: &Argument| match argument.form {
                _ if argument.is_list() => json!(["a=b"]),
                Form::Count => json!(2),
                Form::Location => json!("a.yaml:3"),
                _ => json!("a"),
            };
            let given = tool.arguments().map(|argument| (argument.name.to_owned(), sample(argument))).collect();
            let words = tool.words(&given, Path::new("/shop"), &[]).unwrap_or_default();
            let parsed = crate::args::Cli::try_parse_from(std::iter::once("purlin".to_owned()).chain(words));
            assert!(parsed.is_ok(), "{}: {parsed:?}", tool.name);
        }
    }
}
