//! `purlin symbols`, `refs`, `complete`, `hover` and `definition`: features of the language server, for scripts.

use crate::args::{AnswerFormat, Target};
use crate::commands::Context;
use crate::invocation::Exit;
use crate::paint::Answer;
use crate::project;
use purlin_ide::{Buffers, Choice, Desk, Ide, Place, Symbol, Workspace, offset_chars};
use purlin_syntax::Sources;
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::to_json;
use purlin_value::{EcoString, Map, Secrets, Value, World, path};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The projects of a path, resolved as for an editor.
pub(in crate::commands) struct Editor {
    pub(in crate::commands) ide: Ide,
    /// The path that was named, from the world's root.
    pub(in crate::commands) path: String,
    /// Names of files as seen from the working directory.
    pub(in crate::commands) names: Arc<Sources>,
    /// The folder that paths start from.
    pub(in crate::commands) root: String,
}

impl Editor {
    /// Opens the working directory, so that a file is seen with the project around it; a path outside of it is opened
    /// by itself.
    pub(in crate::commands) fn open(cx: &mut Context<'_, '_>, named: &Path, target: &Target) -> Result<Editor, Exit> {
        Self::open_from(cx, named, target, false)
    }

    /// The same; if `is_wide`, with all projects of the repository, since any of them may use a name.
    pub(in crate::commands) fn open_from(
        cx: &mut Context<'_, '_>,
        named: &Path,
        target: &Target,
        is_wide: bool,
    ) -> Result<Editor, Exit> {
        let is_below = named.is_relative() && !named.starts_with("..");
        let (session, request) = cx.open(if is_below { Path::new(".") } else { named }, target, &[])?;
        let path = match is_below {
            true => project::named(cx.invocation, &session, &named.to_string_lossy()),
            false => request.path.clone(),
        };
        if let Err(error) = session.world.stat(&path) {
            return Err(cx.io(&format!("cannot open `{}`: {}", named.display(), error.reason())));
        }
        let buffers = Arc::new(Buffers::default());
        let desk = Arc::new(Desk::new(session.world.clone(), buffers.clone()));
        let around = if is_below { project::named(cx.invocation, &session, ".") } else { path.clone() };
        let start = if is_wide { around } else { start(&*desk, &path) };
        let mut workspace = Workspace::new(desk.clone(), &start, session.limits.clone());
        workspace.choose(Choice { environment: request.environment.clone(), profiles: request.profiles.clone() });
        let ide = Ide::new(desk, buffers.clone(), session.limits.clone());
        if let Some(picture) = workspace.refresh(&[], &buffers, &|| false) {
            ide.show(picture);
        }
        Ok(Editor { ide, path, names: session.sources.clone(), root: session.world.root().to_owned() })
    }

    /// A location with the file name as the user sees it.
    pub(in crate::commands) fn seen(&self, place: &Place) -> Place {
        Place { file: self.names.shown(&place.file), ..place.clone() }
    }

    /// Opens a file at a location, returned as a byte offset.
    fn open_at(cx: &mut Context<'_, '_>, at: &str, target: &Target) -> Result<(Editor, usize), Exit> {
        let at = parse(cx, at)?;
        let editor = Editor::open(cx, &at.file, target)?;
        let offset = editor.offset_of(at.line, at.column);
        Ok((editor, offset))
    }

    /// The byte offset of a line and column, both from 1.
    pub(in crate::commands) fn offset_of(&self, line: u32, column: u32) -> usize {
        let text = self.ide.text(&self.path).unwrap_or_default();
        offset_chars(&text, line.saturating_sub(1), column.saturating_sub(1))
    }
}

/// A template belongs to its chart, which is what must be resolved.
fn start(world: &dyn World, named: &str) -> String {
    let mut folder = path::parent(named);
    if named.contains("/templates/") || named.starts_with("templates/") {
        while folder != "." && !world.exists(&path::join(folder, "Chart.yaml")) {
            folder = path::parent(folder);
        }
        return folder.to_owned();
    }
    named.to_owned()
}

/// `FILE:LINE:COLUMN`.
struct At {
    file: PathBuf,
    line: u32,
    column: u32,
}

fn parse(cx: &mut Context<'_, '_>, text: &str) -> Result<At, Exit> {
    let mut parts = text.rsplitn(3, ':');
    let mut number = || parts.next().and_then(|part| part.parse::<u32>().ok()).filter(|number| *number > 0);
    let (column, line) = (number(), number());
    match (parts.next(), line, column) {
        (Some(file), Some(line), Some(column)) => Ok(At { file: PathBuf::from(file), line, column }),
        _ => Err(cx.usage(&format!("`{text}` is not FILE:LINE:COLUMN, counted from 1"))),
    }
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::map(members.into_iter().map(|(key, value)| (EcoString::from(key), value)).collect::<Map>())
}

fn place_value(place: &Place) -> Value {
    let point = |point: purlin_ide::Point| {
        object([("line", Value::from(i64::from(point.line) + 1)), ("column", Value::from(i64::from(point.column) + 1))])
    };
    object([("file", Value::str(place.file.as_str())), ("start", point(place.start)), ("end", point(place.end))])
}

