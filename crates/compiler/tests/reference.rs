//! The pages of all keys are generated from the tables of the dialects; this keeps them in step.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use purlin_model::Schema;
use purlin_model::describe::reference;
use std::path::Path;

const PAGES: &[(&str, &str, &Schema)] = &[
    ("garden-keys.md", "Keys of Garden configurations", &purlin_garden::entities::SCHEMA),
    ("skaffold-keys.md", "Keys of Skaffold configurations", &purlin_skaffold::entities::SCHEMA),
    ("ensemble-keys.md", "Keys of Unfurl ensembles", &purlin_unfurl::entities::SCHEMA),
    ("chart-keys.md", "Keys of Chart.yaml", &purlin_charts::SCHEMA),
    ("kustomization-keys.md", "Keys of kustomizations", &purlin_kustomize::entities::SCHEMA),
];

#[test]
fn the_pages_are_in_step_with_the_tables() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    for (name, title, schema) in PAGES {
        let path = folder.join(name);
        let made = reference(schema, title);
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &made).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == made, "docs/reference/{name} is out of step: run this test with UPDATE=1");
    }
}
