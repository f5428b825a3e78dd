//! `purlin fmt`: formats YAML files; comments, order and anchors stay.

use crate::border::write_atomically;
use crate::commands::Context;
use crate::invocation::Exit;
use purlin_host::named;
use purlin_syntax::format::{Untouched, format};
use std::path::{Path, PathBuf};

/// The treatment of files that are not formatted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Mode {
    Write,
    /// Only list them, and fail if there are any.
    Check,
    /// Only show the difference.
    Diff,
}

#[derive(Default)]
struct Total {
    changed: usize,
    same: usize,
    untouched: Vec<(PathBuf, Untouched)>,
}

pub(in crate::commands) fn run(cx: &mut Context<'_, '_>, paths: &[PathBuf], mode: Mode) -> Result<Exit, Exit> {
    let limits =
        crate::project::Setup::from_flags(Path::new("."), &cx.global).map_err(|message| cx.usage(&message))?.limits;
    let mut total = Total::default();
    for path in paths {
        for file in crate::commands::files::yaml_below(cx, path)? {
            let full = cx.invocation.cwd.join(&file);
            let text = match named::read(&full, named::LARGEST).map(String::from_utf8) {
                Ok(Ok(text)) => text,
                Ok(Err(_)) => {
                    total.untouched.push((file, Untouched::Unusual("bytes that are not UTF-8")));
                    continue;
                }
                Err(error) => return Err(cx.io(&format!("could not read `{}`: {error}", file.display()))),
            };
            match format(&text, &limits) {
                Ok(new) if new == text => total.same += 1,
                Ok(new) => {
                    total.changed += 1;
                    change(cx, &file, &full, (&text, &new), mode)?;
                }
                Err(reason) => total.untouched.push((file, reason)),
            }
        }
    }
    report(cx, &total, mode);
    Ok(if mode != Mode::Write && total.changed > 0 { Exit::Invalid } else { Exit::Ok })
}

fn change(
    cx: &mut Context<'_, '_>,
    file: &Path,
    full: &Path,
    (old, new): (&str, &str),
    mode: Mode,
) -> Result<(), Exit> {
    match mode {
        Mode::Write => {
            let written = write_atomically(full, new.as_bytes());
            written.map_err(|error| cx.io(&format!("could not write `{}`: {error}", file.display())))
        }
        Mode::Check => {
            let _ = writeln!(cx.invocation.stdout, "{}", file.display());
            Ok(())
        }
        Mode::Diff => {
            let text = crate::commands::files::difference(&file.display().to_string(), old, new);
            let _ = cx.invocation.stdout.write_all(text.as_bytes());
            Ok(())
        }
    }
}

fn report(cx: &mut Context<'_, '_>, total: &Total, mode: Mode) {
    if cx.style.quiet {
        return;
    }
    // A file named by itself is never skipped silently.
    let few = total.changed + total.same == 0;
    for (file, reason) in total.untouched.iter().filter(|_| cx.global.verbose || few) {
        let _ = writeln!(cx.invocation.stderr, "left as it is: {}: {reason}", file.display());
    }
    let verb = if mode == Mode::Write { "formatted" } else { "not formatted" };
    let mut parts = vec![format!("{} {verb}", crate::commands::files::plural(total.changed, "file"))];
    parts.push(format!("{} unchanged", total.same));
    if !total.untouched.is_empty() {
        let hint = if cx.global.verbose || few { "" } else { " (`-v` lists them)" };
        parts.push(format!("{} left as they are{hint}", total.untouched.len()));
    }
    let _ = writeln!(cx.invocation.stderr, "{}", parts.join(", "));
}
