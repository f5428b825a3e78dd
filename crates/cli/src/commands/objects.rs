//! `purlin deploy`, `status`, `logs` and `cleanup` on a chart, a kustomization, or files with Kubernetes objects.

use super::Context;
use super::run::{Order, execute};
use crate::invocation::Exit;
use purlin_compiler::{compile, read_objects};
use purlin_model::Request;
use purlin_run::action::Kind;
use purlin_run::cluster::Clusters;
use purlin_run::engine::Project;
use purlin_run::event::Summary;
use purlin_run::objects::{ObjectsProject, Release};
use purlin_run::select::select;
use purlin_syntax::Flavor;
use purlin_value::{Session, path};
use std::path::PathBuf;
use std::sync::Arc;

/// The dialect name for plain objects.
pub(super) const OBJECTS: &str = "objects";

/// The project of a chart or of objects, and the folder of its results; `None` for other dialects.
pub(super) fn project(
    cx: &mut Context<'_, '_>,
    session: &Session,
    request: &Request,
    dialect: &str,
    clusters: Arc<Clusters>,
) -> Option<Result<(ObjectsProject, PathBuf), Exit>> {
    let found = request.found.clone().unwrap_or_else(|| request.path.clone());
    let (manifests, name) = match dialect {
        "charts" => {
            let Some(name) = release_name(session, request, &found) else {
                return Some(Err(
                    cx.usage("a chart in an archive needs a name to be deployed: add `--release-name NAME`")
                ));
            };
            let mut request = request.clone();
            request.manifests = true;
            request.chart.release_name = Some(name.clone());
            let compiled = compile(session, &request);
            (compiled.map(|compiled| compiled.resolved.manifests).unwrap_or_default(), name)
        }
        OBJECTS => (read_objects(session, &found), deploy_name(session, &found)),
        _ => return None,
    };
    if session.sink.has_errors() {
        return Some(Err(cx.report(session)));
    }
    let release = Release { name, namespace: request.namespace.clone(), is_chart: dialect == "charts" };
    let root = PathBuf::from(session.world.root());
    let project = ObjectsProject::new(manifests, release, clusters);
    cx.invocation.veil.hide(project.secrets());
    Some(Ok((project, root)))
}

/// The name of a release: the one that is given, or the chart's own.
fn release_name(session: &Session, request: &Request, file: &str) -> Option<String> {
    if request.chart.release_name.is_some() {
        return request.chart.release_name.clone();
    }
    let tree = session.read_yaml(file, Flavor::CoreGo).ok().filter(|_| file.ends_with("Chart.yaml"))?;
    Some(tree.root()?.get("name")?.text().to_owned()).filter(|name| !name.is_empty())
}

/// The name of a deploy of objects: its path in the repository, so that names are unique in a cluster.
fn deploy_name(session: &Session, found: &str) -> String {
    let root = path::file_name(session.world.root());
    let inside = path::normalize(found);
    let whole = if inside == "." { root.to_owned() } else { format!("{root}/{inside}") };
    let plain = ENDINGS.iter().find_map(|end| whole.strip_suffix(end)).unwrap_or(&whole);
    let valid = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c.to_ascii_lowercase() } else { '.' };
    plain.chars().map(valid).collect::<String>().trim_matches(['.', '-']).to_owned()
}

/// Brings objects to a cluster.
pub(super) fn deploy(
    cx: &mut Context<'_, '_>,
    session: &Session,
    (project, root): (ObjectsProject, PathBuf),
    order: &Order,
) -> Result<Exit, Exit> {
    if order.kind != Kind::Deploy {
        let what = order.kind.name();
        return Err(cx.usage(&format!("`purlin {what}` has nothing to do on Kubernetes objects; use `purlin deploy`")));
    }
    let style = cx.style;
    let requested = select(project.nodes(), order.kind, &order.wanted).map_err(|message| cx.usage(&message))?;
    let locate = |summary: &mut Summary| project.locate(session, summary);
    let (exit, _) = execute(cx.invocation, session, &project, &root, &requested, order, &locate, style)?;
    Ok(exit)
}

/// Prints the logs of the objects' pods.
pub(super) fn logs(cx: &mut Context<'_, '_>, project: &ObjectsProject, node: &str, lines: usize) -> Result<Exit, Exit> {
    let id = project.nodes().first().map(|node| node.id.clone()).unwrap_or_default();
    if node != id && Some(node) != id.strip_prefix("deploy.") {
        return Err(cx.usage(&format!("unknown action `{node}`; did you mean `{id}`?")));
    }
    let Some(deploy) = project.deploy() else {
        let _ = writeln!(cx.invocation.stderr, "error: these are not only Kubernetes objects");
        return Err(Exit::Failed);
    };
    super::logs::of_cluster(cx, deploy.as_ref(), &id, lines)
}

const ENDINGS: &[&str] = &[".yaml", ".yml", ".json"];
