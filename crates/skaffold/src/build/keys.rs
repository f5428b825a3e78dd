//! The key of an artifact: a digest of all its inputs, including its required artifacts.
//!
//! Two builds with the same key give the same image; a change affects exactly the artifacts built from it.

use crate::artifacts::{Artifact, order};
use crate::emit::{Finish, Written, section};
use crate::entities::artifact::ARTIFACT;
use crate::glob;
use crate::item::View;
use crate::walk::Config;
use purlin_syntax::write::{JsonFlavor, JsonLayout, JsonWriter};
use purlin_value::encoding::hex;
use purlin_value::glob::{Glob, Notation};
use purlin_value::world::{FileKind, WorldError};
use purlin_value::{World, path};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A file that belongs to an artifact and could not be read: its path, and why.
pub type Unreadable = (String, WorldError);

/// Inputs of artifacts, by image.
pub type Contents = HashMap<String, Arc<Content>>;

/// Inputs of one artifact.
#[derive(Debug)]
pub struct Content {
    /// The digest of everything, required artifacts included, in hexadecimal digits.
    pub key: String,
    /// Its files, sorted by path, each with a digest.
    pub files: Vec<(String, FileDigest)>,
    /// Their selection.
    pub listing: Listing,
}

/// A digest of a file's contents, its executable bit, and its target if it is a link.
pub type FileDigest = [u8; 32];

