//! Arguments of the commands that run actions, and of those that show what ran.

use crate::args::{AnswerFormat, Places, Target};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Which cluster is meant. Its context is an option of the project.
#[derive(Args, Debug, Clone, Default)]
pub struct ClusterFlags {
    /// Kubeconfig file to use instead of `KUBECONFIG` and `~/.kube/config`.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
}

/// A server that runs actions, or keeps their results.
#[derive(Args, Debug, Clone, Default)]
pub struct RemoteFlags {
    /// Run actions on a server of the Remote Execution API: `grpcs://HOST[:PORT][/INSTANCE]`, or `grpc://` without encryption.
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["remote_cache", "no_remote"])]
    pub remote: Option<String>,
    /// Use results that a server keeps, and run everything else here.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "no_remote")]
    pub remote_cache: Option<String>,
    /// Use no server, whatever the settings name.
    #[arg(long)]
    pub no_remote: bool,
    /// Fail if the server fails, instead of running here.
    #[arg(long, conflicts_with = "no_remote")]
    pub remote_only: bool,
    /// Share results of this machine through the server.
    #[arg(long, conflicts_with = "no_remote")]
    pub remote_upload: bool,
    /// Send the secrets of an action to the server, which stores them. May be repeated.
    #[arg(long, value_name = "NODE", conflicts_with = "no_remote")]
    pub remote_secrets: Vec<String>,
}

/// Arguments of `build`, `deploy`, `test` and `run`.
#[derive(Args, Debug, Clone)]
pub struct RunFlags {
    /// Actions, by name, id (`build.api`) or pattern (`api-*`); all if omitted.
    #[arg(value_name = "NODE")]
    pub nodes: Vec<String>,
    /// Folder or file of the project.
    #[arg(long, default_value = ".", value_name = "PATH")]
    pub path: PathBuf,
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub cluster: ClusterFlags,
    #[command(flatten)]
    pub remote: RemoteFlags,
    /// Number of commands that run at once; processors plus two if omitted, 32 with `--remote`.
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Run these actions even if they are up to date.
    #[arg(long)]
    pub force: bool,
    /// Print what would run and why, and run nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Run only what changes since a git revision affect.
    #[arg(long, value_name = "REVISION", conflicts_with = "rev")]
    pub since: Option<String>,
    /// Also run actions of the same kind that depend on these.
    #[arg(long)]
    pub with_dependants: bool,
    /// Skip an action.
    #[arg(long, value_name = "NODE")]
    pub skip: Vec<String>,
    /// Do not run dependencies other than Builds.
    #[arg(long)]
    pub skip_dependencies: bool,
    /// Stop after the first failed action.
    #[arg(long)]
    pub fail_fast: bool,
    /// Finish everything that does not depend on a failed action (default).
    #[arg(long, conflicts_with = "fail_fast")]
    pub keep_going: bool,
    /// Push the images that Builds create.
    #[arg(long)]
    pub push: bool,
    /// The tool that builds images: buildx, docker, podman or buildah; the first installed one if omitted.
    #[arg(long, value_name = "TOOL")]
    pub builder: Option<String>,
    /// Format: lines for people on stderr, or one JSON object per event on stdout.
    #[arg(short, long, value_enum, default_value_t = AnswerFormat::Text)]
    pub output: AnswerFormat,
    /// Take over fields of Kubernetes objects that other managers have set.
    #[arg(long)]
    pub force_conflicts: bool,
    /// Write timings to FILE, as a trace for Chrome or Perfetto.
    #[arg(long, value_name = "FILE")]
    pub timings: Option<PathBuf>,
}

/// Arguments of `deploy`.
#[derive(Args, Debug, Clone)]
pub struct DeployFlags {
    #[command(flatten)]
    pub run: RunFlags,
    #[command(flatten)]
    pub after: AfterFlags,
}

/// What goes on after a deploy.
#[derive(Args, Debug, Clone, Copy, Default)]
pub struct AfterFlags {
    /// Afterwards, forward the ports of what was deployed to this machine until Ctrl-C.
    #[arg(long, conflicts_with = "dry_run")]
    pub forward: bool,
    /// Afterwards, print the logs of what was deployed until Ctrl-C.
    #[arg(long, conflicts_with = "dry_run")]
    pub logs: bool,
}

