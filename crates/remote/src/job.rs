//! The whole way of one action: its result if the cache has it, else its input there, its execution, its outputs by their
//! digests.

use crate::client::{Client, Stop};
use crate::digest::Digest;
use crate::execute::Order;
pub use crate::execute::Watch;
use crate::message::{
    Action, ActionResult, Command, ExecuteResponse, OutputFile, OutputFolder, OutputLink, Platform, Property, Span,
    Variable,
};
use crate::source::{Source, Sources, contents, messages};
use crate::tree::{Entry, File, Folder, Seen};
use crate::trouble::{Code, Tried, Trouble, What};
use crate::wire::Message;
use std::collections::BTreeMap;
use std::time::Duration;

/// Largest standard output or error that is fetched.
const LONGEST_OUTPUT: u64 = 64 << 20;

/// An action.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// The program and its arguments.
    pub arguments: Vec<String>,
    /// Its environment; nothing else is in it.
    pub environment: BTreeMap<String, String>,
    /// The folder it runs in.
    pub input: Folder,
    /// Where the contents of the input are; the server has those that are not here.
    pub sources: Sources,
    /// The folders that it leaves.
    pub outputs: Vec<String>,
    /// Its time limit.
    pub timeout: Option<Duration>,
    /// Properties that its worker must have, besides those of the settings.
    pub platform: BTreeMap<String, String>,
    /// Whether results are kept and reused.
    pub is_cacheable: bool,
}

/// The messages of an action.
#[derive(Clone, Debug)]
pub struct Packed {
    /// Its digest, which is the key of its result.
    pub action: Digest,
    /// Everything that must be there before it runs.
    pub needs: Vec<Digest>,
    /// Where it is.
    pub sources: Sources,
}

/// How an action ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this code.
    Exit(i64),
    /// Its time limit passed.
    TimedOut,
}

/// The end of an action, and what it left.
#[derive(Clone, Debug)]
pub struct Done {
    /// How it ended.
    pub end: End,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// The folders that it left, by their declared paths.
    pub outputs: Folder,
    /// The worker, if the server names it.
    pub worker: String,
    /// Whether nothing was run: the result is an earlier one.
    pub is_cached: bool,
}

impl Client {
    /// The messages of an action.
    pub fn pack(&self, job: &Job) -> Packed {
        let function = self.function();
        let mut sources = job.sources.clone();
        let (input, mut needs) = messages(&job.input, function, &mut sources);
        needs.extend(contents(&job.input));
        let mut properties = self.settings().platform.iter().cloned().collect::<BTreeMap<_, _>>();
        properties.extend(job.platform.clone());
        let property = |(name, value)| Property { name, value };
        let properties: Vec<Property> = properties.into_iter().map(property).collect();
        let platform = (!properties.is_empty()).then_some(Platform { properties });
        let variable = |(name, value): (&String, &String)| Variable { name: name.clone(), value: value.clone() };
        // Servers before 2.1 know only the older lists.
        let is_old = self.offer().version < (2, 1);
        let mut outputs = job.outputs.clone();
        outputs.sort();
        let command = Command {
            arguments: job.arguments.clone(),
            environment: job.environment.iter().map(variable).collect(),
            output_files: Vec::new(),
            output_folders: if is_old { outputs.clone() } else { Vec::new() },
            platform: platform.clone(),
            folder: String::new(),
            output_paths: if is_old { Vec::new() } else { outputs },
        };
        let mut add = |bytes: Vec<u8>| {
            let digest = function.digest(&bytes);
            needs.push(digest);
            sources.insert(digest, Source::Bytes(bytes.into()));
            digest
        };
        let command = add(command.to_bytes());
        let timeout = job.timeout.map(|timeout| Span {
            seconds: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            nanos: i64::from(timeout.subsec_nanos()),
        });
        let action = Action {
            command: Some(command),
            input: Some(input),
            timeout,
            is_not_cached: !job.is_cacheable,
            salt: Vec::new(),
            platform: if self.offer().version >= (2, 2) { platform } else { None },
        };
        let action = add(action.to_bytes());
        Packed { action, needs, sources }
    }

