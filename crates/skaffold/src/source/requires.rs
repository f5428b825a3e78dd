//! Reads the requirements of a configuration: their location, names and profiles.
//!
//! Works on a configuration with its profiles applied. It must not follow references.

use crate::item::{Form, View};
use ecow::EcoString;
use purlin_syntax::Span;
use purlin_value::FastSet;
use std::rc::Rc;

/// One requirement.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The required file.
    pub place: Place,
    /// Names wanted of it; all if empty.
    pub names: Vec<EcoString>,
    /// Profiles it switches on there.
    pub profiles: Vec<EcoString>,
    /// Profiles it activates in modules of these names, wherever they are reached through it.
    pub named: Rc<[Named]>,
    /// Passing of the user's own profiles.
    pub choice: Choice,
    /// Whether it leads to the module of a required image. Such modules may form a cycle: only images must not.
    pub for_artifact: bool,
    /// Its location.
    pub span: Option<Span>,
}

/// Profiles that are switched on in the modules of one name.
#[derive(Clone, Debug)]
pub struct Named {
    /// The module's name.
    pub module: EcoString,
    /// The profiles.
    pub profiles: Vec<EcoString>,
    /// Its location.
    pub span: Option<Span>,
}

/// Passing of the user's profiles to a required configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// They are passed on unless that is switched off (`requires`).
    Propagated,
    /// Exactly those of the requiring file: both share one table of profiles (modules of one document).
    Shared,
    /// They are not passed on; only the edge's own profiles count (modules of other files).
    Own,
}

/// Location of a required file.
#[derive(Clone, Debug)]
pub enum Place {
    /// In the same file.
    Same,
    /// At a path.
    Path(EcoString),
    /// A module of this name: in the same file, in one it names, or in one that was reached before.
    Named(EcoString),
    /// In a git repository.
    Git(Git),
    /// Somewhere that cannot be reached.
    Unsupported(Unsupported),
}

/// A source that Purlin recognises but does not read: it needs a client of its own.
#[derive(Clone, Debug)]
pub struct Unsupported {
    /// The key.
    pub kind: &'static str,
    /// A bucket, or a repository.
    pub what: EcoString,
    /// Its location.
    pub span: Option<Span>,
}

/// A git repository with the requested revision and path.
#[derive(Clone, Debug, Default)]
pub struct Git {
    /// Address.
    pub repo: EcoString,
    /// Path inside it.
    pub path: EcoString,
    /// Branch, tag or commit; empty for the default branch.
    pub revision: EcoString,
    /// Whether a copy is updated.
    pub sync: Option<bool>,
    /// Its location.
    pub span: Option<Span>,
}

/// All requirements of a configuration whose active profiles are known.
pub fn read(config: View<'_, '_>, active: &[EcoString]) -> Vec<Edge> {
    let Some(list) = config.get("requires") else { return Vec::new() };
    let mut edges = Vec::with_capacity(list.items().count());
    let active: FastSet<&str> = active.iter().map(EcoString::as_str).collect();
    edges.extend(list.items().map(|item| edge(item, &active)));
    edges
}

fn edge(item: View<'_, '_>, active: &FastSet<&str>) -> Edge {
    let (mut names, mut profiles, mut place, mut git) = (Vec::new(), Vec::new(), Place::Same, None);
    let mut elsewhere = None;
    // One pass over the keys: there may be very many requirements.
    for pair in item.entries() {
        match pair.key {
            "configs" => names = pair.value.items().map(View::eco).collect(),
            "activeProfiles" => profiles = activated(pair.value, active),
            "path" if !pair.value.text().is_empty() => place = Place::Path(pair.value.eco()),
            "git" if pair.value.form() == Form::Map => git = Some(self::git(pair.value)),
            "googleCloudStorage" if pair.value.form() == Form::Map => {
                elsewhere = Some(unsupported("googleCloudStorage", "source", pair.value));
            }
            "googleCloudBuildRepoV2" if pair.value.form() == Form::Map => {
                elsewhere = elsewhere.or_else(|| Some(unsupported("googleCloudBuildRepoV2", "repo", pair.value)));
            }
            _ => {}
        }
    }
    let place = match (elsewhere, git) {
        (Some(other), _) => Place::Unsupported(other),
        (None, Some(git)) => Place::Git(git),
        (None, None) => place,
    };
    Edge {
        place,
        names,
        profiles,
        named: Rc::default(),
        choice: Choice::Propagated,
        for_artifact: false,
        span: item.span(),
    }
}

/// The profiles an edge switches on, given the active ones of the requiring configuration.
fn activated(list: View<'_, '_>, active: &FastSet<&str>) -> Vec<EcoString> {
    let mut found: Vec<EcoString> = Vec::new();
    for item in list.items() {
        let (mut name, mut applies) = (None, true);
        for pair in item.entries() {
            match pair.key {
                "name" => name = Some(pair.value),
                "activatedBy" if pair.value.items().next().is_some() => {
                    applies = pair.value.items().any(|by| active.contains(by.text().as_ref()));
                }
                _ => {}
            }
        }
        if let (Some(name), true) = (name, applies) {
            found.push(name.eco());
        }
    }
    found
}

fn git(item: View<'_, '_>) -> Git {
    Git {
        repo: item.raw("repo").map(View::eco).unwrap_or_default(),
        path: item.raw("path").map(View::eco).unwrap_or_default(),
        revision: item.raw("ref").map(View::eco).unwrap_or_default(),
        sync: item.get("sync").and_then(View::bool),
        span: item.span(),
    }
}

fn unsupported(kind: &'static str, key: &str, item: View<'_, '_>) -> Unsupported {
    Unsupported { kind, what: item.raw(key).map(View::eco).unwrap_or_default(), span: item.span() }
}
