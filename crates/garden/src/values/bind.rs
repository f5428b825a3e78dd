//! Binds a tree to a scope: nodes become values, template strings and structural operators become lazy values.
//!
//! Nothing is evaluated here. The same node may be bound many times, each time to another scope.

use crate::expr::{Evaluator, Own, OwnLayer, Places, Template};
use crate::names::Noted;
use crate::place::{NodeRef, Place};
use crate::structure;
use crate::templates::Templates;
use crate::varying::Varying;
use ecow::EcoString;
use purlin_syntax::{Kind, MergeKeys, Node, Span};
use purlin_value::read::{key_text, scalar_data};
use purlin_value::{Data, Eval, Lazy, Map, Origin, Scope, Session, Taint, Thunk, Value};
use std::any::Any;
use std::sync::Arc;

/// The context that template strings are evaluated with.
#[derive(Clone)]
pub struct Env {
    /// All parsed templates.
    pub templates: Arc<Templates>,
    /// Meaning of names.
    pub scope: Scope,
    /// Whether `$${…}` keeps its first dollar sign, for text that is templated again later.
    pub keep_escapes: bool,
    /// Whether the graph does not exist yet: a `$merge` that is not known then is skipped.
    pub pre_graph: bool,
    /// Differences between environments that are resolved together.
    pub varying: Arc<Varying>,
    /// Collects strings for the table of names, if the table is needed.
    pub noted: Option<Arc<Noted>>,
}

impl Env {
    /// The same with another scope.
    pub fn with_scope(&self, scope: Scope) -> Arc<Env> {
        Arc::new(Env { scope, ..self.clone() })
    }
}

/// Binds trees to one scope.
pub struct Binder {
    env: Arc<Env>,
    /// Position among variables, if the tree holds variables.
    own: Option<Own>,
}

impl Binder {
    /// A binder for a scope.
    pub fn new(env: &Arc<Env>) -> Self {
        Binder { env: env.clone(), own: None }
    }

    /// A binder for variables, which may mention themselves and then mean the scope below.
    pub fn of_layer(env: &Arc<Env>, layer: OwnLayer) -> Self {
        Binder { env: env.clone(), own: Some(Own { path: Vec::new(), layer, shapes: false }) }
    }

    /// A binder that continues at the location of a lazy value.
    pub(crate) fn inside(env: &Arc<Env>, own: Option<&Own>) -> Self {
        Binder { env: env.clone(), own: own.cloned() }
    }

    /// Binds a node. Depth is bounded by the tree's own limit.
    pub fn bind(&mut self, node: &NodeRef) -> Value {
        let Some(view) = node.get() else { return Value::poison() };
        let origin = Origin::node(view);
        let data = match view.kind() {
            Kind::Scalar => return self.scalar(node, view),
            Kind::Map if structure::is_operator(view) => self.operator(node),
            Kind::List if structure::has_concat(view) => self.operator(node),
            Kind::Map => Data::Map(Arc::new(self.map(node, view))),
            Kind::List => {
                let items: Vec<Value> = view
                    .items()
                    .enumerate()
                    .map(|(index, item)| {
                        self.below(&ecow::eco_format!("{index}"), |binder| binder.bind(&node.other(item)))
                    })
                    .collect();
                Data::List(Arc::new(items.into()))
            }
            Kind::Alias | Kind::Error => Data::Poison,
        };
        Value::of(data, origin, Taint::NONE)
    }

    /// A value bound to another scope, rebound to this one where the scopes differ. `None` if part of it must be
    /// re-read.
    pub fn rebound(&self, before: &Value) -> Option<Value> {
        Some(self.rebound_part(before)?.unwrap_or_else(|| before.clone()))
    }

    /// The same for a part. Outer `None`: must be re-read. Inner `None`: unchanged in the new scope.
    fn rebound_part(&self, before: &Value) -> Option<Option<Value>> {
        let data = match &before.data {
            Data::Lazy(lazy) if lazy.settled().is_some() => None,
            Data::Lazy(lazy) => Some(lazy.rebound(&self.env)?.data),
            Data::Map(map) => {
                let mut bound: Option<Map> = None;
                for (key, value) in map.iter().filter(|(_, value)| may_change(value)) {
                    if let Some(again) = self.rebound_part(value)? {
                        bound.get_or_insert_with(|| (**map).clone()).insert(key.clone(), again);
                    }
                }
                bound.map(|bound| Data::Map(Arc::new(bound)))
            }
            Data::List(list) => {
                let mut bound: Option<Vec<Value>> = None;
                for (index, value) in list.iter().enumerate().filter(|(_, value)| may_change(value)) {
                    let Some(again) = self.rebound_part(value)? else { continue };
                    if let Some(slot) = bound.get_or_insert_with(|| list.to_vec()).get_mut(index) {
                        *slot = again;
                    }
                }
                bound.map(Data::from)
            }
            _ => None,
        };
        Some(data.map(|data| before.clone().with(data)))
    }

