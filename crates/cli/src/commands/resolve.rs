//! `purlin resolve` and `purlin render`: the resolved configuration, and the manifests.

use super::Context;
use super::check::worse;
use super::folder;
use crate::args::{DataFormat, Per, Target};
use crate::invocation::Exit;
use crate::paint::Answer;
use purlin_compiler::{Compiled, compile, detect, loose_objects, read_objects, resolved_value};
use purlin_model::{Detection, Manifest, Node, Request, Resolved, Variant};
use purlin_syntax::write::{JsonLayout, WriteError};
use purlin_syntax::{Diagnostic, Hint, Severity, suggest};
use purlin_value::emit::{json_within, to_json, to_yaml, yaml_within};
use purlin_value::{Map, Secrets, Session, Value};
use std::path::Path;

pub(super) fn resolve(
    cx: &mut Context<'_, '_>,
    path: &Path,
    nodes: &[String],
    target: &Target,
    format: DataFormat,
    out: Option<&Path>,
    reveal: bool,
) -> Result<Exit, Exit> {
    let (session, compiled) = compile_or_report(cx, path, nodes, target)?;
    let value = resolved_value(&session, &compiled.resolved);
    if session.sink.has_errors() {
        return Err(cx.report(&session));
    }
    let most = session.meter.most_output();
    let text = data_text(&value, format, secrets(reveal), most).map_err(|error| cx.too_long(error))?;
    let exit = cx.print_data(&text, format, out);
    cx.let_go((session, compiled, value));
    Ok(exit)
}

/// Resolves and prints all problems; nothing goes to stdout if there is an error.
pub(super) fn compile_or_report(
    cx: &mut Context<'_, '_>,
    path: &Path,
    nodes: &[String],
    target: &Target,
) -> Result<(Session, Compiled), Exit> {
    finished(compile_for(cx, &Purpose { command: "resolve", manifests: false }, path, nodes, target)?)
}

/// The same including all manifests.
pub(super) fn compile_rendered(
    cx: &mut Context<'_, '_>,
    path: &Path,
    target: &Target,
) -> Result<(Session, Compiled), Exit> {
    finished(compile_for(cx, &Purpose { command: "resolve", manifests: true }, path, &[], target)?)
}

/// The same for a node by name: a nested one may be an object that is only rendered on request.
pub(super) fn compile_with_inside(
    cx: &mut Context<'_, '_>,
    path: &Path,
    name: &str,
    target: &Target,
) -> Result<(Session, Compiled), Exit> {
    finished(compile_for(cx, &Purpose { command: "resolve", manifests: name.contains('/') }, path, &[], target)?)
}

/// A project in one of its variants.
pub(super) struct Side {
    /// The variant's name; empty if it has none.
    pub name: String,
    pub session: Session,
    pub resolved: Resolved,
}

/// The name of a variant, and its result; `None` if it has errors.
type Tried = (String, Option<Side>);

/// Resolves a project as requested, or in all its variants. The first session has the problems of all.
pub(super) fn compile_all(
    cx: &mut Context<'_, '_>,
    path: &Path,
    target: &Target,
    all_envs: bool,
) -> Result<(Session, Vec<Side>), Exit> {
    let (session, request) = open_to_compare(cx, path, target)?;
    let variants = if all_envs { purlin_compiler::variants(&session, &request) } else { Vec::new() };
    let sides: Vec<Side> = resolve_each(&session, request, variants).into_iter().filter_map(|(_, side)| side).collect();
    match cx.report(&session) {
        Exit::Ok if sides.is_empty() => Err(Exit::Invalid),
        Exit::Ok => Ok((session, sides)),
        exit => Err(exit),
    }
}

/// All variants of a project by name, without those that have errors. The session has the problems of all.
pub(super) fn resolve_all(
    cx: &mut Context<'_, '_>,
    path: &Path,
    target: &Target,
) -> Result<(Session, Vec<Tried>), Exit> {
    let (session, request) = open_to_compare(cx, path, target)?;
    let variants = purlin_compiler::variants(&session, &request);
    let sides = resolve_each(&session, request, variants);
    Ok((session, sides))
}

