//! The tools that build images, and their command lines.

use super::{Image, Secret, SecretValue, name};
use crate::local::process::find_program;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The environment variable that chooses a builder.
pub const CHOICE: &str = "PURLIN_BUILDER";

/// A tool that builds images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// `docker buildx build`.
    Buildx,
    /// `docker build`.
    Docker,
    /// `podman build`.
    Podman,
    /// `buildah build`.
    Buildah,
}

impl Tool {
    /// All tools, in order of preference.
    pub const ALL: [Tool; 4] = [Tool::Buildx, Tool::Docker, Tool::Podman, Tool::Buildah];

    /// The name users know it by.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Buildx => "buildx",
            Tool::Docker => "docker",
            Tool::Podman => "podman",
            Tool::Buildah => "buildah",
        }
    }

    fn program(self) -> &'static str {
        match self {
            Tool::Buildx | Tool::Docker => "docker",
            Tool::Podman => "podman",
            Tool::Buildah => "buildah",
        }
    }

    fn is_docker(self) -> bool {
        matches!(self, Tool::Buildx | Tool::Docker)
    }
}

/// An installed tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builder {
    /// The tool.
    pub tool: Tool,
}

/// Files that commands of a build write for us.
pub struct Files<'f> {
    /// The folder for them and for secrets.
    pub folder: &'f Path,
}

impl Files<'_> {
    /// The file that receives the id of the image.
    pub fn image_id(&self) -> PathBuf {
        self.folder.join(".image-id")
    }

    /// The file that receives the digest of a pushed image.
    pub fn digest(&self) -> PathBuf {
        self.folder.join(".digest")
    }

    /// The file that receives buildx's metadata of the image.
    pub fn metadata(&self) -> PathBuf {
        self.folder.join(".metadata")
    }

    /// The file of a secret.
    pub fn secret(&self, number: usize) -> PathBuf {
        self.folder.join(format!(".secret-{number}"))
    }
}

impl Builder {
    /// The chosen builder, or the first that is installed and works. `probe` runs a command and returns whether it
    /// ended well.
    pub fn find(env: &BTreeMap<String, String>, probe: &dyn Fn(&[&str]) -> bool) -> Result<Builder, String> {
        let path = env.get("PATH").map(String::as_str);
        let is_installed = |tool: Tool| find_program(tool.program(), Path::new("/"), path).is_some();
        let names = || Tool::ALL.map(Tool::name).join(", ");
        if let Some(name) = env.get(CHOICE).filter(|name| !name.is_empty()) {
            let Some(tool) = Tool::ALL.into_iter().find(|tool| tool.name() == name) else {
                return Err(format!("unknown container builder `{name}`; expected one of {}", names()));
            };
            return match is_installed(tool) {
                true => Ok(Builder { tool }),
                false => Err(format!("container builder `{name}` is not installed: no `{}` on PATH", tool.program())),
            };
        }
        // A client without its server builds nothing; another tool may work.
        let has_docker = is_installed(Tool::Docker);
        if has_docker && probe(&["docker", "version"]) {
            let tool = if probe(&["docker", "buildx", "version"]) { Tool::Buildx } else { Tool::Docker };
            return Ok(Builder { tool });
        }
        if let Some(tool) = [Tool::Podman, Tool::Buildah].into_iter().find(|tool| is_installed(*tool)) {
            return Ok(Builder { tool });
        }
        Err(match has_docker {
            true => "`docker` is installed, but its server does not answer, and there is no other container builder; \
                     start it, or install podman or buildah"
                .to_owned(),
            false => "no container builder is installed; install docker, podman or buildah".to_owned(),
        })
    }

    fn words(&self, words: &[&str]) -> Vec<String> {
        std::iter::once(self.tool.program()).chain(words.iter().copied()).map(str::to_owned).collect()
    }

    /// The command that builds an image.
    pub fn build(&self, image: &Image, files: &Files<'_>) -> Vec<String> {
        let mut words = match self.tool {
            Tool::Buildx => self.words(&["buildx", "build", "--progress", "plain"]),
            Tool::Docker => self.words(&["build"]),
            // Layers are cached, as in the other tools, and a base image is pulled only if it is missing.
            Tool::Podman | Tool::Buildah => self.words(&["build", "--layers"]),
        };
        let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
        let text = |path: &Path| path.to_string_lossy().into_owned();
        add("--file", text(&image.dockerfile));
        if self.is_list(image) && !self.tool.is_docker() {
            image.tags.first().into_iter().for_each(|tag| add("--manifest", tag.clone()));
        } else {
            image.tags.iter().for_each(|tag| add("--tag", tag.clone()));
            add("--iidfile", text(&files.image_id()));
        }
        for (key, value) in &image.args {
            add("--build-arg", value.as_ref().map_or_else(|| key.clone(), |value| format!("{key}={value}")));
        }
        image.target.iter().for_each(|target| add("--target", target.clone()));
        for other in &image.cache_from {
            // Podman and buildah expect repositories without tags.
            let other = if self.tool.is_docker() { other } else { purlin_value::image::parts(other).name };
            add("--cache-from", other.to_owned());
        }
        for (number, secret) in image.secrets.iter().enumerate() {
            add("--secret", secret_option(secret, number, files));
        }
        image.ssh.iter().for_each(|ssh| add("--ssh", ssh.clone()));
        if !image.platforms.is_empty() {
            add("--platform", image.platforms.join(","));
        }
        image.network.iter().for_each(|network| add("--network", network.clone()));
        image.hosts.iter().for_each(|host| add("--add-host", host.clone()));
        if self.pushes_itself(image) {
            add("--metadata-file", text(&files.metadata()));
        }
        words.extend(self.switches(image).into_iter().map(str::to_owned));
        words.extend(image.flags.iter().cloned());
        words.push(text(&image.context));
        words
    }

