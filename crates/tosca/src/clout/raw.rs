//! Raw values: `$primitive`, `$list`, `$map` and `$functionCall`, with type information in `$meta`.

use super::{Out, Writer};
use crate::clause;
use crate::coerce;
use crate::entities;
use crate::entity::Entity;
use crate::model::Primitive;
use crate::names::DeclId;
use crate::topology::{Given, Node, Prop, Requirement};
use crate::val::{Call, Data, Val};
use ecow::{EcoString, eco_format};
use indexmap::IndexMap;
use purlin_syntax::Span;
use std::sync::Arc;

const MAX_DEPTH: u32 = 100;

/// A data type and a definition that has it.
pub(super) type MetaKey = (Option<DeclId>, usize);

impl Writer<'_> {
    /// A value with its meta-information. A default is shared by all templates that leave the value out, unless it
    /// holds their locations.
    pub(super) fn raw(&mut self, prop: &Prop, path: &str) -> Out {
        if !is_left_out(prop) {
            return self.raw_alone(prop, path);
        }
        let key = (prop.value.span, meta_key(prop.data_type, prop.definition.as_ref()));
        if let Some(known) = self.left_out.get(&key) {
            return Out::Shared(known.clone());
        }
        let before = self.placed.get();
        let (out, placed) = self.watched(|writer| writer.raw_alone(prop, path));
        // The path of a default is that of its definition, for every template that leaves the value out.
        if placed && self.default_path(prop).is_none() {
            return out;
        }
        self.placed.set(before);
        let shared = self.share(out);
        self.left_out.insert(key, shared.clone());
        Out::Shared(shared)
    }

    fn raw_alone(&mut self, prop: &Prop, path: &str) -> Out {
        let default = self.default_path(prop);
        let value_path = default.as_deref().unwrap_or(path);
        let mut out = self.value(&prop.value, prop.data_type, prop.definition.as_deref(), value_path, prop.at, 0);
        if let Some(id) = prop.data_type {
            let definition = prop.definition.as_ref();
            let meta = match self.parts(&prop.value, id, value_path, 0) {
                Some(parts) => self.meta_with(id, definition.map(Arc::as_ref), (value_path, prop.at), 0, Some(parts)),
                None => self.shared_meta(id, definition, value_path, prop.at),
            };
            if let Out::Fields(entries) = &mut out {
                entries.push(("$meta", meta));
            }
        }
        out
    }

    /// Builds a part and returns whether it holds a location of its own.
    fn watched(&mut self, make: impl FnOnce(&mut Self) -> Out) -> (Out, bool) {
        let before = self.placed.replace(false);
        let out = make(self);
        let placed = self.placed.replace(before || self.placed.get());
        (out, placed)
    }

    /// Whether a value or its meta-information may hold a path.
    pub(super) fn shows_path(&self, prop: &Prop) -> bool {
        if prop.given == Given::Default && prop.definition.is_some() {
            return false; // the definition's is shown
        }
        let plain = !matches!(prop.value.data, Data::Call(_) | Data::List(_) | Data::Map(_));
        let known = |id| self.metas.contains_key(&meta_key(Some(id), prop.definition.as_ref()));
        !(plain && prop.data_type.is_none_or(known))
    }

    /// The meta-information of a type; shared by all values of a definition unless it holds locations.
    fn shared_meta(&mut self, id: DeclId, definition: Option<&Arc<Entity>>, path: &str, at: Span) -> Out {
        let key = meta_key(Some(id), definition);
        if let Some(known) = self.metas.get(&key) {
            return Out::Shared(known.clone());
        }
        let (meta, placed) = self.watched(|writer| writer.meta(id, definition.map(Arc::as_ref), path, at, 0));
        if placed {
            return meta;
        }
        let shared = self.share(meta);
        self.metas.insert(key, shared.clone());
        Out::Shared(shared)
    }

    /// A value of a type, without a definition of its own.
    pub(super) fn raw_typed(
        &mut self,
        value: &Val,
        id: Option<DeclId>,
        definition: Option<&Entity>,
        path: &str,
    ) -> Out {
        let mut out = self.value(value, id, definition, path, value.span, 0);
        if let Some(id) = id
            && let Out::Fields(entries) = &mut out
        {
            let parts = self.parts(value, id, path, 0);
            entries.push(("$meta", self.meta_with(id, definition, (path, value.span), 0, parts)));
        }
        out
    }

    /// The meta-information of the parts of a value whose type has properties: one for each part the value has.
    fn parts(&mut self, value: &Val, id: DeclId, path: &str, depth: u32) -> Option<Out> {
        let model = &self.compiled.model;
        let Data::Map(entries) = &value.data else { return None };
        if entries.is_empty() || depth > MAX_DEPTH || model.primitive(id).is_some() {
            return None;
        }
        let complete = model.complete(id)?.clone();
        let mut out = Vec::with_capacity(entries.len());
        for (key, item) in entries.iter() {
            let name = super::out::key_text(key);
            let Some(part) = complete.named("properties", &name).cloned() else { continue };
            let Some(id) = self.compiled.model.type_of(&part, "type", entities::DATA_TYPE) else { continue };
            let path = eco_format!("{path}[\"{name}\"]");
            let parts = self.parts(item, id, &path, depth + 1);
            out.push((name, self.meta_with(id, Some(&part), (&path, key.span), depth + 1, parts)));
        }
        Some(Out::Map(out))
    }

    fn value(
        &mut self,
        value: &Val,
        id: Option<DeclId>,
        definition: Option<&Entity>,
        path: &str,
        at: Span,
        depth: u32,
    ) -> Out {
        if depth > MAX_DEPTH {
            return Out::Null;
        }
        let model = &self.compiled.model;
        let primitive = id.and_then(|id| model.primitive(id));
        match &value.data {
            Data::Call(call) => Out::map([("$functionCall", self.call(call, path, at, depth))]),
            // Without a type every value is primitive, except the entries of a map.
            Data::List(_) if id.is_none() && !value.has_call() => Out::map([("$primitive", Out::from(value))]),
            Data::Map(_) if id.is_none() && depth > 0 && !value.has_call() => {
                Out::map([("$primitive", Out::from(value))])
            }
            Data::List(items) if primitive != Some(Primitive::Range) => {
                let entry = self.schema(id, definition, "entry_schema");
                let items = items.iter().enumerate().map(|(index, item)| {
                    let path = eco_format!("{path}[{index}]");
                    self.value(
                        item,
                        entry.as_ref().map(|(id, _)| *id),
                        entry.as_ref().map(|(_, s)| s.as_ref()),
                        &path,
                        item.span,
                        depth + 1,
                    )
                });
                Out::map([("$list", Out::List(items.collect()))])
            }
            Data::Map(entries) => {
                let complete = id.filter(|_| primitive.is_none()).and_then(|id| model.complete(id)).cloned();
                let entry = self.schema(id, definition, "entry_schema");
                let mut out = Vec::with_capacity(entries.len());
                for (key, item) in entries.iter() {
                    let name = super::out::key_text(key);
                    let path = eco_format!("{path}[\"{name}\"]");
                    let part = complete.as_ref().and_then(|complete| complete.named("properties", &name)).cloned();
                    let (item_id, schema) = match (&part, &entry) {
                        (Some(part), _) => (model.type_of(part, "type", entities::DATA_TYPE), Some(part.clone())),
                        (None, Some((id, schema))) => (Some(*id), Some(schema.clone())),
                        (None, None) => (None, None),
                    };
                    let mut made = self.value(item, item_id, schema.as_deref(), &path, key.span, depth + 1);
                    let key = self.value(key, None, None, &path, key.span, depth + 1);
                    if let Out::Fields(fields) = &mut made {
                        fields.push(("$key", key));
                    }
                    out.push(made);
                }
                Out::map([("$map", Out::List(out))])
            }
            _ => Out::map([("$primitive", Out::from(&coerce::coerce(model, value, id, definition)))]),
        }
    }

    fn schema(&self, id: Option<DeclId>, definition: Option<&Entity>, slot: &str) -> Option<(DeclId, Arc<Entity>)> {
        let model = &self.compiled.model;
        let own = definition.and_then(|definition| definition.one(slot));
        let schema = own.or_else(|| model.complete(id?)?.one(slot))?.clone();
        Some((model.type_of(&schema, "type", entities::DATA_TYPE)?, schema))
    }

    fn call(&mut self, call: &Call, path: &str, at: Span, depth: u32) -> Out {
        let arguments = call.args.iter().map(|arg| self.argument(arg, path, at, depth + 1)).collect();
        self.call_out(&eco_format!("tosca.function.{}", call.name), arguments, path, at)
    }

    fn argument(&mut self, arg: &Val, path: &str, at: Span, depth: u32) -> Out {
        match &arg.data {
            Data::Call(call) => Out::map([("$functionCall", self.call(call, path, at, depth + 1))]),
            Data::List(_) | Data::Map(_) if arg.has_call() => self.value(arg, None, None, path, at, depth + 1),
            _ => Out::map([("$primitive", Out::from(arg))]),
        }
    }

    fn call_out(&self, name: &str, arguments: Vec<Out>, path: &str, at: Span) -> Out {
        self.placed.set(true);
        let (row, column) = self.position(at);
        let files = &self.compiled.model.files;
        let url =
            files.of(at.file).and_then(|index| files.list.get(index)).map(|file| file.path.clone()).unwrap_or_default();
        Out::map([
            ("name", Out::str(name)),
            ("arguments", Out::List(arguments)),
            ("url", Out::Str(url)),
            ("row", Out::Int(row)),
            ("column", Out::Int(column)),
            ("path", Out::str(path)),
        ])
    }

    fn meta(&mut self, id: DeclId, definition: Option<&Entity>, path: &str, at: Span, depth: u32) -> Out {
        self.meta_with(id, definition, (path, at), depth, None)
    }

    /// The same with the meta-information of the parts of a value.
    fn meta_with(
        &mut self,
        id: DeclId,
        definition: Option<&Entity>,
        (path, at): (&str, Span),
        depth: u32,
        parts: Option<Out>,
    ) -> Out {
        let model = &self.compiled.model;
        let mut out = vec![("type", Out::Str(model.canonical(id)))];
        if depth > MAX_DEPTH {
            return Out::Fields(out);
        }
        let decl = model.names.decl(id);
        if let Some(text) = decl.and_then(|decl| decl.entity.text("description")) {
            out.push(("typeDescription", Out::Str(text.text.clone())));
        }
        if let Some(text) = definition.and_then(|definition| definition.text("description")) {
            out.push(("description", Out::Str(text.text.clone())));
        }
        match model.primitive(id) {
            Some(Primitive::List) => {
                if let Some((entry, schema)) = self.schema(Some(id), definition, "entry_schema") {
                    out.push(("element", self.meta(entry, Some(&schema), path, at, depth + 1)));
                }
            }
            Some(Primitive::Map) => {
                let key = match self.schema(Some(id), definition, "key_schema") {
                    Some((key, schema)) => self.meta(key, Some(&schema), path, at, depth + 1),
                    None => Out::map([("type", Out::str("string"))]),
                };
                out.push(("key", key));
                if let Some((entry, schema)) = self.schema(Some(id), definition, "entry_schema") {
                    out.push(("value", self.meta(entry, Some(&schema), path, at, depth + 1)));
                }
            }
            _ => {}
        }
        out.extend(parts.map(|parts| ("fields", parts)));
        let validators = self.validators(id, definition, path, at);
        if !validators.is_empty() {
            out.push(("validators", Out::List(validators)));
        }
        Out::Fields(out)
    }

    fn validators(&mut self, id: DeclId, definition: Option<&Entity>, path: &str, at: Span) -> Vec<Out> {
        let of_type = self
            .compiled
            .model
            .complete(id)
            .map(|complete| complete.clauses("validation").to_vec())
            .unwrap_or_default();
        let own = definition.map(|definition| definition.clauses("validation").to_vec()).unwrap_or_default();
        of_type.iter().chain(&own).filter_map(|clause| self.validator(clause, Some(id), path, at)).collect()
    }

    /// A constraint as a call; its bounds are of the type they bound.
    fn validator(&mut self, clause: &Val, id: Option<DeclId>, path: &str, at: Span) -> Option<Out> {
        let (operator, arguments) = clause::constraint(clause)?;
        let argument = arguments.first()?;
        let native = matches!(
            operator,
            "equal" | "greater_than" | "greater_or_equal" | "less_than" | "less_or_equal" | "in_range" | "valid_values"
        );
        let listed = matches!(operator, "in_range" | "valid_values");
        let all: Vec<Val> = if listed { argument.items().to_vec() } else { vec![argument.clone()] };
        let arguments = all
            .iter()
            .map(|arg| match &arg.data {
                Data::Call(_) => self.argument(arg, path, at, 0),
                _ if native => {
                    Out::map([("$primitive", Out::from(&coerce::coerce(&self.compiled.model, arg, id, None)))])
                }
                _ => Out::map([("$primitive", Out::from(arg))]),
            })
            .collect();
        Some(Out::map([(
            "$functionCall",
            self.call_out(&eco_format!("tosca.constraint.{operator}"), arguments, path, at),
        )]))
    }

    /// The filters of a requirement: validators by property, and by capability and property. The node's own filter holds
    /// for all its requirements, so it comes first.
    pub(super) fn filters(&mut self, node: &Node, requirement: &Requirement, path: &str) -> (Out, Out) {
        let of_node = node.template.one("node_filter").cloned();
        let own = requirement.assignment.as_ref().and_then(|assignment| assignment.one("node_filter")).cloned();
        let node_path = eco_format!("{}.node_templates[\"{}\"]", self.root, node.template.name);
        let (mut by_node, mut by_capability) = (Validators::default(), IndexMap::<EcoString, Validators>::new());
        for (filter, path) in
            of_node.iter().map(|filter| (filter, node_path.as_str())).chain(own.iter().map(|own| (own, path)))
        {
            self.property_filters(filter, &eco_format!("{path}.node_filter"), &mut by_node);
            for (index, capability) in filter.list("capabilities").iter().enumerate() {
                let path = eco_format!("{path}.node_filter.capabilities{{{index}}}");
                self.property_filters(capability, &path, by_capability.entry(capability.name.clone()).or_default());
            }
        }
        let by_capability = by_capability.into_iter().map(|(name, properties)| (name, listed(properties))).collect();
        (listed(by_node), Out::Map(by_capability))
    }

    /// Adds the validators of a filter's properties; a property may occur several times.
    fn property_filters(&mut self, filter: &Entity, path: &str, out: &mut Validators) {
        let places = filter.values("properties").iter().map(|(_, value)| value.span);
        for (index, ((name, clauses), at)) in crate::render::property_filters(filter).zip(places).enumerate() {
            let path = eco_format!("{path}.properties{{{index}}}");
            let calls = clauses.iter().filter_map(|clause| self.validator(clause, None, &path, at));
            out.entry(EcoString::from(name)).or_default().extend(calls);
        }
    }
}

/// Validators by the name of a property.
type Validators = IndexMap<EcoString, Vec<Out>>;

fn listed(validators: Validators) -> Out {
    Out::Map(validators.into_iter().map(|(name, calls)| (name, Out::List(calls))).collect())
}

/// Whether the template leaves a value out, so that all templates that do so have the same.
fn is_left_out(prop: &Prop) -> bool {
    matches!(prop.given, Given::Default | Given::Nothing)
}

/// The identity of a definition's meta-information.
fn meta_key(id: Option<DeclId>, definition: Option<&Arc<Entity>>) -> MetaKey {
    (id, definition.map_or(0, |definition| Arc::as_ptr(definition) as usize))
}
