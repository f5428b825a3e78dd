//! Configuration that may still hold unbound templates.
//!
//! Contents of a file become values only when bound to a scope; actions made from modules mix both. A draft can be
//! bound repeatedly, and it can return the source as written, which versions are hashed from.

use crate::bind::{Binder, Env, entries, entry};
use crate::place::{NodeRef, Place};
use crate::structure;
use ecow::EcoString;
use purlin_syntax::{Node, Span};
use purlin_value::{Data, Eval, Lazy, Map, MergeKeys, Session, Thunk, Value, value_of};
use std::sync::Arc;

/// A part of a configuration.
#[derive(Clone, Debug)]
pub enum Draft {
    /// A finished value.
    Value(Value),
    /// A part of a file, templates and all.
    Node(NodeRef),
    /// A mapping of drafts.
    Map(Vec<(EcoString, Draft)>),
    /// A list of drafts.
    List(Vec<Draft>),
    /// A template string that a conversion wrote.
    Template(EcoString),
    /// An `$if` made by a conversion: the condition's template, and its result.
    Choice(EcoString, Box<Draft>, Option<Box<Draft>>),
}

impl Draft {
    /// An empty mapping.
    pub fn empty_map() -> Self {
        Draft::Map(Vec::new())
    }

    /// Text.
    pub fn text(text: impl Into<EcoString>) -> Self {
        Draft::Value(Value::str(text))
    }

    /// Binds it with a binder. Depth is bounded by the trees it was made from.
    pub fn bind(&self, binder: &mut Binder) -> Value {
        match self {
            Draft::Value(value) => value.clone(),
            Draft::Node(node) => binder.bind(node),
            Draft::Map(entries) => {
                let bound = entries.iter().map(|(key, item)| (key.clone(), binder.below(key, |b| item.bind(b))));
                Value::map(bound.collect())
            }
            Draft::List(items) => Value::list(items.iter().map(|item| item.bind(binder)).collect()),
            Draft::Template(text) => written_template(text, binder),
            Draft::Choice(condition, then, otherwise) => Lazy::value(Choice {
                condition: written_template(condition, binder),
                then: then.bind(binder),
                otherwise: otherwise.as_ref().map_or_else(Value::absent, |draft| draft.bind(binder)),
            }),
        }
    }

    /// Binds it to another scope. Values bound `before` that are the same in every environment are kept.
    pub fn bind_again(&self, binder: &mut Binder, before: Option<&Value>) -> Value {
        let again = before.and_then(|before| binder.rebound(before));
        again.unwrap_or_else(|| self.bind(binder))
    }

    /// The source as written, with templates as their text.
    pub fn written(&self) -> Value {
        match self {
            Draft::Value(value) => value.clone(),
            Draft::Node(node) => node.get().map_or_else(Value::null, |node| value_of(node, MergeKeys::Apply)),
            Draft::Map(entries) => {
                Value::map(entries.iter().map(|(key, item)| (key.clone(), item.written())).collect())
            }
            Draft::List(items) => Value::list(items.iter().map(Draft::written).collect()),
            Draft::Template(text) => Value::str(text.clone()),
            Draft::Choice(condition, then, otherwise) => {
                let mut map =
                    Map::from_iter([("$if".into(), Value::str(condition.clone())), ("$then".into(), then.written())]);
                if let Some(draft) = otherwise {
                    map.insert("$else".into(), draft.written());
                }
                Value::map(map)
            }
        }
    }

