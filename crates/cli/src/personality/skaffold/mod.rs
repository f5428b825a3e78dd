//! `purlin skaffold`: the commands of Skaffold that need no cluster, with its own arguments.

mod apply;
mod commands;
mod execute;
mod find_configs;
mod flags;
mod follow;
mod global;
mod inspect;
mod repositories;
mod surroundings;

use super::Personality;
use crate::disk::Permissions;
use crate::invocation::{Exit, Invocation};
use crate::project::{Setup, consent, open_session};
use crate::report::{Style, report};
use crate::seed::SeedSource;
use flags::Flags;
use purlin_skaffold::forest::Forest;
use purlin_skaffold::load::{Format, Loader};
use purlin_skaffold::profile::activation::Surroundings;
use purlin_skaffold::remote::Sync;
use purlin_skaffold::requires::Git;
use purlin_skaffold::walk::{Bases, Config, Walk, Wanted};
use purlin_syntax::Diagnostic;
use purlin_value::Session;
use repositories::Repositories;
use std::cell::RefCell;
use std::io::Read;
use std::sync::Arc;
use surroundings::Cluster;

/// The personality.
#[rustfmt::skip]
pub(super) const SKAFFOLD: Personality = Personality {
    name: "skaffold",
    summary: "Answers as Skaffold does; builds, tests and deploys.",
    commands: &[
        ("build", "images, built with docker, podman, buildah or commands of your own"),
        ("test", "commands that test images (`--build-artifacts`)"),
        ("deploy", "the manifests, with images that were built before, to a cluster"),
        ("run", "`build`, `test` and `deploy`"),
        ("dev", "`run`, and again what changes affect; what was deployed is taken down at the end"),
        ("apply FILE…", "manifests, to a cluster"),
        ("delete", "what was deployed, taken down"),
        ("diagnose", "the resolved configuration (`--yaml-only`)"),
        ("inspect build-env|modules|profiles|tests|…", "parts of the configuration as JSON"),
        ("render", "the manifests"),
        ("fix", "the configuration in the newest version"),
        ("schema list|get", "versions and their schemas"),
        ("config list|set|unset", "settings in `~/.skaffold/config`"),
        ("find-configs", "files below a folder that are configurations, with their versions"),
        ("options", "options that every command takes"),
        ("version", "the version of Purlin"),
    ],
    options: &[
        ("-f, --filename FILE", "configuration file, `-` for standard input"),
        ("-p, --profile NAME,…", "activate profiles; `-NAME` switches one off"),
        ("-m, --module NAME,…", "only these modules"),
        ("-n, --namespace NAME", "namespace"),
        ("-o, --output FILE", "write to a file"),
        ("-i, --images LIST", "images to render with"),
        ("-a, --build-artifacts FILE", "result of a build to render with"),
        ("-b, --build-image NAME,…", "only images whose name contains NAME"),
        ("-d, --default-repo NAME", "registry that images are put in"),
        ("-t, --tag TAG", "tag of all images"),
        ("-q, --quiet", "print only the result of a build"),
        ("    --file-output FILE", "write the result of a build to a file"),
        ("    --push", "push built images"),
        ("    --dry-run", "print tags without building, or what `delete` would take down"),
        ("    --set NAME=VALUE,…", "values for fields of manifests that a comment `# from-param: ${NAME}` opens"),
        ("    --set-value-file FILE", "the same from a file of `NAME=VALUE` lines"),
        ("    --cache-artifacts BOOL", "whether images that were built before are used"),
        ("    --build-concurrency N", "number of images built at once; 0 means all"),
        ("    --platform NAME,…", "platforms of images"),
        ("    --port-forward[=WHICH]", "deploy, run, dev: forward ports here; `user`, `services` or both"),
        ("    --tail", "apply, deploy, run, dev: print what containers print until Ctrl-C"),
        ("    --tolerate-failures-until-deadline", "apply, deploy, run: keep waiting after a failure"),
        ("    --insecure-registry NAME,…", "registries without TLS"),
        ("    --kube-context NAME", "Kubernetes context that conditions are tested against"),
        ("    --profile-auto-activation BOOL", "whether profiles may activate themselves"),
        ("    --propagate-profiles BOOL", "whether profiles reach required configurations"),
        ("    --sync-remote-cache WHEN", "always, missing or never fetch repositories"),
        ("    --allow-net HOST", "allow connections to HOST"),
        ("    --allow-path DIR", "allow reading below DIR"),
    ],
    refused: &[
        "completion", "credits", "debug", "exec", "filter",
        "generate-pipeline", "init", "lint", "lsp", "survey", "verify",
    ],
    run,
};

/// Runs `purlin skaffold ARGS`.
fn run(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    surroundings::load_env_file(invocation)?;
    let setting = |name: &str| inspect::setting(args, name);
    let flags = Flags::read(args, &invocation.env, &invocation.project_env, &setting);
    let mut flags = flags.map_err(|message| usage(invocation, &message))?;
    global::fill(invocation, &mut flags);
    match flags.word(0) {
        "config" => global::run(invocation, &flags),
        "build" => execute::build(invocation, &flags),
        "test" => execute::test(invocation, &flags),
        "deploy" => execute::deploy(invocation, &flags, false),
        "run" => execute::deploy(invocation, &flags, true),
        "delete" => execute::delete(invocation, &flags),
        "dev" => follow::dev(invocation, &flags),
        "apply" => apply::apply(invocation, &flags),
        "diagnose" => commands::diagnose(invocation, &flags),
        "render" => commands::render(invocation, &flags),
        "fix" => commands::fix(invocation, &flags),
        "schema" => commands::schema(invocation, &flags),
        "inspect" => inspect::run(invocation, &flags),
        "find-configs" => find_configs::find_configs(invocation, &flags),
        "options" => Ok(invocation.print(&super::help(&SKAFFOLD))),
        "version" => Ok(invocation.print(concat!("v2.24.0 (purlin ", env!("CARGO_PKG_VERSION"), ")\n"))),
        other => Err(super::unknown(invocation, &SKAFFOLD, other)),
    }
}

