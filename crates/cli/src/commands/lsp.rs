//! `purlin lsp`: serves an editor over standard input and output.

use super::Context;
use crate::invocation::Exit;
use crate::project::{Setup, open_session};
use purlin_lsp::{Connection, Opened, serve};
use std::path::Path;

pub(super) fn run(cx: &mut Context<'_, '_>) -> Result<Exit, Exit> {
    let (connection, threads) = Connection::stdio();
    let served = serve(&connection, |folder| open(cx, folder));
    // The writer ends when nobody can send any more.
    drop(connection);
    let ended = threads.join();
    if let Err(message) = served {
        let _ = writeln!(cx.invocation.stderr, "error: {message}");
        return Ok(Exit::Io);
    }
    Ok(if ended.is_ok() { Exit::Ok } else { Exit::Io })
}

/// The folder that the client names, with what the command line allows.
fn open(cx: &mut Context<'_, '_>, folder: Option<&str>) -> Result<Opened, String> {
    let folder = folder.unwrap_or(".");
    let setup = Setup::from_flags(Path::new(folder), &cx.global)?;
    let limits = setup.limits.clone();
    let (session, start) =
        open_session(cx.invocation, &setup).map_err(|_| format!("cannot serve the folder `{folder}`"))?;
    Ok(Opened { world: session.world.clone(), start, limits })
}
