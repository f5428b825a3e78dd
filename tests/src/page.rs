//! Cases that are pages: files and console sessions in fenced blocks, with prose between them.
//!
//! A block whose info string has a second word is a file of that name; a `console` block is a session. In
//! `tests/suite` each `##` section starts with no files; in `docs` the files of a page stay.

use crate::transcript::{environment, replay};
use crate::{Case, Scratch, difference, updating};
use std::path::{Path, PathBuf};

/// How long files live.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lifetime {
    /// Until the next `##`.
    Section,
    /// To the end of the page.
    Page,
}

/// All pages below a folder that have a console session.
pub fn page_cases(start: &Path, prefix: &str) -> Vec<Case> {
    let lifetime = if prefix.is_empty() { Lifetime::Section } else { Lifetime::Page };
    let mut cases = Vec::new();
    let mut folders = vec![start.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") && has_session(&path) {
                let name = format!("{prefix}{}", path.strip_prefix(start).unwrap_or(&path).to_string_lossy());
                cases.push(Case { name: name.clone(), run: Box::new(move || run_page(&name, &path, lifetime)) });
            }
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

fn has_session(path: &PathBuf) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| text.contains("```console\n"))
}

fn run_page(name: &str, path: &Path, lifetime: Lifetime) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let found = replay_page(name, &text, lifetime)?;
    if found == text {
        return Ok(());
    }
    if updating() {
        return std::fs::write(path, found).map_err(|error| error.to_string());
    }
    Err(difference(&path.display().to_string(), &text, &found) + "  (UPDATE=1 rewrites it)")
}

fn replay_page(name: &str, text: &str, lifetime: Lifetime) -> Result<String, String> {
    let io = |error: std::io::Error| error.to_string();
    let mut scratch = Scratch::new(name).map_err(io)?;
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        if lifetime == Lifetime::Section && line.starts_with("## ") {
            drop(scratch);
            scratch = Scratch::new(name).map_err(io)?;
        }
        let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else { continue };
        let mut body = String::new();
        for line in lines.by_ref().take_while(|line| *line != "```") {
            body.push_str(line);
            body.push('\n');
        }
        let body = match info.split_once(' ') {
            None if info == "console" => replay(&body, scratch.path(), &environment("")),
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
    Ok(out)
}
