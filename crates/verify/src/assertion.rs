//! The assertions and their notation: a table of names, and the parameters of each.

use crate::keys::{Keys, Problems};
use crate::suite::Form;
use purlin_syntax::{Node, Span, suggest, what};
use purlin_value::{MergeKeys, Value, value_of};

/// An assertion of a test.
#[derive(Debug)]
pub(crate) struct Assertion {
    pub(crate) check: Check,
    /// Whether the assertion is negated.
    pub(crate) is_negative: bool,
    /// Whether it requires successful rendering; an assertion about failure requires the opposite.
    pub(crate) needs_success: bool,
    pub(crate) template: Option<String>,
    pub(crate) document: Option<i64>,
    pub(crate) selector: Option<Selector>,
    /// Its subject in a project: a node, an object, or the variables.
    pub(crate) subject: Option<Subject>,
    pub(crate) span: Span,
}

/// The part of a project that an assertion concerns.
#[derive(Clone, Debug)]
pub(crate) enum Subject {
    /// The node of an id.
    Node(String),
    /// The rendered object of an id.
    Object(String),
    /// The project's variables.
    Variables,
    /// The project's outputs.
    Outputs,
}

/// Selects documents.
#[derive(Clone, Debug)]
pub(crate) struct Selector {
    pub(crate) path: String,
    pub(crate) value: Option<Value>,
    pub(crate) matches_many: bool,
    pub(crate) skips_empty: bool,
}

/// A check.
#[derive(Debug)]
pub(crate) enum Check {
    Equal {
        path: String,
        value: Value,
        decodes: bool,
    },
    Order {
        path: String,
        value: Value,
        is_greater: bool,
    },
    EqualRaw {
        value: String,
    },
    Exists {
        path: String,
    },
    Matches {
        path: String,
        pattern: String,
        decodes: bool,
    },
    MatchesRaw {
        pattern: String,
    },
    Contains {
        path: String,
        content: Value,
        count: Option<i64>,
        any: bool,
    },
    IsKind {
        of: String,
    },
    IsApiVersion {
        of: String,
    },
    HasDocuments {
        count: i64,
        is_filtered: bool,
    },
    IsSubset {
        path: String,
        content: Value,
    },
    IsEmpty {
        path: String,
    },
    Failed {
        message: String,
        pattern: String,
    },
    ContainsDocument {
        kind: String,
        version: String,
        name: String,
        namespace: String,
        any: bool,
    },
    Length {
        path: String,
        paths: Vec<String>,
        count: Option<i64>,
    },
    IsType {
        path: String,
        name: String,
    },
    Snapshot {
        path: String,
        pattern: String,
        no_pattern: String,
    },
    SnapshotRaw,
    /// A finding of a rule.
    Finding {
        rule: String,
        severity: String,
        file: String,
        line: Option<i64>,
        count: Option<i64>,
        message: String,
    },
    /// The origin of a value.
    Origin {
        path: String,
        file: String,
        line: Option<i64>,
    },
}

impl Assertion {
    /// `notGreaterOrEqual` always holds in helm-unittest, so suites may rely on false assertions; this is reported.
    pub(crate) fn is_unnoticed(&self) -> bool {
        self.is_negative && matches!(self.check, Check::Order { is_greater: true, .. })
    }
}

