//! Reads every YAML and JSON file of a tree and reports what is wrong with their syntax: `check` where no dialect is
//! at home.

use purlin_syntax::Flavor;
use purlin_value::Session;
use purlin_value::path;
use purlin_value::world::FileKind;

/// What a survey saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survey {
    /// Files read.
    pub files: usize,
    /// Documents in them.
    pub documents: usize,
}

/// Folders that hold no configuration of the user's.
const SKIPPED: &[&str] = &["node_modules", "target", "vendor"];

/// Reads a file or everything below a folder.
pub fn survey(session: &Session, start: &str) -> Survey {
    let files = match session.world.stat(start).map(|stat| stat.kind) {
        Ok(FileKind::Folder) => find(session, start),
        _ => vec![start.to_owned()],
    };
    let mut documents = 0;
    for loaded in session.read_yaml_files(&files, Flavor::Core) {
        match loaded {
            Ok(tree) => documents += tree.roots().len(),
            Err(diagnostic) => session.sink.push(diagnostic),
        }
    }
    Survey { files: files.len(), documents }
}

/// All YAML and JSON files below a folder, sorted; links are not followed, hidden folders are left out.
fn find(session: &Session, start: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![start.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match session.world.list(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                session.report_world(&error, &folder, None);
                continue;
            }
        };
        for entry in entries {
            let place = path::join(&folder, &entry.name);
            match entry.kind {
                FileKind::File if is_data(&entry.name) => found.push(place),
                FileKind::Folder if !entry.name.starts_with('.') && !SKIPPED.contains(&entry.name.as_str()) => {
                    folders.push(place)
                }
                _ => {}
            }
        }
    }
    found.sort();
    found
}

fn is_data(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.ends_with(".yaml") || lower.ends_with(".yml") || lower.ends_with(".json")
}
