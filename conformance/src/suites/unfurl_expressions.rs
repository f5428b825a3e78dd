//! Unfurl's expressions: a tree of instances, an expression, a query mode; and vault vectors.

use crate::{Context, Report, Suite, Verdict};
use purlin_cli::disk::{DiskSettings, DiskWorld, Permissions};
use purlin_syntax::Flavor;
use purlin_unfurl::analyze;
use purlin_unfurl::ensemble::read;
use purlin_unfurl::error::Result as Evaluated;
use purlin_unfurl::eval::form::{self, Form};
use purlin_unfurl::eval::frame::{Mode, Variable};
use purlin_unfurl::eval::path::as_one;
use purlin_unfurl::eval::special::key_of;
use purlin_unfurl::eval::{Ctx, Engine, Settings};
use purlin_unfurl::jinja::moment;
use purlin_unfurl::jinja::object::Object;
use purlin_unfurl::query::{self, Operand, Query, Segment, Start};
use purlin_unfurl::tree::{Attribute, Node, NodeId, NodeKind, Priority, State, Status, Tree};
use purlin_unfurl::val::{Data, MapKey, Val};
use purlin_unfurl::{convert, jinja, vault};
use purlin_value::world::Moment;
use purlin_value::{MemoryWorld, Session, World};
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The suite.
pub const SUITE: Suite = Suite { name: "unfurl-expressions", run };

fn run(context: &Context) -> Report {
    let cases = context.json_lines("cases.jsonl");
    let mut report = context.run_cases(&cases, |case| text(case, "id").to_owned(), |case| judge(context, case));
    let vectors: Vec<Json> =
        context.text("vault_vectors.json").and_then(|t| serde_json::from_str(&t).ok()).unwrap_or_default();
    let numbered: Vec<(usize, Json)> = vectors.into_iter().enumerate().collect();
    let vaults = context.run_cases(&numbered, |(at, _)| format!("vault.{at:02}"), |(_, vector)| judge_vault(vector));
    report.cases.extend(vaults.cases);
    report
}

fn text<'c>(case: &'c Json, key: &str) -> &'c str {
    case.get(key).and_then(Json::as_str).unwrap_or("")
}

/// A vector is decrypted, and our own encryption is decrypted again.
fn judge_vault(vector: &Json) -> Verdict {
    if vector.get("vaulttext").is_none() {
        return judge_tagged(vector);
    }
    let plain = match vector.get("plaintext") {
        Some(Json::String(text)) => text.as_bytes().to_vec(),
        Some(other) => decode_base64(text(other, "$bytes")),
        None => Vec::new(),
    };
    let secret = vault::Secret::new(text(vector, "vault_id"), text(vector, "password"));
    let opened = vault::decrypt(text(vector, "vaulttext"), std::slice::from_ref(&secret));
    if opened.as_ref().map(|opened| opened.as_slice()) != Ok(plain.as_slice()) {
        return Verdict::Failed("the recorded text is not opened".to_owned());
    }
    let ours = vault::encrypt(&plain, &secret, [7; 32]);
    if ours.lines().next() != Some(text(vector, "header")) {
        return Verdict::Failed(format!("another header: {:?}", ours.lines().next()));
    }
    let again = vault::decrypt(&ours, &[secret]);
    if again.as_ref().map(|opened| opened.as_slice()) == Ok(plain.as_slice()) {
        Verdict::Passed
    } else {
        Verdict::Failed("our own text is not opened".to_owned())
    }
}

