//! `purlin lsp`: serves an editor over standard input and output.

use super::Context;
use crate::invocation::Exit;
use crate::project::{Setup, open_session};
use crate::settings::{self, Settings};
use crate::{native, policies as request_policies, report};
use purlin_ide::{House, Judge, Keeper};
use purlin_lsp::{Opened, connect, serve};
use purlin_model::Evaluator;
use purlin_syntax::FileId;
use purlin_value::path;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) fn run(cx: &mut Context<'_, '_>) -> Result<Exit, Exit> {
    let (connection, threads) = connect(std::io::BufReader::new(std::io::stdin()), std::io::stdout());
    let served = serve(&connection, |folder| open(cx, folder));
    // The writer ends once there are no senders.
    drop(connection);
    // A read error explains why the server ended.
    threads.join().and(served).map_err(|message| cx.io(&message))?;
    Ok(Exit::Ok)
}

/// Opens the folder that the client names, with the permissions of the command line and its own settings.
fn open(cx: &mut Context<'_, '_>, folder: Option<&str>) -> Result<Opened, String> {
    let folder = folder.unwrap_or(".");
    let mut setup = Setup::from_flags(Path::new(folder), &cx.global)?;
    cx.read_settings(Path::new(folder));
    cx.apply_settings(&mut setup);
    let limits = setup.limits.clone();
    let (session, start) =
        open_session(cx.invocation, &setup).map_err(|_| format!("cannot serve the folder `{folder}`"))?;
    let keeper = keeper(cx, session.world.root());
    Ok(Opened { world: session.world.clone(), start, limits, keeper })
}

/// Reads settings as `check` does.
fn keeper(cx: &Context<'_, '_>, root: &str) -> Keeper {
    let (root, style, is_trusted) = (PathBuf::from(root), cx.style, cx.is_trusted);
    let limits = cx.limits_of_user();
    let variable = cx.invocation.env.get("PURLIN_ENVIRONMENT").filter(|name| !name.is_empty()).cloned();
    Arc::new(move |written, sources| {
        let (settings, mut found) = match written {
            Some((file, text)) => settings::read(&root.join(file), file, text, sources),
            None => (Settings::default(), Vec::new()),
        };
        let file = written.map(|(file, _)| file.to_owned()).unwrap_or_default();
        if !is_trusted {
            found.extend(settings::refused(&settings, &file, &limits));
        }
        let below = |folder: &PathBuf| {
            let inside = folder.strip_prefix(&root).unwrap_or(folder);
            path::normalize(&native::world_text(inside))
        };
        let profile_paths = settings.profiles.iter().map(below).collect();
        let policies = settings.policies.clone();
        let helm_version = settings.helm_version.clone();
        let own_policies = request_policies::of_settings(&settings, &|path| below(&settings.folder().join(path)));
        let evaluator: Option<Evaluator> = Some(purlin_host::evaluator::ask);
        let environment = variable.clone().or_else(|| settings.environment.clone());
        let judge: Judge = Arc::new(move |found, sources, ids| {
            let ids: Option<Vec<FileId>> = ids.map(|ids| ids.iter().copied().collect());
            report::judged(found, sources, &settings, style, ids.as_deref())
        });
        House {
            file,
            environment,
            helm_version,
            profile_paths,
            policies,
            own_policies,
            evaluator,
            found,
            judge: Some(judge),
            ..House::default()
        }
    })
}
