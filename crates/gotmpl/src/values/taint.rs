//! Propagation of origins and secrets from a function's arguments to its result.
//!
//! Functions that keep pieces handle them themselves; all others go through `derive`. A text is secret if anything in
//! the arguments it was made from is. A collection that only holds its arguments needs no mark: its elements have
//! theirs, and its keys, which are texts without a value around them, have it in their pieces.

use std::collections::HashSet;

use crate::func::{Form, Func, Looks, Ty};
use crate::machine::{Digested, Machine};
use crate::rope::{Piece, origin_number, origin_of};
use crate::value::{Data, Heap, ListType, MapRef, MapType, Str, Val};
use purlin_value::Piece as OriginPiece;

/// The kind of a result.
enum Made {
    /// A text or number of its own.
    Scalar,
    /// A collection of new elements, made from texts.
    Parts,
    /// A collection that holds arguments or their parts.
    Holder,
}

impl Machine<'_> {
    /// Gives a function's result the origin and taint of its inputs.
    pub(crate) fn derive(&mut self, func: &Func, args: &[Val], result: Val) -> Val {
        if !self.outside.track || func.form == Form::Pieces || result.origin != 0 {
            return result;
        }
        let looks_inside = !matches!(func.looks, Looks::At(..));
        let (origin, tainted) = match made(&self.heap, func, &result) {
            Made::Scalar if looks_inside => (self.made_from(func, args), self.join_contents(args).1),
            Made::Parts if looks_inside => {
                let tainted = self.join_contents(args).1;
                if tainted {
                    self.heap.taint_within(&result);
                }
                (self.made_from(func, args), tainted)
            }
            Made::Holder if func.looks == Looks::Nowhere => (self.join_origins(args).0, false),
            Made::Scalar => (self.told_from(func, args), self.join_origins(args).1),
            _ => self.join_origins(args),
        };
        result.at(origin).taint(tainted)
    }

    /// The origin of a value itself, or of a piece of it.
    pub(crate) fn known_origin(&self, value: &Val) -> u32 {
        if self.outside.track { self.join_origins(std::slice::from_ref(value)).0 } else { 0 }
    }

    /// The origin of a result that depends on all arguments: that of the only one, or an entry for all of them.
    fn made_from(&self, func: &Func, args: &[Val]) -> u32 {
        let mut found = Vec::new();
        for arg in args {
            self.origins_of(arg, &mut found);
        }
        if func.digests && self.outside.track {
            args.iter().for_each(|arg| self.promise_text(arg, &mut found));
        }
        match found.as_slice() {
            [] => 0,
            [one] => *one,
            all => self.noted(func.name, all),
        }
    }

    /// The origin of a result that depends on collections but not on their values, such as a length: the collections
    /// decide it, and no value is a piece of it.
    fn told_from(&self, func: &Func, args: &[Val]) -> u32 {
        let is_filled = |arg: &&Val| match arg.data {
            Data::List(list) => !self.heap.items(list).is_empty(),
            Data::Map(map) => !self.heap.get_map(map).entries.is_empty(),
            _ => false,
        };
        if !args.iter().any(|arg| is_filled(&arg)) {
            return self.made_from(func, args);
        }
        let (mut taken, mut decided) = (Vec::new(), Vec::new());
        for arg in args {
            match is_filled(&arg) {
                true if arg.origin != 0 => decided.push(arg.origin),
                true => self.origins_of(arg, &mut decided),
                false => self.origins_of(arg, &mut taken),
            }
        }
        let taken = match taken.as_slice() {
            [] => 0,
            [one] => *one,
            all => self.noted(func.name, all),
        };
        let (step, decided) = (format!("`{}`", func.name), decided.into_iter().map(origin_of));
        origin_number(self.outside.origins.selected(origin_of(taken), step, None, decided))
    }

    /// Origins of those parts of a text that are templates' own. Their files are registered after the render, so the
    /// locations are set then.
    fn promise_text(&self, value: &Val, found: &mut Vec<u32>) {
        const MOST: usize = 256;
        let pieces = value.as_str().and_then(Str::pieces).unwrap_or_default();
        let mut digested = self.digested.borrow_mut();
        let mut from = 0;
        for piece in pieces.iter().take(MOST) {
            let len = piece.end - std::mem::replace(&mut from, piece.end);
            if piece.origin != 0 || piece.site == 0 {
                continue;
            }
            let reserve = || origin_number(self.outside.origins.reserve());
            let start = piece.site;
            let known = digested.entry(start).or_insert_with(|| Digested { origin: reserve(), start, len });
            known.len = known.len.max(len);
            found.push(known.origin);
        }
    }

    fn noted(&self, name: &'static str, inputs: &[u32]) -> u32 {
        let pieces = inputs.iter().map(|number| OriginPiece::whole(origin_of(*number))).collect();
        origin_number(self.outside.origins.derived(name, None, pieces))
    }

    /// All origins of a value: a text has pieces, a collection has elements.
    fn origins_of(&self, value: &Val, found: &mut Vec<u32>) {
        const MOST: usize = 64;
        let before = found.len();
        let mut add = |origin: u32| {
            if origin != 0 && found.len() < MOST && !found.contains(&origin) {
                found.push(origin);
            }
        };
        match &value.data {
            Data::Str(text) if text.pieces().is_some() => {
                text.pieces().unwrap_or_default().iter().for_each(|piece| add(piece.origin));
            }
            Data::List(list) if !self.heap.items(*list).is_empty() => {
                self.heap.items(*list).iter().take(MOST).for_each(|item| add(item.origin));
            }
            Data::Map(map) if !self.heap.get_map(*map).entries.is_empty() => {
                self.heap.get_map(*map).entries.values().take(MOST).for_each(|item| add(item.origin));
            }
            _ => add(value.origin),
        }
        // Keys have no origin of their own; a list of them has that of their map.
        if found.len() == before && value.origin != 0 && !found.contains(&value.origin) {
            found.push(value.origin);
        }
    }

    /// The result of a function that chooses among its arguments, with the deciding ones: those it read.
    pub(crate) fn chosen(&self, name: &'static str, result: Val, looked_at: &[Val]) -> Val {
        if !self.outside.track {
            return result;
        }
        let mut inputs = Vec::new();
        looked_at.iter().for_each(|value| self.origins_of(value, &mut inputs));
        inputs.retain(|origin| *origin != result.origin);
        if inputs.is_empty() {
            return result;
        }
        if result.origin == 0 {
            // The pieces of a text are more precise.
            if matches!(&result.data, Data::Str(text) if text.pieces().is_some()) {
                return result;
            }
            return result.at(self.noted(name, &inputs));
        }
        let inputs = inputs.into_iter().map(origin_of);
        let origin = self.outside.origins.selected(origin_of(result.origin), format!("`{name}` chose"), None, inputs);
        result.at(origin_number(origin))
    }

    /// The key of a map as a value; its location is derived from the value under it.
    pub(crate) fn key_of(&self, key: Str, element: &Val) -> Val {
        let origin = self.known_origin(element);
        let origin = match &self.outside.sources {
            Some(sources) if origin != 0 && key.pieces().is_none() => {
                origin_number(self.outside.origins.of_key(origin_of(origin), &key.text(), sources))
            }
            _ => origin,
        };
        Val::key(key).at(origin)
    }

    /// One origin and taint for several values.
    pub fn join_origins(&self, values: &[Val]) -> (u32, bool) {
        let mut origin = 0;
        let mut tainted = false;
        for value in values {
            tainted |= value.is_tainted();
            if origin == 0 {
                origin = value.origin;
            }
            if let Data::Str(text) = &value.data
                && let Some(pieces) = text.pieces()
            {
                tainted |= pieces.iter().any(|piece| piece.tainted);
                if origin == 0 {
                    origin = pieces.iter().map(|piece| piece.origin).find(|o| *o != 0).unwrap_or(0);
                }
            }
        }
        (origin, tainted)
    }

    /// One origin and taint for a text made from several values and their content.
    pub fn join_contents(&self, values: &[Val]) -> (u32, bool) {
        let (origin, tainted) = self.join_origins(values);
        (origin, tainted || self.outside.track && holds_taint(&self.heap, values))
    }

    /// A text as the key of a map, and whether it is secret: if its source is.
    pub(crate) fn key(&mut self, text: Str, from: &Val) -> (Str, bool) {
        let (origin, tainted) = self.join_contents(std::slice::from_ref(from));
        if !tainted || !self.outside.track {
            return (text, tainted);
        }
        let piece = Piece { end: 0, origin, site: self.site, call: self.current_call(), tainted };
        (self.heap.secret_key(text, piece), tainted)
    }
}

