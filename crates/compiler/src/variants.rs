//! The ways in which a project can be resolved: environments, profiles, values files.

use crate::compile::detect;
use crate::inner::ENGINES;
use purlin_model::{Detection, Request, Variant};
use purlin_value::Session;

/// All variants of a request's project; empty if it has only one form. Reports nothing.
pub fn variants(session: &Session, request: &Request) -> Vec<Variant> {
    let Detection::Project(file, dialect) = detect(session, request) else { return Vec::new() };
    let request = Request { found: Some(file), engines: ENGINES, ..request.clone() };
    (dialect.variants.list)(session, &request)
}
