//! Policies in Rego, with conftest's conventions: rules `deny`, `violation` and `warn`, with a suffix or without, of the
//! package `main`, and exceptions that a policy grants.

use crate::heads::in_bodies;
use crate::imports::{Spelt, spelt};
use crate::question::{Counts, File, Level, Name, Step, Stop, StopKind, Verdict};
use crate::{Evaluate, text};
use regorus::unstable::{Rule, RuleHead};
use regorus::utils::limits::{ExecutionTimerConfig, TimeSource, set_time_source};
use regorus::{Engine, Value};
use serde_json::{Value as Json, json};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The clock of the engine: it counts checks instead of telling the time, so that a policy ends at the same step
/// everywhere.
struct Checks(AtomicU64);

impl TimeSource for Checks {
    fn now(&self) -> Option<Duration> {
        Some(Duration::from_nanos(self.0.fetch_add(1, Ordering::Relaxed)))
    }
}

static CHECKS: Checks = Checks(AtomicU64::new(0));

/// Steps between two checks.
const STEPS_PER_CHECK: NonZeroU32 = NonZeroU32::MIN.saturating_add(15);

/// A rule that counts, and how often it is written.
struct Counted {
    name: Name,
    level: Level,
    written: Vec<Written>,
}

/// One of the bodies of a rule.
struct Written {
    /// Parts of its strings.
    words: Vec<String>,
    /// The paths of the input in its text.
    mentions: Vec<Vec<Step>>,
}

/// Modules that are ready for evaluation.
pub(crate) struct Rego {
    engine: Engine,
    rules: Vec<Counted>,
    data: Vec<Value>,
    files: Files,
    /// Whether a module asks for the name of the file.
    asks_file: bool,
    checks: u64,
    counts: Counts,
}

impl Rego {
    pub(crate) fn load(
        files: &[File],
        data: &[Json],
        namespaces: &[String],
        environment: &str,
        steps: u64,
    ) -> Result<Self, Stop> {
        // A second call finds the clock set.
        let _ = set_time_source(&CHECKS);
        let mut engine = Engine::new();
        engine.set_strict_builtin_errors(false);
        let spelt: Files = files.iter().map(|file| (file.path.clone(), spelt(&in_bodies(&file.text)))).collect();
        for (path, file) in &spelt {
            add(&mut engine, path, &file.text).map_err(|stop| as_written(&spelt, stop))?;
        }
        let rules = rules(&mut engine, namespaces).map_err(|stop| as_written(&spelt, stop))?;
        let mut data: Vec<Value> = data.iter().cloned().map(Value::from).collect();
        data.push(Value::from(json!({ "purlin": { "environment": environment } })));
        let asks_file = files.iter().any(|file| file.text.contains("conftest"));
        let checks = (steps / u64::from(STEPS_PER_CHECK.get())).max(1);
        let mut made = Rego { engine, rules, data, files: spelt, asks_file, checks, counts: Counts::default() };
        made.set_data("")?;
        Ok(made)
    }

    fn set_data(&mut self, file: &str) -> Result<(), Stop> {
        self.engine.clear_data();
        let (folder, name) = file.rsplit_once('/').unwrap_or((".", file));
        let own = Value::from(json!({ "conftest": { "file": { "name": name, "dir": folder } } }));
        for data in self.data.iter().chain(std::iter::once(&own)) {
            self.engine.add_data(data.clone()).map_err(|error| text::stop(StopKind::Invalid, &error.to_string()))?;
        }
        Ok(())
    }

    /// Runs a query within the steps that are left.
    fn run<T>(&mut self, end: u64, query: impl FnOnce(&mut Engine) -> Result<T, String>) -> Result<T, Stop> {
        let begun = CHECKS.0.load(Ordering::Relaxed);
        let limit = Duration::from_nanos(end.saturating_sub(begun).max(1));
        self.engine.set_execution_timer_config(ExecutionTimerConfig { limit, check_interval: STEPS_PER_CHECK });
        query(&mut self.engine).map_err(|said| match CHECKS.0.load(Ordering::Relaxed) >= end {
            true => Stop { kind: StopKind::Steps, message: String::new(), at: None },
            false => as_written(&self.files, text::stop(StopKind::Failed, &said)),
        })
    }

