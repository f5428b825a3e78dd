//! Arguments of the commands that read projects and show something of them.

use crate::args::{
    AnswerFormat, ClusterTerms, DataFormat, DiffOutput, GraphOutput, Per, Place, Places, Target, TestTerms, ViewArgs,
};
use crate::run_args::ClusterFlags;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `check`.
#[derive(Args, Debug, Clone)]
pub struct CheckFlags {
    /// Folders or files; every project at or below them is checked.
    #[arg(default_value = ".", value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub target: Target,
    /// Check every environment, profile and values file. This is the default, unless `--env`, `--profile` or
    /// `--values` names one.
    #[arg(long, conflicts_with = "env")]
    pub all_envs: bool,
    /// List the environment variables that the projects read.
    #[arg(long)]
    pub show_env: bool,
    /// Print a summary for programs.
    #[arg(short, long, value_enum)]
    pub output: Option<AnswerFormat>,
    /// Write the findings to this file, in the format of `--diagnostics`.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub cluster: ClusterTerms,
}

/// Arguments of `verify`.
#[derive(Args, Debug, Clone)]
pub struct VerifyFlags {
    /// Folders or files; the file of a suite is run alone.
    #[arg(default_value = ".", value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub cluster: ClusterTerms,
    #[command(flatten)]
    pub tests: TestTerms,
    /// Print a summary for programs.
    #[arg(short, long, value_enum)]
    pub output: Option<AnswerFormat>,
    /// Write the findings to this file, in the format of `--diagnostics`.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Arguments of `resolve`.
#[derive(Args, Debug, Clone)]
pub struct ResolveFlags {
    #[command(flatten)]
    pub places: Places,
    #[command(flatten)]
    pub target: Target,
    /// Format.
    #[arg(short, long, value_enum, default_value_t = DataFormat::Yaml)]
    pub output: DataFormat,
    /// Write to PATH instead of stdout.
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// Show secrets.
    #[arg(long)]
    pub reveal: bool,
}

/// Arguments of `render`.
#[derive(Args, Debug, Clone)]
pub struct RenderFlags {
    #[command(flatten)]
    pub places: Places,
    #[command(flatten)]
    pub target: Target,
    /// Format: YAML documents, or one JSON object of kind `List`.
    #[arg(short, long, value_enum, default_value_t = DataFormat::Yaml)]
    pub output: DataFormat,
    /// Write to PATH instead of stdout; to a folder, one file per object, if PATH is one or ends with `/`.
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// What each file of a folder holds: one object, or all objects of one app.
    #[arg(long, value_enum, default_value_t = Per::Object, requires = "out")]
    pub per: Per,
    /// Show secrets.
    #[arg(long)]
    pub reveal: bool,
}

/// Arguments of `graph`.
#[derive(Args, Debug, Clone)]
pub struct GraphFlags {
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub target: Target,
    /// Format.
    #[arg(short, long, value_enum, default_value_t = GraphOutput::Text)]
    pub output: GraphOutput,
    #[command(flatten)]
    pub view: ViewArgs,
    /// Write to PATH instead of stdout.
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
}

/// Arguments of `why`.
#[derive(Args, Debug, Clone)]
pub struct WhyFlags {
    /// Node and field (`deploy.api spec.image`); the whole node without a field. `--file FILE:LINE` instead of both
    /// lists the values that a line contributes to.
    #[arg(value_name = "NODE [FIELD]", num_args = 0..=3)]
    pub words: Vec<String>,
    #[arg(long, value_name = "PATH")]
    pub path: Option<PathBuf>,
    #[command(flatten)]
    pub target: Target,
    /// List every file, environment variable and flag that the value depends on; `--inputs` without a file is the
    /// same.
    #[arg(long, conflicts_with = "all_envs")]
    pub list_inputs: bool,
    /// With `--file`: over all environments, profiles or values files. A value is always shown in all of them.
    #[arg(long, conflicts_with = "env")]
    pub all_envs: bool,
    /// Also show the commit, author and date of each line, from the history of the git repository.
    #[arg(long, conflicts_with_all = ["list_inputs", "all_envs"])]
    pub blame: bool,
    /// Format.
    #[arg(short, long, value_enum, default_value_t = AnswerFormat::Text)]
    pub output: AnswerFormat,
}

/// Arguments of `diff`.
#[derive(Args, Debug, Clone)]
pub struct DiffFlags {
    #[command(flatten)]
    pub place: Place,
    /// Folder or file of the other side, as with `--to-path`.
    #[arg(value_name = "OTHER", conflicts_with_all = ["named", "to_path", "cluster"])]
    pub other: Option<PathBuf>,
    /// Folder or file of the other side; the same if omitted.
    #[arg(long, value_name = "PATH")]
    pub to_path: Option<PathBuf>,
    /// Git revision of the other side; the working tree if omitted.
    #[arg(long, value_name = "REVISION")]
    pub to_rev: Option<String>,
    /// Environment of the other side.
    #[arg(long, value_name = "NAME")]
    pub to_env: Option<String>,
    /// Profile of the other side.
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub to_profile: Vec<String>,
    /// Variable of the other side.
    #[arg(long, value_name = "K=V")]
    pub to_var: Vec<String>,
    /// Values file of the other side.
    #[arg(long, value_name = "FILE")]
    pub to_values: Vec<String>,
    /// Value of the other side.
    #[arg(long, value_name = "K=V")]
    pub to_set: Vec<String>,
    /// Input of the other side.
    #[arg(long, value_name = "K=V")]
    pub to_input: Vec<String>,
    /// Compare with the cluster: what `deploy` would change there.
    #[arg(long, conflicts_with_all = ["to_path", "to_rev", "to_env", "to_profile", "to_var", "to_values", "to_set", "to_input"])]
    pub cluster: bool,
    #[command(flatten)]
    pub access: ClusterFlags,
    #[command(flatten)]
    pub target: Target,
    /// Format.
    #[arg(short, long, value_enum, default_value_t = DiffOutput::Text)]
    pub output: DiffOutput,
}

/// Arguments of `eval`.
#[derive(Args, Debug, Clone)]
pub struct EvalFlags {
    /// The expression.
    pub expression: String,
    #[command(flatten)]
    pub place: Place,
    /// The node or instance to evaluate it on.
    #[arg(long, value_name = "NODE")]
    pub on: Option<String>,
    /// Print every step.
    #[arg(long)]
    pub trace: bool,
    #[command(flatten)]
    pub target: Target,
    /// Format.
    #[arg(short, long, value_enum, default_value_t = DataFormat::Yaml)]
    pub output: DataFormat,
    /// Show secrets.
    #[arg(long)]
    pub reveal: bool,
}
