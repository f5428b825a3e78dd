//! The native commands, one file each.

mod ask;
mod change;
mod dev;
mod judge;
mod lsp;
mod mcp;
mod resolve;
mod work;

use ask::{diff, diff_cluster, editor, environment, eval, explain, explore, graph, names, report, schema, why};
use change::{csar, files, fix, fmt, folder, init, rename};
use judge::{check, unchanged, verify};
use work::{demo, server, since, status};
pub(crate) use work::{exec, logs, provider_scripts, run, stay};

pub(crate) use init::chart_files;
pub(crate) use status::take_down;
pub(crate) use why::rewrite as rewrite_why;

use crate::args::{Cli, Command, Places, Target};
use crate::declared::{undeclared, unreferenced};
use crate::fetch::lay_out;
use crate::invocation::{Exit, Invocation};
use crate::native;
use crate::options;
use crate::pager;
use crate::paint;
use crate::policies;
use crate::project::{self, Setup, open_session};
use crate::read_args::{
    CheckFlags, DiffFlags, EvalFlags, GraphFlags, RenderFlags, ResolveFlags, VerifyFlags, WhyFlags,
};
use crate::remote;
use crate::report::{Style, report as print_report, settle};
use crate::run_args::{AfterFlags, RemoteFlags};
use crate::seed::SeedSource;
use crate::settings::{self, Settings, User};
use purlin_host::named;
use purlin_model::{Detection, Plugin, Request, Resolved};
use purlin_run::action::Kind;
use purlin_syntax::credentials::without_credentials;
use purlin_syntax::print::escape;
use purlin_syntax::{Diagnostic, FileId, Limits, Sources};
use purlin_value::emit::REDACTED;
use purlin_value::{Session, WorldError};
use std::path::{Path, PathBuf};

/// State shared by all commands that resolve something.
pub(crate) struct Context<'i, 'io> {
    pub invocation: &'i mut Invocation<'io>,
    pub global: crate::args::Global,
    pub style: Style,
    /// The `purlin.toml` of the project that was opened last.
    pub settings: Settings,
    /// The error, if it could not be read.
    unread: Option<WorldError>,
    /// The user's settings for all projects.
    user: User,
    /// Whether the user trusts the project.
    is_trusted: bool,
    /// The seed of random functions unless the user chose one.
    pub usual_seed: SeedSource,
    /// Prefix of the names of target options in messages: `to-` on the other side of a comparison.
    pub prefix: &'static str,
}

impl Context<'_, '_> {
    /// Opens a session on a path, with the request of the target options; options that the project's dialect does not
    /// use are errors.
    fn open(&mut self, path: &Path, target: &Target, nodes: &[String]) -> Result<(Session, Request), Exit> {
        let (session, request) = self.open_any(path, target, nodes)?;
        self.refuse_unused(&session, &request, target, path)?;
        self.refuse_missing(&session, path, target)?;
        Ok((session, request))
    }

    /// The same without checking whether the options apply.
    fn open_any(&mut self, path: &Path, target: &Target, nodes: &[String]) -> Result<(Session, Request), Exit> {
        let repository = project::repository_of(&native::canonical_or_same(self.invocation.cwd.join(path)));
        let (path, root) = match &target.rev {
            Some(revision) => self.at_revision(path, &repository, revision).map(|(path, root)| (path, Some(root)))?,
            None => (path.to_owned(), None),
        };
        let mut setup = Setup::from_flags(&path, &self.global).map_err(|message| self.usage(&message))?;
        setup.usual_seed = self.usual_seed;
        let text = self.read_settings(&path);
        self.apply_settings(&mut setup);
        if root.is_some() {
            // The files of a revision are in a cache that other runs read.
            setup.permissions.write = false;
            setup.permissions.frozen = true;
            setup.stands_for = Some(repository);
        }
        let root_is_open = root.is_none();
        setup.root = root;
        // Paths named by the user may be read wherever they are: a project file with its repository, other files alone.
        let alone = [&target.values, &target.var_file, &target.secret_file, &target.inputs];
        let alone = alone.into_iter().chain([&target.profile_path]).flatten();
        setup.permissions.paths.extend(alone.map(PathBuf::from));
        let project_file = target.file.as_deref().filter(|_| root_is_open);
        let beside = self.invocation.cwd.join(&path);
        let places = [beside.as_path(), self.invocation.cwd.as_path()];
        let repository = project_file.and_then(|file| places.iter().find_map(|place| project::consent(place, file)));
        setup.permissions.paths.extend(repository);
        let (session, relative) = open_session(self.invocation, &setup)?;
        let mut request = project::request(relative, target, nodes).map_err(|message| self.usage(&message))?;
        self.name_files(&session, &mut request);
        self.fill_from_settings(&session, &mut request, text.as_deref());
        let cwd = native::canonical_or_same(self.invocation.cwd.clone());
        if let Some(file) = request.file.as_mut().filter(|_| root_is_open) {
            let beside = cwd.join(&path).join(&*file);
            if !named::exists(&beside) && named::exists(&cwd.join(&*file)) {
                *file = native::world_text(&native::canonical_or_same(cwd.join(&*file)));
            }
        }
        if !cwd.starts_with(session.world.root()) {
            for file in &mut request.values {
                *file = native::world_text(&cwd.join(&file));
            }
        }
        Ok((session, request))
    }

