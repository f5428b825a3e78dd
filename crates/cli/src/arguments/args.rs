//! The native command line. Only this file and its siblings know clap.

use crate::read_args::{
    CheckFlags, DiffFlags, EvalFlags, GraphFlags, RenderFlags, ResolveFlags, VerifyFlags, WhyFlags,
};
use crate::run_args::{CleanupFlags, DeployFlags, DevFlags, ExecFlags, LogsFlags, RunFlags, StatusFlags};
use crate::seed::SeedSource;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Reads your configuration, resolves it completely, and explains where every value comes from.
#[derive(Parser, Debug)]
#[command(name = "purlin", version, disable_help_subcommand = true, max_term_width = 100)]
pub struct Cli {
    /// Flags that every command takes.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options that stand before the name of a personality.
#[derive(Parser, Debug)]
#[command(name = "purlin", disable_help_subcommand = true)]
pub struct Early {
    /// Flags that every command takes.
    #[command(flatten)]
    pub global: Global,
}

/// How the arguments of a command are added to it.
type Arguments = fn(clap::Command) -> clap::Command;

/// The commands that run most often.
const OFTEN: &[(&str, Arguments)] = &[
    ("check", CheckFlags::augment_args),
    ("verify", VerifyFlags::augment_args),
    ("resolve", ResolveFlags::augment_args),
    ("render", RenderFlags::augment_args),
    ("graph", GraphFlags::augment_args),
    ("why", WhyFlags::augment_args),
    ("diff", DiffFlags::augment_args),
    ("eval", EvalFlags::augment_args),
    ("build", RunFlags::augment_args),
    ("deploy", DeployFlags::augment_args),
    ("test", RunFlags::augment_args),
    ("run", RunFlags::augment_args),
    ("dev", DevFlags::augment_args),
    ("status", StatusFlags::augment_args),
    ("logs", LogsFlags::augment_args),
    ("exec", ExecFlags::augment_args),
    ("cleanup", CleanupFlags::augment_args),
];

/// A program with this command alone: a run needs one, and to make all of them costs more than to read the arguments.
/// It has no sentences: help and error messages are made from all commands. `None` for a command that is seldom run.
pub fn alone(name: &str) -> Option<clap::Command> {
    use clap::CommandFactory;
    let (name, arguments) = OFTEN.iter().find(|(often, _)| *often == name)?;
    Some(Early::command().subcommand(arguments(clap::Command::new(*name))).subcommand_required(true))
}

/// Whether a global option, as written, is followed by its value.
pub fn takes_value(arg: &str) -> bool {
    use clap::CommandFactory;
    let command = Early::command();
    let mut options = command.get_arguments().filter(|option| option.get_action().takes_values());
    options.any(|option| {
        let is_long = option.get_long().is_some_and(|long| arg.strip_prefix("--") == Some(long));
        is_long || option.get_short().is_some_and(|short| arg.strip_prefix('-') == Some(short.to_string().as_str()))
    })
}

/// Options that every command takes. Their sentences are in `options.rs`.
#[derive(Args, Debug, Clone, Default)]
pub struct Global {
    #[arg(short = 'C', long, global = true, value_name = "DIR")]
    pub chdir: Option<PathBuf>,
    #[arg(long, global = true, value_enum, default_value_t = When::Auto)]
    pub color: When,
    #[arg(long, global = true, value_enum, default_value_t = DiagnosticFormat::Human, value_name = "FORMAT")]
    pub diagnostics: DiagnosticFormat,
    #[arg(long, global = true, value_name = "N")]
    pub threads: Option<usize>,
    #[arg(long, global = true, value_name = "NAME=N")]
    pub limit: Vec<String>,
    #[arg(long, global = true, value_name = "N|random")]
    pub seed: Option<SeedSource>,
    #[arg(long, global = true, value_name = "DIR")]
    pub allow_path: Vec<PathBuf>,
    #[arg(long, global = true, value_name = "HOST")]
    pub allow_net: Vec<String>,
    #[arg(long, global = true)]
    pub allow_exec: bool,
    #[arg(long, global = true)]
    pub allow_write: bool,
    #[arg(long, global = true, value_name = "PATTERN")]
    pub env_allow: Vec<String>,
    #[arg(long, global = true)]
    pub offline: bool,
    #[arg(long, global = true, conflicts_with = "offline")]
    pub update: bool,
    #[arg(long, global = true)]
    pub trust: bool,
    #[arg(long, global = true)]
    pub strict: bool,
    #[arg(short, long, global = true)]
    pub quiet: bool,
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
}

impl Global {
    /// Fills in what is not given from variables of the environment. What is not understood is left out here and
    /// reported where the option itself would be.
    pub fn fill_from(&mut self, env: &std::collections::BTreeMap<String, String>) {
        let is_on = |name: &str| env.get(name).is_some_and(|text| !matches!(text.as_str(), "" | "0" | "false"));
        if let (When::Auto, Some(color)) = (self.color, env.get("PURLIN_COLOR")) {
            self.color = When::from_str(color, true).unwrap_or(self.color);
        }
        if let (DiagnosticFormat::Human, Some(format)) = (self.diagnostics, env.get("PURLIN_DIAGNOSTICS")) {
            self.diagnostics = DiagnosticFormat::from_str(format, true).unwrap_or(self.diagnostics);
        }
        let threads = env.get("PURLIN_THREADS").and_then(|text| text.parse().ok());
        self.threads = self.threads.or(threads);
        self.offline |= !self.update && is_on("PURLIN_OFFLINE");
        self.strict |= is_on("PURLIN_STRICT");
    }
}

/// When to do something.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum When {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How problems are printed.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DiagnosticFormat {
    /// For people, with the source.
    #[default]
    Human,
    /// One JSON object per line.
    Json,
    /// SARIF 2.1.0.
    Sarif,
    /// GitHub annotations.
    Github,
}