    fn switches(&self, image: &Image) -> Vec<&'static str> {
        let mut switches = Vec::new();
        if image.no_cache {
            switches.push("--no-cache");
        }
        if image.squash {
            switches.push("--squash");
        }
        match (self.tool.is_docker(), image.pull) {
            (true, true) => switches.push("--pull"),
            (true, false) => {}
            (false, true) => switches.push("--pull=always"),
            (false, false) => switches.push("--pull=false"),
        }
        let says_where =
            |flag: &String| flag.starts_with("--push") || flag.starts_with("--load") || flag.starts_with("--output");
        if self.tool == Tool::Buildx && !image.flags.iter().any(says_where) {
            switches.push(if self.pushes_itself(image) { "--push" } else { "--load" });
        }
        switches
    }

    /// Whether the result is a list of images, one for each platform.
    fn is_list(self, image: &Image) -> bool {
        image.platforms.len() > 1
    }

    /// Docker itself cannot store a list of images, so buildx pushes it while building.
    pub fn pushes_itself(self, image: &Image) -> bool {
        self.tool == Tool::Buildx && self.is_list(image) && !image.push.is_empty()
    }

    /// The commands that push an image after it was built, each with the name it pushes.
    pub fn pushes<'i>(&self, image: &'i Image, files: &Files<'_>) -> Vec<(&'i str, Vec<String>)> {
        if self.pushes_itself(image) {
            return Vec::new();
        }
        let digest = files.digest().to_string_lossy().into_owned();
        let command = |tag: &'i String| {
            let insecure = name::is_insecure(tag, &image.insecure);
            let mut words = match (self.tool, self.is_list(image)) {
                (Tool::Buildx | Tool::Docker, _) => return (tag.as_str(), self.words(&["push", tag])),
                (_, false) => self.words(&["push"]),
                (_, true) => self.words(&["manifest", "push", "--all"]),
            };
            words.extend(["--digestfile".to_owned(), digest.clone()]);
            if insecure {
                words.push("--tls-verify=false".to_owned());
            }
            words.push(match self.is_list(image) {
                false => tag.clone(),
                true => image.tags.first().cloned().unwrap_or_default(),
            });
            words.push(format!("docker://{tag}"));
            (tag.as_str(), words)
        };
        image.push.iter().map(command).collect()
    }

    /// The command that succeeds if an image is on this machine, and prints its id.
    pub fn exists(&self, tag: &str) -> Vec<String> {
        match self.tool {
            Tool::Buildx | Tool::Docker => self.words(&["image", "inspect", "--format", "{{.Id}}", tag]),
            Tool::Podman => self.words(&["image", "inspect", "--format", "{{.Id}}", tag]),
            Tool::Buildah => self.words(&["inspect", "--type", "image", "--format", "{{.FromImageID}}", tag]),
        }
    }

    /// Commands; the last one prints the digest that a registry has for a name.
    pub fn remote_digest(&self, tag: &str, insecure: &[String]) -> Vec<Vec<String>> {
        let pull = |program: &[&str]| {
            let mut words = self.words(program);
            if !self.tool.is_docker() && name::is_insecure(tag, insecure) {
                words.push("--tls-verify=false".to_owned());
            }
            words.push(tag.to_owned());
            words
        };
        match self.tool {
            Tool::Buildx => {
                vec![self.words(&["buildx", "imagetools", "inspect", "--format", "{{.Manifest.Digest}}", tag])]
            }
            Tool::Docker => vec![
                pull(&["pull", "--quiet"]),
                self.words(&["image", "inspect", "--format", "{{index .RepoDigests 0}}", tag]),
            ],
            Tool::Podman => {
                vec![pull(&["pull", "--quiet"]), self.words(&["image", "inspect", "--format", "{{.Digest}}", tag])]
            }
            Tool::Buildah => vec![
                pull(&["pull", "--quiet", "--policy", "always"]),
                self.words(&["inspect", "--type", "image", "--format", "{{.FromImageDigest}}", tag]),
            ],
        }
    }

    /// The command that gives an image another name.
    pub fn tag(&self, from: &str, to: &str) -> Vec<String> {
        self.words(&["tag", from, to])
    }

    /// Environment variables of a build.
    pub fn environment(&self) -> Vec<(String, String)> {
        match self.tool {
            Tool::Docker => vec![("DOCKER_BUILDKIT".to_owned(), "1".to_owned())],
            _ => Vec::new(),
        }
    }
}

