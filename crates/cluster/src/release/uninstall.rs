//! Uninstalls a release.

use super::hooks::Terms;
use super::objects::documents;
use super::record::{Record, Status};
use super::{Apply, Engine, Trouble, change, is_release_name};
use crate::client::{METADATA, wait};
use crate::discovery::Discovery;
use crate::object::Object;
use std::time::{Duration, Instant};

/// Pause between checks whether an object is gone.
const PAUSE: Duration = Duration::from_millis(200);

/// Options of `helm uninstall`.
#[derive(Clone, Debug, Default)]
pub struct Uninstall {
    /// `--no-hooks`
    pub no_hooks: bool,
    /// `--keep-history`
    pub keep_history: bool,
    /// `--ignore-not-found`
    pub ignore_not_found: bool,
    /// Whether objects must be gone.
    pub wait: bool,
    /// `--cascade`: what becomes of dependents; `background` if empty.
    pub cascade: String,
    /// `--timeout`
    pub timeout: Duration,
    /// `--description`
    pub description: String,
    /// `--dry-run`
    pub is_dry: bool,
}

/// What was removed.
#[derive(Clone, Debug, Default)]
pub struct Removed {
    /// A report about objects that were kept; empty if none was.
    pub info: String,
}

impl Engine<'_> {
    /// Removes the objects of a release and its history.
    pub fn uninstall(&self, name: &str, uninstall: &Uninstall) -> Result<Removed, Trouble> {
        if uninstall.is_dry {
            return match self.get(name, 0) {
                Err(Trouble::NotFound) if uninstall.ignore_not_found => Ok(Removed::default()),
                found => found.map(|_| Removed::default()),
            };
        }
        if !is_release_name(name) {
            return Err(Trouble::said(format!("uninstall: Release name is invalid: {name}")));
        }
        let history = match self.history(name) {
            Ok(history) => history,
            Err(Trouble::Stopped) => return Err(Trouble::Stopped),
            Err(_) if uninstall.ignore_not_found => return Ok(Removed::default()),
            Err(trouble) => return Err(trouble.within(&format!("uninstall: Release not loaded: {name}"))),
        };
        let revisions: Vec<i64> = history.iter().map(Record::revision).collect();
        let Some(mut record) = history.into_iter().next_back() else {
            return Err(Trouble::said("no release provided"));
        };
        if record.status() == Status::Uninstalled {
            return match uninstall.keep_history {
                true => Err(Trouble::said(format!("the release named {name:?} is already deleted"))),
                false => self.purge(name, &revisions).map(|()| Removed::default()),
            };
        }
        self.perform_uninstall(&mut record, &revisions, uninstall)
    }

    fn perform_uninstall(
        &self,
        record: &mut Record,
        revisions: &[i64],
        uninstall: &Uninstall,
    ) -> Result<Removed, Trouble> {
        let name = record.name().to_owned();
        record.set_status(Status::Uninstalling, "Deletion in progress (or silently failed)");
        record.set_info("deleted", &self.now());
        let terms = Terms { timeout: uninstall.timeout, apply: Apply { server_side: true, ..Apply::default() } };
        if !uninstall.no_hooks {
            self.run_hooks(record, "pre-delete", terms)?;
        }
        self.note(record);
        let (removed, info) = self.remove_objects(record, uninstall)?;
        let mut failures = Vec::new();
        if uninstall.wait {
            failures.extend(self.until_gone(&removed, uninstall.timeout).err());
        }
        if !uninstall.no_hooks {
            failures.extend(self.run_hooks(record, "post-delete", terms).err());
        }
        let description = match uninstall.description.as_str() {
            "" => "Uninstallation complete",
            given => given,
        };
        record.set_status(Status::Uninstalled, description);
        if uninstall.keep_history {
            self.note(record);
            self.supersede(&name)?;
        } else {
            failures.extend(self.purge(&name, revisions).err());
        }
        let count = failures.len();
        let failed = change::joined(failures, "; ");
        failed.map_err(|trouble| trouble.within(&format!("uninstallation completed with {count} error(s)")))?;
        Ok(Removed { info })
    }

    fn purge(&self, name: &str, revisions: &[i64]) -> Result<(), Trouble> {
        let mut all = revisions.iter();
        let done = all.try_for_each(|revision| self.delete(name, *revision));
        done.map_err(|trouble| trouble.within("uninstall: Failed to purge the release"))
    }

    /// Requests the removal of the objects of a release, those last that others may need.
    fn remove_objects(&self, record: &Record, uninstall: &Uninstall) -> Result<(Vec<Object>, String), Trouble> {
        let name = record.name();
        let failed = |trouble: Trouble| {
            (self.around.say)(&format!("warning: {trouble}"));
            Trouble::said(format!("failed to delete release: {name}"))
        };
        documents(record.manifest()).map_err(|why| {
            failed(Trouble::said(format!("corrupted release record. You must manually delete the resources: {why}")))
        })?;
        let (objects, kinds) = self.known_objects(record.manifest()).map_err(failed)?;
        let (kept, mut doomed): (Vec<Object>, Vec<Object>) = objects.into_iter().partition(is_kept);
        doomed.sort_by_key(|object| place(&object.id.kind));
        let failures = self.delete_all(&kinds, &doomed, &uninstall.cascade);
        change::joined(failures, "; ").map_err(failed)?;
        let lines: String = kept.iter().map(|object| format!("[{}] {}\n", object.id.kind, object.id.name)).collect();
        let info = match lines.is_empty() {
            true => lines,
            false => format!("These resources were kept due to the resource policy:\n{lines}"),
        };
        Ok((doomed, info))
    }

    /// The objects of a text whose kinds the cluster has. It has no objects of other kinds.
    fn known_objects(&self, text: &str) -> Result<(Vec<Object>, std::sync::Arc<Discovery>), Trouble> {
        let mut objects = super::objects::objects_of(text).map_err(Trouble::said)?;
        let needed = objects.iter().map(|object| object.id.api_version.clone()).collect();
        let kinds = self.kinds(&needed)?;
        objects.retain(|object| kinds.find(&object.id.api_version, &object.id.kind).is_some());
        for object in &mut objects {
            let found = kinds.find(&object.id.api_version, &object.id.kind);
            object.place(found.is_some_and(|found| found.namespaced), &self.namespace);
        }
        Ok((objects, kinds))
    }

    fn until_gone(&self, objects: &[Object], timeout: Duration) -> Result<(), Trouble> {
        let begun = Instant::now();
        let (_, kinds) = self.objects("")?;
        for object in objects {
            let Some(resource) = kinds.find(&object.id.api_version, &object.id.kind) else { continue };
            let path = resource.path(&object.id.namespace, Some(&object.id.name));
            while self.client.find(&path, METADATA, &object.id.to_string(), self.around.go_on)?.is_some() {
                if begun.elapsed() >= timeout {
                    let id = &object.id;
                    let what = format!("resource {}/{}/{} still exists", id.kind, id.namespace, id.name);
                    return Err(Trouble::said(format!("{what} after {} s", timeout.as_secs())));
                }
                wait(PAUSE, self.around.go_on)?;
            }
        }
        Ok(())
    }
}

/// Whether an object stays.
fn is_kept(object: &Object) -> bool {
    let policy = object.annotation("helm.sh/resource-policy");
    policy.is_some_and(|policy| policy.trim().eq_ignore_ascii_case("keep"))
}

/// Kinds in Helm's order of removal; others come last, by their names.
const ORDER: &[&str] = &[
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
    "APIService",
    "Ingress",
    "IngressClass",
    "Service",
    "CronJob",
    "Job",
    "StatefulSet",
    "HorizontalPodAutoscaler",
    "Deployment",
    "ReplicaSet",
    "ReplicationController",
    "Pod",
    "DaemonSet",
    "RoleBinding",
    "Role",
    "ClusterRoleBinding",
    "ClusterRole",
    "CustomResourceDefinition",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "StorageClass",
    "ConfigMap",
    "Secret",
    "ServiceAccount",
    "PodDisruptionBudget",
    "PodSecurityPolicy",
    "LimitRange",
    "ResourceQuota",
    "NetworkPolicy",
    "Namespace",
    "PriorityClass",
];

fn place(kind: &str) -> (usize, String) {
    match ORDER.iter().position(|known| *known == kind) {
        Some(place) => (place, String::new()),
        None => (ORDER.len(), kind.to_owned()),
    }
}
