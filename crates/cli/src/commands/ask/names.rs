//! `purlin names`: names in the project of the working directory, one per line. Used by completion scripts, so it never
//! reports problems.

use crate::args::{NameKind, Target};
use crate::commands::Context;
use crate::invocation::Exit;
use purlin_compiler::{compile, detect};
use purlin_model::Detection;
use purlin_syntax::Flavor;
use purlin_value::{Session, path};
use std::path::Path;

pub(in crate::commands) fn run(cx: &mut Context<'_, '_>, kind: NameKind, folder: &Path) -> Exit {
    let mut names = Vec::new();
    if let Ok((session, request)) = cx.open_any(folder, &Target::default(), &[]) {
        names = match (kind, detect(&session, &request)) {
            (NameKind::Nodes, Detection::Project(..)) => {
                let compiled = compile(&session, &request);
                let nodes = compiled.map(|compiled| compiled.resolved.nodes).unwrap_or_default();
                nodes.iter().map(|node| node.id.to_string()).collect()
            }
            (NameKind::Environments, Detection::Project(file, _)) => {
                let beside = path::join(path::parent(&file), "unfurl.yaml");
                let mut found = listed(&session, &file, "environments");
                found.extend(listed(&session, &beside, "environments").into_iter().filter(|_| beside != file));
                found
            }
            (NameKind::Profiles, Detection::Project(file, _)) => listed(&session, &file, "profiles"),
            (_, _) => Vec::new(),
        };
    }
    names.sort();
    names.dedup();
    let text: String = names.iter().map(|name| format!("{name}\n")).collect();
    cx.print(&text, None);
    Exit::Ok
}

/// The names under a top-level key of a file: those of a mapping, or the `name` of each item of a list.
fn listed(session: &Session, file: &str, key: &str) -> Vec<String> {
    let Ok(tree) = session.read_yaml(file, Flavor::Core) else { return Vec::new() };
    let mut names = Vec::new();
    for node in tree.roots().filter_map(|root| root.get(key)) {
        names.extend(node.entries().map(|entry| entry.key.text().to_owned()));
        let item = |item: purlin_syntax::Node<'_>| item.get("name").unwrap_or(item).text().to_owned();
        names.extend(node.items().map(item).filter(|name| !name.is_empty()));
    }
    names
}