fn secret_option(secret: &Secret, number: usize, files: &Files<'_>) -> String {
    let id = &secret.id;
    match &secret.value {
        SecretValue::Text(_) => format!("id={id},src={}", files.secret(number).display()),
        SecretValue::File(path) => format!("id={id},src={}", path.display()),
        SecretValue::Variable(name) => format!("id={id},env={name}"),
    }
}

/// The digest that `docker push` prints.
pub fn printed_digest(text: &str) -> Option<&str> {
    let found = text.lines().rev().find_map(|line| line.split_once("digest: "))?.1;
    found.split_whitespace().next().filter(|digest| digest.starts_with("sha256:"))
}

/// The digest in buildx's metadata of an image.
pub fn metadata_digest(text: &str) -> Option<String> {
    let json: serde_json::Value = serde_json::from_str(text).ok()?;
    Some(json.get("containerimage.digest")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn builder(tool: Tool) -> Builder {
        Builder { tool }
    }

    fn image() -> Image {
        Image {
            context: "/src".into(),
            dockerfile: "/src/Dockerfile".into(),
            tags: vec!["reg.example/a:v1".to_owned()],
            args: vec![("X".to_owned(), Some("1".to_owned())), ("HOME".to_owned(), None)],
            cache_from: vec!["reg.example/a:latest".to_owned()],
            secrets: vec![Secret { id: "token".to_owned(), value: SecretValue::Text("hunter2".to_owned()) }],
            push: vec!["reg.example/a:v1".to_owned()],
            ..Image::default()
        }
    }

    fn lines(tool: Tool, image: &Image) -> Vec<String> {
        let files = Files { folder: Path::new("/tmp/x") };
        let own = builder(tool);
        let mut all = vec![own.build(image, &files).join(" ")];
        all.extend(own.pushes(image, &files).into_iter().map(|(_, words)| words.join(" ")));
        all
    }

    #[test]
    fn each_tool_is_told_in_its_own_words() {
        let rest = "--build-arg X=1 --build-arg HOME";
        let secret = "--secret id=token,src=/tmp/x/.secret-0";
        let named = "--file /src/Dockerfile --tag reg.example/a:v1 --iidfile /tmp/x/.image-id";
        assert_eq!(
            lines(Tool::Buildx, &image()),
            [
                format!(
                    "docker buildx build --progress plain {named} {rest} --cache-from reg.example/a:latest {secret} --load /src"
                ),
                "docker push reg.example/a:v1".to_owned(),
            ]
        );
        assert_eq!(
            lines(Tool::Buildah, &image()),
            [
                format!("buildah build --layers {named} {rest} --cache-from reg.example/a {secret} --pull=false /src"),
                "buildah push --digestfile /tmp/x/.digest reg.example/a:v1 docker://reg.example/a:v1".to_owned(),
            ]
        );
    }

    #[test]
    fn several_platforms_make_a_list() {
        let platforms = vec!["linux/amd64".to_owned(), "linux/arm64".to_owned()];
        let image = Image { platforms, secrets: Vec::new(), args: Vec::new(), cache_from: Vec::new(), ..image() };
        let buildx = lines(Tool::Buildx, &image);
        assert_eq!(buildx.len(), 1);
        assert!(buildx[0].ends_with("--platform linux/amd64,linux/arm64 --metadata-file /tmp/x/.metadata --push /src"));
        let podman = lines(Tool::Podman, &image);
        assert!(podman[0].contains("--manifest reg.example/a:v1"), "{podman:?}");
        assert!(podman[1].starts_with("podman manifest push --all"), "{podman:?}");
    }

    #[test]
    fn a_client_without_its_server_is_passed_over() {
        let folder = std::env::temp_dir().join(format!("purlin-builder-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let install = |name: &str| {
            use std::os::unix::fs::PermissionsExt;
            let file = folder.join(name);
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        };
        let found = |chosen: Option<&str>, answers: bool| {
            let mut env = BTreeMap::from([("PATH".to_owned(), folder.to_string_lossy().into_owned())]);
            env.extend(chosen.map(|name| (CHOICE.to_owned(), name.to_owned())));
            Builder::find(&env, &|_| answers).map(|builder| builder.tool)
        };
        assert!(found(None, true).unwrap_err().contains("no container builder is installed"));
        install("docker");
        assert!(found(None, false).unwrap_err().contains("its server does not answer"));
        assert_eq!(found(None, true), Ok(Tool::Buildx));
        assert_eq!(found(Some("docker"), false), Ok(Tool::Docker));
        install("buildah");
        assert_eq!(found(None, false), Ok(Tool::Buildah));
        assert!(found(Some("podman"), true).unwrap_err().contains("not installed"));
        assert!(found(Some("kaniko"), true).unwrap_err().contains("unknown container builder"));
        let _ = std::fs::remove_dir_all(folder);
    }

    #[test]
    fn digests_are_found() {
        assert_eq!(printed_digest("a\nv1: digest: sha256:12 size: 5"), Some("sha256:12"));
        assert_eq!(metadata_digest(r#"{"containerimage.digest":"sha256:34"}"#).as_deref(), Some("sha256:34"));
    }
}
