//! Actions between this machine and others: where a request runs, and products that stay elsewhere until something here
//! needs them.

use crate::action::{Action, Command, Reuse, Travel};
use crate::event::{Cause, Event, Failure};
use crate::local::here::Here;
use crate::outputs::Outputs;
use crate::perform::{How, LONGEST_SHARED, Performer, Report, Watching, Worked, cause_of};
use crate::request::{Execution, NoOutcome, Observer, Outcome, Progress, Request};
use crate::store::made::Made;
use crate::store::{Ending, Record};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// A limit of what runs at once.
#[derive(Debug, Default)]
pub struct Slots {
    /// How many are free; without a limit, none.
    free: Option<Mutex<usize>>,
    freed: Condvar,
}

impl Slots {
    /// A limit.
    pub fn of(most: Option<usize>) -> Self {
        Slots { free: most.map(|most| Mutex::new(most.max(1))), freed: Condvar::new() }
    }

    /// Waits for a slot, which is free again when this is dropped.
    pub fn take(&self) -> Slot<'_> {
        if let Some(free) = &self.free {
            let mut left = free.lock().unwrap_or_else(PoisonError::into_inner);
            while *left == 0 {
                left = self.freed.wait(left).unwrap_or_else(PoisonError::into_inner);
            }
            *left -= 1;
        }
        Slot(self)
    }
}

/// A slot that is taken.
#[derive(Debug)]
pub struct Slot<'s>(&'s Slots);

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if let Some(free) = &self.0.free {
            *free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            self.0.freed.notify_one();
        }
    }
}

/// A product that is not on this machine.
#[derive(Clone, Debug)]
pub struct Apart {
    /// The action that made it.
    action: Arc<Action>,
    /// The outputs of the action, if its result may be kept.
    outputs: Option<Outputs>,
    /// When it began, and how long it took.
    times: (SystemTime, Duration),
}

