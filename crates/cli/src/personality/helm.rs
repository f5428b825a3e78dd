//! `purlin helm`: `template`, `lint`, `show` and `dependency` with Helm's own flags.

mod charted;
mod connected;
mod dependency;
mod packages;
mod print;
mod registry;
mod releases;
mod repositories;
mod shown;

use super::{Personality, split_flag};
use crate::disk::Permissions;
use crate::fetch::Logins;
use crate::invocation::{Exit, Invocation};
use crate::native;
use crate::project::{Setup, open_session};
use crate::seed::SeedSource;
use purlin_charts::edition::Helm;
use purlin_charts::lint::{Level, lint};
use purlin_charts::load::load;
use purlin_charts::template::{Options, TemplateError, template};
use purlin_host::named;
use purlin_model::{SetFlag, SetKind};
use purlin_value::Session;
use std::io::Read;
use std::path::PathBuf;

/// The personality.
#[rustfmt::skip]
pub const HELM: Personality = Personality {
    name: "helm",
    summary: "Renders, checks, shows and deploys charts as Helm does.",
    commands: &[
        ("template [NAME] CHART", "render a chart"),
        ("lint CHART…", "check charts"),
        ("show chart|values|crds|readme|all CHART", "print parts of a chart"),
        ("dependency list|build|update [CHART]", "list or fetch what a chart depends on"),
        ("install [NAME] CHART", "install a chart as a release"),
        ("upgrade RELEASE CHART", "upgrade a release, or install it with `--install`"),
        ("rollback RELEASE [REVISION]", "make an earlier revision the newest one"),
        ("uninstall RELEASE…", "remove releases"),
        ("test RELEASE", "run the tests of a release"),
        ("list", "list releases"),
        ("status RELEASE", "the state of a release"),
        ("history RELEASE", "the revisions of a release"),
        ("get all|hooks|manifest|metadata|notes|values RELEASE", "what is recorded of a release"),
        ("create NAME", "start a chart"),
        ("package CHART…", "make archives of charts"),
        ("pull CHART…", "download charts"),
        ("push ARCHIVE oci://HOST/PATH", "put a chart into a registry"),
        ("registry login|logout HOST", "store or remove credentials for a registry"),
        ("repo add|list|update|remove|index", "Helm's list of repositories"),
        ("search repo [KEYWORD]", "search the indexes of repositories"),
        ("env", "where Helm keeps its files"),
        ("version", "the version of Helm that is followed"),
    ],
    options: &[
        ("-f, --values FILE", "read values from a file, `-` for standard input; later ones override"),
        ("    --set K=V,…", "set values"),
        ("    --set-string K=V,…", "set values as strings"),
        ("    --set-json K=JSON", "set values from JSON"),
        ("    --set-file K=FILE", "set values from files"),
        ("    --set-literal K=V", "set one value as it is"),
        ("-n, --namespace NAME", "namespace of the release"),
        ("    --name-template TEXT", "template of the release name"),
        ("-g, --generate-name", "generate a release name"),
        ("    --is-upgrade", "render as for an upgrade"),
        ("    --kube-version VERSION", "version of Kubernetes"),
        ("-a, --api-versions LIST", "further API versions"),
        ("-s, --show-only FILE", "only these templates"),
        ("    --include-crds", "with the custom resource definitions"),
        ("    --no-hooks", "without hooks"),
        ("    --skip-tests", "without tests"),
        ("    --output-dir DIR", "write one file per template"),
        ("    --seed N", "draw the same random values again"),
        ("    --skip-schema-validation", "do not check values against the schema"),
        ("    --strict", "lint: warnings fail"),
        ("    --quiet", "lint: only warnings and errors"),
        ("    --with-subcharts", "lint: the charts in `charts/` as well"),
        ("    --helm-version 3|4", "the version of Helm to follow; otherwise that of the variable HELM_VERSION, or 4"),
        ("    --debug", "print rendered files that are not valid YAML"),
        ("    --dependency-update", "template: fetch missing dependencies first"),
        ("    --allow-net HOST", "connect to HOST; `http://HOST` where it is not encrypted"),
        ("    --offline", "dependency: use only what was fetched before"),
        ("    --repository-config FILE", "dependency: names of repositories, as Helm keeps them"),
        ("refused", "--validate, --dry-run=server, --verify, --repo, --devel"),
    ],
    refused: &["completion", "plugin", "verify"],
    run,
};

