//! Emission: the service as a Clout, the graph format of the original tool.
//!
//! Ids are made from names, so that two runs give the same text. Values are either coerced (plain results) or raw
//! (calls, with information about types).

mod interfaces;
mod others;
mod out;
mod raw;
mod relationships;

pub use out::{Out, Shared};

use crate::compile::Compiled;
use crate::edition::Standard;
use crate::entity::Entity;
use crate::evaluate::{Evaluator, Key, Owner, Scope};
use crate::locate;
use crate::names::DeclId;
use crate::topology::{Capability, Given, Node, Prop, Props};
use crate::val::Val;
use ecow::{EcoString, eco_format};
use foldhash::fast::RandomState;
use out::key_text;
use purlin_syntax::Span;
use purlin_syntax::write::Emit;
use std::collections::HashMap;
use std::sync::Arc;

/// In which form values are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Evaluated and coerced.
    Coerced,
    /// As calls, with information about their types.
    Raw,
}

/// The contents of the Clout.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The form of values.
    pub form: Form,
    /// Whether requirements are followed to the nodes that meet them.
    pub resolved: bool,
}

/// Writes the Clout of a compiled service.
pub fn write(compiled: &Compiled, options: Options, emit: &mut dyn Emit) {
    let mut writer = Writer::new(compiled, options);
    emit.begin_map(4);
    emit.key("version");
    emit.string("1.0");
    emit.key("metadata");
    writer.metadata().emit(emit);
    emit.key("properties");
    writer.service().emit(emit);
    emit.key("vertexes");
    writer.vertexes(emit);
    emit.end_map();
}

/// Parts built before, by their sources.
type Known<K> = HashMap<K, Arc<Shared>, RandomState>;

struct Writer<'a> {
    compiled: &'a Compiled,
    evaluator: Evaluator<'a>,
    options: Options,
    types: Known<DeclId>,
    interfaces: Known<usize>,
    /// Properties and attributes of capabilities that hold no calls, by capability.
    capabilities: HashMap<usize, (Arc<Shared>, Arc<Shared>), RandomState>,
    /// Paths of defaults, by definition.
    default_paths: HashMap<usize, EcoString, RandomState>,
    root: EcoString,
    /// The last location looked up; a node's parts share the node's.
    last: std::cell::Cell<(Span, (i64, i64))>,
    /// Information about types without locations, by data type and definition.
    metas: Known<raw::MetaKey>,
    /// Values that templates leave out, by location and definition.
    left_out: Known<(Span, raw::MetaKey)>,
    /// How many parts are shared so far.
    shared: u64,
    /// Whether something with a location of its own was written since the last reset; such parts cannot be shared.
    placed: std::cell::Cell<bool>,
}

impl<'a> Writer<'a> {
    fn new(compiled: &'a Compiled, options: Options) -> Self {
        let evaluator =
            Evaluator::after(&compiled.model, &compiled.topology, &compiled.resolution, &compiled.values).refuelled();
        let root = if compiled.model.edition().is_2() { "service_template" } else { "topology_template" };
        Writer {
            compiled,
            evaluator,
            options,
            types: HashMap::default(),
            interfaces: HashMap::default(),
            capabilities: HashMap::default(),
            default_paths: HashMap::default(),
            root: root.into(),
            metas: HashMap::default(),
            left_out: HashMap::default(),
            shared: 0,
            placed: std::cell::Cell::new(false),
            last: std::cell::Cell::new((Span::new(purlin_syntax::FileId(u32::MAX), 0, 0), (-1, -1))),
        }
    }

    fn metadata(&self) -> Out {
        let mut steps = vec!["compile"];
        steps.extend(self.options.resolved.then_some("resolve"));
        steps.extend((self.options.form == Form::Coerced).then_some("coerce"));
        let history = steps.into_iter().map(|step| Out::map([("description", Out::str(step))])).collect();
        let mut puccini = vec![("version".into(), Out::str("1.0"))];
        let mut scriptlets = Vec::new();
        for (name, text) in self.compiled.model.scripts.texts() {
            nest(&mut scriptlets, &name.split('.').collect::<Vec<_>>(), text);
        }
        if !scriptlets.is_empty() {
            puccini.push(("scriptlets".into(), Out::Map(scriptlets)));
        }
        Out::map([("puccini", Out::Map(puccini)), ("history", Out::List(history))])
    }

