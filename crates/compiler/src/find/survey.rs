//! Checks everything below a path, each project by its own dialect.
//!
//! Files are classified by their contents, so that a project at the top does not hide others beside or below it. Files
//! that no dialect recognises are not configuration and are not read.

use crate::ahead::{Branched, in_branches, round};
use crate::bases::bases_of;
use crate::compile::{detect, here, nothing_found};
use crate::dialects::DIALECTS;
use crate::everywhere::{Everywhere, everywhere};
use crate::inner::ENGINES;
use crate::judged::{judged, judged_alone, judged_documents};
use crate::loose::{holds_objects, read_objects};
use crate::outside::report_outside;
use crate::unused::{Unread, not_used};
use purlin_model::detect::{Judged, above, judge};
use purlin_model::glance::is_data;
use purlin_model::{Detection, Dialect, Glance, Kept, Manifest, Request, Resolved, Resumable, Role, Together, Variant};
use purlin_syntax::{Diagnostic, Findings, Flavor, Mark, Severity, Span};
use purlin_value::glob::Glob;
use purlin_value::ignore::Ignores;
use purlin_value::rules::FILE_NOT_MADE;
use purlin_value::tracked::Tracked;
use purlin_value::world::{Entry, FileKind};
use purlin_value::{EcoString, Session, Value, path};
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

/// A project that was checked.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The folder or file in the form a user would name, relative to the working folder.
    pub path: String,
    /// The project's name.
    pub name: EcoString,
    /// Label of the project: its path, or its name or file if it is in this very folder.
    pub label: String,
    /// Noun for the project.
    pub noun: &'static str,
    /// Noun for its nodes.
    pub unit: &'static str,
    /// Number of nodes in its graph.
    pub nodes: usize,
    /// Number of its errors.
    pub errors: usize,
    /// Number of projects inside it that were checked with it: charts in `charts/`.
    pub contained: usize,
    /// The label of the project that it is checked with, if that is another one.
    pub part_of: Option<String>,
    /// The variants that were checked; empty if the project has only one form, or one was requested.
    pub variants: Vec<EcoString>,
    /// Noun for a variant: `environment`, `profile`.
    pub variant_noun: &'static str,
    /// Variants that were checked only in part, because of missing permissions.
    pub incomplete: Vec<EcoString>,
}

/// Folders that hold no configuration of the user's.
const SKIPPED: &[&str] = &["node_modules"];

/// Folders of other people's code, if one of these files is in them.
const VENDORED: (&str, &[&str]) = ("vendor", &["modules.txt", "autoload.php", "bundle", "cache"]);

/// Folders of build output, if one of these files is beside them.
const BUILT: (&str, &[&str]) = ("target", &["Cargo.toml", "pom.xml", "build.sbt"]);

/// Hidden folders with output or downloads of tools. Other hidden folders are the user's.
const OF_TOOLS: &[&str] = &[
    ".bundle",
    ".cache",
    ".cargo",
    ".devbox",
    ".direnv",
    ".docker",
    ".eggs",
    ".garden",
    ".git",
    ".gradle",
    ".helm",
    ".hg",
    ".idea",
    ".kube",
    ".local",
    ".m2",
    ".minikube",
    ".mypy_cache",
    ".next",
    ".nox",
    ".npm",
    ".nuxt",
    ".nvm",
    ".pnpm-store",
    ".purlin",
    ".pytest_cache",
    ".ruff_cache",
    ".rustup",
    ".svn",
    ".terraform",
    ".terragrunt-cache",
    ".tox",
    ".venv",
    ".vscode",
    ".yarn",
];

/// Folders of a chart whose files are the chart's: templates are not YAML, and charts inside are its dependencies.
const OF_A_CHART: &[&str] = &["templates", "charts", "crds"];

/// A file that is, or may be, a project.
#[derive(Clone)]
pub struct Claim {
    file: String,
    judged: Judged,
    /// Whether another project found with it builds on it.
    is_part: bool,
}

impl Claim {
    fn new(file: String, judged: Judged) -> Self {
        Claim { file, judged, is_part: false }
    }

