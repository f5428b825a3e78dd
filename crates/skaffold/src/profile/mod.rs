//! Profiles: which are active, and what an active one does.
//!
//! Works on one document that is up to date. It must not know files or other documents.

pub mod activation;
pub mod overlay;
pub mod patch;
pub mod pointer;

use crate::check::Check;
use crate::editions::LATEST;
use crate::entities::config::SKAFFOLD_CONFIG;
use crate::item::{Item, View};
use crate::rules;
use activation::Surroundings;
use ecow::EcoString;
use purlin_syntax::{Diagnostic, Sink, Span};

/// What is known of a document's profiles before anyone asks for one.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    /// All names, in the order of the file.
    pub names: Vec<EcoString>,
    /// Those whose conditions hold, in the order of the file.
    pub automatic: Vec<EcoString>,
    /// Those of them whose condition on the kube-context held.
    pub by_context: Vec<EcoString>,
}

/// Looks at a document's profiles. `None` if a condition cannot be read, which is reported.
pub fn survey(config: View<'_, '_>, around: &Surroundings, automatic: bool, sink: &Sink) -> Option<Profiles> {
    let mut found = Profiles::default();
    let Some(profiles) = config.get("profiles") else { return Some(found) };
    let mut sound = true;
    for profile in profiles.items() {
        let name = profile.text_of("name");
        found.names.push(name.as_ref().into());
        if !automatic {
            continue;
        }
        match around.activates(profile) {
            Ok(None) => {}
            Ok(Some(by_context)) => {
                if !found.automatic.iter().any(|known| known == name.as_ref()) {
                    found.automatic.push(name.as_ref().into());
                }
                if by_context {
                    found.by_context.push(name.as_ref().into());
                }
            }
            Err(diagnostic) => {
                sink.push(diagnostic);
                sound = false;
            }
        }
    }
    sound.then_some(found)
}

impl Profiles {
    /// The active profiles in the order they are applied: automatic ones first, then what is asked for; `-name`
    /// switches one off. Names this document does not know are ignored.
    pub fn active<'n>(&self, asked: impl IntoIterator<Item = &'n str>) -> Vec<EcoString> {
        let mut active = self.automatic.clone();
        for name in asked {
            if let Some(off) = name.strip_prefix('-') {
                active.retain(|known| known != off);
            } else if !active.iter().any(|known| known == name)
                && let Some(known) = self.names.iter().find(|known| known.as_str() == name)
            {
                active.push(known.clone());
            }
        }
        active
    }
}

/// How profiles are applied.
#[derive(Clone, Copy)]
pub struct Application<'a> {
    /// Receives what is wrong.
    pub sink: &'a Sink,
    /// Place for problems that are written nowhere.
    pub fallback: Span,
    /// Whether the founding design's keys are known.
    pub founding: bool,
    /// Whether patches count; they do not for a document that only names modules, which they are meant for.
    pub patches: bool,
}

/// Applies profiles to a configuration, in order. False if a patch does not apply, which is reported.
pub fn apply(config: &mut Item<'_>, active: &[EcoString], how: &Application<'_>) -> bool {
    if active.is_empty() {
        return true;
    }
    // The table of profiles is the one written, whatever patches do to it meanwhile.
    let table = config.view().get("profiles").map(View::to_item);
    let Some(table) = table else { return true };
    for name in active {
        // Where a name stands twice, the last one counts.
        let Some(profile) = table.view().items().filter(|profile| profile.text_of("name") == name.as_str()).last()
        else {
            continue;
        };
        overlay::overlay(config, profile, name);
        let patches = profile.get("patches").filter(|patches| how.patches && patches.items().next().is_some());
        if let Some(patches) = patches
            && !apply_patches(config, patches, name, how)
        {
            return false;
        }
    }
    true
}

fn apply_patches<'f>(config: &mut Item<'f>, patches: View<'_, 'f>, profile: &EcoString, how: &Application<'_>) -> bool {
    *config = crate::emit::normalised(config.view(), &SKAFFOLD_CONFIG);
    for patch in patches.items() {
        if let Err(problem) = patch::apply(config, patch, profile) {
            let span = problem.span.or(patch.span()).unwrap_or(how.fallback);
            let message = format!("profile `{profile}`: {}", problem.message);
            how.sink.push(Diagnostic::at(&rules::PATCH, span, message).maybe_hint(problem.hint));
            return false;
        }
    }
    // Patches may write anything; what the table does not know must not vanish silently.
    let before = how.sink.len();
    let fallback = patches.span().unwrap_or(how.fallback);
    let check = Check { edition: LATEST, founding: how.founding, sink: how.sink, fallback };
    check.section(config.view(), &SKAFFOLD_CONFIG);
    how.sink.len() == before
}
