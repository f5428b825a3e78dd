//! The cache of results and the executor: one execution is followed to its end, whatever happens to the connection.

use crate::client::{Client, Stop};
use crate::connection::Patience;
use crate::digest::Digest;
use crate::message::{
    ActionResult, Cancel, ExecuteRequest, ExecuteResponse, GetResult, Operation, OperationMetadata, Policy, Stage,
    UpdateResult, WaitRequest,
};
use crate::trouble::{Code, Tried, Trouble, What};
use crate::wire::Message;
use std::time::{Duration, Instant};

const RESULTS: &str = "/build.bazel.remote.execution.v2.ActionCache";
const EXECUTE: &str = "/build.bazel.remote.execution.v2.Execution/Execute";
const WAIT: &str = "/build.bazel.remote.execution.v2.Execution/WaitExecution";
const CANCEL: &str = "/google.longrunning.Operations/CancelOperation";

/// How often an execution is begun.
const TRIES: u32 = 5;

/// Time for telling the server to stop.
const GOODBYE: Duration = Duration::from_millis(1200);

/// One execution.
#[derive(Clone, Copy, Debug)]
pub struct Order<'o> {
    /// The action.
    pub action: Digest,
    /// Whether an earlier result does not count.
    pub is_fresh: bool,
    /// Its time limit.
    pub timeout: Option<Duration>,
    /// The name of an execution that is under way.
    pub resume: Option<&'o str>,
}

/// Follows an execution.
pub trait Watch {
    /// The server has named it.
    fn named(&mut self, name: &str);
    /// It has reached a stage; the worker, if it is known.
    fn stage(&mut self, stage: Stage, worker: &str);
    /// It waits in the queue for long.
    fn waits(&mut self, time: Duration);
    /// Contents are sent: the number of bytes.
    fn sending(&mut self, bytes: u64);
}

/// The state of one execution as far as it is known here.
struct Known {
    name: Option<String>,
    stage: Stage,
    worker: String,
    begun: Instant,
    running: Option<Instant>,
    /// Whether the last stream had a message.
    was_heard: bool,
    /// Whether the user was told that it waits.
    was_told: bool,
}