/// What to resolve, and how. One meaning in all dialects; which dialects use an option, and its sentence, is in
/// `options.rs`.
#[derive(Args, Debug, Clone, Default)]
pub struct Target {
    #[arg(short, long, value_name = "NAME")]
    pub env: Option<String>,
    #[arg(short, long, value_name = "NAME", allow_hyphen_values = true)]
    pub profile: Vec<String>,
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub propagate_profiles: Option<bool>,
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub profile_auto_activation: Option<bool>,
    #[arg(long, value_name = "NAME")]
    pub kube_context: Option<String>,
    #[arg(short, long, value_name = "NAME")]
    pub module: Vec<String>,
    #[arg(short, long, value_name = "FILE")]
    pub file: Option<String>,
    #[arg(long, value_name = "FILE")]
    pub values: Vec<String>,
    #[arg(long, value_name = "K=V")]
    pub set: Vec<String>,
    #[arg(long, value_name = "K=V")]
    pub set_string: Vec<String>,
    #[arg(long, value_name = "K=JSON")]
    pub set_json: Vec<String>,
    #[arg(long, value_name = "K=V")]
    pub var: Vec<String>,
    #[arg(long, value_name = "FILE")]
    pub var_file: Vec<String>,
    #[arg(long, value_name = "FILE")]
    pub secret_file: Vec<String>,
    #[arg(long, value_name = "K=V")]
    pub input: Vec<String>,
    #[arg(long, value_name = "FILE")]
    pub inputs: Vec<String>,
    #[arg(long, value_name = "DIR")]
    pub profile_path: Vec<String>,
    #[arg(short, long, value_name = "NAME")]
    pub namespace: Option<String>,
    #[arg(long, value_name = "NAME")]
    pub release_name: Option<String>,
    #[arg(long, value_name = "REVISION")]
    pub rev: Option<String>,
    #[arg(long, value_name = "PATH[=WHAT]")]
    pub pending: Vec<String>,
}

/// The project that a command is about.
#[derive(Args, Debug, Clone, Default)]
pub struct Place {
    /// Folder or file of the project.
    #[arg(value_name = "PATH", conflicts_with = "named")]
    pub place: Option<PathBuf>,
    #[arg(long = "path", id = "named", value_name = "PATH")]
    pub named: Option<PathBuf>,
}

