//! `purlin fix`: corrects misspelt names if there is exactly one likely correction.
//!
//! [`purlin_ide::mend`] decides about corrections and applies them in memory; this file writes or shows them.

use crate::args::Target;
use crate::border::write_atomically;
use crate::commands::Context;
use crate::commands::files::{difference, plural};
use crate::invocation::Exit;
use purlin_ide::{Correction, Refused, mend};
use purlin_syntax::Severity;
use std::path::Path;

pub(in crate::commands) fn run(cx: &mut Context<'_, '_>, path: &Path, show: bool) -> Result<Exit, Exit> {
    let (opened, request) = cx.open_any(path, &Target::default(), &[])?;
    let mended = mend(&opened, &request);
    let session = mended.session;
    let left = session.sink.count(Severity::Error);
    let count: usize = mended.files.values().map(|file| file.count).sum();
    for (path, file) in &mended.files {
        if show {
            cx.print(&difference(&session.sources.shown(path), &file.old, &file.new), None);
        } else {
            write(cx, &Path::new(session.world.root()).join(path), &file.new)?;
        }
    }
    let exit = cx.report(&session);
    for Refused { correction: Correction { path, line, wrong, right }, reason } in &mended.refused {
        let path = session.sources.shown(path);
        let stderr = &mut cx.invocation.stderr;
        let _ = writeln!(stderr, "{path}:{line}: `{wrong}` was not changed to `{right}`, because then: {reason}");
    }
    let files = plural(mended.files.len(), "file");
    let verb = if show { "to correct" } else { "corrected" };
    let (count_text, left) = (plural(count, "name"), plural(left, "error"));
    let _ = writeln!(cx.invocation.stderr, "{count_text} {verb} in {files}, {left} left");
    Ok(if show && count > 0 && exit == Exit::Ok { Exit::Invalid } else { exit })
}

fn write(cx: &mut Context<'_, '_>, path: &Path, text: &str) -> Result<(), Exit> {
    write_atomically(path, text.as_bytes())
        .map_err(|error| cx.io(&format!("could not write `{}`: {error}", path.display())))
}
