//! Checksums of resources, as annotations of others: their inputs, and the reasons why one cannot be computed.

use std::collections::{BTreeMap, HashMap};

use purlin_gotmpl::{Data, ExecError, Fault, Machine, Str, Val};
use purlin_value::encoding::hex;
use purlin_value::{Data as ValueData, Origin, Piece, Session, Value};
use sha2::{Digest, Sha256};

use super::build::{Kind, Workshop, at, entries, text};
use super::defaults;
use super::object_meta::MetaRequest;
use crate::context::origin_number;

/// The origin of the checksum for an entry of `checksums`, by the origin of the entry.
pub type Computed = HashMap<u32, u32>;

impl Workshop {
    /// The annotations for `metadata.checksums`.
    pub fn checksums(&self, m: &mut Machine<'_>, request: &MetaRequest<'_>) -> Result<BTreeMap<Str, Val>, Fault> {
        let asked = |of: &Val, m: &Machine<'_>| at(&m.heap, of, &["metadata", "checksums"]);
        let (default, own) = (request.defaults.and_then(|defaults| asked(defaults, m)), asked(request.definition, m));
        let wanted = match (default, own) {
            (Some(default), Some(own)) => Some(defaults::over(&mut m.heap, &default, &own)),
            (default, own) => own.or(default),
        };
        let mut annotations = BTreeMap::new();
        for (kind, names) in entries(&m.heap, wanted.as_ref()) {
            let kind = kind.text().into_owned();
            if !self.kinds.contains_key(&kind) {
                return Err(self.stop(names.origin, format!("unknown kind `{kind}` in `checksums`")));
            }
            match &names.data {
                Data::List(list) => {
                    for name in m.heap.items(*list).to_vec() {
                        let digest = self.digest_one(m, &kind, &name)?;
                        annotations.insert(Str::from(format!("checksum-{kind}-{}", text(&name))), digest);
                    }
                }
                Data::Str(star) if star.bytes() == b"*" => {
                    let digest = self.digest_kind(m, &kind)?.at(self.origin_of(&names));
                    annotations.insert(Str::from(format!("checksum-{kind}")), digest);
                }
                Data::Nil => {}
                _ => {
                    let message = format!("`checksums.{kind}`: expected a list of names, or \"*\" for all");
                    return Err(self.stop(names.origin, message));
                }
            }
        }
        Ok(annotations)
    }

    /// Origin of the checksum for an entry.
    fn origin_of(&self, entry: &Val) -> u32 {
        self.computed.get(&entry.origin).copied().unwrap_or(entry.origin)
    }

    fn digest_one(&self, m: &mut Machine<'_>, kind: &str, name: &Val) -> Result<Val, Fault> {
        let wanted = text(name);
        if !self.found.get(kind).is_some_and(|found| found.contains_key(&wanted)) {
            let known = self.found.get(kind).into_iter().flat_map(|found| found.keys()).map(String::as_str);
            let hint = purlin_syntax::suggest::did_you_mean(&wanted, known).map(|hint| format!("; {hint}"));
            let message = format!("`checksums` names `{kind}/{wanted}`, which is not rendered");
            return Err(self.stop(name.origin, message + &hint.unwrap_or_default()));
        }
        let built = self.build(m, kind, &wanted, name.origin)?;
        if let Some(hole) = m.heap.holes.within(built.bytes()) {
            return Ok(Val::str(text(&m.heap.hole(&hole))));
        }
        let digest = hex(&Sha256::digest([b"\n", built.bytes()].concat()));
        Ok(Val::str(digest).at(self.origin_of(name)).taint(is_secret(&built)))
    }

    fn digest_kind(&self, m: &mut Machine<'_>, kind: &str) -> Result<Val, Fault> {
        if let Some((digest, secret)) = self.digests.borrow().get(kind) {
            return Ok(Val::str(digest.as_str()).taint(*secret));
        }
        let found = self.found.get(kind);
        let names: Vec<String> = found.map(|resources| resources.keys().cloned().collect()).unwrap_or_default();
        let (mut hash, mut secret) = (Sha256::new(), false);
        for name in names {
            let built = self.build(m, kind, &name, 0)?;
            if let Some(hole) = m.heap.holes.within(built.bytes()) {
                return Ok(Val::str(text(&m.heap.hole(&hole))));
            }
            secret |= is_secret(&built);
            hash.update(b"---\n");
            hash.update(built.bytes());
            hash.update(b"\n...\n");
        }
        let digest = hex(&hash.finalize());
        self.digests.borrow_mut().insert(kind.to_owned(), (digest.clone(), secret));
        Ok(Val::str(digest).taint(secret))
    }

    /// A fault of the resource being built, about a value.
    pub fn stop(&self, origin: u32, message: String) -> Fault {
        let resource = self.open.borrow().last().map(|(kind, name)| format!("{kind}/{name}")).unwrap_or_default();
        Fault::Inner(Box::new(stopped(&resource, Fault::Stop(message), origin)))
    }

