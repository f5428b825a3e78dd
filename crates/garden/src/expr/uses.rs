//! Notes which declarations the names in a template string refer to, for editors and renaming.
//!
//! Every lookup of a string counts, whichever branch is taken: a rename must reach all of them. Problems are reported
//! by evaluation, not here.

use super::ast::{At, Expr, Key, Node, Part, Segment, Template};
use super::eval::Evaluator;
use super::find::VARIABLES;
use crate::config::ActionKind;
use ecow::EcoString;
use purlin_syntax::Span;
use purlin_value::names::{kind, unquoted};
use purlin_value::{Bound, Data, Lookup, NameId, Value};

/// A name that a space of names holds: its kind, its identity and how users speak of it.
type Symbol = (&'static str, NameId, EcoString);

impl Evaluator<'_, '_> {
    /// Notes every lookup of a string.
    pub(crate) fn note_names(&mut self, template: &Template) {
        for segment in &template.segments {
            match segment {
                Segment::Text(..) | Segment::Escaped(..) => {}
                Segment::Expr(node) | Segment::LoneIf(node) => self.note_node(node),
                Segment::If(branch) => {
                    self.note_node(&branch.condition);
                    self.note_names(&branch.then);
                    branch.otherwise.iter().for_each(|otherwise| self.note_names(otherwise));
                }
            }
        }
    }

    /// Depth is bounded by the parser.
    fn note_node(&mut self, node: &Node) {
        match &node.expr {
            Expr::Null | Expr::Bool(_) | Expr::Number(_) | Expr::Text(_) => {}
            Expr::Nested(template) => self.note_names(template),
            Expr::List(items) => items.iter().for_each(|item| self.note_node(item)),
            Expr::Lookup(path) => {
                self.note_computed(path);
                self.note_lookup(path);
            }
            Expr::Call(call) => call.args.iter().for_each(|argument| self.note_node(argument)),
            Expr::Member(of, path) => {
                self.note_node(of);
                self.note_computed(path);
                if let Ok(value) = self.node(of) {
                    self.note_steps(vec![value], Vec::new(), path);
                }
            }
            Expr::Unary(_, operand) => self.note_node(operand),
            Expr::Chain(first, rest) => {
                self.note_node(first);
                rest.iter().for_each(|(_, operand)| self.note_node(operand));
            }
            Expr::Choice(choices, last) => {
                for (condition, then) in choices {
                    self.note_node(condition);
                    self.note_node(then);
                }
                self.note_node(last);
            }
        }
    }

    fn note_computed(&mut self, path: &[Part]) {
        for part in path {
            if let Key::Computed(node) = &part.key {
                self.note_node(node);
            }
        }
    }

    fn note_lookup(&mut self, path: &[Part]) {
        let Some((Part { key: Key::Name(head), .. }, rest)) = path.split_first() else { return };
        let values = match self.env.scope.lookup(head, self.eval) {
            Lookup::Found(value) => vec![value],
            Lookup::Parts(parts) => {
                let plain = |part: &Part| match &part.key {
                    Key::Name(name) => Some(name.clone()),
                    Key::Computed(_) => None,
                };
                let names: Vec<EcoString> = rest.iter().map_while(plain).collect();
                self.without_own_named(head, &names, parts)
            }
            // Names of actions and modules mean the same before these exist.
            Lookup::NotHere { .. } | Lookup::Later { .. } => Vec::new(),
        };
        self.note_steps(values, vec![head.clone()], rest);
    }

    /// Follows keys into values, the strongest first, and notes the declaration of each. `trail` are the keys before.
    fn note_steps(&mut self, mut values: Vec<Value>, mut trail: Vec<EcoString>, path: &[Part]) {
        for part in path {
            let (name, is_computed) = match &part.key {
                Key::Name(name) => (name.clone(), false),
                Key::Computed(node) => match self.node(node) {
                    Ok(Value { data: Data::Str(text), .. }) => (text, true),
                    Ok(value) if value.as_number().is_some() => return,
                    _ => return self.note_any(&values, &trail, part.at),
                },
            };
            let found = self.found(&values, &name);
            let symbol = match self.symbol(&trail, &name) {
                None => self.declared(&found, &trail, &name),
                known => known,
            };
            if let (Some(symbol), Some(span)) = (symbol, self.place.part(part.at)) {
                self.note(symbol, &name, span, is_computed.then_some(Bound::Computed));
            }
            values = found;
            trail.push(name);
        }
    }

    /// Values of some collections under a key: the winner, and those merged with it.
    fn found(&mut self, values: &[Value], key: &str) -> Vec<Value> {
        let mut found: Vec<Value> = Vec::new();
        for value in values {
            let Some(next) = self.eval.force(value).get(key).cloned() else { continue };
            let is_plain = !self.eval.force(&next).is_collection();
            if found.is_empty() || !is_plain {
                found.push(next);
            }
            if is_plain {
                break;
            }
        }
        found
    }

    /// The symbol of a key if the keys before it lead to a namespace.
    fn symbol(&mut self, trail: &[EcoString], name: &EcoString) -> Option<Symbol> {
        let trail: Vec<&str> = trail.iter().map(EcoString::as_str).collect();
        let action = |of: ActionKind| {
            let key = ecow::eco_format!("{}.{name}", of.lower());
            (kind::ACTION, NameId::named(kind::ACTION, "", key.clone()), key)
        };
        let plain = |of: &'static str| (of, NameId::named(of, "", name.clone()), name.clone());
        match trail.as_slice() {
            ["actions", word] => ActionKind::ALL.into_iter().find(|known| known.lower() == *word).map(action),
            ["runtime", "services"] => Some(action(ActionKind::Deploy)),
            ["runtime", "tasks"] => Some(action(ActionKind::Run)),
            ["modules"] => Some(plain(kind::MODULE)),
            ["providers"] => Some(plain(kind::PROVIDER)),
            ["inputs"] => {
                let Lookup::Found(template) = self.env.scope.lookup("template", self.eval) else { return None };
                let template = EcoString::from(template.get("name")?.as_str()?);
                Some((kind::INPUT, NameId::named(kind::INPUT, template, name.clone()), name.clone()))
            }
            _ => None,
        }
    }

    /// The declaration whose key is written in a file.
    fn declared(&mut self, found: &[Value], trail: &[EcoString], name: &EcoString) -> Option<Symbol> {
        let session = self.eval.session;
        let place = |value: &Value| session.origins.key_place(value.origin, name, &session.sources);
        let first = found.first()?;
        let span = place(first).or_else(|| place(&self.eval.force(first)))?;
        let span = unquoted(span, &session.sources);
        let head = trail.iter().rposition(|key| VARIABLES.contains(&key.as_str()));
        let above = trail.get(head.map_or(0, |head| head + 1)..).unwrap_or_default();
        let shown = if above.is_empty() { name.clone() } else { ecow::eco_format!("{}.{name}", above.join(".")) };
        let id = NameId::Place(span);
        if head.is_some() {
            session.names.declare(id.clone(), kind::VARIABLE, shown.clone(), span, span);
        }
        Some((kind::VARIABLE, id, shown))
    }

    /// A key that cannot be computed here may be any of the existing ones.
    fn note_any(&mut self, values: &[Value], trail: &[EcoString], at: At) {
        let Some(span) = self.place.part(at) else { return };
        for value in values {
            let forced = self.eval.force(value);
            let keys: Vec<EcoString> = forced.as_map().map(|map| map.keys().cloned().collect()).unwrap_or_default();
            for key in keys {
                let found = self.found(std::slice::from_ref(&forced), &key);
                let symbol = match self.symbol(trail, &key) {
                    None => self.declared(&found, trail, &key),
                    known => known,
                };
                if let Some(symbol) = symbol {
                    self.note(symbol, &key, span, Some(Bound::Computed));
                }
            }
        }
    }

    fn note(&self, (kind, id, shown): Symbol, name: &str, span: Span, bound: Option<Bound>) {
        let session = self.eval.session;
        let source = session.sources.get(span.file);
        let text = source.as_ref().and_then(|source| source.text().get(span.start as usize..span.end as usize));
        let inset = text.filter(|text| text.len() == name.len() + 2 && text.get(1..=name.len()) == Some(name));
        let span = if inset.is_some() { Span::new(span.file, span.start + 1, span.end - 1) } else { span };
        let is_written = inset.is_some() || text == Some(name);
        match bound.or_else(|| (!is_written).then_some(Bound::Text)) {
            Some(why) => session.names.bound(id, kind, shown, span, why),
            None => session.names.uses(id, kind, shown, span),
        }
    }
}
