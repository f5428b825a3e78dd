//! Policies that users and projects write, evaluated over the objects and the graph of a resolved project.
//!
//! The files are read here, through the world; `purlin-policy` evaluates them, in a process that the caller provides. A
//! verdict is located where the value that it depends on was written.

use crate::output::resolved_value;
use crate::rules;
use purlin_kubernetes::{Object, Spot, route};
use purlin_model::{OwnPolicy, PolicyRules, Request, Resolved};
use purlin_policy::{Body, File, Found, Input, Level, Line, Over, Policy, Question, Step, Stop, StopKind, read_answer};
use purlin_syntax::write::JsonLayout;
use purlin_syntax::{Diagnostic, Flavor, Label, Span};
use purlin_value::emit::to_json;
use purlin_value::glob::Glob;
use purlin_value::world::FileKind;
use purlin_value::{Map, MergeKeys, Secrets, Session, Value, path, value_of};
use serde_json::Value as Json;
use std::collections::HashMap;

/// The names of what policies can be evaluated over.
pub fn policy_inputs() -> Vec<&'static str> {
    Over::NAMES.iter().map(|(name, _)| *name).collect()
}

/// An object with the file that its text comes from.
pub(crate) struct Source<'v> {
    /// Its id.
    pub id: String,
    /// Its content.
    pub value: &'v Value,
    /// The file.
    pub file: &'v str,
}

/// Everything that policies are evaluated over.
pub(crate) struct Subject<'v> {
    /// The objects of the environment.
    pub objects: Vec<Source<'v>>,
    /// The resolved project, if there is one.
    pub resolved: Option<&'v Resolved>,
    /// Whether parts are missing because of other problems.
    pub is_partial: bool,
}

/// The policies that hold for a request.
fn policies<'r>(request: &'r Request, environment: &str) -> Vec<&'r OwnPolicy> {
    let holds = |policy: &&OwnPolicy| {
        policy.environments.is_empty() || policy.environments.iter().any(|one| Glob::new(one).matches(environment))
    };
    request.own_policies.iter().filter(holds).collect()
}

/// The problems that policies find.
pub(crate) fn judged_by_policies(session: &Session, request: &Request, subject: &Subject<'_>) -> Vec<Diagnostic> {
    if request.own_policies.is_empty() {
        return Vec::new();
    }
    let environment = match subject.resolved {
        Some(resolved) if !resolved.environment.is_empty() => resolved.environment.to_string(),
        _ => request.environment.clone().unwrap_or_default(),
    };
    let policies = policies(request, &environment);
    let (mut asked, mut found) = (Vec::new(), Vec::new());
    let mut inputs = Inputs::default();
    for policy in policies {
        let Some(over) = Over::named(&policy.over) else { continue };
        match body(session, policy) {
            Ok(body) => asked.push(Asked { policy, over, body }),
            Err(diagnostic) => found.push(diagnostic),
        }
        inputs.add(session, over, subject);
    }
    if asked.is_empty() {
        return found;
    }
    let question = Question {
        steps: session.limits.fuel / STEPS_OF_A_POLICY,
        environment,
        policies: asked.iter().map(|one| Policy { over: one.over, body: one.body.clone() }).collect(),
        inputs: inputs.list.iter().map(|input| input.input.clone()).collect(),
    };
    found.extend(evaluated(session, request, &question, &asked, &inputs));
    found
}

/// A step of a policy costs as much as ten of an expression.
const STEPS_OF_A_POLICY: u64 = 10;

/// A policy with its rules.
struct Asked<'r> {
    policy: &'r OwnPolicy,
    over: Over,
    body: Body,
}

/// Inputs, and the values that they were made of.
#[derive(Default)]
struct Inputs<'v> {
    list: Vec<Made<'v>>,
}

struct Made<'v> {
    input: Input,
    value: Value,
    /// Ids of the objects: of one, or of each.
    ids: Vec<&'v str>,
}