pub(in crate::commands) fn shown(place: &Place) -> String {
    format!("{}:{}:{}", place.file, place.start.line + 1, place.start.column + 1)
}

fn symbol_value(editor: &Editor, symbol: &Symbol) -> [(&'static str, Value); 3] {
    [
        ("name", Value::str(symbol.name.as_str())),
        ("kind", Value::str(symbol.kind)),
        ("place", place_value(&editor.seen(&symbol.place))),
    ]
}

fn print(
    cx: &mut Context<'_, '_>,
    output: AnswerFormat,
    (text, answer): (String, Option<Answer>),
    value: Value,
) -> Exit {
    match output {
        AnswerFormat::Text => cx.print_answer(&text, answer),
        AnswerFormat::Json => {
            let json = to_json(&value, Secrets::Hide, JsonLayout::Compact).unwrap_or_default();
            cx.print(&format!("{json}\n"), None)
        }
    }
}

pub(in crate::commands) fn symbols(
    cx: &mut Context<'_, '_>,
    named: &Path,
    query: Option<&str>,
    target: &Target,
    output: AnswerFormat,
) -> Result<Exit, Exit> {
    let editor = Editor::open(cx, named, target)?;
    let symbols = editor.ide.workspace_symbols(query.unwrap_or(""));
    let text =
        symbols.iter().map(|one| format!("{} {} {}\n", shown(&editor.seen(&one.place)), one.kind, one.name)).collect();
    let value = Value::list(symbols.iter().map(|one| object(symbol_value(&editor, one))).collect());
    Ok(print(cx, output, (text, Some(Answer::Places)), object([("symbols", value)])))
}

pub(in crate::commands) fn refs(
    cx: &mut Context<'_, '_>,
    name: &str,
    named: &Path,
    target: &Target,
    output: AnswerFormat,
) -> Result<Exit, Exit> {
    let editor = Editor::open(cx, named, target)?;
    let found = editor.ide.references_of(name);
    let text = found.iter().map(|(one, declared)| {
        let what = if *declared { "declares" } else { "mentions" };
        format!("{} {what} {} {}\n", shown(&editor.seen(&one.place)), one.kind, one.name)
    });
    let text = text.collect();
    let value = found.iter().map(|(one, declared)| {
        let [name, kind, place] = symbol_value(&editor, one);
        object([name, kind, ("declaration", Value::from(*declared)), place])
    });
    let value = Value::list(value.collect());
    let exit = print(cx, output, (text, Some(Answer::Places)), object([("references", value)]));
    Ok(if found.is_empty() && exit == Exit::Ok { Exit::Invalid } else { exit })
}

pub(in crate::commands) fn complete(
    cx: &mut Context<'_, '_>,
    at: &str,
    target: &Target,
    output: AnswerFormat,
) -> Result<Exit, Exit> {
    let (editor, offset) = Editor::open_at(cx, at, target)?;
    let proposals = editor.ide.complete(&editor.path, offset);
    let line = |one: &purlin_ide::Proposal| {
        let about =
            [one.detail.as_str(), one.doc.as_str()].iter().filter(|text| !text.is_empty()).copied().collect::<Vec<_>>();
        format!("{:<24} {:<8} {}", one.text, one.kind.word(), about.join(" — ")).trim_end().to_owned() + "\n"
    };
    let text = proposals.iter().map(line).collect();
    let value = proposals.iter().map(|one| {
        object([
            ("text", Value::str(one.text.as_str())),
            ("kind", Value::str(one.kind.word())),
            ("detail", Value::str(one.detail.as_str())),
            ("documentation", Value::str(one.doc.as_str())),
            ("deprecated", Value::from(one.deprecated)),
            ("replaces", place_value(&editor.seen(&one.place))),
        ])
    });
    let value = Value::list(value.collect());
    Ok(print(cx, output, (text, None), object([("proposals", value)])))
}

pub(in crate::commands) fn hover(
    cx: &mut Context<'_, '_>,
    at: &str,
    target: &Target,
    output: AnswerFormat,
) -> Result<Exit, Exit> {
    let (editor, offset) = Editor::open_at(cx, at, target)?;
    let Some(hover) = editor.ide.hover(&editor.path, offset) else {
        return Ok(print(
            cx,
            output,
            (String::new(), None),
            object([("text", Value::null()), ("place", Value::null())]),
        ));
    };
    let value = object([("text", Value::str(hover.text.as_str())), ("place", place_value(&editor.seen(&hover.place)))]);
    Ok(print(cx, output, (format!("{}\n", hover.text), None), value))
}

pub(in crate::commands) fn definition(
    cx: &mut Context<'_, '_>,
    at: &str,
    target: &Target,
    output: AnswerFormat,
) -> Result<Exit, Exit> {
    let (editor, offset) = Editor::open_at(cx, at, target)?;
    let places = editor.ide.definition(&editor.path, offset);
    let places: Vec<Place> = places.iter().map(|place| editor.seen(place)).collect();
    let text = places.iter().map(|place| format!("{}\n", shown(place))).collect();
    let value = Value::list(places.iter().map(place_value).collect());
    let exit = print(cx, output, (text, Some(Answer::Places)), object([("definitions", value)]));
    Ok(if places.is_empty() && exit == Exit::Ok { Exit::Invalid } else { exit })
}
