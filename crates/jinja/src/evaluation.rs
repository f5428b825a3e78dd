//! The account of one evaluation: steps, bytes and sizes of values, what was read, and which secrets were met.
//!
//! All costs go to the session's meter. Shared parts count at each occurrence, but are visited once.

use crate::error::{Result, limit, limit_of};
use crate::instance::NoInstances;
use crate::limits::MAX_CALLS;
use crate::python;
use crate::template::Template;
use crate::val::{Data, MapKey, REDACTED, Val};
use ecow::EcoString;
use purlin_value::meter::BYTES_PER_STEP;
use purlin_value::meter::{Held, SLOW_BYTES, SLOW_STEPS};
use purlin_value::rules::{LIMIT_LIST, LIMIT_OUTPUT, LIMIT_STRING};
use purlin_value::{Cost, Exceeded, Origin, Piece, Session, Tab};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The written size of a value, without its text.
const PART: usize = 8;
/// Most sizes remembered; beyond that all are discarded.
const MOST_REMEMBERED: usize = 100_000;
/// Deeper values are not measured.
const DEEPEST: usize = purlin_syntax::limits::COLLECTION_LEVELS as usize;
/// The memory of a collection without its items, including the cost of taking it apart.
const COLLECTION: usize = 256;

/// Shorter texts are not worth hiding in messages: they would match anywhere.
const SHORTEST_SECRET: usize = 4;
/// Most secrets remembered for messages.
const MOST_SECRETS: usize = 1_000;
/// Most origins kept of what one attribute reads.
const MOST_READS: usize = 64;

type Cache<T> = RefCell<HashMap<EcoString, Rc<T>, foldhash::fast::RandomState>>;

type Known<T> = RefCell<HashMap<usize, (Val, T), foldhash::fast::RandomState>>;

/// Sizes and evaluated forms of shared collections. Each is kept together with its collection, so that the address
/// stays in use and the collection is not changed in place.
#[derive(Debug, Default)]
pub struct Sizes {
    weights: Known<usize>,
    forced: Known<Data>,
}

impl Sizes {
    /// The evaluated form of a collection.
    pub fn forced(&self, value: &Val) -> Option<Data> {
        let address = value.shared_at()?;
        self.forced.borrow().get(&address).map(|(_, data)| data.clone())
    }

    /// Records the evaluated form of a collection.
    pub fn note_forced(&self, value: Val, forced: &Val) {
        if let Some(address) = value.shared_at() {
            insert(&self.forced, address, value, forced.data.clone());
            // The evaluated form is its own: it has no expressions left.
            if let Some(address) = forced.shared_at() {
                insert(&self.forced, address, forced.clone(), forced.data.clone());
            }
        }
    }
}

fn insert<T>(known: &Known<T>, address: usize, value: Val, what: T) {
    let mut known = known.borrow_mut();
    if known.len() >= MOST_REMEMBERED {
        known.clear();
    }
    known.insert(address, (value, what));
}

/// The account of one evaluation.
pub struct Evaluation<'w> {
    /// Files, environment, origins and problems.
    pub session: &'w Session,
    tab: Tab,
    /// Sizes and evaluated forms of collections.
    pub sizes: Sizes,
    depth: Cell<usize>,
    templates: Cache<Template>,
    /// Set whenever a secret is read, so that a template can detect it.
    pub saw_secret: Cell<bool>,
    /// Origins of the values read so far for the current attribute.
    pub reads: RefCell<Vec<Origin>>,
    /// The location of the current attribute's expression.
    pub written: Cell<Origin>,
    /// Texts of secrets, so that no message repeats one.
    secrets: RefCell<HashSet<EcoString>>,
}

impl<'w> Evaluation<'w> {
    /// An account on the meter of a session.
    pub fn new(session: &'w Session) -> Self {
        Evaluation {
            session,
            tab: Tab::default(),
            sizes: Sizes::default(),
            depth: Cell::new(0),
            templates: Cache::default(),
            saw_secret: Cell::new(false),
            reads: RefCell::new(Vec::new()),
            written: Cell::new(Origin::NONE),
            secrets: RefCell::new(HashSet::new()),
        }
    }

    /// The parsed form of a template with the usual delimiters.
    pub fn template(&self, text: &str) -> Result<Rc<Template>> {
        if let Some(template) = self.templates.borrow().get(text) {
            return Ok(Rc::clone(template));
        }
        let template = Rc::new(Template::parse(text)?);
        self.templates.borrow_mut().insert(text.into(), Rc::clone(&template));
        Ok(template)
    }

    /// Runs something one level deeper.
    pub fn deeper<T>(&self, run: impl FnOnce() -> Result<T>) -> Result<T> {
        let depth = self.depth.get();
        if depth >= MAX_CALLS {
            return limit(format!("expressions need each other more than {MAX_CALLS} deep"));
        }
        self.depth.set(depth + 1);
        let result = run();
        self.depth.set(depth);
        result
    }

    /// The depth of the evaluation.
    pub fn depth(&self) -> usize {
        self.depth.get()
    }