/// Opens a session to resolve a project including all manifests.
pub(super) fn open_to_compare(
    cx: &mut Context<'_, '_>,
    path: &Path,
    target: &Target,
) -> Result<(Session, Request), Exit> {
    let (session, mut request) = cx.open(path, target, &[])?;
    "resolve".clone_into(&mut request.command);
    request.manifests = true;
    Ok((session, request))
}

/// Resolves the variants, or the project by itself if there are none.
fn resolve_each(session: &Session, request: Request, mut variants: Vec<Variant>) -> Vec<Tried> {
    if variants.is_empty() {
        variants.push(Variant { name: "".into(), request });
    }
    let resolved = |variant: Variant| {
        let (name, own) = (variant.name.to_string(), session.sibling());
        let compiled = compile(&own, &variant.request);
        let is_broken = own.sink.count(Severity::Error) > 0;
        session.sink.extend(own.sink.take());
        let compiled = compiled.filter(|_| !is_broken);
        let side = compiled.map(|compiled| Side { name: name.clone(), session: own, resolved: compiled.resolved });
        (name, side)
    };
    variants.into_iter().map(resolved).collect()
}

/// The result, if there are no errors.
fn finished(found: (Session, Option<Compiled>, Exit)) -> Result<(Session, Compiled), Exit> {
    match found {
        (session, Some(compiled), Exit::Ok) => Ok((session, compiled)),
        (_, None, Exit::Ok) => Err(Exit::Invalid),
        (_, _, exit) => Err(exit),
    }
}

/// The purpose of a resolution.
struct Purpose {
    /// The name of the command: some configuration depends on it.
    command: &'static str,
    /// Whether manifests are requested.
    manifests: bool,
}

/// Resolves for a purpose, and prints all problems.
fn compile_for(
    cx: &mut Context<'_, '_>,
    purpose: &Purpose,
    path: &Path,
    nodes: &[String],
    target: &Target,
) -> Result<(Session, Option<Compiled>, Exit), Exit> {
    let (session, mut request) = cx.open(path, target, nodes)?;
    purpose.command.clone_into(&mut request.command);
    request.manifests = purpose.manifests;
    compile_opened(cx, session, &request, nodes, target)
}

fn compile_opened(
    cx: &mut Context<'_, '_>,
    session: Session,
    request: &Request,
    nodes: &[String],
    target: &Target,
) -> Result<(Session, Option<Compiled>, Exit), Exit> {
    let compiled = compile(&session, request).map(|mut compiled| {
        keep_nodes(&session, &mut compiled.resolved, nodes);
        compiled
    });
    if let Some(compiled) = &compiled {
        cx.refuse_undeclared(&session, Some(&compiled.resolved), &target.var, "")?;
        cx.refuse_pending(&session, &target.pending)?;
        // Service templates have their own message for undeclared inputs.
        if compiled.dialect.name == "unfurl" {
            cx.refuse_undeclared(&session, Some(&compiled.resolved), &target.input, "")?;
        }
    }
    if request.command == "render" && cx.global.seed.is_none() {
        purlin_charts::guessable::report(&session);
    }
    let exit = cx.report(&session);
    Ok((session, compiled, exit))
}

fn keep_nodes(session: &Session, resolved: &mut Resolved, wanted: &[String]) {
    if wanted.is_empty() {
        return;
    }
    for name in wanted {
        if resolved.node(name).is_none() {
            session.sink.push(unknown_node(resolved, name));
        }
    }
    // A node includes its nested nodes.
    let is_wanted = |id: &str| {
        let is_meant = |name: &String| {
            id.strip_prefix(name.as_str()).is_some_and(|rest| matches!(rest.chars().next(), None | Some('/')))
        };
        wanted.iter().any(is_meant)
    };
    resolved.nodes.retain(|node| is_wanted(&node.id));
    resolved.manifests.retain(|manifest| is_wanted(&manifest.node));
}

/// Maximum number of candidates in a hint.
pub(super) const MOST_CANDIDATES: usize = 6;

