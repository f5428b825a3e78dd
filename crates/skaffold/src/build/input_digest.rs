//! The tag of the `inputDigest` policy: a digest of the files that go into an artifact, those of the artifacts it
//! requires included, as Skaffold computes it.
//!
//! Instructions that a base image adds (`ONBUILD`) are not known here.

use crate::artifacts::Artifact;
use crate::dockerfile;
use crate::glob;
use crate::item::View;
use crate::keys::{Hidden, Unreadable};
use crate::walk::Config;
use md5::{Digest as _, Md5};
use purlin_value::world::FileKind;
use purlin_value::{World, encoding, path};
use sha2::Sha256;
use std::collections::{BTreeMap, BTreeSet};

/// Inputs of a digest.
pub struct Inputs<'i, 'p, 'f> {
    /// The world with the files.
    pub world: &'i dyn World,
    /// The configurations.
    pub configs: &'i [Config<'f>],
    /// All artifacts.
    pub artifacts: &'i [Artifact<'p, 'f>],
}

/// A file: as Skaffold names it, and as the world does.
type Listed = (String, String);

impl Inputs<'_, '_, '_> {
    /// The digest of an artifact; empty if there is no such artifact.
    pub fn digest(&self, at: usize) -> Result<String, Unreadable> {
        let Some(artifact) = self.artifacts.get(at) else { return Ok(String::new()) };
        let mut files = self.transitive(artifact, &mut Vec::new());
        let Some(config) = self.configs.get(artifact.config) else { return Ok(String::new()) };
        // The Dockerfile is listed again as it is written, which means a file beside the configuration.
        let named = artifact.view.at(&["custom", "dependencies", "dockerfile", "path"]).map(|path| path.text());
        let is_docker = !OTHERS.iter().any(|key| artifact.view.get(key).is_some());
        let usual = artifact.view.at(&["docker", "dockerfile"]).map_or("Dockerfile".into(), |path| path.text());
        for name in named.into_iter().chain(is_docker.then_some(usual)) {
            files.push((name.clone().into_owned(), path::join(&config.here, &name)));
        }
        files.sort();
        let workspace = workspace(config, artifact).0;
        let mut hashes = Vec::new();
        for (shown, file) in files {
            hashes.extend(self.hash(&shown, &file, &workspace).map_err(|error| (file, error))?);
        }
        let text = if hashes.is_empty() { "null".to_owned() } else { format!("[\"{}\"]", hashes.join("\",\"")) };
        Ok(encoding::hex(&Sha256::digest(format!("{text}\n"))))
    }

    /// The hash of a file with its name; `None` if it does not exist.
    fn hash(
        &self,
        shown: &str,
        file: &str,
        workspace: &str,
    ) -> Result<Option<String>, purlin_value::world::WorldError> {
        let Ok(stat) = self.world.stat(file) else { return Ok(None) };
        let is_mixed = shown.starts_with('/') != workspace.starts_with('/');
        let name = if is_mixed { shown.to_owned() } else { path::relative(workspace, shown) };
        let mut digest = Md5::new();
        digest.update(name);
        if stat.kind != FileKind::Folder {
            self.world.read_in_pieces(file, &mut |_, piece| digest.update(piece))?;
        }
        Ok(Some(encoding::hex(&digest.finalize())))
    }

    fn transitive(&self, artifact: &Artifact<'_, '_>, above: &mut Vec<String>) -> Vec<Listed> {
        // Artifacts that require each other are reported elsewhere.
        if above.contains(&artifact.image) {
            return Vec::new();
        }
        above.push(artifact.image.clone());
        let mut files = self.own(artifact);
        for needed in &artifact.requires {
            let other = self.artifacts.iter().find(|other| other.image == needed.image);
            files.extend(other.map(|other| self.transitive(other, above)).unwrap_or_default());
        }
        above.pop();
        files
    }

    /// The files of one artifact, without those it requires.
    fn own(&self, artifact: &Artifact<'_, '_>) -> Vec<Listed> {
        let Some(config) = self.configs.get(artifact.config) else { return Vec::new() };
        let (shown, context) = workspace(config, artifact);
        let files = match artifact.view.get("custom") {
            Some(custom) => match custom.at(&["dependencies", "dockerfile"]) {
                Some(docker) => self.copied(config, artifact, &context, docker, "path"),
                None => self.named(&context, custom),
            },
            None if OTHERS.iter().any(|key| artifact.view.get(key).is_some()) => self.whole(&context),
            None => {
                let nothing = crate::item::Item::empty_map();
                let docker = artifact.view.get("docker").unwrap_or(nothing.view());
                self.copied(config, artifact, &context, docker, "dockerfile")
            }
        };
        files.into_iter().map(|file| (joined(&shown, &file), path::join(&context, &file))).collect()
    }

    /// The files that a command of the user's own is built from.
    fn named(&self, context: &str, custom: View<'_, '_>) -> BTreeSet<String> {
        let list = |key: &str| -> Vec<String> {
            let section = custom.at(&["dependencies", key]);
            section.into_iter().flat_map(View::items).map(|item| item.text().into_owned()).collect()
        };
        let hidden = Hidden::of(list("ignore").iter().map(String::as_str));
        let patterns = Some(list("paths")).filter(|paths| !paths.is_empty()).unwrap_or_else(|| vec![".".to_owned()]);
        let mut found = BTreeSet::new();
        for start in patterns.iter().flat_map(|pattern| self.expand(context, pattern)) {
            self.walk(context, &start, &hidden, false, &mut found);
        }
        found
    }

    fn whole(&self, context: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        self.walk(context, ".", &Hidden::of(std::iter::empty()), false, &mut found);
        found
    }

    /// The files that a Dockerfile copies, and the Dockerfile.
    fn copied(
        &self,
        config: &Config<'_>,
        artifact: &Artifact<'_, '_>,
        context: &str,
        docker: View<'_, '_>,
        key: &str,
    ) -> BTreeSet<String> {
        let written = docker.text_of(key);
        let name = if written.is_empty() { "Dockerfile" } else { written.as_ref() };
        let (inside, beside) = (path::join(context, name), path::join(&config.here, name));
        let file = if !self.world.exists(&inside) && self.world.exists(&beside) { beside } else { inside };
        let mut found = BTreeSet::from([path::normalize(name)]);
        let Ok(text) = self.world.read(&file) else { return found };
        let hidden = Hidden::read(self.world, context, artifact);
        let arguments = docker.get("buildArgs").into_iter().flat_map(View::entries);
        let arguments: BTreeMap<String, String> =
            arguments.map(|entry| (entry.key.to_owned(), entry.value.text().into_owned())).collect();
        for source in dockerfile::sources(&String::from_utf8_lossy(&text), &arguments) {
            for start in self.expand(context, &source) {
                self.walk(context, &start, &hidden, true, &mut found);
            }
        }
        found.remove(".dockerignore");
        found
    }

    /// Files of a path or pattern, relative to the context.
    fn expand(&self, context: &str, pattern: &str) -> Vec<String> {
        let pattern = path::normalize(pattern.trim_start_matches('/'));
        let full = path::join(context, &pattern);
        if self.world.exists(&full) {
            return vec![pattern];
        }
        let below = path::join(&full, "**");
        let found =
            [full, below].into_iter().flat_map(|pattern| glob::expand(glob::Finder::free(self.world), &pattern));
        found.map(|file| path::within(context, &file).to_owned()).collect()
    }

    /// A file, or all contents of a folder; empty folders count where they are copied.
    fn walk(&self, context: &str, start: &str, hidden: &Hidden, with_empty: bool, found: &mut BTreeSet<String>) {
        let mut open = vec![path::normalize(start)];
        while let Some(next) = open.pop() {
            if next != path::normalize(start) && hidden.ignores(&next) {
                continue;
            }
            let full = path::join(context, &next);
            let is_folder = self.world.stat(&full).is_ok_and(|stat| stat.kind == FileKind::Folder);
            if !is_folder {
                if !hidden.ignores(&next) {
                    found.insert(next);
                }
                continue;
            }
            let entries = self.world.list(&full).unwrap_or_default();
            if entries.is_empty() && with_empty {
                found.insert(next.clone());
            }
            open.extend(entries.into_iter().map(|entry| path::join(&next, &entry.name)));
        }
    }
}

/// Builders that are not Dockerfiles.
const OTHERS: &[&str] = &["custom", "buildpacks", "ko", "jib", "bazel"];

/// The context of an artifact: as Skaffold names it, and as the world does.
fn workspace(config: &Config<'_>, artifact: &Artifact<'_, '_>) -> (String, String) {
    let text = artifact.view.text_of("context");
    let written = if text.is_empty() { "." } else { text.as_ref() };
    match &config.base {
        // Paths of configurations that others require are made absolute.
        Some(base) => {
            let full = path::join(base, written);
            (format!("/{full}"), full)
        }
        None => (path::normalize(written), path::join(&config.here, written)),
    }
}

fn joined(folder: &str, file: &str) -> String {
    if folder == "." { file.to_owned() } else { format!("{folder}/{file}") }
}
