//! Opens charts, kustomizations and files with Kubernetes objects.

use super::{Refused, Site};
use crate::engine::Project;
use crate::objects::{ObjectsProject, Release};
use purlin_compiler::{compile, read_objects};
use purlin_model::{Manifest, Request};
use purlin_syntax::Flavor;
use purlin_value::{Session, path};
use std::path::PathBuf;

pub(super) fn open<'p>(site: &Site<'p, '_>) -> Result<Box<dyn Project + 'p>, Refused> {
    let found = site.request.found.clone().unwrap_or_else(|| site.request.path.clone());
    let read = || Some(read_objects(site.session, &found));
    project(site, read, deploy_name(site.session, &found), false)
}

pub(super) fn open_chart<'p>(site: &Site<'p, '_>) -> Result<Box<dyn Project + 'p>, Refused> {
    let found = site.request.found.clone().unwrap_or_else(|| site.request.path.clone());
    let name = release_name(site.session, site.request, &found).ok_or_else(|| {
        Refused::Usage("a chart in an archive needs a name to be deployed: add `--release-name NAME`".to_owned())
    })?;
    let mut request = site.request.clone();
    request.manifests = true;
    request.chart.release_name = Some(name.clone());
    let render = || compile(site.session, &request).map(|compiled| compiled.resolved.manifests);
    project(site, render, name, true)
}

fn project<'p>(
    site: &Site<'p, '_>,
    read: impl FnOnce() -> Option<Vec<Manifest>>,
    name: String,
    is_chart: bool,
) -> Result<Box<dyn Project + 'p>, Refused> {
    let (manifests, is_sound) = site.session.sink.succeeds(read);
    let manifests = manifests.filter(|_| is_sound).ok_or(Refused::Invalid)?;
    let release = Release { name, namespace: site.request.namespace.clone(), is_chart, ..Release::default() };
    let root = PathBuf::from(site.session.world.root());
    Ok(Box::new(ObjectsProject::new(site.session, root, manifests, release, site.opening.clusters.clone())))
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

const ENDINGS: &[&str] = &[".yaml", ".yml", ".json"];
