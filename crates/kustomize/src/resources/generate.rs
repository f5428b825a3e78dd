//! Config maps and secrets that are made from files and texts, and the digests in their names.

use crate::edit::{set, text, visit};
use crate::index::Places;
use crate::kustomization::{Kustomization, Problem, spend, wrong};
use crate::noted;
use crate::resource::Resource;
use crate::rules;
use ecow::EcoString;
use purlin_syntax::Message;
use purlin_syntax::credentials::is_secret_variable;
use purlin_syntax::write::{JsonFlavor, json};
use purlin_syntax::{Diagnostic, Source};
use purlin_value::meter::steps_for;
use purlin_value::origin::Piece;
use purlin_value::rules::LIMIT_OUTPUT;
use purlin_value::weight::weight;
use purlin_value::{Map, Origin, Origins, Session, Value, encoding, path};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Bytes charged for each byte of an entry: the text, and its encoded and hashed forms.
const BYTES_PER_BYTE: u64 = 4;

/// Resources made by a rule, with its behavior.
pub fn make(
    session: &Session,
    kustomization: &Kustomization,
    rule: &Value,
    kind: &'static str,
) -> Result<(Resource, EcoString), Problem> {
    let options = kustomization.value.get("generatorOptions");
    let generator = Generator { session, kustomization, rule, kind, options };
    Ok((generator.make()?, generator.behavior()))
}

/// The same for an object under `generators`, which the options of the kustomization do not concern.
pub fn make_alone(
    session: &Session,
    kustomization: &Kustomization,
    rule: &Value,
    kind: &'static str,
) -> Result<(Resource, EcoString), Problem> {
    let generator = Generator { session, kustomization, rule, kind, options: None };
    Ok((generator.make()?, generator.behavior()))
}

/// The bytes of a file, and its text if it is one.
type Content = (Arc<[u8]>, Option<Arc<Source>>);

struct Generator<'g> {
    session: &'g Session,
    kustomization: &'g Kustomization,
    rule: &'g Value,
    kind: &'static str,
    /// The options of all generators.
    options: Option<&'g Value>,
}

