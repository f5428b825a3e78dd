//! Installs a release.

use super::hooks::Terms;
use super::objects::objects_of;
use super::record::{Record, SYSTEM_LABELS, Status};
use super::uninstall::Uninstall;
use super::{Apply, Engine, MANAGER, Trouble, is_release_name, ownership};
use crate::client::{JSON, METADATA};
use crate::discovery::Discovery;
use crate::error::ApiError;
use crate::object::Object;
use crate::path::escape;
use crate::wait::wait_for;
use crate::wire::{Ask, Method};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

/// How long new definitions may take to be established.
const DEFINED: Duration = Duration::from_secs(60);

/// Options of `helm install`.
#[derive(Clone, Debug, Default)]
pub struct Install {
    /// `--create-namespace`
    pub create_namespace: bool,
    /// `--replace`: the name of a release that failed or was uninstalled is used again.
    pub replace: bool,
    /// `--no-hooks`
    pub no_hooks: bool,
    /// Whether objects must be ready.
    pub wait: bool,
    /// `--wait-for-jobs`
    pub wait_for_jobs: bool,
    /// `--rollback-on-failure`
    pub uninstall_on_failure: bool,
    /// `--take-ownership`
    pub take_ownership: bool,
    /// How objects are changed.
    pub apply: Apply,
    /// `--timeout`
    pub timeout: Duration,
    /// `--description`
    pub description: String,
}

/// The kinds and the version of a cluster, for templates.
#[derive(Clone, Debug, Default)]
pub struct Namespace {
    /// The version of the server.
    pub version: String,
    /// Versions of groups, and kinds as `apps/v1/Deployment`.
    pub api_versions: Vec<String>,
}