    /// A fault for circular checksums. Whichever was requested first, it names the cycle from its least member on, so
    /// that all threads report the same.
    pub fn cycle(&self, again: &(String, String), origin: u32) -> Fault {
        let open = self.open.borrow();
        let start = open.iter().position(|one| one == again).unwrap_or(0);
        let mut members = open.get(start..).unwrap_or_default().to_vec();
        let least = (0..members.len()).min_by_key(|at| members.get(*at)).unwrap_or(0);
        members.rotate_left(least);
        let Some(first) = members.first().cloned() else { return Fault::new("circular checksums") };
        let path: Vec<String> = members.iter().chain([&first]).map(|(kind, name)| format!("{kind}/{name}")).collect();
        let message = format!("circular checksums: {}", path.join(" → "));
        let definition = self.found.get(&first.0).and_then(|found| found.get(&first.1));
        let origin = definition.map_or(origin, |found| found.definition.origin);
        Fault::Inner(Box::new(stopped(path.first().map_or("", String::as_str), Fault::Stop(message), origin)))
    }
}

fn is_secret(yaml: &Str) -> bool {
    yaml.pieces().is_some_and(|pieces| pieces.iter().any(|piece| piece.tainted))
}

/// A fault that happened outside of all templates.
pub fn stopped(place: &str, fault: Fault, origin: u32) -> ExecError {
    ExecError {
        file: place.to_owned(),
        line: 0,
        column: 0,
        offset: 0,
        template: place.to_owned(),
        node: String::new(),
        function: None,
        fault,
        origin,
    }
}

/// Records the inputs of each checksum in the values.
pub fn computed(session: &Session, values: &Value, kinds: &[Kind]) -> Computed {
    let mut writer = Writer { session, values, kinds, of_kinds: HashMap::new(), found: Computed::new() };
    let mut open = vec![values];
    while let Some(value) = open.pop() {
        match &value.data {
            ValueData::List(items) => open.extend(items.iter()),
            ValueData::Map(map) => {
                let checksums = map.get("checksums").and_then(Value::as_map);
                for (kind, names) in checksums.into_iter().flat_map(|map| map.iter()) {
                    if kinds.iter().any(|known| known.key == kind.as_str()) {
                        writer.add(kind, names);
                    }
                }
                open.extend(map.values());
            }
            _ => {}
        }
    }
    writer.found
}

/// The definitions of one kind.
struct Definitions {
    /// All of them combined.
    whole: Origin,
    by_name: HashMap<String, Origin>,
}

struct Writer<'a> {
    session: &'a Session,
    values: &'a Value,
    kinds: &'a [Kind],
    of_kinds: HashMap<String, Definitions>,
    found: Computed,
}

impl Writer<'_> {
    fn add(&mut self, kind: &str, names: &Value) {
        if !self.of_kinds.contains_key(kind) {
            let definitions = self.definitions(kind);
            self.of_kinds.insert(kind.to_owned(), definitions);
        }
        let Some(known) = self.of_kinds.get(kind) else { return };
        let mut wanted = Vec::new();
        for name in names.as_list().unwrap_or_default() {
            if let Some(origin) = name.as_str().and_then(|name| known.by_name.get(name)) {
                wanted.push((name, format!("sha256 of `{kind}/{}`", name.as_str().unwrap_or_default()), *origin));
            }
        }
        if names.as_str() == Some("*") {
            wanted.push((names, format!("sha256 of all `{kind}`"), known.whole));
        }
        for (entry, step, origin) in wanted {
            let span = self.session.origins.span(entry.origin, &self.session.sources);
            let made = self.session.origins.derived(step, span, vec![Piece { start: 0, end: 0, origin }]);
            self.found.insert(origin_number(entry.origin), origin_number(made));
        }
    }

    /// The values that define a kind: independent ones, and those related to others.
    fn definitions(&self, kind: &str) -> Definitions {
        let inner = |value: Option<&Value>| {
            let map = value.and_then(Value::as_map).into_iter();
            map.flat_map(|map| map.iter()).map(|(name, value)| (name.to_string(), value.clone())).collect::<Vec<_>>()
        };
        let mut all = inner(self.values.get(kind));
        for parent in self.kinds {
            for (_, definition) in inner(self.values.get(&parent.key)) {
                all.extend(inner(definition.get("related").and_then(|related| related.get(kind))));
            }
        }
        let pieces = all.iter().map(|(_, value)| Piece { start: 0, end: 0, origin: value.origin }).collect();
        let whole = self.session.origins.derived(format!("all `{kind}`"), None, pieces);
        Definitions { whole, by_name: all.into_iter().map(|(name, value)| (name, value.origin)).collect() }
    }
}