fn run(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let (helm, args) = followed(invocation, args).map_err(|message| fail(invocation, &message))?;
    let Some((command, rest)) = args.split_first() else { return Err(super::unknown(invocation, &HELM, "")) };
    match command.as_str() {
        "template" => run_template(invocation, rest, helm),
        "lint" => run_lint(invocation, rest, helm),
        "show" | "inspect" => run_show(invocation, rest),
        "dependency" | "dep" | "dependencies" => dependency::run(invocation, rest),
        "install" => releases::install(invocation, rest, helm),
        "upgrade" => releases::upgrade(invocation, rest, helm),
        "rollback" => releases::rollback(invocation, rest, helm),
        "uninstall" | "del" | "delete" | "un" => releases::uninstall(invocation, rest),
        "test" => releases::test(invocation, rest),
        "list" | "ls" => shown::list(invocation, rest, helm),
        "status" => shown::status(invocation, rest),
        "history" | "hist" => shown::history(invocation, rest),
        "get" => shown::get(invocation, rest, helm),
        "package" => packages::pack(invocation, rest),
        "pull" | "fetch" => packages::pull(invocation, rest),
        "repo" => repositories::repo(invocation, rest),
        "search" => repositories::search(invocation, rest),
        "create" => packages::create(invocation, rest),
        "env" => packages::env(invocation, rest),
        "push" => registry::push(invocation, rest),
        "registry" => registry::registry(invocation, rest),
        "version" => run_version(invocation, rest, helm),
        other => Err(super::unknown(invocation, &HELM, other)),
    }
}

/// The environment variable with a version of Helm, as images that contain Helm set it.
const VERSION_VARIABLE: &str = "HELM_VERSION";

/// The version of Helm to imitate, and the arguments without the flag that names it.
fn followed(invocation: &Invocation<'_>, args: &[String]) -> Result<(&'static Helm, Vec<String>), String> {
    let mut rest = Vec::with_capacity(args.len());
    let mut wanted = None;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.strip_prefix("--helm-version") {
            Some("") => wanted = Some(args.next().cloned().ok_or_else(|| format!("flag needs an argument: {arg}"))?),
            Some(given) if given.starts_with('=') => wanted = Some(given.trim_start_matches('=').to_owned()),
            _ => rest.push(arg.clone()),
        }
    }
    let helm = match wanted {
        Some(text) => Helm::named(&text).ok_or_else(|| format!("unknown Helm version {text:?}: expected 3 or 4"))?,
        None => invocation.env.get(VERSION_VARIABLE).and_then(|text| Helm::named(text)).unwrap_or_default(),
    };
    Ok((helm, rest))
}

/// The parsed flags, and the other words.
#[derive(Default)]
struct Parsed {
    options: Options,
    files: Vec<String>,
    positional: Vec<String>,
    seed: Option<SeedSource>,
    generate_name: bool,
    output_dir: Option<String>,
    strict: bool,
    quiet: bool,
    debug: bool,
    skip_crds: bool,
    with_subcharts: bool,
    dependency_update: bool,
    hosts: Vec<String>,
    logins: Logins,
}

/// Flags that take a value and are accepted without effect on rendering.
const IGNORED_VALUES: &[&str] = &[
    "kube-context",
    "kubeconfig",
    "version",
    "username",
    "password",
    "timeout",
    "keyring",
    "ca-file",
    "cert-file",
    "key-file",
    "registry-config",
    "repository-cache",
    "repository-config",
    "description",
    "labels",
    "color",
    "log-format",
    "kube-as-user",
    "kube-as-group",
    "kube-token",
    "kube-apiserver",
    "burst-limit",
    "qps",
    "content-cache",
    "colour",
];

/// Flags without a value that are accepted without effect on rendering.
const IGNORED_SWITCHES: &[&str] = &[
    "atomic",
    "replace",
    "create-namespace",
    "disable-openapi-validation",
    "insecure-skip-tls-verify",
    "pass-credentials",
    "plain-http",
    "render-subchart-notes",
    "enable-dns",
    "force",
    "hide-notes",
    "wait",
    "wait-for-jobs",
    "take-ownership",
    "rollback-on-failure",
    "hide-secret",
];

