//! Paths in documents, in the notation of helm-unittest: `spec.ports[0].name`, `metadata.labels["a.b/c"]`, `$..image`,
//! `[?(@.kind == "Service")]`, `data.*~`.
//!
//! Parsing is charged by length, searching by the number of visited values: paths such as `..*..*` multiply.

use crate::Stop;
use crate::pattern::Pattern;
use purlin_value::{Data, Meter, Value};
use std::borrow::Cow;

/// A path.
#[derive(Debug, Default)]
pub(crate) struct Path {
    steps: Vec<Step>,
}

#[derive(Debug)]
enum Step {
    /// The child of a name.
    Child(String),
    /// Children of several names.
    Children(Vec<String>),
    /// All children of a mapping or list.
    All,
    /// The value itself and all below it.
    Below,
    /// Items by index.
    Items(Vec<Slice>),
    /// Items that satisfy a condition; for other values than lists, the value itself.
    Where(Box<Condition>),
    /// Values that satisfy a condition, after `..`.
    OnlyIf(Box<Condition>),
    /// The names of children instead of the children.
    Names(Vec<String>),
    /// The names of all children.
    AllNames,
}

/// `from:to:step`; a single index covers one item.
#[derive(Clone, Copy, Debug)]
struct Slice {
    from: Option<i64>,
    to: Option<i64>,
    step: i64,
    is_index: bool,
}

#[derive(Debug)]
enum Condition {
    Or(Box<Condition>, Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
    Exists(Term),
    Compare(Term, Comparison, Term),
    Matches(Term, Pattern),
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    Unequal,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

#[derive(Debug)]
enum Term {
    /// Below the value being checked.
    Here(Path),
    /// Below the whole document.
    Root(Path),
    Literal(Value),
}

/// Maximum nesting of conditions.
const DEEPEST: usize = 32;

impl Path {
    /// Reads a path.
    pub(crate) fn read(text: &str, meter: &Meter) -> Result<Path, Stop> {
        let steps = text.len() as u64;
        meter.charge(steps, steps * 16).map_err(Stop::Exceeded)?;
        let mut reader = Reader { text, at: 0, depth: 0, meter };
        reader.eat("$");
        let path = reader.path(true)?;
        match reader.rest() {
            "" => Ok(path),
            _ => Err(reader.wrong("invalid path syntax")),
        }
    }

    /// All values in a document that it selects.
    pub(crate) fn find<'v>(&self, root: &'v Value, meter: &Meter) -> Result<Vec<Cow<'v, Value>>, Stop> {
        self.find_from(root, root, meter)
    }

    fn find_from<'v>(&self, from: &'v Value, root: &'v Value, meter: &Meter) -> Result<Vec<Cow<'v, Value>>, Stop> {
        let mut found = vec![from];
        for (number, step) in self.steps.iter().enumerate() {
            if let Step::Names(_) | Step::AllNames = step {
                debug_assert_eq!(number + 1, self.steps.len(), "names are values no more");
                return Ok(found.into_iter().flat_map(|value| step.names(value)).map(Cow::Owned).collect());
            }
            let mut next = Vec::new();
            for value in found {
                step.apply(value, root, meter, &mut next)?;
                meter.charge(1, 0).map_err(Stop::Exceeded)?;
            }
            found = next;
        }
        Ok(found.into_iter().map(Cow::Borrowed).collect())
    }
}

