//! Phase 5, values: checks assigned values against the declared type, and fills in defaults of missing parts.
//!
//! Function calls are left unchanged: their results are checked once they are evaluated.

use crate::coerce;
use crate::edition::Standard;
use crate::entities;
use crate::entity::Entity;
use crate::extended;
use crate::model::{Model, Primitive};
use crate::names::DeclId;
use crate::problem::Problems;
use crate::quirks;
use crate::read::parse_range;
use crate::rules;
use crate::signatures;
use crate::special::{timestamp, units, version};
use crate::suggest;
use crate::val::{Data, Val};
use ecow::{EcoString, eco_format};
use purlin_syntax::Message;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, Span};
use purlin_value::Taint;
use purlin_value::emit::REDACTED;
use purlin_value::rules::LIMIT_LIST;
use std::collections::HashMap;
use std::sync::Arc;

/// How a quantity is written.
pub(crate) const QUANTITY: &str = "write a number, a space and one of these units";

/// Values may nest this deep in their types.
const MAX_DEPTH: u32 = purlin_syntax::limits::VALUE_LEVELS;

/// The declared type of a value: a data type, and the definition or schema that may say more.
#[derive(Clone, Copy)]
pub struct Declared<'a> {
    /// The data type.
    pub data_type: DeclId,
    /// The definition or schema.
    pub definition: &'a Entity,
}

/// The treatment of a value that a host's files write in another type than the declared one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stance {
    /// A property: it is read as its type.
    Property,
    /// An input of the service: it stays as it is written, and only text is text.
    Input,
    /// An attribute, or an input of an operation: it stays as it is written.
    Kept,
    /// A part of a list, a mapping or a data type: it must have its type.
    Part,
}

/// Checks values against their types.
pub struct Checker<'a> {
    /// The known types.
    pub model: &'a Model,
    /// Where problems go.
    pub problems: &'a mut Problems,
    /// The data types whose defaults are being put in, to see a default that contains itself.
    defaulting: Vec<DeclId>,
    /// Defaults of parts that were put in already: types that contain each other several times share them.
    defaults: HashMap<(DeclId, EcoString), Val>,
    /// The number of parts of mappings in them, by address: values kept in `defaults` keep their address.
    sizes: HashMap<usize, u64>,
    /// Whether values are results: the source at their location is a call, not their spelling.
    computed: bool,
    /// Whether they are results of calls.
    called: bool,
    /// The rules for whole values, where a host reads them.
    stance: Stance,
}

impl<'a> Checker<'a> {
    /// A checker.
    pub fn new(model: &'a Model, problems: &'a mut Problems) -> Self {
        Checker {
            model,
            problems,
            defaulting: Vec::new(),
            defaults: HashMap::new(),
            sizes: HashMap::new(),
            computed: false,
            called: false,
            stance: Stance::Property,
        }
    }

    /// A checker for results of calls; literals beside calls were checked before.
    pub fn of_results(model: &'a Model, problems: &'a mut Problems) -> Self {
        Checker { computed: true, called: true, ..Checker::new(model, problems) }
    }

    /// A checker for values from outside.
    pub fn of_given(model: &'a Model, problems: &'a mut Problems) -> Self {
        Checker { computed: true, ..Checker::new(model, problems) }
    }

    /// The same for values with other rules than properties.
    #[must_use]
    pub fn holding(self, stance: Stance) -> Self {
        Checker { stance, ..self }
    }

