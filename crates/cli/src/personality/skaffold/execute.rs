//! `build`, `test` and the commands based on them: Skaffold's output, results and exit codes.

use super::commands::{self, settings as render_settings};
use super::{Look, Opened, flags::Flags, open, usage};
use crate::border::write_atomically;
use crate::commands::logs::{Reading, Said};
use crate::commands::run::{Place, conclude};
use crate::commands::stay::stay;
use crate::invocation::{Exit, Invocation};
use crate::report::Style;
use purlin_run::action::Kind;
use purlin_run::cluster::Clusters;
use purlin_run::engine::{Options, Project, Run};
use purlin_run::event::{Cause, End, Event, Reporter, Summary};
use purlin_run::past::{Removal, clean_up};
use purlin_run::skaffold::{Deploying, Forwards, Settings, SkaffoldProject, deploy_name, is_local_cluster};
use purlin_skaffold::remote::Sync;
use purlin_skaffold::render::{Settings as RenderSettings, render};
use purlin_skaffold::template::{self, Build};
use purlin_skaffold::validate::{Scope, missing_contexts, validate};
use purlin_skaffold::walk::{Bases, Config};
use purlin_value::Session;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

fn look(command: &'static str) -> Look {
    Look { command, bases: Bases::Dependencies, defaults: true, auto_activation: true, sync: Sync::Always }
}

/// `build`: builds images, and prints them.
pub fn build(invocation: &mut Invocation<'_>, flags: &Flags) -> Result<Exit, Exit> {
    with_project(invocation, flags, "build", "build", |invocation, session, project, _| {
        let is_quiet = flags.switch("quiet", false);
        let (exit, built) = build_images(invocation, flags, session, &project, is_quiet)?;
        if is_quiet || flags.text("file-output").is_some() {
            let build = |(image, tag): (String, String)| Build { runtime: project.runtime(&image), image, tag };
            let built: Vec<Build> = built.into_iter().map(build).collect();
            let text = said(&built, flags.text("output")).map_err(|message| usage(invocation, &message))?;
            hand_out(invocation, flags, is_quiet, &text)?;
        }
        Ok(exit)
    })
}

/// Opens the configurations of a command and works on their project; problems are printed first and end the command.
fn with_project(
    invocation: &mut Invocation<'_>,
    flags: &Flags,
    command: &'static str,
    mode: &'static str,
    work: impl FnOnce(&mut Invocation<'_>, &Session, SkaffoldProject<'_, '_>, &[Config<'_>]) -> Result<Exit, Exit>,
) -> Result<Exit, Exit> {
    let opened = open(invocation, flags, &look(command))?;
    Ok(opened.with_configs(invocation, |invocation, session, configs| {
        let project = project(invocation, flags, &opened, session, &configs, mode);
        match project.and_then(|project| work(invocation, session, project, &configs)) {
            Ok(exit) | Err(exit) => exit,
        }
    }))
}

/// The configurations as a runnable project.
fn project<'p, 'f>(
    invocation: &mut Invocation<'_>,
    flags: &Flags,
    opened: &Opened,
    session: &'p Session,
    configs: &'p [Config<'f>],
    mode: &'static str,
) -> Result<SkaffoldProject<'p, 'f>, Exit> {
    if !validate(session, configs, Scope::Project, flags.tags()) {
        return Err(opened.report(invocation));
    }
    if matches!(mode, "build" | "run") {
        let names = flags.list("build-image");
        report_contexts(session, configs, &|image| is_chosen(image, &names));
        if session.sink.has_errors() {
            return Err(opened.report(invocation));
        }
    }
    let built = match mode {
        "build" | "run" => Vec::new(),
        _ => {
            let given = render_settings(invocation, flags, session, configs);
            given.map_err(|message| usage(invocation, &message))?.builds
        }
    };
    let file = flags.text("filename").filter(|file| *file != "-").map(Path::new);
    let folder = file.and_then(Path::parent).map(Path::to_owned).unwrap_or_default();
    let push = flags.text("push").map(|_| flags.switch("push", false));
    let settings = Settings {
        env: invocation.command_env(),
        root: invocation.cwd.join(folder),
        here: invocation.cwd.clone(),
        default_repo: flags.text("default-repo").filter(|repo| !repo.is_empty()).map(str::to_owned),
        tag: flags.text("tag").filter(|tag| !tag.is_empty()).map(str::to_owned),
        push,
        push_by_default: !is_local_cluster(&opened.cluster.context),
        platforms: flags.list("platform"),
        insecure: flags.list("insecure-registry"),
        built,
        mode,
    };
    let project = SkaffoldProject::new(session, configs, settings);
    if session.sink.has_errors() {
        return Err(opened.report(invocation));
    }
    Ok(project)
}