    /// The project and the nodes that words name: a first word that is a file or folder is the project, unless an
    /// option named the path. A word that could be neither, because this folder has no project, is taken as the path it
    /// was probably meant to be.
    fn split(&mut self, places: &Places, target: &Target) -> (PathBuf, Vec<String>) {
        if let Some(path) = &places.named {
            return (path.clone(), places.words.clone());
        }
        match places.words.split_first() {
            Some((first, nodes)) if self.is_path(first) || !self.has_project(target) => (first.into(), nodes.to_vec()),
            _ => (PathBuf::from("."), places.words.clone()),
        }
    }

    fn is_path(&self, word: &str) -> bool {
        named::exists(&self.invocation.cwd.join(word))
    }

    /// Whether the working directory has a project.
    fn has_project(&mut self, target: &Target) -> bool {
        if target.file.is_some() || target.rev.is_some() {
            return true;
        }
        if !named::exists(&self.invocation.cwd) {
            return false;
        }
        let opened = open_session(self.invocation, &Setup::of("."));
        opened.is_ok_and(|(session, path)| {
            !matches!(purlin_compiler::detect(&session, &Request::of(&path)), Detection::Nothing)
        })
    }

    /// An option that the project's dialect does not use is an error, not ignored.
    fn refuse_unused(
        &mut self,
        session: &Session,
        request: &Request,
        target: &Target,
        shown: &Path,
    ) -> Result<(), Exit> {
        if !options::needs_dialect(target) {
            return Ok(());
        }
        let Detection::Project(_, dialect) = purlin_compiler::detect(session, request) else { return Ok(()) };
        let unused = options::unused(target, self.prefix, &[dialect.name]);
        let unused = unused.iter().map(|unused| unused.message(&shown.display().to_string(), dialect.name));
        let pending = target.pending.iter().filter(|path| dialect.name == "garden" && !path.starts_with("local.env"));
        let pending = pending.map(|path| {
            format!("`--pending {path}`: only `local.env` and `local.env.NAME` can be pending in a Garden project")
        });
        let messages: Vec<String> = unused.chain(pending).collect();
        self.refuse(&messages)
    }

    /// A variable that the project does not use is an error too.
    fn refuse_undeclared(
        &mut self,
        session: &Session,
        resolved: Option<&Resolved>,
        set: &[String],
        more: &str,
    ) -> Result<(), Exit> {
        let unknown = undeclared(session, resolved, set, more);
        for message in &unknown.parts {
            let _ = writeln!(self.invocation.stderr, "warning: {message}");
        }
        self.refuse(&unknown.variables)
    }

    /// A path declared as pending must be referenced in the project.
    fn refuse_pending(&mut self, session: &Session, pending: &[String]) -> Result<(), Exit> {
        self.refuse(&unreferenced(session, pending))
    }

    fn refuse(&mut self, messages: &[String]) -> Result<(), Exit> {
        for message in messages {
            self.usage(message);
        }
        if messages.is_empty() { Ok(()) } else { Err(Exit::Usage) }
    }

    /// Paths on the command line are relative to the working directory.
    fn name_files(&self, session: &Session, request: &mut Request) {
        let files = [&mut request.input_files, &mut request.var_files, &mut request.secret_files];
        for file in files.into_iter().chain([&mut request.tosca.profile_paths]).flatten() {
            *file = project::named(self.invocation, session, file);
        }
    }

