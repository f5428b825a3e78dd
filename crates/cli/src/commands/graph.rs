//! `purlin graph`.

use super::Context;
use super::resolve::compile_or_report;
use crate::args::{GraphOutput, Target};
use crate::invocation::Exit;
use crate::paint::Answer;
use purlin_compiler::{GraphFormat, draw, graph_value};
use purlin_syntax::write::JsonLayout;
use purlin_value::Secrets;
use purlin_value::emit::to_json;
use std::path::Path;

pub(super) fn run(
    cx: &mut Context<'_, '_>,
    path: &Path,
    target: &Target,
    output: GraphOutput,
    out: Option<&Path>,
) -> Result<Exit, Exit> {
    let (_session, compiled) = compile_or_report(cx, path, &[], target)?;
    let format = match output {
        GraphOutput::Json => {
            let text = to_json(&graph_value(&compiled.resolved), Secrets::Hide, JsonLayout::Pretty)
                .map_err(|e| cx.too_long(e))?;
            return Ok(cx.print(&(text + "\n"), out));
        }
        GraphOutput::Text => GraphFormat::Text,
        GraphOutput::Dot => GraphFormat::Dot,
        GraphOutput::Mermaid => GraphFormat::Mermaid,
        GraphOutput::Svg => GraphFormat::Svg,
    };
    let text = draw(&compiled.resolved, format);
    if out.is_none() {
        return Ok(cx.print_answer(&text, (format == GraphFormat::Text).then_some(Answer::Graph)));
    }
    Ok(cx.print(&text, out))
}