/// Flags that would change the answer and are not supported, with the reason.
const REFUSED: &[(&str, &str)] = &[
    ("validate", "asks a cluster"),
    ("verify", "checks a signature"),
    ("devel", "looks for versions in a repository"),
    ("repo", "looks for the chart in a repository"),
    ("release-name", "changes the folders that `--output-dir` writes"),
];

fn refused(name: &str) -> Option<String> {
    let (_, why) = REFUSED.iter().find(|(flag, _)| *flag == name)?;
    Some(format!("`--{name}` is not supported: it {why}"))
}

fn parse(args: &[String]) -> Result<Parsed, String> {
    let mut parsed = Parsed::default();
    let mut args = args.iter();
    let mut only_positional = false;
    while let Some(arg) = args.next() {
        if only_positional || !arg.starts_with('-') || arg == "-" {
            parsed.positional.push(arg.clone());
            continue;
        }
        if arg == "--" {
            only_positional = true;
            continue;
        }
        let (name, inline) = split_flag(arg);
        if let Some(known) = switch(&mut parsed, name, inline.as_deref()) {
            known?;
            continue;
        }
        let unknown = || format!("unknown flag: {arg}");
        // Tried without effect first: an unknown flag needs no value.
        if valued(&mut Parsed::default(), name, String::new()).is_none() {
            return Err(unknown());
        }
        let value = match inline {
            Some(value) => value,
            None => args.next().cloned().ok_or_else(|| format!("flag needs an argument: {arg}"))?,
        };
        valued(&mut parsed, name, value).ok_or_else(unknown)??;
    }
    Ok(parsed)
}

/// A flag without a value; `None` if it is not one.
fn switch(parsed: &mut Parsed, name: &str, inline: Option<&str>) -> Option<Result<(), String>> {
    let on = !matches!(inline, Some("false" | "False" | "0"));
    match name {
        "include-crds" => parsed.options.include_crds = on,
        "no-hooks" => parsed.options.no_hooks = on,
        "skip-tests" => parsed.options.skip_tests = on,
        "is-upgrade" => parsed.options.is_upgrade = on,
        "skip-schema-validation" => parsed.options.skip_schema = on,
        "generate-name" | "g" => parsed.generate_name = on,
        "strict" => parsed.strict = on,
        "quiet" => parsed.quiet = on,
        "debug" => parsed.debug = on,
        "with-subcharts" => parsed.with_subcharts = on,
        "skip-crds" => parsed.skip_crds = on,
        "dependency-update" => parsed.dependency_update = on,
        // Without a value it means `client`, which is the behaviour here.
        "dry-run" => match inline {
            None | Some("client" | "none" | "true" | "false") => {}
            Some("server") => return Some(Err("`--dry-run=server` is not supported: it asks a cluster".to_owned())),
            Some(other) => {
                let message = format!("invalid argument {other:?} for \"--dry-run\": expected client, server or none");
                return Some(Err(message));
            }
        },
        _ if refused(name).is_some() => return if on { refused(name).map(Err) } else { Some(Ok(())) },
        _ if IGNORED_SWITCHES.contains(&name) => {}
        _ => return None,
    }
    Some(Ok(()))
}

/// A flag with a value; `None` if there is no such flag.
fn valued(parsed: &mut Parsed, name: &str, value: String) -> Option<Result<(), String>> {
    let mut set = |kind: SetKind| parsed.options.sets.push(SetFlag { kind, text: value.clone() });
    match name {
        "f" | "values" => parsed.files.extend(value.split(',').map(str::to_owned)),
        "set" => set(SetKind::Typed),
        "set-string" => set(SetKind::Text),
        "set-json" => set(SetKind::Json),
        "set-file" => set(SetKind::File),
        "set-literal" => set(SetKind::Literal),
        "n" | "namespace" => parsed.options.namespace = value,
        "a" | "api-versions" => parsed.options.api_versions.extend(value.split(',').map(str::to_owned)),
        "kube-version" => parsed.options.kube_version = Some(value),
        "name-template" => parsed.options.name_template = Some(value),
        "s" | "show-only" => parsed.options.show_only.extend(value.split(',').map(str::to_owned)),
        "output-dir" => parsed.output_dir = Some(value),
        "allow-net" => parsed.hosts.push(value),
        "seed" => match value.parse() {
            Ok(seed) => parsed.seed = Some(seed),
            Err(why) => return Some(Err(format!("`--seed {value}`: {why}"))),
        },
        "post-renderer" | "post-renderer-args" => {
            return Some(Err("post-renderers are not run while rendering".to_owned()));
        }
        _ if IGNORED_VALUES.contains(&name) => {}
        _ => return None,
    }
    Some(Ok(()))
}

