//! Scripts of a Garden project's providers: they run first, in the project's folder, and their outputs are available to
//! everything after them.

use crate::commands::run::Place;
use crate::invocation::{Exit, Invocation};
use purlin_garden::scripts::{Script, folder, outputs};
use purlin_model::Request;
use purlin_run::action::Command;
use purlin_run::capture::Capture;
use purlin_run::executor::{Executor, Job};
use purlin_run::local::process::Ended;
use purlin_run::mask::Mask;
use purlin_value::{Session, Value};
use std::path::Path;

/// Runs the scripts of the providers that the environment uses. Nothing is started if there are none.
pub(crate) fn run_first(
    invocation: &mut Invocation<'_>,
    found: &[Script],
    session: &Session,
    request: &mut Request,
) -> Result<(), Exit> {
    if found.is_empty() {
        return Ok(());
    }
    let Some(root) = folder(session, request) else { return Ok(()) };
    let root = Path::new(session.world.root()).join(root);
    invocation.veil.hide(&session.sink.secrets());
    let place = Place::new(invocation, &root)?;
    for script in found {
        let log = run_one(invocation, &place, &root, script)?;
        if script.key == "initScript" {
            let log = Value::str(log.as_str()).tainted_if(script.is_secret);
            request.known.push(outputs(log));
        }
    }
    Ok(())
}

/// Runs one script and shows what it prints. Returns what it printed.
fn run_one(invocation: &mut Invocation<'_>, place: &Place, root: &Path, script: &Script) -> Result<String, Exit> {
    let name = format!("{} of provider `{}`", script.key, script.provider);
    let _ = writeln!(invocation.stderr, "{name}: running");
    let words = vec!["bash".to_owned(), "-c".to_owned(), script.text.clone()];
    let command = Command { words, shell: false, folder: root.to_owned(), env: Vec::new() };
    // A script may print values computed from secrets.
    let mask = Mask::new(script.is_secret.then_some(script.text.as_str()));
    let mut capture = Capture::new(&mask, None);
    let job = Job { command: &command, timeout: None, stop: &place.stop };
    let ended = {
        let stderr = &mut invocation.stderr;
        let mut show = |line: &str| {
            let _ = writeln!(stderr, "{} | {line}", script.provider);
        };
        place.executor.execute(&job, &mut |stream, bytes| capture.push(stream, bytes, &mut show))
    };
    let printed = {
        let stderr = &mut invocation.stderr;
        capture.finish(&mut |line| {
            let _ = writeln!(stderr, "{} | {line}", script.provider);
        })
    };
    let problem = match ended {
        Ok(Ended::Exit(0)) => None,
        Ok(Ended::Exit(code)) => Some(format!("exit code {code}")),
        Ok(Ended::Signal(signal)) => Some(format!("ended by signal {signal}")),
        Ok(Ended::TimedOut | Ended::Stopped) => Some("stopped".to_owned()),
        Err(_) => Some("`bash` could not be started".to_owned()),
    };
    match problem {
        Some(problem) => Err(invocation.refuse(&format!("{name} failed: {problem}"), Exit::Other(1))),
        None => Ok(format!("{}\n{}", printed.out, printed.err).trim().to_owned()),
    }
}
