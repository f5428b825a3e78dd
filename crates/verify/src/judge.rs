//! Checks documents: one function per kind of assertion, all returning a list of failures. Documents are values; this
//! file does not know where they come from.

use crate::Stop;
use crate::assertion::{Check, Selector, sorted};
use crate::path::Path;
use crate::pattern::{Pattern, quoted};
use crate::snapshot::{Compared, Snapshots};
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::json_within;
use purlin_value::encoding::from_base64;
use purlin_value::{Data, Meter, Secrets, Value};
use std::borrow::Cow;

/// The input of a check.
pub(crate) struct Judge<'j> {
    /// All documents of the template.
    pub(crate) all: &'j [Value],
    /// The selected documents.
    pub(crate) meant: &'j [Value],
    /// Whether the check is negated.
    pub(crate) is_negative: bool,
    /// Why nothing was rendered, if so.
    pub(crate) failure: Option<&'j str>,
    pub(crate) snapshots: &'j Snapshots<'j>,
    pub(crate) meter: &'j Meter,
}

/// Failures; empty if the check holds.
type Verdict = Result<Vec<String>, Stop>;

/// The key under which texts and error messages are kept as documents.
pub(crate) const RAW: &str = "raw";

/// Maximum length of a value in a message, in bytes.
const SHOWN: usize = 160;

/// A value on one line, cut if it is long, without secrets.
pub(crate) fn shown(value: &Value) -> String {
    let text =
        json_within(value, Secrets::Hide, JsonLayout::Compact, 1 << 20).unwrap_or_else(|_| "a large value".into());
    if text.len() <= SHOWN {
        return text;
    }
    let end = (0..=SHOWN).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    format!("{}…", text.get(..end).unwrap_or_default())
}

/// A text normalised for comparison: trailing blanks of lines and leading line breaks do not count.
fn uniform(text: &str) -> String {
    let mut lines: Vec<&str> = text.split('\n').collect();
    let last = lines.pop().unwrap_or_default();
    let mut plain = String::with_capacity(text.len());
    for line in lines {
        let cut = line.strip_suffix('\r').filter(|line| line.ends_with(' ')).unwrap_or(line);
        plain.push_str(cut.trim_end_matches(' '));
        plain.push('\n');
    }
    plain.push_str(last);
    plain.trim_start_matches('\n').to_owned()
}

fn raw(document: &Value) -> String {
    match document.get(RAW) {
        Some(Value { data: Data::Str(text), .. }) => uniform(text),
        Some(other) => shown(other),
        None => "<nil>".to_owned(),
    }
}

/// Whether two values are equal in Go: an integer is not a float.
fn same(one: &Value, other: &Value) -> bool {
    match (&one.data, &other.data) {
        (Data::Int(_), Data::Float(_)) | (Data::Float(_), Data::Int(_)) => false,
        (Data::List(one), Data::List(other)) => {
            one.len() == other.len() && one.iter().zip(other.iter()).all(|(one, other)| same(one, other))
        }
        (Data::Map(one), Data::Map(other)) => {
            let is_there = |(key, value): (&purlin_value::EcoString, &Value)| {
                other.get(key).is_some_and(|other| same(value, other))
            };
            one.len() == other.len() && one.iter().all(is_there)
        }
        _ => one == other,
    }
}

/// Go's name for the type of a value.
fn go_type(value: &Value) -> &'static str {
    match &value.data {
        Data::Bool(_) => "bool",
        Data::Int(_) => "int",
        Data::BigInt(_) => "uint64",
        Data::Float(_) => "float64",
        Data::Str(_) => "string",
        Data::List(_) => "[]interface {}",
        Data::Map(_) => "map[string]interface {}",
        _ => "",
    }
}

