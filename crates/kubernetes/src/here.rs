//! A path in an object during validation: the steps, and the value at the end.

use purlin_value::Value;
use std::fmt;

/// One step into an object.
#[derive(Clone, Copy, Debug)]
pub enum Step<'v> {
    /// The object itself.
    Top,
    /// The value of a key.
    Key(&'v str),
    /// An item of a list.
    Item(usize),
}

/// A path: the last step, the value there, and the path before it.
#[derive(Clone, Copy, Debug)]
pub struct Here<'v, 'h> {
    above: Option<&'h Here<'v, 'h>>,
    step: Step<'v>,
    /// The value.
    pub value: &'v Value,
}

impl<'v, 'h> Here<'v, 'h> {
    /// The object itself.
    pub fn top(value: &'v Value) -> Self {
        Here { above: None, step: Step::Top, value }
    }

    /// The value of a key.
    pub fn key<'b>(&'b self, key: &'v str) -> Option<Here<'v, 'b>>
    where
        'h: 'b,
    {
        Some(self.entry(key, self.value.get(key)?))
    }

    /// The value of a key, unless it is null.
    pub fn set<'b>(&'b self, key: &'v str) -> Option<Here<'v, 'b>>
    where
        'h: 'b,
    {
        self.key(key).filter(|here| !here.value.is_null())
    }

    /// The same for a value that the caller already has.
    pub fn entry<'b>(&'b self, key: &'v str, value: &'v Value) -> Here<'v, 'b>
    where
        'h: 'b,
    {
        Here { above: Some(self), step: Step::Key(key), value }
    }

    /// An item.
    pub fn item<'b>(&'b self, index: usize, value: &'v Value) -> Here<'v, 'b>
    where
        'h: 'b,
    {
        Here { above: Some(self), step: Step::Item(index), value }
    }

    /// All items, if it is a list.
    pub fn items<'b>(&'b self) -> impl Iterator<Item = Here<'v, 'b>>
    where
        'h: 'b,
    {
        let items = self.value.as_list().unwrap_or_default();
        items.iter().enumerate().map(move |(index, value)| self.item(index, value))
    }

    /// The value as a string, if it is known.
    pub fn text(&self) -> Option<&'v str> {
        known(self.value)?.as_str()
    }

    /// The key of this value, or of the enclosing list.
    pub fn last_key(&self) -> Option<(&'v str, &'v Value)> {
        match (self.step, self.above) {
            (Step::Key(key), _) => Some((key, self.value)),
            (Step::Item(_), Some(above)) => above.last_key(),
            _ => None,
        }
    }

    /// Whether the path contains a key.
    pub fn is_under(&self, name: &str) -> bool {
        let is_it = matches!(self.step, Step::Key(key) if key == name);
        is_it || self.above.is_some_and(|above| above.is_under(name))
    }

    /// The path without its last step.
    pub fn above(&self) -> Option<&'h Here<'v, 'h>> {
        self.above
    }
}

/// `spec.containers[0].image`.
impl fmt::Display for Here<'_, '_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(above) = self.above {
            above.fmt(out)?;
        }
        let is_first = self.above.is_none_or(|above| matches!(above.step, Step::Top));
        match self.step {
            Step::Top => Ok(()),
            Step::Key(key) if key.contains(['.', '/', ' ']) => write!(out, "[{key}]"),
            Step::Key(key) if is_first => write!(out, "{key}"),
            Step::Key(key) => write!(out, ".{key}"),
            Step::Item(index) => write!(out, "[{index}]"),
        }
    }
}

/// A value that is known and may be shown; pending, broken and secret values are not validated, nor are strings with a
/// variable that is replaced when the object is deployed.
pub fn known(value: &Value) -> Option<&Value> {
    let is_open = match &value.data {
        purlin_value::Data::Lazy(_) => true,
        purlin_value::Data::Str(text) => has_variable(text),
        _ => false,
    };
    (!value.is_pending() && !value.is_poison() && !value.is_tainted() && !is_open).then_some(value)
}

/// Whether a string has a variable as `envsubst` and the post-build substitution of Flux write it, `${NAME}` or
/// `${NAME:=default}`, or as kustomizations and pods do: `$(NAME)`.
fn has_variable(text: &str) -> bool {
    // Nearly all strings have none, and every string of every object is asked.
    if !text.as_bytes().contains(&b'$') {
        return false;
    }
    text.match_indices('$').any(|(at, _)| {
        let rest = text.get(at + 1..).unwrap_or_default();
        let (rest, is_pods) = match rest.strip_prefix('(') {
            Some(rest) => (rest, true),
            None => (rest.strip_prefix('{').unwrap_or_default(), false),
        };
        let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric() || (is_pods && matches!(c, '-' | '.'));
        let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let is_name = rest.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic());
        let after = rest.get(end..).unwrap_or_default();
        is_name && if is_pods { after.starts_with(')') } else { after.starts_with(['}', ':', '=', '-', '/']) }
    })
}
