//! The hook through which an extension adds to the graph before it is final.
//!
//! A hook sees all actions with what they need, and answers with further actions and dependencies. Hooks run in process
//! and in order; each sees what the ones before it added.

use crate::action::Action;
use crate::config::{ActionKind, ConfigKind};
use crate::draft::Draft;
use crate::graph::Graph;
use crate::render::Config;
use ecow::EcoString;

/// An extension of the graph.
pub type Augment = fn(&Graph) -> Additions;

/// Additions made by an extension.
#[derive(Default)]
pub struct Additions {
    /// Further actions.
    pub actions: Vec<(ActionKind, Config)>,
    /// Further dependencies: the action that needs another, and the other, by their keys.
    pub dependencies: Vec<(EcoString, EcoString)>,
}

/// The configuration of an action that an extension adds, in the folder of an existing one.
pub fn added_action(
    kind: ActionKind,
    type_name: &str,
    name: EcoString,
    beside: &Action,
    spec: Draft,
) -> (ActionKind, Config) {
    let config = Config {
        kind: ConfigKind::Action(kind),
        type_name: type_name.into(),
        name,
        body: Draft::Map(vec![("spec".into(), spec)]),
        file: beside.config.file.clone(),
        folder: beside.config.folder.clone(),
        span: beside.config.span,
        named: beside.config.named,
        rendered: None,
        varies: false,
    };
    (kind, config)
}
