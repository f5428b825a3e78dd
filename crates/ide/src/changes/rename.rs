//! Renaming: every occurrence that refers to a name, in all variants of all projects that read it, and nothing else.
//!
//! The edits are made in memory first and everything is resolved again. Unless the result is the same up to the name
//! and all occurrences refer to the same things, nothing is written and the reason is reported.

use crate::buffers::{Buffers, Desk};
use crate::names::Edit;
use crate::place::Place;
use crate::same::{Renaming, compare};
use crate::{Ide, lock};
use purlin_compiler::{Claim, Named, NamedProjects, Part, names};
use purlin_value::names::kind;
use purlin_value::{Bound, World, path};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Why a rename is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The reason.
    pub message: String,
    /// The location of the reason, if it has one.
    pub place: Option<Place>,
}

impl Refusal {
    fn new(message: impl Into<String>) -> Self {
        Refusal { message: message.into(), place: None }
    }

    /// The reason with its location, on one line.
    pub fn shown(&self) -> String {
        match &self.place {
            Some(place) => format!("{} ({}:{})", self.message, place.file, place.start.line + 1),
            None => self.message.clone(),
        }
    }

    fn at(self, named: &Named) -> Self {
        Refusal { place: Some(place_of(named)), ..self }
    }
}

/// A safe rename.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// The kind of the name.
    pub kind: &'static str,
    /// The old name.
    pub old: String,
    /// The changes, by file and location.
    pub edits: Vec<Edit>,
}

/// Names that belong to tools rather than to the project.
const FIXED: &[&str] = &[kind::PROVIDER, kind::CHART];

/// Edited files may be read by further projects, which may contain further occurrences; this many rounds find all.
const ROUNDS: usize = 8;

/// The location of a name.
pub fn place_of(named: &Named) -> Place {
    Place::of(&named.source, named.start as usize..named.end as usize)
}

impl Ide {
    /// The names of all projects that have read some files, in all their variants.
    pub(crate) fn names_of(&self, files: &BTreeSet<String>) -> Arc<NamedProjects> {
        let picture = self.picture();
        // The last picture is of one variant; others may read further files below the project's folder.
        let is_below = |file: &str, claim: &Claim| {
            let folder = path::parent(claim.file());
            claim.file() == file || folder == "." || path::within(folder, file) != file
        };
        let concerned = picture
            .outcomes
            .iter()
            .filter(|outcome| files.iter().any(|file| outcome.concerns(file) || is_below(file, &outcome.claim)));
        let claims: Vec<Claim> = concerned.map(|outcome| outcome.claim.clone()).collect();
        let known: Vec<String> = claims.iter().map(|claim| claim.file().to_owned()).collect();
        {
            let kept = lock(&self.names);
            if let Some((claims, projects)) = &*kept
                && *claims == known
                && self.is_current(projects)
            {
                return projects.clone();
            }
        }
        let world: Arc<dyn World> = self.desk.clone();
        let projects = Arc::new(names(&world, &self.limits, &picture.request, &claims));
        *lock(&self.names) = Some((known, projects.clone()));
        projects
    }

    /// Whether the texts in which names were found are current.
    fn is_current(&self, projects: &NamedProjects) -> bool {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let is_same = |named: &Named| self.text(named.source.path()).is_some_and(|text| *text == *named.source.text());
        projects.table.all().iter().all(|named| !seen.insert(named.source.path()) || is_same(named))
    }

    /// The name at an offset.
    pub(crate) fn named_at(&self, file: &str, offset: usize) -> Option<(Arc<NamedProjects>, Named)> {
        let file = path::normalize(file);
        let projects = self.names_of(&BTreeSet::from([file.clone()]));
        let offset = u32::try_from(offset).ok()?;
        let named = projects.table.at(&file, offset).into_iter().find(|named| !matches!(named.part, Part::Bound(_)));
        let named = named.cloned()?;
        Some((projects, named))
    }

    /// The names on a line, from 0: those that it declares, otherwise those that it uses.
    pub fn names_on_line(&self, file: &str, line: u32) -> Vec<Place> {
        let file = path::normalize(file);
        let projects = self.names_of(&BTreeSet::from([file.clone()]));
        let is_here = |named: &&Named| named.source.path() == file && !matches!(named.part, Part::Bound(_));
        let here = projects.table.all().iter().filter(is_here).map(|named| (named.is_declaration(), place_of(named)));
        let (declared, used): (BTreeSet<_>, BTreeSet<_>) =
            here.filter(|(_, place)| place.start.line == line).partition(|(is_declaration, _)| *is_declaration);
        let all = if declared.is_empty() { used } else { declared };
        all.into_iter().map(|(_, place)| place).collect()
    }

