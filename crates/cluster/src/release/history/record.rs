//! The record of a revision: Helm's JSON, packed as in its Secrets.
//!
//! A record is kept as it was read, so that what newer versions of Helm add to it survives a change of its status.

use purlin_syntax::Limits;
use purlin_value::archive::{Trouble, gunzip, gzip, is_gzip};
use purlin_value::encoding::{base64, from_base64};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// The state of a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Uncertain.
    Unknown,
    /// It is what the cluster has.
    Deployed,
    /// Its objects were removed, the history was kept.
    Uninstalled,
    /// A newer revision took its place.
    Superseded,
    /// It did not succeed.
    Failed,
    /// Its objects are being removed.
    Uninstalling,
    /// The first revision is being installed.
    PendingInstall,
    /// An upgrade is in progress.
    PendingUpgrade,
    /// A rollback is in progress.
    PendingRollback,
}

const STATUSES: &[(Status, &str)] = &[
    (Status::Unknown, "unknown"),
    (Status::Deployed, "deployed"),
    (Status::Uninstalled, "uninstalled"),
    (Status::Superseded, "superseded"),
    (Status::Failed, "failed"),
    (Status::Uninstalling, "uninstalling"),
    (Status::PendingInstall, "pending-install"),
    (Status::PendingUpgrade, "pending-upgrade"),
    (Status::PendingRollback, "pending-rollback"),
];

impl Status {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        STATUSES.iter().find(|(status, _)| *status == self).map_or("unknown", |(_, name)| name)
    }

    /// The state of a name.
    pub fn of(name: &str) -> Status {
        STATUSES.iter().find(|(_, known)| *known == name).map_or(Status::Unknown, |(status, _)| *status)
    }

    /// Whether an operation has begun and not ended.
    pub fn is_pending(self) -> bool {
        matches!(self, Status::PendingInstall | Status::PendingUpgrade | Status::PendingRollback)
    }
}

/// Labels of Secrets that are the storage's own.
pub const SYSTEM_LABELS: &[&str] = &["name", "owner", "status", "version", "createdAt", "modifiedAt"];

/// The record of a revision.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// Its JSON.
    pub body: Json,
    /// The user's labels, which are those of the Secret.
    pub labels: BTreeMap<String, String>,
}

/// The parts of a new record.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// The release.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// The revision.
    pub revision: i64,
    /// The chart as Helm stores it.
    pub chart: Json,
    /// The user's values.
    pub config: Json,
    /// The text of all manifests that are not hooks.
    pub manifest: String,
    /// The hooks.
    pub hooks: Vec<Json>,
    /// The chart's notes.
    pub notes: String,
}

/// The values of `apply_method`.
const SERVER_SIDE: &str = "ssa";
const CLIENT_SIDE: &str = "csa";

impl Record {
    /// A record; `now` is the time of the first and of the last deploy.
    pub fn new(parts: Parts, now: &str, is_server_side: bool) -> Record {
        let mut body = Map::new();
        body.insert("name".into(), parts.name.into());
        let mut info = Map::new();
        info.insert("first_deployed".into(), now.into());
        info.insert("last_deployed".into(), now.into());
        info.insert("status".into(), Status::Unknown.name().into());
        if !parts.notes.is_empty() {
            info.insert("notes".into(), parts.notes.into());
        }
        body.insert("info".into(), Json::Object(info));
        body.insert("chart".into(), parts.chart);
        if parts.config.as_object().is_some_and(|config| !config.is_empty()) {
            body.insert("config".into(), parts.config);
        }
        if !parts.manifest.is_empty() {
            body.insert("manifest".into(), parts.manifest.into());
        }
        if !parts.hooks.is_empty() {
            body.insert("hooks".into(), Json::Array(parts.hooks));
        }
        body.insert("version".into(), parts.revision.into());
        body.insert("namespace".into(), parts.namespace.into());
        let method = if is_server_side { SERVER_SIDE } else { CLIENT_SIDE };
        body.insert("apply_method".into(), method.into());
        Record { body: Json::Object(body), labels: BTreeMap::new() }
    }

    /// The key of the Secret of a revision.
    pub fn key_of(name: &str, revision: i64) -> String {
        format!("sh.helm.release.v1.{name}.v{revision}")
    }

    /// The key of its Secret.
    pub fn key(&self) -> String {
        Record::key_of(self.name(), self.revision())
    }

    fn text(&self, pointer: &str) -> &str {
        self.body.pointer(pointer).and_then(Json::as_str).unwrap_or("")
    }

