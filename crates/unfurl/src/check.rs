//! Static checks of an ensemble's expressions: problems that show without evaluating them.

use crate::ensemble::Ensemble;
use crate::ensemble::report::{self, span_of};
use crate::ensemble::service::Service;
use crate::error::Error;
use crate::eval::form::{self, Expr, Form};
use crate::functions;
use crate::jinja;
use crate::limits::MAX_DEPTH;
use crate::lookup::{Found, Lookup, When};
use crate::query::{self, Key, Query, Range, Segment, Start};
use crate::rules;
use crate::special::SPECIAL_KEYS;
use crate::tree::{Attribute, Attributes, NodeId, NodeKind, Tree};
use crate::val::{Data, MapKey, Val, ValMap};
use ecow::EcoString;
use purlin_syntax::Message;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, Rule, Span};
use purlin_value::Session;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;

/// The result of a check.
pub struct Findings {
    /// Locations of errors.
    pub errors: Vec<Span>,
    /// Uses of TOSCA's functions that Unfurl rejects before it evaluates anything.
    pub refusals: Vec<Diagnostic>,
}

/// Checks every expression of an ensemble. Problems go to the session's sink; returns the locations of errors.
pub fn check(session: &Session, ensemble: &Ensemble) -> Vec<Span> {
    findings(session, ensemble).errors
}

/// The same, with details of the findings.
pub fn findings(session: &Session, ensemble: &Ensemble) -> Findings {
    ensemble.report_overlooked(session);
    let tree = &ensemble.tree;
    let mut checker = Checker::new(session, tree);
    for id in tree.ids() {
        checker.service = Some(ensemble.service_at(tree.topology_index(id)));
        checker.node = Some(if tree.node(id).kind == NodeKind::Values { tree.topology_of(id).root } else { id });
        if tree.node(id).shadow.is_some() {
            continue; // its values are those of the node that stands for it
        }
        let kind = tree.node(id).kind;
        for (name, attribute) in &tree.node(id).attributes {
            checker.is_read = match kind {
                NodeKind::Node | NodeKind::Capability | NodeKind::Relationship => attribute.property,
                NodeKind::Values => id == tree.topology_of(id).outputs,
                _ => false,
            };
            checker.attribute(name, attribute);
        }
    }
    checker.service = Some(&ensemble.service);
    checker.operations(ensemble);
    checker.decorators(ensemble);
    Findings { errors: checker.errors.take(), refusals: checker.refusals.take() }
}

/// What Unfurl rejects while it reads the service template, and nothing else.
pub fn refusals(session: &Session, ensemble: &Ensemble) -> Vec<Diagnostic> {
    session.sink.apart(|| findings(session, ensemble)).0.refusals
}

/// Problems of an expression that is queried on an instance: warnings, since it is evaluated anyway.
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
    /// The service that names belong to; none while an expression is queried.
    service: Option<&'c Service>,
    /// Whether the expression is evaluated in spite of findings.
    asked: bool,
    /// Whether Unfurl checks TOSCA's functions here while it reads the service template, where they are the whole
    /// value.
    is_read: bool,
    errors: RefCell<Vec<Span>>,
    refusals: RefCell<Vec<Diagnostic>>,
    /// Whether the next problem is a refusal.
    refused: Cell<bool>,
}

impl<'c> Checker<'c> {
    /// The instance whose expression is being checked.
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
            service: None,
            asked: false,
            is_read: false,
            errors: RefCell::default(),
            refusals: RefCell::default(),
            refused: Cell::new(false),
        }
    }
}

