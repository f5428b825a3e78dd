//! Rolls a release back to an earlier revision, as a new one.

use super::hooks::Terms;
use super::record::{Record, Status};
use super::{Apply, Engine, Trouble, change, is_release_name, ownership};
use serde_json::json;
use std::time::Duration;

/// Options of `helm rollback`.
#[derive(Clone, Debug, Default)]
pub struct Rollback {
    /// The revision; the one before the newest if 0.
    pub revision: i64,
    /// `--no-hooks`
    pub no_hooks: bool,
    /// Whether objects must be ready.
    pub wait: bool,
    /// `--wait-for-jobs`
    pub wait_for_jobs: bool,
    /// `--cleanup-on-fail`
    pub cleanup_on_fail: bool,
    /// `--history-max`: revisions that are kept; all if 0.
    pub history_max: usize,
    /// How objects are changed.
    pub apply: Apply,
    /// The user's choice of server-side apply: decided by the earlier revision if `None`.
    pub server_side: Option<bool>,
    /// `--timeout`
    pub timeout: Duration,
    /// `--dry-run`
    pub is_dry: bool,
}

impl Engine<'_> {
    /// Rolls a release back; returns the new revision.
    pub fn rollback(&self, name: &str, rollback: &Rollback) -> Result<Record, Trouble> {
        if !is_release_name(name) {
            return Err(Trouble::said(format!("prepareRollback: Release name is invalid: {name}")));
        }
        if rollback.revision < 0 {
            return Err(Trouble::said("invalid release revision"));
        }
        let mut current = self.last(name)?;
        let number = if rollback.revision == 0 { current.revision() - 1 } else { rollback.revision };
        let earlier = match self.revision(name, number) {
            Err(Trouble::NotFound) => return Err(Trouble::said(format!("release has no {number} version"))),
            found => found?,
        };
        let server_side = rollback.server_side.unwrap_or(earlier.is_server_side());
        let mut record = self.renewed(&current, earlier, number, server_side);
        if rollback.is_dry {
            return Ok(record);
        }
        self.create(&record, rollback.history_max)?;
        let apply = Apply { server_side, upgrades_manager: true, ..rollback.apply };
        self.perform_rollback(&mut record, &mut current, apply, rollback)?;
        self.update(&record)?;
        Ok(record)
    }

    /// An earlier revision as the newest one.
    fn renewed(&self, current: &Record, earlier: Record, number: i64, server_side: bool) -> Record {
        let mut record = earlier;
        let info = json!({
            "first_deployed": current.first_deployed(),
            "last_deployed": self.now(),
            "description": format!("Rollback to {number}"),
            "status": Status::PendingRollback.name(),
            "notes": record.notes(),
        });
        record.set("info", info);
        record.set("version", (current.revision() + 1).into());
        record.set("namespace", current.namespace().into());
        record.set_server_side(server_side);
        record
    }

    fn perform_rollback(
        &self,
        record: &mut Record,
        current: &mut Record,
        apply: Apply,
        rollback: &Rollback,
    ) -> Result<(), Trouble> {
        let what = "unable to build kubernetes objects from current release manifest";
        let (applied, _) = self.objects(current.manifest()).map_err(|trouble| trouble.within(what))?;
        let what = "unable to build kubernetes objects from new release manifest";
        let (mut wanted, kinds) = self.objects(record.manifest()).map_err(|trouble| trouble.within(what))?;
        let terms = Terms { timeout: rollback.timeout, apply: Apply { force_conflicts: false, ..apply } };
        if !rollback.no_hooks {
            self.run_hooks(record, "pre-rollback", terms)?;
        }
        wanted.iter_mut().for_each(|object| ownership::mark(object, record.name(), record.namespace()));
        let (changed, result) = self.update_all(&kinds, &applied, &wanted, apply);
        if let Err(trouble) = result {
            let message = format!("Rollback {:?} failed: {trouble}", record.name());
            (self.around.say)(&format!("warning: {message}"));
            current.set_info("status", Status::Superseded.name());
            record.set_status(Status::Failed, &message);
            self.note(current);
            self.note(record);
            if rollback.cleanup_on_fail {
                let failures = self.delete_all(&kinds, &changed.created, change::BACKGROUND);
                change::joined(failures, ", ").map_err(|other| {
                    let what = "an error occurred while cleaning up resources. original rollback error";
                    other.within(&format!("{what}: unable to cleanup resources"))
                })?;
            }
            return Err(trouble);
        }
        let (wait, jobs) = (rollback.wait, rollback.wait_for_jobs);
        if let Err(trouble) = self.wait(&kinds, &wanted, wait, jobs, rollback.timeout) {
            let name = record.name().to_owned();
            record.set_status(Status::Failed, &format!("Release {name:?} failed: {trouble}"));
            self.note(current);
            self.note(record);
            return Err(trouble.within(&format!("release {name} failed")));
        }
        if !rollback.no_hooks {
            self.run_hooks(record, "post-rollback", terms)?;
        }
        self.supersede(record.name())?;
        record.set_info("status", Status::Deployed.name());
        Ok(())
    }

    /// Marks all deployed revisions as superseded.
    pub(super) fn supersede(&self, name: &str) -> Result<(), Trouble> {
        let mut tags = self.tags(name)?;
        tags.retain(|tag| tag.status == Status::Deployed);
        for mut deployed in self.records(&tags)? {
            deployed.set_info("status", Status::Superseded.name());
            self.note(&deployed);
        }
        Ok(())
    }
}