    /// The location of a path of the user's repository at a revision, and the folder of that revision.
    fn at_revision(&mut self, path: &Path, repository: &Path, revision: &str) -> Result<(PathBuf, PathBuf), Exit> {
        let full = native::canonical_or_same(self.invocation.cwd.join(path));
        let laid_out = lay_out(&self.invocation.env, repository, revision).map_err(|error| error.reason().to_owned());
        let found = laid_out.and_then(|root| {
            let there = root.join(full.strip_prefix(repository).unwrap_or(Path::new("")));
            if named::exists(&there) { Ok((there, root)) } else { Err("it is not in that revision".to_owned()) }
        });
        let message = |why| format!("cannot read `{}` at `{revision}`: {why}", path.display());
        found.map_err(|why| self.io(&message(why)))
    }

    /// Reports missing files named by options, whatever the option does with them.
    fn refuse_missing(&mut self, session: &Session, path: &Path, target: &Target) -> Result<(), Exit> {
        let cwd = &self.invocation.cwd;
        let is_there = |option: &str, name: &str| {
            let is_elsewhere = name == "-" || name.contains("://");
            // A project's file is next to it, or in the working directory.
            let beside =
                || [cwd.join(path).join(name), cwd.join(path).with_file_name(name)].iter().any(|p| named::exists(p));
            is_elsewhere || named::exists(&cwd.join(name)) || (option == "file" && beside())
        };
        let lists = [
            ("values", &target.values),
            ("var-file", &target.var_file),
            ("secret-file", &target.secret_file),
            ("inputs", &target.inputs),
            ("profile-path", &target.profile_path),
        ];
        let named = lists.into_iter().flat_map(|(option, names)| names.iter().map(move |name| (option, name)));
        let named = named.chain(target.file.iter().map(|name| ("file", name)));
        let missing: Vec<Diagnostic> = named
            .filter(|(option, name)| !is_there(option, name))
            .map(|(option, name)| {
                let hint = format!("`--{}{option}` names it; the path begins at the working directory", self.prefix);
                WorldError::NotFound.diagnostic(name).hint(hint)
            })
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        // Other problems may follow from it.
        session.sink.take();
        session.sink.extend(missing);
        Err(self.report(session))
    }

    /// Frees the memory of a run, unless the process ends soon: dropping a large graph would only take time.
    fn let_go<T>(&self, made: T) {
        if self.invocation.last {
            std::mem::forget(made);
        }
    }

    /// The server that options and settings name. The settings are those of the project that was opened last.
    fn remote(&mut self, flags: &RemoteFlags) -> Result<Option<remote::Wanted>, Exit> {
        let project = self.settings.remote.as_ref().filter(|_| self.is_trusted);
        let wanted = remote::wanted(self.invocation, flags, project, self.user.remote.as_ref());
        match wanted.map_err(|message| self.usage(&message))? {
            Some(wanted) if self.global.offline => {
                let address = &wanted.settings.address;
                let message = format!("`{address}` cannot be used with `--offline`: add `--no-remote`");
                Err(self.usage(&message))
            }
            wanted => Ok(wanted),
        }
    }

    fn usage(&mut self, message: &str) -> Exit {
        self.invocation.refuse(message, Exit::Usage)
    }

    fn report(&mut self, session: &Session) -> Exit {
        settle(session, &self.settings, self.style, false);
        print_report(self.invocation, session, self.style)
    }

    /// With `--verbose`, prints the files that were read.
    fn tell_read(&mut self, session: &Session) {
        if !self.global.verbose {
            return;
        }
        if let Some(file) = self.settings.file.clone() {
            let shown = project::named(self.invocation, session, &file.to_string_lossy());
            let _ = writeln!(self.invocation.stderr, "settings: {shown}");
        }
        let count = u32::try_from(session.sources.len()).unwrap_or(u32::MAX);
        for source in (0..count).filter_map(|id| session.sources.get(FileId(id))) {
            let shown = session.sources.shown(source.path());
            let shown = without_credentials(&shown, REDACTED).unwrap_or_else(|| shown.to_string());
            let _ = writeln!(self.invocation.stderr, "read: {}", escape(&shown));
        }
    }

