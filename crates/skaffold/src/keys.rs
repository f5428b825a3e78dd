//! The key of an artifact: a digest of everything that goes into it, its required artifacts included.
//!
//! Two builds with the same key give the same image; a change reaches exactly the artifacts built from it.

use crate::artifacts::{Artifact, order};
use crate::emit::{Finish, Written, section};
use crate::entities::artifact::ARTIFACT;
use crate::glob;
use crate::walk::Config;
use purlin_syntax::write::{JsonFlavor, JsonLayout, JsonWriter};
use purlin_value::encoding::hex;
use purlin_value::glob::{Glob, Notation};
use purlin_value::world::WorldError;
use purlin_value::{World, path};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};

/// A file that belongs to an artifact and could not be read: its path, and why.
pub type Unreadable = (String, WorldError);

/// The key of one artifact, as a hexadecimal digest. `None` if there is no such artifact or artifacts form a cycle.
pub fn key(
    world: &dyn World,
    configs: &[Config<'_>],
    all: &[Artifact<'_, '_>],
    image: &str,
) -> Result<Option<String>, Unreadable> {
    Ok(keys(world, configs, all)?.remove(image))
}

/// The keys of all artifacts, by image; none if artifacts form a cycle.
pub fn keys(
    world: &dyn World,
    configs: &[Config<'_>],
    all: &[Artifact<'_, '_>],
) -> Result<HashMap<String, String>, Unreadable> {
    let mut found: HashMap<String, String> = HashMap::new();
    for at in order(all) {
        let Some(artifact) = all.get(at) else { continue };
        let Some(config) = configs.get(artifact.config) else { continue };
        let mut digest = Sha256::new();
        let mut writer = JsonWriter::new(JsonLayout::Compact, JsonFlavor::Plain);
        section(artifact.view, &ARTIFACT, &Finish::default(), &mut Written(&mut writer));
        add(&mut digest, writer.finish().unwrap_or_default().as_bytes());
        for file in inputs(world, config, artifact) {
            add(&mut digest, file.as_bytes());
            // A key that left a file out would say that nothing changed when it does.
            add_file(&mut digest, world, &file).map_err(|error| (file, error))?;
        }
        for needed in &artifact.requires {
            add(&mut digest, found.get(&needed.image).map(String::as_bytes).unwrap_or_default());
        }
        found.insert(artifact.image.clone(), hex(&digest.finalize()));
    }
    Ok(found)
}

/// What one artifact is made of by itself: its section, and its files, each with a digest.
pub fn content(
    world: &dyn World,
    config: &Config<'_>,
    artifact: &Artifact<'_, '_>,
) -> (String, BTreeMap<String, String>) {
    let mut writer = JsonWriter::new(JsonLayout::Compact, JsonFlavor::Plain);
    section(artifact.view, &ARTIFACT, &Finish::default(), &mut Written(&mut writer));
    let digest = |file: String| {
        let mut digest = Sha256::new();
        let read = add_file(&mut digest, world, &file);
        let hex = read.map(|()| hex(&digest.finalize())).unwrap_or_default();
        (file, hex)
    };
    (writer.finish().unwrap_or_default(), inputs(world, config, artifact).into_iter().map(digest).collect())
}

/// Every part with its length, so that no two inputs run together.
fn add(digest: &mut Sha256, bytes: &[u8]) {
    digest.update((bytes.len() as u64).to_le_bytes());
    digest.update(bytes);
}

/// A file of any size, as [`add`] would add its bytes.
fn add_file(digest: &mut Sha256, world: &dyn World, file: &str) -> Result<(), WorldError> {
    let mut begun = false;
    world.read_in_pieces(file, &mut |size, piece| {
        if !std::mem::replace(&mut begun, true) {
            digest.update(size.to_le_bytes());
        }
        digest.update(piece);
    })
}

/// The files of an artifact: what it names, or all of its context.
fn inputs(world: &dyn World, config: &Config<'_>, artifact: &Artifact<'_, '_>) -> Vec<String> {
    let text = artifact.view.text_of("context");
    let written = if text.is_empty() { "." } else { text.as_ref() };
    let context = path::join(config.base.as_deref().unwrap_or(&config.here), written);
    let builders = ["custom", "buildpacks", "ko"];
    let named = builders.iter().find_map(|builder| artifact.view.at(&[builder, "dependencies", "paths"]));
    let patterns: Vec<String> = match named {
        Some(list) => list.items().map(|item| path::join(&context, &item.text())).collect(),
        None => vec![path::join(&context, "**")],
    };
    let mut files: Vec<String> =
        patterns.iter().flat_map(|pattern| glob::expand(glob::Finder::free(world), pattern)).collect();
    let hidden = Hidden::read(world, &context, artifact);
    files.retain(|file| !hidden.hides(path::within(&context, file)));
    let ignored = builders.iter().find_map(|builder| artifact.view.at(&[builder, "dependencies", "ignore"]));
    let ignored: Vec<String> =
        ignored.into_iter().flat_map(crate::item::View::items).map(|item| item.text().into_owned()).collect();
    let ignored = Hidden::of(ignored.iter().map(String::as_str));
    files.retain(|file| !ignored.ignores(path::within(&context, file)));
    files.sort();
    files.dedup();
    files
}

/// Folders of tools beside the sources: what they hold changes with every run.
const OF_TOOLS: [&str; 2] = [".git", ".purlin"];

/// What of a context the builder does not see.
pub(crate) struct Hidden {
    patterns: Vec<(bool, Glob)>,
}

impl Hidden {
    pub(crate) fn read(world: &dyn World, context: &str, artifact: &Artifact<'_, '_>) -> Self {
        let is_docker =
            !["custom", "buildpacks", "ko", "jib", "bazel"].iter().any(|key| artifact.view.get(key).is_some());
        let file = artifact.view.at(&["docker", "dockerfile"]).map_or("Dockerfile".into(), |file| file.text());
        // The ignore file of one Dockerfile counts instead of that of the context.
        let names = [format!("{file}.dockerignore"), ".dockerignore".to_owned()];
        let text = names.iter().filter(|_| is_docker).find_map(|name| world.read(&path::join(context, name)).ok());
        let text = text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        Hidden::of(text.lines())
    }

    /// What lines of an ignore file say.
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

    /// Whether a file is ignored, or holds results of ours.
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
