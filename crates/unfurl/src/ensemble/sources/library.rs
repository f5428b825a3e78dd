//! The repository `unfurl`: files that imports may name without having them, written independently of the tool.
//!
//! Types, keys and defaults are those of the tool; operations describe their task, not its steps.

use purlin_tosca::host::Repository;
use purlin_tosca::profile::Embedded;

macro_rules! file {
    ($path:literal) => {
        file!($path, $path)
    };
    // A second name of a file: importing both gives its types once.
    ($name:literal, $path:literal) => {
        (
            $name,
            Embedded {
                path: concat!("purlin:/unfurl/", $path),
                text: include_str!(concat!("../../../profiles/", $path)),
            },
        )
    };
}

/// The built-in repository.
pub const UNFURL: Repository = Repository {
    name: "unfurl",
    files: &[
        file!("configurators/dns-template.yaml", "configurators/templates/dns.yaml"),
        file!("configurators/docker-template.yaml", "configurators/templates/docker.yaml"),
        file!("configurators/helm-template.yaml", "configurators/templates/helm.yaml"),
        file!("configurators/supervisor-template.yaml", "configurators/templates/supervisor.yaml"),
        file!("configurators/templates/dns.yaml"),
        file!("configurators/templates/docker.yaml"),
        file!("configurators/templates/helm.yaml"),
        file!("configurators/templates/supervisor.yaml"),
        file!("tosca_plugins/artifacts.yaml"),
        file!("tosca_plugins/googlecloud.yaml"),
        file!("tosca_plugins/k8s.yaml"),
        file!("tosca_plugins/localhost.yaml"),
        file!("tosca_plugins/tosca-ext.yaml"),
    ],
};

/// The text of one of its files.
pub fn text(file: &str) -> Option<&'static str> {
    UNFURL.files.iter().find(|(path, _)| *path == file).map(|(_, embedded)| embedded.text)
}