/// The key of one artifact, as a hexadecimal digest. `None` if there is no such artifact or artifacts form a cycle.
pub fn key(
    world: &dyn World,
    configs: &[Config<'_>],
    all: &[Artifact<'_, '_>],
    image: &str,
) -> Result<Option<String>, Unreadable> {
    Ok(keys(world, configs, all)?.remove(image).map(|content| content.key.clone()))
}

/// Inputs of all artifacts; empty if artifacts form a cycle.
pub fn keys(world: &dyn World, configs: &[Config<'_>], all: &[Artifact<'_, '_>]) -> Result<Contents, Unreadable> {
    let mut found = Contents::new();
    for at in order(all) {
        let Some(artifact) = all.get(at) else { continue };
        let Some(config) = configs.get(artifact.config) else { continue };
        let mut digest = Sha256::new();
        let mut writer = JsonWriter::new(JsonLayout::Compact, JsonFlavor::Plain);
        section(artifact.view, &ARTIFACT, &Finish::default(), &mut Written(&mut writer));
        add(&mut digest, writer.finish().unwrap_or_default().as_bytes());
        let listing = Listing::of(world, config, artifact);
        let mut files = Vec::new();
        for file in listing.files(world) {
            // A key without the file would hide changes to it.
            let own = file_digest(world, &file).map_err(|error| (file.clone(), error))?;
            add(&mut digest, file.as_bytes());
            digest.update(own);
            files.push((file, own));
        }
        for needed in &artifact.requires {
            add(&mut digest, found.get(&needed.image).map(|content| content.key.as_bytes()).unwrap_or_default());
        }
        let key = hex(&digest.finalize());
        found.insert(artifact.image.clone(), Arc::new(Content { key, files, listing }));
    }
    Ok(found)
}

/// Own inputs of one artifact: its section, and its files, each with a digest.
pub fn content(
    world: &dyn World,
    config: &Config<'_>,
    artifact: &Artifact<'_, '_>,
) -> (String, BTreeMap<String, String>) {
    let mut writer = JsonWriter::new(JsonLayout::Compact, JsonFlavor::Plain);
    section(artifact.view, &ARTIFACT, &Finish::default(), &mut Written(&mut writer));
    let digest = |file: String| {
        let own = file_digest(world, &file).map(|own| hex(&own)).unwrap_or_default();
        (file, own)
    };
    let files = Listing::of(world, config, artifact).files(world);
    (writer.finish().unwrap_or_default(), files.into_iter().map(digest).collect())
}

/// Every part with its length, so that no two inputs run together.
fn add(digest: &mut Sha256, bytes: &[u8]) {
    digest.update((bytes.len() as u64).to_le_bytes());
    digest.update(bytes);
}

/// The digest of a file of any size. A link counts by its target, and by the target's contents if that is a file.
pub fn file_digest(world: &dyn World, file: &str) -> Result<FileDigest, WorldError> {
    let mut digest = Sha256::new();
    let target = world.read_link(file).ok();
    if let Some(target) = &target {
        add(&mut digest, b"link");
        add(&mut digest, target.as_bytes());
    }
    match world.stat(file) {
        Ok(stat) if stat.kind == FileKind::Folder => add(&mut digest, b"folder"),
        Ok(stat) => {
            add(&mut digest, if stat.executable { b"program" } else { b"file" });
            let mut begun = false;
            world.read_in_pieces(file, &mut |size, piece| {
                if !std::mem::replace(&mut begun, true) {
                    digest.update(size.to_le_bytes());
                }
                digest.update(piece);
            })?;
        }
        // A builder gets a link that leads nowhere as it is.
        Err(WorldError::NotFound) if target.is_some() => add(&mut digest, b"nothing"),
        Err(error) => return Err(error),
    }
    Ok(digest.finalize().into())
}

/// Selection of an artifact's files: those it names, or all of its context.
#[derive(Debug)]
pub struct Listing {
    /// The folder that the builder works in.
    pub context: String,
    /// Paths and patterns that the artifact names; the whole context if empty.
    patterns: Vec<String>,
    hidden: Hidden,
    ignored: Hidden,
    /// Files that count wherever they are, even if ignored: Dockerfiles and their ignore files.
    always: Vec<String>,
}

/// Builders whose artifacts list their dependencies.
const NAMING: [&str; 3] = ["custom", "buildpacks", "ko"];

impl Listing {
    fn of(world: &dyn World, config: &Config<'_>, artifact: &Artifact<'_, '_>) -> Self {
        let text = artifact.view.text_of("context");
        let written = if text.is_empty() { "." } else { text.as_ref() };
        let context = path::join(config.base.as_deref().unwrap_or(&config.here), written);
        let texts = |key: &str| -> Vec<String> {
            let section = NAMING.iter().find_map(|builder| artifact.view.at(&[builder, "dependencies", key]));
            section.into_iter().flat_map(View::items).map(|item| item.text().into_owned()).collect()
        };
        let patterns = texts("paths").iter().map(|pattern| path::join(&context, pattern)).collect();
        let ignored = Hidden::of(texts("ignore").iter().map(String::as_str));
        let mut always = Vec::new();
        for name in dockerfiles(artifact) {
            // A Dockerfile may also be beside the configuration.
            for folder in [&*context, &*config.here] {
                always.extend([path::join(folder, &name), path::join(folder, &format!("{name}.dockerignore"))]);
            }
        }
        if is_docker(artifact) {
            always.push(path::join(&context, ".dockerignore"));
        }
        Listing { hidden: Hidden::read(world, &context, artifact), patterns, ignored, always, context }
    }

    /// The files as they are now, sorted.
    pub fn files(&self, world: &dyn World) -> Vec<String> {
        let mut found = BTreeSet::new();
        if self.patterns.is_empty() {
            self.walk(world, self.context.clone(), &mut found);
        }
        for pattern in &self.patterns {
            if world.stat(pattern).is_ok() || world.read_link(pattern).is_ok() {
                self.walk(world, pattern.clone(), &mut found);
                continue;
            }
            // A match of a pattern may be a folder, which counts recursively.
            for pattern in [pattern.clone(), path::join(pattern, "**")] {
                for file in glob::expand(glob::Finder::whole(world), &pattern) {
                    self.walk(world, file, &mut found);
                }
            }
        }
        found.extend(self.always.iter().filter(|file| world.stat(file).is_ok()).cloned());
        found.into_iter().collect()
    }

    /// A file, or everything in a folder. Links to folders are not followed: they count as links.
    fn walk(&self, world: &dyn World, start: String, found: &mut BTreeSet<String>) {
        let mut open = Vec::new();
        match world.stat(&start) {
            Ok(stat) if stat.kind == FileKind::Folder => open.push(start),
            // A missing context has no files; its build reports the error.
            Err(WorldError::NotFound) if world.read_link(&start).is_err() => {}
            _ => self.take(start, found),
        }
        while let Some(folder) = open.pop() {
            for entry in world.list(&folder).unwrap_or_default() {
                let place = path::join(&folder, &entry.name);
                match entry.kind {
                    FileKind::Folder if OF_TOOLS.contains(&entry.name.as_str()) => {}
                    FileKind::Folder => open.push(place),
                    FileKind::File | FileKind::Link => self.take(place, found),
                }
            }
        }
    }

    fn take(&self, file: String, found: &mut BTreeSet<String>) {
        let within = path::within(&self.context, &file);
        if !self.hidden.hides(within) && !self.ignored.ignores(within) {
            found.insert(file);
        }
    }
}

fn is_docker(artifact: &Artifact<'_, '_>) -> bool {
    !["custom", "buildpacks", "ko", "jib", "bazel"].iter().any(|key| artifact.view.get(key).is_some())
}

/// The Dockerfiles that an artifact is built from, as they are written.
fn dockerfiles(artifact: &Artifact<'_, '_>) -> Vec<String> {
    let named =
        artifact.view.at(&["custom", "dependencies", "dockerfile", "path"]).map(|path| path.text().into_owned());
    let usual =
        || artifact.view.at(&["docker", "dockerfile"]).map_or("Dockerfile".into(), |path| path.text().into_owned());
    named.into_iter().chain(is_docker(artifact).then(usual)).collect()
}

/// Folders of tools beside the sources: their contents change with every run.
const OF_TOOLS: [&str; 2] = [".git", ".purlin"];

/// Parts of a context that the builder ignores.
#[derive(Debug)]
pub(crate) struct Hidden {
    patterns: Vec<(bool, Glob)>,
}

impl Hidden {
    pub(crate) fn read(world: &dyn World, context: &str, artifact: &Artifact<'_, '_>) -> Self {
        let is_docker = is_docker(artifact);
        let file = artifact.view.at(&["docker", "dockerfile"]).map_or("Dockerfile".into(), |file| file.text());
        // The ignore file of one Dockerfile counts instead of that of the context.
        let names = [format!("{file}.dockerignore"), ".dockerignore".to_owned()];
        let text = names.iter().filter(|_| is_docker).find_map(|name| world.read(&path::join(context, name)).ok());
        let text = text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        Hidden::of(text.lines())
    }

    /// The rules in the lines of an ignore file.
    pub(crate) fn of<'l>(lines: impl Iterator<Item = &'l str>) -> Self {
        let lines = lines.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let pattern = |line: &str| {
            let (negated, rest) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest.trim()));
            let rest = path::normalize(rest.trim_start_matches('/'));
            Some((negated, Glob::read(rest.trim_end_matches('/'), Notation::GIT)?))
        };
        Hidden { patterns: lines.filter_map(pattern).collect() }
    }

    fn hides(&self, within: &str) -> bool {
        within.split('/').any(|part| OF_TOOLS.contains(&part)) || self.ignores(within)
    }

    /// Whether a file is ignored, or is output of ours.
    pub(crate) fn ignores(&self, within: &str) -> bool {
        if within.split('/').any(|part| part == OF_TOOLS[1]) {
            return true;
        }
        let is_below = |glob: &Glob| glob.matches(within) || above(within).any(|folder| glob.matches(folder));
        let last = self.patterns.iter().rev().find(|(_, glob)| is_below(glob));
        last.is_some_and(|(negated, _)| !negated)
    }
}

/// The folders that a path is in.
fn above(within: &str) -> impl Iterator<Item = &str> {
    within.match_indices('/').filter_map(|(at, _)| within.get(..at))
}
