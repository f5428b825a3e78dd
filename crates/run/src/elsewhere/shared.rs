//! A server that speaks the Remote Execution API, as a place for requests.

use super::input::{Hashes, Input, gather};
use super::layout::lay_out;
use super::{OUT, WORK, arguments, environment, outputs, secret_in};
use crate::action::{Artifact, Travel};
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
use purlin_remote::source::{Source, Sources};
use purlin_remote::tree::{Entry, Folder, Seen};
use purlin_remote::trouble::{Code, Trouble, What};
use purlin_value::glob::Glob;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A server, and what is known about the results that it keeps.
pub struct Shared {
    client: Client,
    hashes: Hashes,
    store: Arc<Store>,
    /// The project's folder.
    root: PathBuf,
    /// Results of Builds that are kept there and not here, by the folders where they belong.
    kept: Mutex<HashMap<PathBuf, Arc<Folder>>>,
    /// Whether a failure of the server may be answered by running here.
    falls_back: bool,
    /// Patterns of ids that stay here.
    stay: Vec<Glob>,
}

impl Shared {
    /// A server for the actions of a project.
    pub fn new(client: Client, store: Arc<Store>, root: PathBuf, falls_back: bool, stay: &[String]) -> Self {
        let hashes = Hashes::new(client.function());
        let stay = stay.iter().map(|pattern| Glob::new(pattern)).collect();
        Shared { client, hashes, store, root, kept: Mutex::default(), falls_back, stay }
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<Folder>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn elsewhere(&self, trouble: &Trouble) -> NoOutcome {
        let address = &self.client.settings().address;
        let is_stopped = trouble.what == What::Stopped;
        let why = format!("{address}: {trouble}");
        NoOutcome::Elsewhere { why, may_run_here: self.falls_back && !is_stopped }
    }

    /// The input of a request; none if a secret is in it.
    fn input(&self, request: &Request<'_>, observer: &mut dyn Observer) -> Result<Input, NoOutcome> {
        let Travel::Goes(baggage) = request.travel else {
            return Err(NoOutcome::Elsewhere { why: "it stays on this machine".to_owned(), may_run_here: true });
        };
        if self.stay.iter().any(|pattern| pattern.matches(request.id)) {
            return Err(NoOutcome::Stays);
        }
        let kept = |folder: &Path| self.kept().get(folder).map(|tree| (**tree).clone());
        let input = gather(baggage, &self.hashes, &kept).map_err(NoOutcome::Files)?;
        if let Some(place) = secret_in(request, &input.sources) {
            observer.warn(&format!("{place} contains a secret, so it runs on this machine"));
            return Err(NoOutcome::Stays);
        }
        Ok(input)
    }

    fn job(&self, request: &Request<'_>, input: &Input) -> Job {
        let mut tree = Folder::default();
        tree.put(WORK, Entry::Folder(input.tree.clone()));
        Job {
            arguments: arguments(request),
            environment: environment(request, &self.client.settings().path),
            input: tree,
            sources: input.sources.clone(),
            outputs: outputs(request),
            timeout: request.timeout,
            platform: BTreeMap::new(),
            is_cacheable: true,
        }
    }

    /// Runs a packed request, or finds its earlier result.
    fn carry_out(&self, request: &Request<'_>, packed: &Packed, observer: &mut dyn Observer) -> Result<Done, Trouble> {
        let stop = || request.stop.level() != Level::Going;
        let note = self.store.remote_note(request.subject);
        let under_way = note.read().and_then(|text| self.under_way(&text, packed.action));
        if request.is_cacheable && under_way.is_none() {
            if let Some(done) = self.client.earlier(packed, &stop)? {
                return Ok(done);
            }
        }
        if !self.client.settings().executes {
            return Err(What::Lacks(NOT_CACHED.to_owned()).into());
        }
        let mut following = Following {
            observer,
            note: &|name| {
                // Without the note, a killed run leaves an execution that the next one does not find.
                let _ = note.write(&format!("{} {} {name}", self.client.settings().address, packed.action));
            },
        };
        let how = (!request.is_cacheable, under_way.as_deref());
        let done = self.client.run(packed, request.timeout, how, &mut following, &stop);
        note.remove();
        done
    }

    /// The name of the execution of an action that a killed run has left.
    fn under_way(&self, text: &str, action: Digest) -> Option<String> {
        let (address, rest) = text.split_once(' ')?;
        let (digest, name) = rest.split_once(' ')?;
        let is_same = address == self.client.settings().address.to_string() && digest == action.to_string();
        is_same.then(|| name.to_owned())
    }

    /// The outputs in the folder of outputs.
    fn outputs(&self, out: &Folder, stop: &Stop) -> Result<(Outputs, Vec<String>), String> {
        let stop = || stop.level() != Level::Going;
        let small = out.files.values().filter(|file| file.digest.size <= read::LONGEST);
        let digests: Vec<Digest> = small.map(|file| file.digest).collect();
        let found = self.client.read_all(&digests, &stop).map_err(|trouble| trouble.to_string())?;
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
    fn artifacts(&self, artifacts: &[Artifact], work: &Folder, stop: &Stop) -> Result<Fetched, String> {
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
        lay_out(&self.client, &part, scratch.path(), scratch.path(), &stop)?;
        keep_artifacts(artifacts, scratch.path()).map_err(|error| error.to_string())
    }

    fn outcome(&self, request: &Request<'_>, done: &Done, observer: &mut dyn Observer) -> Result<Outcome, NoOutcome> {
        observer.output(Stream::Out, &done.stdout);
        observer.output(Stream::Err, &done.stderr);
        let ended = match done.end {
            End::TimedOut => Ended::TimedOut,
            End::Exit(code) => Ended::Exit(i32::try_from(code).unwrap_or(-1)),
        };
        let folder = |name: &str| done.outputs.folders.get(name).cloned().unwrap_or_default();
        let outputs = match ended {
            Ended::Exit(0) => self.outputs(&folder(OUT), request.stop),
            _ => Ok(Default::default()),
        };
        let fetched = self.artifacts(request.artifacts, &folder(WORK), request.stop);
        let mut is_apart = false;
        if let Some(product) = request.product.filter(|_| ended == Ended::Exit(0)) {
            self.kept().insert(product.folder.to_owned(), Arc::new(folder(WORK)));
            is_apart = true;
        }
        let place = if done.is_cached { Place::Cache } else { Place::Worker(done.worker.clone()) };
        Ok(Outcome { ended, outputs, fetched, made: Made::default(), is_apart, is_unsure: false, place })
    }
}

/// Why a server that runs nothing has no outcome.
const NOT_CACHED: &str = "it has no result of this action";

impl Execution for Shared {
    fn run(&self, request: &Request<'_>, observer: &mut dyn Observer) -> Result<Outcome, NoOutcome> {
        let input = self.input(request, observer)?;
        input.missing.iter().for_each(|text| observer.warn(text));
        if let Some(file) = &input.changed {
            // What is sent would not be what the version says.
            observer.changed(file);
            return Err(NoOutcome::Stays);
        }
        let packed = self.client.pack(&self.job(request, &input));
        let done = match self.carry_out(request, &packed, observer) {
            Ok(done) => done,
            Err(trouble) if trouble.what == What::Lacks(NOT_CACHED.to_owned()) => return Err(NoOutcome::Stays),
            Err(trouble) if trouble.what == What::Stopped => return Ok(stopped()),
            Err(trouble) if trouble.is(Code::DeadlineExceeded) => {
                return Ok(Outcome { ended: Ended::TimedOut, ..stopped() });
            }
            Err(trouble) => return Err(self.elsewhere(&trouble)),
        };
        self.outcome(request, &done, observer)
    }

    fn has(&self, folder: &Path) -> bool {
        self.kept().contains_key(folder)
    }

    fn bring(&self, folder: &Path, stop: &Stop) -> Result<Option<Made>, String> {
        let Some(tree) = self.kept().get(folder).cloned() else { return Ok(None) };
        let stop = || stop.level() != Level::Going;
        lay_out(&self.client, &tree, &self.root, folder, &stop)
            .map_err(|why| format!("the result in `{}` could not be retrieved: {why}", folder.display()))?;
        self.kept().remove(folder);
        Ok(Some(Made::below(folder).unwrap_or_default()))
    }

    fn share(&self, request: &Request<'_>, outcome: &Outcome, printed: (&[u8], &[u8])) -> Result<(), String> {
        if !self.client.settings().uploads || outcome.ended != Ended::Exit(0) || outcome.is_unsure {
            return Ok(());
        }
        let Ok((found, _)) = &outcome.outputs else { return Ok(()) };
        let Ok(input) = self.input(request, &mut Deaf) else { return Ok(()) };
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
            let digest = self.client.function().digest(json.as_bytes());
            sources.insert(digest, Source::Bytes(json.as_bytes().into()));
            let file = purlin_remote::tree::File { digest, is_executable: false };
            left.put(&format!("{OUT}/{}", read::JSON_FILE), Entry::File(file));
        }
        if let Some(product) = request.product {
            let tree = self.hashes.folder(product.folder, &mut sources).map_err(|error| error.to_string())?;
            left.put(WORK, Entry::Folder(tree));
        }
        if secret_in(request, &sources).is_some() {
            return Ok(());
        }
        let packed = self.client.pack(&self.job(request, &input));
        let done = Done {
            end: End::Exit(0),
            stdout: printed.0.to_vec(),
            stderr: printed.1.to_vec(),
            outputs: left,
            worker: String::new(),
            is_cached: false,
        };
        let stop = || request.stop.level() != Level::Going;
        self.client.share(&packed, &done, &sources, &stop).map_err(|trouble| trouble.to_string())
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

/// An observer that nothing is told.
struct Deaf;

impl Observer for Deaf {
    fn output(&mut self, _: Stream, _: &[u8]) {}
    fn warn(&mut self, _: &str) {}
    fn changed(&mut self, _: &str) {}
    fn progress(&mut self, _: Progress) {}
}

/// Follows an execution for an observer.
struct Following<'f> {
    observer: &'f mut dyn Observer,
    note: &'f dyn Fn(&str),
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

    fn sending(&mut self, bytes: u64) {
        self.observer.progress(Progress::Uploading(bytes));
    }
}
