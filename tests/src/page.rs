//! Cases that are pages: files and console sessions in fenced blocks, with prose between them.
//!
//! A block whose info string has a second word is a file of that name; a `console` block is a session. In `tests/suite`
//! each `##` section starts with no files and is a separate case; a page of `docs` is one case, because its files are
//! kept to the end.

use crate::transcript::{Player, environment, in_process, in_shell, replay};
use crate::{Case, Scratch, difference, updating};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// All pages of the suite, one case for each section that has a console session.
pub fn section_cases(start: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, path) in pages(start) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for section in sections(&text).into_iter().filter(|section| has_session(section)) {
            let name = format!("{name} § {}", title(section));
            let case = name.clone();
            let (section, path) = (section.to_owned(), path.clone());
            let run = move || run_part(&name, &path, &section);
            cases.push(Case { name: case, run: Box::new(run) });
        }
    }
    cases
}

/// The files of each section of the pages below a folder, for sections with files.
pub fn section_files(start: &Path) -> Vec<BTreeMap<String, String>> {
    let mut found = Vec::new();
    for (_, path) in pages(start) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        found.extend(sections(&text).into_iter().map(files_of).filter(|files| !files.is_empty()));
    }
    found
}

fn files_of(section: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut lines = section.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else { continue };
        let body: String = lines.by_ref().take_while(|line| *line != "```").flat_map(|line| [line, "\n"]).collect();
        if let Some((_, file)) = info.split_once(' ') {
            files.insert(file.trim().to_owned(), body);
        }
    }
    files
}

/// All pages below a folder that have a console session, one case each.
pub fn page_cases(start: &Path, prefix: &str) -> Vec<Case> {
    let with_text = pages(start).into_iter().map(|(name, path)| (name, std::fs::read_to_string(&path), path));
    let case = |(name, text, path): (String, std::io::Result<String>, PathBuf)| {
        let text = text.ok().filter(|text| has_session(text))?;
        let name = format!("{prefix}{name}");
        let case = name.clone();
        Some(Case { name: case, run: Box::new(move || run_part(&name, &path, &text)) })
    };
    with_text.filter_map(case).collect()
}

/// The pages below a folder as a reader follows them: every command in a real shell, with only these environment
/// variables. The output must match the page.
pub fn walk_cases(start: &Path, prefix: &str, env: &BTreeMap<String, String>) -> Vec<Case> {
    let case = |(name, path): (String, PathBuf)| {
        let text = std::fs::read_to_string(&path).ok().filter(|text| has_session(text))?;
        let (name, env) = (format!("{prefix}{name}"), env.clone());
        let run = move || match replay_part(&format!("walk {}", path.display()), &text, &env, in_shell)? {
            found if found == text => Ok(()),
            found => Err(difference(&path.display().to_string(), &text, &found)),
        };
        Some(Case { name, run: Box::new(run) })
    };
    pages(start).into_iter().filter_map(case).collect()
}

/// The Markdown files below a folder with their relative paths, sorted.
fn pages(start: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let mut folders = vec![start.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                let name = path.strip_prefix(start).unwrap_or(&path).to_string_lossy().into_owned();
                found.push((name, path));
            }
        }
    }
    found.sort();
    found
}

fn has_session(text: &str) -> bool {
    text.contains("```console\n")
}

/// A page in pieces: the part before the first `## ` heading, and one piece for each heading. Joined, they are the page
/// again. A line in a fenced block is not a heading.
fn sections(text: &str) -> Vec<&str> {
    let mut starts = vec![0];
    let (mut at, mut in_block) = (0, false);
    for line in text.split_inclusive('\n') {
        if line.starts_with("```") {
            in_block = !in_block;
        } else if line.starts_with("## ") && !in_block {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).filter_map(|(&start, end)| text.get(start..end)).collect()
}

fn title(section: &str) -> &str {
    let first = section.lines().next().unwrap_or("");
    first.trim_start_matches('#').trim()
}

/// The failing commands of a page.
fn failing(page: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut command = "";
    for line in page.lines() {
        if line.starts_with("$ ") {
            command = line;
        } else if line.starts_with("[exit ") {
            found.push(command);
        }
    }
    found
}

/// Runs a part of a page: a section, or all of it. `UPDATE=1` does not record an unexpected failure: to expect one,
/// write `[exit N]` below the command first.
fn run_part(name: &str, path: &Path, part: &str) -> Result<(), String> {
    let found = replay_part(name, part, &environment(""), in_process)?;
    if found == part {
        return Ok(());
    }
    let meant = failing(part);
    let surprise = failing(&found).into_iter().find(|command| !meant.contains(command));
    if let Some(command) = surprise {
        let shown = difference(&path.display().to_string(), part, &found);
        return Err(format!("{shown}  (`{command}` fails; if it is meant to, write `[exit N]` below it)"));
    }
    if updating() {
        return rewrite(path, part, &found).map_err(|error| error.to_string());
    }
    Err(difference(&path.display().to_string(), part, &found) + "  (UPDATE=1 rewrites it)")
}

/// Writes a part back to its page. Other sections of the page are rewritten at the same time.
fn rewrite(path: &Path, part: &str, found: &str) -> std::io::Result<()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let text = std::fs::read_to_string(path)?;
    std::fs::write(path, text.replacen(part, found, 1))
}

fn replay_part(name: &str, text: &str, env: &BTreeMap<String, String>, player: Player) -> Result<String, String> {
    let io = |error: std::io::Error| error.to_string();
    let scratch = Scratch::new(name).map_err(io)?;
    let mut shown = false;
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else { continue };
        let mut body = String::new();
        for line in lines.by_ref().take_while(|line| *line != "```") {
            body.push_str(line);
            body.push('\n');
        }
        let body = match info.split_once(' ') {
            None if info == "console" => {
                let session = replay(&body, scratch.path(), env, player);
                shown |= session.lines().any(shows_something);
                session
            }
            Some((_, file)) => {
                let place = scratch.path().join(file.trim());
                std::fs::create_dir_all(place.parent().unwrap_or(scratch.path())).map_err(io)?;
                std::fs::write(place, &body).map_err(io)?;
                body
            }
            None => body,
        };
        out.push_str(&body);
        out.push_str("```\n");
    }
    if !shown {
        return Err("no command of it shows anything, so it can never fail".to_owned());
    }
    Ok(out)
}

/// Whether a line of a session is an answer that could be wrong.
fn shows_something(line: &str) -> bool {
    !line.starts_with("$ ") && !line.starts_with("checked 0 files")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_its_sections() {
        let page = "# Page\n\ntext\n\n## One\n```text\n## not a heading\n```\n## Two\n";
        assert_eq!(sections(page).concat(), page);
        assert_eq!(sections(page).into_iter().map(title).collect::<Vec<_>>(), ["Page", "One", "Two"]);
    }

    #[test]
    fn a_session_must_show_something() {
        let page = "## Empty\n```console\n$ purlin resolve nothing-of-this-name --out x -q\n```\n";
        assert!(replay_part("a", page, &environment(""), in_process).is_ok(), "an error is an answer");
        assert!(replay_part("a", "## None\n```console\n```\n", &environment(""), in_process).is_err());
    }
}
