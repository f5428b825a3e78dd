//! The Garden dialect: projects made of actions, modules and templates, resolved into one graph.

// The kinds of the tables are numbered one by one.
#![recursion_limit = "256"]

pub mod action;
pub mod augment;
mod base;
mod bind;
mod check;
mod complete;
mod concealed;
pub mod config;
mod dialect;
mod dockerfile;
pub mod dotenv;
pub mod draft;
pub mod dump;
pub mod entities;
pub mod expr;
pub mod files;
pub mod follow;
pub mod functions;
pub mod graph;
mod ground;
mod imports;
mod include;
mod inner;
mod inputs;
pub mod json;
pub mod json_schema;
pub mod late;
mod live;
pub mod modules;
mod names;
mod near_variables;
pub mod number;
mod outputs;
pub mod phases;
mod place;
mod project;
mod providers;
pub mod reference;
mod references;
pub mod remote;
mod render;
pub mod resolve;
mod resume;
mod rules;
mod scan;
mod scopes;
pub mod scripts;
mod shapes;
mod structure;
mod templates;
mod trace;
mod types;
mod variants;
mod vars;
mod varying;
pub mod versions;
pub mod workflows;

pub use dialect::{DIALECT, resolved_project};
pub use inner::Provider;

use purlin_value::{Eval, Scope, Session, Value};
use std::sync::Arc;

/// Evaluates a tree of templates against a mapping: the language itself, without any project around it.
///
/// With `lazy_context`, strings of the context are templates too and see the context itself.
pub fn evaluate(
    session: &Session,
    template: &Arc<purlin_syntax::Tree>,
    context: &Arc<purlin_syntax::Tree>,
    options: EvaluateOptions,
) -> Value {
    let templates = Arc::new(templates::Templates::default());
    let load = |tree: &Arc<purlin_syntax::Tree>| {
        templates.read(tree, session);
        structure::check_shapes(tree, &session.sink);
        tree.root().map(|root| place::NodeRef::new(tree, root))
    };
    let context_node = match options.lazy_context {
        true => load(context),
        false => context.root().map(|root| place::NodeRef::new(context, root)),
    };
    let (Some(template), Some(context_node)) = (load(template), context_node) else {
        return Value::null();
    };
    let cell = scopes::Cell::default();
    let scope = Scope::new(scopes::Late::new("context", &cell));
    let env = Arc::new(bind::Env {
        templates: templates.clone(),
        scope,
        keep_escapes: options.keep_escapes,
        pre_graph: false,
        varying: Arc::default(),
        noted: None,
    });
    let value = if options.lazy_context {
        bind::Binder::of_layer(&env, expr::OwnLayer::Scope).bind(&context_node)
    } else {
        context_node.get().map_or_else(Value::null, |node| purlin_value::value_of(node, purlin_value::MergeKeys::Apply))
    };
    // The cell was just made, so it is empty.
    let _ = cell.set(value);
    let bound = bind::Binder::new(&env).bind(&template);
    Eval::new(session).force_deep(&bound)
}

/// How [`evaluate`] treats its inputs.
#[derive(Clone, Copy, Debug, Default)]
pub struct EvaluateOptions {
    /// Whether the context's strings are templates.
    pub lazy_context: bool,
    /// Whether `$${…}` stays as it is.
    pub keep_escapes: bool,
}
