//! Resolves projects in the background, and reports their problems.

use crate::answers::diagnostic;
use crate::uri::uri_of;
use crossbeam_channel::{Receiver, Sender};
use lsp_server::{Message, Notification, RequestId, Response};
use purlin_ide::{Buffers, Change, Choice, Ide, Problem, Workspace};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A message from the main loop to the worker.
pub(crate) enum Task {
    /// Files have changed.
    Changed(Vec<Change>),
    /// An editor has a text of a file: its problems are reported with the version of the text even if they are
    /// unchanged, so that every request for them gets an answer.
    Text { file: String, version: Option<i64>, change: Option<Change> },
    /// An editor has closed a file.
    Closed(String),
    /// Another environment or other profiles.
    Choose(Choice),
    /// Answer this request once everything submitted before is resolved.
    Settled(RequestId),
}

/// Everything the worker needs.
pub(crate) struct Worker {
    pub workspace: Workspace,
    pub ide: Arc<Ide>,
    pub buffers: Arc<Buffers>,
    pub root: String,
    pub tasks: Receiver<Task>,
    pub out: Sender<Message>,
    pub published: BTreeMap<String, Vec<Problem>>,
    /// Versions of open texts.
    pub versions: BTreeMap<String, Option<i64>>,
    /// Open files whose problems are reported with the next result.
    pub due: BTreeSet<String>,
}

impl Worker {
    /// Works until all senders are dropped.
    pub(crate) fn run(mut self) {
        let mut changes: Vec<Change> = Vec::new();
        let mut waiting: Vec<RequestId> = Vec::new();
        let mut is_first = true;
        loop {
            if is_first {
                is_first = false;
            } else {
                match self.tasks.recv() {
                    Ok(task) => self.take(task, &mut changes, &mut waiting),
                    Err(_) => return,
                }
            }
            while let Ok(task) = self.tasks.try_recv() {
                self.take(task, &mut changes, &mut waiting);
            }
            // Newer changes make a partial result worthless; finished projects stay finished.
            let tasks = self.tasks.clone();
            let stop = move || !tasks.is_empty();
            let refreshed = AssertUnwindSafe(|| self.workspace.refresh(&changes, &self.buffers, &stop));
            let picture = match catch_unwind(refreshed) {
                Ok(Some(picture)) => picture,
                Ok(None) => continue,
                Err(_) => {
                    self.apologise();
                    // Partial results are discarded with the next change.
                    changes = vec![Change::Everything];
                    continue;
                }
            };
            changes.clear();
            let problems = picture.problems.clone();
            let before = self.ide.show(picture);
            self.publish(problems);
            for id in waiting.drain(..) {
                let _ = self.out.send(Message::Response(Response { id, response_result: Ok(Value::Null) }));
            }
            drop(before);
        }
    }

    fn take(&mut self, task: Task, changes: &mut Vec<Change>, waiting: &mut Vec<RequestId>) {
        match task {
            Task::Settled(id) => waiting.push(id),
            Task::Changed(more) => more.into_iter().for_each(|change| add(changes, change)),
            Task::Text { file, version, change } => {
                change.into_iter().for_each(|change| add(changes, change));
                self.versions.insert(file.clone(), version);
                self.due.insert(file);
            }
            Task::Closed(file) => {
                self.versions.remove(&file);
                self.due.remove(&file);
                add(changes, Change::Presence(file));
            }
            Task::Choose(choice) => self.workspace.choose(choice),
        }
    }

    /// Reports that a defect of the server prevents projects from being resolved; earlier results stay visible.
    fn apologise(&self) {
        let message = "Purlin could not resolve the projects of this folder because of a defect of its own; what is shown \
                       is from before the last change. Please report it with the lines above.";
        let params = json!({"type": 1, "message": message});
        let _ = self.out.send(Message::Notification(Notification::new("window/logMessage".to_owned(), params)));
    }

    /// Sends problems for the files where they have changed.
    fn publish(&mut self, problems: BTreeMap<String, Vec<Problem>>) {
        let gone: Vec<String> = self.published.keys().filter(|file| !problems.contains_key(*file)).cloned().collect();
        for file in gone {
            self.send(&file, &[]);
            self.due.remove(&file);
        }
        for (file, list) in &problems {
            if self.published.get(file) != Some(list) {
                self.send(file, list);
                self.due.remove(file);
            }
        }
        for file in std::mem::take(&mut self.due) {
            self.send(&file, problems.get(&file).map_or(&[], Vec::as_slice));
        }
        self.published = problems;
    }

    fn send(&self, file: &str, problems: &[Problem]) {
        let diagnostics: Vec<_> = problems.iter().map(|problem| diagnostic(&self.root, problem)).collect();
        let mut params = json!({"uri": uri_of(&crate::answers::full(&self.root, file)), "diagnostics": diagnostics});
        if let Some(Some(version)) = self.versions.get(file) {
            params["version"] = json!(version);
        }
        let message = Notification::new("textDocument/publishDiagnostics".to_owned(), params);
        // If the receiver is gone, the main loop ends soon.
        let _ = self.out.send(Message::Notification(message));
    }
}

fn add(changes: &mut Vec<Change>, change: Change) {
    if !changes.contains(&change) {
        changes.push(change);
    }
}
