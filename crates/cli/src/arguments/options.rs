//! The options of the native commands in one table: the dialects that use each, its group and its sentence.
//!
//! Help is generated from it, and options that do not apply to a project are refused with it. This file does not know
//! what an option does.

use crate::args::Target;

/// The section of an option in help.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Group {
    Project,
    Values,
    Permissions,
    Output,
}

impl Group {
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Group::Project => "Project",
            Group::Values => "Values",
            Group::Permissions => "Permissions",
            Group::Output => "Output",
        }
    }
}

/// Words for a dialect in option texts.
pub(crate) struct Spoken {
    /// The dialect's name.
    pub dialect: &'static str,
    /// In parentheses after an option's sentence.
    pub short: &'static str,
    /// One project, with its article.
    pub one: &'static str,
    /// The plural.
    pub many: &'static str,
}

/// All dialects, in the order options name them.
#[rustfmt::skip]
pub(crate) const SPOKEN: &[Spoken] = &[
    Spoken { dialect: "garden", short: "Garden", one: "a Garden project", many: "Garden projects" },
    Spoken { dialect: "skaffold", short: "Skaffold", one: "a Skaffold configuration", many: "Skaffold configurations" },
    Spoken { dialect: "charts", short: "charts", one: "a chart", many: "charts" },
    Spoken { dialect: "tosca", short: "TOSCA", one: "a TOSCA service template", many: "TOSCA service templates" },
    Spoken { dialect: "unfurl", short: "Unfurl", one: "an Unfurl ensemble", many: "Unfurl ensembles" },
    Spoken { dialect: "kustomize", short: "kustomizations", one: "a kustomization", many: "kustomizations" },
];

/// The words for a dialect.
pub(crate) fn spoken(dialect: &str) -> Option<&'static Spoken> {
    SPOKEN.iter().find(|spoken| spoken.dialect == dialect)
}

/// One option.
pub(crate) struct Row {
    /// Its long name.
    pub name: &'static str,
    /// The dialects that use it; all if empty.
    pub dialects: &'static [&'static str],
    /// Its section in help.
    pub group: Group,
    /// Whether `-h` shows it; `--help` shows all.
    pub is_common: bool,
    /// One sentence.
    pub help: &'static str,
    /// Whether it was given.
    pub given: fn(&Target) -> bool,
}

const ALL: &[&str] = &[];

/// An option that all dialects use or that does not concern the project.
const fn every(name: &'static str, group: Group, is_common: bool, help: &'static str) -> Row {
    Row { name, dialects: ALL, group, is_common, help, given: |_| false }
}

const fn some(
    name: &'static str,
    dialects: &'static [&'static str],
    group: Group,
    is_common: bool,
    help: &'static str,
    given: fn(&Target) -> bool,
) -> Row {
    Row { name, dialects, group, is_common, help, given }
}

use Group::{Output, Permissions, Project, Values};

/// All options that several commands share.
#[rustfmt::skip]
pub(crate) const OPTIONS: &[Row] = &[
    every("chdir", Project, true, "Run as if started in DIR"),
    every("path", Project, true, "Folder or file of the project; the working directory if omitted"),
    every("file", Project, true, "Name of the configuration file, if it is not the usual one"),
    some("env", &["garden", "unfurl"], Project, true, "Environment", |t| t.env.is_some()),
    some("profile", &["skaffold"], Project, true, "Activate a profile; `-NAME` deactivates one", |t| !t.profile.is_empty()),
    some("propagate-profiles", &["skaffold"], Project, false, "Whether profiles also apply to required configurations", |t| t.propagate_profiles.is_some()),
    some("profile-auto-activation", &["skaffold"], Project, false, "Whether profiles may activate themselves", |t| t.profile_auto_activation.is_some()),
    some("kube-context", &["skaffold"], Project, false, "Kubernetes context used for profile activation", |t| t.kube_context.is_some()),
    some("module", &["skaffold"], Project, false, "Only this module", |t| !t.module.is_empty()),
    some("namespace", &["garden", "skaffold", "charts"], Project, false, "Namespace", |t| t.namespace.is_some()),
    some("release-name", &["charts"], Project, false, "Release name", |t| t.release_name.is_some()),
    some("profile-path", &["tosca"], Project, false, "Folder to search for TOSCA profiles", |t| !t.profile_path.is_empty()),
    every("rev", Project, true, "Read the project as it was at a git revision"),
    some("var", &["garden", "unfurl"], Values, true, "Set a variable", |t| !t.var.is_empty()),
    some("var-file", &["garden"], Values, false, "Read variables from a file", |t| !t.var_file.is_empty()),
    some("secret-file", &["garden"], Values, false, "Read secrets from a file", |t| !t.secret_file.is_empty()),
    some("values", &["charts"], Values, true, "Read values from a file; later files override earlier ones", |t| !t.values.is_empty()),
    some("set", &["charts"], Values, true, "Set a value", |t| !t.set.is_empty()),
    some("set-string", &["charts"], Values, false, "Set a value as a string", |t| !t.set_string.is_empty()),
    some("set-json", &["charts"], Values, false, "Set a value from JSON", |t| !t.set_json.is_empty()),
    some("input", &["tosca", "unfurl"], Values, true, "Set an input", |t| !t.input.is_empty()),
    some("inputs", &["tosca", "unfurl"], Values, false, "Read inputs from a file", |t| !t.inputs.is_empty()),
    some("pending", &["garden", "charts"], Values, false, "Treat a value as not known yet; `local.env[.NAME]` in Garden projects: environment variables that may be unset", |t| !t.pending.is_empty()),
    every("allow-path", Permissions, true, "Allow reading below DIR, outside the project"),
    every("allow-net", Permissions, true, "Allow connections to HOST"),
    every("allow-exec", Permissions, false, "Allow expressions to run commands"),
    every("allow-write", Permissions, false, "Allow expressions to write files"),
    every("env-allow", Permissions, false, "Let the project read only environment variables that match PATTERN"),
    every("offline", Permissions, false, "Fetch nothing"),
    every("update", Permissions, false, "Update fetched dependencies and `purlin.lock`"),
    every("limit", Permissions, false, "Change a limit; `purlin limits` lists them"),
    every("trust", Permissions, false, "Allow what the project's `purlin.toml` asks for"),
    every("output", Output, true, "Format of the result"),
    every("out", Output, true, "Write to PATH instead of standard output"),
    every("reveal", Output, true, "Show secrets"),
    every("diagnostics", Output, true, "Format of problems"),
    every("strict", Output, false, "Treat warnings as errors"),
    every("quiet", Output, false, "Show errors only"),
    every("verbose", Output, false, "Also list the files that were read"),
    every("color", Output, false, "When to use colours"),
    every("threads", Output, false, "Number of worker threads"),
    every("seed", Output, false, "Seed of random functions: a number, to repeat a run, or `random`"),
];

