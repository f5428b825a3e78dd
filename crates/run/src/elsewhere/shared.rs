//! A server that speaks the Remote Execution API, as a place for requests.

use super::input::{Hashes, Input, gather};
use super::layout::lay_out;
use super::{OUT, WORK, arguments, environment, outputs, secret_in};
use crate::action::{Artifact, Baggage, Stay, Travel};
use crate::local::process::{Ended, Stream};
use crate::local::stage::{Fetched, keep_artifacts};
use crate::outputs::{self as read, Outputs};
use crate::request::{Execution, NoOutcome, Observer, Outcome, Place, Progress, Request};
use crate::stop::{Level, Stop};
use crate::store::Store;
use crate::store::made::Made;
use purlin_remote::client::Client;
use purlin_remote::digest::Digest;
use purlin_remote::job::{Done, End, Job, Packed, Watch};
use purlin_remote::message::Stage;
use purlin_remote::settings::{Headers, Settings};
use purlin_remote::source::{Source, Sources};
use purlin_remote::tree::{Entry, Folder, Seen};
use purlin_remote::trouble::{Code, Trouble, What};
use purlin_value::glob::Glob;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// How a server is used.
pub struct Terms {
    /// How it is reached. Headers are left to `headers`.
    pub settings: Settings,
    /// Headers that prove who we are; asked for when the server is needed.
    pub headers: Box<dyn Fn() -> Result<Headers, String> + Send + Sync>,
    /// Whether a failure of the server may be answered by running here.
    pub falls_back: bool,
    /// Patterns of ids that stay here.
    pub stay: Vec<Glob>,
    /// Patterns of ids whose secrets may be sent.
    pub secrets: Vec<Glob>,
}

/// A connected server.
struct Link {
    client: Client,
    hashes: Hashes,
}

/// A server, and what is known about the results that it keeps.
pub struct Shared {
    terms: Terms,
    /// Connected when it is first needed: what is done already needs no server.
    link: OnceLock<Result<Link, Trouble>>,
    store: Arc<Store>,
    /// The project's folder.
    root: PathBuf,
    /// Results of Builds that are kept there and not here, by the folders where they belong.
    kept: Mutex<HashMap<PathBuf, Arc<Folder>>>,
}

impl Shared {
    /// A server for the actions of a project.
    pub fn new(terms: Terms, store: Arc<Store>, root: PathBuf) -> Self {
        Shared { terms, link: OnceLock::new(), store, root, kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<Folder>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connected server.
    fn link(&self, stop: &Stop) -> Result<&Link, Trouble> {
        let connect = || {
            let headers = (self.terms.headers)().map_err(What::Settings)?;
            let settings = Settings { headers, ..self.terms.settings.clone() };
            let client = Client::connect(settings, &|| stop.level() != Level::Going)?;
            let hashes = Hashes::new(client.function());
            Ok(Link { client, hashes })
        };
        self.link.get_or_init(connect).as_ref().map_err(Clone::clone)
    }

    fn elsewhere(&self, trouble: &Trouble) -> NoOutcome {
        let why = format!("{}: {trouble}", self.terms.settings.address);
        NoOutcome::Elsewhere { why, may_run_here: self.terms.falls_back && !is_final(trouble) }
    }

    /// Whether the user allowed to send the secrets of an action.
    fn may_send_secrets(&self, id: &str) -> bool {
        self.terms.secrets.iter().any(|pattern| pattern.matches(id))
    }

    /// The input of a request; none if it stays here.
    fn input(&self, hashes: &Hashes, request: &Request<'_>, baggage: &Baggage) -> Result<Input, NoOutcome> {
        let kept = |folder: &Path| self.kept().get(folder).map(|tree| (**tree).clone());
        let input = gather(baggage, hashes, &kept)
            .map_err(|why| NoOutcome::Elsewhere { why, may_run_here: self.terms.falls_back })?;
        if !self.may_send_secrets(request.id)
            && let Some(place) = secret_in(request, &input.sources)
        {
            return Err(NoOutcome::Stays(Stay::SecretIn(place)));
        }
        Ok(input)
    }

    /// What a request needs there, if it may leave this machine.
    fn baggage<'r>(&self, request: &Request<'r>) -> Result<&'r Baggage, NoOutcome> {
        let baggage = match request.travel {
            Travel::Stays(why) => return Err(NoOutcome::Stays(why.clone())),
            Travel::Goes(baggage) => baggage,
        };
        if self.terms.stay.iter().any(|pattern| pattern.matches(request.id)) {
            return Err(NoOutcome::Stays(Stay::Settings));
        }
        match &baggage.secret {
            Some(place) if !self.may_send_secrets(request.id) => Err(NoOutcome::Stays(Stay::Secret(place.clone()))),
            _ => Ok(baggage),
        }
    }

