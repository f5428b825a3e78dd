//! The key of an artifact: a digest of everything that goes into it, its required artifacts included.
//!
//! Two builds with the same key give the same image; a change reaches exactly the artifacts built from it.

use crate::artifacts::{Artifact, order};
use crate::emit::{Finish, Written, section};
use crate::entities::artifact::ARTIFACT;
use crate::glob;
use crate::walk::Config;
use purlin_syntax::write::{JsonFlavor, JsonLayout, JsonWriter};
use purlin_value::{World, path};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// The key of one artifact, as a hexadecimal digest. `None` if there is no such artifact or artifacts form a ring.
pub fn key(world: &dyn World, configs: &[Config<'_>], all: &[Artifact<'_, '_>], image: &str) -> Option<String> {
    keys(world, configs, all)?.remove(image)
}

/// The keys of all artifacts, by image.
pub fn keys(world: &dyn World, configs: &[Config<'_>], all: &[Artifact<'_, '_>]) -> Option<HashMap<String, String>> {
    let mut found: HashMap<String, String> = HashMap::new();
    for at in order(all).ok()? {
        let artifact = all.get(at)?;
        let config = configs.get(artifact.config)?;
        let mut digest = Sha256::new();
        let mut writer = JsonWriter::new(JsonLayout::Compact, JsonFlavor::Plain);
        section(artifact.view, &ARTIFACT, &Finish::default(), &mut Written(&mut writer));
        add(&mut digest, writer.finish().unwrap_or_default().as_bytes());
        for file in inputs(world, config, artifact) {
            add(&mut digest, file.as_bytes());
            match world.read(&file) {
                Ok(bytes) => add(&mut digest, &bytes),
                Err(_) => add(&mut digest, b"unreadable"),
            }
        }
        for needed in &artifact.requires {
            add(&mut digest, found.get(&needed.image).map(String::as_bytes).unwrap_or_default());
        }
        let hex: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        found.insert(artifact.image.clone(), hex);
    }
    Some(found)
}

/// Every part with its length, so that no two inputs run together.
fn add(digest: &mut Sha256, bytes: &[u8]) {
    digest.update((bytes.len() as u64).to_le_bytes());
    digest.update(bytes);
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
    let mut files: Vec<String> = patterns.iter().flat_map(|pattern| glob::expand(world, pattern)).collect();
    files.sort();
    files.dedup();
    files
}
