//! Properties, attributes and inputs: assignments are matched with declarations.

use super::{Inputs, MissingInputs, Renderer};
use crate::edition::{self, Standard};
use crate::entities;
use crate::entity::Entity;
use crate::model::Primitive;
use crate::problem::Problems;
use crate::quirks;
use crate::rules;
use crate::suggest;
use crate::topology::{Given, Prop, Props};
use crate::val::{Data, Text, Val};
use crate::values::{Checker, Stance};
use ecow::{EcoString, eco_format};
use indexmap::IndexMap;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, Span};
use std::sync::Arc;

/// The kind of values being rendered, which decides which are required and allowed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Property,
    /// A property that stays as written, as those of capabilities do where a host reads the file.
    KeptProperty,
    Attribute,
    /// Inputs of interfaces and operations: undeclared ones are allowed.
    Input,
}

impl Sort {
    fn noun(self) -> &'static str {
        match self {
            Sort::Property | Sort::KeptProperty => "property",
            Sort::Attribute => "attribute",
            Sort::Input => "input",
        }
    }

    /// The treatment of values of another type than the declared one.
    fn stance(self) -> Stance {
        match self {
            Sort::Property => Stance::Property,
            Sort::KeptProperty | Sort::Attribute | Sort::Input => Stance::Kept,
        }
    }

    pub(super) fn slot(self) -> &'static str {
        match self {
            Sort::Property | Sort::KeptProperty => "properties",
            Sort::Attribute => "attributes",
            Sort::Input => "inputs",
        }
    }
}

/// The owner and location of values.
pub(super) struct Place<'a> {
    /// The display name of the owner.
    pub owner: &'a dyn std::fmt::Display,
    /// The owner's location, for missing values.
    pub at: Span,
    /// The path from the owner's place to the values.
    pub path: EcoString,
    /// The assignments.
    pub assigned: &'a [(Text, Val)],
    /// Names whose values are given elsewhere, so that they are not missing here.
    pub elsewhere: &'a [EcoString],
}

