//! Requirements of nodes: assigned ones, and those added because of lower bounds.

use super::Renderer;
use crate::coerce;
use crate::edition::{self, Standard};
use crate::entities;
use crate::entity::{Entity, Range};
use crate::evaluate::amount_of;
use crate::model::Primitive;
use crate::multiply::MAX_COUNTED;
use crate::names::DeclId;
use crate::rules;
use crate::suggest;
use crate::topology::Requirement;
use crate::val::{Data, Text};
use crate::values::Checker;
use ecow::EcoString;
use indexmap::IndexMap;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint};
use std::sync::Arc;

/// Most requirements added automatically, whatever the lower bound.
const MAX_AUTOMATIC: u64 = 10_000;

impl Renderer<'_> {
    pub(super) fn requirements(&mut self, template: &Arc<Entity>, complete: &Entity) -> Vec<Requirement> {
        let mut out = Vec::new();
        let mut counts: IndexMap<&EcoString, (u64, u64)> = IndexMap::new();
        for (index, assignment) in template.list("requirements").iter().enumerate() {
            let declared = complete.named("requirements", &assignment.name).cloned();
            let free =
                || (self.partial || assignment.edition.is_extended()).then(|| undeclared_requirement(assignment));
            let Some(definition) = declared.or_else(free) else {
                let near =
                    suggest::nearest(&assignment.name, complete.entries("requirements").map(|(name, _)| name.as_str()));
                let message =
                    what::undeclared(format!("the type of {}", Self::owner(template)), "requirement", &assignment.name);
                self.problems.push(
                    Diagnostic::at(&rules::UNDECLARED, assignment.at, message)
                        .maybe_hint(near.map(|n| Hint::meant(assignment.name.as_str(), n))),
                );
                continue;
            };
            let count = self.requirement_count(assignment);
            let (all, firm) = counts.entry(&assignment.name).or_default();
            *all += count;
            if let Some(requirement) = self.requirement(assignment, &definition, index) {
                *firm += if requirement.optional { 0 } else { count };
                out.extend((0..count).map(|_| requirement.clone()));
            }
        }
        let mut index = template.list("requirements").len();
        let substituted = template.texts("directives").iter().any(|directive| directive.text == "substitute");
        for (name, definition) in complete.entries("requirements") {
            let (assigned, firm) = counts.get(name).copied().unwrap_or_default();
            let range = definition.range("count_range").unwrap_or(self.default_count());
            let explicit = assigned > 0;
            let mut total = assigned;
            // TOSCA 2.0 leaves unassigned requirements to the orchestrator, unless the template assigns some of them.
            let automatic = !self.model.edition().is_2() || !explicit;
            if automatic && !(self.model.edition().is_2() && substituted) {
                while total < range.lower && total < MAX_AUTOMATIC {
                    out.push(self.automatic(definition, template, index));
                    index += 1;
                    total += 1;
                }
            }
            // Automatically added requirements are firm.
            let too_few_firm = explicit && firm + (total - assigned) < range.lower;
            if !range.contains(total) || too_few_firm {
                let allowed = if range.contains(total) {
                    format!(
                        ", {} of them optional; its type wants at least {} that are not",
                        assigned - firm,
                        range.lower
                    )
                } else {
                    format!("; its type allows {range}")
                };
                let message =
                    format!("{} assigns the requirement `{name}` {assigned} times{allowed}", Self::owner(template));
                let at =
                    if template.slot("requirements").is_some() { template.place("requirements") } else { template.at };
                self.problems.push(Diagnostic::at(&rules::COUNT, at, message).label(definition.at, "declared here"));
            }
        }
        out
    }

    pub(super) fn default_count(&self) -> Range {
        match self.model.edition() {
            edition if edition.is_2() => Range::ANY,
            // An upper bound that is not written does not exist.
            edition if edition.is_extended() => Range { lower: 1, upper: None },
            _ => Range::ONE,
        }
    }

    /// How often a requirement is assigned at once, and that it is not too often.
    fn requirement_count(&mut self, assignment: &Entity) -> u64 {
        // Where a host extends TOSCA, `occurrences` is the number of nodes for the one assignment.
        if self.model.edition().is_extended() {
            return 1;
        }
        if let Some(range) = assignment.range("occurrences") {
            return self.bounded("occurrences", range.lower, assignment);
        }
        match assignment.value("count").map(|value| &value.data) {
            Some(Data::Int(count)) if *count >= 0 => {
                self.bounded("count", u64::try_from(*count).unwrap_or(0), assignment)
            }
            Some(Data::Call(_) | Data::Poison) | None => 1,
            Some(_) => {
                self.problems.at(
                    &rules::WRONG_TYPE,
                    assignment.place("count"),
                    "`count`: expected an integer of at least 0",
                );
                1
            }
        }
    }

    fn bounded(&mut self, key: &str, count: u64, assignment: &Entity) -> u64 {
        let at = assignment.place(key);
        if count > MAX_COUNTED {
            let message = format!("`{key}` is {count}, but at most {MAX_COUNTED} can be made");
            self.problems.at(&rules::COUNT, at, message);
            return 1;
        }
        if self.counted.has_room(count.saturating_sub(1), at, self.problems) { count } else { 1 }
    }

    /// An unassigned requirement: any target that its definition allows.
    pub(super) fn automatic(&mut self, definition: &Arc<Entity>, template: &Arc<Entity>, index: usize) -> Requirement {
        let relationship =
            definition.one("relationship").map(|relationship| self.default_relationship(relationship, template));
        let (capability_name, capability_type) = self.model.asked_capability(definition);
        Requirement {
            name: definition.name.clone(),
            assignment: None,
            definition: Some(definition.clone()),
            index,
            at: template.at,
            capability_name,
            capability_type,
            node_template: None,
            node_index: None,
            node_type: self.model.type_of(definition, "node", entities::NODE_TYPE),
            relationship,
            optional: false,
        }
    }

    pub(super) fn requirement(
        &mut self,
        assignment: &Arc<Entity>,
        definition: &Arc<Entity>,
        index: usize,
    ) -> Option<Requirement> {
        let (defined_name, defined_capability) = self.model.asked_capability(definition);
        let capability = assignment.text("capability");
        let as_type = capability.and_then(|name| self.model.find(entities::CAPABILITY_TYPE, name));
        let (capability_name, capability_type) = match (capability, as_type) {
            (_, Some(id)) => (defined_name, Some(id)),
            (Some(name), None) => (Some(name.clone()), defined_capability),
            (None, None) => (defined_name, defined_capability),
        };
        let (node_template, node_type) = self.requirement_node(assignment, definition);
        let relationship = match (assignment.one("relationship"), definition.one("relationship")) {
            (Some(own), base) => Some(self.relationship(own, base, assignment.at)),
            (None, Some(base)) => Some(self.default_relationship(base, assignment)),
            (None, None) => None,
        };
        self.requirement_directives(assignment);
        if let Some(capability_type) = capability_type {
            self.allocation(assignment, capability_type);
        }
        let optional = match assignment.value("optional").map(|value| (&value.data, value)) {
            Some((Data::Bool(optional), _)) => *optional,
            Some((Data::Call(_) | Data::Poison, _)) | None => false,
            Some((_, value)) => {
                let message = what::expected("true or false", value.noun()).under("`optional`: ");
                self.problems.at(&rules::WRONG_TYPE, assignment.place("optional"), message);
                false
            }
        };
        Some(Requirement {
            name: assignment.name.clone(),
            assignment: Some(assignment.clone()),
            definition: Some(definition.clone()),
            index,
            at: assignment.at,
            capability_name,
            capability_type,
            node_index: node_template.as_ref().and_then(|_| assignment.value("node")?.items().get(1).cloned()),
            node_template,
            node_type,
            relationship,
            optional,
        })
    }

    /// An allocated property must exist in the capability and be countable.
    fn allocation(&mut self, assignment: &Entity, capability_type: DeclId) {
        for (name, value) in assignment.values("allocation") {
            let declared = |id: DeclId| self.model.complete(id)?.named("properties", &name.text).cloned();
            let Some(definition) = declared(capability_type) else {
                // A capability of a type derived from it may have the property.
                let hierarchy = &self.model.hierarchy;
                let mut derived = hierarchy.order.iter().filter(|id| hierarchy.is_a(**id, capability_type));
                if !derived.any(|id| declared(*id).is_some()) {
                    self.nothing_to_take(name, capability_type);
                }
                continue;
            };
            let data_type = self.model.type_of(&definition, "type", entities::DATA_TYPE);
            let counted = data_type.and_then(|id| self.model.primitive(id)).is_some_and(Primitive::is_amount);
            if let Some(id) = data_type.filter(|_| !counted) {
                let message = format!(
                    "`{}` is a `{}`; only of numbers and quantities can something be taken",
                    name.text,
                    self.model.name(id)
                );
                self.problems.at(&rules::WRONG_TYPE, name.span, message);
                continue;
            }
            let before = self.problems.len();
            let checked = Checker::new(self.model, self.problems).value(value, &definition, value.span);
            let native = coerce::coerce(self.model, &checked, data_type, Some(&definition));
            if self.problems.len() > before || native.is_call() || data_type.is_none() {
                continue;
            }
            let wrong = match amount_of(&native) {
                Some(amount) if amount < 0.0 => "cannot be negative",
                Some(amount) if amount.is_finite() => continue,
                _ => "must be a number, and one that is not infinite",
            };
            self.problems.at(&rules::WRONG_TYPE, value.span, format!("what is taken of `{}` {wrong}", name.text));
        }
    }

    fn nothing_to_take(&mut self, name: &Text, capability_type: DeclId) {
        let complete = self.model.complete(capability_type);
        let known = complete.iter().flat_map(|complete| complete.entries("properties")).map(|(name, _)| name.as_str());
        let near = suggest::did_you_mean(&name.text, known);
        let capability = self.model.name(capability_type);
        let message =
            format!("nothing is taken of `{}`: a capability of type `{capability}` has no such property", name.text);
        // Only a warning: users allocate properties of nodes, though only capabilities have them.
        self.problems.push(Diagnostic::at(&rules::UNDECLARED, name.span, message).maybe_hint(near).warning());
    }

    pub(super) fn requirement_directives(&mut self, assignment: &Entity) {
        for directive in assignment.texts("directives") {
            if !matches!(directive.text.as_str(), "internal" | "external") {
                let message = what::unknown("directive", &directive.text)
                    .and(" for requirements: expected `internal` or `external`");
                self.problems.at(&rules::MALFORMED, directive.span, message);
            }
        }
    }

    /// The node a requirement names: a template, or a type.
    pub(super) fn requirement_node(
        &mut self,
        assignment: &Entity,
        definition: &Entity,
    ) -> (Option<Text>, Option<DeclId>) {
        let defined = self.model.type_of(definition, "node", entities::NODE_TYPE);
        let named = match (assignment.text("node"), assignment.value("node").map(|value| (&value.data, value))) {
            (Some(name), _) => name.clone(),
            (None, Some((Data::Str(text), value))) => Text { text: text.clone(), span: value.span },
            (None, Some((Data::List(items), value))) => match items.first().and_then(|item| item.as_str()) {
                Some(name) => Text { text: name.into(), span: value.span },
                None => {
                    self.problems.at(
                        &rules::MALFORMED,
                        assignment.place("node"),
                        "`node` must be a name or `[name, index]`",
                    );
                    return (None, defined);
                }
            },
            (None, Some((Data::Call(_) | Data::Poison, _))) | (None, None) => return (None, defined),
            (None, Some((_, value))) => {
                let message = what::expected("a string", value.noun()).under("`node`: ");
                self.problems.at(&rules::WRONG_SHAPE, assignment.place("node"), message);
                return (None, defined);
            }
        };
        let is_template =
            self.model.service().is_some_and(|service| service.named("node_templates", &named.text).is_some());
        if is_template || self.model.files.is_left_out(&named.text) {
            return (Some(named), defined);
        }
        match self.model.find(entities::NODE_TYPE, &named) {
            Some(id) => (None, Some(id)),
            None => {
                if self.model.edition() == edition::V2_0 {
                    let message = what::unknown("node template or node type", &named.text).and(" in `node`");
                    self.problems.at(&rules::UNKNOWN_NAME, assignment.place("node"), message);
                }
                (None, defined)
            }
        }
    }
}

/// A placeholder definition of an undeclared requirement, without constraints.
fn undeclared_requirement(assignment: &Entity) -> Arc<Entity> {
    Arc::new(Entity { kind: entities::REQUIREMENT_DEFINITION, slots: Vec::new(), ..assignment.clone() })
}
