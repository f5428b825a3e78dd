//! Finds the actions affected by a change: those whose configuration or files differ, and their dependents.
//!
//! Knows two states of a project by the contents of each action. Does not know how states are resolved.

use crate::engine::Project;
use crate::past::dependencies_first;
use purlin_value::ignore::Ignores;
use purlin_value::path;
use purlin_value::world::{FileKind, World};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The contents of an action, apart from its resolved configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The files it reads, each with a digest of its content.
    pub files: BTreeMap<String, String>,
    /// Other settings that decide what it does.
    pub settings: String,
}

/// An earlier state of a project, and the differences.
#[derive(Clone, Debug, Default)]
pub struct Since {
    /// The name of the earlier state: `main`.
    pub revision: String,
    /// Contents of actions, by id; `None` if the project did not exist or could not be resolved.
    pub before: Option<HashMap<String, Content>>,
    /// Actions with a different configuration, each with the location of the change.
    pub changed: HashMap<String, String>,
    /// The location of a change that belongs to no single action.
    pub around: Option<String>,
}

/// The affected actions, by index, each with the reason.
pub fn affected(project: &dyn Project, since: &Since) -> HashMap<usize, String> {
    let nodes = project.nodes();
    let mut found: HashMap<usize, String> = HashMap::new();
    for index in dependencies_first(nodes) {
        let Some(node) = nodes.get(index) else { continue };
        let own = match &since.before {
            None => Some("the project is new".to_owned()),
            Some(before) => match before.get(&node.id) {
                None if project.takes_all(index) => None,
                None => Some("it is new".to_owned()),
                Some(content) => own_reason(&project.content(index), content, since, &node.id),
            },
        };
        let through = || {
            let need = node.needs.iter().find(|need| found.contains_key(&need.node))?;
            Some(format!("it depends on {}", nodes.get(need.node)?.id))
        };
        // A change that belongs to no single action affects those that use the whole project.
        let around = || since.around.clone().filter(|_| project.takes_all(index));
        let reason = own.or_else(through).or_else(around);
        found.extend(reason.map(|reason| (index, reason)));
    }
    found
}

fn own_reason(now: &Content, before: &Content, since: &Since, id: &str) -> Option<String> {
    let changed = || {
        let names: BTreeSet<&String> = now.files.keys().chain(before.files.keys()).collect();
        let mut differing = names.into_iter().filter(|name| now.files.get(*name) != before.files.get(*name));
        let first = differing.next()?.clone();
        let more = differing.count();
        Some(if more == 0 { first } else { format!("{first} and {more} more") })
    };
    let settings = || (now.settings != before.settings).then(|| "its configuration".to_owned());
    since.changed.get(id).cloned().or_else(changed).or_else(settings)
}

/// All files below a folder that are not ignored by `.gitignore`, each with a digest. Hidden folders are left out.
pub fn files_below(world: &dyn World, folder: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![(folder.to_owned(), Ignores::above(world, folder))];
    while let Some((folder, inherited)) = folders.pop() {
        let entries = world.list(&folder).unwrap_or_default();
        let ignores = inherited.enter(world, &folder, &entries, &[".gitignore"]);
        for entry in entries.iter().filter(|entry| !entry.name.starts_with('.')) {
            let place = path::join(&folder, &entry.name);
            match entry.kind {
                _ if ignores.hides(&place, entry.kind == FileKind::Folder) => {}
                FileKind::Folder => folders.push((place, ignores.clone())),
                FileKind::File => {
                    let mut digest = Sha256::new();
                    let read = world.read_in_pieces(&place, &mut |_, piece| digest.update(piece));
                    let content = read.map(|()| crate::store::hex(&digest.finalize())).unwrap_or_default();
                    found.insert(place, content);
                }
                _ => {}
            }
        }
    }
    found
}