    /// Remembers that a value was read.
    pub fn note_read(&self, value: &Val) {
        if value.is_tainted() {
            self.saw_secret.set(true);
            self.note_secret(value);
        }
        if value.origin.is_known() {
            self.note_origin(value.origin);
        }
    }

    /// Makes a part of a collection, with a record of reads separate from those of other parts.
    pub fn part(
        &self,
        (written, step): (Origin, &str),
        make: impl FnOnce() -> Result<Option<Val>>,
    ) -> Result<Option<Val>> {
        let outer = self.reads.take();
        let made = make();
        let reads = self.reads.replace(outer);
        reads.iter().for_each(|read| self.note_origin(*read));
        let noted = |value: Val| match value.origin.is_known() || !written.is_known() {
            true => value,
            false => {
                let origin = self.derived_at(written, step, reads);
                value.from_origin(origin)
            }
        };
        Ok(made?.map(noted))
    }

    /// The location of the current attribute's expression.
    pub fn written(&self) -> Origin {
        self.written.get()
    }

    /// Remembers that something with this origin was read.
    pub fn note_origin(&self, origin: Origin) {
        let mut reads = self.reads.borrow_mut();
        if reads.len() < MOST_READS && !reads.contains(&origin) {
            reads.push(origin);
        }
    }

    /// Records that all of a value was read: the parts of a collection have other origins than the collection itself.
    pub fn note_parts(&self, whole: &Val) {
        let mut open = Vec::new();
        let mut next = Some(whole);
        // Parts without an origin count, too, so that large collections do not cost more.
        for _ in 0..MOST_READS {
            let Some(value) = next else { return };
            match &value.data {
                Data::List(items) => open.extend(items.iter().take(MOST_READS)),
                Data::Map(entries) => open.extend(entries.values().take(MOST_READS)),
                _ if std::ptr::eq(value, whole) => return,
                _ => self.note_read(value),
            }
            next = open.pop();
        }
    }

    /// Remembers a secret's text, that of a number included.
    pub fn note_secret(&self, value: &Val) {
        let text = match &value.data {
            Data::Int(_) | Data::Float(_) => python::to_text(value, &NoInstances),
            _ => value.as_str().unwrap_or("").into(),
        };
        if text.len() >= SHORTEST_SECRET {
            let mut secrets = self.secrets.borrow_mut();
            if secrets.len() < MOST_SECRETS && !secrets.contains(&text) {
                secrets.insert(text);
            }
        }
    }

    /// The known secret texts.
    pub fn met_secrets(&self) -> Vec<String> {
        self.secrets.borrow().iter().map(EcoString::to_string).collect()
    }

    /// A text without the known secrets, longer ones first: a shorter one may be a part of them.
    pub fn without_secrets(&self, text: String) -> String {
        let secrets = self.secrets.borrow();
        let mut found: Vec<&EcoString> = secrets.iter().filter(|secret| text.contains(secret.as_str())).collect();
        found.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        found.into_iter().fold(text, |text, secret| text.replace(secret.as_str(), REDACTED))
    }

    /// An origin made at a place, from what was read.
    pub fn derived_at(&self, written: Origin, step: &str, reads: Vec<Origin>) -> Origin {
        let span = self.session.origins.span(written, &self.session.sources);
        let pieces = reads.into_iter().map(|origin| Piece { start: 0, end: 0, origin }).collect();
        self.session.origins.derived(step, span, pieces)
    }

    /// The key of a map as a value, with the location from the value under it.
    pub fn key(&self, key: &MapKey, value: &Val) -> Val {
        let found = key.to_val();
        match key.as_str() {
            Some(text) if value.origin.is_known() => {
                found.from_origin(self.session.origins.of_key(value.origin, text, &self.session.sources))
            }
            _ => found,
        }
    }

    /// Charges work.
    pub fn spend(&self, steps: usize) -> Result<()> {
        self.tab.charge(&self.session.meter, steps as u64).or_else(exceeded)
    }

    /// Charges work, and bytes that are about to be made.
    pub fn charge(&self, steps: usize, bytes: usize) -> Result<()> {
        self.spend(steps)?;
        self.session.meter.charge(0, bytes as u64).or_else(exceeded)
    }