fn fail(invocation: &mut Invocation<'_>, message: &str) -> Exit {
    let _ = writeln!(invocation.stderr, "Error: {message}");
    Exit::Invalid
}

/// A session on the chart that may also read the files the user named.
fn session(invocation: &mut Invocation<'_>, chart: &str, parsed: &mut Parsed) -> Result<(Session, String), Exit> {
    session_with(invocation, chart, &[], parsed)
}

/// A session that reads no project.
fn followed_session(invocation: &mut Invocation<'_>) -> Result<Session, Exit> {
    open_session(invocation, &Setup::of(".")).map(|(session, _)| session)
}

/// A pattern of the user's.
fn pattern(text: &str) -> Result<regex::Regex, String> {
    regex::Regex::new(text).map_err(|error| {
        let reason = error.to_string();
        format!("error parsing regexp: {}: `{text}`", purlin_value::pattern::reason(&reason))
    })
}

/// The same with servers that may be connected to.
fn session_with(
    invocation: &mut Invocation<'_>,
    chart: &str,
    hosts: &[String],
    parsed: &mut Parsed,
) -> Result<(Session, String), Exit> {
    let cwd = native::canonical_or_same(invocation.cwd.clone());
    let full = |path: &str| purlin_value::path::normalize(&native::world_text(&cwd.join(path)));
    let mut named: Vec<PathBuf> = parsed.files.iter().map(|file| full(file).into()).collect();
    for flag in parsed.options.sets.iter().filter(|flag| flag.kind == SetKind::File) {
        named.extend(flag.text.split(',').filter_map(|part| part.split_once('=')).map(|(_, path)| full(path).into()));
    }
    parsed.options.values = parsed.files.iter().map(|file| (full(file), file.clone())).collect();
    parsed.options.here = native::world_text(&cwd);
    let mut setup = Setup::of(chart);
    let logins = parsed.logins.clone();
    setup.permissions = Permissions { paths: named, hosts: hosts.to_vec(), logins, ..Permissions::default() };
    // As in Helm, each run generates new secrets.
    (setup.seed, setup.usual_seed) = (parsed.seed, SeedSource::Fresh);
    if !named::exists(&cwd.join(chart)) {
        let _ = writeln!(invocation.stderr, "Error: path {chart:?} not found");
        return Err(Exit::Invalid);
    }
    let (session, path) = open_session(invocation, &setup)?;
    read_stdin(invocation, &session, &mut parsed.options);
    Ok((session, path))
}

/// `-f -`: piped input is stored in the run's overlay like any other file.
fn read_stdin(invocation: &mut Invocation<'_>, session: &Session, options: &mut Options) {
    const NAME: &str = ".stdin.yaml";
    for (path, _) in options.values.iter_mut().filter(|(_, name)| name == "-") {
        let mut bytes = Vec::new();
        if let Some(stdin) = invocation.stdin.as_mut() {
            // Unreadable input counts as empty; the values report it.
            let _ = stdin.take(16 << 20).read_to_end(&mut bytes);
        }
        if session.world.write(NAME, &bytes).is_ok() {
            *path = NAME.to_owned();
        }
    }
}

