//! TOSCA services and Unfurl ensembles as Deploys: one action each, whose work is to run their operations.
//!
//! A service keeps the results of its operations in the journal; an ensemble keeps them in its own file.

mod ensemble;
mod project;
mod tosca;

pub use ensemble::EnsembleDeploy;
pub use project::ServiceProject;
pub use tosca::ServiceDeploy;

use crate::event::Cause;
use crate::executor::Local;
use crate::local::process::Surroundings;
use crate::outputs::Outputs;
use crate::store::{Key, Store};
use crate::work::Trouble;
use purlin_host::native;
use purlin_model::{Node, Request, Resolved};
use purlin_syntax::Limits;
use purlin_syntax::write::JsonLayout;
use purlin_value::world::World;
use purlin_value::{Secrets, Session, Value, emit, stack};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

/// A service or an ensemble, and its inputs.
#[derive(Clone)]
pub struct Place {
    /// The action.
    pub id: String,
    /// The target environment; deployments in different environments are independent.
    pub environment: String,
    /// The world it is read from.
    pub world: Arc<dyn World>,
    /// Limits in force.
    pub limits: Limits,
    /// Its file.
    pub path: String,
    /// The request: the environment, inputs of the command line.
    pub asked: Request,
    /// Inputs that override its own.
    pub inputs: Value,
    /// The folder that results are kept below.
    pub state: PathBuf,
    /// The key that marks them as the user's own.
    pub key: Key,
    /// Secrets of its surroundings.
    pub secrets: Vec<String>,
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Place").field("id", &self.id).field("path", &self.path).finish_non_exhaustive()
    }
}

impl Place {
    /// Does something with a new session: files read before may have changed since.
    fn with<T: Send>(&self, work: impl FnOnce(&Session) -> Result<T, Trouble> + Send) -> Result<T, Trouble> {
        let run = || {
            let session = Session::with_limits(self.world.clone(), self.limits.clone(), 1);
            self.secrets.iter().for_each(|secret| session.sink.hide(secret));
            work(&session)
        };
        stack::with_stack(stack::EVALUATION, run)
            .unwrap_or_else(|_| Err(other("there is not enough memory for a stack")))
    }

    fn request(&self) -> Request {
        Request { path: self.path.clone(), found: None, file: None, ..self.asked.clone() }
    }

    fn root(&self) -> PathBuf {
        native::system_path(self.world.root())
    }

    fn executor(&self) -> Local {
        Local::new(Surroundings { env: self.world.env_all().into_iter().collect() }, None)
    }

    fn store(&self) -> Result<Store, Trouble> {
        let store = Store::open(&self.state, &self.key)
            .map_err(|error| other(&format!("could not read earlier results: {error}")))?;
        let root = store.root().display().to_string();
        store.prepare().map_err(|error| other(&format!("could not write to `{root}`: {error}")))?;
        Ok(store)
    }
}

fn other(why: &str) -> Trouble {
    Trouble { cause: Cause::Other(why.to_owned()), tail: Vec::new() }
}

/// The session's problems as a failure.
fn problems(session: &Session, what: &str) -> Trouble {
    let errors: Vec<String> = session
        .sink
        .hand_on()
        .into_iter()
        .filter(|problem| problem.is_error())
        .map(|problem| problem.message.to_string())
        .collect();
    match errors.as_slice() {
        [] => other(what),
        [only] => other(only),
        [first, ..] => Trouble { cause: Cause::Other(first.clone()), tail: errors },
    }
}

/// Outputs for other actions: those of the service, and the attributes of its nodes.
fn outputs(resolved: &Resolved) -> Outputs {
    let attributes = |node: &Node| {
        let known = plain(node.resolved.get("attributes")?);
        (!known.is_empty()).then(|| (node.id.to_string(), json!({ "attributes": known })))
    };
    let nodes: Outputs = resolved.nodes.iter().filter_map(attributes).collect();
    let mut all = Outputs::new();
    if !nodes.is_empty() {
        all.insert("nodes".to_owned(), nodes.into());
    }
    all.extend(plain(&resolved.outputs));
    all
}

/// The entries of a mapping that other actions may use. Secret and unknown values stay with the service.
fn plain(values: &Value) -> Outputs {
    let is_plain = |value: &Value| !value.any(|part| part.is_tainted() || part.is_pending() || part.is_poison());
    let entries = values.as_map().into_iter().flat_map(|map| map.iter());
    let known = entries.filter(|(_, value)| !value.is_null() && is_plain(value));
    known
        .filter_map(|(name, value)| {
            let text = emit::to_json(value, Secrets::Hide, JsonLayout::Compact).ok()?;
            Some((name.to_string(), serde_json::from_str(&text).ok()?))
        })
        .collect()
}