    fn service(&mut self) -> Out {
        let model = &self.compiled.model;
        let file = model.files.root().map(|file| &file.entity);
        let descriptions: Vec<EcoString> = file
            .into_iter()
            .chain(model.service())
            .filter_map(|entity| entity.text("description"))
            .map(|text| text.text.clone())
            .collect();
        let metadata = self.file_metadata(file.and_then(|file| file.value("metadata")));
        let mut inputs = Vec::new();
        let definitions = model
            .service()
            .and_then(|service| service.map("inputs"))
            .map(|defs| defs.flat().clone())
            .unwrap_or_default();
        for name in definitions.keys() {
            let path = eco_format!("{}.inputs[\"{name}\"]", self.root);
            match self.compiled.topology.inputs.get(name) {
                Some(prop) => {
                    let prop = prop.clone();
                    inputs.push((name.clone(), self.keyed(Owner::Service, false, name, &prop, &path)));
                }
                // An optional input without a value is present and null, without information about its type.
                None if self.options.form == Form::Coerced => inputs.push((name.clone(), Out::Null)),
                None => inputs.push((name.clone(), Out::map([("$primitive", Out::Null)]))),
            }
        }
        let outputs = self.outputs();
        let tosca = Out::map([
            ("description", Out::Str(descriptions.join("\n\n").into())),
            ("metadata", metadata),
            ("inputs", Out::Map(inputs)),
            ("outputs", outputs),
        ]);
        Out::map([("tosca", tosca)])
    }

    /// Outputs, whose calls have the place of the key that gives them.
    fn outputs(&mut self) -> Out {
        let topology = &self.compiled.topology.outputs;
        let declared = self.compiled.model.service().and_then(|service| service.map("outputs"));
        // An output without a value is present and null.
        let empty = declared.into_iter().flat_map(|declared| declared.flat().keys());
        let empty: Vec<EcoString> = empty.filter(|name| !topology.contains_key(*name)).cloned().collect();
        let mut out = Vec::with_capacity(topology.len() + empty.len());
        for (name, prop) in topology {
            let value = match self.options.form {
                Form::Raw => {
                    let key = if prop.given == Given::Assigned { "value" } else { "default" };
                    self.raw(prop, &eco_format!("{}.outputs[\"{name}\"].{key}", self.root))
                }
                Form::Coerced => Out::from(&self.evaluator.settle(prop, &Scope::default())),
            };
            out.push((name.clone(), value));
        }
        let nothing = |name| match self.options.form {
            Form::Coerced => (name, Out::Null),
            Form::Raw => (name, Out::map([("$primitive", Out::Null)])),
        };
        if !empty.is_empty() {
            out.extend(empty.into_iter().map(nothing));
            out.sort_by_key(|(name, _)| declared.and_then(|declared| declared.flat().get_index_of(name)));
        }
        Out::Map(out)
    }

    fn file_metadata(&self, notes: Option<&Val>) -> Out {
        let entries = notes
            .map(Val::entries)
            .unwrap_or(&[])
            .iter()
            .filter(|(key, _)| !key.as_str().is_some_and(|key| key.starts_with("puccini.scriptlet")));
        let mut out: Vec<(EcoString, Out)> = entries.map(|(key, value)| (key_text(key), Out::from(value))).collect();
        let quirks = self.compiled.model.quirks.names();
        if !quirks.is_empty() {
            out.push(("puccini.quirks".into(), Out::Str(quirks.join(",").into())));
        }
        Out::Map(out)
    }

    fn vertexes(&mut self, emit: &mut dyn Emit) {
        let topology = &self.compiled.topology;
        let operations: usize = topology.policies.values().map(|policy| self.trigger_operations(policy).len()).sum();
        let steps: usize = topology.workflows.values().map(|workflow| workflow.steps.len()).sum();
        let activities: usize = topology
            .workflows
            .values()
            .flat_map(|workflow| workflow.steps.values())
            .map(|step| step.activities.len())
            .sum();
        let singles = topology.nodes.len() + topology.groups.len() + topology.policies.len() + topology.workflows.len();
        emit.begin_map(singles + operations + steps + activities + usize::from(topology.substitution.is_some()));
        for (index, (name, node)) in topology.nodes.iter().enumerate() {
            emit.key(&id("NodeTemplate", name));
            let properties = self.node(index, name, node);
            let edges = self.relationships(index, node);
            vertex("NodeTemplate", properties, edges).emit(emit);
        }
        for (name, group) in &topology.groups {
            emit.key(&id("Group", name));
            let edges = group
                .members
                .iter()
                .flat_map(|member| self.nodes_of(&member.text))
                .map(|node| edge("Member", Out::Map(Vec::new()), &node))
                .collect();
            vertex("Group", self.group(name, group), edges).emit(emit);
        }
        for (name, policy) in &topology.policies {
            self.policy(name, policy, emit);
        }
        for (name, workflow) in &topology.workflows {
            self.workflow(name, workflow, emit);
        }
        if topology.substitution.is_some() {
            emit.key("Substitution");
            self.substitution().emit(emit);
        }
        emit.end_map();
    }