    /// Charges bytes that are held only until the result is dropped.
    pub fn hold(&self, bytes: usize) -> Result<Held<'_>> {
        self.session.meter.hold(bytes as u64).or_else(exceeded)
    }

    /// Charges a list that is about to be made; rejects one that is longer than allowed.
    pub fn afford_list(&self, items: usize) -> Result<()> {
        self.allow_items(items)?;
        self.charge(items, items.saturating_mul(size_of::<Val>()))
    }

    /// Room for a list or a text that is about to be made, until it is paid for; refuses a list that is longer than
    /// allowed.
    pub fn room(&self, items: usize, bytes: usize) -> Result<Held<'_>> {
        self.allow_items(items)?;
        self.hold(items.saturating_mul(size_of::<Val>()).saturating_add(bytes))
    }

    fn allow_items(&self, items: usize) -> Result<()> {
        let most = self.session.limits.list_items;
        if items as u64 > most {
            return limit_of(&LIMIT_LIST, format!("a list has more than {most} items"));
        }
        Ok(())
    }

    /// Charges rows that are about to be made, each a list of its own.
    pub fn afford_rows(&self, rows: usize, columns: usize) -> Result<()> {
        let cells = rows.saturating_mul(columns.saturating_add(2));
        self.charge(cells, cells.saturating_mul(size_of::<Val>()))
    }

    /// Charges a function or filter before it is called with these values. Memory held until it is done is returned
    /// with the result.
    pub fn charge_call<'v>(&self, cost: Cost, values: impl Iterator<Item = &'v Val>) -> Result<Held<'_>> {
        let mut steps = 1usize;
        let mut held = 0u64;
        for (at, value) in values.enumerate() {
            if !cost.looks_at(at) {
                continue;
            }
            let bytes = if matches!(cost, Cost::Deep | Cost::Slow) { self.weigh(value)? } else { surface(value) };
            steps = steps.saturating_add(match cost {
                Cost::Slow => bytes.saturating_mul(SLOW_STEPS as usize),
                _ => bytes / BYTES_PER_STEP as usize,
            });
            held += if cost == Cost::Slow { bytes as u64 * SLOW_BYTES } else { 0 };
        }
        self.spend(steps)?;
        self.session.meter.hold(held).or_else(exceeded)
    }

    /// Charges a value that was made; rejects one that is larger than allowed.
    pub fn made(&self, value: &Val) -> Result<()> {
        let limits = &self.session.limits;
        match &value.data {
            Data::Str(text) if text.len() as u64 > limits.string_bytes => {
                limit_of(&LIMIT_STRING, format!("a string is longer than {} bytes", limits.string_bytes))
            }
            Data::List(items) if items.len() as u64 > limits.list_items => {
                limit_of(&LIMIT_LIST, format!("a list has more than {} items", limits.list_items))
            }
            Data::Str(text) => self.charge(text.len() / BYTES_PER_STEP as usize, text.len()),
            Data::List(items) => self.charge(items.len() / 8, COLLECTION + items.len() * size_of::<Val>()),
            Data::Map(entries) => self.charge(entries.len() / 8, COLLECTION + entries.len() * 2 * size_of::<Val>()),
            _ => Ok(()),
        }
    }

    /// About how many bytes a value has when it is written out; refuses one that has more than allowed.
    pub fn weigh(&self, value: &Val) -> Result<usize> {
        let most = self.session.limits.output_bytes;
        let mut visited = 0;
        let weight = self.weight(value, 0, &mut visited);
        self.spend(visited / 4)?;
        if weight as u64 > most {
            return limit_of(&LIMIT_OUTPUT, format!("a value has more than {most} bytes when it is written out"));
        }
        Ok(weight)
    }

    fn weight(&self, value: &Val, depth: usize, visited: &mut usize) -> usize {
        *visited += 1;
        if !matches!(value.data, Data::List(_) | Data::Map(_)) {
            return surface(value);
        }
        if depth > DEEPEST {
            return usize::MAX;
        }
        // The outermost value may be about to be changed in place, so it must not be held here.
        let address = value.shared_at().filter(|_| depth > 0);
        if let Some((_, weight)) = address.and_then(|address| self.sizes.weights.borrow().get(&address).cloned()) {
            return weight;
        }
        let add =
            |sum: usize, part: &Val, visited: &mut usize| sum.saturating_add(self.weight(part, depth + 1, visited));
        let weight = match &value.data {
            Data::List(items) => items.iter().fold(PART, |sum, item| add(sum, item, visited)),
            Data::Map(entries) => entries.iter().fold(PART, |sum, (key, item)| {
                add(sum.saturating_add(PART + key.as_str().map_or(0, str::len)), item, visited)
            }),
            _ => PART,
        };
        if let Some(address) = address {
            insert(&self.sizes.weights, address, value.clone(), weight);
        }
        weight
    }
}

/// The bytes of a value itself.
fn surface(value: &Val) -> usize {
    match &value.data {
        Data::Str(text) => text.len() + PART,
        Data::Bytes(bytes) => bytes.len() + PART,
        Data::List(items) => items.len() * PART,
        Data::Map(entries) => entries.keys().filter_map(MapKey::as_str).map(str::len).sum::<usize>() + PART,
        Data::Lazy(lazy) => lazy.len() * PART,
        _ => PART,
    }
}

/// A limit of the meter that was hit, as an error.
pub fn exceeded<T>(exceeded: Exceeded) -> Result<T> {
    let mut error = limit_of::<T>(exceeded.rule(), exceeded.message());
    if let Err(error) = &mut error {
        error.hint = Some(exceeded.hint().into());
    }
    error
}

/// A part of a text.
pub fn piece(start: usize, end: usize, origin: Origin) -> Piece {
    let clamp = |n| u32::try_from(n).unwrap_or(u32::MAX);
    Piece { start: clamp(start), end: clamp(end), origin }
}