impl Performer<'_> {
    /// Runs a request elsewhere if the user asked for that and it may leave this machine, else here.
    pub(crate) fn somewhere(
        &self,
        action: &Action,
        request: &Request<'_>,
        how: How<'_>,
        watching: &mut Watching<'_>,
    ) -> Result<Outcome, NoOutcome> {
        let here = Here { executor: self.executor, store: self.store };
        let Some(elsewhere) = self.executor.elsewhere() else { return here.run(request, watching) };
        let mut may_be_shared = false;
        let stays = match request.travel {
            Travel::Stays(_) => action.stay(),
            Travel::Goes(_) => match elsewhere.run(request, watching) {
                Err(NoOutcome::Elsewhere { why, may_run_here: true }) => {
                    watching.warn(&format!("{why}; it runs on this machine instead"));
                    None
                }
                Err(NoOutcome::Stays(why)) => Some(why),
                Err(NoOutcome::Missed) => {
                    may_be_shared = true;
                    None
                }
                outcome => return outcome,
            },
        };
        if let Some(why) = stays {
            (watching.report)(&Event::Stays { id: &action.id, why: &why });
        }
        let brought = self.bring_needed(action, how, watching.report);
        brought.map_err(|failure| NoOutcome::Files(failure.cause.to_string()))?;
        let _slot = self.slots.take();
        watching.raw = may_be_shared.then(Default::default);
        let outcome = here.run(request, watching)?;
        if let Some((out, err)) = watching.raw.take().filter(|(out, err)| out.len().max(err.len()) <= LONGEST_SHARED)
            && let Err(why) = elsewhere.share(request, &outcome, (&out, &err))
        {
            watching.warn(&format!("its result could not be shared: {why}"));
        }
        Ok(outcome)
    }

    /// Notes a product that is not on this machine.
    pub(crate) fn note_apart(
        &self,
        action: &Action,
        worked: &Result<Worked, Failure>,
        is_unsure: bool,
        times: (SystemTime, Duration),
    ) {
        let (Ok(worked), Reuse::Last(folder)) = (worked, &action.reuse) else { return };
        if worked.is_apart {
            let (_, outputs, secret) = &worked.performed;
            let outputs = (secret.is_empty() && !is_unsure).then(|| outputs.clone());
            let apart = Apart { action: Arc::new(action.clone()), outputs, times };
            self.apart.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.clone(), apart);
        }
    }

    /// Brings the products that an action on this machine may read.
    pub(crate) fn bring_needed(&self, action: &Action, how: How<'_>, report: Report<'_>) -> Result<(), Failure> {
        if self.apart.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            return Ok(());
        }
        for folder in (how.needs)() {
            self.bring(&folder, report).map_err(|why| self.failure(action, Cause::Other(why)))?;
        }
        Ok(())
    }

    /// Brings a product to this machine, if it is kept elsewhere. One that was lost there is made again.
    pub(crate) fn bring(&self, folder: &Path, report: Report<'_>) -> Result<(), String> {
        let apart = self.apart.lock().unwrap_or_else(PoisonError::into_inner).get(folder).cloned();
        let (Some(apart), Some(elsewhere)) = (apart, self.executor.elsewhere()) else { return Ok(()) };
        let id = apart.action.id.as_str();
        let mut telling = Telling { id, report };
        let brought = elsewhere.bring(folder, self.stop, &mut telling).or_else(|why| {
            telling.warn(&format!("{why}; it is made again"));
            self.make_again(&apart.action, elsewhere, report)
        });
        let made = brought.map_err(|why| format!("the result of `{id}`: {why}"))?;
        self.apart.lock().unwrap_or_else(PoisonError::into_inner).remove(folder);
        let (Some(made), Some(outputs)) = (made, apart.outputs) else { return Ok(()) };
        let made = self.store.keep_made(&made).map_err(|error| error.to_string())?;
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let record = Record {
            id: apart.action.subject.clone(),
            version: apart.action.key.clone(),
            ending: Ending::Done,
            outputs: Some(outputs),
            object: None,
            made,
            started: millis(apart.times.0.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()),
            took: millis(apart.times.1),
        };
        self.store.keep(record).map(|_| ()).map_err(|error| error.to_string())
    }

    /// Makes a product that was lost again: there, or else here.
    fn make_again(
        &self,
        action: &Action,
        elsewhere: &dyn Execution,
        report: Report<'_>,
    ) -> Result<Option<Made>, String> {
        let Some(folder) = product(action) else { return Ok(None) };
        let mut telling = Telling { id: &action.id, report };
        let command = action.command.clone().unwrap_or_else(Command::nothing);
        let request = Request { is_cacheable: false, ..Request::of(action, &command, self.stop) };
        let ended = |outcome: &Outcome| match cause_of(outcome.ended, action.timeout) {
            None => Ok(()),
            Some(cause) => Err(format!("it could not be made again: {cause}")),
        };
        let why = match elsewhere.run(&request, &mut telling) {
            Ok(outcome) => {
                ended(&outcome)?;
                match elsewhere.bring(&folder, self.stop, &mut telling) {
                    Ok(made) => return Ok(made),
                    Err(why) if !elsewhere.falls_back() => return Err(why),
                    Err(why) => why,
                }
            }
            Err(NoOutcome::Elsewhere { why, may_run_here: true }) => why,
            Err(NoOutcome::Elsewhere { why, .. } | NoOutcome::Files(why)) => return Err(why),
            Err(_) => "it could not be made again".to_owned(),
        };
        telling.warn(&format!("{why}; it runs on this machine instead"));
        if let Travel::Goes(baggage) = &action.travel {
            for below in baggage.products().filter(|below| **below != folder) {
                self.bring(below, report)?;
            }
        }
        let _slot = self.slots.take();
        let here = Here { executor: self.executor, store: self.store };
        let outcome = here.run(&request, &mut telling).map_err(|_| "it could not be made again".to_owned())?;
        ended(&outcome)?;
        elsewhere.forget(&folder);
        Ok(Some(outcome.made))
    }

    /// Brings the product of an action that the user asked for.
    pub(crate) fn bring_own(&self, action: &Action, report: Report<'_>) -> Result<(), Failure> {
        let Reuse::Last(folder) = &action.reuse else { return Ok(()) };
        self.bring(folder, report).map_err(|why| self.failure(action, Cause::Other(why)))
    }
}

/// The folder in which a Build leaves its result.
pub(crate) fn product(action: &Action) -> Option<PathBuf> {
    match &action.reuse {
        Reuse::Last(folder) => Some(folder.clone()),
        _ => None,
    }
}

/// Shows what happens while a lost product is made again.
struct Telling<'t> {
    id: &'t str,
    report: Report<'t>,
}

impl Observer for Telling<'_> {
    fn output(&mut self, _: crate::local::process::Stream, _: &[u8]) {}

    fn warn(&mut self, text: &str) {
        (self.report)(&Event::Warning { id: self.id, text });
    }

    fn changed(&mut self, _: &str) {}

    fn progress(&mut self, progress: Progress) {
        (self.report)(&Event::Progress { id: self.id, progress: &progress });
    }
}
