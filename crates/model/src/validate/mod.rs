//! Validates values against a JSON Schema that a project supplies (drafts 4 to 2020-12), and fills in its defaults.
//!
//! References are resolved only inside the schema itself: nothing is read or fetched. Patterns match in linear time.
//! Problems are returned as data; the dialect words them.

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
    /// A pattern needs more than this many bytes when compiled.
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

    /// The message.
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

/// A mismatch.
#[derive(Clone, Debug)]
pub struct Problem {
    /// JSON pointer of the value.
    pub at: String,
    /// The kind of mismatch.
    pub fault: Fault,
    /// The underlying problems (`anyOf` and the like).
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

/// How a value mismatches.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The schema itself cannot be used.
    Schema(String),
    /// No value is allowed.
    Refused,
    /// It has another type than one of these.
    Type(Vec<EcoString>),
    /// It is not one of these.
    Enum(Vec<Value>),
    /// It differs from this.
    Const(Value),
    /// A rule such as `minimum` or `maxItems` with the actual and the required number.
    Bound {
        /// The keyword.
        rule: &'static str,
        /// The actual number, or the count.
        found: f64,
        /// The limit.
        wanted: f64,
    },
    /// It does not match a pattern.
    Pattern(EcoString),
    /// It does not match a format.
    Format(EcoString),
    /// Required keys are missing.
    Missing(Vec<EcoString>),
    /// Additional keys that are not allowed, and the allowed ones.
    Additional {
        /// The additional keys.
        keys: Vec<EcoString>,
        /// The keys that have a schema.
        known: Vec<EcoString>,
    },
    /// A key is required because of another one.
    Dependent {
        /// The missing key.
        key: EcoString,
        /// The key that requires it.
        because: EcoString,
    },
    /// Two items of a list are equal.
    Equal(usize, usize),
    /// No item matches `contains`.
    Contains,
    /// It matches none of `anyOf`.
    AnyOf,
    /// It matches none of `oneOf`.
    NoneOfOneOf,
    /// It matches these two of `oneOf`.
    SeveralOfOneOf(usize, usize),
    /// It matches `not`.
    Not,
}

/// A schema, read once.
#[derive(Debug)]
pub struct Validator {
    root: Value,
    /// Patterns by their text, compiled on first use; `None` inside if unusable.
    patterns: HashMap<EcoString, OnceLock<Option<Pattern>>>,
    /// The target of each reference in the schema.
    targets: HashMap<EcoString, Value>,
    /// References that lead out of the schema; their targets accept everything.
    elsewhere: Vec<EcoString>,
    old_draft: bool,
}

impl Validator {
    /// A validator for a schema; the error is why it cannot be used.
    pub fn new(root: Value) -> Result<Self, String> {
        let validator = Self::with_gaps(root)?;
        match validator.elsewhere.first() {
            None => Ok(validator),
            Some(reference) => Err(outside(reference)),
        }
    }

    /// A validator for a schema of which parts may be elsewhere: these accept everything, and
    /// [`Validator::elsewhere`] lists them.
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

    /// Collects patterns and resolves references.
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

    /// The compiled pattern; `None` if it cannot be used.
    fn pattern(&self, text: &str, meter: &Meter) -> Result<Option<&Pattern>, Stopped> {
        let Some(cell) = self.patterns.get(text) else { return Ok(None) };
        if let Some(known) = cell.get() {
            return Ok(known.as_ref());
        }
        // A schema is kept until the end of the run, including its patterns.
        let compiled = pattern::compile(text, meter)?.map(|(pattern, _)| pattern);
        Ok(cell.get_or_init(|| compiled).as_ref())
    }

    /// All mismatches. Unknown or broken values are not validated.
    pub fn check(&self, value: &Value, meter: &Meter) -> Result<Vec<Problem>, Stopped> {
        check::Checker::new(self, meter).check(&self.root, value, "", 0)
    }

    /// All mismatches of a value with one of the schema's definitions.
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

/// The message for a schema with a reference that leads out of it.
pub fn outside(reference: &str) -> String {
    format!("the schema refers to `{reference}`; schemas are not fetched or read from elsewhere")
}

/// The schema's name for the type of a value.
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

/// A number of any size.
fn number(value: &Value) -> Option<f64> {
    match &value.data {
        Data::BigInt(text) => text.parse().ok(),
        _ => value.as_number(),
    }
}

/// Whether a value can be validated.
fn is_known(value: &Value) -> bool {
    !matches!(value.data, Data::Lazy(_) | Data::Pending(_) | Data::Poison)
}