impl Checker<'_> {
    fn say(&self, rule: &'static Rule, raw: &Val, at: Option<Range>, message: impl Into<Message>, hint: Option<Hint>) {
        let refuses = self.refused.replace(false);
        let mut diagnostic = Diagnostic::nowhere(rule, message).maybe_hint(hint);
        let whole = span_of(self.session, raw.origin);
        let part = match (whole, at, raw.as_str()) {
            (Some(whole), Some(at), Some(text)) => report::within(self.session, whole, text, at.start, at.end),
            _ => None,
        };
        diagnostic.span = part.or(whole);
        if self.asked {
            // Errors that stop the evaluation are reported by it.
            if diagnostic.rule == &rules::SYNTAX || diagnostic.rule == &rules::TYPE {
                return;
            }
            diagnostic = diagnostic.warning();
        }
        if refuses && diagnostic.is_error() {
            self.refusals.borrow_mut().push(diagnostic.clone());
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

    /// Inputs of interfaces and operations: only TOSCA's functions, since tasks evaluate the rest with more context.
    fn operations(&mut self, ensemble: &Ensemble) {
        self.is_read = true;
        for (name, node) in &ensemble.service.topology.nodes {
            let Some(id) = self.tree.by_name(name) else { continue };
            self.node = Some(id);
            for interface in node.interfaces.values() {
                let inputs = interface.operations.values().flat_map(|operation| operation.inputs.values());
                let mut seen: HashSet<Span> = HashSet::new();
                for prop in interface.inputs.values().chain(inputs).filter(|prop| prop.value.is_call()) {
                    // Inputs of an interface are repeated in each of its operations.
                    if !seen.insert(prop.value.span) {
                        continue;
                    }
                    let raw = ensemble.written(&prop.value);
                    let entries = raw.as_map().filter(|entries| entries.len() == 1);
                    if let Some(Form { expr: Expr::Standalone(function), entries }) = entries.and_then(Form::of)
                        && matches!(function.name, "get_property" | "get_attribute" | "get_input" | "concat" | "token")
                    {
                        let null = Val::null();
                        let arg = entries.get(&MapKey::Str(function.name.into())).unwrap_or(&null);
                        self.arguments(function.name, arg, true);
                    }
                }
            }
        }
    }

    /// Decorators are evaluated while the service template is read, where reading outside data is not allowed.
    fn decorators(&self, ensemble: &Ensemble) {
        for file in &ensemble.service.model.files.list {
            for (_, decorator) in file.entity.entries("decorators") {
                for (_, value) in decorator.values("properties") {
                    self.safe(&ensemble.written(value), 0);
                }
            }
        }
    }

    /// Rejects functions with access to the outside.
    fn safe(&self, raw: &Val, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match &raw.data {
            Data::List(items) => items.iter().for_each(|item| self.safe(item, depth + 1)),
            Data::Map(entries) => {
                let function = match Form::of(entries).map(|form| form.expr) {
                    Some(Expr::Standalone(function)) => Some(function),
                    Some(Expr::Eval(expr)) => expr
                        .as_map()
                        .and_then(|entries| form::function_of(entries, false))
                        .map(|(_, function)| function),
                    None => None,
                };
                if let Some(function) = function.filter(|function| !function.call.safe) {
                    self.refused.set(true);
                    let message = format!("`{}` is not allowed in a decorator", function.name);
                    let hint = "decorators are evaluated before anything outside may be read; set it in the template";
                    return self.say(&rules::VALUE, raw, None, message, Some(hint.into()));
                }
                entries.values().for_each(|item| self.safe(item, depth + 1));
            }
            _ => {}
        }
    }

    /// A value as written, and its parts.
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

    /// A function with an argument beside it: without `eval` it is a mapping.
    fn unevaluated(&self, raw: &Val, entries: &ValMap) {
        let is = |name: &str| entries.contains_key(&MapKey::from(name));
        if entries.len() == 2 && is("concat") && is("sep") {
            let message = "`concat` with `sep` is not evaluated here, since it is not the only key".to_owned();
            let hint = Some("write `eval: {concat: […], sep: …}`".into());
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
        self.say(rule, raw, error.at, report::words(error), error.hint.clone());
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
            return self.say(&rules::UNKNOWN, expr, None, "`eval` needs a function and has an empty map", None);
        };
        let hint = functions::nearest(name).map(|near| Hint::meant(name, near));
        self.say(&rules::UNKNOWN, expr, None, what::unknown("function", name), hint);
    }

    /// The arguments of a call: for conditions they are expressions, elsewhere values.
    fn call(&mut self, name: &str, entries: &ValMap, depth: usize) {
        let null = Val::null();
        let arg = entries.get(&MapKey::Str(name.into())).unwrap_or(&null);
        self.arguments(name, arg, self.is_read && depth == 0);
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

    /// Arguments with a checkable shape or names. Problems of a call that is the `whole` value are rejected while the
    /// template is read.
    fn arguments(&self, name: &str, arg: &Val, whole: bool) {
        let wrong = |message: &str| self.say(&rules::TYPE, arg, None, format!("`{name}` {message}"), None);
        let refuse = |message: &str| {
            self.refused.set(true);
            wrong(message);
        };
        let items = arg.as_list();
        match name {
            "eq" | "ne" | "gt" | "ge" | "lt" | "le" | "add" | "sub" | "mul" | "pow" | "div" | "mod"
                if (items.is_some_and(|items| items.len() != 2) || matches!(arg.data, Data::Str(_) | Data::Int(_)))
                    && !arg.as_str().is_some_and(jinja::is_template) =>
            {
                wrong("needs a list of two values");
            }
            "token" if whole => match items {
                Some([_, separator, index, ..]) => {
                    if separator.as_str().is_none_or(|separator| separator.chars().count() != 1) {
                        refuse("needs a separator of one character");
                    } else if !matches!(index.data, Data::Int(_)) {
                        refuse("needs an integer as index");
                    }
                }
                _ => refuse("needs a string, a separator and an index"),
            },
            "token" if items.is_none_or(|items| items.len() < 3) && !is_computed(arg) => {
                wrong("needs a string, a separator and an index");
            }
            "validate" | "validate_json" if items.is_some_and(|items| items.len() != 2) => {
                wrong("needs a value and a schema");
            }
            "and" | "or" if items.is_some_and(<[Val]>::is_empty) => wrong("needs at least one operand"),
            "concat" if whole && items.is_some_and(<[Val]>::is_empty) => refuse("needs at least one value"),
            "get_input" => self.input(arg, whole),
            "get_property" | "get_attribute" => self.entity(name, arg, whole),
            _ => {}
        }
    }

    /// The name of an input.
    fn input(&self, arg: &Val, whole: bool) {
        if let Some(further) = arg.as_list().and_then(|items| items.get(2)) {
            self.refused.set(self.refused.get() || whole);
            let message = "`get_input` takes the name of an input and a default, nothing else".to_owned();
            let hint = "read parts of an input with `eval: ::root::inputs::NAME::PART`".into();
            return self.say(&rules::TYPE, further, None, message, Some(hint));
        }
        let name = arg.as_list().map_or(Some(arg), |items| items.first().filter(|_| items.len() == 1));
        let Some(name) = name else { return };
        // Evaluation does the same.
        let is_known = |name: &str| {
            let inputs = self.tree.inputs_for(self.here(), name);
            self.tree.node(inputs).attributes.contains_key(name)
        };
        let unknown = name.as_str().filter(|name| !self.asked && !is_known(name));
        if let Some(unknown) = unknown {
            self.refused.set(self.refused.get() || whole);
            let known = self.inputs().keys().map(EcoString::as_str);
            let hint = purlin_syntax::suggest::did_you_mean(unknown, known);
            self.say(&rules::UNKNOWN, arg, None, what::unknown("input", unknown), hint);
        } else if whole && name.as_str().is_none() {
            self.refused.set(true);
            self.say(&rules::TYPE, arg, None, "`get_input` needs the name of an input".to_owned(), None);
        }
    }

    /// The instance and name of `get_property` and `get_attribute`.
    fn entity(&self, function: &str, arg: &Val, whole: bool) {
        let refuse = |refused: bool| self.refused.set(self.refused.get() || refused);
        let Some(arguments @ [entity, ..]) = arg.as_list().filter(|items| items.len() > 1) else {
            refuse(whole);
            let message = format!("`{function}` needs a list of an instance and a name");
            return self.say(&rules::TYPE, arg, None, message, None);
        };
        let Some(entity_name) = entity.as_str().filter(|name| whole || !jinja::is_template(name)) else {
            if whole {
                refuse(true);
                let message = format!("`{function}` needs the name of an instance here, not an expression");
                self.say(
                    &rules::TYPE,
                    entity,
                    None,
                    message,
                    Some(format!("write `eval: {{{function}: […]}}`").into()),
                );
            }
            return;
        };
        let at_root = self.node.is_some_and(|id| id == self.tree.topology_of(id).root);
        match entity_name {
            "SELF" | "HOST" if at_root && !self.asked => {
                refuse(whole);
                let message = format!("`{entity_name}` means nothing outside of a node");
                return self.say(&rules::UNKNOWN, entity, None, message, None);
            }
            "SELF" | "HOST" | "SOURCE" | "TARGET" | "ORCHESTRATOR" | "OPERATION_HOST" => {}
            other if self.tree.find(self.here(), other).or_else(|| self.of_type(other)).is_none() => {
                // Templates are looked up when the service template is read; its instances may have other names.
                if self.is_template(other) {
                    return;
                }
                refuse(whole);
                return self.no_instance(entity, other, None);
            }
            _ => {}
        }
        let Some(here) = self.node else { return };
        let when = if whole { When::Read } else { When::Evaluated };
        let lookup = Lookup { tree: self.tree, here, arguments, when };
        let looked = match function {
            "get_property" => lookup.property().map(|found| self.elsewhere(arg, here, &found)),
            _ if whole => lookup.attribute(),
            // When evaluated, a missing attribute is null.
            _ => Ok(()),
        };
        if let Err(missing) = looked {
            refuse(whole);
            let at = arguments.get(missing.argument).unwrap_or(arg);
            self.say(&rules::UNKNOWN, at, None, missing.message, missing.hint);
        }
    }

    /// An expression that `get_property` takes from another node, and that has another meaning here.
    fn elsewhere(&self, arg: &Val, here: NodeId, found: &Found) {
        let Found::Property(owner, name, _) = found else { return };
        let node = self.tree.node(*owner);
        let node =
            if node.kind == NodeKind::Capability { node.parent.map_or(node, |id| self.tree.node(id)) } else { node };
        let of = self.tree.node(here);
        let of = if of.kind == NodeKind::Capability { of.parent.map_or(of, |id| self.tree.node(id)) } else { of };
        let raw = self.tree.node(*owner).attributes.get(name).map(|attribute| &attribute.raw);
        if node.name == of.name || !raw.is_some_and(is_relative) {
            return;
        }
        let message = format!(
            "`{name}` of `{}` is an expression that `get_property` evaluates on `{}`, where it is asked for",
            node.name, of.name
        );
        let hint =
            Some(format!("to have it evaluated on `{}`, write `eval: ::{}::{name}`", node.name, node.name).into());
        self.say(&rules::SUSPICIOUS, arg, None, message, hint);
    }

    /// The first instance of a type.
    fn of_type(&self, name: &str) -> Option<NodeId> {
        let mut nodes = self.tree.named_in(self.here()).map(|(_, id)| id);
        nodes.find(|id| self.tree.node(*id).types.iter().any(|known| known == name))
    }

    /// Whether a template has a name that no instance has.
    fn is_template(&self, name: &str) -> bool {
        let is_of_service = |service: &Service| service.topology.nodes.contains_key(name);
        self.service.is_some_and(is_of_service) || self.first_of_template(name).is_some()
    }

    fn first_of_template(&self, name: &str) -> Option<&EcoString> {
        let mut named = self.tree.named_in(self.here());
        named.find(|(_, id)| self.tree.node(*id).template == name).map(|(name, _)| name)
    }

    fn instance_of(&self, template: &str) -> Option<Hint> {
        self.first_of_template(template).map(|name| Hint::meant(template, name.as_str()))
    }

    fn no_instance(&self, raw: &Val, name: &str, at: Option<Range>) {
        let names = self.tree.named_in(self.here()).map(|(name, _)| name.as_str());
        let hint = purlin_syntax::suggest::did_you_mean(name, names);
        self.say(&rules::UNKNOWN, raw, at, what::unknown("instance", name), hint);
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
                let hint = hint.map(|near| Hint::meant(format!("${name}"), format!("${near}")));
                self.say(&rules::SUSPICIOUS, raw, Some(at), format!("`${name}` is not defined here"), hint);
            }
        }
        self.keys(raw, &query);
    }

    /// Checkable keys: built-in ones, and instances by name with their attributes.
    fn keys(&self, raw: &Val, query: &Query) {
        self.special_keys(raw, &query.segments);
        if query.start != Start::All {
            return;
        }
        let Some((Segment { key: Key::Name(name), at, .. }, rest)) = query.segments.split_first() else { return };
        let Some(id) = self.tree.find(self.here(), name) else {
            if self.is_template(name) {
                let message = format!("no instance is called `{name}`, so this is null");
                return self.say(&rules::SUSPICIOUS, raw, Some(*at), message, self.instance_of(name));
            }
            return self.no_instance(raw, name, Some(*at));
        };
        if let Some(Segment { key: Key::Name(key), at, .. }) = rest.first()
            && !self.tree.node(id).attributes.contains_key(key)
            && self.tree.node(id).kind == NodeKind::Node
            && !self.tree.node(id).attributes.contains_key(".interfaces")
            && !self.tree.node(id).has_operations
        {
            let known = self.tree.node(id).attributes.keys().map(EcoString::as_str);
            let hint = purlin_syntax::suggest::did_you_mean(key, known);
            let message = what::lacking(format!("`{name}`"), "attribute", key).and(", so this is null");
            self.say(&rules::SUSPICIOUS, raw, Some(*at), message, hint);
        }
    }

    fn special_keys(&self, raw: &Val, segments: &[Segment]) {
        for segment in segments {
            if let Key::Special(None, text) = &segment.key {
                let near = purlin_syntax::suggest::nearest(text, SPECIAL_KEYS.iter().map(|row| row.text));
                let hint = near.map(|near| Hint::meant(text.as_str(), near));
                self.say(&rules::UNKNOWN, raw, Some(segment.at), what::unknown("built-in key", text), hint);
            }
            for filter in &segment.filters {
                self.special_keys(raw, &filter.segments);
            }
        }
    }

    /// An expression whose result can only be text where the type requires something else.
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

/// Whether a value is evaluated from where it is: a path that starts at an instance, or a template that names `SELF`.
fn is_relative(raw: &Val) -> bool {
    match &raw.data {
        Data::Str(text) => jinja::is_template(text) && text.contains("SELF"),
        Data::Map(entries) => match Form::of(entries).map(|form| form.expr) {
            Some(Expr::Eval(expr)) => {
                expr.as_str().is_some_and(|path| !path.starts_with("::") && !path.starts_with('$'))
            }
            _ => false,
        },
        _ => false,
    }
}
