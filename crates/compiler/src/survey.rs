//! Checks a whole tree: every project below a folder by its own dialect, and the syntax of every other YAML and JSON
//! file. This is `check` where the folder itself is no project.

use crate::compile::detect;
use purlin_model::{Dialect, Request};
use purlin_syntax::Flavor;
use purlin_value::Session;
use purlin_value::ignore::Ignores;
use purlin_value::path;
use purlin_value::world::FileKind;

/// What a survey saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survey {
    /// Projects found.
    pub projects: usize,
    /// Nodes of their graphs.
    pub nodes: usize,
    /// Files read.
    pub files: usize,
}

/// Folders that hold no configuration of the user's.
const SKIPPED: &[&str] = &["node_modules", "target", "vendor"];

#[derive(Default)]
struct Found {
    projects: Vec<(String, &'static Dialect)>,
    files: Vec<String>,
}

/// Checks a file or everything below a folder. Flags of the request hold for every project.
pub fn survey(session: &Session, request: &Request) -> Survey {
    let found = match session.world.stat(&request.path).map(|stat| stat.kind) {
        Ok(FileKind::Folder) => find(session, request),
        _ => Found { projects: Vec::new(), files: vec![request.path.clone()] },
    };
    let mut nodes = 0;
    for (path, dialect) in &found.projects {
        let request = Request { path: path.clone(), ..request.clone() };
        nodes += (dialect.resolve)(session, &request).map_or(0, |resolved| resolved.nodes.len());
    }
    let (json, yaml): (Vec<String>, Vec<String>) = found.files.into_iter().partition(|path| ends_with(path, ".json"));
    let loaded = session.read_yaml_files(&yaml, Flavor::Core).into_iter();
    for problem in loaded.chain(json.iter().map(|path| session.read_json(path))).filter_map(Result::err) {
        session.sink.push(problem);
    }
    Survey { projects: found.projects.len(), nodes, files: session.sources.len() }
}

/// All projects and all other YAML and JSON files below a folder, sorted; links are not followed, hidden folders and
/// what `.gitignore` names are left out, and what lies in a project is the project's.
fn find(session: &Session, request: &Request) -> Found {
    let mut found = Found::default();
    let mut folders = vec![(request.path.clone(), Ignores::above(&*session.world, &request.path))];
    while let Some((folder, inherited)) = folders.pop() {
        if folder != request.path
            && let Some(dialect) = detect(session, &Request { path: folder.clone(), ..request.clone() })
        {
            found.projects.push((folder, dialect));
            continue;
        }
        let entries = match session.world.list(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                session.report_world(&error, &folder, None);
                continue;
            }
        };
        let ignores = inherited.enter(&*session.world, &folder, &entries, &[".gitignore"]);
        for entry in entries {
            let place = path::join(&folder, &entry.name);
            let skipped = entry.name.starts_with('.') || SKIPPED.contains(&entry.name.as_str());
            match entry.kind {
                FileKind::File if is_data(&entry.name) && !ignores.hides(&place, false) => found.files.push(place),
                FileKind::Folder if !skipped && !ignores.hides(&place, true) => folders.push((place, ignores.clone())),
                _ => {}
            }
        }
    }
    found.files.sort();
    found.projects.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

fn is_data(name: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|ending| ends_with(name, ending))
}

fn ends_with(path: &str, ending: &str) -> bool {
    path.to_ascii_lowercase().ends_with(ending)
}
