//! The tags images would be built with, as far as they are known without building.

use crate::artifacts;
use crate::item::View;
use crate::walk::Config;
use crate::{image, rules, template};
use purlin_syntax::Diagnostic;
use purlin_value::Session;
use std::collections::BTreeMap;

/// Every artifact's image with its tag. A tag that only a build or git can determine is `latest`, as without either; in
/// a git repository, that is reported. A tag given on the command line applies to every image.
pub fn tags(
    session: &Session,
    configs: &[Config<'_>],
    env: &BTreeMap<String, String>,
    registry: Option<&str>,
    named: Option<&str>,
) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    for artifact in artifacts::collect(configs) {
        let Some(config) = configs.get(artifact.config) else { continue };
        let policy = config.item.view().at(&["build", "tagPolicy"]);
        let template = policy.and_then(|policy| policy.at(&["envTemplate", "template"]));
        let tag = match template {
            _ if named.is_some() => named.unwrap_or_default().to_owned(),
            Some(text) => {
                let mut names = env.clone();
                names.insert("IMAGE_NAME".to_owned(), artifact.image.clone());
                let tag = template::expand(&text.text(), &names)?;
                // Skaffold falls back to `latest` where the template gives no tag.
                match why_unusable(&artifact.image, &tag) {
                    None => tag,
                    Some(reason) => {
                        let span = text.span().unwrap_or(config.span);
                        let message = format!("the tag of `{}` {reason}: `latest` is used", artifact.image);
                        let hint = "set the variables of the template, or name tags with `--images`";
                        session.sink.push(Diagnostic::at(&rules::NOT_RENDERED, span, message).hint(hint));
                        "latest".to_owned()
                    }
                }
            }
            None => {
                if policy.is_some_and(|policy| policy.get("sha256").is_none()) && session.world.exists(".git") {
                    let span = policy.and_then(View::span).unwrap_or(config.span);
                    let message =
                        format!("the tag of `{}` is not known without building: `latest` is used", artifact.image);
                    session
                        .sink
                        .push(Diagnostic::at(&rules::NOT_RENDERED, span, message).hint("name tags with `--images`"));
                }
                "latest".to_owned()
            }
        };
        let name =
            registry.map_or_else(|| artifact.image.clone(), |registry| image::in_registry(&artifact.image, registry));
        let full = if tag.is_empty() { name } else { format!("{name}:{tag}") };
        found.push((artifact.image, full));
    }
    Ok(found)
}

/// Why an image cannot have a tag that a template has made.
fn why_unusable(image: &str, tag: &str) -> Option<&'static str> {
    if tag.contains("<no value>") {
        return Some("has a variable that is not set");
    }
    (!tag.is_empty() && image::parse(&format!("{image}:{tag}")).is_err()).then_some("is no tag of an image")
}
