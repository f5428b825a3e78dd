//! Actions of type `tosca` and `ensemble`: their operations run as work of the action.

use super::{GardenProject, collect_secrets};
use crate::action::{Action, Kind, Reuse};
use crate::event::Cause;
use crate::service::{EnsembleDeploy, Place, ServiceDeploy};
use crate::work::Work;
use purlin_garden::action::Action as GardenAction;
use purlin_garden::versions::Version;
use purlin_model::Request;
use purlin_value::{Value, path};
use std::sync::Arc;

/// What an action of these types comes to.
pub fn action(
    project: &GardenProject<'_>,
    action: &GardenAction,
    spec: &Value,
    version: &Version,
) -> Result<Action, Cause> {
    let is_ensemble = action.type_name == "ensemble";
    let key = if is_ensemble { "ensemble" } else { "template" };
    let named = spec.get(key).and_then(Value::as_str).ok_or(Cause::Unresolved)?;
    let session = project.session();
    let place = Place {
        id: action.key.to_string(),
        world: session.world.clone(),
        limits: session.limits.clone(),
        path: path::join(&action.source_folder, named),
        asked: Request {
            environment: spec.get("environment").and_then(Value::as_str).map(str::to_owned),
            ..Request::default()
        },
        inputs: spec.get("inputs").cloned().unwrap_or_else(Value::null),
        state: project.root(),
    };
    let work: Arc<dyn Work> = match is_ensemble {
        true => Arc::new(EnsembleDeploy(place)),
        false => Arc::new(ServiceDeploy(place)),
    };
    let mut secrets = project.secrets.clone();
    collect_secrets(spec, &mut secrets);
    Ok(deploy(action.key.to_string(), version.full.to_string(), work, secrets, action.span()))
}

/// An action that is work and nothing else.
pub(crate) fn deploy(
    id: String,
    version: String,
    work: Arc<dyn Work>,
    secrets: Vec<String>,
    span: Option<purlin_syntax::Span>,
) -> Action {
    Action {
        id,
        kind: Kind::Deploy,
        version,
        reuse: Reuse::Never,
        stage: None,
        status: None,
        command: None,
        cleanup: None,
        image: None,
        work: Some(work),
        persistent: None,
        artifacts: Vec::new(),
        output_folder: &[],
        output_file: &[],
        timeout: None,
        secrets,
        span,
    }
}
