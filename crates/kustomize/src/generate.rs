//! Config maps and secrets that are made from files and texts, and the digests in their names.

use crate::edit::{set, text, visit};
use crate::kustomization::{Kustomization, Problem};
use crate::resource::Resource;
use crate::rules;
use ecow::EcoString;
use purlin_syntax::Diagnostic;
use purlin_syntax::write::{JsonFlavor, json};
use purlin_value::{Map, Session, Value, encoding, path};
use sha2::{Digest, Sha256};

/// What a rule makes, with its behavior.
pub fn make(
    session: &Session,
    kustomization: &Kustomization,
    rule: &Value,
    kind: &'static str,
) -> Result<(Resource, EcoString), Problem> {
    let generator = Generator { session, kustomization, rule, kind };
    Ok((generator.make()?, generator.behavior()))
}

struct Generator<'g> {
    session: &'g Session,
    kustomization: &'g Kustomization,
    rule: &'g Value,
    kind: &'static str,
}

impl Generator<'_> {
    fn wrong(&self, message: String) -> Problem {
        let mut diagnostic = Diagnostic::nowhere(&rules::KUSTOMIZATION, message);
        diagnostic.span = self.session.origins.span(self.rule.origin, &self.session.sources);
        Problem::Wrong(diagnostic)
    }

    fn make(&self) -> Result<Resource, Problem> {
        let name = text(self.rule, &["name"]);
        let mut metadata = Map::new();
        metadata.insert("name".into(), Value::str(name).with_origin(self.rule.origin));
        if !text(self.rule, &["namespace"]).is_empty() {
            metadata.insert("namespace".into(), Value::str(text(self.rule, &["namespace"])));
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
        self.kustomization.value.get("generatorOptions").into_iter().chain(self.rule.get("options"))
    }

    fn option(&self, key: &str) -> bool {
        self.options().any(|options| options.get(key).and_then(Value::as_bool) == Some(true))
    }

    fn list(&self, key: &str) -> Vec<String> {
        let value = self.rule.get(key);
        match value.and_then(Value::as_list) {
            Some(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            None => value.and_then(Value::as_str).into_iter().map(str::to_owned).collect(),
        }
    }

    fn data(&self) -> Result<(Map, Map), Problem> {
        let (mut data, mut binary) = (Map::new(), Map::new());
        let mut put = |key: &str, bytes: &[u8]| {
            let encoded = || Value::str(in_lines(&encoding::base64(bytes))).with_origin(self.rule.origin);
            match std::str::from_utf8(bytes) {
                _ if self.kind == "Secret" => data.insert(key.into(), encoded().tainted_if(true)),
                Ok(text) => data.insert(key.into(), Value::str(text).with_origin(self.rule.origin)),
                Err(_) => binary.insert(key.into(), encoded()),
            };
        };
        for file in self.list("envs").into_iter().chain(self.list("env")) {
            let text = String::from_utf8_lossy(&self.file(&file)?).into_owned();
            for line in text.trim_start_matches('\u{feff}').lines().map(str::trim_start) {
                if line.is_empty() || line.starts_with('#') {
                    continue;
                }
                match line.split_once('=') {
                    Some((key, value)) => put(key, value.as_bytes()),
                    None => put(line, self.session.world.env(line).unwrap_or_default().as_bytes()),
                }
            }
        }
        for file in self.list("files") {
            let (key, place) = match file.split_once('=') {
                Some((key, place)) => (key.to_owned(), place.to_owned()),
                None => (path::file_name(&file).to_owned(), file.clone()),
            };
            put(&key, &self.file(&place)?);
        }
        for literal in self.list("literals") {
            let Some((key, value)) = literal.split_once('=') else {
                return Err(self.wrong(format!("the literal `{literal}` is not of the form `KEY=VALUE`")));
            };
            let bare = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
            put(key, bare('"').or_else(|| bare('\'')).unwrap_or(value).as_bytes());
        }
        sort(&mut data);
        sort(&mut binary);
        Ok((data, binary))
    }

    fn file(&self, written: &str) -> Result<std::sync::Arc<[u8]>, Problem> {
        let full = self.kustomization.own_file(self.session, self.rule, written)?;
        self.session.world.read(&full).map_err(|error| {
            let mut diagnostic = error.diagnostic(&full);
            diagnostic.span = self.session.origins.span(self.rule.origin, &self.session.sources);
            Problem::Wrong(diagnostic)
        })
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

/// Adds what was made, or puts it in the place of what is there, with that one's names and, merged, its data.
pub fn place(
    session: &Session,
    (mut made, behavior): (Resource, EcoString),
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    let (gvk, id) = (made.gvk(), made.id());
    let wrong = |message: String| {
        let mut diagnostic = Diagnostic::nowhere(&rules::KUSTOMIZATION, message);
        diagnostic.span = session.origins.span(made.value.origin, &session.sources);
        Problem::Wrong(diagnostic)
    };
    let mut found = resources.iter_mut().filter(|known| known.answers_to(&gvk, &id));
    let (known, another) = (found.next(), found.next());
    if another.is_some() {
        return Err(wrong(format!("{} `{}` may mean several resources", gvk.kind, id.name)));
    }
    let Some(known) = known else {
        if behavior != "create" {
            return Err(wrong(format!("there is no {} `{}` to {behavior}", gvk.kind, id.name)));
        }
        resources.push(made);
        return Ok(());
    };
    if behavior == "create" {
        let message = format!("{} `{}` exists already; set `behavior` to `merge` or `replace`", gvk.kind, id.name);
        return Err(wrong(message));
    }
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
    made.set_metadata("name", known.name());
    if !known.namespace().is_empty() {
        made.set_metadata("namespace", known.namespace());
    }
    made.hashed &= known.hashed;
    let old = std::mem::replace(known, made);
    if behavior == "merge" {
        known.origin = old.origin;
    }
    let (before, prefixes, suffixes) = (old.before, old.prefixes, old.suffixes);
    (known.before, known.prefixes, known.suffixes) = (before, prefixes, suffixes);
    (known.vars, known.generated) = (old.vars, old.generated);
    Ok(())
}

/// Adds the entries of an older mapping that a mapping under a key does not have.
fn join(value: &mut Value, key: &str, old: Option<&Value>) {
    let Some(old) = old.and_then(Value::as_map).filter(|old| !old.is_empty()) else { return };
    let mut all = old.clone();
    let new = value.get(key).and_then(Value::as_map);
    all.extend(new.into_iter().flat_map(|map| map.iter()).map(|(key, value)| (key.clone(), value.clone())));
    sort(&mut all);
    set(value, key, Value::map(all));
}

/// What is encoded and too long for one line, in lines as the original has them; the last one ends, too.
fn in_lines(encoded: &str) -> String {
    const LINE: usize = 70;
    if encoded.len() < LINE {
        return encoded.to_owned();
    }
    // All of it is ASCII.
    let lines = encoded.as_bytes().chunks(LINE).map(|line| String::from_utf8_lossy(line) + "\n");
    lines.collect()
}

fn sort(map: &mut Map) {
    map.sort_unstable_keys();
}

/// The digest of a resource's content that its name gets.
pub fn digest(resource: &Resource) -> String {
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
    // The keys of the object in their order, as the original writes it.
    // The original looks for the name where it never is.
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
