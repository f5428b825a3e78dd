//! Server-side apply of objects: in waves by kind, each wave on several threads.

use crate::client::{APPLY, Client, GoOn, JSON, METADATA};
use crate::discovery::{Discovery, Resource};
use crate::error::ApiError;
use crate::foreign::Secrets;
use crate::object::{Id, Object};
use crate::path::DRY_RUN;
use crate::wire::{Ask, Method};
use serde_json::Value as Json;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The field manager of fields that we set.
pub(crate) const MANAGER: &str = "purlin";

/// Maximum number of parallel requests.
pub const THREADS: usize = 8;

/// The state of an object after it was applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Distinguishes objects that had the same name.
    pub uid: String,
    /// Changes when another manager sets a field that was applied: a digest of the fields that are ours. Without
    /// managed fields, the object's generation, or else its resource version.
    pub state: String,
}

impl Mark {
    /// The mark of an object as the server returns it.
    pub fn of(object: &Json) -> Mark {
        let metadata = |key: &str| object.get("metadata").and_then(|metadata| metadata.get(key));
        let uid = metadata("uid").and_then(Json::as_str).unwrap_or("").to_owned();
        let is_ours = |entry: &&Json| {
            let text = |key: &str| entry.get(key).and_then(Json::as_str).unwrap_or("");
            text("manager") == MANAGER && text("operation") == "Apply" && text("subresource").is_empty()
        };
        let ours = metadata("managedFields").and_then(Json::as_array).and_then(|all| all.iter().find(is_ours));
        let fields = ours.and_then(|entry| entry.get("fieldsV1")).map(|fields| format!("f{:016x}", digest(fields)));
        let generation = || metadata("generation").and_then(Json::as_i64).map(|number| format!("g{number}"));
        let version = || metadata("resourceVersion").and_then(Json::as_str).map(|version| format!("r{version}"));
        Mark { uid, state: fields.or_else(generation).or_else(version).unwrap_or_default() }
    }
}

/// FNV-1a of a value as text: the same on every machine and in every version.
fn digest(value: &Json) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    value.to_string().bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Options for applying objects.
#[derive(Clone, Copy, Debug, Default)]
pub struct How {
    /// Takes over fields that others have set.
    pub force: bool,
    /// Dry run.
    pub dry: bool,
}

/// An error and the manifest it concerns.
#[derive(Clone, Debug)]
pub struct Failed {
    /// The error.
    pub error: ApiError,
    /// The index of the caller's manifest.
    pub manifest: Option<usize>,
}

impl From<ApiError> for Failed {
    fn from(error: ApiError) -> Self {
        Failed { error, manifest: None }
    }
}

impl Failed {
    /// An error about an object.
    pub fn of(object: &Object, error: ApiError) -> Self {
        Failed { error, manifest: Some(object.manifest) }
    }
}

/// Applies one object and returns the server's result.
pub(crate) fn apply_one(
    client: &Client,
    resource: &Resource,
    object: &Object,
    how: How,
    go_on: GoOn<'_>,
) -> Result<Json, ApiError> {
    let mut path = resource.path(&object.id.namespace, Some(&object.id.name));
    path.push_str(&format!("?fieldManager={MANAGER}&force={}&fieldValidation=Strict", how.force));
    if how.dry {
        path.push_str(&format!("&{DRY_RUN}"));
    }
    let body = serde_json::to_vec(&object.body).unwrap_or_default();
    let accept = if how.dry { JSON } else { METADATA };
    let ask = Ask { method: Method::Patch, path: &path, accept, body: Some((APPLY, &body)) };
    let name = object.id.to_string();
    let answer = if how.dry { client.try_out(&ask, &name, go_on) } else { client.json(&ask, &name, go_on) };
    answer.map_err(|error| error.without(&Secrets::of(object)))
}

/// Applies objects in the order of their kinds; returns marks in the order of the objects.
pub(crate) fn apply_all(
    client: &Client,
    discovery: &Discovery,
    objects: &[Object],
    how: How,
    go_on: GoOn<'_>,
) -> Result<Vec<Mark>, Failed> {
    let mut order: Vec<usize> = (0..objects.len()).collect();
    order.sort_by_key(|index| objects.get(*index).map(Object::rank));
    let mut marks = vec![Mark::default(); objects.len()];
    for wave in order.chunk_by(|a, b| objects.get(*a).map(Object::rank) == objects.get(*b).map(Object::rank)) {
        let applied = on_threads(wave, |index| {
            let Some(object) = objects.get(*index) else { return Ok(Mark::default()) };
            let resource = discovery.find(&object.id.api_version, &object.id.kind);
            let resource = resource.ok_or_else(|| Failed::of(object, unknown(&object.id)))?;
            let answer = apply_one(client, resource, object, how, go_on);
            answer.map(|answer| Mark::of(&answer)).map_err(|error| Failed::of(object, error))
        })?;
        for (index, mark) in wave.iter().zip(applied) {
            if let Some(slot) = marks.get_mut(*index) {
                *slot = mark;
            }
        }
    }
    Ok(marks)
}

/// A kind that the cluster does not have.
pub fn unknown(id: &Id) -> ApiError {
    ApiError::UnknownKind(format!("`{}` ({})", id.kind, id.api_version))
}

/// Processes items in parallel, a few at a time; the first error ends it.
pub(crate) fn on_threads<T: Sync, R: Send, E: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    if items.len() < 2 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let done: Mutex<Vec<(usize, Result<R, E>)>> = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS.min(items.len()) {
            scope.spawn(|| {
                while !failed.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { return };
                    let result = work(item);
                    if result.is_err() {
                        failed.store(true, Ordering::Relaxed);
                    }
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