    /// The declared type of a definition, if it names one that exists.
    pub fn declared<'d>(&self, definition: &'d Entity) -> Option<Declared<'d>> {
        let data_type = self.model.type_of(definition, "type", entities::DATA_TYPE)?;
        Some(Declared { data_type, definition })
    }

    /// Checks a value against a definition; returns it completed.
    pub fn value(&mut self, value: &Val, definition: &Entity, at: Span) -> Val {
        self.part(value, definition, at, 0)
    }

    /// A value, or a part of one, with its definition. Everything with a definition is checked here, so this is where
    /// a secret is marked.
    fn part(&mut self, value: &Val, definition: &Entity, at: Span, depth: u32) -> Val {
        let Some(declared) = self.declared(definition) else {
            // It has no type, or an unknown one that was reported.
            if definition.sensitive {
                self.problems.hide(value.span);
            }
            return value.clone().tainted_by(Taint::secret_if(definition.sensitive));
        };
        self.typed(value, declared, at, depth)
    }

    /// Whether values of a declared type are secrets.
    fn taint(&self, declared: Declared<'_>) -> Taint {
        let of_type = || self.model.complete(declared.data_type).is_some_and(|complete| complete.sensitive);
        Taint::secret_if(declared.definition.sensitive || of_type())
    }

    /// Checks a value against a declared type; returns it completed.
    pub fn typed(&mut self, value: &Val, declared: Declared<'_>, at: Span, depth: u32) -> Val {
        let taint = self.taint(declared);
        if taint.is_secret() {
            // Marked before it is checked, so that no message quotes or shows it.
            self.problems.hide(value.span);
            return self.checked(&value.clone().tainted_by(taint), declared, at, depth);
        }
        self.checked(value, declared, at, depth)
    }

    fn checked(&mut self, value: &Val, declared: Declared<'_>, at: Span, depth: u32) -> Val {
        if value.is_opaque() || depth > MAX_DEPTH || self.model.hierarchy.is_broken(declared.data_type) {
            return value.clone();
        }
        if value.is_call() {
            return self.call(value, declared, at);
        }
        // A host decides which values may be null once everything is evaluated.
        if self.model.edition().is_extended() && matches!(value.data, Data::Null) {
            return value.clone();
        }
        if let Some(zero) = self.zero(value, declared.data_type) {
            return value.with(zero);
        }
        match self.model.primitive(declared.data_type) {
            Some(Primitive::List) => self.list(value, declared, at, depth),
            Some(Primitive::Map) => self.map(value, declared, at, depth),
            Some(primitive) => {
                let stance = if depth == 0 { self.stance } else { Stance::Part };
                self.primitive(value, primitive, declared.data_type, at, stance)
            }
            None => self.complex(value, declared.data_type, at, depth),
        }
    }

    /// Before TOSCA 2.0, null is the empty or zero value of a built-in type.
    fn zero(&self, value: &Val, id: DeclId) -> Option<Data> {
        let edition = self.model.edition();
        if !matches!(value.data, Data::Null) || edition.is_2() || edition.is_extended() {
            return None;
        }
        Some(match self.model.primitive(id)? {
            Primitive::String => Data::Str("".into()),
            Primitive::Integer => Data::Int(0),
            Primitive::Float => Data::Float(0.0),
            Primitive::Boolean => Data::Bool(false),
            Primitive::List => Data::List(Vec::new().into()),
            Primitive::Map => Data::Map(Vec::new().into()),
            _ => return None,
        })
    }

    /// The kind of a call's result is known before it is computed.
    fn call(&mut self, value: &Val, declared: Declared<'_>, at: Span) -> Val {
        if self.model.edition().is_2()
            && let Err(found) = signatures::result(self.model, value, declared.data_type)
        {
            let wanted = self.model.name(declared.data_type);
            let message = what::expected_only(format!("a value of type `{wanted}`"))
                .and(format!(", but the function returns {found}"));
            self.problems.at(&rules::WRONG_TYPE, at, message);
            return value.with(Data::Poison);
        }
        value.clone()
    }

    fn primitive(&mut self, value: &Val, primitive: Primitive, id: DeclId, at: Span, stance: Stance) -> Val {
        match self.fits(value, primitive, id, stance) {
            Ok(None) => value.clone(),
            Ok(Some(replaced)) => {
                let result = self.is_text_of_result(value, primitive);
                let becomes = match &value.data {
                    Data::List(_) | Data::Map(_) => Some("becomes its Python text"),
                    _ if result && matches!(replaced.data, Data::Str(_)) => Some("becomes its text"),
                    _ if result => Some("stays as it is"),
                    _ => None,
                };
                if let Some(becomes) = becomes {
                    let message = what::expected("a string", value.noun()).and(format!(", which {becomes}"));
                    let hint = result.then(|| SAME_TYPE.to_owned());
                    self.problems.push(Diagnostic::at(&rules::WRONG_TYPE, at, message).maybe_hint(hint).warning());
                }
                replaced
            }
            Err(message) => {
                let of_call = self.called && !self.model.edition().is_extended();
                let hint = if of_call { Some(SAME_TYPE) } else { quoting(value, primitive) }.map(str::to_owned);
                let secret = || format!("this secret is not a valid `{}`", self.model.name(id));
                let message = if value.is_tainted() { secret().into() } else { message };
                let diagnostic = Diagnostic::at(&rules::WRONG_TYPE, at, message).of_value(value.origin.to_bits());
                self.problems.push(diagnostic.maybe_hint(hint));
                value.with(Data::Poison)
            }
        }
    }

    /// Whether a function returned a number or boolean for a string before TOSCA 2.0: its text is passed on.
    fn is_text_of_result(&self, value: &Val, primitive: Primitive) -> bool {
        self.called
            && primitive == Primitive::String
            && matches!(value.data, Data::Int(_) | Data::Float(_) | Data::Bool(_))
            && !self.model.edition().is_2()
            && !self.model.edition().is_extended()
            && !self.model.quirks.has(quirks::STRING_PERMISSIVE)
    }

    /// Whether a value is of a primitive type; a quirk may replace it.
    fn fits(&self, value: &Val, primitive: Primitive, id: DeclId, stance: Stance) -> Result<Option<Val>, Message> {
        let permissive = self.model.quirks.has(quirks::STRING_PERMISSIVE);
        let wrong = |wanted: &str| Err(what::expected(wanted, value.noun()));
        if self.model.edition().is_extended()
            && let Some(data) = coerce::leniently(value, primitive, stance)
        {
            let read = || value.with(data).tainted_by(value.taint_within());
            return Ok((stance == Stance::Property).then(read));
        }
        match (primitive, &value.data) {
            (Primitive::Boolean, Data::Bool(_)) => self.plain_boolean(value),
            (Primitive::Integer, Data::Int(_)) | (Primitive::Float, Data::Float(_)) | (Primitive::Null, Data::Null) => {
                Ok(None)
            }
            (Primitive::String, Data::Str(text)) => self.formatted(text, id),
            (Primitive::Float, Data::Int(_)) if self.model.edition().is_extended() => Ok(None),
            (Primitive::Float, Data::Int(number))
                if self.model.edition().is_2() || self.model.allows(quirks::FLOAT_PERMISSIVE) =>
            {
                Ok(Some(value.with(Data::Float(*number as f64))))
            }
            (Primitive::String, Data::Int(_) | Data::Float(_) | Data::Bool(_) | Data::Timestamp(_)) if permissive => {
                Ok(Some(value.with(Data::Str(plain_text(value)))))
            }
            (Primitive::String, _) if self.is_text_of_result(value, primitive) => {
                let data =
                    if self.model.quirks.are_usual() { Data::Str(plain_text(value)) } else { value.data.clone() };
                Ok(Some(value.with(data)))
            }
            (Primitive::Version, Data::Int(number)) if permissive => {
                Ok(Some(value.with(Data::Str(eco_format!("{number}.0")))))
            }
            (Primitive::Version, Data::Float(_) | Data::Int(_)) if self.model.allows(quirks::VERSIONS_PERMISSIVE) => {
                match self.written_version(value) {
                    Some(text) => Ok(Some(value.with(Data::Str(text)))),
                    None => wrong("a version such as `1.0`"),
                }
            }
            // A float has lost its spelling (`1.10` is `1.1`), so the quirk covers only integers.
            (Primitive::Version, Data::Float(_) | Data::Int(_)) if self.model.edition().is_2() => {
                Ok(Some(value.with(Data::Str(number_text(value)))))
            }
            (Primitive::Timestamp, Data::Timestamp(text))
                if self.model.allows(quirks::TIMESTAMP_PERMISSIVE) || self.model.edition().is_2() =>
            {
                self.stamp(text, value)
            }
            (Primitive::Timestamp, Data::Str(text)) => self.stamp(text, value),
            (Primitive::Version, Data::Str(text)) => match version::parse(text) {
                Some(_) => Ok(None),
                None if self.model.edition().is_2() && is_loose_version(text) => Ok(None),
                None if self.model.edition().is_extended() && extended::is_version(text) => Ok(None),
                None => Err(format!("`{text}` is not a version such as `1.0.2.beta-3`").into()),
            },
            (Primitive::Range, Data::List(_)) => {
                parse_range(value).map(|_| None).map_err(|reason| format!("this is not a range: {reason}").into())
            }
            (Primitive::Bytes, Data::Str(text)) if is_base64(text) => Ok(None),
            (Primitive::Bytes, Data::Str(_)) => Err("this is not Base64".to_owned().into()),
            (Primitive::Scalar, _) => self.scalar(value, id).map(|()| None),
            (Primitive::Size | Primitive::Time | Primitive::Frequency | Primitive::Bitrate, Data::Str(text)) => {
                let family = primitive.family().unwrap_or(&units::SIZE);
                // Unfurl requires a leading number without a sign.
                let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
                match units::measure(text, family) {
                    Some(_) if !self.model.edition().is_extended() || is_number(text.trim_start()) => Ok(None),
                    _ => Err(self.bad_quantity(text, family)),
                }
            }
            (Primitive::Boolean, _) => wrong("a boolean"),
            (Primitive::Integer, _) => wrong("an integer"),
            (Primitive::Float, _) => wrong("a float"),
            (Primitive::Null, _) => wrong("null"),
            (Primitive::Range, _) => wrong("a range, which is a list of two"),
            (Primitive::List, _) => wrong("a list"),
            (Primitive::Map, _) => wrong("a mapping"),
            _ => wrong("a string"),
        }
    }

    /// A version without quotes, in its original spelling: `1.10` is not `1.1`. A result has only its number.
    fn written_version(&self, value: &Val) -> Option<EcoString> {
        version_text(self.model, value, self.computed)
    }

    /// TOSCA 2.0 knows `true` and `false`, not the other spellings of YAML.
    fn plain_boolean(&self, value: &Val) -> Result<Option<Val>, Message> {
        if self.computed || !self.model.edition().is_2() {
            return Ok(None);
        }
        match self.model.written_at(value.span) {
            None | Some("true" | "false" | "") => Ok(None),
            Some(other) => Err(format!("a boolean is written `true` or `false`, not `{other}`").into()),
        }
    }

    fn formatted(&self, text: &EcoString, id: DeclId) -> Result<Option<Val>, Message> {
        let named = |name: &str| {
            self.model
                .hierarchy
                .lineage(id)
                .any(|id| self.model.names.decl(id).is_some_and(|decl| decl.normative && decl.name == name))
        };
        if !text.is_empty() && named("tosca.datatypes.json") && !crate::format::is_json(text) {
            return Err("this is not JSON".to_owned().into());
        }
        if !text.is_empty() && named("tosca.datatypes.xml") && !crate::format::is_xml(text) {
            return Err("this is not XML".to_owned().into());
        }
        Ok(None)
    }

    fn stamp(&self, text: &EcoString, value: &Val) -> Result<Option<Val>, Message> {
        match timestamp::parse(text) {
            // TOSCA 2.0 requires an unambiguous instant: a time of day has a zone.
            Some(stamp)
                if self.model.edition().is_2()
                    && text.contains(':')
                    && !stamp.zoned
                    && matches!(value.data, Data::Str(_)) =>
            {
                Err(format!("`{text}` has no time zone; end it with `Z` or an offset such as `+02:00`").into())
            }
            Some(_) => Ok(None),
            None => Err(format!("`{text}` is not a timestamp such as `2024-02-29T12:30:00Z`").into()),
        }
    }

    fn bad_quantity(&self, text: &str, family: &units::Family) -> Message {
        let units: Vec<&str> = family.units.iter().map(|(unit, _)| *unit).collect();
        let words = format!("`{text}` is not a number with a unit; known units are {}", units.join(", "));
        Message::advising(words, QUANTITY)
    }

    /// A scalar of TOSCA 2.0, with the units its type declares.
    fn scalar(&self, value: &Val, id: DeclId) -> Result<(), Message> {
        let Some(text) = value.as_str() else {
            return Err(what::expected("a number with a unit", value.noun()).hint(Some(QUANTITY)));
        };
        crate::scalar::parse(self.model, id, text)?;
        Ok(())
    }

    fn list(&mut self, value: &Val, declared: Declared<'_>, at: Span, depth: u32) -> Val {
        let Data::List(items) = &value.data else {
            self.problems.at(&rules::WRONG_TYPE, at, what::expected("a list", value.noun()));
            return value.with(Data::Poison);
        };
        let Some(schema) = self.entry_schema(declared) else { return value.clone() };
        let items = items.iter().map(|item| self.part(item, &schema, item.span, depth + 1)).collect();
        value.with(Data::List(Arc::new(items)))
    }

    fn map(&mut self, value: &Val, declared: Declared<'_>, at: Span, depth: u32) -> Val {
        let Data::Map(entries) = &value.data else {
            self.problems.at(&rules::WRONG_TYPE, at, what::expected("a mapping", value.noun()));
            return value.with(Data::Poison);
        };
        let keys = self.schema(declared, "key_schema");
        let schema = self.entry_schema(declared);
        let mut out = Vec::with_capacity(entries.len());
        for (key, item) in entries.iter() {
            let key = match keys.as_ref().and_then(|schema| self.declared(schema)) {
                Some(declared) => self.typed(key, declared, key.span, depth + 1),
                None => self.text_key(key),
            };
            let item = match &schema {
                Some(schema) => self.part(item, schema, key.span, depth + 1),
                None => item.clone(),
            };
            out.push((key, item));
        }
        value.with(Data::Map(Arc::new(out)))
    }

    /// Keys are strings unless a key schema declares another type.
    fn text_key(&mut self, key: &Val) -> Val {
        if key.as_str().is_some() || key.is_call() {
            return key.clone();
        }
        if self.model.quirks.has(quirks::STRING_PERMISSIVE) {
            return key.with(Data::Str(plain_text(key)));
        }
        self.problems.at(&rules::WRONG_TYPE, key.span, what::expected("a string", key.noun()).under("this key: "));
        key.with(Data::Poison)
    }

    /// The schema of a list's or map's entries: the definition's, otherwise the data type's.
    pub fn entry_schema(&self, declared: Declared<'_>) -> Option<Arc<Entity>> {
        self.schema(declared, "entry_schema")
    }

    fn schema(&self, declared: Declared<'_>, slot: &str) -> Option<Arc<Entity>> {
        declared.definition.one(slot).cloned().or_else(|| self.model.complete(declared.data_type)?.one(slot).cloned())
    }

    fn is_port_specification(&self, id: DeclId) -> bool {
        let decl = self.model.names.decl(id);
        decl.is_some_and(|decl| decl.normative && decl.name == "tosca.datatypes.network.PortSpec")
    }

    fn complex(&mut self, value: &Val, id: DeclId, at: Span, depth: u32) -> Val {
        let Some(complete) = self.model.complete(id).cloned() else { return value.clone() };
        let open = self.model.is_open(id);
        if open && complete.map("properties").is_none() {
            return value.clone(); // it may be anything
        }
        let ports = match &value.data {
            Data::Int(_) | Data::Str(_) if self.model.edition().is_extended() && self.is_port_specification(id) => {
                extended::port_specification(value)
            }
            _ => None,
        };
        let value = ports.as_ref().unwrap_or(value);
        let Data::Map(entries) = &value.data else {
            let message = what::expected(format!("a `{}`, which is a map", self.model.name(id)), value.noun());
            self.problems.at(&rules::WRONG_TYPE, at, message);
            return value.with(Data::Poison);
        };
        let mut out = Vec::with_capacity(entries.len());
        for (key, item) in entries.iter() {
            let definition = key.as_str().and_then(|name| complete.named("properties", name));
            match definition {
                Some(definition) => {
                    out.push((key.clone(), self.part(item, definition, key.span, depth + 1)));
                }
                None if open => out.push((key.clone(), item.clone())),
                None => self.undeclared_part(key, &complete, id),
            }
        }
        for (name, definition) in complete.entries("properties") {
            if entries.iter().any(|(key, _)| key.as_str() == Some(name)) {
                continue;
            }
            if let Some(default) = definition.value("value").or(definition.value("default")) {
                let known = self.defaults.get(&(id, name.clone())).cloned();
                let default = known.unwrap_or_else(|| {
                    let made = self.part_default(default, definition, id, depth);
                    self.bounded(made, definition)
                });
                self.defaults.insert((id, name.clone()), default.clone());
                out.push((Val::str(name.clone(), default.span), default));
            } else if definition.bool("required").unwrap_or(true) {
                let words = format!("this `{}` lacks `{name}`, which is required", self.model.name(id));
                let message = what::missing("entry", name).words(words);
                self.problems.beyond(&rules::UNASSIGNED, at, eco_format!("[\"{name}\"]"), message);
            }
        }
        value.with(Data::Map(Arc::new(out)))
    }

    /// An inserted default, unless it has more parts than a value may have: its users visit all of it.
    fn bounded(&mut self, default: Val, definition: &Entity) -> Val {
        let most = self.model.budget.most_parts();
        if self.parts_of(&default) <= most {
            return default;
        }
        let message = format!("with its defaults, `{}` has more than the {most} parts allowed", definition.name);
        let diagnostic = Diagnostic::at(&LIMIT_LIST, definition.place("default"), message);
        self.model.budget.note(&diagnostic);
        self.problems.push(diagnostic.hint("raise it with `--limit list-items=N`"));
        // The default is dropped, so its addresses may be reused.
        self.sizes.clear();
        default.with(Data::Poison)
    }

    /// The number of parts of a value, with shared ones counted at each occurrence.
    fn parts_of(&mut self, value: &Val) -> u64 {
        let Data::Map(entries) = &value.data else {
            return 1 + value.items().len() as u64;
        };
        let address = Arc::as_ptr(entries) as usize;
        if let Some(known) = self.sizes.get(&address) {
            return *known;
        }
        let parts = entries.iter().fold(1u64, |sum, (_, item)| sum.saturating_add(1 + self.parts_of(item)));
        self.sizes.insert(address, parts);
        parts
    }

    fn part_default(&mut self, default: &Val, definition: &Entity, id: DeclId, depth: u32) -> Val {
        let at = definition.place("default");
        if self.defaulting.contains(&id) {
            let message = format!("the default of `{}` in `{}` contains itself", definition.name, self.model.name(id));
            self.problems.at(&rules::FUNCTION_LOOP, at, message);
            return default.with(Data::Poison);
        }
        self.defaulting.push(id);
        let value = self.part(default, definition, at, depth + 1);
        self.defaulting.pop();
        value
    }

    fn undeclared_part(&mut self, key: &Val, complete: &Entity, id: DeclId) {
        let shown = key.as_str().map(EcoString::from).unwrap_or_else(|| plain_text(key));
        let secret = key.is_tainted();
        let near = suggest::nearest(&shown, complete.entries("properties").map(|(name, _)| name.as_str()));
        let near = near.filter(|_| !secret);
        let shown = if secret { REDACTED } else { shown.as_str() };
        let message = what::unknown("property", shown).and(format!(" in a value of type `{}`", self.model.name(id)));
        let hint = near.map(|near| Hint::meant(shown, near));
        self.problems.push(Diagnostic::at(&rules::UNDECLARED, key.span, message).maybe_hint(hint));
    }
}

