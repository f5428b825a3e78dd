//! `purlin garden create project`: a file that begins a project.

use super::{Flags, usage};
use crate::border::write_atomically;
use crate::invocation::{Exit, Invocation};
use purlin_host::named;

/// The name of the file.
const FILE: &str = "project.garden.yml";

/// Writes the file; one that exists is left alone.
pub(super) fn project(invocation: &mut Invocation<'_>, flags: &Flags) -> Result<Exit, Exit> {
    if flags.interactive == Some(true) {
        return Err(usage(
            invocation,
            "`--interactive` is not supported by Purlin; the name is that of the folder, or `--name`",
        ));
    }
    let folder = invocation.cwd.join(flags.dir.as_deref().unwrap_or("."));
    let shown = flags.filename.as_deref().unwrap_or(FILE);
    let full = folder.join(shown);
    if !named::is_folder(&folder) {
        let message = format!("`{}` is not a folder", flags.dir.as_deref().unwrap_or("."));
        return Err(usage(invocation, &message));
    }
    let own = named::canonical(&folder).ok();
    let of_folder = own.and_then(|full| Some(full.file_name()?.to_string_lossy().into_owned()));
    let name = flags.names.last().cloned().unwrap_or_else(|| identifier(&of_folder.unwrap_or_default()));
    if name != identifier(&name) {
        let message =
            format!("`--name {name}`: expected lowercase letters, digits and single dashes, beginning with a letter");
        return Err(usage(invocation, &message));
    }
    let existing = named::read_text(&full, named::LARGEST).unwrap_or_default();
    if named::exists(&full) && existing.lines().any(|line| line.trim_end() == "kind: Project") {
        return Err(invocation.refuse(&format!("`{shown}` has a project already"), Exit::Other(1)));
    }
    let text = format!(
        "apiVersion: garden.io/v2\nkind: Project\nname: {name}\ndefaultEnvironment: local\nenvironments:\n  - name: local\n\
         providers:\n  - name: exec\n"
    );
    let whole = match existing.trim() {
        "" => text,
        _ => format!("{text}---\n{existing}"),
    };
    write_atomically(&full, whole.as_bytes())
        .map_err(|error| invocation.refuse(&format!("could not write `{shown}`: {error}"), Exit::Io))?;
    Ok(invocation.print(&format!("wrote the project `{name}` to {shown}\n")))
}

/// A text as Garden allows names: what is not allowed becomes a dash.
fn identifier(text: &str) -> String {
    let mut name = String::new();
    for c in text.to_ascii_lowercase().chars() {
        match c {
            'a'..='z' => name.push(c),
            '0'..='9' if !name.is_empty() => name.push(c),
            _ if !name.is_empty() && !name.ends_with('-') => name.push('-'),
            _ => {}
        }
    }
    let name: String = name.trim_end_matches('-').chars().take(63).collect();
    if name.is_empty() { "project".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_folders() {
        for (folder, name) in
            [("My Shop", "my-shop"), ("42", "project"), ("a__b-", "a-b"), ("", "project"), ("x1", "x1")]
        {
            assert_eq!(identifier(folder), name);
        }
    }
}
