//! Runs `git` to bring one commit of a repository here.
//!
//! Arguments only, never a shell. Nothing from the repository is executed or obeyed: no hooks, no submodules, no
//! filters or attributes, since objects are read from a bare repository as they are. A repository on disk only lends
//! its objects.

use super::borrowed::Borrowed;
use purlin_value::lock::is_commit;
use purlin_value::world::WorldError;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time limit of one call.
const LONGEST: Duration = Duration::from_secs(300);

/// Maximum size of a call's output, objects excluded.
const MOST_TEXT: u64 = 64 << 20;

/// Variables of the user's environment that git may see: how to find things, how to sign in, how to get out.
const PASSED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "SSH_AUTH_SOCK",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_SSL_CAINFO",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
    "SYSTEMROOT",
];

/// Settings of every call; they override the user's own.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.askPass=",
    "credential.interactive=false",
    // A repository's own settings may name each protocol, and the more specific setting wins.
    "protocol.allow=never",
    "protocol.ext.allow=never",
    "protocol.file.allow=never",
    "protocol.git.allow=never",
    "protocol.http.allow=never",
    "protocol.https.allow=never",
    "protocol.ssh.allow=never",
    "http.followRedirects=false",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=30",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "init.defaultBranch=main",
    "core.alternateRefsCommand=",
    "core.alternateRefsPrefixes=refs/none",
    "core.commitGraph=false",
    "core.multiPackIndex=false",
    "log.showSignature=false",
];

/// The source of a repository.
#[derive(Clone, Copy, Debug)]
pub(super) enum From<'a> {
    /// An address, and the part of it that no message may show.
    Network { address: &'a str, shown: &'a str },
    /// A folder that may be read; `git` sees its objects only.
    Folder(&'a Path),
}

/// Called with the content of each object.
pub(super) type Take<'a> = dyn FnMut(&Object, Vec<u8>) -> Result<(), WorldError> + 'a;

/// The program and its surroundings.
pub(super) struct Git {
    program: PathBuf,
    env: Vec<(String, String)>,
}

/// One file of a commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Object {
    pub path: String,
    pub is_link: bool,
    pub is_executable: bool,
    pub id: String,
    pub size: u64,
}