    /// The location of the name at an offset, if it can be renamed.
    pub fn can_rename(&self, file: &str, offset: usize) -> Option<Place> {
        let (projects, named) = self.named_at(file, offset)?;
        let is_declared = projects.table.group(named.group).any(Named::is_declaration);
        (is_declared && !FIXED.contains(&named.kind)).then(|| place_of(&named))
    }

    /// The changes that rename the name at an offset, or why it cannot be renamed.
    pub fn rename(&self, file: &str, offset: usize, new: &str) -> Result<Renamed, Refusal> {
        if let Some((projects, named)) = self.named_at(file, offset) {
            return self.rename_to(projects, named, new);
        }
        let spelled = self.spelled(file, offset, new).filter(|spelled| {
            let files: BTreeSet<String> = spelled.edits.iter().map(|edit| edit.place.file.clone()).collect();
            // In files covered by a dialect that records names, no spelling is searched.
            self.names_of(&files).table.all().iter().all(|named| !files.contains(named.source.path()))
        });
        let renamed = spelled.ok_or_else(|| Refusal::new("there is no name here that can be renamed"))?;
        let files: BTreeSet<String> = renamed.edits.iter().map(|edit| edit.place.file.clone()).collect();
        self.verify(&self.names_of(&files), None, &renamed, new, &files)?;
        Ok(renamed)
    }

    /// Names of the table that match a text: by the whole name, or its last part.
    pub fn called(&self, name: &str) -> (Arc<NamedProjects>, Vec<Named>) {
        let projects = self.all_names();
        let (of, name) = name.split_once(' ').map_or((None, name), |(of, name)| (Some(of), name));
        let is_kind = |one: &Named| of.is_none_or(|of| of == one.kind);
        let declared = || projects.table.all().iter().filter(|one| one.is_declaration() && is_kind(one));
        let mut found: Vec<Named> = declared().filter(|one| one.name == name).cloned().collect();
        if found.is_empty() {
            found = declared().filter(|one| one.text() == name).cloned().collect();
        }
        let mut seen = BTreeSet::new();
        found.retain(|one| seen.insert(one.group));
        (projects, found)
    }

    /// The names of all projects.
    pub fn all_names(&self) -> Arc<NamedProjects> {
        self.names_of(&self.picture().outcomes.iter().map(|outcome| outcome.claim.file().to_owned()).collect())
    }

    /// The same for a name of the table.
    pub fn rename_to(&self, projects: Arc<NamedProjects>, named: Named, new: &str) -> Result<Renamed, Refusal> {
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '$');
        if new.is_empty() || !new.chars().all(is_plain) {
            return Err(Refusal::new(format!("`{new}` cannot be a name")));
        }
        let (mut projects, mut named) = (projects, named);
        for _ in 0..ROUNDS {
            let renamed = edits(&projects, &named, new)?;
            let files: BTreeSet<String> = renamed.edits.iter().map(|edit| edit.place.file.clone()).collect();
            let more = self.names_of(&files);
            let (file, start) = (named.source.path().to_owned(), named.start);
            let is_complete = more.results.len() == projects.results.len();
            let again = more.table.at(&file, start).into_iter().find(|one| one.start == start).cloned();
            match again.filter(|_| !is_complete) {
                Some(again) => (projects, named) = (more, again),
                None => {
                    self.verify(&projects, Some(&named), &renamed, new, &files)?;
                    return Ok(renamed);
                }
            }
        }
        Err(Refusal::new("too many projects share this name"))
    }

    /// Resolves everything with the edited texts and compares.
    fn verify(
        &self,
        before: &NamedProjects,
        named: Option<&Named>,
        renamed: &Renamed,
        new: &str,
        files: &BTreeSet<String>,
    ) -> Result<(), Refusal> {
        let shifts = Shifts::of(&renamed.edits);
        let buffers = Arc::new(Buffers::default());
        for file in files {
            let text = self.text(file).ok_or_else(|| Refusal::new(format!("could not read `{file}`")))?;
            buffers.set(file, &shifts.applied(file, &text));
        }
        let below: Arc<dyn World> = self.desk.clone();
        let world: Arc<dyn World> = Arc::new(Desk::new(below, buffers));
        let picture = self.picture();
        let is_concerned = |claim: &Claim| before.results.iter().any(|result| result.project == claim.file());
        let claims = picture.outcomes.iter().map(|outcome| outcome.claim.clone()).filter(is_concerned);
        let after = names(&world, &self.limits, &picture.request, &claims.collect::<Vec<_>>());
        let (kind, old) = (renamed.kind, renamed.old.as_str());
        let refused = |why: String| Refusal::new(format!("cannot rename the {kind} `{old}` to `{new}`: {why}"));
        if let Some(named) = named {
            mean_the_same(before, &after, named, &shifts).map_err(|clash| {
                let refusal = refused(format!("`{new}` means something else already"));
                clash.map_or(refusal.clone(), |clash| refusal.at(&clash))
            })?;
        }
        compare(&before.results, &after.results, &Renaming { kind, old, new }).map_err(refused)
    }
}