    fn operator(&self, node: &NodeRef) -> Data {
        if let Some(noted) = &self.env.noted {
            noted.add_below(node, &self.env, self.own.as_ref());
        }
        let thunk = structure::Operator { node: node.clone(), env: self.env.clone(), own: self.own.clone() };
        Data::Lazy(Arc::new(Lazy::new(thunk)))
    }

    /// Binds one entry of a mapping, so that it knows its path.
    pub(crate) fn below<T>(&mut self, key: &EcoString, work: impl FnOnce(&mut Self) -> T) -> T {
        if let Some(own) = &mut self.own {
            own.path.push(key.clone());
        }
        let result = work(self);
        if let Some(own) = &mut self.own {
            own.path.pop();
        }
        result
    }

    fn map(&mut self, node: &NodeRef, view: Node<'_>) -> Map {
        let entries = entries(view);
        let mut map = Map::with_capacity(entries.len());
        for (key, item) in entries {
            let value = self.below(&key, |binder| binder.bind(&node.other(item)));
            map.insert(key, value);
        }
        map
    }

    fn scalar(&self, node: &NodeRef, view: Node<'_>) -> Value {
        let origin = Origin::node(view);
        match self.env.templates.get(view) {
            Err(_) => Value::poison().with_origin(origin),
            Ok(None) => Value::of(scalar_data(view), origin, Taint::NONE),
            Ok(Some(template)) => self.template(template, Place::Node(node.clone())).with_origin(origin),
        }
    }

    /// A lazy value for a parsed template.
    pub fn template(&self, template: Arc<Template>, place: Place) -> Value {
        let own = self.own.clone();
        if let Some(noted) = &self.env.noted {
            noted.add(&template, &place, &self.env, own.as_ref());
        }
        let places = self.env.varying.is_watched().then(Arc::default);
        Lazy::value(TemplateText { template, place, env: self.env.clone(), own: own.map(Box::new), places })
    }
}

/// Whether a bound value may change in another scope.
fn may_change(value: &Value) -> bool {
    matches!(value.data, Data::Lazy(_) | Data::Map(_) | Data::List(_))
}

/// The value under a key of a mapping, merge keys applied.
pub(crate) fn entry<'t>(node: Node<'t>, key: &str) -> Option<Node<'t>> {
    node.merged_entry(key).map(|entry| entry.value)
}

/// The entries of a mapping with merge keys (`<<`) applied.
pub(crate) fn entries<'t>(node: Node<'t>) -> Vec<(EcoString, Node<'t>)> {
    node.merged_entries(MergeKeys::Apply).map(|entry| (key_text(entry.key), entry.value)).collect()
}

/// A template string with its scope.
struct TemplateText {
    template: Arc<Template>,
    place: Place,
    env: Arc<Env>,
    /// Few templates are those of variables, so that it takes no room in the others.
    own: Option<Box<Own>>,
    /// Where its parts are written, where it is evaluated in several scopes.
    places: Option<Arc<Places>>,
}

impl Thunk for TemplateText {
    fn evaluate(&self, eval: &mut Eval<'_>) -> Value {
        let places = self.places.as_deref();
        Evaluator::new(eval, &self.env, &self.place, self.own.as_deref()).run(&self.template, places)
    }

    fn rebound(&self, scope: &dyn Any) -> Option<Value> {
        let env = scope.downcast_ref::<Arc<Env>>()?.clone();
        let (template, place, own) = (self.template.clone(), self.place.clone(), self.own.clone());
        Some(Lazy::value(TemplateText { template, place, env, own, places: self.places.clone() }))
    }

    fn span(&self) -> Option<Span> {
        self.place.span()
    }

    fn name(&self) -> String {
        match (&self.own, &self.place) {
            (Some(own), _) => own.name(),
            (None, Place::Node(node)) => node.get().map_or_else(String::new, |n| n.text().to_owned()),
            _ => "an expression".into(),
        }
    }
}

/// A value that takes the place of another. A lazy one gets its origin when it is forced, so it is wrapped.
pub(crate) fn replacing(value: Value, overrode: Origin, rule: &'static str, session: &Session) -> Value {
    if value.is_absent() {
        return value;
    }
    if matches!(value.data, Data::Lazy(_)) {
        let origin = value.origin;
        return Lazy::value(Replacing { value, overrode, rule }).with_origin(origin);
    }
    let origin = session.origins.chosen(value.origin, rule, vec![overrode]);
    value.with_origin(origin)
}

/// A lazy value that took the place of another.
struct Replacing {
    value: Value,
    overrode: Origin,
    rule: &'static str,
}

impl Thunk for Replacing {
    fn evaluate(&self, eval: &mut Eval<'_>) -> Value {
        let value = eval.force(&self.value);
        if value.is_absent() {
            return value;
        }
        let origin = eval.session.origins.chosen(value.origin, self.rule, vec![self.overrode]);
        value.with_origin(origin)
    }

    fn span(&self) -> Option<Span> {
        None
    }

    fn name(&self) -> String {
        "a replaced value".into()
    }
}