impl Place {
    /// The path; where the user stands if none was given.
    pub fn path(&self) -> PathBuf {
        self.named.clone().or_else(|| self.place.clone()).unwrap_or_else(|| PathBuf::from("."))
    }
}

/// The cluster that objects are judged for.
#[derive(Args, Debug, Clone, Default)]
pub struct ClusterTerms {
    /// Judge Kubernetes objects for this version, and render charts for it. Default: the newest known one.
    #[arg(long, value_name = "VERSION")]
    pub kube_version: Option<String>,
    /// Judge custom resources by the definitions in this folder, too. May be repeated.
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub schema_dir: Vec<PathBuf>,
    /// Judge objects by a built-in policy, or a file or folder with Rego.
    ///
    /// The built-in policies are `baseline`, `restricted`, `resources`, `probes` and `images`. Policies of `purlin.toml` hold as well.
    #[arg(long = "policy", value_name = "POLICY")]
    pub policies: Vec<String>,
    /// A file or folder with documents that policies find under `data`. May be repeated.
    #[arg(long, value_name = "PATH", requires = "policies", hide_short_help = true)]
    pub policy_data: Vec<PathBuf>,
    /// The package whose rules count, instead of `main`; `*` for all. May be repeated.
    #[arg(long = "policy-namespace", value_name = "NAME", requires = "policies", hide_short_help = true)]
    pub namespaces: Vec<String>,
    /// Give policies all objects at once, as conftest's `--combine` does.
    #[arg(long, requires = "policies", hide_short_help = true)]
    pub combine: bool,
}

/// How a schema is printed.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SchemaFormat {
    /// JSON Schema.
    #[default]
    Json,
    /// A page with a table of values.
    Markdown,
}

/// How tests are found and run.
#[derive(Args, Debug, Clone, Default)]
pub struct TestTerms {
    /// Files with suites of charts, from the folder of the chart.
    ///
    /// The default is `tests/*_test.yaml`. May be repeated.
    #[arg(long = "tests", value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Run tests only.
    #[arg(long, hide_short_help = true)]
    pub only_tests: bool,
    /// Leave out suites of charts that have not changed since this git revision.
    ///
    /// Files of charts that a chart takes in from a folder (`file://`) count as its own. Suites of other projects always run.
    #[arg(long = "since", id = "unchanged_since", value_name = "REVISION", hide_short_help = true)]
    pub since: Option<String>,
    /// Store snapshots as they are now.
    #[arg(short, long)]
    pub update_snapshots: bool,
    /// Write a JUnit report of the tests to this file.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

/// The project that a command is about, and nodes of it.
#[derive(Args, Debug, Clone, Default)]
pub struct Places {
    /// Only these nodes; a folder or file of the project may come first.
    #[arg(value_name = "NODE")]
    pub words: Vec<String>,
    #[arg(long = "path", id = "named", value_name = "PATH")]
    pub named: Option<PathBuf>,
}

/// Data formats.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataFormat {
    /// YAML.
    Yaml,
    /// JSON.
    Json,
}

/// Formats of a graph.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphOutput {
    /// A list.
    Text,
    /// Graphviz.
    Dot,
    /// Mermaid.
    Mermaid,
    /// A picture.
    Svg,
    /// A picture for documents that take no SVG.
    Png,
    /// A page to look around in.
    Html,
    /// JSON.
    Json,
}

/// Where the arrows of a picture lead.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphDirection {
    /// To the right: dependencies are right of what depends on them.
    Right,
    /// To the left.
    Left,
    /// Down.
    Down,
    /// Up.
    Up,
}

/// What the nodes of a picture are put together by.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphGroup {
    /// The folder they are declared in.
    Folder,
    /// Their dialect.
    Dialect,
    /// Their kind.
    Kind,
}

/// The shape of a picture.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphPage {
    /// A4, upright or lying.
    A4,
    /// A slide, 16 to 9.
    #[value(name = "16:9")]
    Slide,
}