impl Renderer<'_> {
    pub(super) fn checker(&mut self) -> Checker<'_> {
        Checker::new(self.model, self.problems)
    }

    /// Values of an owner whose type declares them.
    pub(super) fn props(&mut self, sort: Sort, declared: &Entity, place: &Place<'_>) -> Props {
        let mut out = Props::default();
        for (name, definition) in declared.entries(sort.slot()) {
            let assigned = place.assigned.iter().find(|(key, _)| key.text == *name);
            let assigned = assigned.filter(|(_, value)| !self.says_nothing(value, definition));
            if let Some(prop) = self.prop(sort, name, definition, assigned, place) {
                out.insert(name.clone(), prop);
            }
        }
        for (name, value) in place.assigned {
            if declared.named(sort.slot(), &name.text).is_some() {
                continue;
            }
            if sort == Sort::Input {
                let prop = Prop {
                    value: value.clone(),
                    definition: None,
                    data_type: None,
                    at: name.span,
                    given: Given::Assigned,
                };
                out.insert(name.text.clone(), prop);
                continue;
            }
            if self.partial || (sort == Sort::Attribute && self.model.edition().is_extended()) {
                continue;
            }
            let near = suggest::nearest(&name.text, declared.entries(sort.slot()).map(|(name, _)| name.as_str()));
            let message = what::undeclared(place.owner, sort.noun(), &name.text);
            let mut diagnostic = Diagnostic::at(&rules::UNDECLARED, name.span, message)
                .maybe_hint(near.map(|near| Hint::meant(name.text.as_str(), near)));
            // A host ignores undeclared properties of nodes, and rejects those of any other entity.
            let tolerated = declared.kind == entities::NODE_TYPE || crate::model::allows_any(declared);
            if self.model.edition().is_extended() && tolerated {
                diagnostic = diagnostic.warning();
            }
            self.problems.push(diagnostic);
        }
        out
    }

    /// Whether a property is empty, which can only mean that it has no value of its own.
    fn says_nothing(&self, value: &Val, definition: &Entity) -> bool {
        matches!(value.data, Data::Null)
            && definition.kind == entities::PROPERTY_DEFINITION
            && self.model.allows(quirks::EMPTY_PERMISSIVE)
            && self.model.type_of(definition, "type", entities::DATA_TYPE).and_then(|id| self.model.primitive(id))
                != Some(Primitive::Null)
    }

    fn prop(
        &mut self,
        sort: Sort,
        name: &EcoString,
        definition: &Arc<Entity>,
        assigned: Option<&(Text, Val)>,
        place: &Place<'_>,
    ) -> Option<Prop> {
        let data_type = self.model.type_of(definition, "type", entities::DATA_TYPE);
        let prop = |value: Val, at: Span, given: Given| Prop {
            value,
            definition: Some(definition.clone()),
            data_type,
            at,
            given,
        };
        if let (Some(fixed), Sort::Property) = (definition.value("value"), sort) {
            if let Some((key, value)) = assigned
                && value != fixed
            {
                let message = format!("the type fixes the value of `{name}`; it cannot be assigned");
                self.problems.push(
                    Diagnostic::at(&rules::CONSTRAINT, key.span, message).label(definition.place("value"), "here"),
                );
            }
            let value = self.checker().value(fixed, definition, definition.place("value"));
            return Some(prop(value, definition.place("value"), Given::Default));
        }
        if let Some((key, value)) = assigned {
            if sort == Sort::Attribute && matches!(value.data, Data::Null) {
                return Some(prop(value.clone(), key.span, Given::Assigned));
            }
            let value = self.checked(sort, value, definition, key.span);
            return Some(prop(value, key.span, Given::Assigned));
        }
        let fallback = definition.value("value").or(definition.value("default"));
        if let Some(default) = fallback {
            let key = if definition.value("value").is_some() { "value" } else { "default" };
            let at = definition.place(key);
            let value = self.checked(sort, default, definition, at);
            return Some(prop(value, at, Given::Default));
        }
        if sort == Sort::Attribute {
            return Some(prop(Val::new(Data::Null, definition.at), definition.at, Given::Nothing));
        }
        if self.demanding
            && definition.bool("required").unwrap_or(true)
            && !(sort == Sort::Input && (self.model.edition().is_2() || self.model.edition().is_extended()))
            && !self.partial
            && !place.elsewhere.contains(name)
        {
            let message = {
                let words = format!("{} has no value for the required {} `{name}`", place.owner, sort.noun());
                what::missing(sort.noun(), name).words(words)
            };
            let beyond = eco_format!("{}[\"{name}\"]", place.path);
            self.problems.beyond(&rules::UNASSIGNED, place.at, beyond, message);
        }
        None
    }

    /// A value, checked and completed. A host checks attributes when they are evaluated: those that do not fit stay as
    /// written.
    fn checked(&mut self, sort: Sort, value: &Val, definition: &Arc<Entity>, at: Span) -> Val {
        if sort != Sort::Attribute || !self.model.edition().is_extended() {
            return self.checker().holding(sort.stance()).value(value, definition, at);
        }
        let mut found = Problems::new();
        let checked = Checker::new(self.model, &mut found).holding(sort.stance()).value(value, definition, at);
        found.hidden().iter().for_each(|span| self.problems.hide(*span));
        if found.any() { value.clone() } else { checked }
    }

    /// The service's own inputs, from given values and defaults. All missing ones are reported.
    pub(super) fn inputs(
        &mut self,
        service: &Arc<Entity>,
        given: &Inputs,
        mapped: &[EcoString],
        missing: MissingInputs,
    ) {
        for (name, value) in given {
            if service.named("inputs", name).is_none() && !self.model.edition().is_extended() {
                self.undeclared_input(name, value, Some(service));
            }
        }
        let mut needed = Vec::new();
        for (name, definition) in service.entries("inputs") {
            let data_type = self.model.type_of(definition, "type", entities::DATA_TYPE);
            let from_outside = given.get(name).map(|value| (accommodate(value, self.model, data_type), Given::Input));
            let own =
                definition.value("value").or(definition.value("default")).map(|value| (value.clone(), Given::Default));
            let Some((value, given)) = from_outside.or(own) else {
                if definition.bool("required").unwrap_or(true) && !mapped.contains(name) {
                    needed.push(definition.clone());
                }
                continue;
            };
            let at = match given {
                Given::Input if self.is_shown_at_value(&value) => value.span,
                Given::Input => definition.at,
                _ => definition.place("default"),
            };
            let checker = match given {
                Given::Input => Checker::of_given(self.model, self.problems),
                _ => self.checker(),
            };
            let value = checker.holding(Stance::Input).value(&value, definition, at);
            self.topology
                .inputs
                .insert(name.clone(), Prop { value, definition: Some(definition.clone()), data_type, at, given });
        }
        self.missing_inputs(&needed, missing);
    }

    /// Whether problems of a given input are shown where it was given. Reports of the original name the declaration; a
    /// host may not know the location of a value, and gives it an empty one.
    fn is_shown_at_value(&self, value: &Val) -> bool {
        let ours = self.model.quirks.are_usual() || self.model.edition().is_extended();
        self.model.asked.is_some() || (ours && value.span.start < value.span.end)
    }

    /// Reports all inputs without a value in one message.
    fn missing_inputs(&mut self, needed: &[Arc<Entity>], missing: MissingInputs) {
        let Some((first, others)) = needed.split_first().filter(|_| missing != MissingInputs::Accept) else { return };
        let names: Vec<String> = needed.iter().map(|input| format!("`{}`", input.name)).collect();
        let words = match names.as_slice() {
            [name] => format!("the input {name} needs a value"),
            names => format!("{} inputs need a value: {}", names.len(), names.join(", ")),
        };
        let message = what::missing_names("input", needed.iter().map(|input| &input.name), false).words(words);
        if let Some(asked) = self.model.asked {
            let lines: Vec<String> = needed.iter().map(|input| format!("`{}:`", input.name)).collect();
            let mut diagnostic = Diagnostic::at(&rules::INPUT, asked, message).label(first.at, "declared here");
            if missing == MissingInputs::Warn {
                diagnostic = diagnostic.warning();
            }
            self.problems.push(diagnostic.hint(format!("add {} under `inputs`", lines.join(" and "))));
            return;
        }
        let mut diagnostic = Diagnostic::at(&rules::INPUT, first.at, message);
        for input in others {
            diagnostic = diagnostic.label(input.at, "and this one");
        }
        let (it, or_file) = if others.is_empty() { ("it", "") } else { ("them", " or `--inputs FILE`") };
        let mut hint = format!("give {it} with `--input {}=VALUE`{or_file}", first.name);
        if missing == MissingInputs::Warn {
            hint.push_str(&format!("; what depends on {it} is not checked"));
            diagnostic = diagnostic.warning();
        }
        self.problems.push(diagnostic.hint(hint));
    }

    pub(super) fn undeclared_input(&mut self, name: &str, value: &Val, service: Option<&Arc<Entity>>) {
        let known: IndexMap<EcoString, Arc<Entity>> =
            service.and_then(|service| service.map("inputs")).map(|defs| defs.flat().clone()).unwrap_or_default();
        let near = suggest::nearest(name, known.keys().map(|name| name.as_str()));
        let at = service.map_or(value.span, |service| service.place("inputs"));
        let message = what::undeclared("the service", "input", name);
        if self.model.asked.is_some() {
            let hint = near.map(|near| Hint::meant(name, near));
            self.problems.push(Diagnostic::at(&rules::INPUT, value.span, message).maybe_hint(hint));
            return;
        }
        let mut diagnostic = Diagnostic::at(&rules::INPUT, at, message);
        if service.is_none() {
            diagnostic.span = None;
        }
        diagnostic = diagnostic.maybe_hint(near.map(|near| Hint::meant(name, near)));
        let template = if self.model.edition() == edition::V2_0 { "service_template" } else { "topology_template" };
        let in_section = service.is_some_and(|service| service.slot("inputs").is_some());
        let beyond = match (service.is_some(), in_section) {
            (true, true) => eco_format!("[\"{name}\"]"),
            (true, false) => eco_format!(".inputs[\"{name}\"]"),
            _ => eco_format!("{template}.inputs[\"{name}\"]"),
        };
        self.problems.add(crate::problem::Problem { diagnostic, beyond });
    }

    pub(super) fn outputs(&mut self, service: &Arc<Entity>) {
        for (name, definition) in service.entries("outputs") {
            let data_type = self.model.type_of(definition, "type", entities::DATA_TYPE);
            let given = if definition.slot("value").is_some() { Given::Assigned } else { Given::Default };
            let Some(value) = definition.value("value").or(definition.value("default")) else { continue };
            let at = definition.place(if given == Given::Assigned { "value" } else { "default" });
            let value = self.checker().holding(Stance::Input).value(value, definition, at);
            self.topology
                .outputs
                .insert(name.clone(), Prop { value, definition: Some(definition.clone()), data_type, at, given });
        }
    }

    /// The display name of a template: its label and name.
    pub(super) fn owner(entity: &Entity) -> String {
        format!("the {} `{}`", entities::label(entity.kind), entity.name)
    }
}

/// Inputs often come as JSON, where an integer may look like a float; a text of the command line is taken literally if
/// a string is expected, whatever YAML would read.
fn accommodate(value: &Val, model: &crate::model::Model, data_type: Option<crate::names::DeclId>) -> Val {
    let wanted = data_type.and_then(|id| model.primitive(id));
    let wants_int = wanted == Some(crate::model::Primitive::Integer);
    let is_scalar = !matches!(value.data, Data::List(_) | Data::Map(_) | Data::Str(_));
    if wanted == Some(crate::model::Primitive::String)
        && is_scalar
        && let Some(text) = model.option_at(value.span)
    {
        return value.with(Data::Str(text.into()));
    }
    match value.data {
        Data::Float(number) if wants_int && number.fract() == 0.0 && number.abs() < 9e15 => {
            value.with(Data::Int(number as i64))
        }
        _ => value.clone(),
    }
}
