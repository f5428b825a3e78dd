//! Commands within bounds: one that prints too much or does not end is killed together with everything that it started.
//!
//! It must not know why a command runs.

use crate::process;
use purlin_value::WorldError;
use purlin_value::world::{Bounds, Command, Output};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// How often the end of a command is looked for while its streams are silent.
const LOOK_UP: Duration = Duration::from_millis(20);

/// Runs a command in a folder.
pub fn run(command: &Command, folder: &Path, bounds: Bounds) -> Result<Output, WorldError> {
    let Some((program, arguments)) = command.argv.split_first() else {
        return Err(WorldError::Failed("there is no command to run".to_owned()));
    };
    let mut native = process::command(program);
    native.args(arguments).env_clear().envs(command.env.iter().map(|(name, value)| (name, value))).current_dir(folder);
    native.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    alone(&mut native);
    let failed = |error: std::io::Error| WorldError::Failed(format!("`{program}` could not be started: {error}"));
    let child = native.spawn().map_err(failed)?;
    let mut running = Running { child, has_ended: false };
    if let Some(mut stdin) = running.child.stdin.take() {
        let bytes = command.stdin.clone();
        // A process that answers before it has read all of its input must not block us.
        std::thread::spawn(move || {
            let _ = stdin.write_all(&bytes);
        });
    }
    let (sender, pieces) = channel();
    if let Some(stdout) = running.child.stdout.take() {
        listen(stdout, Stream::Out, bounds.bytes, sender.clone());
    }
    if let Some(stderr) = running.child.stderr.take() {
        listen(stderr, Stream::Err, bounds.bytes, sender);
    }
    running.wait(&pieces, bounds)
}

/// Makes a process the head of a group of its own, which can be ended as a whole.
#[cfg(unix)]
fn alone(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn alone(_command: &mut std::process::Command) {}

#[derive(Clone, Copy)]
enum Stream {
    Out,
    Err,
}

/// What a stream brought: all of it, or too much.
type Piece = (Stream, Option<Vec<u8>>);

/// Reads a stream to its end on a thread of its own. A reader whose command is given up ends with the process group.
fn listen(stream: impl Read + Send + 'static, which: Stream, most: u64, sender: Sender<Piece>) {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stream.take(most.saturating_add(1)).read_to_end(&mut bytes);
        let is_whole = read.is_ok() && bytes.len() as u64 <= most;
        let _ = sender.send((which, is_whole.then_some(bytes)));
    });
}

/// A running command, which is ended when this is dropped.
struct Running {
    child: Child,
    has_ended: bool,
}

impl Running {
    fn wait(&mut self, pieces: &Receiver<Piece>, bounds: Bounds) -> Result<Output, WorldError> {
        let deadline = Instant::now() + Duration::from_secs(bounds.seconds);
        let mut output = Output::default();
        let mut open = 2;
        while open > 0 || !self.has_ended {
            if let Ok((which, bytes)) = pieces.recv_timeout(LOOK_UP) {
                open -= 1;
                let bytes = bytes.ok_or_else(|| too_much(bounds))?;
                match which {
                    Stream::Out => output.stdout = bytes,
                    Stream::Err => output.stderr = bytes,
                }
            }
            if !self.has_ended
                && let Some(status) = self.child.try_wait().map_err(|error| WorldError::Failed(error.to_string()))?
            {
                self.has_ended = true;
                output.code = status.code().unwrap_or(-1);
            }
            if Instant::now() > deadline {
                return Err(WorldError::Failed(format!("it did not end within {} s", bounds.seconds)));
            }
        }
        Ok(output)
    }
}

fn too_much(bounds: Bounds) -> WorldError {
    WorldError::TooLarge(format!("it printed more than the {} bytes allowed", bounds.bytes))
}

impl Drop for Running {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw) {
            // Children that outlived the command are in its group as well.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        if !self.has_ended {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn sh(script: &str, bounds: Bounds) -> Result<Output, WorldError> {
        let argv = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
        let env = vec![("PATH".to_owned(), std::env::var("PATH").unwrap_or_default())];
        let command = Command { argv, env, folder: ".".to_owned(), stdin: b"asked".to_vec() };
        run(&command, Path::new("/"), bounds)
    }

    const BOUNDS: Bounds = Bounds { bytes: 1000, seconds: 30 };

    #[test]
    fn a_command_reads_and_answers() {
        let output = sh("cat; echo problem >&2; exit 3", BOUNDS).unwrap();
        assert_eq!((output.code, output.stdout, output.stderr), (3, b"asked".to_vec(), b"problem\n".to_vec()));
    }

    #[test]
    fn endless_output_and_endless_time_are_cut_off() {
        assert!(matches!(sh("yes", BOUNDS), Err(WorldError::TooLarge(_))));
        assert!(matches!(sh("yes >&2", BOUNDS), Err(WorldError::TooLarge(_))));
        let short = Bounds { seconds: 1, ..BOUNDS };
        assert!(matches!(sh("sleep 1000", short), Err(WorldError::Failed(_))));
        // What it leaves behind holds its streams open, and is ended too.
        assert!(matches!(sh("sleep 1000 & exit 0", short), Err(WorldError::Failed(_))));
    }
}
