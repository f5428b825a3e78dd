//! A pod that runs once: created, followed until its container ends, and removed.

use crate::client::{Client, GoOn, JSON, wait};
use crate::deploy::{Observer, make_namespace};
use crate::discovery::Discovery;
use crate::error::ApiError;
use crate::explain::explain;
use crate::object::{Id, Object};
use crate::path::{below, escape};
use crate::secrets::{Copy, copy_all};
use crate::wire::{Ask, Method};
use serde_json::Value as Json;
use std::time::{Duration, Instant};

/// Pause between the first checks; later ones are further apart.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// How long a pod may outlive us before the cluster ends it.
const AFTERLIFE: u64 = 60;

/// Maximum length of the kept output.
const LONGEST_LOG: usize = 1 << 20;

/// Reasons for which a waiting container will not start by itself.
const HOPELESS: &[&str] = &[
    "ErrImagePull",
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
];

/// A pod to run.
#[derive(Clone, Debug, Default)]
pub struct Once {
    /// The pod, with its final name.
    pub pod: Json,
    /// Its namespace; that of the context if empty.
    pub namespace: String,
    /// Whether that namespace is created if it does not exist, with these labels and annotations.
    pub new_namespace: Option<Json>,
    /// Required secrets of that namespace.
    pub secrets: Vec<Copy>,
    /// The container whose exit code counts.
    pub container: String,
    /// Its time limit.
    pub timeout: Option<Duration>,
}

/// The result of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// The exit code of its container; `None` if it took too long.
    pub code: Option<i64>,
    /// The cluster's reason, if it gives one.
    pub reason: String,
    /// The beginning of its output.
    pub log: String,
    /// Whether its output was longer.
    pub is_cut: bool,
}

impl Once {
    fn text(&self, pointer: &str) -> &str {
        self.pod.pointer(pointer).and_then(Json::as_str).unwrap_or("")
    }

    /// The name of the pod.
    pub fn name(&self) -> &str {
        self.text("/metadata/name")
    }
}

/// Runs a pod to its end.
pub fn run(client: &Client, once: &Once, observer: Observer<'_>) -> Result<Ended, ApiError> {
    let namespace = if once.namespace.is_empty() { client.namespace() } else { &once.namespace };
    make_namespace(client, namespace, once.new_namespace.as_ref(), observer).map_err(|failed| failed.error)?;
    copy_all(client, &once.secrets, namespace, observer.go_on)?;
    make(client, once, namespace, observer.go_on)?;
    let ended = follow(client, once, namespace, observer);
    // The run may have been stopped; the pod must be removed anyway.
    let removed = remove(client, namespace, once.name(), &|| true);
    let ended = ended?;
    removed.map(|()| ended)
}

fn make(client: &Client, once: &Once, namespace: &str, go_on: GoOn<'_>) -> Result<(), ApiError> {
    let mut body = once.pod.clone();
    body["metadata"]["namespace"] = namespace.into();
    body["metadata"]["labels"]["app.kubernetes.io/managed-by"] = crate::apply::MANAGER.into();
    if let Some(timeout) = once.timeout {
        // If we are killed, the cluster ends it.
        body["spec"]["activeDeadlineSeconds"] = timeout.as_secs().saturating_add(AFTERLIFE).into();
    }
    let bytes = serde_json::to_vec(&body).unwrap_or_default();
    let path = format!("{}?fieldManager={}", below(namespace, &["pods"]), crate::apply::MANAGER);
    let ask = Ask { method: Method::Post, path: &path, accept: JSON, body: Some((JSON, &bytes)) };
    client.ask(&ask, &format!("Pod/{}", once.name()), go_on).map(|_| ())
}

