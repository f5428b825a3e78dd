//! Connects the threads that serve browsers with the one that owns the project: requests go in, answers come out.
//!
//! A request for changes waits until there is one, or for a limited time.

use purlin_host::serve::{Asked, Served};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Time limit of a request that waits for a change.
const PATIENCE: Duration = Duration::from_secs(25);

/// A request, and the channel for its answer.
type Question = (Asked, SyncSender<Served>);

/// State shared by the threads.
struct Shared {
    version: Mutex<u64>,
    changed: Condvar,
    questions: Mutex<Sender<Question>>,
}

/// The owner's end.
pub struct Desk {
    questions: Receiver<Question>,
    shared: Arc<Shared>,
}

impl Default for Desk {
    fn default() -> Self {
        Desk::new()
    }
}

impl Desk {
    /// A desk without requests.
    pub fn new() -> Self {
        let (sender, questions) = channel();
        let shared = Shared { version: Mutex::new(1), changed: Condvar::new(), questions: Mutex::new(sender) };
        Desk { questions, shared: Arc::new(shared) }
    }

    /// The handler for the threads of the server.
    pub fn answer(&self) -> Arc<dyn Fn(&Asked) -> Served + Send + Sync> {
        let shared = self.shared.clone();
        Arc::new(move |asked: &Asked| match asked.path.as_str() {
            "/data/changes" => shared.wait(asked.get("since").and_then(|since| since.parse().ok()).unwrap_or(0)),
            _ => shared.ask(asked),
        })
    }

    /// Answers requests until none has come for this long.
    pub fn serve(&self, wait: Duration, mut answer: impl FnMut(&Asked) -> Served) {
        let Ok(mut next) = self.questions.recv_timeout(wait) else { return };
        loop {
            // The requester may be gone.
            let _ = next.1.send(answer(&next.0));
            match self.questions.try_recv() {
                Ok(question) => next = question,
                Err(_) => return,
            }
        }
    }

    /// Tells all waiting requests that the project has changed.
    pub fn tell(&self, version: u64) {
        *self.shared.version.lock().unwrap_or_else(PoisonError::into_inner) = version;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn ask(&self, asked: &Asked) -> Served {
        let (sender, answer) = sync_channel(1);
        let questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let sent = questions.send((asked.clone(), sender));
        match sent.ok().and_then(|()| answer.recv().ok()) {
            Some(served) => served,
            None => Served::refused(503, "the program is ending"),
        }
    }

    fn wait(&self, since: u64) -> Served {
        let version = self.version.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(version, PATIENCE, |version| *version <= since);
        let version = waited.map_or_else(|poisoned| *poisoned.into_inner().0, |(version, _)| *version);
        Served::found("application/json", format!("{{\"version\":{version}}}").into_bytes())
    }
}