impl Row {
    /// Whether a dialect uses it.
    pub(crate) fn is_used_by(&self, dialect: &str) -> bool {
        self.dialects.is_empty() || self.dialects.contains(&dialect)
    }

    /// The sentence of help, with the dialects if it is not for all.
    pub(crate) fn sentence(&self) -> String {
        if self.dialects.is_empty() {
            return self.help.to_owned();
        }
        let names: Vec<&str> = self.dialects.iter().filter_map(|name| Some(spoken(name)?.short)).collect();
        format!("{} ({})", self.help, names.join(", "))
    }

    /// The projects it applies to: `charts`, `Garden projects and charts`.
    fn applies_to(&self) -> String {
        let names: Vec<&str> = self.dialects.iter().filter_map(|name| Some(spoken(name)?.many)).collect();
        match names.as_slice() {
            [] => "nothing".to_owned(),
            [one] => (*one).to_owned(),
            [first @ .., last] => format!("{} and {last}", first.join(", ")),
        }
    }
}

/// A given option that does not apply to a project.
pub(crate) struct Unused {
    /// The option as written, without its dashes.
    pub name: String,
    row: &'static Row,
}

/// The given options that none of some dialects uses. `prefix` is the prefix of their names on the command line.
pub(crate) fn unused(target: &Target, prefix: &str, dialects: &[&str]) -> Vec<Unused> {
    let idle = |row: &&Row| (row.given)(target) && !dialects.iter().any(|dialect| row.is_used_by(dialect));
    OPTIONS.iter().filter(idle).map(|row| Unused { name: format!("{prefix}{}", row.name), row }).collect()
}

impl Unused {
    /// The message about it, with the project as the user names it.
    pub(crate) fn message(&self, project: &str, dialect: &str) -> String {
        let project = if project == "." { "this folder" } else { project };
        let one = spoken(dialect).map_or(dialect, |spoken| spoken.one);
        format!("`--{}` applies to {}; {project} is {one}", self.name, self.row.applies_to())
    }

    /// The same for several projects.
    pub(crate) fn message_for_several(&self) -> String {
        format!("`--{}` applies to {}; there are none here", self.name, self.row.applies_to())
    }
}

/// Whether any option was given that only some dialects use.
pub(crate) fn needs_dialect(target: &Target) -> bool {
    OPTIONS.iter().any(|row| !row.dialects.is_empty() && (row.given)(target))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_dialect_is_spoken_of_and_every_name_in_the_table_is_one() {
        let dialects: Vec<&str> = purlin_compiler::DIALECTS.iter().map(|dialect| dialect.name).collect();
        for dialect in &dialects {
            assert!(spoken(dialect).is_some(), "{dialect}");
        }
        for row in OPTIONS {
            assert!(row.dialects.iter().all(|name| dialects.contains(name)), "{}", row.name);
        }
    }

    #[test]
    fn every_shared_option_of_a_command_is_in_the_table() {
        let command = Cli::command();
        let resolve = command.find_subcommand("resolve").map(|resolve| resolve.get_arguments());
        let shared = resolve.into_iter().flatten().chain(command.get_arguments());
        for long in shared.filter_map(clap::Arg::get_long).filter(|long| *long != "help" && *long != "version") {
            assert!(OPTIONS.iter().any(|row| row.name == long), "`--{long}` has no row");
        }
    }
}