/// Secrets of each kind in YAML: decrypted from the recorded text, and written as in the recorded text.
fn judge_tagged(vector: &Json) -> Verdict {
    let session = Session::new(Arc::new(MemoryWorld::new()));
    let nobody = Tree::new(Node::new("root", NodeKind::Root));
    let secrets = [
        ("s", Val::str("a")),
        ("d", Val::record([("b", Val::int(1))])),
        ("l", Val::list(vec![Val::int(1)])),
        ("b", Data::Bytes([0xFFu8, 0x00].as_slice().into()).into()),
    ];
    let all = |count: usize| Val::record(secrets.iter().take(count).map(|(key, value)| (*key, value.clone().taint())));
    let wrong = |ours: String| Verdict::Failed(format!("ours:\n{ours}"));
    if let Some(wanted) = vector.get("yaml_no_vault").and_then(Json::as_str) {
        let ours = read::write(&all(4), &nobody, &[], [7; 32]).unwrap_or_default();
        return if ours == wanted { Verdict::Passed } else { wrong(ours) };
    }
    if let Some(wanted) = vector.get("yaml_cleartext").and_then(Json::as_str) {
        let clear = vault::Secret::new("cleartext", "");
        let ours = read::write(&all(3), &nobody, &[clear], [7; 32]).unwrap_or_default();
        return if ours == wanted { Verdict::Passed } else { wrong(ours) };
    }
    let password = [vault::Secret::new("default", text(vector, "password"))];
    let open = |text: &str| {
        let tree = session.parse_yaml(session.sources.insert("vault", text), Flavor::Core);
        let mut reader = read::Reader::new(Some(&password));
        tree.root().map(|root| encode(&reader.read(root), &nobody))
    };
    let recorded = open(text(vector, "yaml_encrypted")).unwrap_or(Json::Null);
    let opened = |key: &str| recorded.get(key).and_then(|value| value.get("$sensitive"));
    let kinds = opened("s").is_some_and(Json::is_string)
        && opened("d").is_some_and(Json::is_object)
        && opened("l").is_some_and(Json::is_array)
        && opened("b").is_some_and(|bytes| bytes.get("$bytes").is_some());
    if !kinds {
        return wrong(recorded.to_string());
    }
    let ours = read::write(&all(4), &nobody, &password, [7; 32]).unwrap_or_default();
    if open(&ours) == Some(encode(&all(4), &nobody)) { Verdict::Passed } else { wrong(ours) }
}

fn decode_base64(text: &str) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::new();
    let (mut buffer, mut bits) = (0u32, 0);
    for byte in text.bytes().filter(|byte| *byte != b'=') {
        let value = LETTERS.iter().position(|letter| *letter == byte).unwrap_or(0);
        buffer = (buffer << 6) | u32::try_from(value).unwrap_or(0);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push(u8::try_from((buffer >> bits) & 0xff).unwrap_or(0));
        }
    }
    out
}