impl<'v> Inputs<'v> {
    /// Makes the inputs of a kind, unless they are there already.
    fn add(&mut self, session: &Session, over: Over, subject: &'v Subject<'_>) {
        if self.list.iter().any(|made| made.input.over == over) {
            return;
        }
        match over {
            Over::Object => {
                for object in &subject.objects {
                    self.push(over, object.value.clone(), object.file, vec![&object.id]);
                }
            }
            // Missing objects would be found as mistakes.
            Over::Objects if subject.is_partial || subject.objects.is_empty() => {}
            Over::Objects => {
                let entry = |object: &Source<'_>| {
                    let pairs = [("path".into(), Value::str(object.file)), ("contents".into(), object.value.clone())];
                    Value::map(pairs.into_iter().collect::<Map>())
                };
                let value = Value::list(subject.objects.iter().map(entry).collect());
                self.push(over, value, "Combined", subject.objects.iter().map(|object| object.id.as_str()).collect());
            }
            Over::Graph => {
                if let Some(resolved) = subject.resolved.filter(|_| !subject.is_partial) {
                    self.push(over, resolved_value(session, resolved), "graph", Vec::new());
                }
            }
        }
    }

    fn push(&mut self, over: Over, value: Value, file: &str, ids: Vec<&'v str>) {
        let text = to_json(&value, Secrets::Hide, JsonLayout::Compact).unwrap_or_default();
        let json = serde_json::from_str(&text).unwrap_or(Json::Null);
        self.list.push(Made { input: Input { over, value: json, file: file.to_owned() }, value, ids });
    }

    /// An input of a policy by its number among those of its kind.
    fn get(&self, over: Over, index: usize) -> Option<&Made<'v>> {
        self.list.iter().filter(|made| made.input.over == over).nth(index)
    }
}

fn evaluated(
    session: &Session,
    request: &Request,
    question: &Question,
    asked: &[Asked<'_>],
    inputs: &Inputs<'_>,
) -> Vec<Diagnostic> {
    let problem = |message: String| {
        let mut diagnostic = Diagnostic::nowhere(&rules::POLICY_FILE, message);
        diagnostic.span = asked.first().and_then(|one| one.policy.at);
        vec![diagnostic]
    };
    let Some(evaluate) = request.evaluator else {
        return problem("policies cannot be evaluated here".to_owned());
    };
    let mut told = Told { session, list: Vec::new(), known: HashMap::new() };
    let mut first = 0;
    // A policy that exceeds a bound ends its process; those after it are asked in another one.
    while first < asked.len() {
        let rest =
            Question { policies: question.policies.get(first..).unwrap_or_default().to_vec(), ..question.clone() };
        let answer = match evaluate(&serde_json::to_string(&rest).unwrap_or_default()) {
            Ok(answer) => read_answer(&answer),
            Err(why) => return problem(why),
        };
        let mut last = 0;
        let has_ended = answer.iter().any(|line| matches!(line, Line::Ended));
        for line in answer {
            match line {
                Line::Began { policy } => last = policy,
                Line::Found(found) => {
                    if let Some(one) = asked.get(first + found.policy)
                        && let Some(made) = inputs.get(one.over, found.input)
                    {
                        told.verdict(one, made, &found);
                    }
                }
                Line::Stopped { policy, stop } => {
                    told.list.extend(asked.get(first + policy).map(|one| stopped(session, one, &stop)));
                }
                Line::Counted { .. } | Line::Ended => {}
            }
        }
        if has_ended {
            break;
        }
        told.list.extend(asked.get(first + last).map(|one| cut_off(session, one, "time or memory")));
        first += last + 1;
    }
    told.list
}

/// Findings, each place and message once.
struct Told<'s> {
    session: &'s Session,
    list: Vec<Diagnostic>,
    known: HashMap<(Option<Span>, String), ()>,
}

impl Told<'_> {
    fn verdict(&mut self, asked: &Asked<'_>, made: &Made<'_>, found: &Found) {
        if found.verdict.level == Level::Exception || !found.causes.iter().all(|path| is_known(&made.value, path)) {
            return;
        }
        let spot = found.causes.first().map_or_else(|| identity(&made.value), |path| spot(&made.value, path));
        let route = route(self.session, &spot);
        let object = match (asked.over, found.causes.first().and_then(|path| path.first())) {
            (Over::Objects, Some(Step::Item(index))) => made.ids.get(*index),
            (Over::Object, _) => made.ids.first(),
            _ => None,
        };
        let message = said(asked, found, object.copied());
        if self.known.insert((route.first, message.clone()), ()).is_some() {
            return;
        }
        let mut diagnostic = Diagnostic::nowhere(&rules::POLICY, message);
        if found.verdict.level == Level::Warning || asked.policy.is_warning {
            diagnostic = diagnostic.warning();
        }
        diagnostic.span = route.first.or(asked.policy.at);
        diagnostic.labels.extend(route.last.map(|last| Label::note(last, "used here")));
        self.list.push(diagnostic);
    }
}