impl Git {
    /// Finds the program on the `PATH` of the run; relative folders there are not searched.
    pub(super) fn find(env: &BTreeMap<String, String>) -> Result<Self, WorldError> {
        let folders = env.get("PATH").map_or("", String::as_str);
        let name = format!("git{}", std::env::consts::EXE_SUFFIX);
        let program = std::env::split_paths(folders)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(&name))
            .find(|program| program.is_file())
            .ok_or_else(|| WorldError::FetchFailed("`git` is not installed".to_owned()))?;
        let mut kept: Vec<(String, String)> =
            PASSED.iter().filter_map(|name| Some(((*name).to_owned(), env.get(*name)?.clone()))).collect();
        let ssh = env.get("GIT_SSH_COMMAND").map_or("ssh -oBatchMode=yes", String::as_str);
        for (name, value) in [
            ("GIT_SSH_COMMAND", ssh),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_LFS_SKIP_SMUDGE", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            // Objects that a partial clone left on its server are not fetched implicitly.
            ("GIT_NO_LAZY_FETCH", "1"),
            ("LC_ALL", "C"),
        ] {
            kept.push((name.to_owned(), value.to_owned()));
        }
        Ok(Git { program, env: kept })
    }

    /// Makes an empty repository, fetches a revision into it and returns the commit's id.
    pub(super) fn fetch(&self, repository: &Path, from: From<'_>, revision: &str) -> Result<String, WorldError> {
        std::fs::create_dir_all(repository).map_err(|error| failed(error.to_string()))?;
        let wanted = if revision.is_empty() { "HEAD" } else { revision };
        let (address, shown) = match from {
            From::Folder(folder) => {
                let borrowed = Borrowed::of(folder)?;
                self.init(repository, if borrowed.is_sha256() { "sha256" } else { "sha1" })?;
                borrowed.lend(repository)?;
                return self.commit_of(repository, wanted);
            }
            From::Network { address, shown } => (address, shown),
        };
        self.init(repository, "sha1")?;
        let from = (address, shown);
        let shallow = self.download(repository, from, &["--depth=1"], &[wanted]);
        let name = match shallow {
            Ok(()) => "FETCH_HEAD".to_owned(),
            // Servers serve the targets of names, not every commit, and do not understand `~2`.
            Err(_) if is_expression(wanted) || could_be_commit(wanted) => {
                let all = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*", "+HEAD:refs/purlin/head"];
                self.download(repository, from, &[], &all)?;
                match wanted.strip_prefix("HEAD") {
                    Some(rest) => format!("refs/purlin/head{rest}"),
                    None => wanted.to_owned(),
                }
            }
            Err(error) => return Err(error),
        };
        self.commit_of(repository, &name).map_err(|_| no_revision(wanted))
    }

    /// Makes an empty repository.
    fn init(&self, repository: &Path, format: &str) -> Result<(), WorldError> {
        let (place, format) = (repository.to_string_lossy(), format!("--object-format={format}"));
        self.text(None, &["init", "--quiet", "--bare", "--template=", &format, "--end-of-options", &place]).map(drop)
    }

    /// The id of the commit that a revision of a repository leads to.
    pub(super) fn commit_of(&self, repository: &Path, revision: &str) -> Result<String, WorldError> {
        let commit = format!("{revision}^{{commit}}");
        let found = self.text(Some(repository), &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]);
        let id = found.map(|text| text.trim().to_owned()).unwrap_or_default();
        if is_commit(&id) { Ok(id) } else { Err(no_revision(revision)) }
    }

    fn download(
        &self,
        repository: &Path,
        (address, shown): (&str, &str),
        options: &[&str],
        references: &[&str],
    ) -> Result<(), WorldError> {
        let mut arguments: Vec<&str> = ["protocol.https.allow=always", "protocol.ssh.allow=always"]
            .iter()
            .flat_map(|setting| ["-c", *setting])
            .collect();
        arguments.extend(["fetch", "--quiet", "--no-tags", "--no-recurse-submodules"]);
        arguments.extend(options);
        arguments.extend(["--end-of-options", address]);
        arguments.extend(references);
        self.text(Some(repository), &arguments).map(drop).map_err(|error| without_secrets(error, address, shown))
    }

    /// The files of a commit. Submodules are left out.
    pub(super) fn objects(&self, repository: &Path, commit: &str) -> Result<Vec<Object>, WorldError> {
        let listing = self.bytes(Some(repository), &["ls-tree", "-r", "-l", "-z", "--full-tree", commit])?;
        let lines = listing.split(|&b| b == 0).filter(|line| !line.is_empty());
        // A name that is not UTF-8 could never be requested.
        let lines = lines.filter_map(|line| std::str::from_utf8(line).ok());
        lines.filter_map(|line| object(line).transpose()).collect()
    }

    /// Hands the content of each object, in order, to `take`.
    pub(super) fn contents(
        &self,
        repository: &Path,
        objects: &[Object],
        take: &mut Take<'_>,
    ) -> Result<(), WorldError> {
        let mut child = self.spawn(Some(repository), &["cat-file", "--batch"], Stdio::piped(), Stdio::null())?;
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed("`git` has no streams"));
        };
        let ids: String = objects.iter().map(|object| format!("{}\n", object.id)).collect();
        // Writing everything before reading would block both sides once the pipes are full.
        let writer = std::thread::spawn(move || stdin.write_all(ids.as_bytes()));
        let mut reader = BufReader::new(stdout);
        let result = objects.iter().try_for_each(|object| take(object, read_object(&mut reader, object)?));
        drop(reader);
        let _ = writer.join();
        let _ = child.kill();
        let _ = child.wait();
        result
    }

    fn text(&self, repository: Option<&Path>, arguments: &[&str]) -> Result<String, WorldError> {
        Ok(String::from_utf8_lossy(&self.bytes(repository, arguments)?).into_owned())
    }

    /// Runs git to its end and returns what it printed.
    pub(super) fn bytes(&self, repository: Option<&Path>, arguments: &[&str]) -> Result<Vec<u8>, WorldError> {
        let mut child = self.spawn(repository, arguments, Stdio::null(), Stdio::piped())?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (code, out, complaint) = std::thread::scope(|scope| {
            let out = scope.spawn(move || drain(stdout, MOST_TEXT));
            let complaint = scope.spawn(move || drain(stderr, 64 << 10));
            let code = wait(&mut child);
            (code, out.join().unwrap_or_default(), complaint.join().unwrap_or_default())
        });
        match code {
            Some(0) if (out.len() as u64) < MOST_TEXT => Ok(out),
            Some(0) => Err(failed("it has too many files")),
            Some(_) => Err(failed(last_line(&complaint))),
            None => Err(failed(format!("`git` took longer than {} seconds", LONGEST.as_secs()))),
        }
    }

    fn spawn(
        &self,
        repository: Option<&Path>,
        arguments: &[&str],
        stdin: Stdio,
        stderr: Stdio,
    ) -> Result<Child, WorldError> {
        let mut command = Command::new(&self.program);
        command.env_clear().envs(self.env.iter().map(|(name, value)| (name, value)));
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        if let Some(repository) = repository {
            command.arg("--git-dir").arg(repository).current_dir(repository);
        }
        let command = command.args(arguments).stdin(stdin).stdout(Stdio::piped()).stderr(stderr);
        command.spawn().map_err(|error| failed(format!("`git` cannot be started: {error}")))
    }
}

