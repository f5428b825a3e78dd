//! Logs of deploys that are followed while other things go on.

use crate::cluster::ClusterDeploy;
use crate::event::Cause;
use crate::stop::Stop;
use crate::work::Doing;
use purlin_cluster::logs::{Line, Wish};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// The signal that ends a thread of ours.
const END: i32 = 15;

/// The age of the first lines that are shown.
const RECENT: Duration = Duration::from_secs(1);

/// What a deploy says: a line of a container, or why there are none.
pub type Came = (String, Result<Line, Cause>);

/// Followed logs of several deploys.
pub struct Tails {
    open: BTreeMap<String, Tail>,
    sender: Sender<Came>,
    lines: Receiver<Came>,
}

struct Tail {
    workloads: Vec<String>,
    stop: Arc<Stop>,
}

impl Drop for Tail {
    fn drop(&mut self) {
        self.stop.ask(END);
    }
}

impl Default for Tails {
    fn default() -> Self {
        let (sender, lines) = channel();
        Tails { open: BTreeMap::new(), sender, lines }
    }
}

impl Tails {
    /// Follows the logs of a deploy; one that is followed and has the same workloads goes on.
    pub fn add(&mut self, id: &str, deploy: &Arc<ClusterDeploy>) {
        let workloads = deploy.workloads();
        if self.open.get(id).is_some_and(|tail| tail.workloads == workloads) {
            return;
        }
        let Ok(stop) = Stop::new().map(Arc::new) else { return };
        let (sender, deploy, own, shared) = (self.sender.clone(), deploy.clone(), id.to_owned(), stop.clone());
        let work = move || {
            let wish = Wish { tail: None, since: Some(RECENT), is_meant: &|_| true };
            // The receiver is gone at the end.
            let mut say = |line: &Line| drop(sender.send((own.clone(), Ok(line.clone()))));
            if let Err(trouble) = deploy.follow_logs(&wish, Doing::looking(&shared), &mut say)
                && trouble.cause != Cause::Stopped
            {
                let _ = sender.send((own, Err(trouble.cause)));
            }
        };
        if std::thread::Builder::new().name("logs".into()).spawn(work).is_ok() {
            self.open.insert(id.to_owned(), Tail { workloads, stop });
        }
    }

    /// New lines since the last call.
    pub fn lines(&self) -> Vec<Came> {
        self.lines.try_iter().collect()
    }
}
