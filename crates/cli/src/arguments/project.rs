//! Converts the command line to a session and a request.

use crate::args::{Global, Target};
use crate::border::read_below;
use crate::disk::{DiskSettings, DiskWorld, Permissions};
use crate::invocation::{Exit, Invocation};
use crate::native;
use crate::reach;
use crate::report::Style;
use crate::seed::SeedSource;
use crate::settings::User;
use crate::viewpoint::Viewpoint;
use purlin_host::named;
use purlin_model::{ChartOptions, Request, SetFlag, SetKind, SkaffoldOptions, ToscaOptions};
use purlin_syntax::Limits;
use purlin_value::Session;
use purlin_value::glob::Glob;
use purlin_value::path;
use purlin_value::world::Moment;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Options for opening a session; personalities fill them in their own way.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Folder or file, as the user named it.
    pub path: PathBuf,
    /// The folder that bounds what may be read; the repository that contains the path if `None`.
    pub root: Option<PathBuf>,
    /// The folder that the root is a copy of: paths are shown as those of that folder.
    pub stands_for: Option<PathBuf>,
    /// Permissions.
    pub permissions: Permissions,
    /// Whether the user trusts the project's settings.
    pub trust: bool,
    /// Patterns of the environment variables that the project may read; all if not set.
    pub env_allow: Option<Vec<String>>,
    /// Limits in force.
    pub limits: Limits,
    /// Threads; as many as the machine has if `None`.
    pub threads: Option<usize>,
    /// The seed of random functions that the user chose.
    pub seed: Option<SeedSource>,
    /// The seed otherwise.
    pub usual_seed: SeedSource,
    /// How problems are printed.
    pub(crate) style: Style,
}

impl Setup {
    /// The plainest setup for a path.
    pub fn of(path: impl Into<PathBuf>) -> Self {
        Setup {
            path: path.into(),
            root: None,
            stands_for: None,
            permissions: Permissions::default(),
            trust: false,
            env_allow: None,
            limits: Limits::default(),
            threads: None,
            seed: None,
            usual_seed: SeedSource::default(),
            style: Style::default(),
        }
    }

    /// The same with the options before the name of a personality.
    fn with_given(mut self, given: Option<&Setup>) -> Self {
        let Some(given) = given else { return self };
        let (own, more) = (&mut self.permissions, &given.permissions);
        own.paths.extend(more.paths.iter().cloned());
        own.hosts.extend(more.hosts.iter().cloned());
        own.exec |= more.exec;
        own.write |= more.write;
        own.offline |= more.offline;
        own.update |= more.update;
        self.limits = given.limits.clone();
        self.env_allow = self.env_allow.or_else(|| given.env_allow.clone());
        self.threads = self.threads.or(given.threads);
        self.seed = self.seed.or(given.seed);
        self
    }

    /// The setup of the global flags, or an error message.
    pub fn from_flags(path: &Path, global: &Global) -> Result<Self, String> {
        let mut limits = Limits::default();
        for text in &global.limit {
            let parsed = text
                .split_once('=')
                .and_then(|(name, value)| Some((name, value.replace('_', "").parse::<u64>().ok()?)));
            let Some((name, value)) = parsed else { return Err(format!("`--limit {text}` is not NAME=NUMBER")) };
            if !limits.set(name, value) {
                let names: Vec<_> = limits.list().iter().map(|limit| limit.name).collect();
                let hint = purlin_syntax::suggest::did_you_mean(name, names)
                    .map(|hint| format!("; {hint}"))
                    .unwrap_or_default();
                return Err(format!("unknown limit `{name}`{hint}"));
            }
        }
        let permissions = Permissions {
            paths: global.allow_path.clone(),
            hosts: global.allow_net.clone(),
            exec: global.allow_exec,
            write: global.allow_write,
            offline: global.offline,
            frozen: false,
            update: global.update,
            ..Permissions::default()
        };
        let (path, root) = (path.to_owned(), None);
        Ok(Setup {
            path,
            root,
            stands_for: None,
            permissions,
            trust: global.trust,
            env_allow: (!global.env_allow.is_empty()).then(|| global.env_allow.clone()),
            limits,
            threads: global.threads,
            seed: global.seed,
            usual_seed: SeedSource::default(),
            style: Style::default(),
        })
    }
}

