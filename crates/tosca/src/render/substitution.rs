//! Substitution mappings: the node that a whole service can replace.

use super::Renderer;
use crate::edition::Standard;
use crate::entities;
use crate::entity::Entity;
use crate::quirks;
use crate::rules;
use crate::suggest;
use crate::topology::{Mapping, Of, Part, Substitution, Target, Which};
use crate::val::{Data, Val};
use ecow::EcoString;
use purlin_syntax::Message;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, Span};
use std::sync::Arc;

const PARTS: [(Part, &str, &str); 5] = [
    (Part::Property, "properties", "property"),
    (Part::Attribute, "attributes", "attribute"),
    (Part::Capability, "capabilities", "capability"),
    (Part::Requirement, "requirements", "requirement"),
    (Part::Interface, "interfaces", "interface"),
];

impl Renderer<'_> {
    /// Renders the mappings and gives the inputs that they fill.
    pub(super) fn substitution(&mut self, service: &Arc<Entity>) -> Vec<EcoString> {
        let named = service.one("substitution_mappings").or_else(|| service.one("root"));
        let Some(entity) = named.cloned() else { return Vec::new() };
        if entity.edition.is_extended() {
            self.mapped_beside_node(&entity);
        }
        let Some(node_type) = self.model.type_of(&entity, "node_type", entities::NODE_TYPE) else { return Vec::new() };
        let Some(complete) = self.model.complete(node_type).cloned() else { return Vec::new() };
        let mut mappings = Vec::new();
        for (part, slot, noun) in PARTS {
            for (entry, (key, value)) in entity.value(slot).map(Val::entries).unwrap_or(&[]).iter().enumerate() {
                let Some((of, name, repeat)) = mapped_name(key) else {
                    if !self.model.edition().is_2() {
                        self.problems.at(
                            &rules::WRONG_SHAPE,
                            key.span,
                            what::must_be("the name of a mapping", "a string"),
                        );
                    }
                    continue;
                };
                if let Err((message, near)) = self.mapped(&of, slot, noun, &name, &complete) {
                    let near = near.map(|near| format!("did you mean `{near}`?"));
                    self.problems.push(Diagnostic::at(&rules::UNKNOWN_NAME, key.span, message).maybe_hint(near));
                    continue;
                }
                for (target, at) in self.targets(part, value, key.span, service) {
                    self.compatible(part, &name, &target, at, &complete);
                    let (of, name) = (of.clone(), name.clone());
                    mappings.push(Mapping { part, of, name, entry, repeat, target, at });
                }
            }
        }
        let inputs = mappings
            .iter()
            .filter_map(|mapping| match (&mapping.target, mapping.part) {
                (Target::Input(input), Part::Property) => Some(input.clone()),
                _ => None,
            })
            .collect();
        self.topology.substitution = Some(Substitution { entity, node_type, mappings });
        inputs
    }

    /// A node named by `node` has its own properties, capabilities and requirements.
    fn mapped_beside_node(&mut self, entity: &Entity) {
        let Some(node) = entity.slot("node") else { return };
        for slot in
            entity.slots.iter().filter(|slot| ["properties", "capabilities", "requirements"].contains(&slot.name))
        {
            let message = format!("`{}` cannot be mapped where `node` names the node", slot.name);
            let diagnostic = Diagnostic::at(&rules::MALFORMED, slot.at, message).label(node.at, "named here");
            self.problems.push(diagnostic.hint(format!("remove `{}` or `node`", slot.name)));
        }
    }

    /// Whether the node type has the mapped name; otherwise the missing one, with a suggestion.
    fn mapped(
        &self,
        of: &Of,
        slot: &str,
        noun: &str,
        name: &str,
        complete: &Entity,
    ) -> Result<(), (Message, Option<String>)> {
        let near = |entity: &Entity, slot: &str, name: &str| {
            suggest::nearest(name, entity.entries(slot).map(|(name, _)| name.as_str())).map(str::to_owned)
        };
        let (within, kind, key, owner) = match of {
            Of::Node if complete.named(slot, name).is_some() => return Ok(()),
            Of::Node => {
                let message = what::lacking(format!("the node type `{}`", complete.name), noun, name);
                return Err((message, near(complete, slot, name)));
            }
            Of::Capability(owner) => ("capabilities", entities::CAPABILITY_TYPE, "type", owner),
            Of::Relationship(owner, _) => ("requirements", entities::RELATIONSHIP_TYPE, "type", owner),
        };
        let what = if within == "capabilities" { "capability" } else { "requirement" };
        let Some(definition) = complete.named(within, owner) else {
            let message = what::lacking(format!("the node type `{}`", complete.name), what, owner);
            return Err((message, near(complete, within, owner)));
        };
        let declaring = if within == "capabilities" { Some(definition) } else { definition.one("relationship") };
        let Some(declaring) = declaring else { return Ok(()) };
        let of_type = self.model.type_of(declaring, key, kind).and_then(|id| self.model.complete(id));
        let declared =
            declaring.named(slot, name).is_some() || of_type.is_none_or(|of_type| of_type.named(slot, name).is_some());
        if declared {
            return Ok(());
        }
        let message = what::lacking(format!("the {what} `{owner}` of the node type `{}`", complete.name), noun, name);
        Err((message, of_type.and_then(|of_type| near(of_type, slot, name))))
    }

    /// The targets of a mapping; in TOSCA 2.0 there may be several.
    fn targets(&mut self, part: Part, value: &Val, key: Span, service: &Entity) -> Vec<(Target, Span)> {
        let several = matches!(&value.data, Data::List(items) if !items.is_empty() && items.iter().all(|item| matches!(item.data, Data::List(_))));
        if several && self.model.edition().is_2() {
            return value.items().iter().flat_map(|item| self.targets(part, item, item.span, service)).collect();
        }
        self.target(part, value, key, service).into_iter().map(|target| (target, key)).collect()
    }

    fn target(&mut self, part: Part, value: &Val, key: Span, service: &Entity) -> Option<Target> {
        let is_2 = self.model.edition().is_2();
        match (&value.data, part) {
            (Data::List(items), _) => match items.as_slice() {
                [input] if part == Part::Property => self.input_target(input, service),
                [node, member] => self.node_target(part, node, member, service),
                [_, _, ..] if is_2 => Some(Target::Other),
                _ if part == Part::Property => Some(Target::Value(value.clone())),
                _ => self.malformed(key),
            },
            (Data::Str(text), Part::Property) if is_2 && service.named("inputs", text).is_some() => {
                Some(Target::Input(text.clone()))
            }
            (Data::Str(text), Part::Attribute) if is_2 && service.named("outputs", text).is_some() => {
                Some(Target::Output(text.clone()))
            }
            (Data::Str(text), Part::Requirement) if is_2 && service.named("node_templates", text).is_some() => {
                Some(Target::Selected(text.clone()))
            }
            (Data::Map(_), Part::Interface) if is_2 || self.model.allows(quirks::SUBSTITUTION_WORKFLOWS) => {
                self.interface_workflows(value, service);
                Some(Target::Other)
            }
            (Data::Str(_), Part::Property) if is_2 || self.model.edition().is_extended() => {
                self.input_target(value, service)
            }
            (_, Part::Property) => Some(Target::Value(value.clone())),
            (Data::Call(_) | Data::Map(_), _) if is_2 => Some(Target::Other),
            _ => self.malformed(key),
        }
    }

    fn malformed(&mut self, at: Span) -> Option<Target> {
        self.problems.at(&rules::MALFORMED, at, what::must_be("a mapping", "a list such as `[node").and(", name]`"));
        None
    }

    fn interface_workflows(&mut self, value: &Val, service: &Entity) {
        for (key, workflow) in value.entries() {
            let Some(name) = workflow.as_str() else { continue };
            if service.named("workflows", name).is_none() {
                self.problems.at(&rules::UNKNOWN_NAME, key.span, what::unknown("workflow", name));
            }
        }
    }

    fn input_target(&mut self, input: &Val, service: &Entity) -> Option<Target> {
        let name = input.as_str()?;
        if service.named("inputs", name).is_none() {
            let near = suggest::nearest(name, service.entries("inputs").map(|(name, _)| name.as_str()));
            let message = what::lacking("the service", "input", name);
            self.problems.push(
                Diagnostic::at(&rules::UNKNOWN_NAME, input.span, message)
                    .maybe_hint(near.map(|n| Hint::meant(name, n))),
            );
            return None;
        }
        Some(Target::Input(name.into()))
    }

    fn node_target(&mut self, part: Part, node: &Val, member: &Val, service: &Entity) -> Option<Target> {
        let (Some(node_name), Some(member_name)) = (node.as_str(), member.as_str()) else {
            return if self.model.edition().is_2() { Some(Target::Other) } else { self.malformed(node.span) };
        };
        if service.named("node_templates", node_name).is_none() {
            let near = suggest::nearest(node_name, service.entries("node_templates").map(|(name, _)| name.as_str()));
            let message = format!("the mapping names a node template `{node_name}` that does not exist");
            let diagnostic = Diagnostic::at(&rules::UNKNOWN_NAME, node.span, message);
            let diagnostic = diagnostic.maybe_hint(near.map(|n| Hint::meant(node_name, n)));
            let lenient = part == Part::Attribute && self.model.edition().is_extended();
            self.problems.push(if lenient { diagnostic.warning() } else { diagnostic });
            return None;
        }
        // The members of a node whose type could not be read are not known.
        if self.topology.nodes.get(node_name).is_none_or(|node| node.partial) && self.has_unread() {
            return Some(Target::Other);
        }
        let rendered = self.topology.nodes.get(node_name)?;
        let exists = match part {
            Part::Property => {
                rendered.properties.contains_key(member_name) || self.declares(node_name, "properties", member_name)
            }
            Part::Attribute => {
                rendered.attributes.contains_key(member_name) || self.declares(node_name, "properties", member_name)
            }
            Part::Capability => rendered.capabilities.contains_key(member_name),
            Part::Interface => rendered.interfaces.contains_key(member_name),
            Part::Requirement => return self.requirement_target(node_name, member_name, member.span),
        };
        if !exists {
            let noun = PARTS.iter().find(|(known, ..)| *known == part).map_or("part", |(.., noun)| noun);
            let message = what::lacking(format!("the node template `{node_name}`"), noun, member_name);
            let diagnostic = Diagnostic::at(&rules::UNKNOWN_NAME, member.span, message);
            // Mapped attributes have no effect in ensembles, where properties need no declaration either.
            let is_value = matches!(part, Part::Property | Part::Attribute);
            let lenient = is_value && self.model.edition().is_extended();
            self.problems.push(if lenient { diagnostic.warning() } else { diagnostic });
            return None;
        }
        Some(Target::Node(node_name.into(), member_name.into()))
    }

    fn declares(&self, node: &str, slot: &str, name: &str) -> bool {
        let complete = self.topology.nodes.get(node).and_then(|node| self.model.complete(node.node_type));
        complete.is_some_and(|complete| complete.named(slot, name).is_some())
    }

    fn has_unread(&self) -> bool {
        self.model.files.any_unread
    }

    /// A requirement must be assigned exactly once, so that the mapping is unambiguous.
    fn requirement_target(&mut self, node: &str, name: &str, at: Span) -> Option<Target> {
        let rendered = self.topology.nodes.get(node)?;
        let count = rendered.requirements.iter().filter(|requirement| requirement.name == name).count();
        let lenient = self.model.edition().is_2() || self.model.quirks.has(quirks::SUBSTITUTION_PERMISSIVE);
        if !self.declares(node, "requirements", name) || (count == 0 && !lenient) {
            self.problems.at(
                &rules::UNKNOWN_NAME,
                at,
                format!("the node template `{node}` does not assign a requirement `{name}`"),
            );
            return None;
        }
        if count > 1 && !lenient {
            self.problems.at(
                &rules::AMBIGUOUS,
                at,
                format!("the node template `{node}` assigns the requirement `{name}` more than once"),
            );
            return None;
        }
        Some(Target::Node(node.into(), name.into()))
    }

    /// The target of a capability mapping must be of a compatible type.
    fn compatible(&mut self, part: Part, name: &str, target: &Target, at: Span, complete: &Entity) {
        let (Part::Capability, Target::Node(node, member)) = (part, target) else { return };
        let wanted = complete
            .named("capabilities", name)
            .and_then(|definition| self.model.type_of(definition, "type", entities::CAPABILITY_TYPE));
        let found = self
            .topology
            .nodes
            .get(node)
            .and_then(|node| node.capabilities.get(member))
            .and_then(|capability| capability.capability_type);
        let (Some(wanted), Some(found)) = (wanted, found) else { return };
        if !self.model.hierarchy.is_a(found, wanted) {
            let message = format!(
                "the capability `{member}` is a `{}`, which cannot replace a `{}`",
                self.model.name(found),
                self.model.name(wanted)
            );
            self.problems.at(&rules::INCOMPATIBLE, at, message);
        }
    }
}

