//! `purlin init`: a small project of a dialect to start from, with comments. Nothing is overwritten.

use crate::args::Starter;
use crate::border::write_below;
use crate::commands::Context;
use crate::invocation::Exit;
use clap::ValueEnum;
use purlin_host::named;
use std::path::Path;

/// The files of a starter.
fn files(starter: Starter) -> &'static [(&'static str, &'static str)] {
    match starter {
        Starter::Garden => &[
            ("project.garden.yml", include_str!("../../starters/garden/project.garden.yml")),
            ("hello/hello.garden.yml", include_str!("../../starters/garden/hello.garden.yml")),
        ],
        Starter::Skaffold => &[
            ("skaffold.yaml", include_str!("../../starters/skaffold/skaffold.yaml")),
            ("k8s/web.yaml", include_str!("../../starters/skaffold/web.yaml")),
        ],
        Starter::Chart => &[
            ("Chart.yaml", include_str!("../../starters/chart/Chart.yaml")),
            ("values.yaml", include_str!("../../starters/chart/values.yaml")),
            ("templates/deployment.yaml", include_str!("../../starters/chart/deployment.yaml")),
        ],
        Starter::Tosca => &[("service.yaml", include_str!("../../starters/tosca/service.yaml"))],
        Starter::Unfurl => &[
            ("unfurl.yaml", include_str!("../../starters/unfurl/unfurl.yaml")),
            ("ensemble.yaml", include_str!("../../starters/unfurl/ensemble.yaml")),
        ],
        Starter::Settings => &[("purlin.toml", include_str!("../../starters/purlin.toml"))],
    }
}

/// The name of the chart in the starter.
const STARTER_NAME: &str = "hello";

/// The files of a new chart of a name.
pub(crate) fn chart_files(name: &str) -> Vec<(&'static str, String)> {
    files(Starter::Chart).iter().map(|(file, text)| (*file, text.replace(STARTER_NAME, name))).collect()
}

/// The name of a folder, if it is a valid chart name.
fn own_name(folder: &Path) -> Option<String> {
    let full = crate::native::canonical_or_same(folder.to_owned());
    let name = full.file_name()?.to_str()?;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_plain);
    (is_name && !name.ends_with('-')).then(|| name.to_owned())
}

/// All starters, one line each.
fn list(cx: &mut Context<'_, '_>) -> Exit {
    let line = |starter: &Starter| {
        let value = starter.to_possible_value()?;
        let files: Vec<&str> = files(*starter).iter().map(|(name, _)| *name).collect();
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        Some(format!("{:10}{help}: {}\n", value.get_name(), files.join(", ")))
    };
    let lines: String = Starter::value_variants().iter().filter_map(line).collect();
    cx.print(&format!("{lines}try: purlin init garden shop\n"), None)
}

pub(in crate::commands) fn run(
    cx: &mut Context<'_, '_>,
    starter: Option<Starter>,
    folder: &Path,
) -> Result<Exit, Exit> {
    let Some(starter) = starter else { return Ok(list(cx)) };
    let full = cx.invocation.cwd.join(folder);
    let files = files(starter);
    if let Some((name, _)) = files.iter().find(|(name, _)| named::exists(&full.join(name))) {
        return Err(cx.usage(&format!("`{}` is already there; nothing was written", folder.join(name).display())));
    }
    named::create_folder(&full).map_err(|error| cx.io(&format!("could not create `{}`: {error}", folder.display())))?;
    let own = own_name(&full);
    for (name, text) in files {
        let text = match &own {
            Some(own) if starter == Starter::Chart => text.replace(STARTER_NAME, own),
            _ => (*text).to_owned(),
        };
        let written = write_below(&full, name, text.as_bytes());
        written.map_err(|error| cx.io(&format!("could not write `{name}`: {error}")))?;
        let _ = writeln!(cx.invocation.stdout, "wrote {}", folder.join(name).display());
    }
    if starter != Starter::Settings {
        let _ = writeln!(cx.invocation.stdout, "try: purlin check {}", folder.display());
    }
    Ok(Exit::Ok)
}