    /// The file, from the world's root.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The dialect it belongs to.
    pub fn dialect(&self) -> &'static Dialect {
        self.judged.dialect
    }

    /// Whether it is checked with the project that includes it, if any.
    pub fn is_shared(&self) -> bool {
        self.judged.sign.is_shared
    }

    /// Reads and resolves the project. Problems go to the session's sink.
    pub fn resolve(&self, session: &Session, request: &Request) -> Option<Resolved> {
        (self.judged.dialect.resolve)(session, &self.asked(request))
    }

    /// Checks the Kubernetes objects of the resolved project, as a check does, and adds to its problems.
    pub fn judge(&self, session: &Session, request: &Request, resolved: &Resolved, found: &mut Findings) {
        let is_partial = found.has_errors();
        found.extend(judged(session, &self.asked(request), self, resolved, is_partial));
    }

    /// The same, keeping data to resolve the project again after a change.
    pub fn resolve_and_keep(&self, session: &Session, request: &Request) -> Resumable {
        match self.judged.dialect.resuming {
            Some(resuming) => (resuming.start)(session, &self.asked(request)),
            None => Resumable { resolved: self.resolve(session, request), kept: None },
        }
    }

    /// Resolves the project again after the content of files has changed, in a session that continues the one before.
    /// `None` if all of it must be resolved, in a session of its own.
    pub fn resolve_again(
        &self,
        session: &Session,
        request: &Request,
        kept: Kept,
        changed: &[String],
    ) -> Option<Resumable> {
        (self.judged.dialect.resuming?.again)(session, &self.asked(request), kept, changed)
    }

    /// Resolves the project in several variants, over the files and in the table of origins of a session. Each comes
    /// with its problems.
    pub fn resolve_all(&self, session: &Session, requests: &[&Request]) -> Vec<(Option<Resolved>, Vec<Diagnostic>)> {
        let mut all = Vec::with_capacity(requests.len());
        self.resolve_each(session, requests, &mut |resolved, problems| all.push((resolved, problems)));
        all
    }

    /// The same, with a callback for each result: callers that keep only a part of it need less memory.
    pub(crate) fn resolve_each(
        &self,
        session: &Session,
        requests: &[&Request],
        done: &mut dyn FnMut(Option<Resolved>, Vec<Diagnostic>),
    ) {
        let twins = session.twins(requests.len()).into_iter();
        let runs: Vec<(Session, Request)> =
            twins.zip(requests).map(|(twin, request)| (twin, self.asked(request))).collect();
        let dialect = self.judged.dialect;
        let mut sessions = runs.iter().map(|(own, _)| own);
        let mut done = |resolved: Option<Resolved>| {
            let problems = sessions.next().map(|own| own.sink.hand_on()).unwrap_or_default();
            done(resolved, problems);
        };
        match dialect.variants.resolve {
            Some(resolve) => resolve(&runs, &mut done),
            None => runs.iter().for_each(|(session, request)| done((dialect.resolve)(session, request))),
        }
    }

    fn asked(&self, request: &Request) -> Request {
        let (path, found) = (self.file.clone(), Some(self.file.clone()));
        Request { path, found, engines: ENGINES, is_part: self.is_part, ..request.clone() }
    }

    /// The ways in which the project can be resolved, as far as it declares any.
    pub(crate) fn variants(&self, session: &Session, request: &Request) -> Vec<Variant> {
        (self.judged.dialect.variants.list)(session, &self.asked(request))
    }

    /// The folder if the file's name adds no information, otherwise the file.
    pub(crate) fn shown_path(&self) -> String {
        shown_path(&self.file, self.judged.dialect)
    }

    /// Whether it is a library for others.
    fn is_library(&self) -> bool {
        self.judged.sign.role == Role::Part && self.judged.sign.is_shared
    }

    /// Whether it is listed even if another project includes it.
    fn is_listed(&self) -> bool {
        self.judged.sign.role == Role::Project && self.judged.dialect.is_listed
    }

    /// Whether its file holds several documents of which another project may include some.
    fn has_several_parts(&self, session: &Session) -> bool {
        let text = || session.load_text(&self.file, &self.file);
        self.judged.dialect.name == "skaffold" && text().is_ok_and(|text| text.source.text().contains("\n---"))
    }

    /// Whether both are one project: in some dialects a folder is one project, whatever its files' names.
    fn is_same(&self, other: &Claim) -> bool {
        let dialect = self.judged.dialect;
        let one_per_folder = dialect.reaches_below && dialect.name == other.judged.dialect.name;
        self.file == other.file || (one_per_folder && path::parent(&self.file) == path::parent(&other.file))
    }

    /// Projects that include others come first: the files they read need not be checked again.
    fn order(&self) -> (bool, usize, usize, &str) {
        let rank = RANKS.iter().position(|name| *name == self.judged.dialect.name).unwrap_or(RANKS.len());
        (self.judged.sign.role == Role::Part, rank, self.file.matches('/').count(), &self.file)
    }
}

/// Ensembles take in service templates.
const RANKS: &[&str] = &["garden", "skaffold", "charts", "unfurl", "tosca", "kustomize"];

fn shown_path(file: &str, dialect: &Dialect) -> String {
    if (dialect.is_usual)(path::file_name(file)) { path::parent(file).to_owned() } else { file.to_owned() }
}