/// Removes a pod at once; a missing one is not an error.
pub fn remove(client: &Client, namespace: &str, name: &str, go_on: GoOn<'_>) -> Result<(), ApiError> {
    let path = format!("{}?gracePeriodSeconds=0", below(namespace, &["pods", name]));
    let ask = Ask { method: Method::Delete, path: &path, accept: JSON, body: None };
    match client.ask(&ask, &format!("Pod/{name}"), go_on) {
        Ok(_) | Err(ApiError::NotFound(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

fn follow(client: &Client, once: &Once, namespace: &str, observer: Observer<'_>) -> Result<Ended, ApiError> {
    let begun = Instant::now();
    let path = below(namespace, &["pods", once.name()]);
    let mut log = Log::default();
    let mut pause = FIRST_PAUSE;
    loop {
        let pod = client.find(&path, JSON, &format!("Pod/{}", once.name()), observer.go_on)?;
        let Some(pod) = pod else {
            let line = format!("Pod/{} was removed while it ran", once.name());
            return Err(ApiError::NotReady(std::iter::once(line).chain(log.tail()).collect()));
        };
        let status = Status::of(&pod, &once.container);
        if status.has_started {
            log.read(client, namespace, once, observer);
        }
        if let Some(code) = status.code {
            return Ok(log.ended(Some(code), status.reason));
        }
        if let Some(why) = status.never {
            return Err(not_started(client, once, namespace, &why, observer.go_on));
        }
        if once.timeout.is_some_and(|timeout| begun.elapsed() >= timeout) {
            if !status.has_started {
                let why = format!("it has not started after {} s", begun.elapsed().as_secs());
                return Err(not_started(client, once, namespace, &why, observer.go_on));
            }
            return Ok(log.ended(None, String::new()));
        }
        wait(pause, observer.go_on)?;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

fn not_started(client: &Client, once: &Once, namespace: &str, why: &str, go_on: GoOn<'_>) -> ApiError {
    let id = Id {
        api_version: "v1".to_owned(),
        kind: "Pod".to_owned(),
        namespace: namespace.to_owned(),
        name: once.name().to_owned(),
    };
    let object = Object { id, body: once.pod.clone(), manifest: 0, secrets: Vec::new() };
    let mut lines = vec![format!("Pod/{} did not start: {why}", once.name())];
    let discovery = Discovery::read(client, &std::iter::once("v1".to_owned()).collect(), go_on);
    if let Ok(discovery) = discovery {
        lines.extend(explain(client, &discovery, &object, go_on));
    }
    ApiError::NotReady(lines)
}

/// The status of a pod.
struct Status {
    has_started: bool,
    /// The exit code of the container, once it has ended.
    code: Option<i64>,
    reason: String,
    /// Why it will never start.
    never: Option<String>,
}

impl Status {
    fn of(pod: &Json, container: &str) -> Status {
        let statuses = || pod.pointer("/status/containerStatuses").and_then(Json::as_array).into_iter().flatten();
        let main = statuses().find(|status| status.get("name").and_then(Json::as_str) == Some(container));
        let part = |pointer: &str| main.and_then(|status| status.pointer(pointer));
        let text = |pointer: &str| part(pointer).and_then(Json::as_str).unwrap_or("").to_owned();
        let code = part("/state/terminated/exitCode").and_then(Json::as_i64);
        let phase = pod.pointer("/status/phase").and_then(Json::as_str).unwrap_or("");
        let waiting = text("/state/waiting/reason");
        let hopeless = HOPELESS.contains(&waiting.as_str());
        let of_pod = |key: &str| pod.pointer(&format!("/status/{key}")).and_then(Json::as_str).unwrap_or("");
        let never = match (code, hopeless, phase) {
            (None, true, _) => Some(format!("{waiting} {}", text("/state/waiting/message")).trim_end().to_owned()),
            (None, false, "Failed") => Some(format!("{} {}", of_pod("reason"), of_pod("message")).trim().to_owned()),
            _ => None,
        };
        // A succeeded pod without a container status has exit code 0.
        let code = code.or((phase == "Succeeded").then_some(0));
        let has_started = code.is_some() || part("/state/running").is_some();
        Status { has_started, code, reason: text("/state/terminated/reason"), never }
    }
}

/// The log of a container, read incrementally.
#[derive(Default)]
struct Log {
    text: String,
    is_cut: bool,
    /// The time of the last line, and the number of lines with this time.
    last: (String, usize),
}

impl Log {
    fn read(&mut self, client: &Client, namespace: &str, once: &Once, observer: Observer<'_>) {
        let since = match self.last.0.split('.').next() {
            None | Some("") => String::new(),
            Some(second) => format!("&sinceTime={}", escape(&format!("{}Z", second.trim_end_matches('Z')))),
        };
        let path = format!(
            "{}?container={}&timestamps=true{since}",
            below(namespace, &["pods", once.name(), "log"]),
            escape(&once.container)
        );
        let ask = Ask { method: Method::Get, path: &path, accept: "*/*", body: None };
        // A log that cannot be read now may be readable at the next check.
        let Ok(answer) = client.ask(&ask, "", observer.go_on) else { return };
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        let mut seen = self.last.1;
        for line in text.lines() {
            let (time, said) = line.split_once(' ').unwrap_or((line, ""));
            if time < self.last.0.as_str() {
                continue;
            }
            if time == self.last.0 && seen > 0 {
                seen -= 1;
                continue;
            }
            match time == self.last.0 {
                true => self.last.1 += 1,
                false => (self.last, seen) = ((time.to_owned(), 1), 0),
            }
            (observer.say)(said);
            match self.text.len() + said.len() < LONGEST_LOG {
                true => self.text.extend([said, "\n"]),
                false => self.is_cut = true,
            }
        }
    }

    fn tail(&self) -> Vec<String> {
        let lines: Vec<&str> = self.text.lines().collect();
        lines.iter().skip(lines.len().saturating_sub(20)).map(|line| (*line).to_owned()).collect()
    }

    fn ended(self, code: Option<i64>, reason: String) -> Ended {
        Ended { code, reason, log: self.text.trim_end().to_owned(), is_cut: self.is_cut }
    }
}
