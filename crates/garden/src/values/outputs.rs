//! Outputs of actions that are known without running anything, type by type.

use crate::action::Action;
use crate::config::ActionKind;
use crate::expr::REST;
use crate::live::About;
use ecow::EcoString;
use purlin_value::{Data, Eval, Map, Origins, Piece, Value};

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
        let origins = &eval.session.origins;
        let given = spec.get("localId").map(|value| eval.force(value)).filter(|value| !value.is_null());
        let given = given.unwrap_or_else(|| Value::str(action.name.clone()));
        let local = mapped(origins, &given, |text| untagged(text).into());
        let registry = self.deployment_registry(eval);
        let deployed = match &registry {
            // Its name is made of all parts of the registry.
            Some(registry) => {
                mapped(origins, &local, |name| in_registry(registry, name)).tainted_if(registry.is_tainted_deep())
            }
            None => local.clone(),
        };
        let version = self.version(eval);
        let id = |name: &Value| match (name.as_str(), version.as_str()) {
            (Some(_), Some(tag)) => {
                mapped(origins, name, |text| ecow::eco_format!("{text}:{tag}")).tainted_by(version.taint())
            }
            (None, _) => name.clone(),
            _ => version.clone(),
        };
        let mut map = Map::new();
        for (camel, kebab, value) in [
            ("localImageName", "local-image-name", &local),
            ("localImageId", "local-image-id", &id(&local)),
            ("deploymentImageName", "deployment-image-name", &deployed),
            ("deploymentImageId", "deployment-image-id", &id(&deployed)),
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
    pub(crate) fn built_image(&self, build: &str, eval: &mut Eval<'_>) -> Option<Value> {
        let build = self.build(build, eval)?;
        let outputs = eval.force(build.get("outputs")?);
        let image = outputs.get("deploymentImageId").or_else(|| outputs.get(REST))?;
        Some(eval.force(image))
    }
}

/// The name of an image made of another; anything else stays.
pub(crate) fn mapped(origins: &Origins, value: &Value, make: impl FnOnce(&str) -> EcoString) -> Value {
    let Some((text, made)) = value.as_str().map(|text| (text, make(text))) else { return value.clone() };
    if text == made || !value.origin.is_known() {
        return value.clone().with(Data::Str(made));
    }
    let origin = origins.derived("image name", None, vec![Piece::whole(value.origin)]);
    value.clone().with(Data::Str(made)).with_origin(origin)
}

/// The name of an image without its tag. Garden does not support digests: it cuts at the colon.
pub(crate) fn untagged(name: &str) -> &str {
    purlin_value::image::tag_colon(name).and_then(|at| name.get(..at)).unwrap_or(name)
}

/// The name that an image has in a registry: only the last part of its own name is kept.
pub(crate) fn in_registry(registry: &Value, name: &str) -> EcoString {
    let text = |key: &str| registry.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let mut whole = EcoString::from(text("hostname").unwrap_or_default());
    if let Some(port) = registry.get("port").and_then(Value::as_number) {
        whole.push_str(&format!(":{port}"));
    }
    for part in text("namespace").into_iter().chain(name.rsplit('/').next()) {
        whole.push('/');
        whole.push_str(part);
    }
    whole
}
