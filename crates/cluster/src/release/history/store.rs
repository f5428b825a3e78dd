//! Records in the cluster: one Secret for each revision, with Helm's labels.

use crate::apply::on_threads;
use crate::client::JSON;
use crate::error::ApiError;
use crate::path::{below, escape};
use crate::release::record::{Record, SYSTEM_LABELS, Status, pack, unpack};
use crate::release::{Engine, MANAGER, Trouble};
use crate::wire::{Ask, Method};
use purlin_value::encoding::{base64, from_base64};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// The type of the Secrets.
const TYPE: &str = "helm.sh/release.v1";

/// Records that are asked for at once: each may have one MiB, and answers have a limit.
const PAGE: usize = 20;

/// A list without the contents of its objects.
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/// The labels of a record's Secret, which say what it is without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::release) struct Tag {
    pub(in crate::release) namespace: String,
    pub(in crate::release) key: String,
    pub(in crate::release) name: String,
    pub(in crate::release) revision: i64,
    pub(in crate::release) status: Status,
    pub(in crate::release) labels: BTreeMap<String, String>,
}

impl Engine<'_> {
    /// The record of a revision.
    pub fn revision(&self, name: &str, revision: i64) -> Result<Record, Trouble> {
        self.record_of(&self.namespace, &Record::key_of(name, revision))
    }

    pub(in crate::release) fn record_of(&self, namespace: &str, key: &str) -> Result<Record, Trouble> {
        let path = below(namespace, &["secrets", key]);
        let found = self.client.find(&path, JSON, key, self.around.go_on)?.ok_or(Trouble::NotFound)?;
        read(&found).map_err(|why| Trouble::said(format!("get: failed to decode data {key:?}: {why}")))
    }

    /// The newest revision of a release, whatever its state.
    pub fn last(&self, name: &str) -> Result<Record, Trouble> {
        let tags = self.tags(name)?;
        let newest = tags.iter().max_by_key(|tag| tag.revision).ok_or(Trouble::NotFound)?;
        self.record_of(&newest.namespace, &newest.key)
    }

    /// A revision of a release, the newest if it is 0 or less.
    pub fn get(&self, name: &str, revision: i64) -> Result<Record, Trouble> {
        if !crate::release::is_release_name(name) {
            return Err(Trouble::said(format!("releaseContent: Release name is invalid: {name}")));
        }
        if revision > 0 { self.revision(name, revision) } else { self.last(name) }
    }

    /// All revisions of a release, the oldest first. Unreadable ones are left out, as Helm does.
    pub fn history(&self, name: &str) -> Result<Vec<Record>, Trouble> {
        let items = self.list(&format!("name={name},owner=helm"), JSON)?;
        if items.is_empty() {
            return Err(Trouble::NotFound);
        }
        let mut found: Vec<Record> = items.iter().filter_map(|item| read(item).ok()).collect();
        found.sort_by_key(Record::revision);
        Ok(found)
    }

    /// What the labels say about the revisions of a release.
    pub(in crate::release) fn tags(&self, name: &str) -> Result<Vec<Tag>, Trouble> {
        let tags = self.all_tags(&format!("name={name},owner=helm"))?;
        if tags.is_empty() { Err(Trouble::NotFound) } else { Ok(tags) }
    }

    /// The same for all releases of a selector.
    pub(in crate::release) fn all_tags(&self, selector: &str) -> Result<Vec<Tag>, Trouble> {
        let items = self.list(selector, METADATA_LIST)?;
        Ok(items.iter().filter_map(tag).collect())
    }

    fn list(&self, selector: &str, accept: &str) -> Result<Vec<Json>, Trouble> {
        let root = match self.namespace.is_empty() {
            true => "/api/v1/secrets".to_owned(),
            false => below(&self.namespace, &["secrets"]),
        };
        let (mut items, mut next) = (Vec::new(), String::new());
        loop {
            let page = if accept == JSON { PAGE } else { 500 };
            let more = if next.is_empty() { String::new() } else { format!("&continue={}", escape(&next)) };
            let path = format!("{root}?labelSelector={}&limit={page}{more}", escape(selector));
            let ask = Ask { method: Method::Get, path: &path, accept, body: None };
            let mut answer = self.client.json(&ask, "the releases", self.around.go_on)?;
            next = answer.pointer("/metadata/continue").and_then(Json::as_str).unwrap_or("").to_owned();
            if let Some(Json::Array(found)) = answer.get_mut("items").map(Json::take) {
                items.extend(found);
            }
            if next.is_empty() {
                return Ok(items);
            }
        }
    }

    /// The records of these tags.
    pub(in crate::release) fn records(&self, tags: &[Tag]) -> Result<Vec<Record>, Trouble> {
        on_threads(tags, |tag| self.record_of(&tag.namespace, &tag.key))
    }

    /// Stores a new revision, after making room for it.
    pub(in crate::release) fn create(&self, record: &Record, most: usize) -> Result<(), Trouble> {
        if most > 0 {
            self.make_room(record.name(), most - 1)?;
        }
        let secret = self.secret(record, "createdAt").map_err(|trouble| trouble.within("create"))?;
        let body = serde_json::to_vec(&secret).unwrap_or_default();
        let path = format!("{}?fieldManager={MANAGER}", below(record.namespace(), &["secrets"]));
        let ask = Ask { method: Method::Post, path: &path, accept: JSON, body: Some((JSON, &body)) };
        match self.client.ask(&ask, &record.key(), self.around.go_on) {
            Ok(_) => Ok(()),
            Err(ApiError::Exists(_)) if self.is_ours(record) => Ok(()),
            Err(ApiError::Exists(_)) => Err(Trouble::Exists),
            Err(error) => Err(Trouble::from(error).within("create: failed to create")),
        }
    }

    /// Whether the stored record is this one: a request whose answer was lost is sent again.
    fn is_ours(&self, record: &Record) -> bool {
        self.record_of(record.namespace(), &record.key()).is_ok_and(|stored| stored.body == record.body)
    }

    /// Stores a changed record.
    pub(in crate::release) fn update(&self, record: &Record) -> Result<(), Trouble> {
        let secret = self.secret(record, "modifiedAt").map_err(|trouble| trouble.within("update"))?;
        let body = serde_json::to_vec(&secret).unwrap_or_default();
        let path = format!("{}?fieldManager={MANAGER}", below(record.namespace(), &["secrets", &record.key()]));
        let ask = Ask { method: Method::Put, path: &path, accept: JSON, body: Some((JSON, &body)) };
        let updated = self.client.ask(&ask, &record.key(), self.around.go_on);
        updated.map(drop).map_err(|error| Trouble::from(error).within("update: failed to update"))
    }

    /// The same where the operation goes on without it, with a warning.
    pub(in crate::release) fn note(&self, record: &Record) {
        if let Err(trouble) = self.update(record) {
            (self.around.say)(&format!("warning: failed to update release {}: {trouble}", record.key()));
        }
    }

    /// Removes the record of a revision.
    pub(in crate::release) fn delete(&self, name: &str, revision: i64) -> Result<(), Trouble> {
        let key = Record::key_of(name, revision);
        let path = below(&self.namespace, &["secrets", &key]);
        let ask = Ask { method: Method::Delete, path: &path, accept: JSON, body: None };
        match self.client.ask(&ask, &key, self.around.go_on) {
            Ok(_) => Ok(()),
            Err(ApiError::NotFound(_)) => Err(Trouble::NotFound),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes the oldest revisions until this many are left; the deployed one stays.
    fn make_room(&self, name: &str, most: usize) -> Result<(), Trouble> {
        let mut tags = match self.tags(name) {
            Ok(tags) => tags,
            Err(Trouble::NotFound) => return Ok(()),
            Err(trouble) => return Err(trouble),
        };
        tags.sort_by_key(|tag| tag.revision);
        let deployed = tags.iter().rev().find(|tag| tag.status == Status::Deployed).map(|tag| tag.revision);
        let surplus = tags.len().saturating_sub(most);
        let doomed: Vec<i64> =
            tags.iter().map(|tag| tag.revision).filter(|number| Some(*number) != deployed).take(surplus).collect();
        let mut failures: Vec<Trouble> = Vec::new();
        for revision in &doomed {
            failures.extend(self.delete(name, *revision).err());
        }
        match (failures.len(), failures.into_iter().next()) {
            (0, _) | (_, None) => Ok(()),
            (1, Some(first)) => Err(first),
            (count, Some(first)) => Err(first.within(&format!("encountered {count} deletion errors. First is"))),
        }
    }

    fn secret(&self, record: &Record, stamp: &str) -> Result<Json, Trouble> {
        let seconds = (self.around.now)().div_euclid(1_000_000_000);
        let mut labels = Map::new();
        for (key, value) in &record.labels {
            labels.insert(key.clone(), value.clone().into());
        }
        labels.insert(stamp.to_owned(), seconds.to_string().into());
        labels.insert("name".into(), record.name().into());
        labels.insert("owner".into(), "helm".into());
        labels.insert("status".into(), record.status().name().into());
        labels.insert("version".into(), record.revision().to_string().into());
        let packed = pack(&record.body)
            .map_err(|why| Trouble::said(format!("failed to encode release {:?}: {why}", record.name())))?;
        Ok(json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": { "name": record.key(), "namespace": record.namespace(), "labels": labels },
            "type": TYPE,
            "data": { "release": base64(packed.as_bytes()) },
        }))
    }
}

fn labels_of(secret: &Json) -> BTreeMap<String, String> {
    let labels = secret.pointer("/metadata/labels").and_then(Json::as_object).into_iter().flatten();
    labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

/// The record in a Secret, with the labels that are the user's.
fn read(secret: &Json) -> Result<Record, String> {
    let text = secret.pointer("/data/release").and_then(Json::as_str).ok_or("it has no `release`")?;
    let packed = from_base64(text.as_bytes()).map_err(|_| "it is not base64".to_owned())?;
    let mut labels = labels_of(secret);
    labels.retain(|key, _| !SYSTEM_LABELS.contains(&key.as_str()));
    Ok(Record { body: unpack(&packed)?, labels })
}

fn tag(item: &Json) -> Option<Tag> {
    let labels = labels_of(item);
    let text = |pointer: &str| item.pointer(pointer).and_then(Json::as_str).unwrap_or("").to_owned();
    Some(Tag {
        namespace: text("/metadata/namespace"),
        key: text("/metadata/name"),
        name: labels.get("name")?.clone(),
        revision: labels.get("version")?.parse().ok()?,
        status: Status::of(labels.get("status").map_or("", String::as_str)),
        labels,
    })
}