fn encode_base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, byte| (word << 8) | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let letter = LETTERS.get(((word >> (18 - 6 * at)) & 63) as usize).copied().unwrap_or(b'=');
            out.push(if at <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

fn judge(context: &Context, case: &Json) -> Verdict {
    let answer = answer(case);
    let ours = match &answer {
        Ok(value) => value.to_string(),
        Err(message) => format!("error: {message}"),
    };
    let wanted = |of: &Json| match of.get("expect") {
        Some(expect) => expect.to_string(),
        None => format!("error: {}", text(of, "error")),
    };
    let agrees = agrees(case, &answer) || case.get("head").is_some_and(|head| agrees(head, &answer));
    context.judge(text(case, "id"), agrees, &ours, || {
        let head = case.get("head").map(|head| format!(" or {}", wanted(head))).unwrap_or_default();
        let expr = case.get("expr").unwrap_or(&Json::Null);
        format!("{} {expr}\n  wanted: {}{head}\n  ours:   {ours}", text(case, "mode"), wanted(case))
    })
}

fn agrees(recorded: &Json, answer: &Result<Json, String>) -> bool {
    match (recorded.get("expect"), answer) {
        (Some(expect), Ok(ours)) => same(expect, ours),
        (None, Err(_)) => recorded.get("error").is_some(),
        _ => false,
    }
}

/// Equality that ignores the order of maps; a port specification is a map like any other for us.
pub fn same(wanted: &Json, ours: &Json) -> bool {
    if let Some(inner) = wanted.get("$portspec") {
        return same(inner, ours);
    }
    match (wanted, ours) {
        (Json::Number(a), Json::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a == b,
            (None, None) => a.as_f64() == b.as_f64(),
            _ => false,
        },
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => wanted == ours,
    }
}

/// A folder on disk for a case that has files; removed afterwards.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The folder of a case: with its files, or empty where the filter `which` looks for a program of this machine.
fn folder_of(case: &Json) -> Option<Folder> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let asks_for_program = case.get("expr").is_some_and(|expr| expr.to_string().contains("which"));
    let files = case.get("files").and_then(Json::as_object);
    if files.is_none() && !asks_for_program {
        return None;
    }
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("purlin-unfurl-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).ok()?;
    let folder = Folder(folder.canonicalize().ok()?);
    for (name, contents) in files.into_iter().flatten() {
        let path = folder.0.join(name);
        std::fs::create_dir_all(path.parent()?).ok()?;
        let bytes = match contents {
            Json::String(text) => text.clone().into_bytes(),
            other => decode_base64(text(other, "$bytes")),
        };
        std::fs::write(path, bytes).ok()?;
    }
    Some(folder)
}

fn environment(case: &Json) -> Vec<(String, String)> {
    let own = case.get("env").and_then(Json::as_object);
    let own = own.into_iter().flatten().map(|(name, value)| (name.clone(), value.as_str().unwrap_or("").to_owned()));
    [("PATH".to_owned(), std::env::var("PATH").unwrap_or_default())].into_iter().chain(own).collect()
}

fn world_of(case: &Json, folder: Option<&Folder>) -> Option<Arc<dyn World>> {
    let environment = environment(case);
    let Some(folder) = folder else {
        let world = environment.iter().fold(MemoryWorld::new(), |world, (name, value)| world.variable(name, value));
        return Some(Arc::new(world));
    };
    let root = folder.0.canonicalize().ok()?;
    let settings = DiskSettings {
        cwd: root.clone(),
        root,
        project_env: environment.iter().cloned().collect(),
        env: environment.into_iter().collect(),
        permissions: Permissions { exec: true, ..Permissions::default() },
        now: Moment(1_700_000_000_000_000_000),
        seed: purlin_cli::seed::SeedSource::default(),
        max_file: 1 << 24,
    };
    Some(Arc::new(DiskWorld::new(settings)))
}

/// A JSON value as written, with the path of the case's folder filled in.
fn raw(json: &Json, base: &str) -> Val {
    match json {
        Json::Null => Val::null(),
        Json::Bool(b) => Val::bool(*b),
        Json::Number(n) => n.as_i64().map_or_else(|| Val::float(n.as_f64().unwrap_or(0.0)), Val::int),
        Json::String(text) => Val::str(text.replace("<BASE>", base)),
        Json::Array(items) => Val::list(items.iter().map(|item| raw(item, base)).collect()),
        Json::Object(entries) => Val::map(
            entries
                .iter()
                .map(|(key, item)| (MapKey::Str(key.replace("<BASE>", base).into()), raw(item, base)))
                .collect(),
        ),
    }
}

fn node_of(json: &Json, base: &str) -> Node {
    let mut node = Node::new(text(json, "name"), NodeKind::Node);
    for (name, value) in json.get("attributes").and_then(Json::as_object).into_iter().flatten() {
        node.attributes.insert(name.as_str().into(), Attribute::new(raw(value, base)));
    }
    node.local_status = Status::parse(text(json, "status"));
    node.state = State::parse(text(json, "state"));
    node.priority = Priority::parse(text(json, "priority")).unwrap_or(Priority::Required);
    node
}

fn grow(tree: &mut Tree, parent: NodeId, json: &Json, base: &str) {
    for child in json.get("instances").and_then(Json::as_array).into_iter().flatten() {
        let mut node = node_of(child, base);
        node.parent = Some(parent);
        let id = tree.add(node);
        feature(tree, id);
        grow(tree, id, child, base);
    }
}

/// Every node has the capability of its root type.
fn feature(tree: &mut Tree, id: NodeId) {
    let mut capability = Node::new("feature", NodeKind::Capability);
    capability.parent = Some(id);
    let capability = tree.add(capability);
    if let Some(node) = tree.node_mut(id) {
        node.capabilities.push(capability);
    }
}

fn answer(case: &Json) -> Result<Json, String> {
    let folder = folder_of(case);
    if case.get("files").is_some() && folder.is_none() {
        return Err("the case's files cannot be written".to_owned());
    }
    let world = world_of(case, folder.as_ref()).ok_or("no world")?;
    let base = folder.as_ref().map(|folder| folder.0.to_string_lossy().into_owned()).unwrap_or_default();
    let session = Session::new(world);
    let resources = case.get("resources").unwrap_or(&Json::Null);
    let mut tree = Tree::new(node_of(resources, &base));
    let root = tree.root();
    feature(&mut tree, root);
    grow(&mut tree, root, resources, &base);
    let vault = case.get("vault").and_then(Json::as_str).map(|password| vault::Secret::new("default", password));
    let settings = Settings { vault: vault.into_iter().collect(), ..Settings::default() };
    let engine = Engine::new(&tree, &session, settings);
    let current = current(&engine, text(case, "current")).ok_or("the current instance is not there")?;
    let vars = case.get("vars").and_then(Json::as_object).into_iter().flatten();
    let variables = vars.map(|(name, value)| Variable::written(name.as_str(), raw(value, &base))).collect();
    let flag = |name: &str| case.get(name).and_then(Json::as_bool);
    let mode = Mode { strict: flag("strict").unwrap_or(true), safe: flag("safe").unwrap_or(false), ..Mode::default() };
    let ctx = engine.context_with(current, variables, mode);
    let expr = raw(case.get("expr").unwrap_or(&Json::Null), &base);
    let asked = ask(&ctx, case, &expr);
    let shown = asked.map_err(|error| error.message.clone())?;
    if base.is_empty() { Ok(shown) } else { Ok(replaced(shown, &base)) }
}

fn replaced(json: Json, base: &str) -> Json {
    match json {
        Json::String(text) => Json::String(text.replace(base, "<BASE>")),
        Json::Array(items) => items.into_iter().map(|item| replaced(item, base)).collect(),
        Json::Object(entries) => Json::Object(
            entries.into_iter().map(|(key, item)| (key.replace(base, "<BASE>"), replaced(item, base))).collect(),
        ),
        other => other,
    }
}

fn current(engine: &Engine<'_>, path: &str) -> Option<NodeId> {
    let root = engine.tree.root();
    if path == "." || path.is_empty() {
        return Some(root);
    }
    match as_one(engine.context(root).query(path).ok()?).data {
        Data::Node(id) => Some(id),
        _ => None,
    }
}

fn ask(ctx: &Ctx<'_, '_>, case: &Json, expr: &Val) -> Evaluated<Json> {
    let shown = |value: Val| ctx.engine.force(value).map(|value| encode(&value, ctx.engine.tree));
    match text(case, "mode") {
        "resolve" => form::expression(ctx, expr)?.into_iter().map(shown).collect(),
        "resolve_one" => match expr.as_map().and_then(Form::of) {
            Some(form) => shown(form::one(ctx, &form)?),
            None => shown(as_one(form::expression(ctx, expr)?)),
        },
        "result" => form::expression(ctx, expr)?.into_iter().map(|value| result(ctx, value)).collect(),
        "map_value" => shown(ctx.map_value(expr)?),
        "template" => shown(jinja::render(ctx, expr.as_str().unwrap_or(""))?),
        "is_ref" => Ok(Json::Bool(expr.as_map().is_some_and(|entries| Form::of(entries).is_some()))),
        "attributes" => shown(ctx.engine.all_attributes(ctx.instance())?),
        "serialize" => {
            let redact = case.get("options").and_then(|o| o.get("redact")).and_then(Json::as_bool).unwrap_or(false);
            Ok(serialize(&ctx.map_value(expr)?, ctx.engine.tree, redact))
        }
        "analyze" => Ok(json!(analyze::keys(expr))),
        "parse" => Ok(parsed(&*ctx.engine.query(expr.as_str().unwrap_or(""))?)),
        other => Ok(Json::String(format!("there is no mode {other}"))),
    }
}

fn result(ctx: &Ctx<'_, '_>, value: Val) -> Evaluated<Json> {
    let tree = ctx.engine.tree;
    let shown = encode(&ctx.engine.force(value.clone())?, tree);
    Ok(match &value.data {
        Data::External(external) => json!({"value": shown, "external": encode(&external.as_expression(), tree)}),
        _ => json!({"value": shown}),
    })
}

fn serialize(value: &Val, tree: &Tree, redact: bool) -> Json {
    if value.is_tainted() && redact {
        return json!("<<REDACTED>>");
    }
    let shown = match &value.data {
        Data::Node(id) => return json!({"ref": key_of(tree, *id).as_str()}),
        Data::List(items) => items.iter().map(|item| serialize(item, tree, redact)).collect(),
        Data::Map(entries) => Json::Object(
            entries
                .iter()
                .map(|(key, item)| (convert::key_text(key).to_string(), serialize(item, tree, redact)))
                .collect(),
        ),
        _ => return encode(value, tree),
    };
    if value.is_tainted() { json!({"$sensitive": shown}) } else { shown }
}

/// A value in the form of recorded answers.
pub fn encode(value: &Val, tree: &Tree) -> Json {
    let shown = match &value.data {
        Data::Null => return Json::Null,
        Data::Bool(b) => json!(b),
        Data::Int(n) => json!(n),
        Data::Float(x) if !x.is_finite() => json!({"$float": purlin_unfurl::python::float_repr(*x)}),
        Data::Float(x) => json!(x),
        Data::Str(text) => json!(text.as_str()),
        Data::Bytes(bytes) => json!({"$bytes": encode_base64(bytes)}),
        Data::List(items) => items.iter().map(|item| encode(item, tree)).collect(),
        Data::Map(entries) if entries.keys().all(|key| key.as_str().is_some()) => Json::Object(
            entries.iter().map(|(key, item)| (convert::key_text(key).to_string(), encode(item, tree))).collect(),
        ),
        Data::Map(entries) => {
            let pairs = entries.iter().map(|(key, item)| json!([encode(&key.to_val(), tree), encode(item, tree)]));
            json!({"$map": pairs.collect::<Vec<_>>()})
        }
        Data::Node(id) => json!({"$instance": key_of(tree, *id).as_str()}),
        Data::Status(status) => json!({"$enum": format!("Status.{}", status.name())}),
        Data::State(state) => json!({"$enum": format!("NodeState.{}", state.name())}),
        Data::Priority(priority) => json!({"$enum": format!("Priority.{}", priority.name())}),
        Data::Template(id) => json!({"$template": tree.node(*id).template.as_str()}),
        Data::External(external) => encode(&external.value, tree),
        Data::Object(object) => match (&**object, moment::text(object)) {
            (Object::Moment(_), Some(text)) => json!({"$datetime": text.replacen(' ', "T", 1)}),
            _ => json!({"$object": moment::type_name(object).unwrap_or("a function")}),
        },
        _ => json!({"$object": value.kind()}),
    };
    let already = shown.get("$sensitive").is_some();
    if value.is_tainted() && !already { json!({"$sensitive": shown}) } else { shown }
}

fn parsed(query: &Query) -> Json {
    let mut segments: Vec<Json> = query.segments.iter().map(segment).collect();
    match &query.start {
        Start::Ancestors => {
            if let Some(first) = segments.first_mut() {
                first["modifier"] = json!("?");
            }
            segments.insert(0, json!({"key": ".ancestors", "test": [], "modifier": "", "filters": []}));
        }
        Start::All => segments.insert(0, json!({"key": "", "test": [], "modifier": "", "filters": []})),
        Start::Current | Start::Variable(_) => {}
    }
    Json::Array(segments)
}

fn segment(segment: &Segment) -> Json {
    let key = match &segment.key {
        query::Key::Index(index) => json!(index),
        other => json!(analyze::key_text(other)),
    };
    let test = segment.test.as_ref().map(|test| {
        let operand = match &test.operand {
            Operand::Text(text) => text.to_string(),
            Operand::Variable(name) => format!("${name}"),
        };
        json!([if test.negated { "ne" } else { "eq" }, operand])
    });
    let filters: Vec<Json> =
        segment.filters.iter().map(|filter| filter.segments.iter().map(self::segment).collect()).collect();
    json!({"key": key, "test": test.unwrap_or_else(|| json!([])), "modifier": if segment.first { "?" } else { "" }, "filters": filters})
}