/// Projects and other files below a folder.
#[derive(Clone, Default)]
pub struct Found {
    /// Projects, and possible projects.
    pub claims: Vec<Claim>,
    /// Projects that other projects may take in; they count by themselves only if none does.
    yielding: Vec<Claim>,
    /// Files that belong to a project further up, with their dialects.
    pub(crate) members: Vec<(String, &'static Dialect)>,
    /// Files and folders with only Kubernetes objects, with no project nearby.
    objects: Vec<String>,
    /// Files with other documents, named by the user for policies.
    documents: Vec<String>,
    /// Excluded folders and files that the search came by.
    excluded: Vec<String>,
}

impl Found {
    /// The projects: those that yield count if there are no others.
    pub(crate) fn projects(&self) -> &[Claim] {
        if self.claims.is_empty() { &self.yielding } else { &self.claims }
    }
}

/// Result of checking all projects at some paths.
#[derive(Default)]
pub struct Surveyed {
    /// All projects, by path.
    pub projects: Vec<Checked>,
    /// Excluded folders and files that were not looked at.
    pub excluded: Vec<String>,
}

/// Checks what every path means, each project in all its variants unless the request names one. Options of the request
/// hold for every project. Problems are in the session's sink.
pub fn survey_declared(session: &Session, request: &Request, paths: &[String]) -> Surveyed {
    survey_with(session, request, paths, check_declared)
}

/// Checks the project at every path as requested, in one variant; options of the request apply to every project.
/// Problems are in the session's sink.
pub fn survey(session: &Session, request: &Request, paths: &[String]) -> Surveyed {
    survey_with(session, request, paths, check)
}

/// The same with each project in all its variants: environments, profiles, values files.
pub fn survey_variants(session: &Session, request: &Request, paths: &[String]) -> Surveyed {
    survey_with(session, request, paths, check_variants)
}

/// Judges documents that belong to no project, and counts them.
type JudgeAlone = fn(&Session, &Request, &[Manifest]) -> (Vec<Diagnostic>, usize);

/// Checks one project.
type Check = fn(&Session, &Request, &Claim) -> Outcome;

/// Result of checking a project.
struct Outcome {
    checked: Checked,
    /// The projects that it took in.
    inner: Vec<String>,
    /// Folders of charts whose dependencies are fetched on deployment.
    fetched_later: Vec<String>,
    /// Files beside its own that it does not read.
    unread: Vec<Unread>,
}

fn survey_with(session: &Session, request: &Request, paths: &[String], check: Check) -> Surveyed {
    let found = search(session, request, paths);
    let (libraries, projects): (Vec<&Claim>, Vec<&Claim>) = found.claims.iter().partition(|claim| claim.is_library());
    let mut survey = Survey {
        session,
        request,
        check,
        is_single: found.claims.len() < 2 || session.names.is_on(),
        checked: Vec::new(),
        taken: HashMap::new(),
        fetched_later: HashSet::new(),
        unread: Vec::new(),
    };
    survey.prepare(&found.claims);
    survey.one_by_one(&projects);
    let others = beside(session, &found);
    survey.is_single &= others.is_empty();
    survey.one_by_one(&others.iter().collect::<Vec<_>>());
    // Projects have taken in some of the libraries.
    let alone = survey.together(&libraries);
    survey.one_by_one(&alone);
    found.objects.iter().for_each(|place| survey.objects(place, "manifests", judged_alone));
    found.documents.iter().for_each(|place| survey.objects(place, "documents", judged_documents));
    // A single file says nothing about files that others read.
    let is_folder = |path: &String| session.world.stat(path).is_ok_and(|stat| stat.kind == FileKind::Folder);
    if paths.iter().all(is_folder) {
        let unread = survey.unread.iter().filter(|unread| !session.has_read(&unread.file));
        let unread: Vec<&Unread> = unread.collect();
        session.sink.extend(unread.into_iter().map(|unread| unread.finding(session)));
    }
    let outside = found.outside(&|file| session.has_read(file));
    outside.iter().for_each(|(dialect, files)| survey.apart(dialect, files));
    let mut checked = survey.checked;
    // A repository with nothing else is a library for others.
    if !found.claims.is_empty() {
        report_outside(session, &outside);
    }
    found.report_submodules(session);
    checked.sort_by(|a, b| (&a.path, a.noun).cmp(&(&b.path, b.noun)));
    let excluded = found.excluded.iter().map(|place| here(session, place)).collect();
    Surveyed { projects: checked, excluded }
}

/// Arguments of Kustomize that lift its restrictions.
const ARGUMENTS: &[&str] = &["load-restrictor", "load_restrictor", "enable-helm", "enable-alpha-plugins"];

/// Kustomizations that no project has built: those beside charts, services and ensembles, and below a Garden project or
/// a Skaffold configuration those that it has not read. To be asked when the projects are checked.
fn beside(session: &Session, found: &Found) -> Vec<Claim> {
    let composing: Vec<&Claim> = found.claims.iter().filter(|claim| claim.judged.dialect.composes).collect();
    let may_be_composed = |claim: &Claim| composing.iter().any(|own| is_below(&claim.file, path::parent(&own.file)));
    // With arguments of its own a configuration builds kustomizations that Kustomize would otherwise reject.
    let has_arguments = |claim: &&&Claim| {
        let text = session.load_text(&claim.file, &claim.file).ok();
        text.is_some_and(|text| ARGUMENTS.iter().any(|argument| text.source.text().contains(argument)))
    };
    let skaffold = composing.iter().filter(|claim| claim.judged.dialect.name == "skaffold");
    let with_arguments: Vec<&str> = skaffold.filter(has_arguments).map(|claim| path::parent(&claim.file)).collect();
    let is_built = |claim: &Claim| {
        let is_special = || with_arguments.iter().any(|folder| is_below(&claim.file, folder));
        may_be_composed(claim) && (session.has_read(&claim.file) || is_special())
    };
    let known: HashSet<&str> = found.claims.iter().map(|claim| claim.file.as_str()).collect();
    let others = found.yielding.iter().filter(|claim| !known.contains(claim.file.as_str()) && !is_built(claim));
    let mut claims: Vec<Claim> = others.cloned().collect();
    claims.sort_by(|a, b| a.file.cmp(&b.file));
    claims.dedup_by(|a, b| a.file == b.file);
    claims
}

/// Number of bytes of a file in which the files that it includes are named.
const NAMING: usize = 1 << 16;

/// The beginnings of files that may include others.
#[derive(Default)]
struct Mentioned {
    texts: Vec<String>,
}

impl Mentioned {
    /// Adds the file of a project that may include others.
    fn add(&mut self, session: &Session, claim: &Claim) {
        if claim.is_shared() {
            let head = session.world.head(&claim.file, NAMING);
            self.texts.extend(head.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
        }
    }

    /// Whether one of them has the name of a project's file, or of its folder if the file's name says nothing. One that
    /// is included without being named is found out later, and has only been checked in vain.
    fn mentions(&self, claim: &Claim) -> bool {
        let shown = claim.shown_path();
        let name = path::file_name(&shown);
        self.texts.iter().any(|text| text.contains(name))
    }
}

/// A project that was checked ahead.
struct Ahead {
    done: Branched<Outcome>,
    /// Whether its dependencies were then known to be fetched on deployment.
    is_fetched_later: bool,
}

/// A survey under way.
struct Survey<'a> {
    session: &'a Session,
    request: &'a Request,
    check: Check,
    /// Whether there is only one project: it is checked in the run itself.
    is_single: bool,
    checked: Vec<Checked>,
    /// Included projects, with the labels of those that include them.
    taken: HashMap<String, String>,
    /// Folders of charts whose dependencies are fetched when a project is deployed.
    fetched_later: HashSet<String>,
    /// Files that the projects so far do not read, beside files of the same kind that they read.
    unread: Vec<Unread>,
}

impl Survey<'_> {
    /// Checks objects that belong to no project, as `kubectl apply` takes them.
    fn objects(&mut self, place: &str, noun: &'static str, judge: JudgeAlone) {
        let ((problems, nodes), mut found) = self.session.beside(|own| {
            let mut manifests = read_objects(own, place);
            // An empty file is a document, too.
            if manifests.is_empty() && noun == "documents" {
                manifests.push(Manifest::new(place, Value::null()));
            }
            judge(own, self.request, &manifests)
        });
        found.extend(problems);
        let path = here(self.session, place);
        self.checked.push(Checked {
            label: path.clone(),
            path,
            name: EcoString::new(),
            noun,
            unit: if noun == "documents" { "document" } else { "object" },
            nodes,
            errors: found.errors(),
            contained: 0,
            part_of: None,
            variants: Vec::new(),
            variant_noun: "environment",
            incomplete: Vec::new(),
        });
        self.session.sink.extend(found);
    }

