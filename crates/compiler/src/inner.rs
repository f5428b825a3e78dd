//! The requests that dialects may make to each other. A new engine is a line here.

use purlin_model::{Engine, Engines};

/// All engines.
#[rustfmt::skip]
pub const ENGINES: Engines = Engines(&[
    Engine { name: "chart", resolve: purlin_charts::inner::resolve, eval: Some(purlin_charts::inner::eval) },
    Engine { name: "kustomization", resolve: purlin_kustomize::resolve, eval: None },
    Engine { name: "patch", resolve: purlin_kustomize::resolve_patch, eval: None },
    Engine { name: "skaffold", resolve: purlin_skaffold::inner::resolve, eval: Some(purlin_skaffold::inner::eval) },
    Engine { name: "tosca", resolve: purlin_tosca::inner::resolve, eval: Some(purlin_tosca::inner::eval) },
    Engine { name: "ensemble", resolve: purlin_unfurl::inner::resolve, eval: Some(purlin_unfurl::inner::eval) },
]);
