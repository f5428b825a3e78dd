//! An ensemble as a Deploy: one job brings it up, another takes it down.

use super::{Place, other, outputs, problems};
use crate::ensemble::Runner;
use crate::event::{Cause, End, Event, Reporter, Summary};
use crate::outputs::Outputs;
use crate::past::StateOf;
use crate::work::{Doing, Trouble, Work};
use purlin_model::Ask;
use purlin_unfurl::job::Job;
use purlin_unfurl::job::options::{Options, Workflow};
use purlin_unfurl::tree::Status;
use purlin_value::Session;

/// A Deploy of an ensemble.
#[derive(Debug)]
pub struct EnsembleDeploy(pub Place);

/// Reports events as text.
struct Said<'w>(&'w (dyn Fn(&str) + Sync));

impl Reporter for Said<'_> {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Line { id, text, .. } => (self.0)(&format!("{id} | {text}")),
            Event::Warning { id, text } => (self.0)(&format!("{id}: warning: {text}")),
            Event::Ended { id, end, .. } => (self.0)(&format!("{id}: {}", end.word())),
            _ => {}
        }
    }

    fn finish(&mut self, _: &Summary) {}
}

impl EnsembleDeploy {
    /// Does something with a planned job and the number of its operations.
    fn with<T: Send>(
        &self,
        workflow: Workflow,
        work: impl FnOnce(&Session, Job<'_>, usize) -> Result<T, Trouble> + Send,
    ) -> Result<T, Trouble> {
        self.0.with(|session| {
            let options = Options { workflow, ..Options::default() };
            let request = self.0.request();
            let (job, is_sound) = session.sink.succeeds(|| Job::open_given(session, &request, &self.0.inputs, options));
            let Some(mut job) = job else { return Err(problems(session, "there is no ensemble")) };
            let (is_planned, is_possible) = session.sink.succeeds(|| job.plan());
            if !(is_sound && is_planned && is_possible) {
                return Err(problems(session, "its operations cannot be run"));
            }
            job.sift();
            let count = job.pending();
            work(session, job, count)
        })
    }

    /// The outputs of the ensemble, read again: the job has written them to its file.
    fn outputs(&self) -> Result<Outputs, Trouble> {
        self.0.with(|session| {
            let ask = Ask { path: &self.0.path, request: self.0.request(), values: self.0.inputs.clone(), span: None };
            let resolved = purlin_unfurl::inner::resolve(session, &ask);
            resolved.map(|resolved| outputs(&resolved)).ok_or_else(|| problems(session, "there is no ensemble"))
        })
    }

    fn run(&self, session: &Session, job: &mut Job<'_>, doing: Doing<'_>) -> Result<(), Trouble> {
        if !job.rehearse() {
            return Err(problems(session, "its operations cannot be evaluated"));
        }
        let (store, own, root) = (self.0.store()?, self.0.executor(), self.0.root());
        let executor = doing.executor.unwrap_or(&own);
        let runner = Runner { store: &store, executor, doing, root: &root, is_saved: true };
        let _lock = runner.lock(&job.ensemble.manifest.path).map_err(|why| other(&why))?;
        let summary = runner.run(job, &mut Said(doing.say)).map_err(|why| other(&why))?;
        if !doing.goes_on() {
            return Err(Trouble { cause: Cause::Stopped, tail: Vec::new() });
        }
        let failed = summary.ends.iter().find_map(|(_, end, _)| match end {
            End::Failed(failure) => Some(failure),
            _ => None,
        });
        match failed {
            Some(failure) if failure.cause == Cause::Unresolved => {
                Err(problems(session, &format!("`{}` failed", failure.id)))
            }
            Some(failure) => {
                let cause = Cause::Other(format!("`{}`: {}", failure.id, failure.cause));
                Err(Trouble { cause, tail: failure.tail.clone() })
            }
            None if job.job_status() == Status::Error => Err(other("an operation failed")),
            None => Ok(()),
        }
    }
}

impl Work for EnsembleDeploy {
    fn is_done(&self, _: Doing<'_>) -> Result<Option<Outputs>, Trouble> {
        let is_done = self.with(Workflow::Deploy, |_, _, count| Ok(count == 0))?;
        is_done.then(|| self.outputs()).transpose()
    }

    fn perform(&self, doing: Doing<'_>) -> Result<Outputs, Trouble> {
        self.with(Workflow::Deploy, |session, mut job, _| self.run(session, &mut job, doing))?;
        self.outputs()
    }

    fn undo(&self, doing: Doing<'_>) -> Result<bool, Trouble> {
        self.with(Workflow::Undeploy, |session, mut job, count| {
            if count > 0 {
                self.run(session, &mut job, doing)?;
            }
            Ok(true)
        })
    }

    fn state(&self, _: Doing<'_>) -> StateOf {
        let found = self.with(Workflow::Deploy, |_, job, count| {
            let is_new = job.previous.is_none();
            Ok(match count {
                0 => StateOf::Done,
                _ if is_new => StateOf::NeverRun,
                _ => StateOf::Outdated("its plan has something to do".to_owned()),
            })
        });
        found.unwrap_or_else(|trouble| StateOf::Unknown(trouble.cause.to_string()))
    }

    fn leaves_nothing(&self, _: Doing<'_>) -> bool {
        self.with(Workflow::Deploy, |_, job, count| Ok(count == 0 && job.previous.is_none())).unwrap_or(false)
    }
}
