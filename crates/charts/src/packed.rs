//! A chart as an archive, with the files and in the order of `helm package`. No times are stored: equal charts are equal
//! archives.

use purlin_value::archive::{gzip, tar};
use purlin_value::{Session, path};

use crate::chart::{Chart, ChartFile};
use crate::dependencies::missing;
use crate::load::load;
use crate::metadata::validate;
use crate::show::metadata_text;
use purlin_gotmpl::semver::Version;

/// What is changed in the chart's metadata.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changes<'c> {
    /// `--version`
    pub version: Option<&'c str>,
    /// `--app-version`
    pub app_version: Option<&'c str>,
}

/// An archive and its name.
#[derive(Clone, Debug)]
pub struct Package {
    /// `NAME-VERSION.tgz`
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Packs the chart of a folder.
pub fn package(session: &Session, folder: &str, changes: Changes<'_>) -> Result<Package, String> {
    let mut chart = load(session, folder).map_err(|error| error.message)?;
    if let Some(version) = changes.version {
        version.clone_into(&mut chart.metadata.version);
    }
    if let Some(version) = changes.app_version {
        version.clone_into(&mut chart.metadata.app_version);
    }
    if Version::parse(&chart.metadata.version).is_none() {
        return Err(format!("invalid semantic version: {:?}", chart.metadata.version));
    }
    validate(&chart.metadata).map_err(|flaw| flaw.helm_text)?;
    let missing = missing(&chart);
    if !missing.is_empty() {
        let names = missing.join(", ");
        return Err(format!("found in Chart.yaml, but missing in charts/ directory: {names}"));
    }
    let mut files = Vec::new();
    collect(session, &chart, "", &mut files);
    let borrowed: Vec<(String, &[u8])> = files.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
    let bytes = gzip(&tar(&borrowed)).map_err(|error| error.to_string())?;
    Ok(Package { name: format!("{}-{}.tgz", chart.name(), chart.metadata.version), bytes })
}

fn collect(session: &Session, chart: &Chart, above: &str, files: &mut Vec<(String, Vec<u8>)>) {
    let base = format!("{above}{}", chart.name());
    let mut add = |name: &str, bytes: &[u8]| files.push((format!("{base}/{name}"), bytes.to_vec()));
    add("Chart.yaml", metadata_text(&chart.metadata).as_bytes());
    if chart.metadata.api_version != "v1"
        && let Ok(lock) = session.load_bytes(&path::join(&chart.folder, "Chart.lock"))
    {
        add("Chart.lock", &lock);
    }
    let written = |name: &str| chart.written.iter().find(|file| file.name == name);
    if let Some(ChartFile { bytes, .. }) = written("values.yaml") {
        add("values.yaml", bytes);
    }
    if let Some(schema) = &chart.schema {
        add("values.schema.json", schema);
    }
    chart.templates.iter().chain(&chart.files).for_each(|file| add(&file.name, &file.bytes));
    for child in &chart.dependencies {
        collect(session, child, &format!("{base}/charts/"), files);
    }
}
