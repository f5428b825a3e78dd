//! Executions: begun by one call, followed by any number, ended by a command or a cancellation.

use crate::call::{Broken, Call};
use crate::faults::MissingAs;
use crate::{State, locked, results, work};
use purlin_remote::digest::Digest;
use purlin_remote::message::{
    Action, Any, Cancel, Directory, ExecuteRequest, ExecuteResponse, Metadata, Operation, OperationMetadata,
    PreconditionFailure, Status, Violation, WaitRequest,
};
use purlin_remote::wire::Message;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How often something that waits looks up.
const LOOK_UP: Duration = Duration::from_millis(20);

/// How far an execution is.
#[derive(Clone, PartialEq)]
pub(crate) enum Phase {
    Queued,
    Running,
    Done(Box<ExecuteResponse>),
    Failed(Status),
}

/// One execution.
pub(crate) struct Execution {
    name: String,
    pub(crate) action: Digest,
    phase: Mutex<Phase>,
    changed: Condvar,
    is_cancelled: AtomicBool,
}

impl Execution {
    pub(crate) fn is_over(&self) -> bool {
        matches!(*locked(&self.phase), Phase::Done(_) | Phase::Failed(_))
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    pub(crate) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    fn reach(&self, phase: Phase) {
        *locked(&self.phase) = phase;
        self.changed.notify_all();
    }
}

pub(crate) fn execute(state: &Arc<State>, call: &mut Call) -> Result<(), Broken> {
    let question: ExecuteRequest = call.ask()?;
    let nature = state.nature();
    if nature.is_cache_only {
        return Err(Broken::status(12, "this server runs nothing"));
    }
    let digest = question.action.ok_or_else(|| Broken::status(3, "no action"))?;
    let name = format!("operations/{}", state.count.fetch_add(1, Ordering::Relaxed));
    let begin = |phase: Phase| Execution {
        name: name.clone(),
        action: digest,
        phase: Mutex::new(phase),
        changed: Condvar::new(),
        is_cancelled: AtomicBool::new(false),
    };
    let is_fresh = question.is_fresh || nature.ignores_results;
    if let Some(result) = (!is_fresh).then(|| results::result(state, &digest)).flatten() {
        let response = ExecuteResponse { result: Some(result), is_cached: true, ..ExecuteResponse::default() };
        return follow(state, call, &Arc::new(begin(Phase::Done(Box::new(response)))));
    }
    let missing = missing(state, digest);
    if let Some(first) = missing.first() {
        return lacks(state, call, &missing, *first, begin);
    }
    let execution = Arc::new(begin(Phase::Queued));
    locked(&state.executions).insert(name.clone(), execution.clone());
    let (shared, own) = (state.clone(), execution.clone());
    let spawned = std::thread::Builder::new().name("work".into()).spawn(move || carry_out(&shared, &own));
    spawned.map_err(|_| Broken::status(8, "no thread"))?;
    follow(state, call, &execution)
}

/// Reports that inputs are missing.
fn lacks(
    state: &Arc<State>,
    call: &mut Call,
    missing: &[Digest],
    first: Digest,
    begin: impl Fn(Phase) -> Execution,
) -> Result<(), Broken> {
    let text = format!("{first} is missing");
    match state.nature().missing_as {
        MissingAs::Details => {
            let violation = |digest: &Digest| Violation {
                kind: "MISSING".to_owned(),
                subject: format!("blobs/{digest}"),
                description: String::new(),
            };
            let failure = PreconditionFailure { violations: missing.iter().map(violation).collect() };
            let name = "type.googleapis.com/google.rpc.PreconditionFailure".to_owned();
            Err(Broken::with_details(9, &text, vec![Any { name, value: failure.to_bytes() }]))
        }
        MissingAs::FailedPrecondition => Err(Broken::status(9, &text)),
        MissingAs::Internal => Err(Broken::status(13, &text)),
        MissingAs::NotFound => Err(Broken::status(5, &text)),
        MissingAs::InternalResult => {
            let status = Some(Status { code: 13, message: text, details: Vec::new() });
            let response = ExecuteResponse { status, ..ExecuteResponse::default() };
            follow(state, call, &Arc::new(begin(Phase::Done(Box::new(response)))))
        }
    }
}

/// The inputs of an action that are not stored.
fn missing(state: &State, action: Digest) -> Vec<Digest> {
    let Some(bytes) = state.blob(&action) else { return vec![action] };
    let Ok(message) = Action::decode(&bytes) else { return vec![action] };
    let mut missing: Vec<Digest> = message.command.into_iter().filter(|digest| state.blob(digest).is_none()).collect();
    let mut open: Vec<Digest> = message.input.into_iter().collect();
    while let Some(digest) = open.pop() {
        let Some(directory) = state.blob(&digest).and_then(|bytes| Directory::decode(&bytes).ok()) else {
            missing.push(digest);
            continue;
        };
        let files = directory.files.iter().filter_map(|node| node.digest);
        missing.extend(files.filter(|digest| state.blob(digest).is_none()));
        open.extend(directory.directories.iter().filter_map(|node| node.digest));
    }
    missing
}

/// Runs an action on a thread of its own.
fn carry_out(state: &Arc<State>, execution: &Arc<Execution>) {
    let until = std::time::Instant::now() + state.nature().queue;
    while state.nature().has_no_worker || std::time::Instant::now() < until {
        if execution.is_cancelled() || state.is_closed.load(Ordering::Relaxed) {
            return execution.reach(cancelled());
        }
        std::thread::sleep(LOOK_UP);
    }
    execution.reach(Phase::Running);
    let rounds = if state.nature().runs_twice { 2 } else { 1 };
    let mut ended = Err(Status::default());
    for _ in 0..rounds {
        *locked(&state.runs).entry(execution.action).or_default() += 1;
        ended = work::run(state, execution);
    }
    if execution.is_cancelled() {
        return execution.reach(cancelled());
    }
    let response = match ended {
        Ok(response) => response,
        Err(status) => return execution.reach(Phase::Failed(status)),
    };
    keep(state, execution.action, &response);
    execution.reach(Phase::Done(Box::new(response)));
}

/// Keeps a result if it may be kept, and loses what a forgetful server loses.
fn keep(state: &State, action: Digest, response: &ExecuteResponse) {
    let Some(result) = &response.result else { return };
    let nature = state.nature();
    let is_cached = state.blob(&action).and_then(|bytes| Action::decode(&bytes).ok()).is_some_and(|a| !a.is_not_cached);
    if is_cached && response.status.is_none() && (result.exit_code == 0 || nature.caches_failures) {
        locked(&state.results).insert(action, result.clone());
    }
    if nature.forgets_outputs > 0 {
        locked(&state.nature).forgets_outputs -= 1;
        for digest in results::named(state, result) {
            locked(&state.blobs).remove(&digest);
        }
    }
}

fn cancelled() -> Phase {
    Phase::Failed(Status { code: 1, message: "cancelled".to_owned(), details: Vec::new() })
}

/// Tells a caller about an execution until it has ended.
fn follow(state: &State, call: &mut Call, execution: &Arc<Execution>) -> Result<(), Broken> {
    let mut told: Option<Phase> = None;
    loop {
        let phase = locked(&execution.phase).clone();
        if told.as_ref() != Some(&phase) {
            call.answer(&operation(state, execution, &phase))?;
            if matches!(phase, Phase::Done(_) | Phase::Failed(_)) {
                return Ok(());
            }
            told = Some(phase);
        }
        if call.is_gone() {
            return Err(Broken::Gone);
        }
        let guard = locked(&execution.phase);
        if told.as_ref() == Some(&*guard) {
            let _ = execution.changed.wait_timeout(guard, LOOK_UP).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn operation(state: &State, execution: &Execution, phase: &Phase) -> Operation {
    let nature = state.nature();
    let (stage, worker) = match phase {
        Phase::Queued => (2, String::new()),
        Phase::Running => (3, nature.worker.clone()),
        Phase::Done(_) | Phase::Failed(_) => (4, nature.worker.clone()),
    };
    let partial = Some(Metadata { worker, ..Metadata::default() });
    let metadata = OperationMetadata { stage, action: Some(execution.action), partial };
    let any = |name: &str, value: Vec<u8>| Any {
        name: format!("type.googleapis.com/build.bazel.remote.execution.v2.{name}"),
        value,
    };
    let mut operation = Operation { name: execution.name.clone(), ..Operation::default() };
    if !nature.names_no_stages {
        operation.metadata = Some(any("ExecuteOperationMetadata", metadata.to_bytes()));
    }
    match phase {
        Phase::Done(response) => {
            operation.is_done = true;
            operation.response = Some(any("ExecuteResponse", response.to_bytes()));
        }
        Phase::Failed(status) => {
            operation.is_done = true;
            operation.error = Some(status.clone());
        }
        _ => {}
    }
    operation
}

fn named(state: &State, name: &str) -> Result<Arc<Execution>, Broken> {
    locked(&state.executions).get(name).cloned().ok_or_else(|| Broken::status(5, "no such execution"))
}

pub(crate) fn wait(state: &Arc<State>, call: &mut Call) -> Result<(), Broken> {
    let question: WaitRequest = call.ask()?;
    let execution = named(state, &question.name)?;
    follow(state, call, &execution)
}

pub(crate) fn cancel(state: &State, call: &mut Call) -> Result<(), Broken> {
    let question: Cancel = call.ask()?;
    if state.nature().cannot_cancel {
        return Err(Broken::status(12, "executions cannot be cancelled"));
    }
    named(state, &question.name)?.cancel();
    call.answer(&Operation::default())
}