    /// The release.
    pub fn name(&self) -> &str {
        self.text("/name")
    }

    /// The namespace of the release.
    pub fn namespace(&self) -> &str {
        self.text("/namespace")
    }

    /// The revision.
    pub fn revision(&self) -> i64 {
        self.body.get("version").and_then(Json::as_i64).unwrap_or(0)
    }

    /// The state.
    pub fn status(&self) -> Status {
        Status::of(self.text("/info/status"))
    }

    /// What happened, in a sentence.
    pub fn description(&self) -> &str {
        self.text("/info/description")
    }

    /// The time of the last deploy.
    pub fn last_deployed(&self) -> &str {
        self.text("/info/last_deployed")
    }

    /// The time of the first deploy.
    pub fn first_deployed(&self) -> &str {
        self.text("/info/first_deployed")
    }

    /// The chart's notes.
    pub fn notes(&self) -> &str {
        self.text("/info/notes")
    }

    /// The text of all manifests that are not hooks.
    pub fn manifest(&self) -> &str {
        self.text("/manifest")
    }

    /// The chart.
    pub fn chart(&self) -> &Json {
        self.body.get("chart").unwrap_or(&Json::Null)
    }

    /// A text of the chart's metadata.
    pub fn chart_text(&self, key: &str) -> &str {
        self.chart().pointer("/metadata").and_then(|data| data.get(key)).and_then(Json::as_str).unwrap_or("")
    }

    /// The user's values.
    pub fn config(&self) -> &Json {
        self.body.get("config").unwrap_or(&Json::Null)
    }

    /// The hooks.
    pub fn hooks(&self) -> &[Json] {
        self.body.get("hooks").and_then(Json::as_array).map_or(&[], Vec::as_slice)
    }

    /// A hook, to note when it ran.
    pub fn hook_mut(&mut self, at: usize) -> Option<&mut Json> {
        self.body.get_mut("hooks")?.get_mut(at)
    }

    /// How its objects were applied: `ssa`, `csa`, or empty in records of Helm 3.
    pub fn apply_method(&self) -> &str {
        self.text("/apply_method")
    }

    /// Whether its objects were applied by the server.
    pub fn is_server_side(&self) -> bool {
        self.apply_method() == SERVER_SIDE
    }

    /// Sets the way in which its objects are applied.
    pub fn set_server_side(&mut self, is_server_side: bool) {
        self.set("apply_method", if is_server_side { SERVER_SIDE } else { CLIENT_SIDE }.into());
    }

    /// Sets a part of the record.
    pub fn set(&mut self, key: &str, value: Json) {
        if let Some(body) = self.body.as_object_mut() {
            body.insert(key.to_owned(), value);
        }
    }

    /// Sets a part of `info`.
    pub fn set_info(&mut self, key: &str, value: &str) {
        if let Some(body) = self.body.as_object_mut() {
            let info = body.entry("info").or_insert_with(|| json!({}));
            if let Some(info) = info.as_object_mut() {
                info.insert(key.to_owned(), value.into());
            }
        }
    }

    /// Sets the state, and what happened.
    pub fn set_status(&mut self, status: Status, description: &str) {
        self.set_info("status", status.name());
        self.set_info("description", description);
    }
}

/// Packs a record as it is stored in a Secret, without the encoding of the Secret itself.
pub fn pack(body: &Json) -> Result<String, String> {
    let text = serde_json::to_vec(body).map_err(|error| error.to_string())?;
    let packed = gzip(&text).map_err(|error| error.to_string())?;
    Ok(base64(&packed))
}

/// Unpacks a record.
pub fn unpack(text: &[u8]) -> Result<Json, String> {
    let bytes = from_base64(text).map_err(|_| "it is not base64".to_owned())?;
    let bytes = match is_gzip(&bytes) {
        true => gunzip(&bytes, &limits()).map_err(|(Trouble::Bad(why) | Trouble::Large(why))| why)?,
        false => bytes,
    };
    let body: Json = serde_json::from_slice(&bytes).map_err(|error| format!("it is not JSON: {error}"))?;
    match body.is_object() {
        true => Ok(body),
        false => Err("it is not a JSON object".to_owned()),
    }
}

/// A Secret holds at most one MiB; repeated manifests pack well.
fn limits() -> Limits {
    Limits { archive_bytes: 64 << 20, archive_ratio: 1_000, ..Limits::default() }
}