    fn job(&self, request: &Request<'_>, input: &Input) -> Job {
        let mut tree = Folder::default();
        tree.put(WORK, Entry::Folder(input.tree.clone()));
        Job {
            arguments: arguments(request),
            environment: environment(request, &self.terms.settings.path),
            input: tree,
            sources: input.sources.clone(),
            outputs: outputs(request),
            timeout: request.timeout,
            platform: BTreeMap::new(),
            // What is made with a secret belongs to its user.
            is_cacheable: request.secrets.is_empty() || !self.may_send_secrets(request.id),
        }
    }

    /// Runs a packed request, or finds its earlier result.
    fn carry_out(
        &self,
        client: &Client,
        request: &Request<'_>,
        packed: &Packed,
        observer: &mut dyn Observer,
    ) -> Result<Option<Done>, Trouble> {
        let stop = || request.stop.level() != Level::Going;
        let note = self.store.remote_note(request.subject);
        let under_way = note.read().and_then(|text| self.under_way(&text, packed.action));
        if request.is_cacheable
            && under_way.is_none()
            && let Some(done) = client.earlier(packed, &stop)?
        {
            return Ok(Some(done));
        }
        if !self.terms.settings.executes {
            return Ok(None);
        }
        let platform = self.terms.settings.platform.iter().map(|(name, value)| format!("{name}={value}"));
        let platform = platform.collect::<Vec<_>>().join(", ");
        let mut following = Following {
            observer,
            platform: &platform,
            note: &|name| {
                // Without the note, a killed run leaves an execution that the next one does not find.
                let _ = note.write(&format!("{} {} {name}", self.terms.settings.address, packed.action));
            },
        };
        let how = (!request.is_cacheable, under_way.as_deref());
        let done = client.run(packed, request.timeout, how, &mut following, &stop);
        note.remove();
        done.map(Some)
    }

    /// The name of the execution of an action that a killed run has left.
    fn under_way(&self, text: &str, action: Digest) -> Option<String> {
        let (address, rest) = text.split_once(' ')?;
        let (digest, name) = rest.split_once(' ')?;
        let is_same = address == self.terms.settings.address.to_string() && digest == action.to_string();
        is_same.then(|| name.to_owned())
    }

    /// The outputs in the folder of outputs.
    fn outputs(client: &Client, out: &Folder, stop: &Stop) -> Result<(Outputs, Vec<String>), String> {
        let stop = || stop.level() != Level::Going;
        let small = out.files.values().filter(|file| file.digest.size <= read::LONGEST);
        let digests: Vec<Digest> = small.map(|file| file.digest).collect();
        let found = client.read_all(&digests, &stop).map_err(|trouble| trouble.to_string())?;
        let names = out.files.keys().chain(out.folders.keys()).chain(out.links.keys());
        let mut names: Vec<String> = names.cloned().collect();
        names.sort();
        read::of(names, &mut |name| {
            let file = out.files.get(name)?;
            Some(match found.get(&file.digest) {
                Some(bytes) => read::text_of(bytes.clone()),
                None => Err("is larger than 4 MiB"),
            })
        })
    }