pub(super) fn unknown_node(resolved: &Resolved, name: &str) -> Diagnostic {
    let ids = || resolved.nodes.iter().map(|node| node.id.as_str());
    // A part of a name selects all nodes that end in it, or else those that contain it.
    let last = |id: &str| id.rsplit(['.', '/']).next() == Some(name);
    let mut partial: Vec<&str> = ids().filter(|id| last(id)).collect();
    if partial.is_empty() {
        partial = ids().filter(|id| id.contains(name)).collect();
    }
    let is_ambiguous = partial.len() > 1;
    let message = match is_ambiguous {
        true => format!("`{name}` is ambiguous: it is part of the names of {} nodes", partial.len()),
        false => format!("unknown node `{name}`"),
    };
    let hint = match partial.as_slice() {
        [] => suggest::did_you_mean(name, ids()).or_else(|| listed(ids().collect()).map(Hint::from)),
        [one] => Some(Hint::meant(name, *one)),
        _ => listed(partial).map(Hint::from),
    };
    Diagnostic::nowhere(&purlin_compiler::rules::UNKNOWN_NODE, message).maybe_hint(hint)
}

fn listed(ids: Vec<&str>) -> Option<String> {
    let mut shown: Vec<String> = ids.iter().take(MOST_CANDIDATES).map(|id| format!("`{id}`")).collect();
    if ids.len() > MOST_CANDIDATES {
        shown.push("…".to_owned());
    }
    (!shown.is_empty()).then(|| format!("name one of {}", shown.join(", ")))
}

pub(super) fn secrets(reveal: bool) -> Secrets {
    if reveal { Secrets::Reveal } else { Secrets::Hide }
}

/// A result as text of at most `most` bytes.
pub(super) fn data_text(value: &Value, format: DataFormat, secrets: Secrets, most: u64) -> Result<String, WriteError> {
    match format {
        DataFormat::Yaml => yaml_within(value, secrets, most),
        DataFormat::Json => json_within(value, secrets, JsonLayout::Pretty, most).map(|text| text + "\n"),
    }
}

impl Context<'_, '_> {
    /// Reports documents that are not Kubernetes objects; returns whether there are any.
    fn refuse_others(&mut self, manifests: &[Manifest]) -> bool {
        let mut are_there = false;
        for manifest in manifests {
            let missing = ["apiVersion", "kind"]
                .into_iter()
                .find(|key| manifest.value.get(key).is_none_or(|value| value.as_str().is_none()));
            let Some(key) = missing else { continue };
            let file = &manifest.source;
            let _ = writeln!(
                self.invocation.stderr,
                "error: a document of `{file}` is not a Kubernetes object: `{key}` is missing"
            );
            are_there = true;
        }
        are_there
    }

    /// Prints data to stdout, with colours on a terminal, or to a file.
    pub(super) fn print_data(&mut self, text: &str, format: DataFormat, out: Option<&Path>) -> Exit {
        let answer = match format {
            DataFormat::Yaml => Answer::Yaml,
            DataFormat::Json => Answer::Json,
        };
        if out.is_some() { self.print(text, out) } else { self.print_answer(text, Some(answer)) }
    }

    /// An answer as JSON.
    pub(super) fn json(&mut self, value: &Value) -> Result<String, Exit> {
        let text = to_json(value, Secrets::Hide, JsonLayout::Pretty).map_err(|error| self.too_long(error))?;
        Ok(text + "\n")
    }

    pub(super) fn too_long(&mut self, _error: WriteError) -> Exit {
        let _ = writeln!(self.invocation.stderr, "error[limit-output-size]: the result is larger than allowed");
        Exit::Limit
    }
}

/// Format and destination of manifests.
pub(super) struct Manifests<'a> {
    pub output: DataFormat,
    pub out: Option<&'a Path>,
    pub per: Per,
    pub reveal: bool,
}