/// Opens a session on a path. The second part is the path relative to the world's root.
pub fn open_session(invocation: &mut Invocation<'_>, setup: &Setup) -> Result<(Session, String), Exit> {
    let setup = &setup.clone().with_given(invocation.given.as_ref());
    let named = invocation.cwd.join(&setup.path);
    let full = native::canonical(&named)
        .map_err(|error| invocation.refuse(&format!("cannot open `{}`: {error}", setup.path.display()), Exit::Io))?;
    let folder =
        if named::is_folder(&full) { full.clone() } else { full.parent().unwrap_or(Path::new("/")).to_owned() };
    let root = match &setup.root {
        Some(root) => native::canonical_or_same(root.clone()),
        None => repository_of(&folder),
    };
    let mut permissions = setup.permissions.clone();
    // Without a repository, parts of a kustomization may be outside its folder.
    if setup.root.is_none() && root == folder && !named::exists(&root.join(".git")) {
        permissions.paths.extend(reach::of_kustomization(&folder, &invocation.env, &setup.limits));
    }
    let env_allow = setup.env_allow.clone().or_else(|| User::of(&invocation.env).0.env_allow);
    let now = clock(&invocation.env).map_err(|message| invocation.refuse(&message, Exit::Usage))?;
    let settings = DiskSettings {
        root: root.clone(),
        cwd: invocation.cwd.clone(),
        env: invocation.env.clone(),
        project_env: readable(invocation.template_env(), env_allow.as_deref()),
        permissions,
        now,
        seed: setup.seed.unwrap_or(setup.usual_seed),
        max_file: setup.limits.file_bytes,
    };
    let world = DiskWorld::new(settings);
    let threads = setup.threads.unwrap_or_else(threads_of_machine);
    let Ok(relative) = full.strip_prefix(&root) else {
        let message = format!("`{}` is not inside `{}`", full.display(), root.display());
        return Err(invocation.refuse(&message, Exit::Io));
    };
    let session = Session::with_limits(Arc::new(world), setup.limits.clone(), threads);
    let viewpoint = Viewpoint::new(&root, setup.stands_for.as_deref(), &invocation.cwd);
    session.sources.show_as(move |path| viewpoint.source(path));
    Ok((session, path::normalize(&native::world_text(relative))))
}

/// Variables about the user and the system that are not secret; every project may read them.
const PLAIN_VARIABLES: &[&str] = &["HOME", "LANG", "LOGNAME", "PATH", "TERM", "TZ", "USER", "USERNAME"];

/// The variables that a project may read, by patterns of their names.
fn readable(mut env: BTreeMap<String, String>, allowed: Option<&[String]>) -> BTreeMap<String, String> {
    if let Some(patterns) = allowed {
        let patterns: Vec<Glob> = patterns.iter().map(|pattern| Glob::new(pattern)).collect();
        env.retain(|name, _| {
            PLAIN_VARIABLES.contains(&name.as_str()) || patterns.iter().any(|pattern| pattern.covers(name))
        });
    }
    env
}

/// A file or folder named by the user as a path of the world: relative to the working directory, whatever the project
/// is.
pub(crate) fn named(invocation: &Invocation<'_>, session: &Session, name: &str) -> String {
    let cwd = native::canonical_or_same(invocation.cwd.clone());
    let full = path::normalize(&native::world_text(&cwd.join(name)));
    let root = session.world.root();
    let inside = full.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
    inside.map_or_else(|| if full == root { ".".to_owned() } else { full.clone() }, str::to_owned)
}

/// The number of threads available to this process. The system reads files to find out, so it is asked only once.
fn threads_of_machine() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// The variable that fixes the clock.
const EPOCH: &str = "SOURCE_DATE_EPOCH";

/// The one clock reading of the run; `SOURCE_DATE_EPOCH` makes it repeatable.
pub(crate) fn clock(env: &std::collections::BTreeMap<String, String>) -> Result<Moment, String> {
    if let Some(text) = env.get(EPOCH) {
        let seconds: i64 = text
            .trim()
            .parse()
            .map_err(|_| format!("the environment variable `{EPOCH}` is `{text}`, expected seconds since 1970"))?;
        return Ok(Moment(i128::from(seconds) * 1_000_000_000));
    }
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Ok(Moment(i128::try_from(since.as_nanos()).unwrap_or(0)))
}

