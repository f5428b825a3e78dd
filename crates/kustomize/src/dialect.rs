//! Kustomizations as a dialect: projects where no other project takes them in. Their objects are the nodes.

use crate::build;
use crate::kustomization::FILES;
use crate::rules;
use purlin_model::{Ask, Dialect, Glance, Request, Resolved, Role, Sign, Usual, Variants};
use purlin_syntax::Diagnostic;
use purlin_value::{Session, Value, path};

/// The dialect of kustomizations.
pub const DIALECT: Dialect = Dialect {
    name: "kustomize",
    summary: "Kustomizations: resources, generators, patches, manifests.",
    noun: "kustomization",
    has_name: false,
    unit: "object",
    recognise,
    is_usual: |name| FILES.contains(&name),
    usual: USUAL,
    inside: &[],
    reaches_below: false,
    yields: true,
    composes: false,
    is_listed: false,
    renders: true,
    resolve,
    together: None,
    prepare: None,
    apart: None,
    resuming: None,
    variants: Variants::NONE,
    eval: |session, _, _| {
        let message = "a kustomization has no expressions to evaluate";
        session
            .sink
            .push(Diagnostic::nowhere(&rules::KUSTOMIZATION, message).hint("use `purlin why` or `purlin resolve`"));
        None
    },
    rules: rules::RULES,
};

const USUAL: &[Usual] = &[usual("kustomization.yaml"), usual("kustomization.yml"), usual("Kustomization")];

const fn usual(name: &'static str) -> Usual {
    Usual { name, version: None, kind: None }
}

/// Components are built with the kustomizations that use them, unless one is named.
fn recognise(file: &Glance<'_>) -> Option<Sign> {
    let is_component = || file.head().get("kind") == Some("Component");
    (FILES.contains(&file.name()) && (file.is_named() || !is_component())).then_some(Sign::new(Role::Project, 10))
}

fn resolve(session: &Session, request: &Request) -> Option<Resolved> {
    let file = DIALECT.file_of(session, request)?;
    let folder = path::normalize(path::parent(&file));
    let mut resolved = build::resolve_alone(
        session,
        &Ask { path: &folder, request: request.clone(), values: Value::null(), span: None },
    )?;
    for node in &mut resolved.nodes {
        node.source = session.origins.span(node.resolved.origin, &session.sources);
    }
    Some(resolved)
}