    /// Fetches the files that patterns of artifacts match, and puts them where they belong.
    fn artifacts(
        &self,
        client: &Client,
        artifacts: &[Artifact],
        work: &Folder,
        (stop, observer): (&Stop, &mut dyn Observer),
    ) -> Result<Fetched, String> {
        if artifacts.is_empty() {
            return Ok(Fetched::default());
        }
        let stop = || stop.level() != Level::Going;
        let mut part = Folder::default();
        let globs: Vec<Glob> =
            artifacts.iter().map(|one| Glob::new(one.source.trim_start_matches("./").trim_end_matches('/'))).collect();
        for (path, seen) in work.walk() {
            if !globs.iter().any(|glob| glob.covers(&path)) {
                continue;
            }
            match seen {
                Seen::File(file) => part.put(&path, Entry::File(*file)),
                Seen::Link(link) => part.put(&path, Entry::Link(link.to_owned())),
                Seen::Folder => {
                    part.folder(&path);
                }
            }
        }
        let scratch = self.store.scratch().map_err(|error| error.to_string())?;
        lay_out(client, &part, (scratch.path(), scratch.path()), &stop, observer)?;
        keep_artifacts(artifacts, scratch.path()).map_err(|error| error.to_string())
    }

    fn outcome(&self, client: &Client, request: &Request<'_>, done: &Done, observer: &mut dyn Observer) -> Outcome {
        observer.output(Stream::Out, &done.stdout);
        observer.output(Stream::Err, &done.stderr);
        let ended = match done.end {
            End::TimedOut => Ended::TimedOut,
            End::Exit(code) => Ended::Exit(i32::try_from(code).unwrap_or(-1)),
        };
        let folder = |name: &str| done.outputs.folders.get(name).cloned().unwrap_or_default();
        let outputs = match ended {
            Ended::Exit(0) => Self::outputs(client, &folder(OUT), request.stop),
            _ => Ok(Default::default()),
        };
        let fetched = self.artifacts(client, request.artifacts, &folder(WORK), (request.stop, observer));
        let mut is_apart = false;
        if let Some(product) = request.product.filter(|_| ended == Ended::Exit(0)) {
            self.kept().insert(product.folder.to_owned(), Arc::new(folder(WORK)));
            is_apart = true;
        }
        let place = if done.is_cached { Place::Cache } else { Place::Worker(done.worker.clone()) };
        Outcome { ended, outputs, fetched, made: Made::default(), is_apart, is_unsure: false, place }
    }
}

/// Whether a failure stays the same whatever is tried: the settings have to change.
fn is_final(trouble: &Trouble) -> bool {
    let refused = [Code::Unauthenticated, Code::PermissionDenied];
    let is_wrong = matches!(trouble.what, What::Settings(_) | What::Lacks(_) | What::Tls(_) | What::Stopped);
    is_wrong || refused.into_iter().any(|code| trouble.is(code))
}

impl Execution for Shared {
    fn run(&self, request: &Request<'_>, observer: &mut dyn Observer) -> Result<Outcome, NoOutcome> {
        let baggage = self.baggage(request)?;
        let Link { client, hashes } = match self.link(request.stop) {
            Ok(link) => link,
            Err(trouble) if trouble.what == What::Stopped => return Ok(stopped()),
            Err(trouble) => return Err(self.elsewhere(&trouble)),
        };
        let input = self.input(hashes, request, baggage)?;
        if let Some(file) = &input.changed {
            // What is sent would not be what the version says.
            return Err(NoOutcome::Stays(Stay::Changed(file.clone())));
        }
        input.missing.iter().for_each(|text| observer.warn(text));
        let packed = client.pack(&self.job(request, &input));
        match self.carry_out(client, request, &packed, observer) {
            Ok(Some(done)) => Ok(self.outcome(client, request, &done, observer)),
            Ok(None) => Err(NoOutcome::Missed),
            Err(trouble) if trouble.what == What::Stopped => Ok(stopped()),
            Err(trouble) if trouble.is(Code::DeadlineExceeded) => Ok(Outcome { ended: Ended::TimedOut, ..stopped() }),
            Err(trouble) => Err(self.elsewhere(&trouble)),
        }
    }

    fn has(&self, folder: &Path) -> bool {
        self.kept().contains_key(folder)
    }

