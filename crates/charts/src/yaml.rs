//! Reads YAML into values as Helm does: through JSON, so that every number is a float and every key a text.

use std::collections::HashMap;
use std::sync::Arc;

use purlin_gotmpl::yaml::{first_problem, go_message, key_text};
use purlin_syntax::{Kind, Node, Scalar, Tree};
use purlin_value::{Data, EcoString, Map, Origin, Value};

/// The value of a tree's document; the message is the one Helm would give.
pub fn value_of_tree(tree: &Tree, document: usize) -> Result<Value, String> {
    if let Some(problem) = first_problem(tree) {
        return Err(format!("yaml: {}", go_message(tree, problem)));
    }
    match tree.roots().nth(document) {
        Some(root) => value_of(root),
        None => Ok(Value::null()),
    }
}

/// The value of a node.
pub fn value_of(node: Node<'_>) -> Result<Value, String> {
    Reader { shared: HashMap::new() }.value(node)
}

struct Reader {
    shared: HashMap<u32, Value>,
}

impl Reader {
    fn value(&mut self, node: Node<'_>) -> Result<Value, String> {
        if node.is_alias() {
            let target = node.target();
            if let Some(value) = self.shared.get(&target.index()) {
                return Ok(value.clone());
            }
            let value = self.value(target)?;
            self.shared.insert(target.index(), value.clone());
            return Ok(value);
        }
        let data = match node.kind() {
            Kind::Scalar => scalar(node)?,
            Kind::List => {
                let items = node.items().map(|item| self.value(item)).collect::<Result<Vec<_>, _>>()?;
                return Ok(Value::list(items).with_origin(Origin::node(node)));
            }
            Kind::Map => Data::Map(Arc::new(self.map(node)?)),
            Kind::Alias | Kind::Error => Data::Null,
        };
        Ok(Value::new(data).with_origin(Origin::node(node)))
    }

    fn map(&mut self, node: Node<'_>) -> Result<Map, String> {
        let mut map = Map::new();
        let mut merged = Vec::new();
        for entry in node.entries() {
            if entry.key.is_merge_key() {
                merged.push(entry.value);
                continue;
            }
            let value = self.value(entry.value)?;
            let key = match entry.key.scalar() {
                Scalar::Str if entry.key.is_scalar() => entry.key.eco_text(),
                _ => EcoString::from(key_text(entry.key)?.text().as_ref()),
            };
            map.insert(key, value);
        }
        for base in merged {
            self.merge(&mut map, base)?;
        }
        Ok(map)
    }

    fn merge(&mut self, map: &mut Map, base: Node<'_>) -> Result<(), String> {
        if base.is_list() {
            for item in base.items() {
                self.merge(map, item)?;
            }
            return Ok(());
        }
        let value = self.value(base)?;
        let Some(entries) = value.as_map() else {
            return Err("yaml: map merge requires map or sequence of maps as the value".to_owned());
        };
        for (key, value) in entries.iter() {
            if !map.contains_key(key) {
                map.insert(key.clone(), value.clone());
            }
        }
        Ok(())
    }
}

fn scalar(node: Node<'_>) -> Result<Data, String> {
    Ok(match node.scalar() {
        Scalar::Null => Data::Null,
        Scalar::Bool(truth) => Data::Bool(truth),
        Scalar::Int(number) => Data::Float(number as f64),
        Scalar::BigInt => Data::Float(node.text().replace('_', "").parse().unwrap_or(0.0)),
        Scalar::Float(number) if number.is_finite() => Data::Float(number),
        Scalar::Float(number) => {
            let number = purlin_gotmpl::number::print_float(number);
            return Err(format!("error converting YAML to JSON: json: unsupported value: {number}"));
        }
        Scalar::Str | Scalar::Timestamp => Data::Str(node.eco_text()),
    })
}