impl Step {
    fn apply<'v>(
        &self,
        value: &'v Value,
        root: &'v Value,
        meter: &Meter,
        found: &mut Vec<&'v Value>,
    ) -> Result<(), Stop> {
        let before = found.len();
        match self {
            Step::Child(name) => found.extend(value.get(name)),
            Step::Children(names) => found.extend(names.iter().filter_map(|name| value.get(name))),
            Step::All => found.extend(children(value)),
            Step::Below => {
                let mut stack = vec![value];
                while let Some(value) = stack.pop() {
                    meter.charge(1, 8).map_err(Stop::Exceeded)?;
                    found.push(value);
                    let mut inner: Vec<&Value> = children(value).collect();
                    inner.reverse();
                    stack.extend(inner);
                }
            }
            Step::Items(slices) => {
                let Some(items) = value.as_list() else { return Ok(()) };
                for slice in slices {
                    found.extend(slice.indices(items.len()).into_iter().filter_map(|at| items.get(at)));
                }
            }
            Step::Where(condition) => match value.as_list() {
                Some(items) => {
                    for item in items {
                        if condition.holds(item, root, meter)? {
                            found.push(item);
                        }
                    }
                }
                None if condition.holds(value, root, meter)? => found.push(value),
                None => {}
            },
            Step::OnlyIf(condition) => {
                if condition.holds(value, root, meter)? {
                    found.push(value);
                }
            }
            Step::Names(_) | Step::AllNames => {}
        }
        let more = (found.len() - before) as u64;
        meter.charge(more, more * 8).map_err(Stop::Exceeded)
    }

    fn names(&self, value: &Value) -> Vec<Value> {
        let Some(map) = value.as_map() else { return Vec::new() };
        let is_named = |name: &&str| match self {
            Step::Names(names) => names.iter().any(|wanted| wanted == name),
            _ => true,
        };
        map.iter().map(|(name, _)| name.as_str()).filter(is_named).map(Value::str).collect()
    }
}

fn children(value: &Value) -> impl Iterator<Item = &Value> {
    let items = value.as_list().into_iter().flatten();
    items.chain(value.as_map().into_iter().flat_map(|map| map.iter().map(|(_, value)| value)))
}

impl Slice {
    fn indices(self, len: usize) -> Vec<usize> {
        let len = i64::try_from(len).unwrap_or(i64::MAX);
        let counted = |at: i64| if at < 0 { at.saturating_add(len) } else { at };
        let inside = |at: &i64| (0..len).contains(at);
        if self.is_index {
            let at = counted(self.from.unwrap_or_default());
            return Some(at).filter(inside).and_then(|at| usize::try_from(at).ok()).into_iter().collect();
        }
        let mut found = Vec::new();
        if self.step > 0 {
            let mut at = self.from.map_or(0, counted).max(0);
            let end = self.to.map_or(len, counted).min(len);
            while at < end {
                found.push(at);
                at = at.saturating_add(self.step);
            }
        } else {
            let mut at = self.from.map_or(len - 1, counted).min(len);
            let end = self.to.map_or(-1, counted).max(-1);
            while at > end {
                found.push(at);
                at = at.saturating_add(self.step);
            }
        }
        found.into_iter().filter(inside).filter_map(|at| usize::try_from(at).ok()).collect()
    }
}

impl Condition {
    fn holds(&self, value: &Value, root: &Value, meter: &Meter) -> Result<bool, Stop> {
        meter.charge(1, 0).map_err(Stop::Exceeded)?;
        Ok(match self {
            Condition::Or(one, other) => one.holds(value, root, meter)? || other.holds(value, root, meter)?,
            Condition::And(one, other) => one.holds(value, root, meter)? && other.holds(value, root, meter)?,
            Condition::Not(inner) => !inner.holds(value, root, meter)?,
            Condition::Exists(Term::Literal(literal)) => literal.as_bool() == Some(true),
            Condition::Exists(term) => !term.values(value, root, meter)?.is_empty(),
            Condition::Compare(left, comparison, right) => {
                let right = right.values(value, root, meter)?;
                let left = left.values(value, root, meter)?;
                meter.charge((left.len() * right.len()) as u64, 0).map_err(Stop::Exceeded)?;
                let holds = |left: &Value| right.iter().all(|right| comparison.holds(left, right));
                !left.is_empty() && !right.is_empty() && left.iter().all(|left| holds(left))
            }
            Condition::Matches(term, pattern) => {
                let found = term.values(value, root, meter)?;
                for value in &found {
                    let Some(text) = value.as_str() else { return Ok(false) };
                    if !pattern.is_in(meter, text)? {
                        return Ok(false);
                    }
                }
                !found.is_empty()
            }
            Condition::Never => false,
        })
    }
}