impl Generator<'_> {
    fn wrong(&self, message: impl Into<Message>) -> Problem {
        wrong(self.session, self.rule, message).into()
    }

    fn make(&self) -> Result<Resource, Problem> {
        let mut metadata = Map::new();
        for key in ["name", "namespace"] {
            if let Some(written) = self.rule.get(key).filter(|_| !text(self.rule, &[key]).is_empty()) {
                metadata.insert(key.into(), written.clone());
            }
        }
        for key in ["labels", "annotations"] {
            let mut all = Map::new();
            for options in self.options() {
                let pairs = options.get(key).and_then(Value::as_map);
                all.extend(pairs.into_iter().flat_map(|map| map.iter()).map(|(k, v)| (k.clone(), v.clone())));
            }
            if !all.is_empty() {
                metadata.insert(key.into(), Value::map(all));
            }
        }
        let mut value = Value::map(Map::new()).with_origin(self.rule.origin);
        set(&mut value, "apiVersion", Value::str("v1"));
        set(&mut value, "kind", Value::str(self.kind));
        set(&mut value, "metadata", Value::map(metadata));
        let (data, binary) = self.data()?;
        if self.kind == "Secret" {
            let kind = Some(text(self.rule, &["type"])).filter(|kind| !kind.is_empty()).unwrap_or("Opaque");
            set(&mut value, "type", Value::str(kind));
        }
        if !data.is_empty() || self.kind == "Secret" {
            set(&mut value, "data", Value::map(data));
        }
        if !binary.is_empty() {
            set(&mut value, "binaryData", Value::map(binary));
        }
        if self.option("immutable") {
            set(&mut value, "immutable", Value::from(true));
        }
        let mut made = Resource::new(value, self.kustomization.folder.as_str().into());
        made.generated = true;
        made.hashed = !self.option("disableNameSuffixHash");
        Ok(made)
    }

    /// The options of all generators, then of this one.
    fn options(&self) -> impl Iterator<Item = &Value> {
        self.options.into_iter().chain(self.rule.get("options"))
    }

    fn option(&self, key: &str) -> bool {
        self.options().any(|options| options.get(key).and_then(Value::as_bool) == Some(true))
    }

    fn list(&self, key: &str) -> Vec<Value> {
        let value = self.rule.get(key);
        match value.and_then(Value::as_list) {
            Some(list) => list.to_vec(),
            None => value.into_iter().cloned().collect(),
        }
    }

    fn data(&self) -> Result<(Map, Map), Problem> {
        let mut entries = Entries { generator: self, data: Map::new(), binary: Map::new(), bytes: 0 };
        for item in self.list("envs").into_iter().chain(self.list("env")) {
            let (bytes, source) = self.file(&item, text(&item, &[]))?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let mut start = text.len() - text.trim_start_matches('\u{feff}').len();
            for whole in text.get(start..).unwrap_or_default().split_inclusive('\n') {
                let origin = self.origin(source.as_ref(), start..start + whole.trim_end().len(), &item);
                start += whole.len();
                let line = whole.trim_end_matches('\n').trim_end_matches('\r').trim_start();
                if line.is_empty() || line.starts_with('#') {
                    continue;
                }
                match line.split_once('=') {
                    Some((key, value)) => entries.put(key, value.as_bytes(), origin)?,
                    None => {
                        let value = self.session.world.env(line).unwrap_or_default();
                        entries.put(line, value.as_bytes(), self.session.origins.env(line))?;
                        if is_secret_variable(line) && !value.is_empty() {
                            entries.taint(line);
                        }
                    }
                }
            }
        }
        for item in self.list("files") {
            let written = text(&item, &[]);
            let (key, place) = written.split_once('=').unwrap_or((path::file_name(written), written));
            let (bytes, source) = self.file(&item, place)?;
            let origin = self.origin(source.as_ref(), 0..bytes.len(), &item);
            entries.put(key, &bytes, origin)?;
        }
        for item in self.list("literals") {
            let literal = text(&item, &[]);
            let Some((key, value)) = literal.split_once('=') else {
                return Err(self.wrong(format!("the literal `{literal}` is not of the form `KEY=VALUE`")));
            };
            let bare = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
            let value = bare('"').or_else(|| bare('\'')).unwrap_or(value);
            entries.put(key, value.as_bytes(), item.origin)?;
        }
        sort(&mut entries.data);
        sort(&mut entries.binary);
        Ok((entries.data, entries.binary))
    }

    /// The location of a part of a file, or of the file's name if it is not text.
    fn origin(&self, source: Option<&Arc<Source>>, range: std::ops::Range<usize>, item: &Value) -> Origin {
        match source {
            Some(source) => self.session.origins.file(source.span(range.start, range.end)),
            None => item.origin,
        }
    }

    /// The bytes of a file, and its text if it is one.
    fn file(&self, item: &Value, written: &str) -> Result<Content, Problem> {
        let full = self.kustomization.own_file(self.session, item, written)?;
        let bytes = self.session.load_bytes(&full).map_err(|error| {
            let mut diagnostic = self.session.refusal(&error, &full);
            diagnostic.span = self.session.origins.span(item.origin, &self.session.sources);
            Problem::Wrong(diagnostic)
        })?;
        let is_text = std::str::from_utf8(&bytes).is_ok();
        let source = if is_text { self.session.load_text(&full, &full).ok().map(|text| text.source) } else { None };
        Ok((bytes, source))
    }

    fn behavior(&self) -> EcoString {
        match text(self.rule, &["behavior"]) {
            known @ ("merge" | "replace") => known.into(),
            "" | "create" | "unspecified" => "create".into(),
            other => {
                let message = format!("unknown `behavior` `{other}`, which Kustomize takes for `create`");
                let mut diagnostic = Diagnostic::nowhere(&rules::KUSTOMIZATION, message).warning();
                diagnostic.span = self.session.origins.span(self.rule.origin, &self.session.sources);
                self.session.sink.push(diagnostic.hint("write `create`, `merge` or `replace`"));
                "create".into()
            }
        }
    }
}

/// Entries of a config map or secret that is being made.
struct Entries<'g> {
    generator: &'g Generator<'g>,
    data: Map,
    binary: Map,
    bytes: u64,
}