    /// The earlier result of an action, if the cache has one that can be used: it ended well, and what it left is there.
    pub fn earlier(&self, packed: &Packed, stop: Stop<'_>) -> Tried<Option<Done>> {
        let Some(result) = self.cached(packed.action, stop)? else { return Ok(None) };
        if result.exit_code != 0 {
            return Ok(None);
        }
        let done = match self.collect(&result, true, stop) {
            Err(trouble) if is_loss(&trouble) => return Ok(None),
            done => done?,
        };
        Ok(self.is_whole(&done, stop)?.then_some(done))
    }

    /// Whether everything that a result names is stored: on some servers results outlive it.
    fn is_whole(&self, done: &Done, stop: Stop<'_>) -> Tried<bool> {
        let wanted = contents(&done.outputs);
        {
            let mut stored = self.remembered();
            wanted.iter().for_each(|digest| {
                stored.remove(digest);
            });
        }
        Ok(wanted.is_empty() || self.missing(&wanted, stop)?.is_empty())
    }

    /// Runs an action; `resume` is the name of an execution of it that is under way.
    pub fn run(
        &self,
        packed: &Packed,
        timeout: Option<Duration>,
        (mut is_fresh, resume): (bool, Option<&str>),
        watch: &mut dyn Watch,
        stop: Stop<'_>,
    ) -> Tried<Done> {
        let (mut resume, mut tries) = (resume, 0);
        loop {
            if resume.is_none() {
                let lost = self.upload(&packed.needs, &packed.sources, stop, &mut |bytes| watch.sending(bytes))?;
                if let Some(digest) = lost.first() {
                    return Err(Trouble { missing: lost.clone(), ..What::Gone(*digest).into() });
                }
            }
            let order = Order { action: packed.action, is_fresh, timeout, resume: resume.take() };
            let done = self.execute(&order, watch, stop);
            let done = done.and_then(|response| self.end(&response, stop));
            tries += 1;
            match done {
                // Some servers keep results of failures; a failure is always tried again.
                Ok(done) if done.is_cached && done.end != End::Exit(0) && !is_fresh => is_fresh = true,
                // Others keep results whose contents are gone.
                Ok(done) if done.is_cached && !is_fresh && !self.is_whole(&done, stop)? => is_fresh = true,
                Ok(done) => return Ok(done),
                // Contents were lost between two calls: everything is sent again, once.
                Err(trouble) if tries <= 2 && is_loss(&trouble) => {
                    self.forget();
                    is_fresh = true;
                }
                Err(trouble) => return Err(trouble),
            }
        }
    }

    /// The end of an execution.
    fn end(&self, response: &ExecuteResponse, stop: Stop<'_>) -> Tried<Done> {
        let is_late = response.status.as_ref().is_some_and(|status| status.code != 0);
        let result = match &response.result {
            Some(result) => result,
            None if is_late => &ActionResult::default(),
            None => return Err(What::Malformed("an execution ended without a result").into()),
        };
        let mut done = self.collect(result, response.is_cached, stop)?;
        if is_late {
            done.end = End::TimedOut;
        }
        Ok(done)
    }

    /// What a result names. Contents of files are not fetched.
    fn collect(&self, result: &ActionResult, is_cached: bool, stop: Stop<'_>) -> Tried<Done> {
        let stdout = self.printed(&result.stdout, result.stdout_digest, stop)?;
        let stderr = self.printed(&result.stderr, result.stderr_digest, stop)?;
        let mut outputs = Folder::default();
        for file in &result.files {
            let digest = file.digest.ok_or(What::Malformed("a file has no digest"))?;
            let file_of = File { digest, is_executable: file.is_executable };
            outputs.put(checked(&file.path)?, Entry::File(file_of));
        }
        for folder in &result.folders {
            let path = checked(&folder.path)?;
            let tree = match (folder.tree, folder.root) {
                (Some(tree), _) => self.tree(tree, stop)?,
                (None, Some(root)) => self.folder(root, stop)?,
                (None, None) => return Err(What::Malformed("a folder has no digest").into()),
            };
            outputs.put(path, Entry::Folder(tree));
        }
        for link in result.links.iter().chain(&result.file_links).chain(&result.folder_links) {
            outputs.put(checked(&link.path)?, Entry::Link(link.target.clone()));
        }
        let worker = result.metadata.as_ref().map(|metadata| printable(&metadata.worker)).unwrap_or_default();
        Ok(Done { end: End::Exit(result.exit_code), stdout, stderr, outputs, worker, is_cached })
    }