fn made(heap: &Heap, func: &Func, result: &Val) -> Made {
    let is_strings = match &result.data {
        Data::Map(map) => map.kind == MapType::Strings,
        Data::List(list) => heap.get_list(*list).kind == ListType::Strings,
        _ => return Made::Scalar,
    };
    // A function that takes only texts and numbers has no elements of its arguments to hold.
    let takes_collections = |ty: Ty| matches!(ty, Ty::Any | Ty::Value | Ty::List | Ty::Map);
    let may_hold = func.params.iter().copied().chain(func.rest).any(takes_collections);
    if is_strings || !may_hold { Made::Parts } else { Made::Holder }
}

/// Whether one of several values, or anything in them, is a secret. Visits each collection once.
pub(crate) fn holds_taint(heap: &Heap, values: &[Val]) -> bool {
    let is_secret = |value: &Val| value.is_tainted() || matches!(&value.data, Data::Str(text) if text.is_tainted());
    finds_secret(heap, values.iter().collect(), is_secret)
}

/// Whether a key anywhere in a value is a secret.
pub(crate) fn holds_secret_key(heap: &Heap, value: &Val) -> bool {
    heap.has_secret_keys() && finds_secret(heap, vec![value], |_| false)
}

/// Whether something in values, or a key of a map in them, is a secret. Shared parts are visited once.
fn finds_secret<'v>(heap: &'v Heap, mut stack: Vec<&'v Val>, is_secret: impl Fn(&Val) -> bool) -> bool {
    let (mut lists, mut maps) = (HashSet::new(), HashSet::new());
    while let Some(value) = stack.pop() {
        if is_secret(value) {
            return true;
        }
        match &value.data {
            Data::List(list) if lists.insert(list.index()) => stack.extend(heap.items(*list)),
            Data::Map(map) if maps.insert(map.index()) => {
                if heap.has_secret_key(*map) {
                    return true;
                }
                stack.extend(heap.unread_map(*map).entries.values());
            }
            _ => {}
        }
    }
    false
}