    fn is_excepted(&mut self, name: &Name, end: u64) -> Result<bool, Stop> {
        let bare = name.rule.split_once('_').map_or("", |(_, rest)| rest);
        let query = format!("data.{}.exception[_][_] == {}", name.namespace, json!(bare));
        let results = self.run(end, |engine| engine.eval_query(query, false).map_err(|error| error.to_string()))?;
        let is_true = |value: &Value| *value == Value::Bool(true);
        Ok(results.result.iter().any(|result| result.expressions.iter().any(|one| is_true(&one.value))))
    }
}

impl Evaluate for Rego {
    fn evaluate(&mut self, input: &Json, file: &str) -> Result<Vec<Verdict>, Stop> {
        if self.asks_file {
            self.set_data(file)?;
        }
        self.engine.set_input(Value::from(input.clone()));
        let end = CHECKS.0.load(Ordering::Relaxed).saturating_add(self.checks);
        let (mut found, mut counts, mut silent) = (Vec::new(), Counts::default(), 0);
        for index in 0..self.rules.len() {
            let Some(Counted { name, level, .. }) = self.rules.get(index) else { continue };
            let (name, level) = (name.clone(), *level);
            if self.is_excepted(&name, end)? {
                counts.exceptions += 1;
                continue;
            }
            let path = format!("data.{}.{}", name.namespace, name.rule);
            let value = self.run(end, |engine| engine.eval_rule(path).map_err(|error| error.to_string()))?;
            let messages = messages(&value, &name)?;
            silent += usize::from(messages.is_empty());
            match level {
                Level::Warning => counts.warnings += messages.len(),
                _ => counts.failures += messages.len(),
            }
            let verdict = |(message, path)| Verdict { name: name.clone(), level, message, path };
            found.extend(messages.into_iter().map(verdict));
        }
        // A rule that is written several times counts as often; each that says nothing holds.
        let written: usize = self.rules.iter().map(|rule| rule.written.len()).sum();
        let others = counts.warnings + counts.failures + counts.exceptions;
        counts.passed = silent.max(written.saturating_sub(others));
        self.counts = counts;
        Ok(found)
    }