    fn bring(&self, folder: &Path, stop: &Stop, observer: &mut dyn Observer) -> Result<Option<Made>, String> {
        let Some(tree) = self.kept().get(folder).cloned() else { return Ok(None) };
        let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", self.terms.settings.address);
        let link = self.link(stop).map_err(|trouble| failed(&trouble))?;
        let stop = || stop.level() != Level::Going;
        lay_out(&link.client, &tree, (&self.root, folder), &stop, observer).map_err(|why| failed(&why))?;
        self.kept().remove(folder);
        Ok(Some(Made::below(folder).unwrap_or_default()))
    }

    fn falls_back(&self) -> bool {
        self.terms.falls_back
    }

    fn forget(&self, folder: &Path) {
        self.kept().remove(folder);
    }

    fn share(&self, request: &Request<'_>, outcome: &Outcome, printed: (&[u8], &[u8])) -> Result<(), String> {
        if !self.terms.settings.uploads || outcome.ended != Ended::Exit(0) || outcome.is_unsure {
            return Ok(());
        }
        let Ok((found, _)) = &outcome.outputs else { return Ok(()) };
        let Ok(baggage) = self.baggage(request) else { return Ok(()) };
        let Link { client, hashes } = self.link(request.stop).map_err(|trouble| trouble.to_string())?;
        let Ok(input) = self.input(hashes, request, baggage) else { return Ok(()) };
        let mask = crate::mask::Mask::new(request.secrets.iter().map(String::as_str));
        let json = serde_json::to_string(found).unwrap_or_default();
        let texts = [String::from_utf8_lossy(printed.0), String::from_utf8_lossy(printed.1), json.as_str().into()];
        if input.changed.is_some() || !request.artifacts.is_empty() || texts.iter().any(|text| mask.finds(text)) {
            return Ok(());
        }
        let mut sources = Sources::new();
        let mut left = Folder::default();
        left.folder(OUT);
        if !found.is_empty() {
            let digest = client.function().digest(json.as_bytes());
            sources.insert(digest, Source::Bytes(json.as_bytes().into()));
            let file = purlin_remote::tree::File { digest, is_executable: false };
            left.put(&format!("{OUT}/{}", read::JSON_FILE), Entry::File(file));
        }
        if let Some(product) = request.product {
            let tree = hashes.folder(product.folder, &mut sources).map_err(|error| error.to_string())?;
            left.put(WORK, Entry::Folder(tree));
        }
        if baggage.secret.is_some() || secret_in(request, &sources).is_some() {
            return Ok(());
        }
        let packed = client.pack(&self.job(request, &input));
        let done = Done {
            end: End::Exit(0),
            stdout: printed.0.to_vec(),
            stderr: printed.1.to_vec(),
            outputs: left,
            worker: String::new(),
            is_cached: false,
        };
        let stop = || request.stop.level() != Level::Going;
        client.share(&packed, &done, &sources, &stop).map_err(|trouble| trouble.to_string())
    }
}

/// The outcome of a request that was stopped.
fn stopped() -> Outcome {
    Outcome {
        ended: Ended::Stopped,
        outputs: Ok(Default::default()),
        fetched: Ok(Fetched::default()),
        made: Made::default(),
        is_apart: false,
        is_unsure: false,
        place: Place::Here,
    }
}

/// Follows an execution for an observer.
struct Following<'f> {
    observer: &'f mut dyn Observer,
    note: &'f dyn Fn(&str),
    /// The properties of workers.
    platform: &'f str,
}

impl Watch for Following<'_> {
    fn named(&mut self, name: &str) {
        (self.note)(name);
    }

    fn stage(&mut self, stage: Stage, worker: &str) {
        match stage {
            Stage::Queued => self.observer.progress(Progress::Queued),
            Stage::Running => self.observer.progress(Progress::Running(worker.to_owned())),
            _ => {}
        }
    }

    fn waits(&mut self, time: Duration) {
        let asks = match self.platform {
            "" => String::new(),
            platform => format!("; it asks for {platform}"),
        };
        self.observer.warn(&format!("no worker has taken it for {} s{asks}", time.as_secs()));
    }

    fn sending(&mut self, bytes: u64) {
        self.observer.progress(Progress::Uploading(bytes));
    }
}