    /// Reads the settings of a path, and returns their text.
    fn read_settings(&mut self, path: &Path) -> Option<String> {
        (self.settings, self.unread) = (Settings::default(), None);
        let full = native::canonical_or_same(self.invocation.cwd.join(path));
        let folder = if named::is_folder(&full) { full.clone() } else { full.parent()?.to_owned() };
        let repository = project::repository_of(&folder);
        self.is_trusted = self.global.trust || self.user.trusts(&repository);
        let file = settings::find(&full, &repository)?;
        match settings::text_of(&file, &repository) {
            Ok(text) => {
                self.settings = settings::read(&file, settings::FILE, &text, &Sources::new()).0;
                Some(text)
            }
            Err(why) => {
                self.settings.file = Some(file);
                self.unread = Some(why);
                None
            }
        }
    }

    /// Applies the settings for opening a session; options on the command line override them.
    fn apply_settings(&self, setup: &mut Setup) {
        self.apply_user(setup);
        let named = |name: &str| self.global.limit.iter().any(|text| text.starts_with(&format!("{name}=")));
        for limit in self.settings.limits.iter().filter(|limit| !named(&limit.name)) {
            limit.apply(&mut setup.limits, self.is_trusted);
        }
        if self.is_trusted {
            let wishes = &self.settings.wishes;
            setup.permissions.paths.extend(wishes.paths.iter().cloned());
            setup.permissions.hosts.extend(wishes.hosts.iter().cloned());
            setup.permissions.exec |= wishes.exec;
            setup.permissions.write |= wishes.write;
        }
    }

    /// Applies the user's own settings.
    fn apply_user(&self, setup: &mut Setup) {
        let named = |name: &str| self.global.limit.iter().any(|text| text.starts_with(&format!("{name}=")));
        for limit in self.user.limits.iter().filter(|limit| !named(&limit.name)) {
            limit.apply(&mut setup.limits, true);
        }
    }

    /// The limits without a project's settings.
    fn limits_of_user(&self) -> Limits {
        let mut setup = Setup::from_flags(Path::new("."), &self.global).unwrap_or_else(|_| Setup::of("."));
        self.apply_user(&mut setup);
        setup.limits
    }

    /// Applies the settings of a request, and reports their problems.
    fn fill_from_settings(&mut self, session: &Session, request: &mut Request, text: Option<&str>) {
        session.sink.extend(User::read(&self.invocation.env, &session.sources).1);
        let variable = self.invocation.env.get("PURLIN_ENVIRONMENT").filter(|name| !name.is_empty()).cloned();
        if request.environment.is_none() {
            request.environment = variable.or_else(|| self.settings.environment.clone());
        }
        request.chart.helm_version.clone_from(&self.settings.helm_version);
        request.policies.clone_from(&self.settings.policies);
        request.evaluator = Some(purlin_host::evaluator::ask);
        for folder in &self.settings.profiles {
            let folder = project::named(self.invocation, session, &folder.to_string_lossy());
            request.tosca.profile_paths.push(folder);
        }
        let Some(file) = self.settings.file.clone() else { return };
        let place = |pattern: &String| {
            let below = file.with_file_name(pattern);
            project::named(self.invocation, session, &below.to_string_lossy())
        };
        request.excluded = self.settings.excluded.iter().map(place).collect();
        let shown = project::named(self.invocation, session, &file.to_string_lossy());
        session.sink.extend(self.unread.as_ref().map(|why| why.diagnostic(&shown)));
        let Some(text) = text else { return };
        let (again, found) = settings::read(&file, &shown, text, &session.sources);
        let place = |path: &str| project::named(self.invocation, session, &file.with_file_name(path).to_string_lossy());
        request.own_policies = policies::of_settings(&again, &place);
        session.sink.extend(found);
        let folder = project::named(self.invocation, session, &again.folder().to_string_lossy());
        let plugin = |plugin: &settings::NamedPlugin| {
            let settings::NamedPlugin { name, command, at } = plugin.clone();
            Plugin { name, command, folder: folder.clone(), span: Some(at) }
        };
        request.plugins = again.plugins.iter().map(plugin).collect();
        if !self.is_trusted {
            session.sink.extend(settings::refused(&again, &shown, &self.limits_of_user()));
        }
    }

    /// Prints data to stdout or to a file.
    fn print(&mut self, text: &str, out: Option<&Path>) -> Exit {
        let text = &self.invocation.veil.text(text);
        match out {
            Some(path) => self.write_file(path, text.as_bytes()),
            None if self.invocation.last && pager::show(text, &self.invocation.env) => Exit::Ok,
            None => self.invocation.print(text.as_bytes()),
        }
    }