fn print_failure(invocation: &mut Invocation<'_>, error: &TemplateError, debug: bool, helm: &Helm) -> Exit {
    // As in Helm: prints everything rendered, so that the line of the message can be found.
    if let Some(text) = error.rendered.as_deref().filter(|_| debug) {
        let _ = writeln!(invocation.stdout, "{}", text.trim());
    }
    let _ = writeln!(invocation.stderr, "Error: {}", error.message_of(helm));
    let is_limit =
        matches!(&error.render, Some(purlin_charts::engine::RenderError::Exec(error)) if error.limit().is_some());
    if is_limit {
        let _ = writeln!(
            invocation.stderr,
            "\nThis is a limit of Purlin, which Helm does not have; `purlin limits` lists all of them. Raise it before the \
             name of the tool, for example `purlin --limit fuel=200000000 helm template .`"
        );
        return Exit::Limit;
    }
    if error.while_rendering && !debug {
        let _ = writeln!(invocation.stderr, "\nUse --debug flag to render out invalid YAML");
    }
    Exit::Invalid
}

fn run_template(invocation: &mut Invocation<'_>, args: &[String], helm: &'static Helm) -> Result<Exit, Exit> {
    let mut parsed = parse(args).map_err(|message| fail(invocation, &message))?;
    parsed.options.helm = helm;
    let chart = match parsed.positional.as_slice() {
        [chart] => chart.clone(),
        [_, _] if parsed.generate_name => {
            return Err(fail(invocation, "cannot set --generate-name and also specify a name"));
        }
        [_, _] if parsed.options.name_template.is_some() => {
            return Err(fail(invocation, "cannot set --name-template and also specify a name"));
        }
        [name, chart] => {
            parsed.options.name = name.clone();
            chart.clone()
        }
        [] => return Err(fail(invocation, "\"helm template\" requires at least 1 argument")),
        _ => return Err(fail(invocation, "expected at most two arguments, unexpected arguments")),
    };
    parsed.options.include_crds &= !parsed.skip_crds;
    if parsed.dependency_update {
        dependency::update_missing(invocation, &chart, &parsed.hosts)?;
    }
    let (session, path) = session(invocation, &chart, &mut parsed)?;
    let output = template(&session, &path, &parsed.options);
    let output = output.map_err(|error| print_failure(invocation, &error, parsed.debug, helm))?;
    for warning in &output.warnings {
        let _ = writeln!(invocation.stderr, "{warning}");
    }
    if output.chart.metadata.deprecated {
        let _ = writeln!(invocation.stderr, "{}", helm.deprecated);
    }
    let text = output.text(&parsed.options).map_err(|message| fail(invocation, &message))?;
    Ok(match &parsed.output_dir {
        Some(folder) => write_files(invocation, &output, folder),
        None => invocation.print(&text),
    })
}

/// `--output-dir`: one file for each template.
fn write_files(invocation: &mut Invocation<'_>, output: &purlin_charts::template::Output, folder: &str) -> Exit {
    let root = invocation.cwd.join(folder);
    let mut files: Vec<(String, String)> = Vec::new();
    for document in output.manifests.resources.iter().chain(&output.manifests.hooks) {
        let text = format!("---\n# Source: {}\n{}\n", document.path, document.text);
        match files.iter_mut().find(|(path, _)| *path == document.path) {
            Some((_, whole)) => whole.push_str(&text),
            None => files.push((document.path.clone(), text)),
        }
    }
    for (path, text) in files {
        if let Err(error) = crate::border::write_below(&root, &path, text.as_bytes()) {
            let _ = writeln!(invocation.stderr, "Error: could not write {folder}/{path}: {error}");
            return Exit::Io;
        }
        let _ = writeln!(invocation.stdout, "wrote {folder}/{path}");
    }
    Exit::Ok
}