/// The edits of a name; refused if an occurrence depends on the name and cannot be edited.
fn edits(projects: &NamedProjects, named: &Named, new: &str) -> Result<Renamed, Refusal> {
    let group: Vec<&Named> = projects.table.group(named.group).collect();
    let Some(declared) = group.iter().find(|one| one.is_declaration()) else {
        let message = format!("`{}` is not declared in this project, so it cannot be renamed", named.name);
        return Err(Refusal::new(message));
    };
    let (kind, old) = (declared.kind, declared.text());
    if FIXED.contains(&kind) {
        return Err(Refusal::new(format!("the name of a {kind} is not the project's own, so it cannot be renamed")));
    }
    if old == new {
        return Err(Refusal::new(format!("the {kind} is called `{new}` already")));
    }
    let mut edits: BTreeMap<(String, u32), Edit> = BTreeMap::new();
    for one in group {
        let place = place_of(one);
        let why = match one.part {
            Part::Bound(Bound::Computed) => Some("this expression computes its name"),
            Part::Bound(Bound::Whole) => Some("the whole mapping with its name is used here"),
            Part::Bound(Bound::Text) => Some("its name is part of a text here that is not edited"),
            _ if one.text() != old => Some("its name is written differently here"),
            _ => None,
        };
        if let Some(why) = why {
            return Err(Refusal::new(format!("cannot rename the {kind} `{old}`: {why}")).at(one));
        }
        edits.insert((place.file.clone(), one.start), Edit { place, text: new.to_owned() });
    }
    Ok(Renamed { kind, old: old.to_owned(), edits: edits.into_values().collect() })
}

/// Every occurrence of the name must refer to it afterwards, and no others. Otherwise returns the offending one.
fn mean_the_same(
    before: &NamedProjects,
    after: &NamedProjects,
    named: &Named,
    shifts: &Shifts<'_>,
) -> Result<(), Option<Named>> {
    let places: BTreeSet<(&str, u32)> = before
        .table
        .group(named.group)
        .filter(|one| !matches!(one.part, Part::Bound(_)))
        .map(|one| (one.source.path(), shifts.moved(one.source.path(), one.start)))
        .collect();
    let is_one = |one: &&Named| places.contains(&(one.source.path(), one.start)) && !matches!(one.part, Part::Bound(_));
    let found: Vec<&Named> = after.table.all().iter().filter(is_one).collect();
    let reached: BTreeSet<(&str, u32)> = found.iter().map(|one| (one.source.path(), one.start)).collect();
    let groups: BTreeSet<usize> = found.iter().map(|one| one.group).collect();
    if reached != places || groups.len() != 1 {
        return Err(None);
    }
    let all = groups.iter().flat_map(|group| after.table.group(*group));
    match all.filter(|one| !matches!(one.part, Part::Bound(_))).find(|one| !is_one(one)) {
        Some(other) => Err(Some(other.clone())),
        None => Ok(()),
    }
}

/// Maps offsets through edits.
struct Shifts<'e> {
    edits: &'e [Edit],
}

impl<'e> Shifts<'e> {
    /// The edits must be sorted by location.
    fn of(edits: &'e [Edit]) -> Self {
        Shifts { edits }
    }

    fn in_file<'f>(&self, file: &'f str) -> impl Iterator<Item = &'e Edit> + use<'e, 'f> {
        self.edits.iter().filter(move |edit| edit.place.file == file)
    }

    /// The new offset of a byte.
    fn moved(&self, file: &str, at: u32) -> u32 {
        let mut moved = i64::from(at);
        for edit in self.in_file(file).filter(|edit| edit.place.bytes.0 < at) {
            let (start, end) = edit.place.bytes;
            moved += i64::try_from(edit.text.len()).unwrap_or(0) - i64::from(end - start);
        }
        u32::try_from(moved).unwrap_or(at)
    }

    /// The text after the edits.
    fn applied(&self, file: &str, text: &str) -> String {
        let mut made = String::with_capacity(text.len());
        let mut from = 0;
        for edit in self.in_file(file) {
            let (start, end) = (edit.place.bytes.0 as usize, edit.place.bytes.1 as usize);
            made.push_str(text.get(from..start).unwrap_or(""));
            made.push_str(&edit.text);
            from = end;
        }
        made.push_str(text.get(from..).unwrap_or(""));
        made
    }
}

/// A text after some edits, which are sorted by location.
pub fn apply(edits: &[Edit], file: &str, text: &str) -> String {
    Shifts::of(edits).applied(file, text)
}