/// Whether a revision is more than a name.
fn is_expression(revision: &str) -> bool {
    revision.contains(['^', '~', '@', '{'])
}

fn could_be_commit(revision: &str) -> bool {
    (4..=64).contains(&revision.len()) && revision.bytes().all(|b| b.is_ascii_hexdigit())
}

fn no_revision(revision: &str) -> WorldError {
    failed(format!("it has no revision `{revision}`"))
}

pub(super) fn failed(why: impl Into<String>) -> WorldError {
    WorldError::FetchFailed(why.into())
}

/// A line of `ls-tree -l -z`: mode, type, id, size, path.
fn object(line: &str) -> Result<Option<Object>, WorldError> {
    let read = || {
        let (head, path) = line.split_once('\t')?;
        let mut words = head.split_ascii_whitespace();
        let (mode, kind, id, size) = (words.next()?, words.next()?, words.next()?, words.next()?);
        if kind != "blob" {
            return Some(None);
        }
        Some(Some(Object {
            path: path.to_owned(),
            is_link: mode == "120000",
            is_executable: mode == "100755",
            id: id.to_owned(),
            size: size.parse().ok()?,
        }))
    };
    // Objects missing in a partial clone have no size.
    let missing = line.split_once('\t').filter(|(head, _)| head.ends_with("BAD")).map(|(_, path)| path);
    read().ok_or_else(|| match missing {
        Some(path) => failed(format!("this clone does not have `{path}`; `git fetch --refetch` gets it")),
        None => failed("`git` listed its files in a way that is not understood"),
    })
}

/// One answer of `cat-file --batch`: `ID blob SIZE`, the bytes, a line break.
fn read_object(reader: &mut impl BufRead, object: &Object) -> Result<Vec<u8>, WorldError> {
    let broken = || failed(format!("`git` did not hand out `{}`", object.path));
    let mut head = String::new();
    reader.by_ref().take(256).read_line(&mut head).map_err(|_| broken())?;
    if head.trim_end() != format!("{} blob {}", object.id, object.size) {
        return Err(broken());
    }
    let mut bytes = Vec::new();
    reader.by_ref().take(object.size + 1).read_to_end(&mut bytes).map_err(|_| broken())?;
    match bytes.pop() {
        Some(b'\n') if bytes.len() as u64 == object.size => Ok(bytes),
        _ => Err(broken()),
    }
}

/// Reads a stream to its end, keeping the first bytes.
fn drain(stream: Option<impl Read>, most: u64) -> Vec<u8> {
    let Some(mut stream) = stream else { return Vec::new() };
    let mut kept = Vec::new();
    let _ = stream.by_ref().take(most).read_to_end(&mut kept);
    let _ = std::io::copy(&mut stream, &mut std::io::sink());
    kept
}

/// Waits for a process and kills it after the time limit.
fn wait(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.code().unwrap_or(-1)),
            Ok(None) if start.elapsed() < LONGEST => std::thread::sleep(pause),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// The last line of git's error output.
fn last_line(complaint: &[u8]) -> String {
    let text = String::from_utf8_lossy(complaint);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let told = lines().find(|line| line.starts_with("fatal:")).or_else(|| lines().next_back());
    told.map_or("`git` failed", |line| line.trim_start_matches("fatal:").trim()).to_owned()
}

/// git repeats the address it was given.
fn without_secrets(error: WorldError, address: &str, shown: &str) -> WorldError {
    match error {
        WorldError::FetchFailed(why) => {
            let why = why.replace(address, shown);
            let credentials = address.split_once("://").and_then(|(_, rest)| rest.split('/').next()?.rsplit_once('@'));
            WorldError::FetchFailed(match credentials {
                Some((credentials, _)) if address != shown => why.replace(credentials, "…"),
                _ => why,
            })
        }
        error => error,
    }
}
