//! Checks values against a JSON Schema that a project brings along (drafts 4 to 2020-12), and fills in its defaults.
//!
//! References lead only inside the schema itself: nothing is read or fetched. Patterns match in linear time. What does
//! not fit is returned as data; the dialect puts it into words.

mod check;
mod defaults;
mod formats;
mod pattern;
mod references;

use pattern::Pattern;
use purlin_syntax::limits::VALUE_LEVELS;
use purlin_syntax::rules::LIMIT_DEPTH;
use purlin_syntax::{Diagnostic, Rule};
use purlin_value::rules::LIMIT_REGEX;
use purlin_value::{Data, EcoString, Exceeded, Meter, Value};
use std::collections::HashMap;
use std::sync::OnceLock;

/// Deepest nesting of schemas.
const MAX_DEPTH: u32 = VALUE_LEVELS;

/// A limit that stopped a check before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The run has no steps or bytes left.
    Exceeded(Exceeded),
    /// Schemas, or references between them, nest too deep.
    TooDeep,
    /// A pattern needs more than so many bytes when compiled.
    LargePattern(u64),
}

impl Stopped {
    /// The rule of the limit.
    pub fn rule(self) -> &'static Rule {
        match self {
            Stopped::Exceeded(exceeded) => exceeded.rule(),
            Stopped::TooDeep => &LIMIT_DEPTH,
            Stopped::LargePattern(_) => &LIMIT_REGEX,
        }
    }

    /// What to say.
    pub fn message(self) -> String {
        match self {
            Stopped::Exceeded(exceeded) => format!("checking against the schema: {}", exceeded.message()),
            Stopped::TooDeep => format!("the schema leads more than {MAX_DEPTH} levels deep; look for a `$ref` cycle"),
            Stopped::LargePattern(most) => {
                format!("a pattern of the schema needs more than the {most} bytes allowed when compiled")
            }
        }
    }

    /// A diagnostic without a location.
    pub fn diagnostic(self) -> Diagnostic {
        let hint = match self {
            Stopped::Exceeded(exceeded) => Some(exceeded.hint()),
            Stopped::LargePattern(_) => Some("raise it with `--limit regex-size=BYTES`"),
            Stopped::TooDeep => None,
        };
        Diagnostic::nowhere(self.rule(), self.message()).maybe_hint(hint.map(str::to_owned))
    }
}

/// One thing that does not fit.
#[derive(Clone, Debug)]
pub struct Problem {
    /// JSON pointer of the value.
    pub at: String,
    /// What is wrong with it.
    pub fault: Fault,
    /// What led to it (`anyOf` and the like).
    pub causes: Vec<Problem>,
    /// The value itself.
    pub value: Value,
}

impl Problem {
    /// A problem with a value.
    pub fn new(at: &str, fault: Fault, value: &Value) -> Self {
        Problem { at: at.to_owned(), fault, causes: Vec::new(), value: value.clone() }
    }

    /// The keys and indices that lead to the value.
    pub fn path(&self) -> Vec<String> {
        let steps = self.at.split('/').skip(1);
        steps.map(|step| step.replace("~1", "/").replace("~0", "~")).collect()
    }
}

/// In which way a value does not fit.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The schema itself cannot be used.
    Schema(String),
    /// Nothing may stand here.
    Refused,
    /// It has another type than one of these.
    Type(Vec<EcoString>),
    /// It is none of these.
    Enum(Vec<Value>),
    /// It is not this.
    Const(Value),
    /// A rule such as `minimum` or `maxItems` with what was found and what it asks for.
    Bound {
        /// The keyword.
        rule: &'static str,
        /// The number, or the count.
        found: f64,
        /// The limit.
        wanted: f64,
    },
    /// It does not match a pattern.
    Pattern(EcoString),
    /// It is not written in a format.
    Format(EcoString),
    /// Keys that must be there are not.
    Missing(Vec<EcoString>),
    /// Keys that may not be there, and those that may.
    Additional {
        /// The keys that are too many.
        keys: Vec<EcoString>,
        /// The keys that have a schema.
        known: Vec<EcoString>,
    },
    /// A key must be there, because another one is.
    Dependent {
        /// The missing key.
        key: EcoString,
        /// The key that asks for it.
        because: EcoString,
    },
    /// Two items of a list are equal.
    Equal(usize, usize),
    /// No item fits `contains`.
    Contains,
    /// It fits none of `anyOf`.
    AnyOf,
    /// It fits none of `oneOf`.
    NoneOfOneOf,
    /// It fits these two of `oneOf`.
    SeveralOfOneOf(usize, usize),
    /// It fits what it must not fit.
    Not,
}

/// A schema, read once.
#[derive(Debug)]
pub struct Validator {
    root: Value,
    /// Patterns by their text, compiled when one is first needed; nothing in it if it cannot be used.
    patterns: HashMap<EcoString, OnceLock<Option<Pattern>>>,
    /// What each reference in the schema leads to.
    targets: HashMap<EcoString, Value>,
    /// References that lead out of the schema; what they lead to accepts everything.
    elsewhere: Vec<EcoString>,
    old_draft: bool,
}

