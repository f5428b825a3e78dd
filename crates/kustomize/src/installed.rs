//! The installed tool, for kustomizations that are not built natively.

use crate::rules;
use purlin_model::Manifest;
use purlin_syntax::{Diagnostic, Flavor, Span};
use purlin_value::world::Command;
use purlin_value::{MergeKeys, Session, WorldError, value_of};

/// The option that permits it.
pub const HINT: &str = "add `--allow-exec` to run `kubectl kustomize`";

/// Why a folder is not built.
pub enum Refused {
    /// No program may be run.
    Permission(Diagnostic),
    /// The tool has failed.
    Failed(Diagnostic),
}

/// Builds a folder with `kubectl kustomize`, if programs may be run.
pub fn run(
    session: &Session,
    folder: &str,
    arguments: &[String],
    what: &str,
    span: Option<Span>,
) -> Result<Vec<Manifest>, Refused> {
    let full = purlin_value::path::join(session.world.root(), folder);
    let mut argv = ["kubectl", "kustomize", &full].map(str::to_owned).to_vec();
    argv.extend_from_slice(arguments);
    let command = Command { argv, env: session.world.env_all(), folder: ".".to_owned(), stdin: Vec::new() };
    let placed = |problem: Diagnostic| Diagnostic { span, ..problem };
    Err(match session.world.run(&command) {
        Ok(output) if output.code == 0 => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let source = session.sources.insert(&format!("{folder} (kubectl kustomize)"), text);
            let tree = session.parse_yaml(source.clone(), Flavor::GoObjects);
            let roots = tree.roots().filter(|root| !root.is_null());
            let manifest = |root| Manifest::new(source.path(), value_of(root, MergeKeys::Apply));
            return Ok(roots.map(manifest).collect());
        }
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            let message = format!("`kubectl kustomize {folder}` failed: {said}");
            Refused::Failed(placed(Diagnostic::nowhere(&rules::KUSTOMIZATION, message)))
        }
        Err(WorldError::Denied(_)) => {
            let message = format!("{what} needs an installed tool");
            Refused::Permission(placed(Diagnostic::nowhere(&rules::UNSUPPORTED, message).hint(HINT)))
        }
        Err(error) => Refused::Failed(placed(error.diagnostic("kubectl"))),
    })
}
