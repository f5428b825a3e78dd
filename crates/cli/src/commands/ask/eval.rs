//! `purlin eval`.

use crate::args::{DataFormat, Target};
use crate::commands::Context;
use crate::commands::resolve::{data_text, secrets};
use crate::invocation::Exit;
use purlin_model::Question;
use std::path::Path;

pub(in crate::commands) fn run(
    cx: &mut Context<'_, '_>,
    path: &Path,
    question: &Question,
    target: &Target,
    format: DataFormat,
    reveal: bool,
) -> Result<Exit, Exit> {
    let (session, request) = cx.open(path, target, &[])?;
    let answer = purlin_compiler::eval(&session, &request, question);
    cx.refuse_undeclared(&session, None, &target.var, &question.expression)?;
    for step in answer.iter().flat_map(|answer| &answer.trace) {
        let _ = writeln!(cx.invocation.stderr, "{step}");
    }
    match (cx.report(&session), answer) {
        (Exit::Ok, Some(answer)) => {
            let most = session.meter.most_output();
            let text = data_text(&answer.value, format, secrets(reveal), most).map_err(|error| cx.too_long(error))?;
            Ok(cx.print(&text, None))
        }
        (Exit::Ok, None) => Ok(Exit::Invalid),
        (exit, _) => Ok(exit),
    }
}