fn usage(invocation: &mut Invocation<'_>, message: &str) -> Exit {
    invocation.refuse(message, Exit::Invalid)
}

/// How a command reads configurations.
struct Look {
    command: &'static str,
    bases: Bases,
    defaults: bool,
    auto_activation: bool,
    sync: Sync,
}

/// A session and its request.
struct Opened {
    session: Session,
    wanted: Wanted,
    cluster: Cluster,
    stdin: Option<Arc<[u8]>>,
    command: &'static str,
    repositories: Repositories,
    /// The first error that ended resolution, once reported.
    refused: RefCell<Option<Diagnostic>>,
}

/// The source of secrets in charts: rendering generates new ones, as Helm does for Skaffold.
fn usual_seed(command: &str) -> SeedSource {
    match command {
        "render" => SeedSource::Fresh,
        "build" | "test" | "deploy" | "run" | "delete" => SeedSource::Kept,
        _ => SeedSource::default(),
    }
}

fn open(invocation: &mut Invocation<'_>, flags: &Flags, look: &Look) -> Result<Opened, Exit> {
    for name in flags.without_effect() {
        let _ = writeln!(invocation.stderr, "warning: `--{name}` has no effect");
    }
    let mut setup = Setup::of(".");
    setup.usual_seed = usual_seed(look.command);
    let repositories = Repositories::new(invocation, flags, look.sync);
    let mut paths: Vec<std::path::PathBuf> = flags.list("allow-path").into_iter().map(Into::into).collect();
    paths.extend(flags.text("filename").and_then(|file| consent(&invocation.cwd, file)));
    // Copies made by this command may be read.
    paths.push(repositories.folder().to_owned());
    setup.permissions = Permissions {
        paths,
        hosts: flags.list("allow-net"),
        exec: flags.switch("allow-exec", false),
        write: false,
        offline: flags.text("sync-remote-cache") == Some("never"),
        frozen: false,
        update: false,
        ..Permissions::default()
    };
    let (session, _) = open_session(invocation, &setup)?;
    let cluster = surroundings::cluster(invocation, flags.text("kube-context"), flags.text("kubeconfig"));
    let file = flags.text("filename").unwrap_or("skaffold.yaml").to_owned();
    let stdin = (file == "-").then(|| standard_input(invocation));
    let wanted = Wanted {
        file,
        profiles: flags.list("profile"),
        profiles_from: Vec::new(),
        modules: flags.list("module"),
        auto_activation: look.auto_activation && flags.switch("profile-auto-activation", true),
        propagate: flags.switch("propagate-profiles", true),
        defaults: look.defaults,
        bases: look.bases,
        context_given: flags.text("kube-context").is_some(),
        namespace: cluster.namespace.clone(),
        home: invocation.env.get("HOME").cloned().unwrap_or_default(),
        sync: look.sync,
        format: Format::Shipped,
    };
    Ok(Opened { session, wanted, cluster, stdin, command: look.command, repositories, refused: RefCell::default() })
}

fn standard_input(invocation: &mut Invocation<'_>) -> Arc<[u8]> {
    let mut bytes = Vec::new();
    match invocation.stdin.as_mut() {
        Some(stdin) => {
            let _ = stdin.read_to_end(&mut bytes);
        }
        None => {
            let _ = std::io::stdin().read_to_end(&mut bytes);
        }
    }
    bytes.into()
}

impl Opened {
    /// Resolves everything and passes the configurations on; problems are printed first and end the command.
    fn with_configs(
        &self,
        invocation: &mut Invocation<'_>,
        work: impl FnOnce(&mut Invocation<'_>, &Session, Vec<Config<'_>>) -> Exit,
    ) -> Exit {
        let forest = Forest::new();
        let loader = Loader::new(&self.session, &forest, self.wanted.format, self.stdin.clone());
        let env = invocation.template_env();
        let lookup = Box::new(move |name: &str| env.get(name).cloned());
        let around = Surroundings::new(self.command, &self.cluster.context, lookup);
        let fetch = |git: &Git| self.repositories.fetch(git, &self.session);
        let configs = Walk::new(&loader, &self.wanted, &around).fetching(&fetch).run();
        if self.session.sink.has_errors() {
            *self.refused.borrow_mut() = self.session.sink.since(0).into_iter().find(Diagnostic::is_error);
            return self.report(invocation);
        }
        work(invocation, &self.session, configs)
    }

    /// Prints the problems and returns the exit code.
    fn report(&self, invocation: &mut Invocation<'_>) -> Exit {
        match report(invocation, &self.session, Style::given(invocation)) {
            // The original has a single exit code for all problems of a configuration.
            Exit::Io => Exit::Invalid,
            exit => exit,
        }
    }
}