impl Entries<'_> {
    /// Marks the value of an entry as a secret.
    fn taint(&mut self, key: &str) {
        for data in [&mut self.data, &mut self.binary] {
            if let Some(value) = data.get_mut(key) {
                *value = value.clone().tainted_if(true);
            }
        }
    }

    /// Adds an entry. Its cost is charged before it is made: one file may be named many times.
    fn put(&mut self, key: &str, bytes: &[u8], origin: Origin) -> Result<(), Problem> {
        let Generator { session, kind, rule, .. } = self.generator;
        let length = bytes.len() as u64;
        self.bytes = self.bytes.saturating_add(length);
        let most = session.meter.most_output();
        let span = session.origins.span(rule.origin, &session.sources);
        if self.bytes > most {
            let message = format!("this {kind} has more than the {most} bytes allowed when it is written out");
            let limit = Diagnostic::nowhere(&LIMIT_OUTPUT, message).hint("raise it with `--limit output-size=BYTES`");
            return Err(Diagnostic { span, ..limit }.into());
        }
        session.meter.charge(steps_for(length), length.saturating_mul(BYTES_PER_BYTE)).map_err(|exceeded| {
            let limit = Diagnostic::nowhere(exceeded.rule(), exceeded.message()).hint(exceeded.hint());
            Diagnostic { span, ..limit }
        })?;
        let encoded = || Value::str(in_lines(&encoding::base64(bytes))).with_origin(origin);
        match std::str::from_utf8(bytes) {
            _ if *kind == "Secret" => self.data.insert(key.into(), encoded().tainted_if(true)),
            Ok(text) => self.data.insert(key.into(), Value::str(text).with_origin(origin)),
            Err(_) => self.binary.insert(key.into(), encoded()),
        };
        Ok(())
    }
}

/// Adds generated resources, or replaces existing ones, keeping their names and, if merged, their data. `names` maps
/// names, current and earlier, to resources.
pub fn place(
    session: &Session,
    (mut made, behavior): (Resource, EcoString),
    resources: &mut Vec<Resource>,
    names: &mut Places,
) -> Result<(), Problem> {
    let (gvk, id) = (made.gvk(), made.id());
    let wrong = |message: String| Problem::from(wrong(session, &made.value, message));
    let called_so = names.entry(id.name.clone()).or_default();
    let fits = |at: &&usize| resources.get(**at).is_some_and(|known| known.answers_to(&gvk, &id));
    let mut found = called_so.iter().filter(fits).copied();
    let (known, another) = (found.next(), found.next());
    if another.is_some() {
        return Err(wrong(format!("{} `{}` may mean several resources", gvk.kind, id.name)));
    }
    let Some(known) = known.and_then(|at| resources.get_mut(at)) else {
        if behavior != "create" {
            let message = format!("no {} `{}` to {behavior}", gvk.kind, id.name);
            return Err(Problem::Unmatched(crate::kustomization::wrong(session, &made.value, message)));
        }
        called_so.push(resources.len());
        noted::declare(session, &mut made);
        resources.push(made);
        return Ok(());
    };
    if behavior == "create" {
        let message = format!("{} `{}` exists already; set `behavior` to `merge` or `replace`", gvk.kind, id.name);
        return Err(wrong(message));
    }
    noted::uses(session, known, made.metadata("name"));
    spend(session, &made.value, 1 + weight(&known.value) / BYTES_JOINED, 0)?;
    for key in ["labels", "annotations"] {
        let old = known.value.get("metadata").and_then(|metadata| metadata.get(key)).cloned();
        visit(&mut made.value, &["metadata"], true, &mut |metadata| join(metadata, key, old.as_ref()));
    }
    if behavior == "merge" {
        for key in ["data", "binaryData"] {
            let old = known.value.get(key).cloned();
            join(&mut made.value, key, old.as_ref());
        }
    }
    made.set_metadata_like("name", known.metadata("name"));
    made.set_metadata_like("namespace", known.metadata("namespace").filter(|_| !known.namespace().is_empty()));
    made.hashed &= known.hashed;
    made.named_at = known.named_at;
    let old = std::mem::replace(known, made);
    if behavior == "merge" {
        known.origin = old.origin;
    }
    let (before, prefixes, suffixes) = (old.before, old.prefixes, old.suffixes);
    (known.before, known.prefixes, known.suffixes) = (before, prefixes, suffixes);
    (known.vars, known.generated, known.changes) = (old.vars, old.generated, old.changes);
    Ok(())
}

