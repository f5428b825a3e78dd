//! The Garden dialect: projects made of actions, modules and templates, resolved into one graph.

// The kinds of the tables are numbered one by one.
#![recursion_limit = "256"]

pub mod actions;
pub mod again;
mod augment;
mod dialect;
pub mod dump;
pub mod entities;
pub mod expr;
pub mod functions;
mod inner;
pub mod modules;
mod names;
mod project;
pub mod read;
pub mod resolve;
mod rules;
pub mod scope;
pub mod tables;
pub mod values;

pub use actions::{action, graph, late, scripts, unapplied, workflows};
use actions::{providers, references};
pub use again::follow;
use again::{resume, variants, varying};
pub use dialect::{DIALECT, resolved_project};
pub use inner::Provider;
use read::{apart, place, render, scan, templates};
pub use read::{config, dotenv, draft, files, remote};
pub use scope::phases;
use scope::{base, ground, imports, near_variables, scopes, vars};
use tables::{check, complete, concealed, dockerfile, include, inputs, shapes, types};
pub use tables::{json_schema, reference};
use values::{bind, live, outputs, structure, trace};
pub use values::{json, number, versions};

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
