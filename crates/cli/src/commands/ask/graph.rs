//! `purlin graph`: the nodes and their dependencies, as text, data or a picture.

use crate::args::{GraphDirection, GraphGroup, GraphOutput, GraphPage, GraphTheme, Target, ViewArgs};
use crate::commands::Context;
use crate::commands::resolve::unknown_node;
use crate::commands::status;
use crate::invocation::Exit;
use crate::paint::Answer;
use crate::run_args::ClusterFlags;
use purlin_compiler::picture::{GroupBy, Manners, Marks, Scene, Standing, folders, scene, svg, with_removed};
use purlin_compiler::{Direction, GraphFormat, Page, Theme, View, compile, draw, graph_value, show};
use purlin_model::Resolved;
use purlin_run::past::StateOf;
use purlin_syntax::Span;
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::to_json;
use purlin_value::{Secrets, Session};
use std::io::IsTerminal;
use std::path::Path;

pub(in crate::commands) fn run(
    cx: &mut Context<'_, '_>,
    path: &Path,
    target: &Target,
    (output, asked): (GraphOutput, &ViewArgs),
    out: Option<&Path>,
) -> Result<Exit, Exit> {
    if output == GraphOutput::Html {
        return crate::commands::report::graph_page(cx, path, target, asked.diff.as_deref(), out);
    }
    let Drawn { session, mut resolved, mut marks, exit } = resolve_despite(cx, path, target)?;
    if let Some(revision) = &asked.diff {
        let there = Target { rev: Some(revision.clone()), ..target.clone() };
        let before = resolve_despite(cx, path, &there)?;
        marks.note_changes((&before.session, &before.resolved), (&session, &resolved));
        resolved = with_removed(&resolved, &before.resolved);
    }
    if asked.status {
        for found in status::collect(cx, path, target, &ClusterFlags::default())? {
            if let Some(standing) = standing(&found.state) {
                marks.note_standing(&found.id, standing);
            }
        }
    }
    let view = View {
        focus: asked.focus.clone(),
        depth: asked.depth,
        kinds: asked.kind.clone(),
        dialects: asked.dialect.clone(),
        is_reduced: asked.reduce,
    };
    let Some(shown) = show(&resolved, &view).filter(|_| is_sound(&session, &resolved, asked)) else {
        if let Some(focus) = view.focus.as_deref().filter(|focus| resolved.node(focus).is_none()) {
            session.sink.push(unknown_node(&resolved, focus));
        }
        cx.report(&session);
        return Err(Exit::Invalid);
    };
    let text = |format: GraphFormat| draw(&shown, format);
    let printed = match output {
        GraphOutput::Json => {
            let text = to_json(&graph_value(&shown), Secrets::Hide, JsonLayout::Pretty).map_err(|e| cx.too_long(e))?;
            cx.print(&(text + "\n"), out)
        }
        GraphOutput::Text if out.is_none() => cx.print_answer(&text(GraphFormat::Text), Some(Answer::Graph)),
        GraphOutput::Text => cx.print(&text(GraphFormat::Text), out),
        GraphOutput::Dot => cx.print(&text(GraphFormat::Dot), out),
        GraphOutput::Mermaid => cx.print(&text(GraphFormat::Mermaid), out),
        GraphOutput::Svg | GraphOutput::Png | GraphOutput::Html => {
            let folders = folders(&session, &resolved);
            let manners = Manners {
                direction: direction(asked.direction),
                group_by: asked.group_by.map(group),
                title: title(&resolved, target, asked.date.as_deref()),
                folder: &|node| folders.get(&node.id).cloned().unwrap_or_else(|| ".".to_owned()),
                mark: &|id| marks.of(id),
                ..Manners::default()
            };
            picture(cx, &scene(&shown, &manners), output, asked, out)
        }
    };
    Ok(crate::commands::check::worse(printed, exit))
}

/// A project as far as it could be resolved, and information about its nodes.
struct Drawn {
    session: Session,
    resolved: Resolved,
    marks: Marks,
    /// The exit code of its problems.
    exit: Exit,
}

/// Resolves a project and prints its problems. The result is drawn even if it is incomplete.
fn resolve_despite(cx: &mut Context<'_, '_>, path: &Path, target: &Target) -> Result<Drawn, Exit> {
    let (session, mut request) = cx.open(path, target, &[])?;
    "resolve".clone_into(&mut request.command);
    let compiled = compile(&session, &request);
    if let Some(compiled) = &compiled {
        cx.refuse_undeclared(&session, Some(&compiled.resolved), &target.var, "")?;
        cx.refuse_pending(&session, &target.pending)?;
    }
    let found = session.sink.take();
    let errors: Vec<Span> =
        found.iter().filter(|problem| problem.is_error()).filter_map(|problem| problem.span).collect();
    session.sink.extend(found);
    let exit = cx.report(&session);
    let Some(compiled) = compiled else { return Err(crate::commands::check::worse(Exit::Invalid, exit)) };
    let mut marks = Marks::default();
    marks.note_errors(&compiled.resolved, &errors);
    Ok(Drawn { session, resolved: compiled.resolved, marks, exit })
}

