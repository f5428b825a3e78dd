//! Static checks of an ensemble's expressions: what can be told without evaluating them.

use crate::ensemble::Ensemble;
use crate::ensemble::report::{self, span_of};
use crate::error::{Error, Kind};
use crate::eval::form::{self, Expr, Form};
use crate::functions;
use crate::jinja;
use crate::limits::MAX_DEPTH;
use crate::query::{self, Key, Query, Range, Segment, Start};
use crate::rules;
use crate::special::SPECIAL_KEYS;
use crate::tree::{Attribute, Attributes, NodeId, NodeKind, Tree};
use crate::val::{Data, MapKey, Val, ValMap};
use ecow::EcoString;
use purlin_syntax::{Diagnostic, Rule, Span};
use purlin_value::Session;
use std::cell::{Cell, RefCell};

/// What a check found.
pub struct Findings {
    /// Where errors are.
    pub errors: Vec<Span>,
    /// Whether one of TOSCA's functions is used in a way that Unfurl refuses before it evaluates anything.
    pub refused: bool,
}

/// Checks every expression of an ensemble. Problems go to the session's sink; returns where errors are.
pub fn check(session: &Session, ensemble: &Ensemble) -> Vec<Span> {
    findings(session, ensemble).errors
}

/// The same, with more about what was found.
pub fn findings(session: &Session, ensemble: &Ensemble) -> Findings {
    ensemble.report_overlooked(session);
    let tree = &ensemble.tree;
    let mut checker = Checker::new(session, tree);
    for id in tree.ids() {
        checker.node = Some(if tree.node(id).kind == NodeKind::Values { tree.topology_of(id).root } else { id });
        if tree.node(id).shadow.is_some() {
            continue; // its values are those of the node that stands for it
        }
        for (name, attribute) in &tree.node(id).attributes {
            checker.attribute(name, attribute);
        }
    }
    Findings { errors: checker.errors.take(), refused: checker.refused.get() }
}

/// What is suspicious about an expression that is asked on an instance: warnings, since it is evaluated anyway.
pub fn question(session: &Session, tree: &Tree, raw: &Val, on: NodeId) {
    let mut checker = Checker::new(session, tree);
    checker.node = Some(on);
    checker.asked = true;
    checker.expression(raw, 0, false);
}

struct Checker<'c> {
    session: &'c Session,
    tree: &'c Tree,
    variables: Vec<EcoString>,
    node: Option<NodeId>,
    /// Whether the expression is evaluated whatever is said about it.
    asked: bool,
    errors: RefCell<Vec<Span>>,
    refused: Cell<bool>,
}

impl<'c> Checker<'c> {
    /// The instance whose expression is looked at.
    fn here(&self) -> NodeId {
        self.node.unwrap_or_else(|| self.tree.root())
    }

    /// The topology's inputs.
    fn inputs(&self) -> &'c Attributes {
        &self.tree.node(self.tree.topology_of(self.here()).inputs).attributes
    }

    fn new(session: &'c Session, tree: &'c Tree) -> Self {
        Checker {
            session,
            tree,
            variables: Vec::new(),
            node: None,
            asked: false,
            errors: RefCell::default(),
            refused: Cell::new(false),
        }
    }
}

/// The separator of `token`, if it is written out.
fn separator(items: Option<&[Val]>) -> Option<&str> {
    items?.get(1)?.as_str().filter(|separator| !jinja::is_template(separator))
}

