//! Tests of images: commands that get the image as an argument.

use super::{CaseKind, SkaffoldProject};
use crate::action::{Action, Command, Kind};
use crate::event::Cause;
use purlin_skaffold::item::View;
use purlin_skaffold::template;
use std::time::Duration;

impl SkaffoldProject<'_, '_> {
    /// The resolved action of a test. It runs every time: its result is not reused.
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
        let seconds = test.get("timeoutSeconds").and_then(View::int).filter(|seconds| *seconds > 0);
        let own = self.nodes.get(node);
        Ok(Action {
            command: Some(Command { words: vec![line], shell: true, folder, env }),
            timeout: seconds.and_then(|seconds| u64::try_from(seconds).ok()).map(Duration::from_secs),
            ..Action::new(
                own.map(|node| node.id.clone()).unwrap_or_default(),
                Kind::Test,
                image,
                test.span().or(own.and_then(|node| node.span)),
            )
        })
    }
}