/// The hint for a function whose result has another type.
const SAME_TYPE: &str = "declare the type that the function returns";

/// The hint about quotes for a value of the wrong type.
fn quoting(value: &Val, primitive: Primitive) -> Option<&'static str> {
    match (primitive, &value.data) {
        (
            Primitive::String | Primitive::Version,
            Data::Int(_) | Data::Float(_) | Data::Bool(_) | Data::Timestamp(_),
        ) => Some("put it in quotes"),
        (Primitive::Integer, Data::Str(text)) if text.parse::<i64>().is_ok() => Some("leave out the quotes"),
        (Primitive::Float, Data::Str(text)) if text.parse::<f64>().is_ok() => Some("leave out the quotes"),
        (Primitive::Boolean, Data::Str(_)) => Some("a boolean is written `true` or `false`, without quotes"),
        _ => None,
    }
}

/// A scalar as text, where any scalar is accepted as text.
pub fn plain_text(value: &Val) -> EcoString {
    match &value.data {
        Data::Null => "null".into(),
        Data::Bool(value) => eco_format!("{value}"),
        Data::Int(value) => eco_format!("{value}"),
        Data::Float(value) => crate::special::go_g(*value).into(),
        Data::Str(text) | Data::Timestamp(text) => text.clone(),
        _ => "".into(),
    }
}

/// The text of the version that a number is written as. A computed number may differ from the source at its location.
pub(crate) fn version_text(model: &Model, value: &Val, computed: bool) -> Option<EcoString> {
    let read = |text: &str| {
        let text = if text.contains('.') { EcoString::from(text) } else { eco_format!("{text}.0") };
        version::parse(&text).map(|_| text)
    };
    match model.written_at(value.span).or_else(|| model.given_at(value.span)) {
        Some(written) if computed => read(written).or_else(|| read(&number_text(value))),
        Some(written) => read(written),
        None => read(&number_text(value)),
    }
}

fn number_text(value: &Val) -> EcoString {
    match value.data {
        Data::Float(number) if number.fract() == 0.0 => eco_format!("{number:.1}"),
        Data::Float(number) => eco_format!("{number}"),
        Data::Int(number) => eco_format!("{number}.0"),
        _ => EcoString::new(),
    }
}

/// TOSCA 2.0 also takes a single number as a version.
fn is_loose_version(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn is_base64(text: &str) -> bool {
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let body = compact.trim_end_matches('=');
    compact.len().is_multiple_of(4)
        && compact.len() - body.len() <= 2
        && body.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+' || b == b'/')
}
