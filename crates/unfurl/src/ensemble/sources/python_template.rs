//! Service templates in Python. Running them is not part of resolution, so an installed `unfurl` is asked once for the
//! declarations of a file, if running programs is allowed; its answer is kept by the hash of the file and used from
//! then on.
//!
//! A file without declarations, as `unfurl init` makes it, is read without it.

use crate::rules;
use purlin_syntax::Diagnostic;
use purlin_value::world::Command;
use purlin_value::{Session, WorldError, path};
use sha2::{Digest, Sha256};

/// The folder beside a file for kept answers.
const KEPT: &str = ".purlin/service-templates";
/// Variables that the program gets.
const VARIABLES: &[&str] = &["PATH", "HOME", "PYTHONPATH", "VIRTUAL_ENV"];

/// The YAML equivalent of a Python file, or why it is not known.
pub fn read(session: &Session, file: &str) -> Result<String, String> {
    let source = session.load_bytes(file).map_err(|error| error.reason().to_owned())?;
    let text = String::from_utf8_lossy(&source);
    if declares_nothing(&text) {
        return Ok("{}".to_owned());
    }
    let kept = kept_at(file, &source);
    if let Ok(known) = session.load_bytes(&kept) {
        return Ok(String::from_utf8_lossy(&known).into_owned());
    }
    let answer = ask(session, file)?;
    // Without permission to write, the answer is kept for this run only.
    let _ = session.world.write(&kept, answer.as_bytes());
    Ok(answer)
}

/// The message if it is not known.
pub(in crate::ensemble) fn problem(name: &str, why: &str) -> Diagnostic {
    let message = format!("`{name}` is a service template in Python: {why}");
    Diagnostic::nowhere(&rules::PYTHON, message).hint("add `--allow-exec` to ask an installed `unfurl` for its YAML")
}

/// The file with the kept answer.
fn kept_at(file: &str, source: &[u8]) -> String {
    let name = purlin_value::encoding::hex(&Sha256::digest(source));
    path::join(&path::join(path::parent(file), KEPT), &format!("{name}.yaml"))
}

fn ask(session: &Session, file: &str) -> Result<String, String> {
    let world = &session.world;
    let env = VARIABLES.iter().filter_map(|name| world.env(name).map(|value| ((*name).to_owned(), value)));
    let mut env: Vec<(String, String)> = env.collect();
    env.push(("UNFURL_HOME".to_owned(), String::new()));
    env.push(("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned()));
    let name = path::file_name(file).to_owned();
    let argv = ["unfurl", "--home", "", "--quiet", "export"].map(str::to_owned).into_iter().chain([name]).collect();
    let folder = path::parent(file).to_owned();
    let output = world.run(&Command { argv, env, folder, stdin: Vec::new() }).map_err(|error| match error {
        WorldError::Denied(_) => "running Python is not allowed, so what it declares is not known".to_owned(),
        _ => "`unfurl`, which could tell what it declares, cannot be run".to_owned(),
    })?;
    if output.code != 0 {
        let told = String::from_utf8_lossy(&output.stderr);
        let last = told.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it failed");
        return Err(format!("`unfurl export` failed: {}", last.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a file has only comments, imports and a docstring.
fn declares_nothing(text: &str) -> bool {
    let mut quoted: Option<&str> = None;
    let mut continued = false;
    for line in text.lines().map(str::trim) {
        if let Some(end) = quoted {
            if line.contains(end) {
                quoted = None;
            }
            continue;
        }
        if continued {
            continued = !line.contains(')');
            continue;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(mark) = ["\"\"\"", "'''"].into_iter().find(|mark| line.starts_with(mark)) {
            if line.matches(mark).count() == 1 {
                quoted = Some(mark);
            }
            continue;
        }
        let imports = line.starts_with("import ") || (line.starts_with("from ") && line.contains(" import "));
        if !imports || line.contains(';') {
            return false;
        }
        continued = line.contains('(') && !line.contains(')');
    }
    true
}

#[cfg(test)]
mod tests {
    use super::declares_nothing;

    #[test]
    fn files_without_declarations() {
        assert!(declares_nothing("# a comment\n\nimport tosca\nfrom tosca import (\n  a,\n  b\n)\n"));
        assert!(declares_nothing("\"\"\"What this is.\nMore.\n\"\"\"\n"));
        assert!(!declares_nothing("import tosca\nx = 1\n"));
        assert!(!declares_nothing("import tosca; x = 1\n"));
        assert!(!declares_nothing("class A(tosca.nodes.Root):\n  x: str\n"));
    }
}
