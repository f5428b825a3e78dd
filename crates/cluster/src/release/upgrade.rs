//! Upgrades a release: the history decides what it is upgraded from.

use super::hooks::Terms;
use super::install::check_labels;
use super::objects::is_same;
use super::record::{Record, Status};
use super::rollback::Rollback;
use super::{Apply, Engine, Trouble, change, is_release_name, ownership};
use crate::discovery::Discovery;
use crate::object::Object;
use std::sync::Arc;
use std::time::Duration;

/// Options of `helm upgrade`.
#[derive(Clone, Debug, Default)]
pub struct Upgrade {
    /// `--no-hooks`
    pub no_hooks: bool,
    /// Whether objects must be ready.
    pub wait: bool,
    /// `--wait-for-jobs`
    pub wait_for_jobs: bool,
    /// `--rollback-on-failure`
    pub rollback_on_failure: bool,
    /// `--cleanup-on-fail`
    pub cleanup_on_fail: bool,
    /// `--take-ownership`
    pub take_ownership: bool,
    /// `--history-max`: revisions that are kept; all if 0.
    pub history_max: usize,
    /// How objects are changed.
    pub apply: Apply,
    /// The user's choice of server-side apply: decided by an earlier revision if `None`.
    pub server_side: Option<bool>,
    /// `--timeout`
    pub timeout: Duration,
    /// `--description`
    pub description: String,
}

/// The revisions that an upgrade begins with.
#[derive(Clone, Debug)]
pub struct Before {
    /// The newest revision.
    pub last: Record,
    /// The revision whose objects the cluster has.
    pub current: Record,
}