type Read = fn(&mut Keys<'_>, &mut Problems) -> Check;

/// A name of an assertion.
struct Row {
    name: &'static str,
    is_negative: bool,
    needs_success: bool,
    /// Whether only suites of projects have it.
    is_of_projects: bool,
    read: Read,
}

const fn row(name: &'static str, is_negative: bool, read: Read) -> Row {
    Row { name, is_negative, needs_success: true, is_of_projects: false, read }
}

/// An optional text.
fn text(keys: &mut Keys<'_>, key: &'static str, problems: &mut Problems) -> String {
    keys.text(key, problems).unwrap_or_default()
}

fn value(keys: &mut Keys<'_>, key: &'static str) -> Value {
    keys.value(key).map(sorted).unwrap_or_default()
}

/// The same with the keys of all mappings sorted: helm-unittest's mappings have no order of their own. The parts of a
/// secret are secret, so that they can be checked individually.
pub(crate) fn sorted(value: Value) -> Value {
    use purlin_syntax::write::{GoStyle, go_yaml::sort_keys};
    use purlin_value::{Data, EcoString, Map};
    let (origin, taint) = (value.origin, value.taint());
    let inner = |value: &Value| sorted(value.clone().tainted_by(taint));
    let data = match value.data {
        Data::Map(map) => {
            let mut entries: Vec<(EcoString, Value)> =
                map.iter().map(|(key, value)| (key.clone(), inner(value))).collect();
            sort_keys(&mut entries, GoStyle::Pretty, |(key, _)| key.as_str());
            Data::Map(entries.into_iter().collect::<Map>().into())
        }
        Data::List(items) => Data::List(std::sync::Arc::new(items.iter().map(inner).collect::<Vec<_>>().into())),
        other => other,
    };
    Value::of(data, origin, taint)
}

fn equal(keys: &mut Keys<'_>, problems: &mut Problems) -> Check {
    let decodes = keys.truth("decodeBase64", problems).unwrap_or_default();
    Check::Equal { path: text(keys, "path", problems), value: value(keys, "value"), decodes }
}

fn greater(keys: &mut Keys<'_>, problems: &mut Problems) -> Check {
    Check::Order { path: text(keys, "path", problems), value: value(keys, "value"), is_greater: true }
}

fn less(keys: &mut Keys<'_>, problems: &mut Problems) -> Check {
    Check::Order { path: text(keys, "path", problems), value: value(keys, "value"), is_greater: false }
}

fn equal_raw(keys: &mut Keys<'_>, problems: &mut Problems) -> Check {
    Check::EqualRaw { value: text(keys, "value", problems) }
}

fn exists(keys: &mut Keys<'_>, problems: &mut Problems) -> Check {
    Check::Exists { path: text(keys, "path", problems) }
}

fn matches(keys: &mut Keys<'_>, problems: &mut Problems) -> Check {
    let decodes = keys.truth("decodeBase64", problems).unwrap_or_default();
    Check::Matches { path: text(keys, "path", problems), pattern: text(keys, "pattern", problems), decodes }
}

fn matches_raw(keys: &mut Keys<'_>, problems: &mut Problems) -> Check {
    Check::MatchesRaw { pattern: text(keys, "pattern", problems) }
}

fn contains(keys: &mut Keys<'_>, problems: &mut Problems) -> Check {
    let (count, any) = (keys.number("count", problems), keys.truth("any", problems).unwrap_or_default());
    Check::Contains { path: text(keys, "path", problems), content: value(keys, "content"), count, any }
}

fn is_kind(keys: &mut Keys<'_>, problems: &mut Problems) -> Check {
    Check::IsKind { of: text(keys, "of", problems) }
}

fn is_api_version(keys: &mut Keys<'_>, problems: &mut Problems) -> Check {
    Check::IsApiVersion { of: text(keys, "of", problems) }
}

fn has_documents(keys: &mut Keys<'_>, problems: &mut Problems) -> Check {
    let is_filtered = keys.truth("filterAware", problems).unwrap_or_default();
    Check::HasDocuments { count: keys.number("count", problems).unwrap_or_default(), is_filtered }
}

fn is_subset(keys: &mut Keys<'_>, problems: &mut Problems) -> Check {
    Check::IsSubset { path: text(keys, "path", problems), content: value(keys, "content") }
}

fn is_empty(keys: &mut Keys<'_>, problems: &mut Problems) -> Check {
    Check::IsEmpty { path: text(keys, "path", problems) }
}

fn failed(keys: &mut Keys<'_>, problems: &mut Problems) -> Check {
    Check::Failed { message: text(keys, "errorMessage", problems), pattern: text(keys, "errorPattern", problems) }
}

fn contains_document(keys: &mut Keys<'_>, problems: &mut Problems) -> Check {
    Check::ContainsDocument {
        kind: text(keys, "kind", problems),
        version: text(keys, "apiVersion", problems),
        name: text(keys, "name", problems),
        namespace: text(keys, "namespace", problems),
        any: keys.truth("any", problems).unwrap_or_default(),
    }
}

fn length(keys: &mut Keys<'_>, problems: &mut Problems) -> Check {
    let paths = keys.texts("paths", problems).unwrap_or_default().into_iter().map(|(text, _)| text).collect();
    Check::Length { path: text(keys, "path", problems), paths, count: keys.number("count", problems) }
}

fn is_type(keys: &mut Keys<'_>, problems: &mut Problems) -> Check {
    Check::IsType { path: text(keys, "path", problems), name: text(keys, "type", problems) }
}

fn snapshot(keys: &mut Keys<'_>, problems: &mut Problems) -> Check {
    let mut pattern = |key: &'static str| match keys.inner(key, problems) {
        Some(mut inner) => {
            let pattern = text(&mut inner, "pattern", problems).trim().to_owned();
            inner.in_any_case().finish(problems);
            pattern
        }
        None => String::new(),
    };
    let (pattern, no_pattern) = (pattern("matchRegex"), pattern("notMatchRegex"));
    Check::Snapshot { path: text(keys, "path", problems), pattern, no_pattern }
}

fn snapshot_raw(_: &mut Keys<'_>, _: &mut Problems) -> Check {
    Check::SnapshotRaw
}

fn finding(keys: &mut Keys<'_>, problems: &mut Problems) -> Check {
    Check::Finding {
        rule: text(keys, "rule", problems),
        severity: text(keys, "severity", problems),
        file: text(keys, "file", problems),
        line: keys.number("line", problems),
        count: keys.number("count", problems),
        message: text(keys, "message", problems),
    }
}

