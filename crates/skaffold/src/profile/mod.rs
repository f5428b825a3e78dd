//! Profiles: selection of the active ones, and their effects.
//!
//! Works on one document that is up to date. It must not know files or other documents.

pub mod activation;
pub mod family;
pub mod overlay;
pub mod patch;
pub mod pointer;

use crate::again::Known;
use crate::check::Check;
use crate::editions::LATEST;
use crate::entities::config::SKAFFOLD_CONFIG;
use crate::item::{Active, Item, View};
use activation::Surroundings;
use ecow::EcoString;
use family::{Member, Patched};
use purlin_syntax::{Diagnostic, Sink, Span};
use purlin_value::{FastMap, FastSet, Meter, Origin};

/// Properties of a document's profiles that do not depend on the request.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    /// All names, in the order of the file.
    pub names: Vec<EcoString>,
    /// The same, to be found.
    known: FastSet<EcoString>,
    /// Profiles whose conditions hold, in the order of the file.
    pub automatic: Vec<EcoString>,
    /// Those of them whose condition on the kube-context holds.
    pub by_context: Vec<EcoString>,
}

/// Collects a document's profiles. `None` if a condition cannot be read, which is reported.
pub fn survey(config: View<'_, '_>, around: &Surroundings, automatic: bool, sink: &Sink) -> Option<Profiles> {
    let mut found = Profiles::default();
    let Some(profiles) = config.get("profiles") else { return Some(found) };
    let mut sound = true;
    let mut known = FastSet::default();
    for profile in profiles.items() {
        let name = profile.text_of("name");
        let name_kept = EcoString::from(name.as_ref());
        found.known.insert(name_kept.clone());
        found.names.push(name_kept);
        if !automatic {
            continue;
        }
        match around.activates(profile) {
            Ok(None) => {}
            Ok(Some(by_context)) => {
                if known.insert(name.to_string()) {
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
    /// The active profiles in the order they are applied: automatic ones first, then requested ones; `-name`
    /// deactivates one. Names unknown to this document are ignored.
    pub fn active<'n>(&self, asked: impl IntoIterator<Item = &'n str>) -> Vec<EcoString> {
        let mut asked = asked.into_iter().peekable();
        if asked.peek().is_none() {
            return self.automatic.clone();
        }
        let mut places: FastMap<&str, usize> =
            self.automatic.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        let mut active: Vec<Option<EcoString>> = self.automatic.iter().cloned().map(Some).collect();
        for name in asked {
            if let Some(off) = name.strip_prefix('-') {
                if let Some(place) = places.remove(off).and_then(|at| active.get_mut(at)) {
                    *place = None;
                }
            } else if let Some(known) = self.known.get(name)
                && !places.contains_key(name)
            {
                places.insert(known, active.len());
                active.push(Some(known.clone()));
            }
        }
        active.into_iter().flatten().collect()
    }

    /// Whether the document has a profile of this name.
    pub fn has(&self, name: &str) -> bool {
        self.known.contains(name)
    }
}

/// Context for applying profiles.
pub struct Application<'a, 'f> {
    /// Receives problems.
    pub sink: &'a Sink,
    /// Budget of patches.
    pub meter: &'a Meter,
    /// Place for problems that are written nowhere.
    pub fallback: Span,
    /// Whether the founding design's keys are allowed.
    pub founding: bool,
    /// The document's place among the modules written in it, if there are any.
    pub member: Option<Member<'a, 'f>>,
    /// Remembers which patches of such a family applied.
    pub patched: &'a mut Patched,
    /// Why profiles are active; those that are not here have no known reason.
    pub reasons: FastMap<EcoString, Origin>,
    /// What other variants of the project have found out, and the document's number.
    pub(crate) known: Option<(&'a Known<'f>, usize)>,
}

/// Applies profiles to a configuration, in order. False if a patch does not apply, which is reported.
pub fn apply<'f>(config: &mut Item<'f>, active: &[EcoString], how: &mut Application<'_, 'f>) -> bool {
    if active.is_empty() {
        return true;
    }
    // The written table of profiles is used, even if patches change it meanwhile.
    let table = config.view().get("profiles").map(View::to_item);
    let Some(table) = table else { return true };
    // Of duplicate names the last one counts.
    let by_name: FastMap<EcoString, View<'_, 'f>> =
        table.view().items().map(|profile| (profile.text_of("name").as_ref().into(), profile)).collect();
    // A document that no profile has changed yet is the same in every variant.
    let mut is_as_written = how.member.is_none();
    for name in active {
        let Some(&profile) = by_name.get(name) else { continue };
        let because = how.reasons.get(name).copied().unwrap_or(Origin::NONE);
        let name = &Active { name: name.clone(), because };
        match &how.member {
            Some(member) => overlay::overlay(config, member.share(profile).view(), name),
            None => overlay::overlay(config, profile, name),
        }
        is_as_written &= !overlay::changes(profile);
        let patches = profile.get("patches").filter(|patches| patches.items().next().is_some());
        if let Some(patches) = patches
            && !apply_patches(config, patches, name, how, std::mem::take(&mut is_as_written))
        {
            return false;
        }
    }
    true
}

/// Steps for each value of a configuration that is brought into shape and checked around the patches of one profile.
const STEPS_PER_VALUE: u64 = 40;

fn apply_patches<'f>(
    config: &mut Item<'f>,
    patches: View<'_, 'f>,
    active: &Active,
    how: &mut Application<'_, 'f>,
    is_as_written: bool,
) -> bool {
    let profile = &active.name;
    let known = how.known.filter(|_| is_as_written);
    let count = || patch::expanded(config.view()) as u64;
    let values = known.map_or_else(count, |(known, document)| known.values(document, count));
    if let Err(exceeded) = how.meter.charge(STEPS_PER_VALUE * values, 0) {
        let message = format!("profile `{profile}`: {}", exceeded.message());
        let span = patches.span().unwrap_or(how.fallback);
        how.sink.push(Diagnostic::at(exceeded.rule(), span, message).hint(exceeded.hint()));
        return false;
    }
    let shape = || crate::emit::normalised(config.view(), &SKAFFOLD_CONFIG);
    *config = known.map_or_else(shape, |(known, document)| known.normal(document, shape));
    for patch in patches.items() {
        let span = patch.span().unwrap_or(how.fallback);
        let tried = match &how.member {
            None => patch::apply(config, patch, &patch.text_of("path"), active, how.meter),
            Some(member) => match member.own_path(&patch.text_of("path")) {
                Some(path) => patch::apply(config, patch, &path, active, how.meter),
                None => Err(patch::not_here(patch)),
            },
        };
        let problem = tried.err().map(|problem| {
            let message = format!("profile `{profile}`: {}", problem.message);
            Diagnostic::at(problem.rule, problem.span.unwrap_or(span), message).maybe_hint(problem.hint)
        });
        match (problem, &how.member) {
            (problem, Some(_)) => how.patched.push(span, problem),
            (Some(problem), None) => {
                how.sink.push(problem);
                return false;
            }
            (None, None) => {}
        }
    }
    // Patches may write any value; keys unknown to the table must not be dropped silently.
    let before = how.sink.len();
    let fallback = patches.span().unwrap_or(how.fallback);
    let marks = how.known.map(|(known, _)| &known.marks);
    let check = Check { edition: LATEST, founding: how.founding, sink: how.sink, fallback, marks };
    check.section(config.view(), &SKAFFOLD_CONFIG);
    !how.sink.since(before).iter().any(Diagnostic::is_error)
}