    /// Checks files that belong to no project, each by itself.
    fn apart(&mut self, dialect: &'static Dialect, files: &[&str]) {
        let Some(check) = dialect.apart else { return };
        let (nodes, found) = self.session.beside(|own| check(own, files));
        let errors = found.errors();
        self.session.sink.extend(found);
        let path = match files {
            [file] => here(self.session, file),
            _ => here(self.session, &self.request.path),
        };
        self.checked.push(Checked {
            label: if path == "." { format!("{} files", files.len()) } else { path.clone() },
            path,
            name: EcoString::new(),
            noun: dialect.noun,
            unit: "configuration",
            nodes,
            errors,
            contained: 0,
            part_of: None,
            variants: Vec::new(),
            variant_noun: dialect.variants.noun,
            incomplete: Vec::new(),
        });
    }

    /// The label of the project that has taken this one in.
    fn taker(&self, claim: &Claim) -> Option<&String> {
        self.taken.get(&claim.file).or_else(|| self.taken.get(&path::normalize(path::parent(&claim.file))))
    }

    fn is_taken(&self, claim: &Claim) -> bool {
        (claim.judged.sign.is_shared && self.session.has_read(&claim.file)) || self.taker(claim).is_some()
    }

    fn check(&self, claim: &Claim) -> Outcome {
        self.check_in(self.session, claim, self.is_fetched_later(claim))
    }

