//! `purlin rename`: renames a symbol everywhere it is used and nowhere else.
//!
//! `purlin_ide` computes the edits and checks whether they are allowed; nothing is written unless all edits are.

use crate::args::Target;
use crate::border::write_atomically;
use crate::commands::Context;
use crate::commands::editor::{Editor, shown};
use crate::commands::files::{difference, plural};
use crate::invocation::Exit;
use purlin_ide::{Point, Refusal, Renamed, apply};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The symbol to rename.
enum What {
    /// The symbol at a location: file, line, and column if given.
    At(PathBuf, u32, Option<u32>),
    /// The symbol of a name.
    Name(String),
}

pub(in crate::commands) fn run(
    cx: &mut Context<'_, '_>,
    what: &str,
    new: &str,
    path: &Path,
    dry_run: bool,
) -> Result<Exit, Exit> {
    let what = parse(what);
    let named = match &what {
        What::At(file, ..) => file.as_path(),
        What::Name(_) => path,
    };
    let editor = Editor::open_from(cx, named, &Target::default(), true)?;
    let renamed = match &what {
        What::At(_, line, column) => at(&editor, *line, *column, new),
        What::Name(name) => called(&editor, name, new),
    };
    match renamed {
        Ok(renamed) => write(cx, &editor, &renamed, new, dry_run),
        Err(refusal) => {
            let place = refusal.place.map(|place| format!("{}: ", shown(&editor.seen(&place)))).unwrap_or_default();
            Err(cx.invocation.refuse(&format!("{place}{}", refusal.message), Exit::Invalid))
        }
    }
}

/// `FILE:LINE`, `FILE:LINE:COLUMN`, or a name.
fn parse(text: &str) -> What {
    let number = |part: &str| part.parse::<u32>().ok().filter(|number| *number > 0);
    let parts: Vec<&str> = text.rsplitn(3, ':').collect();
    match parts.as_slice() {
        [column, line, file] if number(column).is_some() && number(line).is_some() => {
            What::At(PathBuf::from(file), number(line).unwrap_or(1), number(column))
        }
        [line, rest @ ..] if number(line).is_some() && !rest.is_empty() => {
            let file: Vec<&str> = rest.iter().rev().copied().collect();
            What::At(PathBuf::from(file.join(":")), number(line).unwrap_or(1), None)
        }
        _ => What::Name(text.to_owned()),
    }
}

/// Renames the symbol at a location; without a column, the only one that the line declares, or the only one in it.
fn at(editor: &Editor, line: u32, column: Option<u32>, new: &str) -> Result<Renamed, Refusal> {
    if let Some(column) = column {
        let offset = editor.offset_of(line, column);
        return editor.ide.rename(&editor.path, offset, new);
    }
    let starts = editor.ide.names_on_line(&editor.path, line - 1);
    match starts.as_slice() {
        [] => Err(Refusal { message: "there is no name on this line that can be renamed".into(), place: None }),
        [one] => editor.ide.rename(&editor.path, one.bytes.0 as usize, new),
        several => {
            let columns: Vec<String> = several.iter().map(|place| column_of(place.start).to_string()).collect();
            let message = format!("there are several names on this line; add a column: {}", columns.join(", "));
            Err(Refusal { message, place: None })
        }
    }
}

fn column_of(point: Point) -> u32 {
    point.column + 1
}

fn called(editor: &Editor, name: &str, new: &str) -> Result<Renamed, Refusal> {
    let (projects, found) = editor.ide.called(name);
    match <[_; 1]>::try_from(found) {
        Ok([one]) => editor.ide.rename_to(projects, one, new),
        Err(none) if none.is_empty() => {
            Err(Refusal { message: format!("nothing here is called `{name}`"), place: None })
        }
        Err(several) => {
            let places: Vec<String> =
                several.iter().map(|one| shown(&editor.seen(&purlin_ide::place_of(one)))).collect();
            let message =
                format!("several things are called `{name}`; name one by its location: {}", places.join(", "));
            Err(Refusal { message, place: None })
        }
    }
}

fn write(cx: &mut Context<'_, '_>, editor: &Editor, renamed: &Renamed, new: &str, dry_run: bool) -> Result<Exit, Exit> {
    let files: BTreeSet<&str> = renamed.edits.iter().map(|edit| edit.place.file.as_str()).collect();
    for file in &files {
        let old = editor.ide.text(file).unwrap_or_default();
        let text = apply(&renamed.edits, file, &old);
        let name = editor.names.shown(file);
        if dry_run {
            cx.print(&difference(&name, &old, &text), None);
        } else {
            let path = Path::new(&editor.root).join(file);
            write_atomically(&path, text.as_bytes())
                .map_err(|error| cx.io(&format!("could not write `{name}`: {error}")))?;
        }
    }
    let (count, files) = (plural(renamed.edits.len(), "place"), plural(files.len(), "file"));
    let verb = if dry_run { "would be renamed" } else { "renamed" };
    let (kind, old) = (renamed.kind, &renamed.old);
    let _ = writeln!(cx.invocation.stderr, "{kind} `{old}` {verb} to `{new}`: {count} in {files}");
    Ok(Exit::Ok)
}
