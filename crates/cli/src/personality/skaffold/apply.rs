//! `purlin skaffold apply FILE…`: brings manifests to a cluster, for example those that `render` has written.

use super::execute::{clusters, tail};
use super::flags::Flags;
use super::usage;
use crate::args::AnswerFormat;
use crate::commands::run::{Order, carry_out, usual_jobs};
use crate::invocation::{Exit, Invocation};
use crate::project::{Setup, named, open_session};
use crate::report::{Style, report};
use crate::seed::SeedSource;
use purlin_compiler::read_objects;
use purlin_model::Manifest;
use purlin_run::action::Kind;
use purlin_run::engine::Options;
use purlin_run::objects::{ObjectsProject, Release};
use purlin_run::select::Wanted;
use purlin_value::path;
use std::path::PathBuf;
use std::sync::Arc;

/// Brings the objects of files to a cluster.
pub(super) fn apply(invocation: &mut Invocation<'_>, flags: &Flags) -> Result<Exit, Exit> {
    let files: Vec<String> = flags.words.iter().skip(1).cloned().collect();
    if files.is_empty() {
        return Err(usage(invocation, "name the files with the manifests to apply"));
    }
    let mut setup = Setup { usual_seed: SeedSource::Kept, ..Setup::of(".") };
    // Files that the user names may be read wherever they are.
    setup.permissions.paths.extend(files.iter().map(PathBuf::from));
    let (session, _) = open_session(invocation, &setup)?;
    let names: Vec<String> = files.iter().map(|file| named(invocation, &session, file)).collect();
    let read = || names.iter().flat_map(|file| read_objects(&session, file)).collect::<Vec<Manifest>>();
    let (manifests, is_sound) = session.sink.succeeds(read);
    if !is_sound {
        return Err(report(invocation, &session, Style::default()));
    }
    let clusters = Arc::new(clusters(invocation, flags));
    let release = Release {
        name: path::file_name(session.world.root()).to_owned(),
        namespace: flags.text("namespace").filter(|name| !name.is_empty()).map(str::to_owned),
        is_chart: false,
        is_hasty: !flags.switch("status-check", true),
        tolerant: flags.switch("tolerate-failures-until-deadline", false),
    };
    let root = PathBuf::from(session.world.root());
    let project = ObjectsProject::new(&session, root, manifests, release, clusters.clone());
    let order = Order {
        remote: None,
        kind: Kind::Deploy,
        wanted: Wanted::default(),
        options: Options { jobs: usual_jobs(), force: true, ..Options::default() },
        output: AnswerFormat::Text,
        timings: None,
        push: false,
        clusters,
        dry_run: false,
        since: None,
    };
    match carry_out(invocation, &session, &project, &order, Style::default())?.0 {
        Exit::Failed => Ok(Exit::Other(1)),
        Exit::Ok if flags.switch("tail", false) => tail(invocation, &project, &[0]),
        exit => Ok(exit),
    }
}
