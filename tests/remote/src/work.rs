//! Runs a command in a folder of its own, with nothing but its input and its environment.

use crate::State;
use crate::execution::Execution;
use purlin_remote::digest::Digest;
use purlin_remote::message::{
    Action, ActionResult, Command, Directory, DirectoryNode, ExecuteResponse, FileNode, LinkNode, Metadata, OutputFile,
    OutputFolder, OutputLink, Status,
};
use purlin_remote::wire::{Message, Writer};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How often a process is looked at.
const LOOK_UP: Duration = Duration::from_millis(1);

/// A folder that is removed in the end.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn internal(error: &io::Error) -> Status {
    Status { code: 13, message: error.to_string(), details: Vec::new() }
}

/// Runs an action.
pub(crate) fn run(state: &Arc<State>, execution: &Execution) -> Result<ExecuteResponse, Status> {
    run_in(state, execution).map_err(|error| internal(&error))
}

fn message<M: Message>(state: &State, digest: Option<Digest>) -> io::Result<M> {
    let gone = || io::Error::other("an input is gone");
    let bytes = state.blob(&digest.ok_or_else(gone)?).ok_or_else(gone)?;
    M::decode(&bytes).map_err(|_| io::Error::other("an input cannot be read"))
}

fn run_in(state: &Arc<State>, execution: &Execution) -> io::Result<ExecuteResponse> {
    let number = state.count.fetch_add(1, Ordering::Relaxed);
    let scratch = Scratch(state.scratch.join(format!("run-{number}")));
    let root = scratch.0.join("root");
    let action: Action = message(state, Some(execution.action))?;
    let command: Command = message(state, action.command)?;
    fs::create_dir_all(&root)?;
    lay_out(state, action.input, &root)?;
    let limit = action.timeout.filter(|_| !state.nature().ignores_timeouts).map(|span| {
        Duration::from_secs(u64::try_from(span.seconds).unwrap_or(0))
            + Duration::from_nanos(u64::try_from(span.nanos).unwrap_or(0))
    });
    let (out, err) = (scratch.0.join("stdout"), scratch.0.join("stderr"));
    let ended = match start(&command, &root, (&out, &err)) {
        Ok(child) => wait(child, limit, execution)?,
        // As a shell says it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ended::Exit(127),
        Err(error) => return Err(error),
    };
    let mut result = outputs(state, &command, &root)?;
    result.exit_code = match ended {
        Ended::Exit(code) => code,
        Ended::Late => 137,
    };
    printed(state, &mut result, (&out, &err))?;
    result.metadata = Some(Metadata { worker: state.nature().worker, ..Metadata::default() });
    let status = (ended == Ended::Late).then(|| Status { code: 4, message: "too late".into(), details: Vec::new() });
    Ok(ExecuteResponse { result: Some(result), is_cached: false, status, message: String::new() })
}

fn lay_out(state: &State, folder: Option<Digest>, to: &Path) -> io::Result<()> {
    let folder: Directory = message(state, folder)?;
    for node in &folder.files {
        let bytes = node.digest.and_then(|digest| state.blob(&digest));
        let path = to.join(&node.name);
        fs::write(&path, &bytes.ok_or_else(|| io::Error::other("an input is gone"))?)?;
        let mode = if node.is_executable { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
    }
    for node in &folder.links {
        std::os::unix::fs::symlink(&node.target, to.join(&node.name))?;
    }
    for node in &folder.directories {
        fs::create_dir(to.join(&node.name))?;
        lay_out(state, node.digest, &to.join(&node.name))?;
    }
    Ok(())
}

fn start(command: &Command, root: &Path, (out, err): (&Path, &Path)) -> io::Result<Child> {
    let (program, arguments) = command.arguments.split_first().ok_or_else(|| io::Error::other("no command"))?;
    let mut started = std::process::Command::new(program);
    started.args(arguments).current_dir(root.join(&command.folder)).env_clear();
    started.envs(command.environment.iter().map(|variable| (&variable.name, &variable.value)));
    started.stdin(Stdio::null()).stdout(fs::File::create(out)?).stderr(fs::File::create(err)?).process_group(0);
    started.spawn()
}

#[derive(Clone, Copy, PartialEq)]
enum Ended {
    Exit(i64),
    Late,
}

fn code(status: ExitStatus) -> i64 {
    i64::from(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)))
}