impl Judge<'_> {
    /// The failures of a check.
    pub(crate) fn judge(&self, check: &Check) -> Verdict {
        match check {
            Check::Equal { path, value, decodes } => {
                self.each_value(path, |found| self.equal(path, found, value, *decodes))
            }
            Check::Order { path, value, is_greater } => {
                self.each_value(path, |found| self.order(path, found, value, *is_greater))
            }
            Check::EqualRaw { value } => self.each_raw(|found| Ok((found == value, format!("to equal {value:?}")))),
            Check::Exists { path } => self.exists(path),
            Check::Matches { path, pattern, decodes } => {
                let compiled = self.pattern(pattern)?;
                self.each_value(path, |found| self.matches(path, found, (pattern, &compiled), *decodes))
            }
            Check::MatchesRaw { pattern } => {
                let compiled = self.pattern(pattern)?;
                self.each_raw(|found| Ok((compiled.is_in(self.meter, found)?, format!("to match `{pattern}`"))))
            }
            Check::Contains { path, content, count, any } => {
                self.each_value(path, |found| self.contains(path, found, content, (*count, *any)))
            }
            Check::IsKind { of } => self.is_named("kind", of),
            Check::IsApiVersion { of } => self.is_named("apiVersion", of),
            Check::HasDocuments { count, is_filtered } => {
                let found = if *is_filtered { self.meant.len() } else { self.all.len() };
                let holds = i64::try_from(found) == Ok(*count);
                Ok(self.unless(holds, || plural(*count, "document"), || found.to_string()))
            }
            Check::IsSubset { path, content } => self.each_value(path, |found| {
                let (Some(found_map), Some(wanted)) = (found.as_map(), content.as_map()) else {
                    return Ok(vec![format!("`{path}`: expected a mapping, found {}", shown(found))]);
                };
                let holds = wanted.iter().all(|(key, value)| is_at(found_map.get(key), value));
                Ok(self.at(path, holds, || format!("to contain {}", shown(content)), found))
            }),
            Check::IsEmpty { path } => self.each_value(path, |found| {
                Ok(self.at(path, is_empty(found), || "to be null or empty".to_owned(), found))
            }),
            Check::Failed { message, pattern } => self.failed(message, pattern),
            Check::ContainsDocument { .. } => Ok(self.contains_document(check)),
            Check::Length { path, paths, count } => self.length(path, paths, *count),
            Check::IsType { path, name } => self.each_value(path, |found| {
                let found = go_type(found);
                let message = format!("`{path}`: {}, found `{found}`", self.expected(&format!("of type `{name}`")));
                Ok(if (found == name) == self.is_negative { vec![message] } else { Vec::new() })
            }),
            Check::Snapshot { path, pattern, no_pattern } => self.snapshot(path, pattern, no_pattern),
            Check::SnapshotRaw => self.snapshot_raw(),
            // These concern projects, and are checked where those are resolved.
            Check::Finding { .. } | Check::Origin { .. } => Ok(Vec::new()),
        }
    }

    fn pattern(&self, text: &str) -> Result<Pattern, Stop> {
        if text.is_empty() {
            return Err(Stop::Failed("the assertion has no `pattern`".to_owned()));
        }
        Pattern::new(self.meter, text)
    }

    fn expected(&self, what: &str) -> String {
        if self.is_negative { format!("expected NOT {what}") } else { format!("expected {what}") }
    }

    /// One message unless the outcome is the expected one.
    fn unless(&self, holds: bool, wanted: impl Fn() -> String, found: impl Fn() -> String) -> Vec<String> {
        if holds != self.is_negative {
            return Vec::new();
        }
        vec![format!("{}, found {}", self.expected(&wanted()), found())]
    }

    fn at(&self, path: &str, holds: bool, wanted: impl Fn() -> String, found: &Value) -> Vec<String> {
        let messages = self.unless(holds, wanted, || shown(found));
        messages
            .into_iter()
            .map(|message| if path.is_empty() { message } else { format!("`{path}`: {message}") })
            .collect()
    }

    /// Without a document no check holds, and so its negation does.
    fn nothing(&self) -> Vec<String> {
        if self.is_negative { Vec::new() } else { vec!["no document was rendered".to_owned()] }
    }

    fn find<'v>(&self, document: &'v Value, path: &Path) -> Result<Vec<Cow<'v, Value>>, Stop> {
        path.find(document, self.meter)
    }

    /// Checks all values of a path, in all documents; each document must have one.
    fn each_value(&self, path: &str, judge: impl Fn(&Value) -> Verdict) -> Verdict {
        if self.meant.is_empty() {
            return Ok(self.nothing());
        }
        let read = Path::read(path, self.meter)?;
        let mut wrong = Vec::new();
        for document in self.meant {
            let found = self.find(document, &read)?;
            if found.is_empty() && !self.is_negative {
                wrong.push(format!("`{path}` does not exist in {}", name_of(document)));
            }
            for value in &found {
                let inner = judge(value)?;
                wrong.extend(inner.into_iter().map(|message| format!("{message} in {}", name_of(document))));
            }
        }
        Ok(wrong)
    }

    fn each_raw(&self, judge: impl Fn(&str) -> Result<(bool, String), Stop>) -> Verdict {
        if self.meant.is_empty() {
            return Ok(self.nothing());
        }
        let mut wrong = Vec::new();
        for document in self.meant {
            let found = raw(document);
            let (holds, wanted) = judge(&found)?;
            wrong.extend(self.unless(holds, || wanted.clone(), || shown(&Value::str(found.as_str()))));
        }
        Ok(wrong)
    }

    fn equal(&self, path: &str, found: &Value, wanted: &Value, decodes: bool) -> Verdict {
        let found = match self.decoded(found, decodes) {
            Ok(Cow::Owned(text)) => Cow::Owned(Value::str(uniform(&text)).tainted_by(found.taint())),
            Ok(Cow::Borrowed(text)) if text.contains('\n') => {
                Cow::Owned(Value::str(uniform(text)).tainted_by(found.taint()))
            }
            Ok(Cow::Borrowed(_)) => Cow::Borrowed(found),
            Err(None) => Cow::Borrowed(found),
            Err(Some(message)) => return Ok(vec![format!("`{path}`: {message}")]),
        };
        Ok(self.at(path, same(&found, wanted), || shown(wanted), &found))
    }

    /// The text of a value, decoded if requested; an error if it is not a string.
    fn decoded<'v>(&self, value: &'v Value, decodes: bool) -> Result<Cow<'v, str>, Option<String>> {
        let Some(text) = value.as_str() else { return Err(None) };
        if !decodes {
            return Ok(Cow::Borrowed(text));
        }
        match from_base64(text.as_bytes()) {
            Ok(bytes) => Ok(Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())),
            Err(_) => Err(Some(format!("expected base64, found {}", shown(value)))),
        }
    }

    fn matches(&self, path: &str, found: &Value, (text, pattern): (&str, &Pattern), decodes: bool) -> Verdict {
        match self.decoded(found, decodes) {
            Ok(decoded) => {
                let holds = pattern.is_in(self.meter, &decoded)?;
                Ok(self.at(path, holds, || format!("to match `{text}`"), found))
            }
            Err(Some(message)) => Ok(vec![format!("`{path}`: {message}")]),
            Err(None) => Ok(vec![format!("`{path}`: expected a string, found {}", shown(found))]),
        }
    }

    fn order(&self, path: &str, found: &Value, wanted: &Value, is_greater: bool) -> Verdict {
        let order = match (&found.data, &wanted.data) {
            (Data::Int(found), Data::Int(wanted)) => Some(found.cmp(wanted)),
            (Data::Float(found), Data::Float(wanted)) => found.partial_cmp(wanted),
            (Data::Str(found), Data::Str(wanted)) => Some(found.cmp(wanted)),
            _ => {
                let (found, wanted) = (go_type(found), go_type(wanted));
                return Ok(vec![format!("`{path}`: cannot compare `{found}` with `{wanted}`")]);
            }
        };
        let holds = order.is_some_and(|order| if is_greater { order.is_ge() } else { order.is_le() });
        let sign = if is_greater { "at least" } else { "at most" };
        Ok(self.at(path, holds, || format!("{sign} {}", shown(wanted)), found))
    }

    fn exists(&self, path: &str) -> Verdict {
        if self.meant.is_empty() {
            return Ok(self.nothing());
        }
        let read = Path::read(path, self.meter)?;
        let mut wrong = Vec::new();
        for document in self.meant {
            let is_there = !self.find(document, &read)?.is_empty();
            if is_there == self.is_negative {
                let not = if self.is_negative { "exists, but should not," } else { "does not exist" };
                wrong.push(format!("`{path}` {not} in {}", name_of(document)));
            }
        }
        Ok(wrong)
    }

    fn contains(&self, path: &str, found: &Value, content: &Value, (count, any): (Option<i64>, bool)) -> Verdict {
        let Some(items) = found.as_list() else {
            return Ok(vec![format!("`{path}`: expected a list, found {}", shown(found))]);
        };
        let is_meant = |item: &&Value| match (any, item.as_map(), content.as_map()) {
            (true, Some(item), Some(wanted)) => wanted.iter().all(|(key, value)| is_at(item.get(key), value)),
            _ => same(item, content),
        };
        let hits = items.iter().filter(is_meant).count();
        let holds = match count {
            None => hits > 0,
            Some(count) => hits > 0 && i64::try_from(hits) == Ok(count),
        };
        let times = count.map(|count| format!(" {count} times")).unwrap_or_default();
        Ok(self.at(path, holds, || format!("to contain {}{times}", shown(content)), found))
    }

    fn is_named(&self, key: &str, wanted: &str) -> Verdict {
        if self.meant.is_empty() {
            return Ok(self.nothing());
        }
        let judge = |document: &Value| {
            let found = document.get(key).cloned().unwrap_or_default();
            self.at(key, found.as_str() == Some(wanted), || shown(&Value::str(wanted)), &found)
        };
        Ok(self.meant.iter().flat_map(judge).collect())
    }

    fn failed(&self, message: &str, pattern: &str) -> Verdict {
        if !message.is_empty() && !pattern.is_empty() {
            return Ok(vec!["`errorMessage` and `errorPattern` exclude each other".to_owned()]);
        }
        if let Some(failure) = self.failure {
            return self.failed_with(Some(failure), message, pattern);
        }
        if self.meant.is_empty() && !self.is_negative {
            return Ok(vec!["no template failed".to_owned()]);
        }
        let mut wrong = Vec::new();
        for document in self.meant {
            let text = document.get(RAW).and_then(Value::as_str);
            wrong.extend(self.failed_with(text, message, pattern)?);
        }
        Ok(wrong)
    }

    fn failed_with(&self, found: Option<&str>, message: &str, pattern: &str) -> Verdict {
        let quoted_found = || found.map_or("no error".to_owned(), |text| format!("{text:?}"));
        if !pattern.is_empty() {
            let Some(text) = found else { return Ok(Vec::new()) };
            // An invalid pattern, or one without a match, may be meant literally.
            let compiled = match Pattern::new(self.meter, pattern) {
                Err(Stop::Failed(_)) => Pattern::new(self.meter, &quoted(pattern))?,
                compiled => compiled?,
            };
            let mut holds = compiled.is_in(self.meter, text)?;
            if holds == self.is_negative {
                holds = text.contains(pattern);
            }
            return Ok(self.unless(holds, || format!("an error that matches `{pattern}`"), quoted_found));
        }
        if !message.is_empty() {
            return Ok(self.unless(found == Some(message), || format!("the error {message:?}"), quoted_found));
        }
        Ok(Vec::new())
    }

    fn contains_document(&self, check: &Check) -> Vec<String> {
        let Check::ContainsDocument { kind, version, name, namespace, any } = check else { return Vec::new() };
        if self.meant.is_empty() {
            return self.nothing();
        }
        let is_text = |document: &Value, key: &str, wanted: &str| {
            document.get(key).and_then(Value::as_str).is_none_or(|found| found == wanted)
        };
        let is_given = |document: &Value, key: &str, wanted: &str| {
            let found = document.get("metadata").and_then(|metadata| metadata.get(key));
            wanted.is_empty() || found.and_then(Value::as_str) == Some(wanted)
        };
        let mut wrong = Vec::new();
        for document in self.meant {
            let is_it = is_text(document, "kind", kind)
                && is_text(document, "apiVersion", version)
                && is_given(document, "name", name)
                && is_given(document, "namespace", namespace);
            if is_it == self.is_negative {
                let what = format!(
                    "a document {kind} of {version}{}",
                    if name.is_empty() { String::new() } else { format!(" named `{name}`") }
                );
                wrong.push(format!("{}, found {}", self.expected(&what), name_of(document)));
            } else if *any != self.is_negative {
                return Vec::new();
            }
        }
        wrong
    }

    fn length(&self, path: &str, paths: &[String], count: Option<i64>) -> Verdict {
        if !path.is_empty() && count.is_none_or(|count| count < 0) {
            return Ok(vec!["`count` has to be set where `path` is used".to_owned()]);
        }
        if !path.is_empty() && !paths.is_empty() {
            return Ok(vec!["`path` and `paths` exclude each other".to_owned()]);
        }
        if self.meant.is_empty() {
            return Ok(self.nothing());
        }
        let one = [path.to_owned()];
        let asked = if path.is_empty() { paths } else { &one };
        let mut wrong = Vec::new();
        for document in self.meant {
            let mut lengths = Vec::new();
            for path in asked {
                let (length, found) = self.length_at(document, path, count)?;
                wrong.extend(found);
                lengths.push(length);
            }
            let first = lengths.first().copied().unwrap_or_default();
            let differ = lengths.iter().any(|length| (*length == first) == self.is_negative);
            if path.is_empty() && lengths.len() > 1 && differ {
                let relation = if self.is_negative { "different lengths" } else { "the same length" };
                wrong.push(format!("expected lists of {relation}, found {lengths:?} in {}", name_of(document)));
            }
        }
        Ok(wrong)
    }

    fn length_at(&self, document: &Value, path: &str, count: Option<i64>) -> Result<(usize, Vec<String>), Stop> {
        let found = self.find(document, &Path::read(path, self.meter)?)?;
        let mut wrong = Vec::new();
        if found.is_empty() && !self.is_negative {
            wrong.push(format!("`{path}` does not exist in {}", name_of(document)));
        }
        let mut length = 0;
        for value in &found {
            let Some(items) = value.as_list().map(<[Value]>::len).or(count.map(|_| 0)) else {
                wrong.push(format!("`{path}`: expected a list, found {}", shown(value)));
                continue;
            };
            length = items;
            if let Some(count) = count {
                let holds = i64::try_from(items) == Ok(count);
                let inner = self.unless(holds, || plural(count, "item"), || items.to_string());
                wrong.extend(inner.into_iter().map(|message| format!("`{path}`: {message} in {}", name_of(document))));
            }
        }
        Ok((length, wrong))
    }

    fn snapshot(&self, path: &str, pattern: &str, no_pattern: &str) -> Verdict {
        let read = Path::read(path, self.meter)?;
        if self.meant.is_empty() {
            return Ok(if self.is_negative { vec!["no document was rendered".to_owned()] } else { Vec::new() });
        }
        let mut wrong = Vec::new();
        for document in self.meant {
            let found = self.find(document, &read)?;
            if found.is_empty() && !self.is_negative {
                wrong.push(format!("`{path}` does not exist in {}", name_of(document)));
            }
            for value in &found {
                let compared = self.snapshots.compare(value)?;
                let message = match (pattern, no_pattern) {
                    ("", "") => compared.message(self.is_negative, path),
                    _ => self.patterns(&compared, pattern, no_pattern)?,
                };
                wrong.extend(message.map(|message| format!("{message} in {}", name_of(document))));
            }
        }
        Ok(wrong)
    }

    fn patterns(&self, compared: &Compared, pattern: &str, no_pattern: &str) -> Result<Option<String>, Stop> {
        let mut wrong = None;
        if !pattern.is_empty() && !Pattern::new(self.meter, pattern)?.is_in(self.meter, &compared.text)? {
            wrong = Some(format!("expected `{pattern}` in the snapshot"));
        }
        if wrong.is_none()
            && !no_pattern.is_empty()
            && Pattern::new(self.meter, no_pattern)?.is_in(self.meter, &compared.text)?
        {
            wrong = Some(format!("expected no `{no_pattern}` in the snapshot"));
        }
        Ok(match (wrong, self.is_negative) {
            (Some(_), true) => None,
            (None, true) => Some("expected the snapshot not to match".to_owned()),
            (wrong, false) => wrong,
        })
    }

    fn snapshot_raw(&self) -> Verdict {
        if self.meant.is_empty() {
            return Ok(if self.is_negative { vec!["no document was rendered".to_owned()] } else { Vec::new() });
        }
        let mut wrong = Vec::new();
        for document in self.meant {
            let compared = self.snapshots.compare(&Value::str(raw(document)))?;
            wrong.extend(compared.message(self.is_negative, ""));
        }
        Ok(wrong)
    }
}