    fn write_file(&mut self, path: &Path, bytes: &[u8]) -> Exit {
        match crate::border::write_atomically(&self.invocation.cwd.join(path), bytes) {
            Ok(()) => Exit::Ok,
            Err(error) => self.io(&format!("cannot write `{}`: {error}", path.display())),
        }
    }
}

impl Context<'_, '_> {
    /// Prints an answer, with colours on a terminal.
    fn print_answer(&mut self, text: &str, answer: Option<paint::Answer>) -> Exit {
        match answer.filter(|_| self.style.colour_answers) {
            Some(answer) => self.print(&paint::painted(text, answer), None),
            None => self.print(text, None),
        }
    }
}

/// Passwords and keys that end up in a cluster must be unpredictable, and stay the same from one deploy to the next.
fn usual_seed(command: &Command) -> SeedSource {
    match command {
        Command::Build(_)
        | Command::Deploy(_)
        | Command::Test(_)
        | Command::Run(_)
        | Command::Dev(_)
        | Command::Status(_)
        | Command::Logs(_)
        | Command::Exec(_)
        | Command::Cleanup(_) => SeedSource::Kept,
        Command::Diff(DiffFlags { cluster: true, .. }) => SeedSource::Kept,
        _ => SeedSource::default(),
    }
}

pub(crate) fn run(invocation: &mut Invocation<'_>, cli: Cli) -> Exit {
    let style = Style::new(invocation, &cli.global);
    let usual_seed = usual_seed(&cli.command);
    let settings = Settings::default();
    let (user, is_trusted) = (User::of(&invocation.env).0, cli.global.trust);
    let global = cli.global;
    let unread = None;
    let mut cx = Context { invocation, global, style, settings, unread, user, is_trusted, usual_seed, prefix: "" };
    let done = match cli.command {
        Command::Check(CheckFlags { paths, target, all_envs, show_env, output, out, cluster }) => {
            check::run(&mut cx, &paths, (&target, &cluster), (all_envs, show_env), (output, out.as_deref()))
        }
        Command::Verify(VerifyFlags { paths, target, cluster, tests, output, out }) => {
            verify::run(&mut cx, &paths, (&target, &cluster), &tests, (output, out.as_deref()))
        }
        Command::Resolve(ResolveFlags { places, target, output, out, reveal }) => {
            let (path, nodes) = cx.split(&places, &target);
            resolve::resolve(&mut cx, &path, &nodes, &target, output, out.as_deref(), reveal)
        }
        Command::Render(RenderFlags { places, target, output, out, per, reveal }) => {
            let (path, nodes) = cx.split(&places, &target);
            let to = resolve::Manifests { output, out: out.as_deref(), per, reveal };
            resolve::render(&mut cx, &path, &nodes, &target, &to)
        }
        Command::Graph(GraphFlags { place, target, output, view, out }) => {
            graph::run(&mut cx, &place.path(), &target, (output, &view), out.as_deref())
        }
        Command::Explore { place, target, port, no_open } => {
            explore::run(&mut cx, &place.path(), &target, (port, !no_open))
        }
        Command::Report { place, target, out, single, diff } => {
            let asked = report::Asked { out: &out, single, revision: diff.as_deref() };
            report::run(&mut cx, &place.path(), &target, &asked)
        }
        Command::Why(WhyFlags { words, path, target, list_inputs, all_envs, blame, output }) => {
            let (path, asked) = why::asked(words, path);
            let asked = why::Asked { list_inputs, all_envs, blame, ..asked };
            why::run(&mut cx, &path, &asked, &target, output)
        }
        Command::Diff(DiffFlags {
            place,
            other,
            to_path,
            to_rev,
            to_env,
            to_profile,
            to_var,
            to_values,
            to_set,
            to_input,
            cluster,
            access,
            target,
            output,
        }) => {
            if cluster {
                let done = diff_cluster::run(&mut cx, &place.path(), &access, &target, output);
                return done.unwrap_or_else(|exit| exit);
            }
            let to_path = to_path.or(other);
            let other = diff::Other { to_path, to_rev, to_env, to_profile, to_var, to_values, to_set, to_input };
            diff::run(&mut cx, &place.path(), &other, &target, output)
        }
        Command::Eval(EvalFlags { expression, place, on, trace, target, output, reveal }) => {
            let question = purlin_model::Question { expression, on, trace };
            eval::run(&mut cx, &place.path(), &question, &target, output, reveal)
        }
        Command::Build(flags) => run::run(&mut cx, Kind::Build, &flags, AfterFlags::default()),
        Command::Deploy(flags) => run::run(&mut cx, Kind::Deploy, &flags.run, flags.after),
        Command::Test(flags) => run::run(&mut cx, Kind::Test, &flags, AfterFlags::default()),
        Command::Run(flags) => run::run(&mut cx, Kind::Run, &flags, AfterFlags::default()),
        Command::Dev(flags) => dev::run(&mut cx, &flags),
        Command::Status(flags) => status::run(&mut cx, &flags),
        Command::Logs(flags) => logs::run(&mut cx, &flags),
        Command::Exec(flags) => exec::run(&mut cx, &flags),
        Command::Cleanup(flags) => run::cleanup(&mut cx, &flags),
        Command::Fmt { paths, check, diff } => {
            let mode = match (check, diff) {
                (_, true) => fmt::Mode::Diff,
                (true, false) => fmt::Mode::Check,
                (false, false) => fmt::Mode::Write,
            };
            fmt::run(&mut cx, &paths, mode)
        }
        Command::Rename { what, new, path, dry_run } => rename::run(&mut cx, &what, &new, &path, dry_run),
        Command::Fix { path, diff } => fix::run(&mut cx, &path, diff),
        Command::Init { starter, folder } => init::run(&mut cx, starter, &folder),
        Command::Demo { folder, command } => demo::run(&mut cx, &folder, &command),
        Command::Csar { command } => csar::run(&mut cx, &command),
        Command::Explain { rule } => Ok(explain::run(&mut cx, rule.as_deref())),
        Command::Symbols { path, query, target, output } => {
            editor::symbols(&mut cx, &path, query.as_deref(), &target, output)
        }
        Command::Refs { name, path, target, output } => editor::refs(&mut cx, &name, &path, &target, output),
        Command::Complete { at, target, output } => editor::complete(&mut cx, &at, &target, output),
        Command::Hover { at, target, output } => editor::hover(&mut cx, &at, &target, output),
        Command::Definition { at, target, output } => editor::definition(&mut cx, &at, &target, output),
        Command::Lsp { .. } => lsp::run(&mut cx),
        Command::Mcp => mcp::run(&mut cx),
        Command::Schema { name, path, output } => schema::run(&mut cx, name.as_deref(), path.as_deref(), output),
        Command::Limits => Ok(limits(&mut cx)),
        Command::Completions { shell } => Ok(completions(&mut cx, shell)),
        Command::Names { kind, path } => Ok(names::run(&mut cx, kind, &path)),
        Command::Man { command } => Ok(man(&mut cx, command.as_deref())),
        Command::Version => Ok(cx.print(&format!("purlin {}\n", env!("CARGO_PKG_VERSION")), None)),
    };
    done.unwrap_or_else(|exit| exit)
}