/// The title of a picture.
fn title(resolved: &Resolved, target: &Target, date: Option<&str>) -> Vec<String> {
    let environment = Some(resolved.environment.to_string()).filter(|name| !name.is_empty());
    let profiles = (!target.profile.is_empty()).then(|| target.profile.join(", "));
    let parts = [Some(resolved.project.to_string()), environment, profiles, date.map(str::to_owned)];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect()
}

fn picture(cx: &mut Context<'_, '_>, scene: &Scene, output: GraphOutput, asked: &ViewArgs, out: Option<&Path>) -> Exit {
    let page = match asked.page {
        None => Page::Own,
        Some(GraphPage::A4) => Page::A4,
        Some(GraphPage::Slide) => Page::Slide,
    };
    if output == GraphOutput::Svg {
        let theme = match asked.theme {
            GraphTheme::Auto => Theme::Auto,
            GraphTheme::Light => Theme::Light,
            GraphTheme::Dark => Theme::Dark,
        };
        return cx.print(&svg(scene, theme, page), out);
    }
    match purlin_explore::png(scene, asked.theme == GraphTheme::Dark, page) {
        Ok(bytes) => cx.print_bytes(&bytes, out),
        Err(why) => cx.usage(&format!("could not draw the picture: {why}")),
    }
}

impl Context<'_, '_> {
    /// Prints binary data to a file or a pipe.
    fn print_bytes(&mut self, bytes: &[u8], out: Option<&Path>) -> Exit {
        match out {
            Some(path) => self.write_file(path, bytes),
            None if self.invocation.last && std::io::stdout().is_terminal() => {
                self.usage("a PNG is not printed to a terminal: add `--out FILE`")
            }
            None => self.invocation.print(bytes),
        }
    }
}

fn direction(asked: GraphDirection) -> Direction {
    match asked {
        GraphDirection::Right => Direction::Right,
        GraphDirection::Left => Direction::Left,
        GraphDirection::Down => Direction::Down,
        GraphDirection::Up => Direction::Up,
    }
}

fn group(asked: GraphGroup) -> GroupBy {
    match asked {
        GraphGroup::Folder => GroupBy::Folder,
        GraphGroup::Dialect => GroupBy::Dialect,
        GraphGroup::Kind => GroupBy::Kind,
    }
}

/// The mark for a state in a picture; `None` for a state that was not determined.
fn standing(state: &StateOf) -> Option<Standing> {
    match state {
        StateOf::Done => Some(Standing::Done),
        StateOf::Outdated(_) => Some(Standing::Outdated),
        StateOf::Failed(_) => Some(Standing::Failed),
        StateOf::Running => Some(Standing::Running),
        StateOf::NeverRun | StateOf::Waits(_) => Some(Standing::New),
        StateOf::Disabled | StateOf::Unknown(_) => None,
    }
}

/// Checks that the requested kinds and dialects exist. A misspelt one would show an empty graph.
fn is_sound(session: &Session, resolved: &Resolved, asked: &ViewArgs) -> bool {
    let kinds: Vec<&str> =
        resolved.nodes.iter().flat_map(|node| [node.kind.as_str(), node.type_name.as_str()]).collect();
    let dialects: Vec<&str> = resolved.nodes.iter().map(|node| node.dialect).collect();
    let wrong = |what: &str, known: &[&str], name: &String| {
        let is_known = known.iter().any(|known| known.eq_ignore_ascii_case(name));
        if !is_known {
            let hint = purlin_syntax::suggest::did_you_mean(name, known.iter().copied());
            let message = format!("no node of this project has the {what} `{name}`");
            let rule = &purlin_compiler::rules::UNKNOWN_NODE;
            session.sink.push(purlin_syntax::Diagnostic::nowhere(rule, message).maybe_hint(hint));
        }
        !is_known
    };
    let wrong_kinds = asked.kind.iter().filter(|name| wrong("kind or type", &kinds, name)).count();
    let wrong_dialects = asked.dialect.iter().filter(|name| wrong("dialect", &dialects, name)).count();
    wrong_kinds + wrong_dialects == 0
}