/// Bytes of existing and generated data that are joined in one step.
const BYTES_JOINED: u64 = 2;

/// Adds the entries of an older mapping that a mapping under a key does not have.
fn join(value: &mut Value, key: &str, old: Option<&Value>) {
    let Some(old) = old.and_then(Value::as_map).filter(|old| !old.is_empty()) else { return };
    let mut all = old.clone();
    let new = value.get(key).and_then(Value::as_map);
    all.extend(new.into_iter().flat_map(|map| map.iter()).map(|(key, value)| (key.clone(), value.clone())));
    sort(&mut all);
    set(value, key, Value::map(all));
}

/// Long encoded data, wrapped in lines as in the original; the last line ends, too.
fn in_lines(encoded: &str) -> String {
    const LINE: usize = 70;
    if encoded.len() < LINE {
        return encoded.to_owned();
    }
    let mut lines = String::with_capacity(encoded.len() + encoded.len() / LINE + 1);
    let mut rest = encoded;
    // All of it is ASCII.
    while let Some((line, behind)) = rest.split_at_checked(LINE) {
        lines.push_str(line);
        lines.push('\n');
        rest = behind;
    }
    if !rest.is_empty() {
        lines.push_str(rest);
        lines.push('\n');
    }
    lines
}

fn sort(map: &mut Map) {
    map.sort_unstable_keys();
}

/// Adds the digest of a resource's content to its name, which then depends on all of the content.
pub fn add_digest(origins: &Origins, resource: &mut Resource) {
    let name = format!("{}-{}", resource.name(), digest(resource));
    let old = resource.metadata("name").map_or(Origin::NONE, |name| name.origin);
    let contents = ["data", "binaryData", "stringData"].into_iter().filter_map(|key| resource.value.get(key));
    let contents = contents.filter_map(Value::as_map).flat_map(|map| map.values()).map(|value| value.origin);
    let pieces = [old].into_iter().chain(contents).map(Piece::whole).collect();
    let name = Value::str(name).with_origin(origins.derived("digest of the content", None, pieces));
    resource.remember();
    resource.set_metadata_like("name", Some(&name));
}

/// The digest of a resource's content that its name gets.
fn digest(resource: &Resource) -> String {
    let quoted = |text: &str| json::quote(text, JsonFlavor::Go);
    let section = |key: &str| match resource.value.get(key).and_then(Value::as_map) {
        None => quoted(""),
        Some(map) => {
            let mut pairs: Vec<(&str, &str)> =
                map.iter().map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default())).collect();
            pairs.sort_unstable();
            let pairs: Vec<String> =
                pairs.iter().map(|(key, value)| format!("{}:{}", quoted(key), quoted(value))).collect();
            format!("{{{}}}", pairs.join(","))
        }
    };
    let optional = |key: &str| match resource.value.get(key) {
        Some(_) => format!("{}:{},", quoted(key), section(key)),
        None => String::new(),
    };
    // The keys of the object in order, as written by the original.
    // The original reads the name from a field that is never set.
    let (data, kind, name) = (section("data"), quoted(resource.kind()), quoted(""));
    let encoded = match resource.kind() {
        "Secret" => {
            let strings = match resource.value.get("stringData") {
                Some(_) => format!(",\"stringData\":{}", section("stringData")),
                None => String::new(),
            };
            let class = quoted(text(&resource.value, &["type"]));
            format!("{{\"data\":{data},\"kind\":{kind},\"name\":{name}{strings},\"type\":{class}}}")
        }
        _ => format!("{{{}\"data\":{data},\"kind\":{kind},\"name\":{name}}}", optional("binaryData")),
    };
    let hex = Sha256::digest(encoded).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    // Digits that could form words are replaced.
    let letter = |c: char| match c {
        '0' => 'g',
        '1' => 'h',
        '3' => 'k',
        'a' => 'm',
        'e' => 't',
        other => other,
    };
    hex.chars().take(10).map(letter).collect()
}