/// Images by name, and the image to use for each.
type Built = Vec<(String, String)>;

/// Reports contexts of wanted images that are no folders. Where nothing is to be built, the same is a warning, which is
/// not repeated.
pub(super) fn report_contexts(session: &Session, configs: &[Config<'_>], is_wanted: &dyn Fn(&str) -> bool) {
    let problems = missing_contexts(session, configs, is_wanted);
    let mut found = session.sink.take();
    found.retain(|known| known.is_error() || problems.iter().all(|problem| problem.span != known.span));
    session.sink.extend(found.into_iter().chain(problems));
}

/// Whether an image is among those of `--build-image`.
fn is_chosen(image: &str, names: &[String]) -> bool {
    names.is_empty() || names.iter().any(|name| image.contains(name.as_str()))
}

/// Builds the images selected by flags. Returns the built images.
fn build_images(
    invocation: &mut Invocation<'_>,
    flags: &Flags,
    session: &Session,
    project: &SkaffoldProject<'_, '_>,
    is_quiet: bool,
) -> Result<(Exit, Built), Exit> {
    let names = flags.list("build-image");
    let is_chosen = |image: &str| is_chosen(image, &names);
    let chosen: Vec<(usize, &str, &str)> = project
        .tags()
        .enumerate()
        .map(|(at, (image, tag))| (at, image, tag))
        .filter(|(_, image, _)| is_chosen(image))
        .collect();
    let mut head = String::from("Generating tags...\n");
    head.extend(chosen.iter().map(|(_, image, tag)| format!(" - {image} -> {tag}\n")));
    if flags.switch("dry-run", false) {
        head.push_str("Skipping build phase since --dry-run=true\n");
        say(invocation, is_quiet, &head);
        let built = chosen.iter().map(|(_, image, tag)| ((*image).to_owned(), (*tag).to_owned())).collect();
        return Ok((conclude(invocation, session, &Summary::default(), Style::default()), built));
    }
    let place = Place::new(invocation, project.root())?;
    let uses_cache = flags.switch("cache-artifacts", true);
    if uses_cache {
        head.push_str("Checking cache...\n");
        for (at, image, _) in &chosen {
            let found = match (project.is_known(*at, &place.store), project.is_pushed(*at)) {
                (false, _) => "Not found. Building",
                (true, true) => "Found Remotely",
                (true, false) => "Found Locally",
            };
            head.push_str(&format!(" - {image}: {found}\n"));
        }
    }
    if chosen.iter().any(|(at, ..)| !uses_cache || !project.is_known(*at, &place.store)) {
        head.push_str("Starting build...\n");
    }
    say(invocation, is_quiet, &head);
    let jobs = flags.text("build-concurrency").and_then(|text| text.parse::<i64>().ok()).filter(|count| *count >= 0);
    let jobs = match jobs {
        Some(0) => chosen.len(),
        Some(count) => usize::try_from(count).unwrap_or(1),
        None => project.concurrency(),
    };
    let requested: Vec<usize> = chosen.iter().map(|(at, ..)| *at).collect();
    let summary = run(invocation, project, &place, &requested, jobs, !uses_cache, is_quiet);
    let exit = ended(invocation, session, &summary);
    let built = if summary.is_good() { project.built() } else { Vec::new() };
    let built = built.into_iter().filter(|(image, _)| is_chosen(image)).collect();
    Ok((exit, built))
}

fn say(invocation: &mut Invocation<'_>, is_quiet: bool, text: &str) {
    if !is_quiet {
        let _ = invocation.stdout.write_all(text.as_bytes());
    }
}

fn run(
    invocation: &mut Invocation<'_>,
    project: &SkaffoldProject<'_, '_>,
    place: &Place,
    requested: &[usize],
    jobs: usize,
    force: bool,
    is_quiet: bool,
) -> Summary {
    let mut lines = Lines { out: invocation.stdout, is_quiet };
    let options = Options { jobs, force, fail_fast: true, ..Options::default() };
    let run = Run { project, store: &place.store, executor: &place.executor, stop: &place.stop, options: &options };
    run.run(requested, &mut lines)
}

/// The exit code of the failed command, as in the original.
fn ended(invocation: &mut Invocation<'_>, session: &Session, summary: &Summary) -> Exit {
    match conclude(invocation, session, summary, Style::default()) {
        Exit::Failed => {
            let code = summary.failures().find_map(|failure| match failure.cause {
                Cause::Exit(code) => Some(code),
                _ => None,
            });
            Exit::Other(code.unwrap_or(1))
        }
        exit => exit,
    }
}

/// The text of `--output` for the built images.
fn said(built: &[Build], output: Option<&str>) -> Result<String, String> {
    let entry = |build: &Build| {
        let runtime = match build.runtime.as_str() {
            "" => String::new(),
            runtime => format!(",\"runtimeType\":{}", quoted(runtime)),
        };
        format!("{{\"imageName\":{},\"tag\":{}{runtime}}}", quoted(&build.image), quoted(&build.tag))
    };
    let list: Vec<String> = built.iter().map(entry).collect();
    let json = if list.is_empty() { "null".to_owned() } else { format!("[{}]", list.join(",")) };
    let whole = format!("{{\"builds\":{json}}}");
    match output {
        None | Some("{{json .}}") => Ok(whole),
        Some(text) => template::builds(&text.replace("{{json .}}", &whole), built),
    }
}

fn quoted(text: &str) -> String {
    purlin_syntax::write::json::quote(text, purlin_syntax::write::JsonFlavor::Go).to_string()
}

fn hand_out(invocation: &mut Invocation<'_>, flags: &Flags, is_quiet: bool, text: &str) -> Result<(), Exit> {
    let filed = flags.text("file-output").map(|file| write_atomically(&invocation.cwd.join(file), text.as_bytes()));
    let written = filed.unwrap_or(Ok(())).and_then(|()| match is_quiet {
        true => invocation.stdout.write_all(text.as_bytes()),
        false => Ok(()),
    });
    written.map_err(|error| invocation.refuse(&format!("could not write: {error}"), Exit::Io))
}

/// The clusters of a command line.
pub(super) fn clusters(invocation: &Invocation<'_>, flags: &Flags) -> Clusters {
    Clusters {
        env: invocation.env.clone(),
        kubeconfig: flags.text("kubeconfig").map(|file| invocation.cwd.join(file)),
        context: flags.text("kube-context").map(str::to_owned),
        allow_exec: flags.switch("allow-exec", false),
        // Skaffold behaves like `kubectl apply`, which takes over fields set by others.
        force_conflicts: true,
        ..Clusters::default()
    }
}

/// Inputs of a deploy apart from the configurations.
fn deploying(
    invocation: &Invocation<'_>,
    flags: &Flags,
    project: &SkaffoldProject<'_, '_>,
    configs: &[Config<'_>],
    forwards: Option<Forwards>,
) -> Deploying {
    let label = |text: &String| {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        (name.to_owned(), value.to_owned())
    };
    Deploying {
        name: deploy_name(project.root(), configs),
        engines: purlin_compiler::ENGINES,
        clusters: Arc::new(clusters(invocation, flags)),
        namespace: flags.text("namespace").filter(|namespace| !namespace.is_empty()).map(str::to_owned),
        labels: flags.list("label").iter().map(label).collect(),
        wait: flags.text("status-check").map(|_| flags.switch("status-check", true)),
        tolerant: flags.switch("tolerate-failures-until-deadline", false),
        forwards,
        ..Deploying::default()
    }
}

/// The ports of `--port-forward`; `None` if nothing is forwarded.
pub(super) fn forwarded(flags: &Flags) -> Result<Option<Forwards>, String> {
    let (mut user, mut services) = (false, false);
    for mode in flags.text("port-forward").unwrap_or("off").split(',').map(str::trim) {
        match mode {
            "off" | "none" | "false" => {}
            "true" => (user, services) = (true, true),
            "user" => user = true,
            "services" => services = true,
            "pods" | "debug" => {
                return Err(format!("`--port-forward={mode}` is not supported; use `user` or `services`"));
            }
            _ => return Err(format!("`--port-forward={mode}`: expected `off`, `user` or `services`")),
        }
    }
    Ok(match (user, services) {
        (true, true) => Some(Forwards::All),
        (true, false) => Some(Forwards::User),
        (false, true) => Some(Forwards::Services),
        (false, false) => None,
    })
}

/// Follows the logs of deploys.
pub(super) fn tail(invocation: &mut Invocation<'_>, project: &dyn Project, nodes: &[usize]) -> Result<Exit, Exit> {
    after(invocation, project, nodes, (false, true))
}

/// Forwards ports and follows logs after a deploy.
fn after(
    invocation: &mut Invocation<'_>,
    project: &dyn Project,
    nodes: &[usize],
    (forwards, tails): (bool, bool),
) -> Result<Exit, Exit> {
    let shown = |_: &str, said: &Said| format!("[{}] {}\n", said.container, said.text);
    let reading = Reading::following(&shown);
    stay(invocation, project, nodes, (forwards, tails.then_some(&reading)))
}

/// `deploy` and `run`: builds missing images, tests them for `run`, and deploys everything.
pub fn deploy(invocation: &mut Invocation<'_>, flags: &Flags, builds: bool) -> Result<Exit, Exit> {
    let command = if builds { "run" } else { "deploy" };
    let forwards = forwarded(flags).map_err(|message| usage(invocation, &message))?;
    with_project(invocation, flags, command, command, |invocation, session, project, configs| {
        let deploying = deploying(invocation, flags, &project, configs, forwards);
        let project = project.deploying(deploying, false);
        if builds {
            let (exit, _) = build_images(invocation, flags, session, &project, false)?;
            goes_on(exit)?;
            let tests = of_kind(&project, Kind::Test);
            if !tests.is_empty() && !flags.switch("skip-tests", false) {
                goes_on(test_images(invocation, session, &project, &tests)?)?;
            }
        } else if let Some(image) = missing(&project) {
            return Ok(lacks(invocation, &image, "skaffold deploy"));
        }
        let exit = deploy_all(invocation, session, &project)?;
        let tails = flags.switch("tail", false);
        match exit {
            Exit::Ok if forwards.is_some() || tails => {
                after(invocation, &project, &of_kind(&project, Kind::Deploy), (forwards.is_some(), tails))
            }
            exit => Ok(exit),
        }
    })
}

/// Continues only after success.
fn goes_on(exit: Exit) -> Result<(), Exit> {
    if exit == Exit::Ok { Ok(()) } else { Err(exit) }
}

fn deploy_all(
    invocation: &mut Invocation<'_>,
    session: &Session,
    project: &SkaffoldProject<'_, '_>,
) -> Result<Exit, Exit> {
    let mut head = String::from("Tags used in deployment:\n");
    head.extend(project.built().iter().map(|(image, tag)| format!(" - {image} -> {tag}\n")));
    head.push_str("Starting deploy...\n");
    say(invocation, false, &head);
    let place = Place::new(invocation, project.root())?;
    // Images are built already; the last node depends on everything before it.
    let last = project.nodes().len().saturating_sub(1);
    let deploys: Vec<usize> = of_kind(project, Kind::Deploy).into_iter().chain([last]).collect();
    let summary = run(invocation, project, &place, &deploys, 1, true, false);
    Ok(ended(invocation, session, &summary))
}

/// `delete`: takes down the deployment.
pub fn delete(invocation: &mut Invocation<'_>, flags: &Flags) -> Result<Exit, Exit> {
    with_project(invocation, flags, "delete", "build", |invocation, session, project, configs| {
        if flags.switch("dry-run", false) {
            return would_delete(invocation, flags, session, &project, configs);
        }
        let deploying = deploying(invocation, flags, &project, configs, None);
        let project = project.deploying(deploying, true);
        let place = Place::new(invocation, project.root())?;
        say(invocation, false, "Cleaning up...\n");
        let mut lines = Lines { out: invocation.stdout, is_quiet: false };
        let done = clean_up(&project, &place.store, &place.executor, &place.stop, &Removal::default(), &mut lines);
        let summary = done.map_err(|message| usage(invocation, &message))?;
        Ok(ended(invocation, session, &summary))
    })
}

/// `delete --dry-run`: the manifests in their current form.
fn would_delete(
    invocation: &mut Invocation<'_>,
    flags: &Flags,
    session: &Session,
    project: &SkaffoldProject<'_, '_>,
    configs: &[Config<'_>],
) -> Result<Exit, Exit> {
    let settings = render_settings(invocation, flags, session, configs).map_err(|why| usage(invocation, &why))?;
    let builds: Vec<_> = project.tags().map(|(image, tag)| (image.to_owned(), tag.to_owned())).collect();
    let settings = RenderSettings { images: builds.iter().cloned().collect(), builds, ..settings };
    let manifests = render(session, configs, &settings, purlin_compiler::ENGINES);
    let bodies = commands::bodies(&manifests);
    let exit = conclude(invocation, session, &Summary::default(), Style::default());
    if exit != Exit::Ok {
        return Ok(exit);
    }
    let mut text = String::from("Cleaning up...\nFollowing resources would be deleted:\n");
    bodies.iter().for_each(|body| text.push_str(&format!("---\n{body}")));
    Ok(invocation.print(&text))
}

/// The first artifact without a known image.
fn missing(project: &SkaffoldProject<'_, '_>) -> Option<String> {
    let known = project.built();
    let mut images = project.tags().map(|(image, _)| image);
    images.find(|image| !known.iter().any(|(other, _)| other == image)).map(str::to_owned)
}

fn lacks(invocation: &mut Invocation<'_>, image: &str, command: &str) -> Exit {
    let help = format!("run [{command}] with [--build-artifacts FILE], which a build writes with [--file-output]");
    invocation.refuse(&format!("no tag provided for image [{image}]\n  help: {help}"), Exit::Invalid)
}

/// `test`: tests images that were built before.
pub fn test(invocation: &mut Invocation<'_>, flags: &Flags) -> Result<Exit, Exit> {
    with_project(invocation, flags, "test", "test", |invocation, session, project, _| match missing(&project) {
        Some(image) => Ok(lacks(invocation, &image, "skaffold test")),
        None => test_images(invocation, session, &project, &of_kind(&project, Kind::Test)),
    })
}

fn of_kind(project: &SkaffoldProject<'_, '_>, kind: Kind) -> Vec<usize> {
    project.nodes().iter().enumerate().filter(|(_, node)| node.kind == kind).map(|(at, _)| at).collect()
}

fn test_images(
    invocation: &mut Invocation<'_>,
    session: &Session,
    project: &SkaffoldProject<'_, '_>,
    tests: &[usize],
) -> Result<Exit, Exit> {
    let place = Place::new(invocation, project.root())?;
    say(invocation, tests.is_empty(), "Starting test...\nTesting images...\n");
    let summary = run(invocation, project, &place, tests, 1, true, false);
    Ok(ended(invocation, session, &summary))
}

/// Prints events in the words of the original.
struct Lines<'w> {
    out: &'w mut (dyn Write + Send),
    is_quiet: bool,
}

impl Lines<'_> {
    fn line(&mut self, text: &str) {
        if !self.is_quiet {
            // A closed reader does not stop a run.
            let _ = writeln!(self.out, "{text}");
        }
    }
}

impl Reporter for Lines<'_> {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Started { id, kind: Kind::Build, .. } => {
                self.line(&format!("Building [{}]...", id.trim_start_matches("build.")));
            }
            Event::Line { text, .. } => self.line(text),
            Event::Warning { id, text } => self.line(&format!("{id}: {text}")),
            Event::Ended { id, end, .. } => match (id.split_once('.'), end) {
                (Some(("build", image)), End::Done) => self.line(&format!("Build [{image}] succeeded")),
                (Some(("build", image)), End::Failed(failure)) => {
                    self.line(&format!("Build [{image}] failed: {}", failure.cause));
                }
                (Some(("deploy", name)), End::Removed) => self.line(&format!("{name}: removed")),
                (Some(("test", _)), End::Done) => self.line("Command finished successfully."),
                (Some(("test", _)), End::Failed(failure)) => match failure.cause {
                    Cause::Exit(_) => self.line("Command finished with non-0 exit code."),
                    Cause::TimedOut(_) => self.line("Command timed out"),
                    _ => {}
                },
                _ => {}
            },
            Event::Started { .. } | Event::Begin { .. } | Event::Stopping => {}
            Event::Progress { .. } | Event::Placed { .. } | Event::Stays { .. } => {}
        }
    }

    fn finish(&mut self, _summary: &Summary) {}
}
