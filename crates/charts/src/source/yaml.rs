//! Reads YAML into values as Helm does: through JSON, so that every number is a float and every key a text.

use std::borrow::Cow;

use purlin_gotmpl::yaml::{first_problem, go_message};
use purlin_gotmpl::yaml_tree::{Build, Leaf, build};
use purlin_syntax::{Node, Rule, RuleClass, Tree};
use purlin_value::{Data, EcoString, Map, Origin, Value};

/// The value of a tree's document; the error is Helm's.
pub fn value_of_tree(tree: &Tree, document: usize) -> Result<Value, String> {
    if let Some(problem) = first_problem(tree) {
        return Err(format!("yaml: {}", go_message(tree, problem)));
    }
    match tree.roots().nth(document) {
        Some(root) => value_of(root),
        None => Ok(Value::null()),
    }
}

/// The limit that a document exceeds; `None` if it fails for another reason.
pub fn limit_of(tree: &Tree) -> Option<&'static Rule> {
    first_problem(tree).map(|problem| problem.rule).filter(|rule| rule.class == RuleClass::Limit)
}

/// The value of a node.
pub fn value_of(node: Node<'_>) -> Result<Value, String> {
    build(node, &mut Values)
}

/// Builds values whose origin is their node.
struct Values;

impl Build for Values {
    type Value = Value;
    type Map = Map;

    fn leaf(&mut self, node: Node<'_>, leaf: Leaf<'_>) -> Value {
        let data = match leaf {
            Leaf::Null => Data::Null,
            Leaf::Bool(truth) => Data::Bool(truth),
            Leaf::Number(number) => Data::Float(number),
            Leaf::Text(_) => Data::Str(node.eco_text()),
        };
        Value::new(data).with_origin(Origin::node(node))
    }

    fn list(&mut self, node: Node<'_>, items: Vec<Value>) -> Value {
        Value::list(items).with_origin(Origin::node(node))
    }

    fn insert(&mut self, map: &mut Map, (_, key): (Node<'_>, Cow<'_, str>), value: Value) {
        map.insert(EcoString::from(key.as_ref()), value);
    }

    fn map(&mut self, node: Node<'_>, entries: Map) -> Value {
        Value::map(entries).with_origin(Origin::node(node))
    }
}