fn plural(count: i64, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// A missing value counts as null.
fn is_at(found: Option<&Value>, wanted: &Value) -> bool {
    match found {
        Some(found) => same(found, wanted),
        None => wanted.is_null(),
    }
}

/// Null, false, zero, and empty texts and collections.
fn is_empty(value: &Value) -> bool {
    match &value.data {
        Data::Null | Data::Bool(false) | Data::Int(0) => true,
        Data::Float(number) => *number == 0.0,
        Data::Str(text) => text.is_empty(),
        Data::List(items) => items.is_empty(),
        Data::Map(map) => map.is_empty(),
        _ => false,
    }
}

/// The name of a document.
fn name_of(document: &Value) -> String {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let kind = text(document.get("kind"));
    let name = text(document.get("metadata").and_then(|metadata| metadata.get("name")));
    match (kind, name) {
        (Some(kind), Some(name)) => format!("{kind}/{name}"),
        (Some(kind), None) => kind,
        _ => "the document".to_owned(),
    }
}

/// The documents of one template that a selector or an index selects.
pub(crate) fn selected(documents: &[Value], selector: &Selector, meter: &Meter) -> Result<Vec<Value>, Stop> {
    let path = Path::read(&selector.path, meter)?;
    let mut meant = Vec::new();
    for document in documents {
        let found = path.find(document, meter)?;
        let is_meant = found.iter().any(|found| selector.value.as_ref().is_none_or(|wanted| same(found, wanted)));
        if is_meant {
            meant.push(document.clone());
        }
    }
    if !selector.matches_many && meant.len() > 1 {
        return Err(Stop::Failed("`documentSelector` selects several documents".to_owned()));
    }
    if meant.is_empty() && !selector.skips_empty {
        return Err(Stop::Failed("`documentSelector` selects no document".to_owned()));
    }
    Ok(meant)
}

/// A document with sorted keys and marked secrets.
pub(crate) fn prepared(document: Value) -> Value {
    purlin_model::Manifest::with_hidden_data(sorted(document))
}