/// The limits in force, after options and settings.
fn limits(cx: &mut Context<'_, '_>) -> Exit {
    cx.read_settings(Path::new("."));
    let setup = match Setup::from_flags(Path::new("."), &cx.global) {
        Ok(mut setup) => {
            cx.apply_settings(&mut setup);
            setup
        }
        Err(message) => return cx.usage(&message),
    };
    let mut text = String::new();
    for limit in setup.limits.list().iter().chain(purlin_syntax::limits::FIXED) {
        text.push_str(&format!("{:<20} {:>12}  {}\n", limit.name, limit.default, limit.summary));
    }
    cx.print(&text, None)
}

fn completions(cx: &mut Context<'_, '_>, shell: clap_complete::Shell) -> Exit {
    cx.print(&crate::completions::script(shell), None)
}

/// The manual page of the program, or of one of its commands.
fn man(cx: &mut Context<'_, '_>, command: Option<&str>) -> Exit {
    let all = crate::help::command();
    let wanted = match command {
        None => Some(all),
        Some(name) => all.find_subcommand(name).cloned(),
    };
    let Some(wanted) = wanted else {
        let message = format!("unknown command `{}`; `purlin -h` lists all", command.unwrap_or_default());
        return cx.usage(&message);
    };
    let mut page = Vec::new();
    let title = command.map_or_else(|| "purlin".to_owned(), |name| format!("purlin-{name}"));
    match clap_mangen::Man::new(wanted).title(title).render(&mut page) {
        Ok(()) => cx.print(&String::from_utf8_lossy(&page), None),
        Err(_) => Exit::Io,
    }
}
