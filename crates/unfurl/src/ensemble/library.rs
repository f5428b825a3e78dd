//! The repository `unfurl`: files that imports may name without having them, written in our own words.
//!
//! Types, keys and defaults are those of the tool; operations say what there is to do, not how.

use purlin_tosca::host::Repository;
use purlin_tosca::profile::Embedded;

macro_rules! file {
    ($path:literal) => {
        (
            $path,
            Embedded { path: concat!("purlin:/unfurl/", $path), text: include_str!(concat!("../../profiles/", $path)) },
        )
    };
}

/// The repository that comes with the program.
pub const UNFURL: Repository = Repository {
    name: "unfurl",
    files: &[
        file!("configurators/templates/dns.yaml"),
        file!("configurators/templates/docker.yaml"),
        file!("configurators/templates/helm.yaml"),
        file!("configurators/templates/supervisor.yaml"),
        file!("tosca_plugins/artifacts.yaml"),
        file!("tosca_plugins/googlecloud.yaml"),
        file!("tosca_plugins/k8s.yaml"),
        file!("tosca_plugins/localhost.yaml"),
    ],
};

/// The text of one of its files.
pub fn text(file: &str) -> Option<&'static str> {
    UNFURL.files.iter().find(|(path, _)| *path == file).map(|(_, embedded)| embedded.text)
}