    /// Checks a project by itself: its result does not depend on projects checked before.
    fn check_apart(&self, claim: &Claim) -> Outcome {
        let branch = self.session.branch(1);
        let result = self.check_in(&branch, claim, self.is_fetched_later(claim));
        // A project that exceeds the memory beside all others is checked in the run, which reports it.
        self.take_over(Branched { branch, result }).unwrap_or_else(|| self.check(claim))
    }

    fn check_in(&self, session: &Session, claim: &Claim, is_fetched_later: bool) -> Outcome {
        if !is_fetched_later {
            return (self.check)(session, self.request, claim);
        }
        let mut request = self.request.clone();
        request.chart.is_fetched_later = true;
        (self.check)(session, &request, claim)
    }

    fn is_fetched_later(&self, claim: &Claim) -> bool {
        self.fetched_later.contains(&path::normalize(path::parent(&claim.file)))
    }

    /// Checks the next projects on all threads, as far as it is known now that they are checked at all.
    fn look_ahead(&self, claims: &[&Claim], from: usize) -> HashMap<usize, Ahead> {
        if round(self.session) < 2 {
            return HashMap::new();
        }
        let first = claims.get(from).map(|claim| claim.dialect().name);
        let next = claims.iter().enumerate().skip(from).take_while(|(_, claim)| Some(claim.dialect().name) == first);
        // A project that one of the next may include is not checked in vain.
        let mut before = Mentioned::default();
        let next = next.filter(|(at, claim)| {
            let is_wanted = *at == from || !(self.is_taken(claim) || (claim.is_shared() && before.mentions(claim)));
            if is_wanted {
                before.add(self.session, claim);
            }
            is_wanted
        });
        let next: Vec<(usize, &Claim, bool)> =
            next.map(|(at, claim)| (at, *claim, self.is_fetched_later(claim))).take(round(self.session)).collect();
        if next.len() < 2 {
            return HashMap::new();
        }
        let check = |branch: &Session, (_, claim, is_fetched_later): &(usize, &Claim, bool)| {
            self.check_in(branch, claim, *is_fetched_later)
        };
        let done = in_branches(self.session, &next, &check);
        let done = next
            .into_iter()
            .zip(done)
            .filter_map(|((at, _, is_fetched_later), done)| Some((at, Ahead { done: done?, is_fetched_later })));
        done.collect()
    }

    /// The result of a project that was checked in a branch; `None` if the run has no room for the files it has read.
    fn take_over(&self, done: Branched<Outcome>) -> Option<Outcome> {
        let problems = done.branch.sink.hand_on();
        done.branch.sink.extend(without_ways(self.session, problems));
        self.session.join(&done.branch).then_some(done.result)
    }

    /// The result of a project: the one computed ahead, unless more is known now or there was no room for it.
    fn outcome(&self, claim: &Claim, ahead: Option<Ahead>) -> Outcome {
        if self.is_single {
            return self.check(claim);
        }
        let is_fetched_later = self.is_fetched_later(claim);
        let ahead = ahead.filter(|ahead| ahead.is_fetched_later == is_fetched_later);
        ahead.and_then(|ahead| self.take_over(ahead.done)).unwrap_or_else(|| self.check_apart(claim))
    }

    /// Has dialects with several projects read what these have in common, while there are no branches.
    fn prepare(&self, claims: &[Claim]) {
        if self.is_single {
            return;
        }
        for dialect in DIALECTS {
            let own = claims.iter().filter(|claim| claim.dialect().name == dialect.name);
            let files: Vec<&str> = own.map(Claim::file).collect();
            if let Some(prepare) = dialect.prepare.filter(|_| files.len() > 1) {
                prepare(self.session, &files);
            }
        }
    }

    fn one_by_one(&mut self, claims: &[&Claim]) {
        let is_shared = |claim: &&&Claim| claim.judged.sign.is_shared && claim.is_listed();
        let shared: HashSet<&str> = claims.iter().filter(is_shared).map(|claim| claim.file()).collect();
        let mut ahead = HashMap::new();
        for (at, claim) in claims.iter().enumerate() {
            let mut done = ahead.remove(&at);
            if self.is_taken(claim) {
                let taker = self.taker(claim).cloned().filter(|_| claim.is_listed());
                if taker.is_some() && claim.has_several_parts(self.session) {
                    // The other project decides which of them it includes; their problems are not reported twice.
                    self.check(claim);
                }
                self.checked.extend(taker.map(|taker| within(self.session, claim, taker)));
                continue;
            }
            if done.is_none() && ahead.is_empty() && !self.is_single {
                ahead = self.look_ahead(claims, at);
                done = ahead.remove(&at);
            }
            let (mark, known) = (self.session.sources.mark(), self.session.sink.len());
            let Outcome { checked: done, inner, fetched_later, unread } = self.outcome(claim, done);
            self.unread.extend(unread);
            self.taken.extend(inner.into_iter().map(|inner| (inner, done.label.clone())));
            self.fetched_later.extend(fetched_later);
            for read in self.session.sources.since(&mark) {
                if shared.contains(read.path()) && read.path() != claim.file {
                    self.taken.insert(read.path().to_owned(), done.label.clone());
                }
            }
            self.checked.push(done);
            // Names of one project do not concern another.
            self.session.sink.belong_to(u32::try_from(self.checked.len()).unwrap_or(u32::MAX), known);
        }
    }

