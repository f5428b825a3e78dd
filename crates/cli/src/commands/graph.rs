//! `purlin graph`.

use super::Context;
use super::resolve::{compile_or_report, unknown_node};
use crate::args::{GraphOutput, GraphTheme, Target, ViewArgs};
use crate::invocation::Exit;
use crate::paint::Answer;
use purlin_compiler::{GraphFormat, Theme, View, draw, graph_value, show};
use purlin_model::Resolved;
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::to_json;
use purlin_value::{Secrets, Session};
use std::path::Path;

pub(super) fn run(
    cx: &mut Context<'_, '_>,
    path: &Path,
    target: &Target,
    (output, asked): (GraphOutput, &ViewArgs),
    out: Option<&Path>,
) -> Result<Exit, Exit> {
    let (session, compiled) = compile_or_report(cx, path, &[], target)?;
    let view = View {
        focus: asked.focus.clone(),
        depth: asked.depth,
        kinds: asked.kind.clone(),
        dialects: asked.dialect.clone(),
        is_reduced: asked.reduce,
    };
    let Some(shown) = show(&compiled.resolved, &view).filter(|_| is_sound(&session, &compiled.resolved, asked)) else {
        if let Some(focus) = view.focus.as_deref().filter(|focus| compiled.resolved.node(focus).is_none()) {
            session.sink.push(unknown_node(&compiled.resolved, focus));
        }
        cx.report(&session);
        return Err(Exit::Invalid);
    };
    let theme = match asked.theme {
        GraphTheme::Auto => Theme::Auto,
        GraphTheme::Light => Theme::Light,
        GraphTheme::Dark => Theme::Dark,
    };
    let format = match output {
        GraphOutput::Json => {
            let text = to_json(&graph_value(&shown), Secrets::Hide, JsonLayout::Pretty).map_err(|e| cx.too_long(e))?;
            return Ok(cx.print(&(text + "\n"), out));
        }
        GraphOutput::Text => GraphFormat::Text,
        GraphOutput::Dot => GraphFormat::Dot,
        GraphOutput::Mermaid => GraphFormat::Mermaid,
        GraphOutput::Svg => GraphFormat::Svg(theme),
    };
    let text = draw(&shown, format);
    if out.is_none() {
        return Ok(cx.print_answer(&text, (format == GraphFormat::Text).then_some(Answer::Graph)));
    }
    Ok(cx.print(&text, out))
}

/// Whether the kinds and dialects that are asked for exist. A misspelt one would show an empty graph.
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
