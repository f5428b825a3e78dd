//! `helm lint` and `helm show`: what is worth telling a chart's author, and a chart's own files.

use purlin_gotmpl::semver::Version;
use purlin_value::Session;

use crate::chart::Chart;
use crate::given::user_values;
use crate::template::{Options, template_chart};
use crate::{load, metadata};

/// One finding.
#[derive(Clone, Debug)]
pub struct Finding {
    /// `INFO`, `WARNING` or `ERROR`.
    pub level: &'static str,
    /// The file it is about.
    pub path: String,
    /// What was found.
    pub message: String,
}

fn finding(level: &'static str, path: &str, message: impl Into<String>) -> Finding {
    Finding { level, path: path.to_owned(), message: message.into() }
}

/// Everything worth telling about a chart.
pub fn lint(session: &Session, path: &str, options: &Options) -> Vec<Finding> {
    let chart = match load::load(session, path) {
        Ok(chart) => chart,
        Err(error) => return vec![finding("ERROR", path, format!("unable to load chart\n\t{}", error.message))],
    };
    let mut found = Vec::new();
    let data = &chart.metadata;
    if data.icon.is_empty() {
        found.push(finding("INFO", "Chart.yaml", "icon is recommended"));
    }
    if let Err(flaw) = metadata::validate(data) {
        found.push(finding("ERROR", "Chart.yaml", flaw.helm_text));
    }
    if Version::parse_strict(&data.version).is_none() {
        let message = format!("version '{}' is not a valid SemVerV2", data.version);
        found.push(finding("WARNING", "Chart.yaml", message));
    }
    let has_values = session.world.exists(&format!("{path}/values.yaml"));
    if !has_values {
        found.push(finding("INFO", "values.yaml", "file does not exist"));
    }
    if chart.templates.is_empty() && !chart.is_library() {
        found.push(finding("WARNING", "templates/", "directory does not exist"));
        return found;
    }
    if chart.is_library() {
        return found;
    }
    let values = match user_values(session, options) {
        Ok(values) => values,
        Err(error) => {
            found.push(finding("ERROR", "values.yaml", error.message));
            return found;
        }
    };
    if let Err(error) = template_chart(session, chart, values, "test-release".to_owned(), options) {
        let place = if error.message.starts_with("values don't meet") { "values.yaml" } else { "templates/" };
        found.push(finding("ERROR", place, error.message));
    }
    found
}

/// What `helm show` prints; `None` if there is no such part.
pub fn show(chart: &Chart, what: &str) -> Option<String> {
    let written = |name: &str| {
        let file = chart.written.iter().find(|file| file.name == name);
        file.map(|file| String::from_utf8_lossy(&file.bytes).into_owned()).unwrap_or_default()
    };
    let in_files = |name: &str| {
        let file = chart.files.iter().find(|file| file.name.eq_ignore_ascii_case(name));
        file.map(|file| String::from_utf8_lossy(&file.bytes).into_owned())
    };
    let readme =
        || in_files("README.md").or_else(|| in_files("README.txt")).or_else(|| in_files("README")).unwrap_or_default();
    let definitions = || {
        let crds = chart.files.iter().filter(|file| file.name.starts_with("crds/"));
        let texts: Vec<String> = crds.map(|file| format!("---\n{}\n", String::from_utf8_lossy(&file.bytes))).collect();
        texts.concat()
    };
    match what {
        "chart" => Some(written("Chart.yaml")),
        "values" => Some(written("values.yaml")),
        "readme" => Some(readme()),
        "crds" => Some(definitions()),
        "all" => Some(format!(
            "{}\n---\n{}\n---\n{}{}",
            written("Chart.yaml"),
            written("values.yaml"),
            readme(),
            definitions()
        )),
        _ => None,
    }
}