/// Which part of a graph is shown.
#[derive(Args, Clone, Debug)]
pub struct ViewArgs {
    /// Only NODE, its dependencies and its dependents.
    #[arg(long, value_name = "NODE")]
    pub focus: Option<String>,
    /// Number of steps from the focused node.
    #[arg(long, value_name = "N", requires = "focus")]
    pub depth: Option<usize>,
    /// Only nodes of this kind or type; may be repeated.
    #[arg(long, value_name = "KIND")]
    pub kind: Vec<String>,
    /// Only nodes of this dialect; may be repeated.
    #[arg(long, value_name = "DIALECT")]
    pub dialect: Vec<String>,
    /// Omit edges that follow from others.
    #[arg(long)]
    pub reduce: bool,
    /// Colours of a picture; a PNG is light unless `dark` is said.
    #[arg(long, value_enum, default_value_t = GraphTheme::Auto)]
    pub theme: GraphTheme,
    /// Where the arrows of a picture lead.
    #[arg(long, value_enum, default_value_t = GraphDirection::Right, value_name = "DIRECTION")]
    pub direction: GraphDirection,
    /// Put the nodes of a picture together.
    #[arg(long, value_enum, value_name = "BY")]
    pub group_by: Option<GraphGroup>,
    /// Give a picture the shape of a page.
    #[arg(long, value_enum, value_name = "SHAPE")]
    pub page: Option<GraphPage>,
    /// Date to show in the title of a picture.
    #[arg(long, value_name = "TEXT")]
    pub date: Option<String>,
    /// Mark nodes with what became of them when they were run.
    #[arg(long)]
    pub status: bool,
    /// Mark what differs from a git revision.
    #[arg(long, value_name = "REVISION")]
    pub diff: Option<String>,
}

/// Colours of a picture.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphTheme {
    /// As the reader's system says.
    Auto,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// Formats of a comparison.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffOutput {
    /// For people, by cause.
    Text,
    /// JSON.
    Json,
    /// The nodes as YAML, compared line by line.
    Yaml,
    /// Markdown, for the review of a change.
    Markdown,
}