    /// The values mentioned by the body that wrote the message: several bodies of one rule differ only in their words.
    /// The words are those of the user's policy, not ours.
    fn mentions(&self, verdict: &Verdict) -> Vec<Vec<Step>> {
        let longest = |written: &Written| {
            let said = written.words.iter().filter(|word| verdict.message.contains(word.as_str()));
            said.map(String::len).max().unwrap_or(0)
        };
        let own = self.rules.iter().find(|known| known.name == verdict.name);
        let written = own.and_then(|own| own.written.iter().max_by_key(|written| longest(written)));
        written.filter(|written| longest(written) > 0).map(|written| written.mentions.clone()).unwrap_or_default()
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}

/// Modules by their paths.
type Files = Vec<(String, Spelt)>;

/// A location in the text that the author wrote.
fn as_written(files: &Files, stop: Stop) -> Stop {
    let at = stop.at.map(|(path, line, column)| {
        let spelt = files.iter().find(|(known, _)| *known == path);
        let column = spelt.map_or(column, |(_, spelt)| spelt.column(line, column));
        (path, line, column)
    });
    Stop { at, ..stop }
}

/// Adds a module, in the language of today or that before it.
fn add(engine: &mut Engine, path: &str, text: &str) -> Result<(), Stop> {
    engine.set_rego_v0(false);
    let Err(error) = engine.add_policy(path.to_owned(), text.to_owned()) else { return Ok(()) };
    engine.set_rego_v0(true);
    let is_older = engine.add_policy(path.to_owned(), text.to_owned()).is_ok();
    engine.set_rego_v0(false);
    if is_older { Ok(()) } else { Err(text::stop(StopKind::Invalid, &error.to_string())) }
}

/// The rules of the packages that count.
fn rules(engine: &mut Engine, namespaces: &[String]) -> Result<Vec<Counted>, Stop> {
    let mut found: Vec<Counted> = Vec::new();
    for module in engine.get_modules() {
        let namespace = module.package.refr.span().text().to_owned();
        if !namespaces.iter().any(|pattern| text::matches(pattern, &namespace)) {
            continue;
        }
        for rule in &module.policy {
            let whole = refr(rule);
            let bare = whole.split('[').next().unwrap_or(whole);
            let Some(level) = level(bare) else { continue };
            // `deny[message] if` was a set before; now it is a mapping to `true`.
            if whole != bare
                && module.rego_v1
                && matches!(rule.as_ref(), Rule::Spec { head: RuleHead::Compr { .. }, .. })
            {
                return Err(without_contains(rule));
            }
            let name = Name { namespace: namespace.clone(), rule: bare.to_owned() };
            let text = rule.span().text();
            let written = Written { words: text::words(text), mentions: text::mentions(text, "input") };
            match found.iter_mut().find(|known| known.name == name) {
                Some(known) => known.written.push(written),
                None => found.push(Counted { name, level, written: vec![written] }),
            }
        }
    }
    Ok(found)
}

/// The name of a rule as written.
fn refr(rule: &Rule) -> &str {
    let refr = match rule {
        Rule::Default { refr, .. } => refr,
        Rule::Spec { head, .. } => match head {
            RuleHead::Compr { refr, .. } | RuleHead::Set { refr, .. } | RuleHead::Func { refr, .. } => refr,
        },
    };
    refr.span().text()
}

/// A rule `deny[message] if` has no message in the language of today.
fn without_contains(rule: &Rule) -> Stop {
    let span = rule.span();
    let at = Some((span.source.get_path().clone(), span.line, span.col));
    let message = "a rule with `if` needs `contains MESSAGE`; as it is written, it has no message".to_owned();
    Stop { kind: StopKind::Invalid, message, at }
}

/// The level of a rule's name: `deny`, `violation` or `warn`, each with a suffix or without.
fn level(name: &str) -> Option<Level> {
    let (first, rest) = name.split_once('_').map_or((name, None), |(first, rest)| (first, Some(rest)));
    let is_word = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if rest.is_some_and(|rest| !rest.split('_').all(is_word)) {
        return None;
    }
    match first {
        "deny" | "violation" => Some(Level::Error),
        "warn" => Some(Level::Warning),
        _ => None,
    }
}

type Message = (String, Option<Vec<Step>>);

/// The messages of a rule: strings, or mappings with `msg`. A rule that is no collection has none.
fn messages(value: &Value, name: &Name) -> Result<Vec<Message>, Stop> {
    let text = value.to_json_str().unwrap_or_default();
    let items = match serde_json::from_str::<Json>(&text) {
        Ok(Json::Array(items)) => items,
        _ => return Ok(Vec::new()),
    };
    let mut found = Vec::new();
    for item in items {
        match &item {
            Json::String(text) => found.push((text.clone(), None)),
            Json::Object(map) => {
                let Some(Json::String(text)) = map.get("msg") else {
                    let message = format!("a result of `{}` has no `msg` that is a string", name.rule);
                    return Err(Stop { kind: StopKind::Failed, message, at: None });
                };
                found.push((text.clone(), map.get("path").and_then(path)));
            }
            _ => {}
        }
    }
    found.retain(|(message, _)| !message.is_empty());
    Ok(found)
}

/// The path that a result names: a list of keys and indices, or a text such as `spec.containers[0].image`.
fn path(value: &Json) -> Option<Vec<Step>> {
    match value {
        Json::Array(items) => items
            .iter()
            .map(|item| match item {
                Json::String(key) => Some(Step::Key(key.clone())),
                Json::Number(index) => Some(Step::Item(usize::try_from(index.as_u64()?).ok()?)),
                _ => None,
            })
            .collect(),
        Json::String(text) => {
            let steps = text.split(['.', '[', ']']).filter(|step| !step.is_empty());
            Some(steps.map(|step| step.parse().map_or_else(|_| Step::Key(step.to_owned()), Step::Item)).collect())
        }
        _ => None,
    }
}
