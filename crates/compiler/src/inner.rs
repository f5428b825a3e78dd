//! The list of what dialects may ask of each other. A new engine is a line here.

use purlin_model::{Engine, Engines};

/// All engines.
#[rustfmt::skip]
pub const ENGINES: Engines = Engines(&[
    Engine { name: "chart", render: purlin_charts::inner::render },
    Engine { name: "kustomization", render: purlin_kustomize::render },
]);