    /// A type and its ancestors, by canonical name.
    fn types(&mut self, id: Option<DeclId>) -> Out {
        let Some(id) = id else { return Out::Map(Vec::new()) };
        if let Some(known) = self.types.get(&id) {
            return Out::Shared(known.clone());
        }
        let model = &self.compiled.model;
        let mut out = Vec::new();
        for id in model.hierarchy.lineage(id) {
            let Some(decl) = model.names.decl(id) else { continue };
            let mut entry = Vec::new();
            if let Some(description) = decl.entity.text("description") {
                entry.push(("description", Out::Str(description.text.clone())));
            }
            if let Some(metadata) = decl.entity.value("metadata") {
                entry.push(("metadata", Out::from(metadata)));
            }
            if let Some(parent) = model.hierarchy.parent(id) {
                entry.push(("parent", Out::Str(model.canonical(parent))));
            }
            out.push((decl.canonical.clone(), Out::Fields(entry)));
        }
        let shared = self.share(Out::Map(out));
        self.types.insert(id, shared.clone());
        Out::Shared(shared)
    }

    fn share(&mut self, out: Out) -> Arc<Shared> {
        self.shared += 1;
        out.shared(self.shared)
    }

    fn node(&mut self, index: usize, name: &EcoString, node: &Node) -> Out {
        let template = &node.template;
        let path = eco_format!("{}.node_templates[\"{name}\"]", self.root);
        let mut capabilities = Vec::with_capacity(node.capabilities.len());
        for (at, (capability_name, capability)) in node.capabilities.iter().enumerate() {
            let path = eco_format!("{path}.capabilities[\"{capability_name}\"]");
            capabilities.push((capability_name.clone(), self.capability(index, at, node, capability, &path)));
        }
        let scope = Scope::node(index);
        let requirements = self.requirements(index, node, &path);
        Out::map([
            ("name", Out::Str(name.clone())),
            ("metadata", metadata(template)),
            ("description", description(template)),
            ("types", self.types(Some(node.node_type))),
            (
                "directives",
                Out::List(template.texts("directives").iter().map(|text| Out::Str(text.text.clone())).collect()),
            ),
            ("properties", self.owned(Owner::Node(index), false, &node.properties, &path)),
            ("attributes", self.owned(Owner::Node(index), true, &node.attributes, &path)),
            ("requirements", Out::List(requirements)),
            ("capabilities", Out::Map(capabilities)),
            ("interfaces", self.interfaces(&node.interfaces, &scope, &eco_format!("{path}.interfaces"))),
            ("artifacts", self.artifacts(node, &scope, &path)),
        ])
    }

    /// Values that can be referred to; they are evaluated once.
    fn owned(&mut self, owner: Owner, attribute: bool, props: &Props, path: &str) -> Out {
        let part = if attribute { "attributes" } else { "properties" };
        let mut out = Vec::with_capacity(props.len());
        for (name, prop) in props {
            // Most values do not show their path, and making one for each costs more than the values.
            let path = if self.options.form == Form::Raw && self.shows_path(prop) {
                eco_format!("{path}.{part}[\"{name}\"]")
            } else {
                EcoString::new()
            };
            out.push((name.clone(), self.keyed(owner, attribute, name, prop, &path)));
        }
        Out::Map(out)
    }

    fn keyed(
        &mut self,
        owner: Owner,
        attribute: bool,
        name: &EcoString,
        prop: &crate::topology::Prop,
        path: &str,
    ) -> Out {
        if self.options.form == Form::Raw {
            return self.raw(prop, path);
        }
        if !prop.value.has_call() && is_settled(self, prop) {
            return Out::from(&prop.value);
        }
        Out::from(&self.evaluator.force(Key { owner, attribute, name: name.clone() }))
    }

    /// Values that cannot be referred to.
    fn props(&mut self, props: &Props, scope: &Scope, path: &str) -> Out {
        let mut out = Vec::with_capacity(props.len());
        for (name, prop) in props {
            let value = match self.options.form {
                Form::Raw => self.raw(prop, &eco_format!("{path}[\"{name}\"]")),
                Form::Coerced => Out::from(&self.evaluator.settle(prop, scope)),
            };
            out.push((name.clone(), value));
        }
        Out::Map(out)
    }

