//! `purlin diff`: two sides of a project compared, each difference with its cause.

use super::Context;
use super::resolve::compile_or_report;
use crate::args::{AnswerFormat, Target};
use crate::invocation::Exit;
use crate::paint::Answer;
use purlin_compiler::{Difference, diff, differences_value, origin_text};
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::to_json;
use purlin_value::{Secrets, Value};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What is different on the other side.
pub(super) struct Other {
    pub to_path: Option<PathBuf>,
    pub to_rev: Option<String>,
    pub to_env: Option<String>,
    pub to_profile: Vec<String>,
    pub to_var: Vec<String>,
    pub to_values: Vec<String>,
    pub to_set: Vec<String>,
    pub to_input: Vec<String>,
}

/// An error is 2 here, since 1 means that there are differences.
pub(super) fn run(
    cx: &mut Context<'_, '_>,
    path: &Path,
    other: &Other,
    target: &Target,
    output: AnswerFormat,
) -> Result<Exit, Exit> {
    let as_error = |exit: Exit| if exit == Exit::Invalid { Exit::Other(2) } else { exit };
    let (before_session, before) = compile_or_report(cx, path, &[], target).map_err(as_error)?;
    cx.prefix = "to-";
    let other_path = other.to_path.as_deref().unwrap_or(path);
    let (after_session, after) =
        compile_or_report(cx, other_path, &[], &other_target(target, other)).map_err(as_error)?;
    let found = diff((&before_session, &before.resolved), (&after_session, &after.resolved));
    let text = match output {
        AnswerFormat::Json => {
            to_json(&differences_value(&found), Secrets::Hide, JsonLayout::Pretty)
                .map_err(|error| cx.too_long(error))?
                + "\n"
        }
        AnswerFormat::Text => found.iter().map(told).collect(),
    };
    match cx.print_answer(&text, (output == AnswerFormat::Text).then_some(Answer::Diff)) {
        Exit::Ok if !found.is_empty() => Ok(Exit::Invalid),
        exit => Ok(exit),
    }
}

fn other_target(target: &Target, other: &Other) -> Target {
    let mut there = target.clone();
    there.rev.clone_from(&other.to_rev);
    if other.to_env.is_some() {
        there.env.clone_from(&other.to_env);
    }
    there.profile.extend(other.to_profile.iter().cloned());
    there.var.extend(other.to_var.iter().cloned());
    there.values.extend(other.to_values.iter().cloned());
    there.set.extend(other.to_set.iter().cloned());
    there.input.extend(other.to_input.iter().cloned());
    there
}

fn told(difference: &Difference) -> String {
    let node = if difference.node.is_empty() { "variables" } else { &difference.node };
    let mut out =
        if difference.field.is_empty() { format!("{node}\n") } else { format!("{node} {}\n", difference.field) };
    let whole = difference.field.is_empty();
    let show = |value: &Value| {
        if whole {
            "(whole node)".to_owned()
        } else {
            to_json(value, Secrets::Hide, JsonLayout::Compact).unwrap_or_default()
        }
    };
    let sides =
        [('-', &difference.before, &difference.before_causes), ('+', &difference.after, &difference.after_causes)];
    for (sign, side, causes) in sides {
        if let Some(value) = side {
            let from: Vec<String> = causes.iter().map(origin_text).filter(|text| !text.is_empty()).collect();
            let from = if from.is_empty() { String::new() } else { format!("  ← {}", from.join(", ")) };
            let _ = writeln!(out, "  {sign} {}{from}", show(value));
        }
    }
    out
}