impl Engine<'_> {
    /// What an upgrade of a release begins with.
    pub fn before_upgrade(&self, name: &str) -> Result<Before, Trouble> {
        if !is_release_name(name) {
            return Err(Trouble::said(format!("release name is invalid: {name}")));
        }
        let tags = match self.tags(name) {
            Err(Trouble::NotFound) => return Err(Trouble::NoDeployed(name.to_owned())),
            tags => tags?,
        };
        let newest = tags.iter().max_by_key(|tag| tag.revision).ok_or(Trouble::NotFound)?;
        let last = self.record_of(&newest.namespace, &newest.key)?;
        if last.status().is_pending() {
            return Err(Trouble::Pending);
        }
        if last.status() == Status::Deployed {
            return Ok(Before { current: last.clone(), last });
        }
        let deployed = tags.iter().filter(|tag| tag.status == Status::Deployed).max_by_key(|tag| tag.revision);
        let current = match deployed {
            Some(tag) => self.record_of(&tag.namespace, &tag.key)?,
            None if matches!(last.status(), Status::Failed | Status::Superseded) => last.clone(),
            None => return Err(Trouble::NoDeployed(name.to_owned())),
        };
        Ok(Before { last, current })
    }

    /// Checks a rendered upgrade against the cluster without changing it.
    pub fn try_upgrade(&self, before: &Before, record: &Record, upgrade: &Upgrade) -> Result<(), Trouble> {
        self.compare(&before.current, record, upgrade).map(drop)
    }

    fn compare(&self, current: &Record, record: &Record, upgrade: &Upgrade) -> Result<Compared, Trouble> {
        check_labels(record)?;
        let what = "unable to build kubernetes objects from new release manifest";
        let (mut wanted, kinds) = self.objects(record.manifest()).map_err(|trouble| trouble.within(what))?;
        let what = "unable to build kubernetes objects from current release manifest";
        let (mut applied, _) = self.objects(current.manifest()).map_err(|trouble| trouble.within(what))?;
        wanted.iter_mut().for_each(|object| ownership::mark(object, record.name(), record.namespace()));
        let is_new = |object: &&Object| {
            !applied.iter().any(|known| known.id.api_version == object.id.api_version && is_same(&known.id, &object.id))
        };
        let new: Vec<Object> = wanted.iter().filter(is_new).cloned().collect();
        let adopted = self.existing(&kinds, &new, record.name(), upgrade.take_ownership);
        applied.extend(adopted.map_err(|trouble| trouble.within("unable to continue with update"))?);
        Ok(Compared { applied, wanted, kinds })
    }

    /// Upgrades a release to a rendered revision.
    pub fn upgrade(&self, before: Before, record: Record, upgrade: &Upgrade) -> Result<Record, Trouble> {
        let (mut record, mut current) = (record, before.current);
        record.set_status(Status::PendingUpgrade, "Preparing upgrade");
        let compared = self.compare(&current, &record, upgrade)?;
        self.create(&record, upgrade.history_max)?;
        let (created, result) = self.perform_upgrade(&mut record, &mut current, &compared, upgrade);
        match result {
            Ok(()) => {
                self.update(&record)?;
                Ok(record)
            }
            Err(trouble) => Err(self.fail_upgrade(&mut record, trouble, &compared.kinds, &created, upgrade)),
        }
    }

    /// Returns the objects that were created even if it fails.
    fn perform_upgrade(
        &self,
        record: &mut Record,
        current: &mut Record,
        compared: &Compared,
        upgrade: &Upgrade,
    ) -> (Vec<Object>, Result<(), Trouble>) {
        let apply = upgrade.apply;
        let terms = Terms { timeout: upgrade.timeout, apply: Apply { force_conflicts: false, ..apply } };
        if !upgrade.no_hooks
            && let Err(trouble) = self.run_hooks(record, "pre-upgrade", terms)
        {
            return (Vec::new(), Err(trouble.within("pre-upgrade hooks failed")));
        }
        let apply = Apply { upgrades_manager: apply.server_side && !current.is_server_side(), ..apply };
        let Compared { applied, wanted, kinds } = compared;
        let (changed, result) = self.update_all(kinds, applied, wanted, apply);
        let result =
            result.and_then(|()| self.wait(kinds, wanted, upgrade.wait, upgrade.wait_for_jobs, upgrade.timeout));
        if let Err(trouble) = result {
            self.note(current);
            return (changed.created, Err(trouble));
        }
        if !upgrade.no_hooks
            && let Err(trouble) = self.run_hooks(record, "post-upgrade", terms)
        {
            return (changed.created, Err(trouble.within("post-upgrade hooks failed")));
        }
        current.set_info("status", Status::Superseded.name());
        self.note(current);
        let description = if upgrade.description.is_empty() { "Upgrade complete" } else { &upgrade.description };
        record.set_status(Status::Deployed, description);
        (changed.created, Ok(()))
    }

    fn fail_upgrade(
        &self,
        record: &mut Record,
        trouble: Trouble,
        kinds: &Arc<Discovery>,
        created: &[Object],
        upgrade: &Upgrade,
    ) -> Trouble {
        let name = record.name().to_owned();
        record.set_status(Status::Failed, &format!("Upgrade {name:?} failed: {trouble}"));
        self.note(record);
        if upgrade.cleanup_on_fail && !created.is_empty() {
            let failures = self.delete_all(kinds, created, change::BACKGROUND);
            if let Err(other) = change::joined(failures, ", ") {
                let what = "an error occurred while cleaning up resources. original upgrade error";
                return Trouble::said(format!("{what}: {trouble}: unable to cleanup resources: {other}"));
            }
        }
        if !upgrade.rollback_on_failure {
            return trouble;
        }
        let successful = |record: &&Record| matches!(record.status(), Status::Superseded | Status::Deployed);
        let history = match self.history(&name) {
            Ok(history) => history,
            Err(other) => {
                let what = "an error occurred while finding last successful release. original upgrade error";
                return Trouble::said(format!("{what}: {trouble}: {other}"));
            }
        };
        let Some(target) = history.iter().rev().find(successful).map(Record::revision) else {
            let what =
                "unable to find a previously successful release when attempting to rollback. original upgrade error";
            return trouble.within(what);
        };
        let rollback = Rollback {
            revision: target,
            no_hooks: upgrade.no_hooks,
            wait: upgrade.wait,
            wait_for_jobs: upgrade.wait_for_jobs,
            apply: upgrade.apply,
            server_side: upgrade.server_side,
            timeout: upgrade.timeout,
            ..Rollback::default()
        };
        match self.rollback(&name, &rollback) {
            Ok(_) => trouble.within(&format!(
                "release {name} failed, and has been rolled back due to rollback-on-failure being set"
            )),
            Err(other) => {
                let what = "an error occurred while rolling back the release. original upgrade error";
                Trouble::Said(format!("{what}: {trouble}: {other}"), trouble.details().to_vec())
            }
        }
    }
}

/// The objects of both sides of an upgrade.
struct Compared {
    applied: Vec<Object>,
    wanted: Vec<Object>,
    kinds: Arc<Discovery>,
}