/// Formats of an answer to a person or a program.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerFormat {
    /// For people.
    Text,
    /// JSON.
    Json,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Read and resolve everything, and report all problems.
    Check(CheckFlags),
    /// Check everything as `check` does, and run unit tests.
    Verify(VerifyFlags),
    /// Print the fully resolved configuration.
    Resolve(ResolveFlags),
    /// Print Kubernetes manifests.
    Render(RenderFlags),
    /// Print the graph.
    Graph(GraphFlags),
    /// Look around in the project with a browser: graph, values, environments, problems.
    Explore {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        target: Target,
        /// Port on 127.0.0.1; any free one if omitted.
        #[arg(long, value_name = "PORT")]
        port: Option<u16>,
        /// Only print the address; open no browser.
        #[arg(long)]
        no_open: bool,
    },
    /// Write the pages of `explore` to files that need no server.
    Report {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        target: Target,
        /// Folder to write to; with `--single`, the file.
        #[arg(long, value_name = "PATH")]
        out: PathBuf,
        /// Write one HTML file that holds everything.
        #[arg(long)]
        single: bool,
        /// Also compare with a git revision.
        #[arg(long, value_name = "REVISION")]
        diff: Option<String>,
    },
    /// Explain where a value comes from.
    Why(WhyFlags),
    /// Compare two environments, profiles, variable sets, git revisions or paths, with causes.
    Diff(DiffFlags),
    /// Evaluate an expression of the project's own dialect.
    Eval(EvalFlags),
    /// Run Build actions and their dependencies.
    Build(RunFlags),
    /// Run Deploy actions and their dependencies.
    Deploy(DeployFlags),
    /// Run Test actions and their dependencies.
    Test(RunFlags),
    /// Run Run actions and their dependencies.
    Run(RunFlags),
    /// Run actions, watch their files, and rerun what a change affects.
    Dev(DevFlags),
    /// Show which actions are up to date, outdated, failed or running.
    Status(StatusFlags),
    /// Print the last output of an action.
    Logs(LogsFlags),
    /// Run a command in a container of a Deploy.
    Exec(ExecFlags),
    /// Delete what Deploys have created, and the stored results of actions.
    Cleanup(CleanupFlags),
    /// Format YAML files, keeping comments, order and anchors.
    Fmt {
        /// Folders or files; all YAML files below a folder.
        #[arg(default_value = ".", value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Write nothing; list the files that would change, and exit with 1 if there are any.
        #[arg(long)]
        check: bool,
        /// Write nothing; show what would change.
        #[arg(long)]
        diff: bool,
    },
    /// Correct misspelt names where the intended name is clear.
    Fix {
        /// Folder or file of the project.
        #[arg(default_value = ".", value_name = "PATH")]
        path: PathBuf,
        /// Write nothing; show what would change.
        #[arg(long)]
        diff: bool,
    },
    /// Rename an action, a variable, a value or a type everywhere it is used, in all environments and profiles.
    ///
    /// Everything is resolved again with the new name before a file is written: either the result is the same up to the
    /// name, or nothing is written and the reason is shown.
    Rename {
        /// What to rename: FILE:LINE or FILE:LINE:COLUMN, counted from 1, or a name such as `build.api`. Where several
        /// things have the name, its kind may stand before it: `variable port`.
        what: String,
        /// The new name.
        new: String,
        /// Folder or file in which a name is looked for.
        #[arg(default_value = ".", value_name = "PATH")]
        path: PathBuf,
        /// Write nothing; show what would change.
        #[arg(long)]
        dry_run: bool,
    },
    /// Create a small commented project.
    Init {
        /// Kind of project; all kinds are listed if omitted.
        starter: Option<Starter>,
        /// Folder to create it in; created if missing.
        #[arg(default_value = ".", value_name = "DIR")]
        folder: PathBuf,
    },
    /// Unpack an example and run it, without containers and without a cluster.
    ///
    /// The example is a shop in five kinds of configuration. A script that prints the steps replaces the container builder,
    /// and an API in this process replaces the cluster.
    Demo {
        /// Folder to unpack it to; created if missing.
        #[arg(default_value = "purlin-demo", value_name = "DIR")]
        folder: PathBuf,
        /// Run this command of Purlin in the demo instead of the tour: `-- dev`.
        #[arg(last = true, value_name = "COMMAND")]
        command: Vec<String>,
    },
    /// Create, list and unpack CSAR archives of TOSCA.
    Csar {
        /// What to do.
        #[command(subcommand)]
        command: CsarCommand,
    },
    /// List what projects declare: actions, variables, profiles, types, templates.
    Symbols {
        /// Folder or file.
        #[arg(default_value = ".")]
        path: PathBuf,
        /// Only names that contain TEXT.
        #[arg(long, value_name = "TEXT")]
        query: Option<String>,
        #[command(flatten)]
        target: Target,
        /// Format.
        #[arg(short, long, value_enum, default_value_t = AnswerFormat::Text)]
        output: AnswerFormat,
    },
    /// List where a name is declared and used.
    Refs {
        /// The name, such as `build.api`, `image.tag` or `tosca.nodes.Compute`.
        name: String,
        /// Folder or file.
        #[arg(default_value = ".")]
        path: PathBuf,
        #[command(flatten)]
        target: Target,
        /// Format.
        #[arg(short, long, value_enum, default_value_t = AnswerFormat::Text)]
        output: AnswerFormat,
    },
    /// List completions at a location of a file, the most likely first.
    Complete {
        /// The location: FILE:LINE:COLUMN, counted from 1.
        at: String,
        #[command(flatten)]
        target: Target,
        /// Format.
        #[arg(short, long, value_enum, default_value_t = AnswerFormat::Text)]
        output: AnswerFormat,
    },
    /// Show the documentation, resolved value and origin at a location of a file.
    Hover {
        /// The location: FILE:LINE:COLUMN, counted from 1.
        at: String,
        #[command(flatten)]
        target: Target,
        /// Format.
        #[arg(short, long, value_enum, default_value_t = AnswerFormat::Text)]
        output: AnswerFormat,
    },
    /// Show where the name at a location of a file is declared.
    Definition {
        /// The location: FILE:LINE:COLUMN, counted from 1.
        at: String,
        #[command(flatten)]
        target: Target,
        /// Format.
        #[arg(short, long, value_enum, default_value_t = AnswerFormat::Text)]
        output: AnswerFormat,
    },
    /// Start the language server, over standard input and output.
    Lsp {
        /// Accepted because editors pass it; standard input and output are always used.
        #[arg(long, hide = true)]
        stdio: bool,
    },
    /// Answer an assistant by the Model Context Protocol, over standard input and output.
    Mcp,
    /// Print the JSON Schema of a format, for editors and validators.
    Schema {
        /// `garden`, `skaffold`, `skaffold/VERSION`, `tosca-1.0` to `tosca-2.0`, `ensemble`, `chart` or
        /// `chart-values`; without one, the list.
        name: Option<String>,
        /// The folder of the chart, for `chart-values`.
        path: Option<PathBuf>,
        /// `markdown` prints the values of a chart as a page.
        #[arg(short, long, value_enum, default_value = "json", value_name = "FORMAT")]
        output: SchemaFormat,
    },
    /// Explain a rule; list all rules if omitted.
    Explain {
        /// The rule's name.
        rule: Option<String>,
    },
    /// List all limits.
    Limits,
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print names in a project, one per line; completion scripts use it.
    #[command(hide = true)]
    Names {
        /// What kind of names.
        kind: NameKind,
        /// Folder or file of the project.
        #[arg(default_value = ".", value_name = "PATH")]
        path: PathBuf,
    },
    /// Print the manual page of the program, or of a command.
    Man {
        /// The command.
        command: Option<String>,
    },
    /// Print the version.
    Version,
}