impl Engine<'_> {
    /// What `.Capabilities` says about the cluster.
    pub fn capabilities(&self) -> Result<Namespace, Trouble> {
        let answer = self.client.get("/version", "the version of the cluster", self.around.go_on);
        let answer =
            answer.map_err(|error| Trouble::from(error).within("could not get server version from Kubernetes"))?;
        let version = answer.get("gitVersion").and_then(serde_json::Value::as_str).unwrap_or("v0.0.0").to_owned();
        let api_versions = Discovery::versions(self.client, self.around.go_on)
            .map_err(|error| Trouble::from(error).within("could not get apiVersions from Kubernetes"))?;
        Ok(Namespace { version, api_versions })
    }

    /// Whether a name is free for an installation.
    pub fn check_name(&self, name: &str, replaces: bool) -> Result<(), Trouble> {
        check_form(name)?;
        let last = match self.last(name) {
            Ok(last) => last,
            Err(Trouble::Stopped) => return Err(Trouble::Stopped),
            Err(_) => return Ok(()),
        };
        if replaces && matches!(last.status(), Status::Uninstalled | Status::Failed) {
            return Ok(());
        }
        let why = "cannot reuse a name that is still in use";
        Err(Trouble::said(format!("release name check failed: {why}")))
    }

    /// Installs definitions of a chart that the cluster does not have; they are never changed.
    pub fn install_definitions(&self, texts: &[(String, String)], apply: Apply) -> Result<(), Trouble> {
        let mut made = Vec::new();
        for (path, text) in texts {
            let name = path.rsplit('/').next().unwrap_or(path);
            let failed = |trouble: Trouble| trouble.within(&format!("failed to install CRD {name}"));
            let objects = objects_of(text).map_err(|why| failed(Trouble::said(why)))?;
            if objects.is_empty() {
                return Err(failed(Trouble::said("resources are empty")));
            }
            let needed: BTreeSet<String> = objects.iter().map(|object| object.id.api_version.clone()).collect();
            let kinds = self.kinds(&needed)?;
            for mut object in objects {
                object.place(false, "");
                if self.define(&kinds, &object, apply).map_err(failed)? {
                    made.push(object);
                }
            }
        }
        if made.is_empty() {
            return Ok(());
        }
        let kinds = self.kinds(&BTreeSet::new())?;
        let made: Vec<&Object> = made.iter().collect();
        wait_for(self.client, &kinds, &made, self.patience(DEFINED, false)).map_err(|failed| failed.error)?;
        self.forget_kinds();
        Ok(())
    }

    /// Creates a definition unless it exists; returns whether it did not.
    fn define(&self, kinds: &Discovery, object: &Object, apply: Apply) -> Result<bool, Trouble> {
        let resource = super::objects::resource(kinds, object)?;
        let path = resource.path("", Some(&object.id.name));
        if self.client.find(&path, METADATA, &object.id.to_string(), self.around.go_on)?.is_some() {
            return Ok(false);
        }
        self.create_one(kinds, object, Apply { force_conflicts: false, ..apply })?;
        Ok(true)
    }

    /// Checks a rendered release against the cluster without changing it.
    pub fn try_install(&self, record: &Record, install: &Install) -> Result<(), Trouble> {
        self.prepare(record, install).map(drop)
    }

    fn prepare(&self, record: &Record, install: &Install) -> Result<Prepared, Trouble> {
        check_labels(record)?;
        let what = "unable to build kubernetes objects from release manifest";
        let (mut objects, kinds) = self.objects(record.manifest()).map_err(|trouble| trouble.within(what))?;
        objects.iter_mut().for_each(|object| ownership::mark(object, record.name(), record.namespace()));
        let adopted = self.existing(&kinds, &objects, record.name(), install.take_ownership);
        let adopted = adopted.map_err(|trouble| trouble.within("unable to continue with install"))?;
        Ok(Prepared { objects, adopted, kinds })
    }

    /// Installs a rendered release.
    pub fn install(&self, record: Record, install: &Install) -> Result<Record, Trouble> {
        let mut record = record;
        record.set_status(Status::PendingInstall, "Initial install underway");
        let prepared = self.prepare(&record, install)?;
        if install.create_namespace {
            self.create_namespace(install.apply)?;
        }
        if install.replace {
            self.replace_last(&mut record)?;
        }
        self.create(&record, 0)?;
        match self.perform_install(&mut record, &prepared, install) {
            Ok(()) => Ok(record),
            Err(trouble) => Err(self.fail_install(&mut record, trouble, install)),
        }
    }

    fn perform_install(&self, record: &mut Record, prepared: &Prepared, install: &Install) -> Result<(), Trouble> {
        let terms = Terms { timeout: install.timeout, apply: Apply { force_conflicts: false, ..install.apply } };
        if !install.no_hooks {
            self.run_hooks(record, "pre-install", terms).map_err(|trouble| trouble.within("failed pre-install"))?;
        }
        let Prepared { objects, adopted, kinds } = prepared;
        if adopted.is_empty() {
            let apply = Apply { force_conflicts: false, ..install.apply };
            self.create_all(kinds, objects, apply)?;
        } else {
            let merges_custom = install.take_ownership && !install.apply.server_side;
            let apply = Apply { merges_custom, upgrades_manager: true, ..install.apply };
            self.update_all(kinds, adopted, objects, apply).1?;
        }
        self.wait(kinds, objects, install.wait, install.wait_for_jobs, install.timeout)?;
        if !install.no_hooks {
            self.run_hooks(record, "post-install", terms).map_err(|trouble| trouble.within("failed post-install"))?;
        }
        let description = if install.description.is_empty() { "Install complete" } else { &install.description };
        record.set_status(Status::Deployed, description);
        self.note(record);
        Ok(())
    }

    /// Waits until objects are ready, if that is wanted.
    pub(super) fn wait(
        &self,
        kinds: &Discovery,
        objects: &[Object],
        is_wanted: bool,
        jobs: bool,
        timeout: Duration,
    ) -> Result<(), Trouble> {
        if !is_wanted {
            return Ok(());
        }
        let is_paused = |object: &&Object| object.body.pointer("/spec/paused") == Some(&json!(true));
        let awaited: Vec<&Object> = objects.iter().filter(|object| !is_paused(object)).collect();
        wait_for(self.client, kinds, &awaited, self.patience(timeout, jobs)).map_err(|failed| failed.error.into())
    }

    fn fail_install(&self, record: &mut Record, trouble: Trouble, install: &Install) -> Trouble {
        let name = record.name().to_owned();
        record.set_status(Status::Failed, &format!("Release {name:?} failed: {trouble}"));
        self.note(record);
        if !install.uninstall_on_failure {
            return trouble;
        }
        let uninstall = Uninstall {
            no_hooks: install.no_hooks,
            wait: install.wait,
            timeout: install.timeout,
            ..Uninstall::default()
        };
        match self.uninstall(&name, &uninstall) {
            Ok(_) => trouble.within(&format!(
                "release {name} failed, and has been uninstalled due to rollback-on-failure being set"
            )),
            Err(other) => {
                let what = "an error occurred while uninstalling the release. original install error";
                Trouble::Said(format!("{what}: {trouble}: {other}"), trouble.details().to_vec())
            }
        }
    }

    fn create_namespace(&self, apply: Apply) -> Result<(), Trouble> {
        let name = &self.namespace;
        let body = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name, "labels": { "name": name } } });
        let what = format!("Namespace/{name}");
        if self
            .client
            .find(&format!("/api/v1/namespaces/{}", escape(name)), METADATA, &what, self.around.go_on)?
            .is_some()
        {
            return Ok(());
        }
        if apply.server_side {
            let mut object = Object::of_json(body, 0).map_err(Trouble::said)?;
            let needed = BTreeSet::from(["v1".to_owned()]);
            let kinds = self.kinds(&needed)?;
            return object.iter_mut().try_for_each(|object| {
                self.create_one(&kinds, object, Apply { server_side: true, ..Apply::default() })
            });
        }
        let bytes = serde_json::to_vec(&body).unwrap_or_default();
        let path = format!("/api/v1/namespaces?fieldManager={MANAGER}");
        let ask = Ask { method: Method::Post, path: &path, accept: METADATA, body: Some((JSON, &bytes)) };
        match self.client.ask(&ask, &what, self.around.go_on) {
            Ok(_) | Err(ApiError::Exists(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The new revision follows the last one, which is superseded unless it failed.
    fn replace_last(&self, record: &mut Record) -> Result<(), Trouble> {
        let mut last = match self.last(record.name()) {
            Ok(last) => last,
            Err(Trouble::NotFound) => return Ok(()),
            Err(trouble) => return Err(trouble),
        };
        record.set("version", (last.revision() + 1).into());
        if last.status() == Status::Failed {
            return Ok(());
        }
        last.set_status(Status::Superseded, "superseded by new release");
        self.update(&last)
    }
}

/// The objects of a release that is to be installed, and those that exist already.
struct Prepared {
    objects: Vec<Object>,
    adopted: Vec<Object>,
    kinds: std::sync::Arc<Discovery>,
}

/// Whether a name can be one of a release, in Helm's words.
pub fn check_form(name: &str) -> Result<(), Trouble> {
    if is_release_name(name) {
        return Ok(());
    }
    let why = match name {
        "" => "no name provided",
        _ => {
            "invalid release name, must match regex ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ \
             and the length must not be longer than 53"
        }
    };
    Err(Trouble::said(format!("release name check failed: release name {name:?}: {why}")))
}

/// The user's labels must not be those of the storage.
pub(super) fn check_labels(record: &Record) -> Result<(), Trouble> {
    if record.labels.keys().any(|key| SYSTEM_LABELS.contains(&key.as_str())) {
        let all = SYSTEM_LABELS.join(" ");
        let why = format!("user supplied labels contains system reserved label name. System labels: [{all}]");
        return Err(Trouble::said(why));
    }
    Ok(())
}