/// The name in a mapping's key, its owner, and the number of requirements in a row that the mapping takes: a text,
/// `[name, count]`, `[CAPABILITY, capability, name]` or `[RELATIONSHIP, requirement, index, name]`.
fn mapped_name(key: &Val) -> Option<(Of, EcoString, Option<u64>)> {
    match &key.data {
        Data::Str(text) => Some((Of::Node, text.clone(), None)),
        Data::List(items) => match items.as_slice() {
            [name, Val { data: Data::Int(count), .. }] => {
                Some((Of::Node, name.as_str()?.into(), Some(u64::try_from(*count).unwrap_or(0))))
            }
            [name, count] if count.as_str() == Some("UNBOUNDED") => {
                Some((Of::Node, name.as_str()?.into(), Some(u64::MAX)))
            }
            [word, owner, rest @ ..] => {
                let (of, name) = match (word.as_str()?, rest) {
                    ("CAPABILITY", [name]) => (Of::Capability(owner.as_str()?.into()), name),
                    ("RELATIONSHIP", [name]) => (Of::Relationship(owner.as_str()?.into(), Which::At(0)), name),
                    ("RELATIONSHIP", [index, name]) => (Of::Relationship(owner.as_str()?.into(), which(index)?), name),
                    _ => return None,
                };
                Some((of, name.as_str()?.into(), None))
            }
            _ => None,
        },
        _ => None,
    }
}

fn which(index: &Val) -> Option<Which> {
    match &index.data {
        Data::Int(at) => usize::try_from(*at).ok().map(Which::At),
        Data::Str(text) if text == "ALL" => Some(Which::All),
        _ => None,
    }
}