fn origin(keys: &mut Keys<'_>, problems: &mut Problems) -> Check {
    let line = keys.number("line", problems);
    Check::Origin { path: text(keys, "path", problems), file: text(keys, "file", problems), line }
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    row("matchSnapshot", false, snapshot),
    row("matchSnapshotRaw", false, snapshot_raw),
    row("equal", false, equal),
    row("notEqual", true, equal),
    row("greaterOrEqual", false, greater),
    row("notGreaterOrEqual", true, greater),
    row("lessOrEqual", false, less),
    row("notLessOrEqual", true, less),
    row("equalRaw", false, equal_raw),
    row("notEqualRaw", true, equal_raw),
    row("exists", false, exists),
    row("notExists", true, exists),
    row("isNull", true, exists),
    row("isNotNull", false, exists),
    row("matchRegex", false, matches),
    row("notMatchRegex", true, matches),
    row("matchRegexRaw", false, matches_raw),
    row("notMatchRegexRaw", true, matches_raw),
    row("contains", false, contains),
    row("notContains", true, contains),
    row("isKind", false, is_kind),
    row("isAPIVersion", false, is_api_version),
    row("hasDocuments", false, has_documents),
    row("isSubset", false, is_subset),
    row("isNotSubset", true, is_subset),
    row("isNullOrEmpty", false, is_empty),
    row("isNotNullOrEmpty", true, is_empty),
    row("isEmpty", false, is_empty),
    row("isNotEmpty", true, is_empty),
    Row { needs_success: false, ..row("failedTemplate", false, failed) },
    row("notFailedTemplate", true, failed),
    row("containsDocument", false, contains_document),
    row("lengthEqual", false, length),
    row("notLengthEqual", true, length),
    row("isType", false, is_type),
    row("isNotType", true, is_type),
    Row { is_of_projects: true, ..row("finding", false, finding) },
    Row { is_of_projects: true, ..row("noFinding", true, finding) },
    Row { is_of_projects: true, ..row("origin", false, origin) },
];

/// Reads an assertion.
pub(crate) fn read_assertion(node: Node<'_>, form: Form, problems: &mut Problems) -> Option<Assertion> {
    if node.is_scalar() && node.is_null() {
        return None;
    }
    let mut keys = Keys::of(node, problems);
    let document = keys.number("documentIndex", problems);
    let is_not = keys.truth("not", problems).unwrap_or_default();
    let selector = keys.get("documentSelector").and_then(|node| read_selector(node, problems));
    let template = match form {
        Form::Chart => keys.text("template", problems).filter(|name| !name.is_empty()),
        Form::Project => None,
    };
    let subject = if form == Form::Project { subject(&mut keys, problems) } else { None };
    let is_known = |row: &&Row| form == Form::Project || !row.is_of_projects;
    let mut found: Option<(&Row, Node<'_>)> = None;
    for row in ROWS.iter().filter(is_known) {
        let Some(params) = keys.get(row.name) else { continue };
        if let Some((other, _)) = found {
            let message = format!("one assertion has both `{}` and `{}`", other.name, row.name);
            problems.say(params.span(), message, "write an assertion of its own for each");
            return None;
        }
        found = Some((row, params));
    }
    let Some((row, params)) = found else {
        report_unknown(node, &keys, form, problems);
        return None;
    };
    keys.finish(problems);
    let span = node.entry(row.name).map_or(node.span(), |entry| entry.key.span());
    let mut inner = Keys::of(params, problems).in_any_case();
    let check = (row.read)(&mut inner, problems);
    inner.finish(problems);
    let is_negative = is_not != row.is_negative;
    let needs_success = row.needs_success;
    Some(Assertion { check, is_negative, needs_success, template, document, selector, subject, span })
}

fn subject(keys: &mut Keys<'_>, problems: &mut Problems) -> Option<Subject> {
    let node = keys.text("node", problems).map(Subject::Node);
    let object = keys.text("object", problems).map(Subject::Object);
    let variables = keys.truth("variables", problems).unwrap_or_default().then_some(Subject::Variables);
    let outputs = keys.truth("outputs", problems).unwrap_or_default().then_some(Subject::Outputs);
    node.or(object).or(variables).or(outputs)
}

fn report_unknown(node: Node<'_>, keys: &Keys<'_>, form: Form, problems: &mut Problems) {
    let names = ROWS.iter().filter(|row| form == Form::Project || !row.is_of_projects).map(|row| row.name);
    match keys.unread().into_iter().next() {
        Some((name, span)) => {
            let hint = suggest::did_you_mean(&name, names);
            let found = purlin_syntax::Diagnostic::at(
                &purlin_compiler::rules::TEST_SUITE,
                span,
                what::unknown("assertion", name),
            );
            problems.0.push(found.maybe_hint(hint));
        }
        None => {
            problems.say(node.span(), "this assertion checks nothing", "add what has to hold, for example `equal:`")
        }
    }
}

/// Reads a document selector.
pub(crate) fn read_selector(node: Node<'_>, problems: &mut Problems) -> Option<Selector> {
    let mut keys = Keys::of(node, problems);
    let path = keys.text("path", problems).unwrap_or_default();
    let value = keys.get("value").map(|node| sorted(value_of(node, MergeKeys::Apply)));
    let selector = Selector {
        path,
        value: value.filter(|value| !value.is_null()),
        matches_many: keys.truth("matchMany", problems).unwrap_or_default(),
        skips_empty: keys.truth("skipEmptyTemplates", problems).unwrap_or_default(),
    };
    keys.finish(problems);
    Some(selector)
}
