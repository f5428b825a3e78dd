//! Patterns of paths below the working directory, as the user writes them.

use purlin_host::named;
use purlin_value::glob::{Glob, Notation};
use std::path::Path;

/// Whether a path is an address of a repository or a file elsewhere.
pub(super) fn is_remote(path: &str) -> bool {
    let hosts = ["github.com/", "github.com:", "git@", "git::", "bitbucket.org/", "gitlab.com/"];
    path.contains("://") || path.contains("?ref=") || hosts.iter().any(|host| path.starts_with(host))
}

/// The names in a folder, sorted, each with whether it is a folder itself. Links are not followed.
pub(super) fn listed(folder: &Path) -> Result<Vec<(String, bool)>, String> {
    let entries = named::list(folder).map_err(|error| format!("could not read `{}`: {error}", folder.display()))?;
    let entry = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.ok()?;
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        Some((entry.file_name().into_string().ok()?, is_folder))
    };
    let mut found: Vec<(String, bool)> = entries.filter_map(entry).collect();
    found.sort();
    Ok(found)
}

/// The paths that a pattern matches, part by part.
pub(super) fn matching(cwd: &Path, pattern: &str) -> Result<Vec<String>, String> {
    let mut found = vec![if pattern.starts_with('/') { "/".to_owned() } else { String::new() }];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        let mut next = Vec::new();
        for folder in &found {
            let joined = |name: &str| match folder.as_str() {
                "" => name.to_owned(),
                "/" => format!("/{name}"),
                folder => format!("{folder}/{name}"),
            };
            if !part.contains(['*', '?', '[', '\\']) {
                next.extend(Some(joined(part)).filter(|path| named::exists(&cwd.join(path))));
                continue;
            }
            let glob = Glob::read(part, Notation::GO).ok_or_else(|| format!("invalid pattern `{pattern}`"))?;
            let names = listed(&cwd.join(folder)).unwrap_or_default();
            next.extend(names.iter().filter(|(name, _)| glob.matches(name)).map(|(name, _)| joined(name)));
        }
        found = next;
    }
    Ok(found)
}

/// The paths that match patterns; a pattern without matches must be an address.
pub(super) fn existing(cwd: &Path, patterns: &[String]) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for pattern in patterns {
        match matching(cwd, pattern)? {
            paths if !paths.is_empty() => found.extend(paths),
            _ if is_remote(pattern) => found.push(pattern.clone()),
            _ => return Err(format!("`{pattern}` has no match")),
        }
    }
    Ok(found)
}
