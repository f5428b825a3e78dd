//! Dependencies with `file://` that are missing in `charts/`: `helm dependency build` would copy them there.
//!
//! Checking a chart without its library is of little use. The neighbouring chart is used instead, and the missing copy
//! is reported.

use purlin_syntax::{Diagnostic, Hint, suggest};
use purlin_value::{Session, path};

use crate::chart::Chart;
use crate::dependencies::{is_compatible, missing};
use crate::load;
use crate::report::ChartYaml;
use crate::rules;

/// Prefix of the address of a chart in this repository.
const FILE: &str = "file://";

/// Charts that take in others this deep have a cycle.
const DEEPEST: usize = 8;

/// Maximum number of added charts, since circular dependencies would never end. Others are reported as missing.
const MOST: usize = 200;

/// Adds the missing charts that are available, and their own missing ones. Returns the folders that the chart's own
/// were read from, by their names.
pub fn fill(session: &Session, chart: &mut Chart) -> Vec<(String, String)> {
    fill_to(session, chart, DEEPEST, &mut { MOST })
}

/// Warns of dependencies in `charts/` whose version is not in the declared range. Helm treats such a chart as
/// undeclared: without its alias, and without its condition. Also warns of missing folders.
pub fn check_declared(session: &Session, folder: &str, chart: &Chart) {
    for dependency in &chart.metadata.dependencies {
        let place = ChartYaml { session, folder };
        let said = |key: &str, message: String, hint: Hint| {
            let mut found = Diagnostic::nowhere(&rules::DEPENDENCY, message).warning().hint(hint);
            found.span = place.dependency_key(dependency, key);
            session.sink.push(found);
        };
        let mut there = chart.dependencies.iter().filter(|inner| inner.name() == dependency.name).peekable();
        let Some(version) = there.peek().map(|inner| inner.metadata.version.clone()) else { continue };
        if !there.any(|inner| is_compatible(&dependency.version, &inner.metadata.version)) {
            let range = &dependency.version;
            let message = match range.is_empty() {
                true => format!("the dependency `{}` has no `version`, so Helm ignores this entry", dependency.name),
                false => format!("no chart `{}` in `charts/` has a version in the range `{range}`", dependency.name),
            };
            let hint = format!("the chart in `charts/` has version `{version}`");
            said(if range.is_empty() { "name" } else { "version" }, message, hint.into());
            continue;
        }
        let Some(written) = dependency.repository.strip_prefix(FILE).filter(|place| !path::is_absolute(place)) else {
            continue;
        };
        let target = path::normalize(&path::join(&chart.folder, written));
        if session.world.exists(&target) {
            continue;
        }
        let beside = session.listed(path::parent(&target));
        let name = path::file_name(&target);
        if let Some(near) = suggest::nearest(name, beside.names()) {
            let meant = written.trim_end_matches('/').strip_suffix(name).unwrap_or_default();
            let message = format!("no chart is found at `{written}`");
            said("repository", message, Hint::meant(&dependency.repository, format!("{FILE}{meant}{near}")));
        }
    }
}

fn fill_to(session: &Session, chart: &mut Chart, depth: usize, left: &mut usize) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    if depth == 0 || chart.metadata.dependencies.is_empty() {
        return found;
    }
    for name in missing(chart) {
        let declared = chart.metadata.dependencies.iter().find(|one| one.name == name);
        let Some((place, range)) = declared.and_then(|one| Some((one.repository.strip_prefix(FILE)?, &one.version)))
        else {
            continue;
        };
        // Under several aliases it is one chart; an absolute path is not of this repository.
        if path::is_absolute(place) || found.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let folder = path::normalize(&path::join(&chart.folder, place));
        if *left == 0 || !session.world.exists(&path::join(&folder, "Chart.yaml")) {
            continue;
        }
        let Ok(mut inner) = load::load(session, &folder) else { continue };
        if inner.name() != name || !is_compatible(range, &inner.metadata.version) {
            continue;
        }
        *left = left.saturating_sub(1);
        fill_to(session, &mut inner, depth - 1, left);
        chart.dependencies.push(inner);
        found.push((name, folder));
    }
    found
}