    /// The entry under a key, if it is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<Draft> {
        match self {
            Draft::Value(value) => value.get(key).cloned().map(Draft::Value),
            Draft::Map(entries) => entries.iter().find(|(known, _)| known == key).map(|(_, item)| item.clone()),
            Draft::Node(node) => Some(Draft::Node(node.other(entry(node.get()?, key)?))),
            Draft::List(_) | Draft::Template(_) | Draft::Choice(..) => None,
        }
    }

    /// The entries of a mapping.
    pub fn entries(&self) -> Vec<(EcoString, Draft)> {
        match self {
            Draft::Map(entries) => entries.clone(),
            Draft::Node(node) => {
                let Some(view) = node.get().filter(|view| view.is_map()) else { return Vec::new() };
                entries(view).into_iter().map(|(key, item)| (key, Draft::Node(node.other(item)))).collect()
            }
            Draft::Value(value) => value
                .as_map()
                .map(|map| map.iter().map(|(key, item)| (key.clone(), Draft::Value(item.clone()))).collect())
                .unwrap_or_default(),
            Draft::List(_) | Draft::Template(_) | Draft::Choice(..) => Vec::new(),
        }
    }

    /// The keys of a mapping.
    pub fn keys(&self) -> Vec<EcoString> {
        match self {
            Draft::Node(node) => {
                let view = node.get().filter(|view| view.is_map());
                view.map(|view| entries(view).into_iter().map(|(key, _)| key).collect()).unwrap_or_default()
            }
            _ => self.entries().into_iter().map(|(key, _)| key).collect(),
        }
    }

    /// Whether it is a mapping, and not an operator with another result.
    pub fn is_map(&self) -> bool {
        match self {
            Draft::Map(_) => true,
            Draft::Node(node) => node.get().is_some_and(|view| view.is_map() && !structure::is_operator(view)),
            Draft::Value(value) => value.as_map().is_some(),
            Draft::List(_) | Draft::Template(_) | Draft::Choice(..) => false,
        }
    }

    /// The items of a list.
    pub fn items(&self) -> Vec<Draft> {
        match self {
            Draft::List(items) => items.clone(),
            Draft::Node(node) => {
                let Some(view) = node.get() else { return Vec::new() };
                view.items().map(|item| Draft::Node(node.other(item))).collect()
            }
            Draft::Value(value) => {
                value.as_list().map(|list| list.iter().cloned().map(Draft::Value).collect()).unwrap_or_default()
            }
            Draft::Map(_) | Draft::Template(_) | Draft::Choice(..) => Vec::new(),
        }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        match self {
            Draft::Value(value) => value.is_null(),
            Draft::Node(node) => node.get().is_some_and(Node::is_null),
            _ => false,
        }
    }

    /// The finished value, if it is one.
    pub fn as_value(&self) -> Option<&Value> {
        match self {
            Draft::Value(value) => Some(value),
            _ => None,
        }
    }

    /// Where it is written, if it is in a file.
    pub fn span(&self, session: &Session) -> Option<Span> {
        match self {
            Draft::Node(node) => node.span(),
            Draft::Value(value) => session.origins.span(value.origin, &session.sources),
            Draft::Map(entries) => entries.first().and_then(|(_, item)| item.span(session)),
            Draft::List(items) => items.first().and_then(|item| item.span(session)),
            Draft::Template(_) => None,
            Draft::Choice(_, then, _) => then.span(session),
        }
    }

    /// Evaluates all parts that are known in a scope; the others stay nodes.
    pub fn settle(&self, session: &Session, env: &Arc<Env>) -> Draft {
        match self {
            Draft::Value(_) | Draft::Template(_) | Draft::Choice(..) => self.clone(),
            Draft::Node(node) => settle_node(node, session, env),
            Draft::Map(entries) => {
                Draft::Map(entries.iter().map(|(key, item)| (key.clone(), item.settle(session, env))).collect())
            }
            Draft::List(items) => Draft::List(items.iter().map(|item| item.settle(session, env)).collect()),
        }
    }
}

/// A template made by a conversion; it is in no file.
fn written_template(text: &EcoString, binder: &Binder) -> Value {
    match crate::expr::parse(text) {
        Ok(template) => binder.template(Arc::new(template), Place::Nowhere),
        Err(_) => Value::poison(),
    }
}

/// An `$if` that a conversion wrote.
struct Choice {
    condition: Value,
    then: Value,
    otherwise: Value,
}

impl Thunk for Choice {
    fn evaluate(&self, eval: &mut Eval<'_>) -> Value {
        let decided = eval.force(&self.condition);
        match decided.as_bool() {
            Some(true) => eval.force(&self.then),
            Some(false) => eval.force(&self.otherwise),
            None => decided,
        }
    }

    fn span(&self) -> Option<Span> {
        None
    }

    fn name(&self) -> String {
        "a condition of a converted module".into()
    }
}

fn settle_node(node: &NodeRef, session: &Session, env: &Arc<Env>) -> Draft {
    let Some(view) = node.get() else { return Draft::Value(Value::poison()) };
    let whole = view.is_scalar()
        || (view.is_map() && structure::is_operator(view))
        || (view.is_list() && structure::has_concat(view));
    if whole {
        let bound = Binder::new(env).bind(node);
        let value = Eval::new(session).force_deep(&bound);
        return if value.any(Value::is_pending) { Draft::Node(node.clone()) } else { Draft::Value(value) };
    }
    if view.is_list() {
        return Draft::List(view.items().map(|item| settle_node(&node.other(item), session, env)).collect());
    }
    let settled = |(key, item): (EcoString, Node<'_>)| (key, settle_node(&node.other(item), session, env));
    let settled = entries(view).into_iter().map(settled);
    // Absent values are left out, as in any mapping.
    Draft::Map(settled.filter(|(_, item)| !item.as_value().is_some_and(Value::is_absent)).collect())
}

/// Drops absent items from lists, everywhere; lists of actions are sparse.
pub(crate) fn without_gaps(value: &Value) -> Value {
    if !value.any(Value::is_absent) {
        return value.clone();
    }
    let data = match &value.data {
        Data::List(list) => {
            let kept: Vec<Value> = list.iter().filter(|item| !item.is_absent()).map(without_gaps).collect();
            Data::List(Arc::new(kept.into()))
        }
        Data::Map(map) => {
            let kept: Map = map
                .iter()
                .filter(|(_, item)| !item.is_absent())
                .map(|(key, item)| (key.clone(), without_gaps(item)))
                .collect();
            Data::Map(Arc::new(kept))
        }
        other => other.clone(),
    };
    value.clone().with(data)
}
