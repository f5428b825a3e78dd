//! Given values that the chart does not define, where its own values have a similar name that its templates read: most
//! likely the given one is misspelt, and Helm accepts it silently. Mappings with free keys are skipped: no template
//! reads their keys by name.

use std::cell::OnceCell;

use purlin_syntax::suggest::{is_slip, may_be_meant, nearest};
use purlin_syntax::{Diagnostic, Hint};
use purlin_value::{Session, Value};

use crate::chart::Chart;
use crate::rules;
use crate::unset::{SHORTEST, mentions, texts_of};
use purlin_syntax::what;

/// The same for a Metachart chart, where strings of values are templates as well and what is `rendered` is read as a
/// whole.
pub fn check_metachart(session: &Session, chart: &Chart, values: &Value, rendered: &[&str]) {
    let mut texts = texts_of(chart);
    strings(values, &mut |text, _| texts.push(text.to_owned()));
    let own = Walk {
        session,
        chart,
        texts: OnceCell::from(texts),
        rendered,
        conditions: conditions_of(chart).collect(),
        outer: None,
    };
    own.compare(values, &chart.values, &mut String::new());
}

/// Hands over every string of a value that has a template in it.
pub(crate) fn strings(value: &Value, each: &mut dyn FnMut(&str, &Value)) {
    // Values nest as deep as documents may.
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        if let Some(text) = value.as_str().filter(|text| text.contains("{{")) {
            each(text, value);
        }
        left.extend(value.as_list().unwrap_or_default().iter().rev());
        left.extend(value.as_map().iter().flat_map(|map| map.iter()).map(|(_, value)| value));
    }
}

/// Warns of unread given values, in a chart and those inside it. `values` are all values of the chart.
pub fn check(session: &Session, chart: &Chart, values: &Value) {
    check_inside(session, chart, values, conditions_of(chart).collect(), None);
}

/// Depth is that of charts inside charts, which the loader bounds.
fn check_inside(session: &Session, chart: &Chart, values: &Value, conditions: Vec<String>, outer: Option<&Walk<'_>>) {
    let own = Walk { session, chart, texts: OnceCell::new(), rendered: &[], conditions, outer };
    own.compare(values, &chart.values, &mut String::new());
    own.misnamed();
    for inner in &chart.dependencies {
        if let Some(values) = values.get(inner.name()) {
            let inside = own.conditions.iter().filter_map(|path| path.strip_prefix(inner.name())?.strip_prefix('.'));
            let inside = inside.map(str::to_owned).chain(conditions_of(inner)).collect();
            check_inside(session, inner, values, inside, Some(&own));
        }
    }
}

/// The values that switch charts inside a chart on.
fn conditions_of(chart: &Chart) -> impl Iterator<Item = String> {
    let all = chart.metadata.dependencies.iter().flat_map(|one| one.condition.split(','));
    all.map(|path| path.trim().to_owned()).filter(|path| !path.is_empty())
}

/// Maximum number of comparisons between names.
const MOST_COMPARED: usize = 20_000;

struct Walk<'a> {
    session: &'a Session,
    chart: &'a Chart,
    /// The texts of all templates, which are needed only where a name is doubtful.
    texts: OnceCell<Vec<String>>,
    /// Keys at the root whose values are read as a whole.
    rendered: &'a [&'a str],
    /// Paths of values that conditions read, of this chart and those around it.
    conditions: Vec<String>,
    /// The enclosing chart, whose templates may read these values, too.
    outer: Option<&'a Walk<'a>>,
}

impl Walk<'_> {
    fn compare(&self, given: &Value, known: &Value, path: &mut String) {
        let (Some(given), Some(known)) = (given.as_map(), known.as_map()) else { return };
        let start = path.len();
        for (name, value) in given.iter() {
            if path.is_empty() && self.is_elsewhere(name) {
                continue;
            }
            path.push_str(name);
            match known.get(name.as_str()) {
                Some(known) => {
                    path.push('.');
                    self.compare(value, known, path);
                }
                None => self.warn(value, name, nearest(name, known.keys().map(|key| key.as_str())), path),
            }
            path.truncate(start);
        }
    }

    /// Warns of values for a chart inside with a misspelt name: no template reads them either.
    fn misnamed(&self) {
        let known = self.chart.values.as_map().map_or(0, |map| map.len());
        if known * self.chart.dependencies.len() > MOST_COMPARED {
            return;
        }
        for (name, value) in self.chart.values.as_map().into_iter().flat_map(|map| map.iter()) {
            if name.len() < SHORTEST || value.as_map().is_none() || self.is_elsewhere(name) {
                continue;
            }
            let meant = self.chart.dependencies.iter().map(Chart::name).find(|inner| is_slip(name, inner));
            let Some(meant) = meant.filter(|_| !self.is_read(name)) else { continue };
            let words = format!("no template reads `{name}`, and no chart inside has this name");
            let message = what::about([name], words);
            let mut found = Diagnostic::nowhere(&rules::UNREAD, message).hint(Hint::meant(name.as_str(), meant));
            let (origins, sources) = (&self.session.origins, &self.session.sources);
            found.span = origins.key_span(value.origin, name, sources).or(origins.span(value.origin, sources));
            self.session.sink.push(found);
        }
    }

    /// Values for charts inside, and for all of them.
    fn is_elsewhere(&self, name: &str) -> bool {
        let declared = &self.chart.metadata.dependencies;
        matches!(name, "global" | "tags")
            || self.rendered.contains(&name)
            || self.chart.dependencies.iter().any(|inner| inner.name() == name)
            || declared.iter().any(|one| one.name == name || one.alias == name)
    }

    fn warn(&self, value: &Value, name: &str, near: Option<&str>, path: &str) {
        let is_doubtful = |near: &&str| name.len() >= SHORTEST && may_be_meant(name, near);
        let Some(near) = near.filter(|near| is_doubtful(near) && self.is_read(near) && !self.is_read(name)) else {
            return;
        };
        if self.is_condition(path) || self.is_read_around(name) {
            return;
        }
        let message = what::undeclared(format!("the chart `{}`", self.chart.name()), "value", name);
        let mut found = Diagnostic::nowhere(&rules::UNREAD, message).hint(Hint::meant(name, near));
        found.span = self.session.origins.span(value.origin, &self.session.sources);
        if found.span.is_none() {
            found.says(what::undeclared(format!("the chart `{}`", self.chart.name()), "value", path));
        }
        self.session.sink.push(found);
    }

    /// Whether a condition reads the value at a path, or one inside it.
    fn is_condition(&self, path: &str) -> bool {
        let reads = |one: &String| one.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        self.conditions.iter().any(reads)
    }

    fn is_read_around(&self, name: &str) -> bool {
        let around = std::iter::successors(self.outer, |walk| walk.outer);
        around.into_iter().any(|walk| walk.is_read(name))
    }

    fn is_read(&self, name: &str) -> bool {
        self.texts.get_or_init(|| texts_of(self.chart)).iter().any(|text| mentions(text, name))
    }
}