impl Checker<'_> {
    fn say(&self, rule: &'static Rule, raw: &Val, at: Option<Range>, message: String, hint: Option<String>) {
        let kind = if rule == &rules::SYNTAX { Kind::Syntax } else { Kind::Value };
        let hint = hint.or_else(|| report::hint_of(kind, &message));
        let mut diagnostic = Diagnostic::nowhere(rule, report::in_words(&message)).maybe_hint(hint);
        let whole = span_of(self.session, raw.origin);
        let part = match (whole, at, raw.as_str()) {
            (Some(whole), Some(at), Some(text)) => report::within(self.session, whole, text, at.start, at.end),
            _ => None,
        };
        diagnostic.span = part.or(whole);
        if self.asked {
            // What stops the evaluation says so itself.
            if diagnostic.rule == &rules::SYNTAX || diagnostic.rule == &rules::TYPE {
                return;
            }
            diagnostic = diagnostic.warning();
        }
        if diagnostic.is_error() {
            self.errors.borrow_mut().extend(whole);
        }
        self.session.sink.push(diagnostic);
    }

    fn attribute(&mut self, name: &str, attribute: &Attribute) {
        self.value(&attribute.raw, 0);
        self.result_type(name, attribute);
    }

    /// A value as written, and everything in it.
    fn value(&mut self, raw: &Val, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match &raw.data {
            Data::Str(text) if jinja::is_template(text) => self.template(raw, text),
            Data::List(items) => items.iter().for_each(|item| self.value(item, depth + 1)),
            Data::Map(entries) => match Form::of(entries) {
                Some(form) => self.form(&form, depth),
                None => {
                    self.unevaluated(raw, entries);
                    entries.values().for_each(|item| self.value(item, depth + 1));
                }
            },
            _ => {}
        }
    }

    /// A function with an argument beside it: without `eval` this is a mapping.
    fn unevaluated(&self, raw: &Val, entries: &ValMap) {
        let is = |name: &str| entries.contains_key(&MapKey::from(name));
        if entries.len() == 2 && is("concat") && is("sep") {
            let message = "`concat` with `sep` is not evaluated here, since it is not the only key".to_owned();
            let hint = Some("write `eval: {concat: […], sep: …}`".to_owned());
            self.say(&rules::SUSPICIOUS, raw, None, message, hint);
        }
    }

    fn template(&self, raw: &Val, text: &str) {
        if let Err(error) = jinja::Template::parse(text) {
            self.problem(raw, &error);
        }
    }

    fn problem(&self, raw: &Val, error: &Error) {
        let rule = report::rule(error.kind);
        self.say(rule, raw, error.at, error.message.clone(), error.hint.clone());
    }

    fn form(&mut self, form: &Form<'_>, depth: usize) {
        let expr = match form.expr {
            Expr::Standalone(function) => return self.call(function.name, form.entries, depth),
            Expr::Eval(expr) => expr,
        };
        let before = self.variables.len();
        for (name, value) in form.vars().into_iter().flatten() {
            self.variables.extend(name.as_str().map(EcoString::from));
            self.value(value, depth + 1);
        }
        self.expression(expr, depth + 1, true);
        // Within a body the current item is not known.
        let node = self.node;
        for body in [form.foreach(), form.select()].into_iter().flatten() {
            let names = ["item", "index", "key", "collection", "break", "continue"];
            self.variables.extend(names.map(EcoString::from));
            self.node = None;
            self.body(body, depth + 1);
        }
        self.node = node;
        self.variables.truncate(before);
    }

    fn body(&mut self, body: &Val, depth: usize) {
        match &body.data {
            Data::Str(_) => self.expression(body, depth, false),
            Data::Map(entries) if Form::of(entries).is_none() => {
                for (key, part) in entries.iter() {
                    let is_part = matches!(key.as_str(), Some("key" | "value"));
                    if is_part { self.expression(part, depth + 1, false) } else { self.value(part, depth + 1) }
                }
            }
            _ => self.value(body, depth),
        }
    }

    /// An expression: a query, a template, a map with a function.
    fn expression(&mut self, expr: &Val, depth: usize, strict: bool) {
        if depth > MAX_DEPTH {
            return;
        }
        match &expr.data {
            Data::Str(text) if jinja::is_template(text) => self.template(expr, text),
            Data::Str(text) => self.query(expr, text),
            Data::Map(entries) => {
                if let Some(form) = Form::of(entries) {
                    return self.form(&form, depth);
                }
                match form::function_of(entries, false) {
                    Some((_, function)) => self.call(function.name, entries, depth),
                    None if strict => self.no_function(expr, entries),
                    None => entries.values().for_each(|item| self.value(item, depth + 1)),
                }
            }
            _ => self.value(expr, depth + 1),
        }
    }

    fn no_function(&self, expr: &Val, entries: &ValMap) {
        let Some(name) = entries.keys().find_map(MapKey::as_str) else {
            return self.say(&rules::UNKNOWN, expr, None, "`eval` needs a function and has an empty map".into(), None);
        };
        let hint = functions::nearest(name).map(|near| format!("did you mean `{near}`?"));
        self.say(&rules::UNKNOWN, expr, None, format!("unknown function `{name}`"), hint);
    }

    /// The arguments of a call: for conditions they are expressions, elsewhere values.
    fn call(&mut self, name: &str, entries: &ValMap, depth: usize) {
        let null = Val::null();
        let arg = entries.get(&MapKey::Str(name.into())).unwrap_or(&null);
        self.arguments(name, arg);
        match name {
            "q" => {}
            "if" | "and" | "or" | "not" if !entries.contains_key(&MapKey::from("map_value")) => {
                match arg.as_list() {
                    Some(items) => items.iter().for_each(|item| self.expression(item, depth + 1, true)),
                    None => self.expression(arg, depth + 1, true),
                }
                for part in ["then", "else"] {
                    if let Some(branch) = entries.get(&MapKey::from(part)) {
                        self.expression(branch, depth + 1, true);
                    }
                }
            }
            "foreach" => self.body(arg, depth + 1),
            _ => entries.values().for_each(|value| self.value(value, depth + 1)),
        }
    }

    /// Arguments whose shape or names can be told.
    fn arguments(&self, name: &str, arg: &Val) {
        let wrong = |message: &str| self.say(&rules::TYPE, arg, None, format!("`{name}` {message}"), None);
        let items = arg.as_list();
        match name {
            "eq" | "ne" | "gt" | "ge" | "lt" | "le" | "add" | "sub" | "mul" | "pow" | "div" | "mod"
                if (items.is_some_and(|items| items.len() != 2) || matches!(arg.data, Data::Str(_) | Data::Int(_)))
                    && !arg.as_str().is_some_and(jinja::is_template) =>
            {
                wrong("needs a list of two values");
            }
            "token" if items.is_none_or(|items| items.len() < 3) && !is_computed(arg) => {
                self.refused.set(true);
                wrong("needs a string, a separator and an index");
            }
            "token" if separator(items).is_some_and(|separator| separator.chars().nth(1).is_some()) => {
                self.refused.set(true);
                wrong("needs a separator of one character");
            }
            "validate" | "validate_json" if items.is_some_and(|items| items.len() != 2) => {
                wrong("needs a value and a schema");
            }
            "and" | "or" if items.is_some_and(<[Val]>::is_empty) => wrong("needs at least one operand"),
            "concat" if items.is_some_and(<[Val]>::is_empty) => {
                self.refused.set(true);
                wrong("needs at least one value");
            }
            "get_input" => {
                let input = items.map_or(Some(arg), |items| items.first().filter(|_| items.len() == 1));
                // Evaluation says the same.
                if let Some(input) = input.and_then(Val::as_str).filter(|_| !self.asked)
                    && !self.inputs().contains_key(input)
                {
                    self.refused.set(true);
                    let known = self.inputs().keys().map(EcoString::as_str);
                    let hint =
                        purlin_syntax::suggest::nearest(input, known).map(|near| format!("did you mean `{near}`?"));
                    self.say(&rules::UNKNOWN, arg, None, format!("unknown input `{input}`"), hint);
                }
            }
            "get_property" | "get_attribute" => self.entity(name, arg),
            _ => {}
        }
    }

    /// The instance and name of `get_property` and `get_attribute`.
    fn entity(&self, function: &str, arg: &Val) {
        let Some([entity, name, ..]) = arg.as_list() else {
            self.refused.set(true);
            return self.say(
                &rules::TYPE,
                arg,
                None,
                format!("`{function}` needs a list of an instance and a name"),
                None,
            );
        };
        let Some(entity_name) = entity.as_str().filter(|name| !jinja::is_template(name)) else { return };
        let at_root = self.node.is_some_and(|id| id == self.tree.topology_of(id).root);
        let id = match entity_name {
            "SELF" | "HOST" if at_root && !self.asked => {
                self.refused.set(true);
                let message = format!("`{entity_name}` means nothing outside of a node");
                return self.say(&rules::UNKNOWN, entity, None, message, None);
            }
            "HOST" if self.node.is_some_and(|id| !self.is_hosted(id)) => {
                self.refused.set(true);
                let message = "`HOST` means nothing here: the node is not hosted on another";
                return self.say(&rules::UNKNOWN, entity, None, message.to_owned(), None);
            }
            "SELF" => self.node,
            "SOURCE" | "TARGET" | "HOST" | "ORCHESTRATOR" | "OPERATION_HOST" => return,
            other => match self.tree.find(self.here(), other).or_else(|| self.of_type(other)) {
                Some(id) => Some(id),
                None => {
                    self.refused.set(true);
                    return self.no_instance(entity, other, None);
                }
            },
        };
        let (Some(id), Some(wanted)) = (id, name.as_str()) else { return };
        if let Some(part) = arg.as_list().and_then(|items| items.get(2)).filter(|_| function == "get_property")
            && let Some(unset) = part.as_str().filter(|unset| self.is_unset(id, wanted, unset))
        {
            self.refused.set(true);
            let message = format!("`{unset}` of the capability `{wanted}` is not set");
            return self.say(&rules::UNKNOWN, part, None, message, Some("assign it, or give it a default".into()));
        }
        if !self.has_name(id, wanted) {
            self.refused.set(true);
            let known = self.names_of(id);
            let hint = purlin_syntax::suggest::nearest(wanted, known.iter().map(EcoString::as_str));
            let hint = hint.map(|near| format!("did you mean `{near}`?"));
            let node = &self.tree.node(id).name;
            self.say(
                &rules::UNKNOWN,
                name,
                None,
                format!("`{node}` has no {} `{wanted}`", function.trim_start_matches("get_")),
                hint,
            );
        }
    }

    /// Whether a capability of a node has no value for a property.
    fn is_unset(&self, id: NodeId, capability: &str, property: &str) -> bool {
        let node = self.tree.node(id);
        let is_meant = |name: &EcoString| name == capability && !node.attributes.contains_key(name);
        let requires = node.requirements.iter().any(|id| self.tree.node(*id).name == capability);
        let mut capabilities = node.capabilities.iter().map(|id| self.tree.node(*id));
        let found = capabilities.find(|known| !requires && is_meant(&known.name));
        found.is_some_and(|found| found.attributes.get(property).is_none_or(|attribute| attribute.raw.is_null()))
    }

    /// Whether a node requires something, so that it may be hosted.
    fn is_hosted(&self, id: NodeId) -> bool {
        let node = self.tree.node(id);
        node.kind != NodeKind::Node
            || !node.requirements.is_empty()
            || node.parent.is_some_and(|parent| self.tree.node(parent).kind != NodeKind::Root)
    }

    /// The first instance of a type.
    fn of_type(&self, name: &str) -> Option<NodeId> {
        let mut nodes = self.tree.named_in(self.here()).map(|(_, id)| id);
        nodes.find(|id| self.tree.node(*id).types.iter().any(|known| known == name))
    }

    fn no_instance(&self, raw: &Val, name: &str, at: Option<Range>) {
        let names = self.tree.named_in(self.here()).map(|(name, _)| name.as_str());
        let hint = purlin_syntax::suggest::nearest(name, names).map(|near| format!("did you mean `{near}`?"));
        self.say(&rules::UNKNOWN, raw, at, format!("unknown instance `{name}`"), hint);
    }

    fn names_of(&self, id: NodeId) -> Vec<EcoString> {
        let node = self.tree.node(id);
        let parts = node.capabilities.iter().chain(&node.requirements).map(|id| self.tree.node(*id).name.clone());
        node.attributes.keys().cloned().chain(parts).collect()
    }

    fn has_name(&self, id: NodeId, name: &str) -> bool {
        let node = self.tree.node(id);
        // Attributes of another kind of instance, or supplied by an expression, cannot be told.
        node.kind != NodeKind::Node
            || node.attributes.contains_key(".interfaces")
            || self.names_of(id).iter().any(|known| known == name)
    }

    fn query(&self, raw: &Val, text: &str) {
        let query = match query::parse(text) {
            Ok(query) => query,
            Err(error) => return self.problem(raw, &Box::<Error>::from(error)),
        };
        for note in &query.notes {
            self.say(&rules::SUSPICIOUS, raw, Some(note.at), note.message.clone(), None);
        }
        if let Start::Variable(name) = &query.start {
            let known = ["true", "false", "null", "start"].contains(&name.as_str())
                || self.variables.iter().any(|variable| variable == name);
            if !known && self.node.is_some() {
                let at = Range { start: 0, end: u32::try_from(name.len() + 1).unwrap_or(0) };
                let hint = purlin_syntax::suggest::nearest(name, self.variables.iter().map(EcoString::as_str));
                let hint = hint.map(|near| format!("did you mean `${near}`?"));
                self.say(&rules::SUSPICIOUS, raw, Some(at), format!("`${name}` is not defined here"), hint);
            }
        }
        self.keys(raw, &query);
    }

    /// Keys that can be told: built-in ones, and instances by name with their attributes.
    fn keys(&self, raw: &Val, query: &Query) {
        self.special_keys(raw, &query.segments);
        if query.start != Start::All {
            return;
        }
        let Some((Segment { key: Key::Name(name), at, .. }, rest)) = query.segments.split_first() else { return };
        let Some(id) = self.tree.find(self.here(), name) else {
            return self.no_instance(raw, name, Some(*at));
        };
        if let Some(Segment { key: Key::Name(key), at, .. }) = rest.first()
            && !self.tree.node(id).attributes.contains_key(key)
            && self.tree.node(id).kind == NodeKind::Node
            && !self.tree.node(id).attributes.contains_key(".interfaces")
            && !self.tree.node(id).has_operations
        {
            let known = self.tree.node(id).attributes.keys().map(EcoString::as_str);
            let hint = purlin_syntax::suggest::nearest(key, known).map(|near| format!("did you mean `{near}`?"));
            let message = format!("`{name}` has no attribute `{key}`, so this is null");
            self.say(&rules::SUSPICIOUS, raw, Some(*at), message, hint);
        }
    }

    fn special_keys(&self, raw: &Val, segments: &[Segment]) {
        for segment in segments {
            if let Key::Special(None, text) = &segment.key {
                let near = purlin_syntax::suggest::nearest(text, SPECIAL_KEYS.iter().map(|row| row.text));
                let hint = near.map(|near| format!("did you mean `{near}`?"));
                self.say(&rules::UNKNOWN, raw, Some(segment.at), format!("unknown built-in key `{text}`"), hint);
            }
            for filter in &segment.filters {
                self.special_keys(raw, &filter.segments);
            }
        }
    }

    /// An expression whose result can only be text where the type wants something else.
    fn result_type(&self, name: &str, attribute: &Attribute) {
        let Some(schema) = &attribute.schema else { return };
        let Some(entries) = attribute.raw.as_map() else { return };
        let Some(form) = Form::of(entries) else { return };
        let makes_text = |name: &str| matches!(name, "concat" | "join" | "token" | "urljoin");
        let function = match form.expr {
            Expr::Standalone(function) => Some(function.name),
            Expr::Eval(expr) if form.foreach().is_none() && form.select().is_none() => {
                expr.as_map().and_then(|entries| form::function_of(entries, false)).map(|(_, function)| function.name)
            }
            Expr::Eval(_) => None,
        };
        let Some(function) = function.filter(|function| makes_text(function)) else { return };
        if matches!(schema.type_name.as_str(), "integer" | "float" | "boolean" | "list" | "map") {
            let wanted = &schema.type_name;
            let message = format!("`{name}` must be of type `{wanted}`, but `{function}` makes a string");
            self.say(&rules::INVALID, &attribute.raw, None, message, None);
        }
    }
}

/// Whether a value is an expression or a template, so that its form is known only later.
fn is_computed(value: &Val) -> bool {
    match &value.data {
        Data::Str(text) => jinja::is_template(text),
        Data::Map(entries) => crate::eval::form::Form::of(entries).is_some(),
        _ => false,
    }
}
