//! Outputs of actions that are known without running anything, type by type.

use crate::action::Action;
use crate::config::ActionKind;
use crate::expr::REST;
use crate::live::About;
use purlin_value::{Eval, Map, Value};

impl About {
    /// The outputs of an action that are known without running it.
    pub(crate) fn static_outputs(&self, action: &Action, eval: &mut Eval<'_>) -> Map {
        match (action.type_name.as_str(), action.kind) {
            ("container", ActionKind::Build) => self.image_outputs(action, eval),
            ("container", ActionKind::Deploy) => self.deployed_image(action, eval),
            ("helm", ActionKind::Deploy) => self.release_name(action, eval),
            ("test", ActionKind::Build) => Map::from_iter([("foo".into(), Value::str("bar"))]),
            _ => Map::new(),
        }
    }

    fn image_outputs(&self, action: &Action, eval: &mut Eval<'_>) -> Map {
        let spec = eval.force(&self.spec);
        let local = spec.get("localId").map(|value| eval.force(value)).filter(|value| !value.is_null());
        let name = local.unwrap_or_else(|| Value::str(action.name.clone()));
        let version = self.version(eval);
        let id = match (name.as_str(), version.as_str()) {
            (Some(text), Some(tag)) => {
                Value::str(ecow::eco_format!("{text}:{tag}")).tainted_by(name.taint() | version.taint())
            }
            (None, _) => name.clone(),
            _ => version.clone(),
        };
        let mut map = Map::new();
        for (camel, kebab, value) in [
            ("localImageName", "local-image-name", &name),
            ("localImageId", "local-image-id", &id),
            ("deploymentImageName", "deployment-image-name", &name),
            ("deploymentImageId", "deployment-image-id", &id),
            ("deploymentImageTag", "deployment-image-tag", &version),
        ] {
            map.insert(camel.into(), value.clone());
            map.insert(kebab.into(), value.clone());
        }
        map
    }

    fn release_name(&self, action: &Action, eval: &mut Eval<'_>) -> Map {
        let spec = eval.force(&self.spec);
        let given = spec.get("releaseName").map(|value| eval.force(value)).filter(|value| !value.is_null());
        let name = given.unwrap_or_else(|| Value::str(action.name.clone()));
        Map::from_iter([("release-name".into(), name)])
    }

    fn deployed_image(&self, action: &Action, eval: &mut Eval<'_>) -> Map {
        let spec = eval.force(&self.spec);
        let image = spec.get("image").map(|value| eval.force(value)).filter(|value| !value.is_null());
        let image = image.or_else(|| self.built_image(action.text("build")?, eval));
        image.map(|image| ("deployedImageId".into(), image)).into_iter().collect()
    }

    /// The image that a Build makes.
    fn built_image(&self, build: &str, eval: &mut Eval<'_>) -> Option<Value> {
        let actions = self.actions()?.at("actions.build")?.get(build)?.clone();
        let outputs = eval.force(actions.get("outputs")?);
        let image = outputs.get("deploymentImageId").or_else(|| outputs.get(REST))?;
        Some(eval.force(image))
    }
}