/// `Deployment/web: Containers must not run as root (main.deny)`.
fn said(asked: &Asked<'_>, found: &Found, object: Option<&str>) -> String {
    let verdict = &found.verdict;
    let name = match &asked.policy.rules {
        PolicyRules::Cel { name, .. } => name.clone(),
        PolicyRules::Rego { .. } => format!("{}.{}", verdict.name.namespace, verdict.name.rule),
    };
    let name = if name.is_empty() { String::new() } else { format!(" ({name})") };
    match object {
        Some(object) => format!("`{object}`: {}{name}", verdict.message),
        None => format!("{}{name}", verdict.message),
    }
}

/// Whether a value may be judged: what is pending or secret is not.
fn is_known(value: &Value, path: &[Step]) -> bool {
    let mut value = value;
    for step in path {
        if value.is_pending() || value.is_tainted() || value.is_poison() {
            return false;
        }
        let Some(next) = below(value, step) else { return true };
        value = next;
    }
    !value.is_pending() && !value.is_poison() && !value.is_tainted()
}

fn below<'v>(value: &'v Value, step: &Step) -> Option<&'v Value> {
    match step {
        Step::Key(key) => value.get(key),
        Step::Item(index) => value.as_list()?.get(*index),
    }
}

/// The place of a path: the value, or the key of a collection.
fn spot(value: &Value, path: &[Step]) -> Spot {
    let (mut value, mut key) = (value, None);
    for step in path {
        let Some(next) = below(value, step) else { break };
        value = next;
        if let Step::Key(name) = step {
            key = Some(name.clone());
        }
    }
    match key.filter(|_| value.is_collection()) {
        Some(key) => Spot::Key(key, value.origin),
        None => Spot::Value(value.origin),
    }
}

/// The place of an object as a whole: its name.
fn identity(value: &Value) -> Spot {
    let name = value.get("metadata").and_then(|metadata| metadata.get("name"));
    Spot::Value(name.unwrap_or(value).origin)
}

fn stopped(session: &Session, asked: &Asked<'_>, stop: &Stop) -> Diagnostic {
    if stop.kind == StopKind::Steps {
        return cut_off(session, asked, "steps");
    }
    let at = stop.at.as_ref().and_then(|(file, line, column)| place(session, file, *line, *column));
    let mut diagnostic =
        Diagnostic::nowhere(&rules::POLICY_FILE, format!("the policy cannot be used: {}", stop.message));
    diagnostic.span = at.or_else(|| first_line(session, asked)).or(asked.policy.at);
    diagnostic
}

fn cut_off(session: &Session, asked: &Asked<'_>, what: &str) -> Diagnostic {
    let message = format!("the policy takes more {what} than allowed, so it was not evaluated completely");
    let mut diagnostic = Diagnostic::nowhere(&rules::LIMIT_POLICY, message);
    diagnostic.span = first_line(session, asked).or(asked.policy.at);
    diagnostic
}

/// The beginning of the first module.
fn first_line(session: &Session, asked: &Asked<'_>) -> Option<Span> {
    let Body::Rego { files, .. } = &asked.body else { return None };
    place(session, &files.first()?.path, 1, 1)
}

/// The rest of a line of a file that was read.
fn place(session: &Session, file: &str, line: u32, column: u32) -> Option<Span> {
    let source = session.load_text(file, file).ok()?.source;
    let text = source.text();
    let before = usize::try_from(line.max(1)).ok()? - 1;
    let start: usize = text.split_inclusive('\n').take(before).map(str::len).sum();
    let rest = text.get(start..)?.lines().next().unwrap_or_default();
    let skipped = usize::try_from(column.max(1)).ok()? - 1;
    Some(source.span((start + skipped).min(start + rest.len()), start + rest.len()))
}

