//! Policies in a process of their own, which runs this program again: the engines count their steps, but only a process
//! bounds their memory.
//!
//! The process gets the question on its standard input and nothing else: no argument of the user, no environment, no
//! folder of the project.

use crate::process::command;
use std::io::{Read, Write};
use std::process::Stdio;
use std::time::Duration;

/// The argument that makes the program an evaluator.
pub const ARGUMENT: &str = "--evaluate-policies";

/// Bytes of memory that an evaluation may use.
pub const MEMORY: u64 = 256 << 20;

/// Seconds of processor time that an evaluation may use.
pub const SECONDS: u64 = 30;

/// Times as many seconds until an evaluation ends itself, where the system does not bound it.
const PATIENCE: u64 = 4;

/// Bytes of an answer.
const MOST_BYTES: u64 = 64 << 20;

/// Bytes of the stack that an evaluation has.
const STACK: usize = 64 << 20;

/// Asks an evaluator; its answer is cut off if it exceeded a bound.
pub fn ask(question: &str) -> Result<String, String> {
    let said = |error: std::io::Error| format!("policies could not be evaluated: {error}");
    let program = std::env::current_exe().map_err(said)?;
    let mut command = command(program);
    // The allocator would take a gigabyte at once, more than the process may have.
    command.arg(ARGUMENT).env_clear().env("MIMALLOC_ARENA_EAGER_COMMIT", "0");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(said)?;
    let mut answer = String::new();
    // It reads the whole question before it answers, so that neither waits for the other.
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all(question.as_bytes());
    }
    if let Some(output) = child.stdout.take() {
        let mut bytes = Vec::new();
        let _ = output.take(MOST_BYTES).read_to_end(&mut bytes);
        answer = String::from_utf8_lossy(&bytes).into_owned();
    }
    let _ = child.kill();
    child.wait().map_err(said)?;
    Ok(answer)
}

/// Whether this process is an evaluator.
pub fn is_evaluator() -> bool {
    std::env::args_os().nth(1).is_some_and(|first| first == ARGUMENT)
}

/// The work of an evaluator: bounds itself, reads the question, and has it answered.
pub fn serve(answer: fn(&str, &mut dyn Write) -> std::io::Result<()>) {
    bound();
    let mut question = String::new();
    if std::io::stdin().read_to_string(&mut question).is_err() {
        return;
    }
    let work = move || {
        let mut out = std::io::stdout();
        let _ = answer(&question, &mut out).and_then(|()| out.flush());
    };
    if let Ok(thread) = std::thread::Builder::new().stack_size(STACK).spawn(work) {
        let _ = thread.join();
    }
}

/// Bounds this process, and all that it does from now on.
fn bound() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let most = |bound: u64| Rlimit { current: Some(bound), maximum: Some(bound) };
        // Allocators reserve addresses that they may never use, so that only data is bounded tightly.
        let bounds = [
            (Resource::Data, MEMORY),
            (Resource::As, 8 * MEMORY),
            (Resource::Cpu, SECONDS),
            (Resource::Core, 0),
            (Resource::Fsize, 0),
        ];
        for (resource, bound) in bounds {
            let _ = setrlimit(resource, most(bound));
        }
    }
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_secs(PATIENCE * SECONDS));
        std::process::exit(1);
    });
}