fn wait(mut child: Child, limit: Option<Duration>, execution: &Execution) -> io::Result<Ended> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::Exit(code(status)));
        }
        let is_late = limit.is_some_and(|limit| begun.elapsed() >= limit);
        if is_late || execution.is_cancelled() {
            let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
            if let Some(group) = group {
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
            child.wait()?;
            return Ok(Ended::Late);
        }
        std::thread::sleep(LOOK_UP);
    }
}

fn printed(state: &State, result: &mut ActionResult, (out, err): (&Path, &Path)) -> io::Result<()> {
    let (out, err) = (fs::read(out).unwrap_or_default(), fs::read(err).unwrap_or_default());
    let is_inline = |bytes: &[u8]| bytes.len() <= 1024 && !state.nature().inlines_nothing;
    if is_inline(&out) {
        result.stdout.clone_from(&out);
    }
    if is_inline(&err) {
        result.stderr.clone_from(&err);
    }
    result.stdout_digest = Some(state.keep(out));
    result.stderr_digest = Some(state.keep(err));
    Ok(())
}

fn outputs(state: &State, command: &Command, root: &Path) -> io::Result<ActionResult> {
    let nature = state.nature();
    let mut result = ActionResult::default();
    let new = if nature.knows_old_outputs_only { &[][..] } else { &command.output_paths };
    for path in new.iter().chain(&command.output_files).chain(&command.output_folders) {
        let full = root.join(&command.folder).join(path);
        let Ok(found) = fs::symlink_metadata(&full) else {
            if nature.drops_outputs {
                return Ok(ActionResult::default());
            }
            continue;
        };
        if found.is_symlink() {
            let target = fs::read_link(&full)?.to_string_lossy().into_owned();
            result.links.push(OutputLink { path: path.clone(), target });
        } else if found.is_dir() {
            let (tree, root) = tree(state, &full)?;
            let (tree, root) = if nature.sends_roots { (None, Some(root)) } else { (Some(state.keep(tree)), None) };
            result.folders.push(OutputFolder { path: path.clone(), tree, root });
        } else {
            let digest = Some(state.keep(fs::read(&full)?));
            let is_executable = found.permissions().mode() & 0o111 != 0;
            result.files.push(OutputFile { path: path.clone(), digest, is_executable, contents: Vec::new() });
        }
    }
    Ok(result)
}

/// The tree message of a folder, and the digest of its root, which is kept with all folders below it.
fn tree(state: &State, folder: &Path) -> io::Result<(Vec<u8>, Digest)> {
    let mut children = Vec::new();
    let root = directory(state, folder, &mut children)?;
    let mut to = Writer::default();
    to.item(1, &root);
    children.iter().for_each(|child| to.item(2, child));
    Ok((to.into_bytes(), state.keep(root)))
}

fn directory(state: &State, folder: &Path, children: &mut Vec<Vec<u8>>) -> io::Result<Vec<u8>> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut message = Directory::default();
    for entry in entries {
        let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
        let found = fs::symlink_metadata(&path)?;
        if found.is_symlink() {
            let target = fs::read_link(&path)?.to_string_lossy().into_owned();
            message.links.push(LinkNode { name, target });
        } else if found.is_dir() {
            let bytes = directory(state, &path, children)?;
            let digest = Some(state.keep(bytes.clone()));
            children.push(bytes);
            message.directories.push(DirectoryNode { name, digest });
        } else if found.is_file() {
            let digest = Some(state.keep(fs::read(&path)?));
            let is_executable = found.permissions().mode() & 0o111 != 0;
            message.files.push(FileNode { name, digest, is_executable });
        }
    }
    Ok(message.to_bytes())
}
