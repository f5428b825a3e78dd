//! Tests of images: commands that get the image as an argument.

use super::{CaseKind, SkaffoldProject};
use crate::action::{Action, Command, Kind};
use crate::event::Cause;
use crate::since::files_below;
use purlin_skaffold::item::View;
use purlin_skaffold::keys;
use purlin_skaffold::render::from_file;
use purlin_skaffold::template;
use purlin_value::glob::Glob;
use sha2::{Digest, Sha256};
use std::time::Duration;

impl SkaffoldProject<'_, '_> {
    /// The resolved action of a test. It runs every time: its result is not reused. Its version tells whether it would
    /// be another test: of another image, with another command, or with other files.
    pub(super) fn test_action(&self, node: usize, at: usize) -> Result<Action, Cause> {
        let case = self.cases.get(at).ok_or(Cause::Unresolved)?;
        let test = match &case.kind {
            CaseKind::Custom(test) => *test,
            CaseKind::Structure => {
                return Err(Cause::Other("`structureTests` are not supported; use a `custom` test".to_owned()));
            }
        };
        let Some(image) = self.built.borrow().get(&case.image).cloned() else {
            return Err(Cause::Other(format!("the image `{}` was not built and is not given", case.image)));
        };
        let folder = self.context(case.config, case.case);
        let line = template::expand(&test.text_of("command"), &self.settings.env).map_err(Cause::Other)?;
        let mut env = vec![
            ("IMAGE".to_owned(), image.clone()),
            ("TEST_CONTEXT".to_owned(), folder.to_string_lossy().into_owned()),
        ];
        env.retain(|(key, _)| !self.settings.env.contains_key(key));
        let version = self.test_version(case.config, test, &[&image, &line]);
        let seconds = test.get("timeoutSeconds").and_then(View::int).filter(|seconds| *seconds > 0);
        let own = self.nodes.get(node);
        Ok(Action {
            command: Some(Command { words: vec![line], shell: true, folder, env }),
            timeout: seconds.and_then(|seconds| u64::try_from(seconds).ok()).map(Duration::from_secs),
            ..Action::new(
                own.map(|node| node.id.clone()).unwrap_or_default(),
                Kind::Test,
                version,
                test.span().or(own.and_then(|node| node.span)),
            )
        })
    }

    /// A digest of what decides the result of a test: the given parts, and the files that it depends on.
    fn test_version(&self, config: usize, test: View<'_, '_>, parts: &[&str]) -> String {
        let mut digest = Sha256::new();
        let mut add = |bytes: &[u8]| {
            digest.update((bytes.len() as u64).to_le_bytes());
            digest.update(bytes);
        };
        parts.iter().for_each(|part| add(part.as_bytes()));
        let texts = |key: &str| -> Vec<String> {
            let list = test.at(&["dependencies", key]).into_iter().flat_map(View::items);
            list.map(|item| item.text().into_owned()).collect()
        };
        let ignored: Vec<Glob> = texts("ignore").iter().map(|pattern| Glob::new(pattern)).collect();
        let Some(config) = self.config(config) else { return String::new() };
        let folder = from_file(config, ".");
        for pattern in texts("paths") {
            for file in self.matching(&folder, &pattern) {
                let inside = file.strip_prefix(&format!("{folder}/")).unwrap_or(&file);
                if !ignored.iter().any(|glob| glob.matches(inside)) {
                    add(file.as_bytes());
                    add(&keys::file_digest(self.session.world.as_ref(), &file).unwrap_or_default());
                }
            }
        }
        crate::store::hex(&digest.finalize())
    }

    /// The files below a folder that a path or a pattern names; a folder stands for all files in it.
    fn matching(&self, folder: &str, pattern: &str) -> Vec<String> {
        let glob = Glob::new(pattern);
        let whole = format!("{}/", pattern.trim_end_matches('/'));
        let files = files_below(self.session.world.as_ref(), folder).into_keys();
        let is_meant = |file: &String| {
            let inside = file.strip_prefix(&format!("{folder}/")).unwrap_or(file);
            inside == pattern || inside.starts_with(&whole) || pattern == "." || glob.matches(inside)
        };
        files.filter(is_meant).collect()
    }
}