impl Heap {
    /// Marks everything in an unshared collection as secret, including its keys if they were read as well.
    pub(crate) fn taint_within(&mut self, collection: &Val) {
        let mut stack = vec![collection.data.clone()];
        while let Some(data) = stack.pop() {
            if let Data::Map(map) = data
                && map.kind == MapType::Any
            {
                self.mark_keys(map);
            }
            let mark = |element: &mut Val| {
                element.mark_secret();
                stack.push(element.data.clone());
            };
            match data {
                Data::List(list) => self.items_mut(list).iter_mut().for_each(mark),
                Data::Map(map) => self.get_map_mut(map).entries.values_mut().for_each(mark),
                _ => {}
            }
        }
    }
    fn mark_keys(&mut self, map: MapRef) {
        let piece = Piece { end: 0, origin: 0, site: 0, call: 0, tainted: true };
        let entries = std::mem::take(&mut self.get_map_mut(map).entries);
        let marked = entries.into_iter().map(|(key, value)| (self.secret_key(key, piece), value)).collect();
        self.get_map_mut(map).entries = marked;
    }

    /// A text as a secret key, unless a piece of it is secret already.
    pub(crate) fn secret_key(&mut self, text: Str, piece: Piece) -> Str {
        self.note_secret_key();
        if text.is_tainted() {
            return text;
        }
        let bytes = text.bytes().to_vec();
        let end = bytes.len() as u32;
        Str::with_pieces(bytes, vec![Piece { end, ..piece }])
    }

    fn has_secret_key(&self, map: MapRef) -> bool {
        self.has_secret_keys() && self.unread_map(map).entries.keys().any(Str::is_tainted)
    }
}