/// A kind of names.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// Environments.
    Environments,
    /// Nodes.
    Nodes,
    /// Profiles.
    Profiles,
}

/// What one file of a rendered folder holds.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// One object.
    Object,
    /// All objects of one action, chart or kustomization.
    App,
}

/// A kind of project to start with.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starter {
    /// A Garden project.
    Garden,
    /// A Skaffold configuration.
    Skaffold,
    /// A Helm chart.
    Chart,
    /// A TOSCA service template.
    Tosca,
    /// An Unfurl project with an ensemble.
    Unfurl,
    /// Settings of Purlin (`purlin.toml`).
    Settings,
}

/// What to do with a CSAR archive.
#[derive(Subcommand, Debug)]
pub enum CsarCommand {
    /// Create an archive of the files below a folder; the same files give the same bytes.
    Create {
        /// The archive to write.
        archive: PathBuf,
        /// The folder with its content.
        folder: PathBuf,
        /// The service template; the only YAML file in the folder if omitted.
        #[arg(long, value_name = "FILE")]
        entry: Option<String>,
        /// A further service template.
        #[arg(long, value_name = "FILE")]
        other: Vec<String>,
        /// Author of the archive.
        #[arg(long, value_name = "NAME", default_value = "purlin")]
        created_by: String,
        /// Version of the archive format.
        #[arg(long, value_name = "VERSION", default_value = "1.1")]
        csar_version: String,
        /// Version of its metadata.
        #[arg(long, value_name = "VERSION", default_value = "1.1")]
        tosca_meta_file_version: String,
    },
    /// Print the metadata of an archive and the names of its files.
    List {
        /// The archive.
        archive: PathBuf,
    },
    /// Write the files of an archive to a new or empty folder.
    Unpack {
        /// The archive.
        archive: PathBuf,
        /// The folder.
        folder: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn a_command_alone_takes_what_it_takes_among_all() {
        let all = Cli::command();
        for (name, _) in OFTEN {
            let alone = alone(name).unwrap();
            let arguments = |command: &clap::Command| {
                let own = command.find_subcommand(name).unwrap();
                own.get_arguments().map(|argument| format!("{argument:?}")).collect::<Vec<_>>()
            };
            assert_eq!(arguments(&alone), arguments(&all), "{name}");
        }
    }
}
