//! `purlin report`: the page of the project as files, for readers without a server.

use crate::args::Target;
use crate::commands::Context;
use crate::commands::explore::Live;
use crate::invocation::Exit;
use purlin_explore::{Answers, Side, Source, report, single};
use purlin_host::named;
use std::path::Path;

/// The requested report.
pub(in crate::commands) struct Asked<'a> {
    pub out: &'a Path,
    pub single: bool,
    pub revision: Option<&'a str>,
}

pub(in crate::commands) fn run(
    cx: &mut Context<'_, '_>,
    path: &Path,
    target: &Target,
    asked: &Asked<'_>,
) -> Result<Exit, Exit> {
    let (answers, before) = resolved(cx, path, target, asked.revision)?;
    let before = asked.revision.zip(before.as_deref());
    let out = cx.invocation.cwd.join(asked.out);
    if asked.single {
        let text = single(&answers, before);
        return Ok(cx.print(&text, Some(asked.out)));
    }
    if named::is_file(&out) {
        return Err(cx.usage(&format!("`{}` is a file; name a folder, or add `--single`", asked.out.display())));
    }
    let files = report(&answers, before);
    named::create_folder(&out)
        .map_err(|error| cx.io(&format!("could not create `{}`: {error}", asked.out.display())))?;
    for (name, text) in &files {
        let text = cx.invocation.veil.text(text).into_owned();
        crate::border::write_below(&out, name, text.as_bytes())
            .map_err(|error| cx.io(&format!("could not write `{name}`: {error}")))?;
    }
    let _ =
        writeln!(cx.invocation.stderr, "wrote {} files; open {}", files.len(), asked.out.join("index.html").display());
    Ok(exit(&answers))
}

/// `purlin graph -o html`: the same in one document.
pub(in crate::commands) fn graph_page(
    cx: &mut Context<'_, '_>,
    path: &Path,
    target: &Target,
    revision: Option<&str>,
    out: Option<&Path>,
) -> Result<Exit, Exit> {
    let (answers, before) = resolved(cx, path, target, revision)?;
    let printed = cx.print(&single(&answers, revision.zip(before.as_deref())), out);
    Ok(crate::commands::check::worse(printed, exit(&answers)))
}

type Resolved = (Answers, Option<Vec<Side>>);

fn resolved(cx: &mut Context<'_, '_>, path: &Path, target: &Target, revision: Option<&str>) -> Result<Resolved, Exit> {
    let mut live = Live::of(cx, path, target)?;
    let Some(project) = live.resolve().filter(|project| !project.sides.is_empty()) else { return Err(live.refuse()) };
    let before = match revision {
        Some(revision) => match live.at_revision(revision) {
            Ok(sides) => Some(sides),
            Err(why) => return Err(cx.usage(&why)),
        },
        None => None,
    };
    Ok((Answers::of(project), before))
}

/// A project with errors is written anyway, but is not a success.
fn exit(answers: &Answers) -> Exit {
    if answers.project().sides.iter().any(|side| side.is_broken) { Exit::Invalid } else { Exit::Ok }
}