    /// Checks the libraries of each dialect in one go; those that cannot be are given back.
    fn together<'c>(&mut self, libraries: &[&'c Claim]) -> Vec<&'c Claim> {
        let mut alone = Vec::new();
        for dialect in DIALECTS {
            let own = libraries.iter().copied().filter(|claim| claim.dialect().name == dialect.name);
            let own: Vec<&Claim> = own.filter(|claim| !self.is_taken(claim)).collect();
            let files: Vec<&str> = own.iter().map(|claim| claim.file()).collect();
            let Some(check) = dialect.together.filter(|_| !own.is_empty()) else {
                alone.extend(own);
                continue;
            };
            for (claim, found) in own.iter().zip(check(self.session, self.request, &files)) {
                match found {
                    Together::Alone => alone.push(*claim),
                    Together::TakenIn => {}
                    Together::Checked(name, errors) => {
                        self.checked.push(described(self.session, claim, name, 0, errors))
                    }
                }
            }
        }
        alone
    }
}

/// The first line of a file.
pub(crate) fn first_line(session: &Session, file: &str) -> Option<Span> {
    let text = session.load_text(file, file).ok()?;
    let length = text.source.text().lines().next().map_or(0, str::len);
    Some(text.source.span(0, length.max(1)))
}

pub(crate) fn is_below(file: &str, folder: &str) -> bool {
    let folder = path::normalize(folder);
    folder == "." || file.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
}

/// Projects at the given paths, in the order in which they are checked: those that include others come first.
pub fn search(session: &Session, request: &Request, paths: &[String]) -> Found {
    let mut all = Found::default();
    for path in paths {
        let request = Request { path: path.clone(), ..request.clone() };
        let found = found_at(session, &request);
        all.claims.extend(found.claims);
        all.yielding.extend(found.yielding);
        all.members.extend(found.members);
        all.objects.extend(found.objects);
        all.documents.extend(found.documents);
        all.excluded.extend(found.excluded);
    }
    all.excluded.sort();
    all.excluded.dedup();
    all.claims.sort_by(|a, b| a.order().cmp(&b.order()));
    all.claims.dedup_by(|a, b| a.is_same(b));
    mark_parts(session, &mut all.claims);
    mark_parts(session, &mut all.yielding);
    all
}

/// Marks the kustomizations that others among them build on.
fn mark_parts(session: &Session, claims: &mut [Claim]) {
    let files = claims.iter().filter(|claim| claim.dialect().name == purlin_kustomize::DIALECT.name);
    let bases = bases_of(session, files.map(Claim::file));
    let is_base = |file: &str| bases.contains(&path::normalize(path::parent(file)));
    claims.iter_mut().for_each(|claim| claim.is_part = is_base(&claim.file));
}

/// Checks one project. It has a sink of its own, because some checks are only made if there are no errors so far.
fn check(session: &Session, request: &Request, claim: &Claim) -> Outcome {
    let own = session.sibling();
    let mark = session.sources.mark();
    let (resolved, mut found) = own.sink.apart(|| claim.resolve(&own, request));
    let declared = resolved.iter().flat_map(|resolved| &resolved.declared);
    // A declaration unused by one of several variants may be used by another.
    if declared.clone().any(|declared| !declared.is_used)
        && !found.has_errors()
        && claim.variants(session, request).is_empty()
    {
        let unused = not_used(&found, declared);
        found.extend(unused);
    }
    if let Some(resolved) = &resolved {
        claim.judge(&own, request, resolved, &mut found);
    }
    soften(&mut found);
    let checked = checked(session, claim, resolved.as_ref(), found.errors());
    hand_on(session, &own, claim, &mark, found);
    let (inner, fetched_later) = resolved.map(|resolved| (resolved.inner, resolved.fetched_later)).unwrap_or_default();
    Outcome { checked, inner, fetched_later, unread: Vec::new() }
}

/// A clone lacks the files that git ignores, which is not an error of the project.
fn soften(found: &mut Findings) {
    let not_made = found.iter_mut().filter(|problem| problem.rule == &FILE_NOT_MADE);
    not_made.for_each(|problem| problem.severity = Severity::Warning);
}

/// The same in all variants of the project, unless the request names one.
fn check_declared(session: &Session, request: &Request, claim: &Claim) -> Outcome {
    let check = if (claim.judged.dialect.variants.is_chosen)(request) { check } else { check_variants };
    check(session, request, claim)
}

