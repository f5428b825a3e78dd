//! What tests of the client need: jobs, random trees, a watch that remembers.

use purlin_remote::client::Client;
use purlin_remote::digest::{Digest, Function};
use purlin_remote::job::{Done, Job, Watch};
use purlin_remote::message::Stage;
use purlin_remote::source::{Source, Sources};
use purlin_remote::tree::{Entry, File, Folder};
use purlin_remote::trouble::Tried;

/// Remembers what happened.
#[derive(Debug, Default)]
pub struct Heard {
    /// Names of executions.
    pub names: Vec<String>,
    /// Stages, with workers.
    pub stages: Vec<(Stage, String)>,
    /// How often it was said that an action waits.
    pub waited: usize,
    /// Bytes that were sent.
    pub sent: u64,
}

impl Watch for Heard {
    fn named(&mut self, name: &str) {
        self.names.push(name.to_owned());
    }

    fn stage(&mut self, stage: Stage, worker: &str) {
        self.stages.push((stage, worker.to_owned()));
    }

    fn waits(&mut self, _: std::time::Duration) {
        self.waited += 1;
    }

    fn sending(&mut self, bytes: u64) {
        self.sent += bytes;
    }
}

/// A job of a shell command that works in a folder of its own, and leaves `out`.
pub fn job(script: &str) -> Job {
    Job {
        arguments: ["/bin/sh", "-c", script].map(str::to_owned).to_vec(),
        environment: [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into(),
        outputs: vec!["out".to_owned()],
        is_cacheable: true,
        ..Job::default()
    }
}

/// Adds a file to the input of a job.
pub fn add(job: &mut Job, function: Function, path: &str, bytes: &[u8]) {
    let digest = function.digest(bytes);
    job.input.put(path, Entry::File(File { digest, is_executable: false }));
    job.sources.insert(digest, Source::Bytes(bytes.into()));
}

/// Finds the earlier result of a job, or runs it.
pub fn perform(client: &Client, job: &Job) -> Tried<Done> {
    let packed = client.pack(job);
    match client.earlier(&packed, &|| false)? {
        Some(done) => Ok(done),
        None => client.run(&packed, job.timeout, (false, None), &mut Heard::default(), &|| false),
    }
}

/// The content of an output.
pub fn output(client: &Client, done: &Done, path: &str) -> Tried<Option<Vec<u8>>> {
    match done.outputs.get(path) {
        Some(Entry::File(file)) => client.read(file.digest, &|| false).map(Some),
        _ => Ok(None),
    }
}

/// Numbers that are the same for the same seed.
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    /// Dice of a seed.
    pub fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below another.
    pub fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % below.max(1)
    }

    /// Bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| u8::try_from(self.roll(256)).unwrap_or(0)).collect()
    }

    /// A name of a file, with characters that are seldom thought of.
    pub fn name(&mut self) -> String {
        const NAMES: [&str; 12] =
            ["a", "b.txt", "C", "d e", "ü", "-f", "g'h", "$x", "i\"j", ".hidden", "k%20", "name-of-some-length"];
        format!("{}{}", NAMES.get(self.roll(NAMES.len())).copied().unwrap_or("a"), self.roll(4))
    }

    /// A tree of files with all modes, links that stay inside, empty folders, empty files and large ones.
    pub fn tree(&mut self, function: Function, sources: &mut Sources) -> Folder {
        self.tree_with(true, function, sources)
    }

    /// The same, with links or without.
    pub fn tree_with(&mut self, has_links: bool, function: Function, sources: &mut Sources) -> Folder {
        let mut tree = Folder::default();
        for _ in 0..self.roll(12) {
            let depth = self.roll(4);
            let path: Vec<String> = (0..=depth).map(|_| self.name()).collect();
            let path = path.join("/");
            match self.roll(8) {
                0 => {
                    tree.folder(&path);
                }
                1 if has_links => tree.put(&path, Entry::Link(self.name())),
                kind => {
                    let size = match kind {
                        2 => 0,
                        3 => 70_000 + self.roll(700_000),
                        _ => self.roll(3000),
                    };
                    let bytes = self.bytes(size);
                    let digest: Digest = function.digest(&bytes);
                    sources.insert(digest, Source::Bytes(bytes.into()));
                    tree.put(&path, Entry::File(File { digest, is_executable: self.roll(2) == 0 }));
                }
            }
        }
        tree
    }
}
