//! Artifacts: built from a Dockerfile, or by a custom command.

use super::SkaffoldProject;
use crate::action::{Action, Command, Kind, Reuse};
use crate::event::Cause;
use crate::image::{Image, Secret, SecretValue};
use purlin_host::named;
use purlin_skaffold::artifacts::Artifact;
use purlin_skaffold::entities::artifact::builders;
use purlin_skaffold::environment;
use purlin_skaffold::item::View;
use purlin_skaffold::{image, template};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// The build argument for the run mode.
const MODE: &str = "SKAFFOLD_RUN_MODE";

fn texts(section: View<'_, '_>, key: &str) -> Vec<String> {
    section.get(key).into_iter().flat_map(View::items).map(|item| item.text().into_owned()).collect()
}

fn text(section: View<'_, '_>, key: &str) -> Option<String> {
    Some(section.text_of(key).into_owned()).filter(|text| !text.is_empty())
}

fn is_on(section: View<'_, '_>, key: &str) -> bool {
    section.get(key).and_then(View::bool).unwrap_or(false)
}

impl SkaffoldProject<'_, '_> {
    /// The resolved action of an artifact.
    pub(crate) fn build_action(&self, at: usize) -> Result<Action, Cause> {
        let artifact = self.artifacts.get(at).ok_or(Cause::Unresolved)?;
        let tag = self.tags.get(at).cloned().unwrap_or_default();
        self.refuse(artifact)?;
        let context = self.context(artifact.config, artifact.view);
        if !named::is_folder(&context) {
            return Err(Cause::Other(format!("its context `{}` is not a folder", context.display())));
        }
        let image = match artifact.view.get("custom") {
            Some(custom) => self.custom(artifact, custom, &tag, &context, &self.platforms(at))?,
            None => self.docker(artifact, &tag, &context)?,
        };
        let env = self.build_hook_env(artifact, &tag, &context);
        let hooks = |when: &str| -> Vec<Command> {
            let hooks = artifact.view.at(&["hooks", when]).into_iter().flat_map(View::items);
            hooks.filter_map(|hook| self.hook(artifact.config, hook, &env)).collect()
        };
        let push = self.pushes(artifact.config);
        Ok(Action {
            reuse: Reuse::Version,
            sources: self.sources(artifact),
            image: Some(Box::new(Image {
                push: if push { vec![tag.clone()] } else { Vec::new() },
                is_pinned: true,
                before: hooks("before"),
                after: hooks("after"),
                platforms: self.platforms(at),
                insecure: self.insecure(artifact),
                outputs: [("image".to_owned(), Json::from(tag.as_str()))].into_iter().collect(),
                tags: vec![tag],
                context,
                ..image
            })),
            ..Action::new(format!("build.{}", artifact.image), Kind::Build, self.version(at), artifact.span())
        })
    }

    /// Unsupported builders are reported instead of ignored.
    fn refuse(&self, artifact: &Artifact<'_, '_>) -> Result<(), Cause> {
        let place = self.config(artifact.config).map_or("local", |config| environment::of(config.item.view()));
        if place != "local" {
            let why =
                format!("building in `{place}` is not supported; use `build.local`, or a profile without `{place}`");
            return Err(Cause::Other(why));
        }
        let builder = builders().find(|row| artifact.view.get(row.key).is_some()).map_or("docker", |row| row.key);
        match builder {
            "docker" | "custom" => Ok(()),
            other => Err(Cause::Other(format!("building with `{other}` is not supported; use `docker` or `custom`"))),
        }
    }

    fn custom(
        &self,
        artifact: &Artifact<'_, '_>,
        custom: View<'_, '_>,
        tag: &str,
        context: &Path,
        platforms: &[String],
    ) -> Result<Image, Cause> {
        let line = template::expand(&custom.text_of("buildCommand"), &self.settings.env).map_err(Cause::Other)?;
        let repository = purlin_value::image::parts(tag).name.to_owned();
        let own = tag.get(repository.len()..).unwrap_or_default().trim_start_matches(':').to_owned();
        let own = own.split('@').next().unwrap_or_default().to_owned();
        let context = context.to_string_lossy().into_owned();
        let mut env = vec![
            ("IMAGE".to_owned(), tag.to_owned()),
            ("PUSH_IMAGE".to_owned(), self.pushes(artifact.config).to_string()),
            ("BUILD_CONTEXT".to_owned(), context.clone()),
            ("PLATFORMS".to_owned(), platforms.join(",")),
            ("SKIP_TEST".to_owned(), "false".to_owned()),
            ("IMAGE_REPO".to_owned(), repository),
            ("IMAGE_TAG".to_owned(), own),
        ];
        env.extend(self.required(artifact)?);
        // The user's environment comes last, as in the original.
        env.retain(|(key, _)| !self.settings.env.contains_key(key));
        let command = Command { words: vec![line], shell: true, folder: context.into(), env };
        Ok(Image { command: Some(command), ..Image::default() })
    }