impl Term {
    fn values<'v>(&'v self, value: &'v Value, root: &'v Value, meter: &Meter) -> Result<Vec<Cow<'v, Value>>, Stop> {
        match self {
            Term::Here(path) => path.find_from(value, value, meter),
            Term::Root(path) => path.find_from(root, root, meter),
            Term::Literal(value) => Ok(vec![Cow::Borrowed(value)]),
        }
    }
}

impl Comparison {
    /// Values of different kinds are unequal and have no order; texts have none either.
    fn holds(self, left: &Value, right: &Value) -> bool {
        let order = match (left.as_number(), right.as_number()) {
            (Some(left), Some(right)) => left.partial_cmp(&right),
            _ => None,
        };
        let is_equal = match (&left.data, &right.data) {
            (Data::Str(left), Data::Str(right)) => left == right,
            (Data::Bool(left), Data::Bool(right)) => left == right,
            (Data::Null, Data::Null) => true,
            _ => order.is_some_and(std::cmp::Ordering::is_eq),
        };
        match self {
            Comparison::Equal => is_equal,
            Comparison::Unequal => !is_equal,
            Comparison::Greater => order.is_some_and(std::cmp::Ordering::is_gt),
            Comparison::GreaterOrEqual => is_equal || order.is_some_and(std::cmp::Ordering::is_gt),
            Comparison::Less => order.is_some_and(std::cmp::Ordering::is_lt),
            Comparison::LessOrEqual => is_equal || order.is_some_and(std::cmp::Ordering::is_lt),
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    meter: &'t Meter,
}

/// The characters that end a child's name after a dot.
const ENDS_NAME: &[char] = &['.', '[', ')', ' ', '&', '|', '=', '!', '>', '<', '~'];

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn eat(&mut self, token: &str) -> bool {
        let is_next = self.rest().starts_with(token);
        if is_next {
            self.at += token.len();
        }
        is_next
    }

    fn eat_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn wrong(&self, why: &str) -> Stop {
        let read = self.text.get(..self.at).unwrap_or_default();
        Stop::Failed(format!("{why} at position {}, following {read:?}", self.at))
    }

    fn until(&mut self, ends: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(ends).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    /// A path up to its end, or to the next operator in a condition.
    fn path(&mut self, is_whole: bool) -> Result<Path, Stop> {
        let mut steps: Vec<Step> = Vec::new();
        let is_first = |reader: &Self| is_whole && reader.at == 0;
        loop {
            let rest = self.rest();
            if rest.is_empty() || rest.starts_with(')') {
                break;
            }
            if self.eat("..") {
                steps.push(Step::Below);
                let name = self.until(|ch| ch == '.' || ch == '[' || (!is_whole && ENDS_NAME.contains(&ch)));
                match name {
                    "" if self.rest().starts_with('[') => {}
                    "" => {
                        return Err(self.wrong("child name or array access or filter missing after recursive descent"));
                    }
                    name => steps.push(child(name)),
                }
                continue;
            }
            let is_behind_below = matches!(steps.last(), Some(Step::Below));
            if rest.starts_with('[') {
                let step = self.bracket(is_behind_below)?;
                steps.push(step);
            } else if self.eat(".") || is_first(self) {
                let name = self.until(|ch| ENDS_NAME.contains(&ch));
                if name.is_empty() {
                    return Err(self.wrong("child name missing"));
                }
                if self.eat("~") {
                    steps.push(Step::Names(vec![unescaped(name)]));
                } else {
                    steps.push(child(name));
                }
            } else if is_whole {
                let odd = rest.chars().next().unwrap_or_default();
                return Err(self.wrong(&format!("invalid character {odd:?}")));
            } else {
                break;
            }
            let has_names = matches!(steps.last(), Some(Step::Names(_) | Step::AllNames));
            if has_names && !self.rest().is_empty() {
                return Err(self.wrong("property name operator may only be used on last child in path"));
            }
        }
        Ok(Path { steps })
    }

    fn bracket(&mut self, is_behind_below: bool) -> Result<Step, Stop> {
        if self.eat("[?(") {
            let condition = Box::new(self.condition()?);
            if !self.eat(")]") {
                return Err(self.wrong("missing end of filter"));
            }
            return Ok(if is_behind_below { Step::OnlyIf(condition) } else { Step::Where(condition) });
        }
        self.eat("[");
        let inside = self.rest().trim_start();
        if inside.starts_with(['\'', '"']) {
            let names = self.quoted_names()?;
            return Ok(if self.eat("~") { Step::Names(names) } else { Step::Children(names) });
        }
        let subscript = self.until(|ch| ch == ']');
        if !self.eat("]") {
            return Err(self.wrong("unmatched ["));
        }
        if subscript.trim() == "*" {
            return Ok(if self.eat("~") { Step::AllNames } else { Step::All });
        }
        let slices = subscript.split(',').map(slice).collect::<Result<Vec<Slice>, &str>>();
        slices.map(Step::Items).map_err(|why| self.wrong(&format!("invalid array index [{subscript}]: {why}")))
    }

    fn quoted_names(&mut self) -> Result<Vec<String>, Stop> {
        let mut names = Vec::new();
        loop {
            self.eat_space();
            let Some(quote) = self.rest().chars().next().filter(|ch| ['\'', '"'].contains(ch)) else {
                return Err(self.wrong("missing quote"));
            };
            self.at += 1;
            let mut name = String::new();
            loop {
                let mut ahead = self.rest().chars();
                let Some(ch) = ahead.next() else { return Err(self.wrong("unmatched quote")) };
                self.at += ch.len_utf8();
                match ch {
                    '\\' => match ahead.next().filter(|next| *next == quote || *next == '\\') {
                        Some(next) => {
                            self.at += next.len_utf8();
                            name.push(next);
                        }
                        None => return Err(self.wrong("unsupported escape sequence")),
                    },
                    ch if ch == quote => break,
                    ch => name.push(ch),
                }
            }
            names.push(name);
            self.eat_space();
            if !self.eat(",") {
                break;
            }
        }
        if self.eat("]") { Ok(names) } else { Err(self.wrong("missing \"]\" or \",\"")) }
    }

    fn condition(&mut self) -> Result<Condition, Stop> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.wrong("filters are nested too deeply"));
        }
        let mut condition = self.conjunction()?;
        while self.eat_sign("||") {
            condition = Condition::Or(Box::new(condition), Box::new(self.conjunction()?));
        }
        self.depth -= 1;
        Ok(condition)
    }

    fn conjunction(&mut self) -> Result<Condition, Stop> {
        let mut condition = self.basic()?;
        while self.eat_sign("&&") {
            condition = Condition::And(Box::new(condition), Box::new(self.basic()?));
        }
        Ok(condition)
    }

    fn eat_sign(&mut self, sign: &str) -> bool {
        self.eat_space();
        self.eat(sign)
    }

    fn basic(&mut self) -> Result<Condition, Stop> {
        self.eat_space();
        let mut negations = 0;
        while !self.rest().starts_with("!=") && self.eat_sign("!") {
            negations += 1;
        }
        let mut condition = if self.eat_sign("(") {
            let inner = self.condition()?;
            if !self.eat_sign(")") {
                return Err(self.wrong("missing )"));
            }
            inner
        } else {
            self.comparison()?
        };
        if negations % 2 == 1 {
            condition = Condition::Not(Box::new(condition));
        }
        self.eat_space();
        Ok(condition)
    }

    fn comparison(&mut self) -> Result<Condition, Stop> {
        let left = self.term()?;
        self.eat_space();
        if self.eat("=~") {
            self.eat_space();
            if !self.eat("/") {
                return Err(self.wrong("regular expression does not start with /"));
            }
            let mut text = String::new();
            loop {
                let Some(ch) = self.rest().chars().next() else {
                    return Err(self.wrong("unmatched regular expression delimiter /"));
                };
                if self.eat("\\/") {
                    text.push('/');
                    continue;
                }
                self.at += ch.len_utf8();
                match ch {
                    '/' => break,
                    '\\' => {
                        text.push('\\');
                        if let Some(next) = self.rest().chars().next() {
                            self.at += next.len_utf8();
                            text.push(next);
                        }
                    }
                    ch => text.push(ch),
                }
            }
            return Ok(Condition::Matches(left, Pattern::new(self.meter, &text)?));
        }
        const SIGNS: &[(&str, Comparison)] = &[
            ("==", Comparison::Equal),
            ("!=", Comparison::Unequal),
            (">=", Comparison::GreaterOrEqual),
            (">", Comparison::Greater),
            ("<=", Comparison::LessOrEqual),
            ("<", Comparison::Less),
        ];
        let Some((_, comparison)) = SIGNS.iter().find(|(sign, _)| self.eat(sign)) else {
            return Ok(match left {
                Term::Literal(value) if value.as_bool().is_none() => Condition::Never,
                left => Condition::Exists(left),
            });
        };
        Ok(Condition::Compare(left, *comparison, self.term()?))
    }

    fn term(&mut self) -> Result<Term, Stop> {
        self.eat_space();
        if self.eat("@") {
            return Ok(Term::Here(self.path(false)?));
        }
        if self.eat("$") {
            return Ok(Term::Root(self.path(false)?));
        }
        for (word, value) in [("true", Data::Bool(true)), ("false", Data::Bool(false)), ("null", Data::Null)] {
            if self.eat(word) {
                return Ok(Term::Literal(Value::new(value)));
            }
        }
        for quote in ["'", "\""] {
            if self.eat(quote) {
                let text = self.until(|ch| quote.starts_with(ch));
                return match self.eat(quote) {
                    true => Ok(Term::Literal(Value::str(text))),
                    false => Err(self.wrong("unmatched string delimiter")),
                };
            }
        }
        let text = self.until(|ch| !(ch.is_ascii_digit() || ['.', '-', 'e', 'E'].contains(&ch)));
        match text.parse::<f64>() {
            Ok(number) => Ok(Term::Literal(Value::new(Data::Float(number)))),
            Err(_) => Err(self.wrong("invalid filter term")),
        }
    }
}