/// The same in all variants of the project.
fn check_variants(session: &Session, request: &Request, claim: &Claim) -> Outcome {
    let own = session.sibling();
    let mark = session.sources.mark();
    let (Everywhere { names, incomplete, unread, sides }, mut found) =
        own.sink.apart(|| everywhere(&own, request, claim));
    soften(&mut found);
    let first = sides.first();
    let (name, nodes) = first.map(|side| (side.project.clone(), side.nodes)).unwrap_or_default();
    let mut checked = described(session, claim, name, nodes, found.errors());
    checked.contained = first.map_or(0, |side| side.contained);
    // For a project in one form, its problems show what is missing.
    if names.len() > 1 {
        (checked.variants, checked.incomplete) = (names, incomplete);
    }
    hand_on(session, &own, claim, &mark, found);
    let mut outcome = Outcome { checked, inner: Vec::new(), fetched_later: Vec::new(), unread };
    for side in sides {
        outcome.inner.extend(side.inner);
        outcome.fetched_later.extend(side.fetched_later);
    }
    outcome
}

/// Hands the problems of one project on to the session of all.
fn hand_on(session: &Session, own: &Session, claim: &Claim, mark: &Mark, found: Findings) {
    let problems = without_ways(session, found.into_vec());
    // A chart registers the texts of everything inside it, which other charts have copies of.
    if claim.judged.dialect.name == "charts" {
        own.release_since(mark, &problems);
    }
    session.sink.extend(problems);
}

/// Problems beyond those that are shown: the ways that led to them would only keep texts in memory.
fn without_ways(session: &Session, mut problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    if session.sink.len() as u64 > session.limits.diagnostics {
        problems.iter_mut().for_each(|problem| problem.trace.clear());
    }
    problems
}

fn checked(session: &Session, claim: &Claim, resolved: Option<&Resolved>, errors: usize) -> Checked {
    let name = resolved.map(|resolved| resolved.project.clone()).unwrap_or_default();
    let nodes = resolved.map_or(0, |resolved| resolved.nodes.len());
    let contained = resolved.map_or(0, |resolved| resolved.contained);
    Checked { contained, ..described(session, claim, name, nodes, errors) }
}

fn described(session: &Session, claim: &Claim, name: EcoString, nodes: usize, errors: usize) -> Checked {
    let dialect = claim.judged.dialect;
    let path = here(session, &claim.shown_path());
    let label = match path.as_str() {
        "." if dialect.has_name && !name.is_empty() => name.to_string(),
        "." => path::file_name(&claim.file).to_owned(),
        path => path.to_owned(),
    };
    Checked {
        path,
        name,
        label,
        noun: dialect.noun,
        unit: dialect.unit,
        nodes,
        errors,
        contained: 0,
        part_of: None,
        variants: Vec::new(),
        variant_noun: dialect.variants.noun,
        incomplete: Vec::new(),
    }
}

/// A project that was checked with another one.
fn within(session: &Session, claim: &Claim, taker: String) -> Checked {
    Checked { part_of: Some(taker), ..described(session, claim, EcoString::new(), 0, 0) }
}

/// Projects at a path: all below a folder, or the one of a file.
fn found_at(session: &Session, request: &Request) -> Found {
    let is_folder = session.world.stat(&request.path).is_ok_and(|stat| stat.kind == FileKind::Folder);
    if is_folder && request.file.is_none() {
        let mut found = find(session, request, &request.path);
        let outer = above(session, &path::normalize(&request.path), &outside_of(&found));
        found.claims.extend(outer.and_then(|(file, _)| claim(session, file)));
        if found.claims.is_empty() {
            found.claims = std::mem::take(&mut found.yielding);
        }
        if !found.claims.is_empty() {
            return found;
        }
        if found.projects().is_empty() && found.members.iter().any(|(_, dialect)| dialect.apart.is_some()) {
            return Found { members: found.members, ..Found::default() };
        }
    }
    match detect(session, request) {
        Detection::Project(file, dialect) => {
            let judged = judge(&Glance::named(session, &file), &[dialect]);
            Found { claims: judged.map(|judged| Claim::new(file, judged)).into_iter().collect(), ..Found::default() }
        }
        Detection::Stray(dialect) if dialect.apart.is_some() => {
            let file = path::normalize(request.file.as_ref().unwrap_or(&request.path));
            Found { members: vec![(file, dialect)], ..Found::default() }
        }
        other => {
            let is_free = matches!(other, Detection::Nothing) && request.file.is_none();
            if let Some(place) = Some(&request.path).filter(|place| is_free && holds_objects(session, place)) {
                let place = path::normalize(place);
                return Found { objects: vec![place], ..Found::default() };
            }
            // Policies judge any data that the user names.
            if is_free && !is_folder && !request.own_policies.is_empty() && is_data(&request.path) {
                return Found { documents: vec![path::normalize(&request.path)], ..Found::default() };
            }
            if is_folder || !reports_syntax(session, request) {
                session.sink.push(nothing_found(session, request, &other));
            }
            Found::default()
        }
    }
}