    /// The required images of an artifact, by the name it uses for them.
    fn required(&self, artifact: &Artifact<'_, '_>) -> Result<Vec<(String, String)>, Cause> {
        let built = self.built.borrow();
        let one = |needed: &purlin_skaffold::artifacts::Requirement| match built.get(&needed.image) {
            Some(tag) => Ok((needed.alias.clone(), tag.clone())),
            None => Err(Cause::Other(format!("it requires `{}`, which was not built", needed.image))),
        };
        artifact.requires.iter().map(one).collect()
    }

    fn docker(&self, artifact: &Artifact<'_, '_>, tag: &str, context: &Path) -> Result<Image, Cause> {
        let nothing = purlin_skaffold::item::Item::empty_map();
        let docker = artifact.view.get("docker").unwrap_or(nothing.view());
        let dockerfile = self.dockerfile(docker, context);
        let secrets = docker.get("secrets").into_iter().flat_map(View::items).map(|secret| self.secret(secret));
        let cached = |other: String| match self.settings.default_repo.as_deref() {
            Some(registry)
                if self.artifacts.iter().any(|artifact| artifact.image == purlin_value::image::parts(&other).name) =>
            {
                image::in_registry(&other, registry)
            }
            _ => other,
        };
        Ok(Image {
            args: self.arguments(artifact, docker, tag, &dockerfile)?,
            dockerfile,
            target: text(docker, "target"),
            cache_from: texts(docker, "cacheFrom").into_iter().map(cached).collect(),
            secrets: secrets.collect(),
            ssh: text(docker, "ssh").into_iter().collect(),
            network: text(docker, "network").map(|network| network.to_lowercase()),
            hosts: texts(docker, "addHost"),
            no_cache: is_on(docker, "noCache"),
            pull: is_on(docker, "pullParent"),
            squash: is_on(docker, "squash"),
            flags: texts(docker, "cliFlags"),
            ..Image::default()
        })
    }

    fn secret(&self, secret: View<'_, '_>) -> Secret {
        let id = secret.text_of("id").into_owned();
        let value = match (text(secret, "env"), text(secret, "src")) {
            (Some(name), _) => SecretValue::Variable(name),
            (None, Some(file)) => {
                let home = self.settings.env.get("HOME").map(PathBuf::from).unwrap_or_default();
                SecretValue::File(match file.strip_prefix("~/") {
                    Some(rest) => home.join(rest),
                    None => self.settings.here.join(file),
                })
            }
            (None, None) => SecretValue::Variable(id.clone()),
        };
        Secret { id, value }
    }

    /// Build arguments: known values that the Dockerfile uses, and those of the configuration.
    fn arguments(
        &self,
        artifact: &Artifact<'_, '_>,
        docker: View<'_, '_>,
        tag: &str,
        dockerfile: &Path,
    ) -> Result<Vec<(String, Option<String>)>, Cause> {
        let asked = asked_arguments(&named::read_text(dockerfile, named::LARGEST).unwrap_or_default());
        let known = std::iter::once((MODE.to_owned(), self.settings.mode.to_owned())).chain(self.required(artifact)?);
        let mut all: std::collections::BTreeMap<String, Option<String>> =
            known.filter(|(key, _)| asked.contains(key)).map(|(key, value)| (key, Some(value))).collect();
        all.extend(self.written_arguments(docker, tag)?);
        Ok(all.into_iter().collect())
    }

    /// Build arguments of the configuration; one without a value takes it from the environment.
    fn written_arguments(&self, docker: View<'_, '_>, tag: &str) -> Result<Vec<(String, Option<String>)>, Cause> {
        let mut names = self.settings.env.clone();
        names.extend(image_names(tag));
        let mut all = Vec::new();
        for entry in docker.get("buildArgs").into_iter().flat_map(View::entries) {
            let value = match entry.value.form() {
                purlin_skaffold::view::Form::Null => None,
                _ => Some(template::expand(&entry.value.text(), &names).map_err(Cause::Other)?),
            };
            all.push((entry.key.to_owned(), value));
        }
        Ok(all)
    }