/// Arguments of `dev`.
#[derive(Args, Debug, Clone)]
pub struct DevFlags {
    /// Actions, by name, id (`deploy.api`) or pattern; all except Runs if omitted.
    #[arg(value_name = "NODE")]
    pub nodes: Vec<String>,
    /// Folder or file of the project.
    #[arg(long, default_value = ".", value_name = "PATH")]
    pub path: PathBuf,
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub cluster: ClusterFlags,
    /// Number of commands that run at once; processors plus two if omitted.
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// The tool that builds images: buildx, docker, podman or buildah; the first installed one if omitted.
    #[arg(long, value_name = "TOOL")]
    pub builder: Option<String>,
    /// Forward the ports of what is deployed to this machine.
    #[arg(long)]
    pub forward: bool,
    /// Print the logs of what is deployed.
    #[arg(long)]
    pub logs: bool,
    /// Format: lines for people on stderr, or one JSON object per event on stdout.
    #[arg(short, long, value_enum, default_value_t = AnswerFormat::Text)]
    pub output: AnswerFormat,
}

/// Arguments of `status`.
#[derive(Args, Debug, Clone)]
pub struct StatusFlags {
    #[command(flatten)]
    pub places: Places,
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub cluster: ClusterFlags,
    /// Show what a server of the Remote Execution API can do instead; the one of the settings if no address is given.
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "")]
    pub remote: Option<String>,
    /// Format.
    #[arg(short, long, value_enum, default_value_t = AnswerFormat::Text)]
    pub output: AnswerFormat,
}

/// Arguments of `logs`.
#[derive(Args, Debug, Clone)]
pub struct LogsFlags {
    /// The action, by id (`deploy.api`).
    pub node: String,
    /// Folder or file of the project.
    #[arg(long, default_value = ".", value_name = "PATH")]
    pub path: PathBuf,
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub cluster: ClusterFlags,
    /// Only the last N lines, of each container.
    #[arg(long, value_name = "N")]
    pub tail: Option<usize>,
    /// Print new lines as they come, also of containers that restart and of pods that take their place.
    #[arg(long)]
    pub follow: bool,
    /// Only lines of this time before now (`90s`, `2m`, `1h30m`, `1d`).
    #[arg(long, value_name = "DURATION", value_parser = crate::duration::duration)]
    pub since: Option<Duration>,
    /// Print the time of each line.
    #[arg(long, hide_short_help = true)]
    pub timestamps: bool,
    /// Only this container, by name or pattern (`api-*`).
    #[arg(long, value_name = "NAME")]
    pub container: Vec<String>,
}

/// Arguments of `exec`.
#[derive(Args, Debug, Clone)]
pub struct ExecFlags {
    /// The Deploy, by name or id (`deploy.api`).
    pub node: String,
    /// The command and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Folder or file of the project.
    #[arg(long, default_value = ".", value_name = "PATH")]
    pub path: PathBuf,
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub cluster: ClusterFlags,
    /// The container; the one that the pod names as its default, or its first, if omitted.
    #[arg(long, value_name = "NAME")]
    pub container: Option<String>,
    /// Pass standard input on.
    #[arg(short, long)]
    pub interactive: bool,
    /// Use this terminal; implies `--interactive`.
    #[arg(short = 't', long)]
    pub terminal: bool,
}

/// Arguments of `cleanup`.
#[derive(Args, Debug, Clone)]
pub struct CleanupFlags {
    /// Actions, by id (`deploy.api`) or pattern; all Deploys if omitted.
    #[arg(value_name = "NODE")]
    pub nodes: Vec<String>,
    /// Folder or file of the project.
    #[arg(long, default_value = ".", value_name = "PATH")]
    pub path: PathBuf,
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub cluster: ClusterFlags,
    /// Also delete Deploys with `removeOnCleanup: false`.
    #[arg(long)]
    pub force: bool,
    /// Do not ask.
    #[arg(short, long)]
    pub yes: bool,
}