/// The dialects whose project may be further up: all if there is no file here, otherwise those of files without a
/// project.
fn outside_of(found: &Found) -> Vec<&'static Dialect> {
    if found.claims.is_empty() {
        return DIALECTS.to_vec();
    }
    let has = |dialect: &Dialect| found.claims.iter().any(|claim| claim.judged.dialect.name == dialect.name);
    let mut missing: Vec<&'static Dialect> = Vec::new();
    for (_, dialect) in &found.members {
        if !has(dialect) && !missing.iter().any(|known| known.name == dialect.name) {
            missing.push(dialect);
        }
    }
    missing
}

fn claim(session: &Session, file: String) -> Option<Claim> {
    let judged = judge(&Glance::found(session, &file), DIALECTS)?;
    Some(Claim::new(file, judged))
}

/// A named file that is not recognised may be broken; then its syntax errors are the problem.
fn reports_syntax(session: &Session, request: &Request) -> bool {
    let file = request.file.as_ref().unwrap_or(&request.path);
    if !is_data(path::file_name(file)) {
        return false;
    }
    let is_json = file.to_ascii_lowercase().ends_with(".json");
    let before = session.sink.len();
    let read = if is_json { session.read_json(file) } else { session.read_yaml(file, Flavor::Core) };
    if let Err(problem) = read {
        session.sink.push(problem);
    }
    session.sink.len() > before
}

/// All files below a folder that declare their format. Links are not followed; folders of tools are left out, and in a
/// git repository those that `.gitignore` names and git does not track. What the request excludes is left out below
/// `start`; `start` itself was asked for by name.
pub(crate) fn find(session: &Session, request: &Request, start: &str) -> Found {
    let mut found = Found::default();
    let start = path::normalize(start);
    let excluded: Vec<Glob> = request.excluded.iter().map(|pattern| Glob::new(pattern)).collect();
    let is_excluded = |place: &str| excluded.iter().any(|pattern| pattern.covers(place));
    let is_within_excluded = is_excluded(&start);
    // All files in an archive of a repository were tracked.
    let in_git = session.world.exists(".git");
    let above = if in_git { Ignores::above(&*session.world, &start) } else { Ignores::default() };
    let mut folders = vec![(start.clone(), above)];
    let tracked = OnceCell::new();
    let is_tracked = |place: &str| tracked.get_or_init(|| Tracked::of(&*session.world)).holds(place);
    while let Some((folder, inherited)) = folders.pop() {
        let entries = match session.world.list(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                session.report_world(&error, &folder, None);
                continue;
            }
        };
        let ignore_files: &[&str] = if in_git { &[".gitignore"] } else { &[] };
        let ignores = inherited.enter(&*session.world, &folder, &entries, ignore_files);
        let is_chart = entries.iter().any(|entry| entry.name == "Chart.yaml");
        for entry in &entries {
            let place = path::join(&folder, &entry.name);
            let is_folder = entry.kind == FileKind::Folder;
            if is_folder && (is_skipped(entry, is_chart) || is_foreign(session, &place, &entries)) {
                continue;
            }
            let is_usual = || DIALECTS.iter().any(|dialect| (dialect.is_usual)(&entry.name));
            let is_archive = || entry.name.to_ascii_lowercase().ends_with(".csar");
            if !is_folder && !is_data(&entry.name) && !is_usual() && !is_archive() {
                continue;
            }
            if ignores.hides(&place, is_folder) && !is_tracked(&place) {
                continue;
            }
            if !is_within_excluded && is_excluded(&place) {
                found.excluded.push(place);
                continue;
            }
            if is_folder {
                folders.push((place, ignores.clone()));
                continue;
            }
            let Some(judged) = judge(&Glance::found(session, &place), DIALECTS) else { continue };
            match judged.sign.role {
                Role::Project if judged.dialect.yields => found.yielding.push(Claim::new(place, judged)),
                Role::Project | Role::Part => found.claims.push(Claim::new(place, judged)),
                Role::Member => found.members.push((place, judged.dialect)),
                Role::Pointer | Role::Named => {}
            }
        }
    }
    found.claims.sort_by(|a, b| a.file.cmp(&b.file));
    found.yielding.sort_by(|a, b| a.file.cmp(&b.file));
    found
}

/// Whether a folder holds downloads or output of a tool; `beside` are the entries of the folder it is in.
fn is_foreign(session: &Session, folder: &str, beside: &[Entry]) -> bool {
    let has = |entries: &[Entry], names: &[&str]| entries.iter().any(|entry| names.contains(&entry.name.as_str()));
    match path::file_name(folder) {
        name if name == VENDORED.0 => session.world.list(folder).is_ok_and(|entries| has(&entries, VENDORED.1)),
        name => name == BUILT.0 && has(beside, BUILT.1),
    }
}

fn is_skipped(folder: &Entry, in_chart: bool) -> bool {
    let name = folder.name.as_str();
    OF_TOOLS.contains(&name) || SKIPPED.contains(&name) || (in_chart && OF_A_CHART.contains(&name))
}