pub(super) fn render(
    cx: &mut Context<'_, '_>,
    path: &Path,
    nodes: &[String],
    target: &Target,
    to: &Manifests<'_>,
) -> Result<Exit, Exit> {
    let (session, mut request) = cx.open(path, target, nodes)?;
    "render".clone_into(&mut request.command);
    request.manifests = true;
    let detection = detect(&session, &request);
    let is_project = matches!(detection, Detection::Project(..));
    if let Some(place) = loose_objects(&session, &request, &detection).filter(|_| !is_project) {
        let objects = objects_at(&session, &place, nodes);
        cx.refuse_undeclared(&session, Some(&objects), &target.var, "")?;
        let found = cx.report(&session);
        let found = if cx.refuse_others(&objects.manifests) { worse(found, Exit::Invalid) } else { found };
        return match found {
            Exit::Ok => print_manifests(cx, &objects, to),
            exit => Err(exit),
        };
    }
    let (_session, compiled, found) = compile_opened(cx, session, &request, nodes, target)?;
    let compiled = match (compiled, found) {
        (Some(compiled), Exit::Ok) => compiled,
        // Incomplete manifests must not reach a cluster, so nothing is printed.
        (_, exit) => return Err(worse(Exit::Invalid, exit)),
    };
    if compiled.resolved.manifests.is_empty() && !compiled.dialect.renders {
        return Err(cx.usage(&format!("a {} project has no manifests to render", compiled.dialect.name)));
    }
    print_manifests(cx, &compiled.resolved, to)
}

/// The objects of a kustomization or of files with objects only, as a project of their own.
fn objects_at(session: &Session, place: &str, nodes: &[String]) -> Resolved {
    let mut objects = Resolved::new("");
    objects.manifests = read_objects(session, place);
    Manifest::tell_apart(&mut objects.manifests);
    let node = |manifest: &Manifest| Node::new(manifest.node.clone(), "object", "");
    objects.nodes = objects.manifests.iter().map(node).collect();
    keep_nodes(session, &mut objects, nodes);
    objects
}

/// Prints manifests, and a note if they cannot be applied because secrets are hidden.
fn print_manifests(cx: &mut Context<'_, '_>, resolved: &Resolved, to: &Manifests<'_>) -> Result<Exit, Exit> {
    let Manifests { output, out, per, reveal } = *to;
    let folder = out.filter(|out| folder::is_folder(&cx.invocation.cwd, out));
    if output == DataFormat::Json {
        if folder.is_some() {
            return Err(cx.usage("`-o json` writes one file; name a file, not a folder"));
        }
        let list = json_list(&resolved.manifests, secrets(reveal)).map_err(|error| cx.too_long(error))?;
        let exit = cx.print_data(&list, output, out);
        let hidden = resolved.manifests.iter().filter(|manifest| !reveal && manifest.value.is_tainted_deep()).count();
        note_hidden(cx, hidden);
        return Ok(exit);
    }
    let mut files = folder::Files::default();
    let mut text = String::new();
    let mut hidden = 0;
    for manifest in &resolved.manifests {
        let has_secret = manifest.value.is_tainted_deep();
        hidden += usize::from(has_secret && !reveal);
        let body = match manifest.body() {
            Some(body) if reveal || !has_secret => format!("{body}\n"),
            // Trailing line breaks may belong to the last string.
            _ => to_yaml(&manifest.value, secrets(reveal)).map_err(|error| cx.too_long(error))?,
        };
        let start = text.len();
        text.push_str("---\n");
        if !manifest.source.is_empty() {
            text.push_str(&format!("# Source: {}\n", manifest.source));
        }
        text.push_str(&body);
        if folder.is_some() {
            let name = folder::name_of(manifest, &resolved.project, per);
            files.add(&name, text.get(start..).unwrap_or_default(), per == Per::Object);
            text.clear();
        }
    }
    let exit = match folder {
        Some(folder) => files.write(cx, folder)?,
        None => cx.print_data(&text, output, out),
    };
    note_hidden(cx, hidden);
    Ok(exit)
}

/// Manifests as one `List` object, which clusters accept like any other.
fn json_list(manifests: &[Manifest], secrets: Secrets) -> Result<String, WriteError> {
    let items = manifests.iter().map(|manifest| manifest.value.clone()).collect();
    let entries = [("apiVersion", Value::str("v1")), ("kind", Value::str("List")), ("items", Value::list(items))];
    let list = Value::map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect::<Map>());
    Ok(to_json(&list, secrets, JsonLayout::Pretty)? + "\n")
}

/// Notes that the printed manifests cannot be applied.
fn note_hidden(cx: &mut Context<'_, '_>, hidden: usize) {
    if hidden > 0 {
        let objects = if hidden == 1 { "1 object".to_owned() } else { format!("{hidden} objects") };
        let _ = writeln!(
            cx.invocation.stderr,
            "note: secrets of {objects} are hidden; add `--reveal` to print manifests that can be applied"
        );
    }
}