    /// A stream that was sent along, or its content.
    fn printed(&self, raw: &[u8], digest: Option<Digest>, stop: Stop<'_>) -> Tried<Vec<u8>> {
        match digest.filter(|digest| raw.is_empty() && digest.size > 0) {
            None => match digest {
                Some(digest) if digest.size > 0 && self.function().digest(raw) != digest => {
                    Err(What::Wrong(digest).into())
                }
                _ => Ok(raw.to_vec()),
            },
            Some(digest) if digest.size > LONGEST_OUTPUT => {
                Ok(format!("(its output has {} bytes, more than are fetched)\n", digest.size).into_bytes())
            }
            Some(digest) => self.read(digest, stop),
        }
    }

    /// Writes the result of an action that was run on this machine to the shared cache: its input and its outputs are
    /// sent first.
    pub fn share(&self, packed: &Packed, done: &Done, sources: &Sources, stop: Stop<'_>) -> Tried<()> {
        let mut all = packed.sources.clone();
        all.extend(sources.iter().map(|(digest, source)| (*digest, source.clone())));
        let mut wanted = packed.needs.clone();
        let mut result = ActionResult { exit_code: 0, ..ActionResult::default() };
        let function = self.function();
        let mut add = |bytes: &[u8]| {
            let digest = function.digest(bytes);
            wanted.push(digest);
            all.insert(digest, Source::Bytes(bytes.into()));
            digest
        };
        result.stdout_digest = Some(add(&done.stdout));
        result.stderr_digest = Some(add(&done.stderr));
        for (name, folder) in &done.outputs.folders {
            let tree = tree_bytes(folder, function);
            let tree = Some(add(&tree));
            result.folders.push(OutputFolder { path: name.clone(), tree, root: None });
        }
        let file = |(name, file): (&String, &File)| OutputFile {
            path: name.clone(),
            digest: Some(file.digest),
            is_executable: file.is_executable,
            contents: Vec::new(),
        };
        result.files = done.outputs.files.iter().map(file).collect();
        let link = |(name, target): (&String, &String)| OutputLink { path: name.clone(), target: target.clone() };
        result.links = done.outputs.links.iter().map(link).collect();
        wanted.extend(contents(&done.outputs));
        if let Some(digest) = self.upload(&wanted, &all, stop, &mut |_| {})?.first() {
            return Err(What::Gone(*digest).into());
        }
        self.keep(packed.action, result, stop)
    }
}

/// The bytes of the tree message of a folder.
fn tree_bytes(folder: &Folder, function: crate::digest::Function) -> Vec<u8> {
    let mut children: Vec<(Digest, Vec<u8>)> = Vec::new();
    folder.encode(function, &mut |digest, bytes| children.push((digest, bytes)));
    let root = children.pop().map(|(_, bytes)| bytes).unwrap_or_default();
    children.sort();
    children.dedup();
    let mut to = crate::wire::Writer::default();
    to.item(1, &root);
    children.iter().for_each(|(_, bytes)| to.item(2, bytes));
    to.into_bytes()
}

/// Whether a failure means that contents are gone, or may mean that: servers report it in several ways.
fn is_loss(trouble: &Trouble) -> bool {
    matches!(trouble.what, What::Gone(_))
        || [Code::FailedPrecondition, Code::NotFound, Code::Internal].iter().any(|code| trouble.is(*code))
}

/// A path of an output: relative, without `.` and `..`.
fn checked(path: &str) -> Tried<&str> {
    let is_good =
        !path.is_empty() && path.split('/').all(|part| !["", ".", ".."].contains(&part) && !part.contains('\0'));
    if is_good { Ok(path) } else { Err(What::Malformed("a path of an output leads outside").into()) }
}

fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}

/// The number of bytes of all files of a folder.
pub fn size(folder: &Folder) -> u64 {
    let size = |(_, seen): (String, Seen<'_>)| if let Seen::File(file) = seen { file.digest.size } else { 0 };
    folder.walk().into_iter().map(size).sum()
}
