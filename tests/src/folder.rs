//! Cases that are folders: inputs as a user would write them, with an `expect/` folder.

use crate::transcript::{environment, in_process, replay, run};
use crate::{Case, Scratch, compare_file};
use std::path::{Path, PathBuf};

/// All case folders below a folder.
pub fn folder_cases(start: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut folders = vec![start.to_owned()];
    while let Some(folder) = folders.pop() {
        if folder.join("expect").is_dir() {
            let name = folder.strip_prefix(start).unwrap_or(&folder).to_string_lossy().replace('\\', "/");
            let place = folder.clone();
            cases.push(Case { name: name.clone(), run: Box::new(move || run_case(&name, &place)) });
            continue;
        }
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        folders.extend(entries.map(|entry| entry.path()).filter(|path| path.is_dir()));
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

fn run_case(name: &str, folder: &Path) -> Result<(), String> {
    let scratch = Scratch::new(name).map_err(|error| error.to_string())?;
    copy_inputs(folder, scratch.path(), true).map_err(|error| error.to_string())?;
    let env = environment(&std::fs::read_to_string(folder.join("expect/env")).unwrap_or_default());
    let mut problems = Vec::new();
    let mut checked = 0;
    for path in expectations(folder) {
        let found = answer(&path, scratch.path(), &env)?;
        checked += 1;
        problems.extend(compare_file(&path, &found).err());
    }
    if checked == 0 {
        problems.push(format!("{} expects nothing", folder.display()));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

fn expectations(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.join("expect")).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| !path.ends_with("env")).collect();
    found.sort();
    found
}

/// Purlin's current answer for the expectation of that name.
fn answer(path: &Path, cwd: &Path, env: &std::collections::BTreeMap<String, String>) -> Result<String, String> {
    let command = |words: &[&str]| run(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), cwd, env);
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match name.as_str() {
        "output.yaml" => Ok(command(&["resolve"]).stdout),
        "output.json" => Ok(command(&["resolve", "-o", "json"]).stdout),
        "manifests.yaml" => Ok(command(&["render"]).stdout),
        "graph.txt" => Ok(command(&["graph"]).stdout),
        "diagnostics.txt" => {
            let ran = command(&["check"]);
            Ok(format!("{}[exit {}]\n", ran.stderr, ran.code))
        }
        _ if name.ends_with(".console") => {
            let session = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
            Ok(replay(&session, cwd, env, in_process))
        }
        other => Err(format!("`expect/{other}` is not an expectation that is known")),
    }
}

fn copy_inputs(from: &Path, to: &Path, top: bool) -> std::io::Result<()> {
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if top && name == "expect" {
            continue;
        }
        let target = to.join(&name);
        let kind = entry.file_type()?;
        if kind.is_dir() {
            std::fs::create_dir_all(&target)?;
            copy_inputs(&entry.path(), &target, false)?;
        } else if kind.is_symlink() {
            #[cfg(unix)]
            std::os::unix::fs::symlink(std::fs::read_link(entry.path())?, &target)?;
        } else {
            std::fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