/// Files that mark a project folder if there is no repository.
const PROJECT_FILES: &[&str] =
    &["project.garden.yml", "project.garden.yaml", "unfurl.yaml", "Chart.yaml", "skaffold.yaml", "purlin.toml"];

/// Files that may hold a project of Garden.
const GARDEN_FILES: &[&str] = &["garden.yml", "garden.yaml"];

/// Maximum size of the searched part of such a file.
const MOST_PROJECT_BYTES: u64 = 16 << 20;

/// Whether a folder contains a project that includes the folder below it.
fn holds_project(folder: &Path, below: &Path) -> bool {
    let is_project = |name: &&str| {
        let file = folder.join(name);
        // Most folders contain no project, and are not opened to find that out.
        let there = named::itself(&file).ok().and_then(|_| read_below(folder, &file, MOST_PROJECT_BYTES).ok());
        let text = there.unwrap_or_default();
        String::from_utf8_lossy(&text).lines().any(|line| line.trim_end() == "kind: Project")
    };
    let speaks = |name: &&str| named::speaks_for(&folder.join(name), below);
    PROJECT_FILES.iter().any(|name| speaks(name) && named::is_file(&folder.join(name)))
        || GARDEN_FILES.iter().any(|name| speaks(name) && is_project(name))
}

/// The repository that contains a folder, which bounds what may be read; without one, the project that contains it, and
/// otherwise the folder itself. An ensemble may have a repository of its own within the project it belongs to: then the
/// project's counts.
pub(crate) fn repository_of(folder: &Path) -> PathBuf {
    let repository = folder.ancestors().find(|above| named::speaks_for(&above.join(".git"), folder));
    let own = repository.or_else(|| folder.ancestors().find(|above| holds_project(above, folder))).unwrap_or(folder);
    match own.parent() {
        Some(project) if named::is_file(&own.join("ensemble.yaml")) && named::is_file(&project.join("unfurl.yaml")) => {
            repository_of(project)
        }
        _ => own.to_owned(),
    }
}

/// Naming a file on the command line allows reading the repository that contains it. `None` if it does not exist, or is
/// not a file (`-`, an address).
pub(crate) fn consent(cwd: &Path, named: &str) -> Option<PathBuf> {
    let full = native::canonical(&cwd.join(named)).ok()?;
    let folder = if named::is_folder(&full) { full.as_path() } else { full.parent()? };
    Some(repository_of(folder))
}

/// The request of the target flags.
pub(crate) fn request(path: String, target: &Target, nodes: &[String]) -> Result<Request, String> {
    let sets = [(SetKind::Typed, &target.set), (SetKind::Text, &target.set_string), (SetKind::Json, &target.set_json)];
    let sets =
        sets.into_iter().flat_map(|(kind, texts)| texts.iter().map(move |text| SetFlag { kind, text: text.clone() }));
    Ok(Request {
        path,
        environment: target.env.clone(),
        profiles: target.profile.clone(),
        modules: target.module.clone(),
        file: target.file.clone(),
        values: target.values.clone(),
        sets: sets.collect(),
        vars: pairs("--var", &target.var)?,
        var_files: target.var_file.clone(),
        secret_files: target.secret_file.clone(),
        inputs: pairs("--input", &target.input)?,
        input_files: target.inputs.clone(),
        namespace: target.namespace.clone(),
        pending: target.pending.clone(),
        chart: ChartOptions { release_name: target.release_name.clone(), ..ChartOptions::default() },
        skaffold: SkaffoldOptions {
            kube_context: target.kube_context.clone(),
            auto_activation: target.profile_auto_activation.unwrap_or(true),
            propagate_profiles: target.propagate_profiles.unwrap_or(true),
            ..SkaffoldOptions::default()
        },
        tosca: ToscaOptions { profile_paths: target.profile_path.clone(), ..ToscaOptions::default() },
        nodes: nodes.to_vec(),
        ..Request::default()
    })
}

/// `K=V` flags.
pub(crate) fn pairs(flag: &str, texts: &[String]) -> Result<Vec<(String, String)>, String> {
    let pair = |text: &String| {
        let (key, value) = text.split_once('=').ok_or_else(|| format!("`{flag} {text}` is not NAME=VALUE"))?;
        Ok((key.to_owned(), value.to_owned()))
    };
    texts.iter().map(pair).collect()
}