impl Validator {
    /// Takes a schema; the message says why it cannot be used.
    pub fn new(root: Value) -> Result<Self, String> {
        let validator = Self::with_gaps(root)?;
        match validator.elsewhere.first() {
            None => Ok(validator),
            Some(reference) => Err(outside(reference)),
        }
    }

    /// Takes a schema of which parts may be elsewhere: these accept everything, and [`Validator::elsewhere`] names them.
    pub fn with_gaps(root: Value) -> Result<Self, String> {
        let draft = root.get("$schema").and_then(Value::as_str).unwrap_or_default();
        let old_draft = ["draft-04", "draft-06", "draft-07"].iter().any(|name| draft.contains(name));
        let names = references::Names::of(&root)?;
        let (patterns, targets, elsewhere) = (HashMap::new(), HashMap::new(), Vec::new());
        let mut validator = Validator { patterns, targets, elsewhere, old_draft, root };
        validator.prepare(&names);
        Ok(validator)
    }

    /// The references that lead out of the schema, each once.
    pub fn elsewhere(&self) -> &[EcoString] {
        &self.elsewhere
    }

    /// Notes patterns and follows references.
    fn prepare(&mut self, names: &references::Names) {
        let mut open = vec![self.root.clone()];
        while let Some(node) = open.pop() {
            match &node.data {
                Data::List(items) => open.extend(items.iter().rev().cloned()),
                Data::Map(map) => {
                    for key in ["$ref", "$dynamicRef"] {
                        if let Some(reference) = map.get(key).and_then(Value::as_str) {
                            self.follow(names, reference);
                        }
                    }
                    self.note(map.get("pattern").and_then(Value::as_str));
                    let patterns = map.get("patternProperties").and_then(Value::as_map);
                    patterns.into_iter().flat_map(|map| map.keys()).for_each(|key| self.note(Some(key)));
                    open.extend(map.values().rev().cloned());
                }
                _ => {}
            }
        }
    }

    fn follow(&mut self, names: &references::Names, reference: &str) {
        if self.targets.contains_key(reference) || self.elsewhere.iter().any(|known| known == reference) {
            return;
        }
        match names.resolve(&self.root, reference) {
            Ok(Some(target)) => {
                self.targets.insert(reference.into(), target);
            }
            Ok(None) => {}
            Err(references::Elsewhere) => self.elsewhere.push(reference.into()),
        }
    }

    fn note(&mut self, pattern: Option<&str>) {
        if let Some(pattern) = pattern.filter(|pattern| !self.patterns.contains_key(*pattern)) {
            self.patterns.insert(pattern.into(), OnceLock::new());
        }
    }

    /// The compiled pattern; nothing if it cannot be used.
    fn pattern(&self, text: &str, meter: &Meter) -> Result<Option<&Pattern>, Stopped> {
        let Some(cell) = self.patterns.get(text) else { return Ok(None) };
        if let Some(known) = cell.get() {
            return Ok(known.as_ref());
        }
        // A schema is kept to the end of the run, and its patterns with it.
        let compiled = pattern::compile(text, meter)?.map(|(pattern, _)| pattern);
        Ok(cell.get_or_init(|| compiled).as_ref())
    }

    /// Everything that does not fit. What is not known yet or broken is not judged.
    pub fn check(&self, value: &Value, meter: &Meter) -> Result<Vec<Problem>, Stopped> {
        check::Checker::new(self, meter).check(&self.root, value, "", 0)
    }

    /// Everything in a value that does not fit one of the schema's definitions.
    pub fn check_definition(&self, name: &str, value: &Value, meter: &Meter) -> Result<Vec<Problem>, Stopped> {
        match self.root.get("definitions").and_then(|all| all.get(name)) {
            Some(definition) => check::Checker::new(self, meter).check(definition, value, "", 0),
            None => Ok(Vec::new()),
        }
    }

    /// The schema's definitions by name.
    pub fn definitions(&self) -> impl Iterator<Item = (&str, &Value)> {
        let all = self.root.get("definitions").and_then(Value::as_map);
        all.into_iter().flat_map(|all| all.iter()).map(|(name, definition)| (name.as_str(), definition))
    }
}

/// Whether a reference leads to the network.
pub fn is_address(reference: &str) -> bool {
    reference.starts_with("https://") || reference.starts_with("http://")
}

/// Why a schema with a reference that leads out of it is refused.
pub fn outside(reference: &str) -> String {
    format!("the schema refers to `{reference}`; schemas are not fetched or read from elsewhere")
}

/// The name that schemas have for the type of a value.
pub fn type_name(value: &Value) -> &'static str {
    match &value.data {
        Data::Null => "null",
        Data::Bool(_) => "boolean",
        Data::Int(_) | Data::BigInt(_) | Data::Float(_) => "number",
        Data::List(_) => "array",
        Data::Map(_) => "object",
        _ => "string",
    }
}

/// A number, whatever its size.
fn number(value: &Value) -> Option<f64> {
    match &value.data {
        Data::BigInt(text) => text.parse().ok(),
        _ => value.as_number(),
    }
}

/// Whether a value is one that can be looked at.
fn is_known(value: &Value) -> bool {
    !matches!(value.data, Data::Lazy(_) | Data::Pending(_) | Data::Poison)
}