fn run_lint(invocation: &mut Invocation<'_>, args: &[String], helm: &'static Helm) -> Result<Exit, Exit> {
    let mut parsed = parse(args).map_err(|message| fail(invocation, &message))?;
    parsed.options.helm = helm;
    let mut charts = if parsed.positional.is_empty() { vec![".".to_owned()] } else { parsed.positional.clone() };
    if parsed.with_subcharts {
        for chart in charts.clone() {
            charts_inside(&invocation.cwd, &format!("{}/charts", chart.trim_end_matches('/')), 0, &mut charts);
        }
    }
    let (mut failed, mut noteworthy) = (0, 0);
    for chart in &charts {
        let (session, path) = session(invocation, chart, &mut parsed)?;
        let shown = native::world_text(&native::canonical_or_same(invocation.cwd.join(chart)));
        let linted = lint(&session, &path, &shown, &parsed.options);
        for line in &linted.logged {
            let _ = writeln!(invocation.stderr, "{line}");
        }
        let worst = linted.findings.iter().map(|finding| finding.level).max().unwrap_or(Level::Info);
        failed += usize::from(worst == Level::Error || parsed.strict && worst == Level::Warning);
        noteworthy += usize::from(worst > Level::Info);
        if parsed.quiet && worst == Level::Info {
            continue;
        }
        let _ = writeln!(invocation.stdout, "==> Linting {chart}");
        for finding in linted.findings.iter().filter(|finding| !parsed.quiet || finding.level > Level::Info) {
            let level = finding.level.name();
            let _ = writeln!(invocation.stdout, "[{level}] {}: {}", finding.path, finding.message);
        }
        let _ = writeln!(invocation.stdout);
    }
    let summary = format!("{} chart(s) linted, {failed} chart(s) failed", charts.len());
    if failed > 0 {
        return Err(fail(invocation, &summary));
    }
    if !parsed.quiet || noteworthy > 0 {
        let _ = writeln!(invocation.stdout, "{summary}");
    }
    Ok(Exit::Ok)
}

/// Deeper folders are not searched for charts.
const MOST_FOLDERS: usize = 32;

/// The charts below a folder, as folders and archives, in the order of their names.
fn charts_inside(cwd: &std::path::Path, folder: &str, depth: usize, found: &mut Vec<String>) {
    let Ok(entries) = named::list(&cwd.join(folder)) else { return };
    let mut entries: Vec<(String, bool)> = entries
        .flatten()
        .map(|entry| {
            (entry.file_name().to_string_lossy().into_owned(), entry.file_type().is_ok_and(|kind| kind.is_dir()))
        })
        .collect();
    entries.sort();
    for (name, is_folder) in entries {
        let path = format!("{folder}/{name}");
        match is_folder {
            true if depth < MOST_FOLDERS => charts_inside(cwd, &path, depth + 1, found),
            true => {}
            false if name == "Chart.yaml" => found.push(folder.to_owned()),
            false if name.ends_with(".tgz") || name.ends_with(".tar.gz") => found.push(path),
            false => {}
        }
    }
}

/// The version of Helm that is imitated; scripts request it in several forms.
fn run_version(invocation: &mut Invocation<'_>, args: &[String], helm: &'static Helm) -> Result<Exit, Exit> {
    let version = helm.version;
    match args {
        [] => Ok(invocation.print(&format!("{version} (purlin {})\n", env!("CARGO_PKG_VERSION")))),
        [short] if short == "--short" => Ok(invocation.print(&format!("{version}\n"))),
        [flag, template] if flag == "--template" => print_version(invocation, template, helm),
        [flag] if flag.starts_with("--template=") => {
            print_version(invocation, flag.trim_start_matches("--template="), helm)
        }
        [other, ..] => Err(fail(invocation, &format!("unknown flag: {other}"))),
    }
}

fn print_version(invocation: &mut Invocation<'_>, template: &str, helm: &'static Helm) -> Result<Exit, Exit> {
    let text =
        purlin_charts::capabilities::version_text(template, helm).map_err(|message| fail(invocation, &message))?;
    Ok(invocation.print(&text))
}

fn run_show(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let Some((what, rest)) = args.split_first() else {
        return Err(super::usage(invocation, "expected `show chart|values|crds|readme|all CHART`"));
    };
    let mut parsed = parse(rest).map_err(|message| fail(invocation, &message))?;
    let Some(chart) = parsed.positional.first().cloned() else {
        return Err(fail(invocation, "\"helm show\" requires a chart"));
    };
    let (session, path) = session(invocation, &chart, &mut parsed)?;
    let chart = load(&session, &path).map_err(|error| fail(invocation, &error.message))?;
    match purlin_charts::show::show(&chart, what) {
        Some(text) => Ok(invocation.print(&text)),
        None => Err(fail(invocation, &format!("unknown command {what:?} for \"helm show\""))),
    }
}