impl Client {
    /// The result of an action, if the cache has one.
    pub fn cached(&self, action: Digest, stop: Stop<'_>) -> Tried<Option<ActionResult>> {
        let (instance, function) = (self.instance().to_owned(), self.function_number());
        let question = GetResult { instance, action: Some(action), inline_stdout: true, inline_stderr: true, function };
        match self.ask(&format!("{RESULTS}/GetActionResult"), &question, stop) {
            Ok(result) => Ok(Some(result)),
            Err(trouble) if trouble.is(Code::NotFound) => Ok(None),
            // Seen where a stored result names contents that are gone.
            Err(trouble) if trouble.is(Code::FailedPrecondition) => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    /// Writes the result of an action to the cache.
    pub fn keep(&self, action: Digest, result: ActionResult, stop: Stop<'_>) -> Tried<()> {
        let (instance, function) = (self.instance().to_owned(), self.function_number());
        let question = UpdateResult { instance, action: Some(action), result: Some(result), function };
        self.ask::<_, ActionResult>(&format!("{RESULTS}/UpdateActionResult"), &question, stop).map(|_| ())
    }

    /// Runs an action to its end. A lost connection does not end it: it is found again by its name.
    pub fn execute(&self, order: &Order<'_>, watch: &mut dyn Watch, stop: Stop<'_>) -> Tried<ExecuteResponse> {
        let name = order.resume.map(str::to_owned);
        let mut known = Known {
            name,
            stage: Stage::Unknown,
            worker: String::new(),
            begun: Instant::now(),
            running: None,
            was_heard: false,
            was_told: false,
        };
        let (mut tries, mut lost) = (0, 0);
        loop {
            let was_named = known.name.is_some();
            let trouble = match self.follow(order, &mut known, watch, stop) {
                Ok(Some(response)) => return Ok(response),
                // The stream ended, the execution did not.
                Ok(None) => Trouble::from(What::Lost("the stream of the execution ended".to_owned())),
                Err(trouble) => trouble,
            };
            if trouble.what == What::Stopped {
                self.cancel(&known);
                return Err(trouble);
            }
            if let Some(why) = self.is_overdue(order, &known) {
                self.cancel(&known);
                return Err(why);
            }
            // An action may be silent for long, but a server says what it knows when it is asked.
            let is_silent = matches!(trouble.what, What::Silent(_)) && known.name.is_some() && known.was_heard;
            let is_unknown =
                was_named && (trouble.is(Code::NotFound) || trouble.is(Code::Unimplemented)) && known.name.is_some();
            if is_unknown {
                // The server no longer knows it, so it cannot end twice.
                known = Known { name: None, stage: Stage::Unknown, worker: String::new(), ..known };
                tries += 1;
            } else if !trouble.is_passing() {
                return Err(trouble);
            } else if known.name.is_none() {
                tries += 1;
            } else if !is_silent {
                lost += 1;
            }
            if tries >= TRIES || lost >= TRIES * 4 {
                return Err(trouble);
            }
            if !is_silent {
                self.pause(tries.max(lost.min(4)), &trouble, stop)?;
            }
        }
    }

    /// Reads one stream of an execution; none if it ended before the execution did.
    fn follow(
        &self,
        order: &Order<'_>,
        known: &mut Known,
        watch: &mut dyn Watch,
        stop: Stop<'_>,
    ) -> Tried<Option<ExecuteResponse>> {
        let until = self.deadline(order, known);
        known.was_heard = false;
        let silence = self.settings().silence;
        let patience = Patience { silence, until, stop };
        let (method, wait) = match &known.name {
            Some(name) => (WAIT, Some(WaitRequest { name: name.clone() })),
            None => (EXECUTE, None),
        };
        self.once(method, patience, |mut call| {
            match &wait {
                Some(wait) => call.send(wait, true)?,
                None => call.send(&self.request(order), true)?,
            }
            loop {
                match call.next::<Operation>() {
                    Ok(Some(operation)) => {
                        known.was_heard = true;
                        if let Some(response) = known.take(&operation, watch)? {
                            return Ok(Some(response));
                        }
                    }
                    Ok(None) => return Ok(None),
                    Err(trouble) if matches!(trouble.what, What::Silent(_)) && self.is_to_be_told(known) => {
                        known.was_told = true;
                        watch.waits(known.begun.elapsed());
                    }
                    Err(trouble) => return Err(trouble),
                }
                call.be_patient(Patience { silence, until: self.deadline(order, known), stop });
            }
        })
    }

    /// Whether it is time to say that an execution waits.
    fn is_to_be_told(&self, known: &Known) -> bool {
        known.stage == Stage::Queued && !known.was_told && known.begun.elapsed() >= self.settings().notice
    }

    fn request(&self, order: &Order<'_>) -> ExecuteRequest {
        let priority = i32::try_from(self.settings().priority).unwrap_or(0);
        ExecuteRequest {
            instance: self.instance().to_owned(),
            is_fresh: order.is_fresh,
            action: Some(order.action),
            policy: (priority != 0).then_some(Policy { priority: i64::from(priority) }),
            function: self.function_number(),
            inline_stdout: true,
            inline_stderr: true,
        }
    }

    /// When patience with an execution ends. A server that does not name stages may still have it in its queue.
    fn deadline(&self, order: &Order<'_>, known: &Known) -> Option<Instant> {
        let queue = self.settings().queue;
        // The server may take some time to end an action after its time limit: it also sends the outputs meanwhile.
        let grace = self.settings().silence;
        match (known.running, known.stage) {
            (Some(running), _) => order.timeout.map(|timeout| running + timeout + grace),
            (None, Stage::Queued) if !known.was_told => Some(known.begun + queue.min(self.settings().notice)),
            (None, Stage::Queued) => Some(known.begun + queue),
            (None, _) => order.timeout.map(|timeout| known.begun + queue + timeout + grace),
        }
    }

    fn is_overdue(&self, order: &Order<'_>, known: &Known) -> Option<Trouble> {
        let deadline = self.deadline(order, known)?;
        if known.stage == Stage::Queued && known.begun.elapsed() < self.settings().queue {
            return None;
        }
        if Instant::now() < deadline {
            return None;
        }
        Some(match (known.stage, order.timeout) {
            (Stage::Queued, _) => What::NoWorker(self.settings().queue).into(),
            (_, Some(_)) => What::Refused(Code::DeadlineExceeded, "its time limit has passed".to_owned()).into(),
            (_, None) => What::NoWorker(self.settings().queue).into(),
        })
    }

    /// Tells the server to stop an execution. Not every server can; it may run on there, and nothing is lost.
    fn cancel(&self, known: &Known) {
        let Some(name) = known.name.clone() else { return };
        let patience = Patience { silence: GOODBYE, until: Some(Instant::now() + GOODBYE), stop: &|| false };
        let _ = self.once(CANCEL, patience, |mut call| {
            call.send(&Cancel { name }, true)?;
            call.next::<Operation>()
        });
    }
}

impl Known {
    /// Takes a message about the execution; its end, if it has ended.
    fn take(&mut self, operation: &Operation, watch: &mut dyn Watch) -> Tried<Option<ExecuteResponse>> {
        if !operation.name.is_empty() && self.name.as_deref() != Some(operation.name.as_str()) {
            watch.named(&operation.name);
            self.name = Some(operation.name.clone());
        }
        if let Some(any) = operation.metadata.as_ref().filter(|any| any.name.ends_with("ExecuteOperationMetadata")) {
            let metadata = OperationMetadata::decode(&any.value).unwrap_or_default();
            self.reach(&metadata, watch);
        }
        if !operation.is_done {
            return Ok(None);
        }
        if let Some(error) = operation.error.as_ref().filter(|error| error.code != 0) {
            // It has ended, so it is begun again if that may help.
            self.name = None;
            return Err(Trouble::of(error));
        }
        let any = operation.response.as_ref().ok_or(What::Malformed("an execution ended without a result"))?;
        let response = ExecuteResponse::decode(&any.value).map_err(|_| What::Malformed("a result cannot be read"))?;
        match response.status.as_ref().filter(|status| status.code != 0) {
            Some(status) if Code::of(status.code) != Code::DeadlineExceeded => {
                self.name = None;
                Err(Trouble::of(status))
            }
            _ => Ok(Some(response)),
        }
    }

    fn reach(&mut self, metadata: &OperationMetadata, watch: &mut dyn Watch) {
        let worker = metadata.partial.as_ref().map(|partial| partial.worker.clone()).unwrap_or_default();
        let stage = metadata.stage();
        if stage == self.stage && (worker.is_empty() || worker == self.worker) {
            return;
        }
        match stage {
            Stage::Running => {
                self.running.get_or_insert_with(Instant::now);
            }
            // It begins to wait, or waits again because its worker was lost.
            Stage::Queued => {
                self.running = None;
                self.begun = Instant::now();
            }
            _ => {}
        }
        self.stage = stage;
        self.worker = worker;
        watch.stage(stage, &self.worker);
    }
}