/// Reads the rules of a policy.
fn body(session: &Session, policy: &OwnPolicy) -> Result<Body, Diagnostic> {
    match &policy.rules {
        PolicyRules::Cel { when, assert, message, .. } => {
            Ok(Body::Cel { when: when.clone(), assert: assert.clone(), message: message.clone() })
        }
        PolicyRules::Rego { paths, data, namespaces } => {
            let mut files = Vec::new();
            for start in paths {
                modules(session, start, policy, &mut files)?;
            }
            if files.is_empty() {
                let listed: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
                let message = format!("no policies found in {}", listed.join(", "));
                return Err(at_setting(Diagnostic::nowhere(&rules::POLICY_FILE, message), policy)
                    .hint("name a file `*.rego`, or a folder with some"));
            }
            let mut documents = Vec::new();
            for start in data {
                let is_folder = session.world.stat(start).is_ok_and(|stat| stat.kind == FileKind::Folder);
                let top = if is_folder { start.as_str() } else { path::parent(start) };
                self::documents(session, top, start, policy, &mut documents)?;
            }
            Ok(Body::Rego { files, data: documents, namespaces: namespaces.clone() })
        }
    }
}

fn at_setting(mut diagnostic: Diagnostic, policy: &OwnPolicy) -> Diagnostic {
    diagnostic.span = diagnostic.span.or(policy.at);
    diagnostic
}

/// Files at and below a path, sorted.
fn files(session: &Session, start: &str, policy: &OwnPolicy) -> Result<Vec<String>, Diagnostic> {
    let stat = session.world.stat(start).map_err(|why| at_setting(why.diagnostic(start), policy))?;
    if stat.kind != FileKind::Folder {
        return Ok(vec![path::normalize(start)]);
    }
    let (mut found, mut open) = (Vec::new(), vec![start.to_owned()]);
    while let Some(folder) = open.pop() {
        let entries = session.world.list(&folder).map_err(|why| at_setting(why.diagnostic(&folder), policy))?;
        for entry in entries {
            let inside = path::join(&folder, &entry.name);
            match entry.kind {
                FileKind::Folder => open.push(inside),
                _ => found.push(inside),
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The modules at and below a path. Tests of policies are not policies.
fn modules(session: &Session, start: &str, policy: &OwnPolicy, found: &mut Vec<File>) -> Result<(), Diagnostic> {
    let is_module = |file: &String| file.ends_with(".rego") && !file.ends_with("_test.rego");
    for file in files(session, start, policy)?.into_iter().filter(is_module) {
        let text = session.load_text(&file, &file).map_err(|why| at_setting(why.diagnostic(&file), policy))?;
        found.push(File { path: file, text: text.source.text().to_owned() });
    }
    Ok(())
}

/// The documents at and below a path; those in folders are below the names of these.
fn documents(
    session: &Session,
    top: &str,
    start: &str,
    policy: &OwnPolicy,
    found: &mut Vec<Json>,
) -> Result<(), Diagnostic> {
    let is_data = |file: &String| [".yaml", ".yml", ".json"].iter().any(|end| file.ends_with(end));
    for file in files(session, start, policy)?.into_iter().filter(is_data) {
        let tree = session.read_yaml(&file, Flavor::GoObjects).map_err(|why| at_setting(why, policy))?;
        let folder = path::relative(top, path::parent(&file));
        for root in tree.roots() {
            let text = to_json(&value_of(root, MergeKeys::Apply), Secrets::Hide, JsonLayout::Compact);
            let mut json: Json = serde_json::from_str(&text.unwrap_or_default()).unwrap_or(Json::Null);
            for name in folder.split('/').rev().filter(|name| !name.is_empty() && *name != ".") {
                json = Json::Object([(name.to_owned(), json)].into_iter().collect());
            }
            if json.is_object() {
                found.push(json);
            }
        }
    }
    Ok(())
}

/// The objects of a project, with their files.
pub(crate) fn sources(resolved: &Resolved) -> Vec<Source<'_>> {
    let objects = resolved.manifests.iter().filter_map(|manifest| {
        let object = Object::of(&manifest.value)?;
        Some(Source { id: object.id, value: object.value, file: &manifest.source })
    });
    objects.collect()
}
