//! Actions of type `tosca` and `ensemble`: their operations run as work of the action.

use super::{GardenProject, timeout};
use crate::action::Action;
use crate::event::Cause;
use crate::service::{EnsembleDeploy, Place, ServiceDeploy};
use crate::work::Work;
use purlin_garden::action::Action as GardenAction;
use purlin_garden::versions::Version;
use purlin_model::Request;
use purlin_value::{Value, path};
use std::sync::Arc;

/// The resolved action of these types.
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
    let secrets = project.secrets_with(spec);
    let place = Place {
        id: action.key.to_string(),
        environment: format!("{}.{}", project.resolution.project.namespace, project.resolution.project.environment),
        world: session.world.clone(),
        limits: session.limits.clone(),
        path: path::join(&action.source_folder, named),
        asked: Request {
            environment: spec.get("environment").and_then(Value::as_str).map(str::to_owned),
            ..Request::default()
        },
        inputs: spec.get("inputs").cloned().unwrap_or_else(Value::null),
        state: project.root(),
        key: project.key.clone(),
        secrets: secrets.clone(),
    };
    let work: Arc<dyn Work> = match is_ensemble {
        true => Arc::new(EnsembleDeploy(place)),
        false => Arc::new(ServiceDeploy(place)),
    };
    Ok(Action { work: Some(work), secrets, timeout: timeout(action), ..project.blank(action, version, &[]) })
}
