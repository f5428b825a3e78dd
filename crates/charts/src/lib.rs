//! Helm charts and Metachart charts: loading, values, rendering, manifests.

pub mod capabilities;
pub mod chart;
pub mod context;
pub mod engine;
pub mod yaml;