    /// Inputs of an artifact apart from its section and its files: values of the environment, and the program that
    /// builds it. Templates that cannot be expanded fail when it is built.
    pub(super) fn given(&self, artifact: &Artifact<'_, '_>, tag: &str) -> Vec<String> {
        let context = self.context(artifact.config, artifact.view);
        if let Some(custom) = artifact.view.get("custom") {
            let line = template::expand(&custom.text_of("buildCommand"), &self.settings.env).unwrap_or_default();
            let command = Command { words: vec![line], shell: true, folder: context, env: Vec::new() };
            let tool = self.tools.of(&command, self.settings.env.get("PATH").map(String::as_str));
            return command.words.into_iter().chain([tool]).collect();
        }
        let Some(docker) = artifact.view.get("docker") else { return self.given_mode(&context.join("Dockerfile")) };
        let mut parts = self.given_mode(&self.dockerfile(docker, &context));
        let env = |name: &str| format!("{:?}", self.settings.env.get(name));
        for (name, value) in self.written_arguments(docker, tag).unwrap_or_default() {
            let value = value.map_or_else(|| env(&name), |value| format!("={value}"));
            parts.extend([name, value]);
        }
        for secret in docker.get("secrets").into_iter().flat_map(View::items).map(|secret| self.secret(secret)) {
            let value = match &secret.value {
                SecretValue::Text(_) => String::new(),
                SecretValue::Variable(name) => env(name),
                SecretValue::File(file) => {
                    let bytes = named::read(file, named::LARGEST).unwrap_or_default();
                    crate::store::hex(&Sha256::digest(bytes))
                }
            };
            parts.extend([secret.id, value]);
        }
        parts
    }

    /// The run mode, if a Dockerfile uses it.
    fn given_mode(&self, dockerfile: &Path) -> Vec<String> {
        let asked = asked_arguments(&named::read_text(dockerfile, named::LARGEST).unwrap_or_default());
        asked.contains(MODE).then(|| self.settings.mode.to_owned()).into_iter().collect()
    }

    fn dockerfile(&self, docker: View<'_, '_>, context: &Path) -> PathBuf {
        let file = text(docker, "dockerfile").unwrap_or_else(|| "Dockerfile".to_owned());
        let (inside, beside) = (context.join(&file), self.settings.here.join(&file));
        if !named::exists(&inside) && named::exists(&beside) { beside } else { inside }
    }

    fn build_hook_env(&self, artifact: &Artifact<'_, '_>, tag: &str, context: &Path) -> Vec<(String, String)> {
        let names: std::collections::BTreeMap<String, String> = image_names(tag).into_iter().collect();
        let name = |key: &str| names.get(key).cloned().unwrap_or_default();
        let own = [
            ("SKAFFOLD_IMAGE", tag.to_owned()),
            ("SKAFFOLD_PUSH_IMAGE", self.pushes(artifact.config).to_string()),
            ("SKAFFOLD_IMAGE_REPO", name("IMAGE_REPO")),
            ("SKAFFOLD_IMAGE_TAG", name("IMAGE_TAG")),
            ("SKAFFOLD_BUILD_CONTEXT", context.to_string_lossy().into_owned()),
        ];
        self.hook_env().into_iter().chain(own.map(|(key, value)| (key.to_owned(), value))).collect()
    }
}

/// The parts of an image's name, as templates and hooks use them.
fn image_names(tag: &str) -> Vec<(String, String)> {
    let base = purlin_value::image::parts(tag).name;
    let own = tag.get(base.len()..).unwrap_or_default().trim_start_matches(':');
    let own = own.split('@').next().filter(|own| !own.is_empty()).unwrap_or("latest");
    let (repository, last) = base.rsplit_once('/').unwrap_or(("", ""));
    [("IMAGE_REPO", repository), ("IMAGE_NAME", last), ("IMAGE_TAG", own)]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into()
}

/// The names of `ARG` instructions.
fn asked_arguments(dockerfile: &str) -> std::collections::BTreeSet<String> {
    let instruction = |line: &str| {
        let (word, rest) = line.trim().split_once(char::is_whitespace)?;
        word.eq_ignore_ascii_case("ARG").then(|| rest.trim().to_owned())
    };
    let joined = dockerfile.replace("\\\n", " ");
    let lines = joined.lines().filter_map(instruction);
    lines
        .flat_map(|rest| rest.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .map(|word| word.split('=').next().unwrap_or_default().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dockerfile_asks_for() {
        let asked = asked_arguments("ARG A\nFROM x\narg B=1 C=2\n# ARG D\nRUN echo ARG E\n");
        assert_eq!(asked.into_iter().collect::<Vec<_>>(), ["A", "B", "C"]);
    }

    #[test]
    fn parts_of_a_name() {
        let parts = |tag: &str| image_names(tag).into_iter().map(|(_, value)| value).collect::<Vec<_>>();
        assert_eq!(parts("127.0.0.1:5000/t/app:v1"), ["127.0.0.1:5000/t", "app", "v1"]);
        assert_eq!(parts("app"), ["", "", "latest"]);
    }
}
