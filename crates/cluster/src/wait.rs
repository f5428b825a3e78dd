//! Waits until objects are ready, and reports the reasons if they are not.

use crate::apply::{Failed, on_threads};
use crate::client::{Client, GoOn, JSON, wait};
use crate::discovery::Discovery;
use crate::error::ApiError;
use crate::explain::explain;
use crate::object::Object;
use crate::ready::{Ready, Rules, has_status, ready};
use std::time::{Duration, Instant};

/// Pause between the first checks; later ones are further apart.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Options for waiting.
#[derive(Clone, Copy)]
pub struct Patience<'p> {
    /// Maximum time.
    pub timeout: Duration,
    /// Options for readiness.
    pub rules: Rules,
    /// Whether a failure is only one once the time has passed.
    pub tolerant: bool,
    /// Returns whether to continue.
    pub go_on: GoOn<'p>,
    /// Receives messages about awaited objects.
    pub say: &'p (dyn Fn(&str) + Sync),
}

/// Waits until all these objects are ready.
pub fn wait_for(
    client: &Client,
    discovery: &Discovery,
    objects: &[&Object],
    patience: Patience<'_>,
) -> Result<(), Failed> {
    let mut open: Vec<&Object> = objects.iter().copied().filter(|object| has_status(&object.id.kind)).collect();
    let begun = Instant::now();
    let mut pause = FIRST_PAUSE;
    let mut said: Vec<String> = Vec::new();
    while !open.is_empty() {
        let states = on_threads(&open, |object| look(client, discovery, object, patience))?;
        let mut waiting = Vec::new();
        let mut now = Vec::new();
        for (object, state) in open.iter().copied().zip(states) {
            match state {
                Ready::Yes => {}
                Ready::Failed(why) if patience.tolerant => {
                    now.push(format!("{}: {why}", object.id));
                    waiting.push((object, why));
                }
                Ready::Waits(why) => {
                    now.push(format!("{}: {why}", object.id));
                    waiting.push((object, why));
                }
                Ready::Failed(why) => return Err(not_ready(client, discovery, object, &why, patience, "failed")),
            }
        }
        for line in now.iter().filter(|line| !said.contains(line)) {
            (patience.say)(line);
        }
        said = now;
        if let Some((object, why)) = waiting.first().filter(|_| begun.elapsed() >= patience.timeout) {
            let late = format!("is not ready after {}", seconds(patience.timeout));
            return Err(not_ready(client, discovery, object, why, patience, &late));
        }
        open = waiting.into_iter().map(|(object, _)| object).collect();
        if !open.is_empty() {
            wait(pause.min(patience.timeout.saturating_sub(begun.elapsed())), patience.go_on)?;
            pause = (pause * 3 / 2).min(LONGEST_PAUSE);
        }
    }
    Ok(())
}

fn look(client: &Client, discovery: &Discovery, object: &Object, patience: Patience<'_>) -> Result<Ready, Failed> {
    let Some(resource) = discovery.find(&object.id.api_version, &object.id.kind) else { return Ok(Ready::Yes) };
    let path = resource.path(&object.id.namespace, Some(&object.id.name));
    match client.find(&path, JSON, &object.id.to_string(), patience.go_on) {
        Ok(Some(found)) => Ok(ready(&found, patience.rules)),
        Ok(None) => Ok(Ready::Waits("it does not exist (was it deleted?)".to_owned())),
        Err(error) => Err(Failed::of(object, error)),
    }
}

fn not_ready(
    client: &Client,
    discovery: &Discovery,
    object: &Object,
    why: &str,
    patience: Patience<'_>,
    what: &str,
) -> Failed {
    let mut lines = vec![format!("{} {what}: {why}", object.id)];
    lines.extend(explain(client, discovery, object, patience.go_on));
    Failed::of(object, ApiError::NotReady(lines))
}

fn seconds(time: Duration) -> String {
    if time.subsec_millis() == 0 { format!("{} s", time.as_secs()) } else { format!("{:.1} s", time.as_secs_f64()) }
}
