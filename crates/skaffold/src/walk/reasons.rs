//! Why profiles are active: requested by the user, by a dependent configuration, or by their own conditions.
//!
//! Only for `why`; it must not affect decisions.

use super::{FileFrame, Walk};
use crate::item::View;
use crate::load::Document;
use crate::profile::Profiles;
use ecow::EcoString;
use purlin_syntax::Span;
use purlin_value::{FastMap, FastSet, Origin, Piece};
use std::borrow::Cow;

impl<'f> Walk<'_, 'f> {
    /// The reason of each active profile that is known to have one.
    pub(super) fn reasons(
        &self,
        frame: &FileFrame<'f>,
        document: &Document<'f>,
        profiles: &Profiles,
        active: &[EcoString],
    ) -> FastMap<EcoString, Origin> {
        if active.is_empty() {
            return FastMap::default();
        }
        let origins = &self.loader.session().origins;
        let written = written(document);
        let automatic: FastSet<&EcoString> = profiles.automatic.iter().collect();
        let named = named(frame);
        let reason = |name: &EcoString| {
            let profile = written.get(name.as_str());
            let causes = match automatic.contains(name) {
                true => self.conditions(profile),
                false => vec![self.who_asks(frame, &named, name), self.name_of(profile)],
            };
            let causes: Vec<Piece> = causes.into_iter().filter(|cause| cause.is_known()).map(Piece::whole).collect();
            (!causes.is_empty()).then(|| origins.derived(format!("profile `{name}` is active"), None, causes))
        };
        active.iter().filter_map(|name| Some((name.clone(), reason(name)?))).collect()
    }

    /// The conditions of an automatically activated profile, and the environment variables they read.
    fn conditions(&self, profile: Option<&View<'_, 'f>>) -> Vec<Origin> {
        let origins = &self.loader.session().origins;
        let Some(conditions) = profile.and_then(|profile| profile.get("activation")) else { return Vec::new() };
        let mut causes: Vec<Origin> = conditions.span().map(|span| origins.file(span)).into_iter().collect();
        for condition in conditions.items() {
            let text = condition.get("env").map(|text| text.text().into_owned()).unwrap_or_default();
            if let Some((variable, _)) = text.split_once('=') {
                causes.push(origins.env(variable));
            }
        }
        causes
    }

    /// The name's location in a profile: it can be requested by no other name.
    fn name_of(&self, profile: Option<&View<'_, 'f>>) -> Origin {
        let span = profile.and_then(|profile| profile.get("name")?.span());
        span.map_or(Origin::NONE, |span| self.loader.session().origins.file(span))
    }

    /// The requester of a profile: the user, or a dependent configuration.
    fn who_asks(&self, frame: &FileFrame<'f>, named: &FastMap<&str, Option<Span>>, name: &EcoString) -> Origin {
        let origins = &self.loader.session().origins;
        let asked = self.wanted.profiles.iter().position(|asked| asked == name.as_str());
        match asked {
            Some(at) => {
                let given = self.wanted.profiles_from.get(at).copied();
                given.unwrap_or_else(|| origins.flag(format!("--profile {name}")))
            }
            None => {
                let named = named.get(name.as_str()).copied().flatten();
                named.or(frame.edge).map_or(Origin::NONE, |span| origins.file(span))
            }
        }
    }
}

/// The profiles as they are written, by name; of duplicate names the last one counts.
fn written<'d, 'f>(document: &'d Document<'f>) -> FastMap<Cow<'d, str>, View<'d, 'f>> {
    let all = document.item.view().get("profiles");
    all.into_iter().flat_map(|all| all.items()).map(|profile| (profile.text_of("name"), profile)).collect()
}

/// The first location of each profile's name in the configurations that require this file.
fn named<'d>(frame: &'d FileFrame<'_>) -> FastMap<&'d str, Option<Span>> {
    let mut found = FastMap::default();
    for named in frame.named.iter() {
        for profile in &named.profiles {
            found.entry(profile.as_str()).or_insert(named.span);
        }
    }
    found
}