fn child(name: &str) -> Step {
    if name == "*" { Step::All } else { Step::Child(unescaped(name)) }
}

fn unescaped(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    let mut is_escaped = false;
    for ch in name.chars() {
        if ch == '\\' && !is_escaped {
            is_escaped = true;
            continue;
        }
        is_escaped = false;
        plain.push(ch);
    }
    plain
}

fn slice(text: &str) -> Result<Slice, &'static str> {
    let parts: Vec<&str> = text.split(':').map(str::trim).collect();
    if text.trim() == "*" {
        return Err("wildcard cannot be used in union");
    }
    let number = |part: Option<&&str>| match part {
        None | Some(&"") => Ok(None),
        Some(part) => part.parse::<i64>().map(Some).map_err(|_| "non-integer array index"),
    };
    let (from, to, step) = (number(parts.first())?, number(parts.get(1))?, number(parts.get(2))?);
    match (parts.len(), from, step) {
        (1, None, _) => Err("array index missing"),
        (4.., _, _) => Err("malformed array index, too many colons"),
        (_, _, Some(0)) => Err("array index step value must be non-zero"),
        (len, ..) => Ok(Slice { from, to, step: step.unwrap_or(1), is_index: len == 1 }),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use purlin_syntax::{FileId, Flavor, Limits, Source};
    use std::sync::Arc;

    fn document(text: &str) -> Value {
        let source = Arc::new(Source::new(FileId(0), "test", text));
        let tree = purlin_syntax::yaml::parse(source, Flavor::GoObjects, &Limits::default());
        purlin_value::value_of(tree.root().unwrap(), purlin_value::MergeKeys::Apply)
    }

    fn found(path: &str) -> Result<String, Stop> {
        let document = document(
            "kind: Service\nmetadata:\n  labels: {a.b/c: x, plain: y}\nspec:\n  ports:\n  - {name: http, port: 80}\n  - {name: web, port: 8080}\n  - {name: other}\n",
        );
        let meter = Meter::new(&Limits::default());
        let found = Path::read(path, &meter)?.find(&document, &meter)?;
        let list = Value::list(found.into_iter().map(Cow::into_owned).collect());
        Ok(purlin_value::emit::to_json(&list, purlin_value::Secrets::Hide, purlin_syntax::write::JsonLayout::Compact)
            .unwrap())
    }

    #[test]
    fn paths_lead_where_the_notation_says() {
        for (path, expected) in [
            ("kind", r#"["Service"]"#),
            ("$.kind", r#"["Service"]"#),
            (".kind", r#"["Service"]"#),
            ("spec.ports[0].port", "[80]"),
            ("spec.ports[-1].name", r#"["other"]"#),
            ("spec.ports[0:2].name", r#"["http","web"]"#),
            ("spec.ports[::-1].name", r#"["other","web","http"]"#),
            ("spec.ports[0,2].name", r#"["http","other"]"#),
            ("spec.ports[*].port", "[80,8080]"),
            ("spec.ports.*.port", "[80,8080]"),
            ("metadata.labels[\"a.b/c\"]", r#"["x"]"#),
            ("metadata.labels['plain', 'a.b/c']", r#"["y","x"]"#),
            ("metadata.labels.a\\.b", "[]"),
            ("$..port", "[80,8080]"),
            ("..name", r#"["http","web","other"]"#),
            ("spec.ports[?(@.name == 'web')].port", "[8080]"),
            ("spec.ports[?(@.name==\"web\")].port", "[8080]"),
            ("spec.ports[?(@.port > 80)].name", r#"["web"]"#),
            ("spec.ports[?(@.port)].name", r#"["http","web"]"#),
            ("spec.ports[?(!@.port)].name", r#"["other"]"#),
            ("spec.ports[?(@.name =~ /^h/ || @.name == 'other')].name", r#"["http","other"]"#),
            ("spec.ports[?(@.port >= 80 && @.name != 'web')].name", r#"["http"]"#),
            ("spec.ports[?((@.port == 80) && $.kind == 'Service')].name", r#"["http"]"#),
            ("..[?(@.port == 80)].name", r#"["http"]"#),
            ("metadata.labels.*~", "[]"),
            ("metadata.labels[*]~", r#"["a.b/c","plain"]"#),
            ("metadata.labels~", r#"["labels"]"#),
            ("nothing.here", "[]"),
            ("spec.ports[7]", "[]"),
        ] {
            match (found(path), expected) {
                (Ok(found), expected) => assert_eq!(found, expected, "{path}"),
                (Err(_), expected) => assert_eq!(expected, "", "{path}"),
            }
        }
    }

    #[test]
    fn paths_that_are_none_are_refused() {
        for path in
            ["a[", "a[]", "a['b", "a.", "a..", "a[?(@.b", "a[?()]", "a b", "a~.b", "a[1:2:0]", "a[x]", "a[?(@ =~ /(/)]"]
        {
            assert!(matches!(found(path), Err(Stop::Failed(_))), "{path}");
        }
    }

    #[test]
    fn paths_that_multiply_end_with_a_limit() {
        let many = format!("a: [{}]", vec!["[1,2,3]"; 200].join(","));
        let document = document(&many);
        let meter = Meter::new(&Limits { fuel: 1_000, ..Limits::default() });
        let path = Path::read("..*..*..*..*..*", &meter).unwrap();
        assert!(matches!(path.find(&document, &meter), Err(Stop::Exceeded(_))));
    }
}