    /// The path of the definition that gives a value its default.
    fn default_path(&mut self, prop: &Prop) -> Option<EcoString> {
        let definition = prop.definition.as_ref().filter(|_| prop.given == Given::Default)?;
        let files = &self.compiled.model.files;
        let known = self.default_paths.entry(Arc::as_ptr(definition) as usize);
        Some(known.or_insert_with(|| locate::path_of(files, prop.at).unwrap_or_default().into()).clone())
    }

    fn capability(&mut self, index: usize, at: usize, node: &Node, capability: &Arc<Capability>, path: &str) -> Out {
        let identity = Arc::as_ptr(capability) as usize;
        let owner = Owner::Capability(index, at);
        let values = match self.capabilities.get(&identity) {
            Some((properties, attributes)) => (Out::Shared(properties.clone()), Out::Shared(attributes.clone())),
            None => {
                self.placed.set(false);
                let properties = self.owned(owner, false, &capability.properties, path);
                let attributes = self.owned(owner, true, &capability.attributes, path);
                let constant = capability
                    .properties
                    .values()
                    .chain(capability.attributes.values())
                    .all(|prop| !prop.value.has_call());
                // Capabilities that the template does not mention are the same for every node, unless they hold calls
                // or paths.
                if capability.at.is_none() && constant && !self.placed.get() {
                    let (properties, attributes) = (self.share(properties), self.share(attributes));
                    self.capabilities.insert(identity, (properties.clone(), attributes.clone()));
                    (Out::Shared(properties), Out::Shared(attributes))
                } else {
                    (properties, attributes)
                }
            }
        };
        let range = capability.occurrences;
        let count =
            |number: Option<u64>| number.and_then(|number| i64::try_from(number).ok()).map_or(Out::Int(-1), Out::Int);
        Out::map([
            ("description", description(&capability.definition)),
            ("types", self.types(capability.capability_type)),
            ("properties", values.0),
            ("attributes", values.1),
            ("minRelationshipCount", count(Some(range.lower))),
            ("maxRelationshipCount", count(range.upper)),
            ("location", self.location(path.into(), capability.at.unwrap_or(node.template.place("capabilities")))),
        ])
    }

    fn location(&self, path: EcoString, at: Span) -> Out {
        let position = self.position(at);
        Out::map([("path", Out::Str(path)), ("row", Out::Int(position.0)), ("column", Out::Int(position.1))])
    }

    fn position(&self, at: Span) -> (i64, i64) {
        let (known, position) = self.last.get();
        if known == at {
            return position;
        }
        let files = &self.compiled.model.files;
        let file = files.of(at.file).and_then(|index| files.list.get(index));
        let position = file.map(|file| file.tree.source().position(at.start));
        let found = position.map_or((-1, -1), |position| (i64::from(position.line), i64::from(position.column)));
        self.last.set((at, found));
        found
    }
}

/// Whether a value needs no further coercion or validation.
fn is_settled(writer: &Writer<'_>, prop: &crate::topology::Prop) -> bool {
    prop.data_type.is_none_or(|id| crate::coerce::is_plain(&writer.compiled.model, id))
}

fn id(kind: &str, name: &str) -> EcoString {
    eco_format!("{kind}:{name}")
}

fn kind_of(kind: &'static str) -> Out {
    Out::map([("puccini", Out::map([("version", Out::str("1.0")), ("kind", Out::str(kind))]))])
}

fn vertex(kind: &'static str, properties: Out, edges: Vec<Out>) -> Out {
    Out::map([("metadata", kind_of(kind)), ("properties", properties), ("edgesOut", Out::List(edges))])
}

fn edge(kind: &'static str, properties: Out, target: &str) -> Out {
    Out::map([("metadata", kind_of(kind)), ("properties", properties), ("targetID", Out::str(target))])
}

fn description(entity: &Entity) -> Out {
    Out::Str(entity.str("description").into())
}

fn metadata(entity: &Entity) -> Out {
    entity.value("metadata").map_or(Out::Null, Out::from)
}

/// Nests the text of a scriptlet by its name: one map per part of the name.
fn nest(out: &mut Vec<(EcoString, Out)>, name: &[&str], text: &str) {
    let [part, rest @ ..] = name else { return };
    if rest.is_empty() {
        out.push(((*part).into(), Out::str(text)));
        return;
    }
    let at = match out.iter().position(|(known, value)| known == part && matches!(value, Out::Map(_))) {
        Some(at) => at,
        None => {
            out.push(((*part).into(), Out::Map(Vec::new())));
            out.len() - 1
        }
    };
    if let Some((_, Out::Map(inner))) = out.get_mut(at) {
        nest(inner, rest, text);
    }
}
