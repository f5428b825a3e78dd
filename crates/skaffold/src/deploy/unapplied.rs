//! Names the keys that have no effect when a configuration is built or deployed here.
//!
//! A table; building and deploying are implemented elsewhere.

use crate::helm;
use crate::item::{Form, View};
use crate::rules;
use crate::walk::Config;
use purlin_syntax::{Diagnostic, Sink};

/// Purpose of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Building and testing images.
    Build,
    /// Deploying.
    Deploy,
}

/// A key without effect: its path, with `*` for every item of a list, and advice.
struct Row {
    purpose: Purpose,
    path: &'static [&'static str],
    hint: &'static str,
}

const fn row(purpose: Purpose, path: &'static [&'static str], hint: &'static str) -> Row {
    Row { purpose, path, hint }
}

use Purpose::{Build, Deploy};

const INSTALLED: &str = "the tool that is installed decides how images are built; `PURLIN_BUILDER` chooses it";
const FLAGS: &str = "Purlin deploys over the API of the cluster, and runs neither kubectl nor helm";
const WHOLE: &str = "every file of the context counts; list the files under `dependencies.paths`";

/// Keys of a configuration.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    row(Build, &["build", "local", "useBuildkit"], INSTALLED),
    row(Build, &["build", "local", "useDockerCLI"], INSTALLED),
    row(Build, &["build", "local", "tryImportMissing"], "an image that is missing is built"),
    row(Build, &["build", "hooks"], "use the `hooks` of its artifacts"),
    row(Build, &["build", "artifacts", "*", "custom", "dependencies", "command"], WHOLE),
    row(Build, &["build", "artifacts", "*", "custom", "dependencies", "dockerfile"], WHOLE),
    row(Build, &["test", "*", "structureTestsArgs"], "structure tests are not run; use `custom` tests"),
    row(Deploy, &["manifests", "hooks"], "use the hooks of `deploy`"),
    row(Deploy, &["deploy", "kubectl", "flags"], FLAGS),
    row(Deploy, &["deploy", "helm", "flags"], FLAGS),
    row(Deploy, &["deploy", "logs"], "`purlin logs` shows what containers print"),
];

/// Keys of a release.
#[rustfmt::skip]
const RELEASE: &[(&str, &str)] = &[
    ("recreatePods", "pods are replaced when their template changes"),
    ("upgradeOnChange", "a release is applied again when what it renders changes"),
    ("useHelmSecrets", "decrypt its values files first"),
    ("packaged", "set `version` and `appVersion` in its `Chart.yaml`"),
];

/// Reports the keys of a configuration that have no effect. Defaults are not written, so they are not reported.
pub fn report(config: &Config<'_>, purpose: Purpose, sink: &Sink) {
    let say = |found: View<'_, '_>, key: &str, hint: &'static str| {
        let message = format!("`{key}` has no effect");
        let Some(span) = found.span() else { return };
        sink.push(Diagnostic::at(&rules::NO_EFFECT, span, message).hint(hint));
    };
    for row in ROWS.iter().filter(|row| row.purpose == purpose) {
        let mut found = Vec::new();
        gather(config.item.view(), row.path, &mut found);
        let key: Vec<&str> = row.path.iter().copied().filter(|part| *part != "*").collect();
        found.iter().filter(|view| says_something(**view)).for_each(|view| say(*view, &key.join("."), row.hint));
    }
    if purpose == Purpose::Deploy {
        for release in helm::releases(config) {
            for (key, hint) in RELEASE {
                if let Some(found) = release.get(key).filter(|view| says_something(*view)) {
                    say(found, &format!("releases.{key}"), hint);
                }
            }
        }
    }
}

/// The values at a path.
fn gather<'a, 'f>(view: View<'a, 'f>, path: &[&str], found: &mut Vec<View<'a, 'f>>) {
    match path.split_first() {
        None => found.push(view),
        Some((&"*", rest)) => view.items().for_each(|item| gather(item, rest, found)),
        Some((key, rest)) => {
            if let Some(inner) = view.get(key) {
                gather(inner, rest, found);
            }
        }
    }
}

/// Whether a value requests an effect: `false` and empty values do not.
fn says_something(view: View<'_, '_>) -> bool {
    match view.form() {
        Form::Null | Form::Broken => false,
        Form::Scalar => view.bool() != Some(false) && !view.text().is_empty(),
        Form::List => view.items().any(says_something),
        Form::Map => view.entries().any(|entry| says_something(entry.value)),
    }
}
