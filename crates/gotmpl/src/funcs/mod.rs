//! The list of all functions: Go's own, Sprig's and Helm's, one row each.

use std::sync::OnceLock;

use crate::func::{Form, Func, Looks, Run, Ty};
use crate::value::{Data, Table, Val};
use purlin_value::Cost;

pub mod casts;
mod charts;
pub mod dates;
pub mod defaults;
pub mod dicts;
mod keys;
pub mod lists;
pub mod logic;
pub mod numbers;
mod texts;
pub mod versions;

pub use charts::{capabilities, data, files, templates, values};
use keys::certificate_profile;
pub use keys::{certificates, crypto};
pub use texts::{encoding, paths, regexes, strings, words};

/// All functions, by theme.
pub static LISTS: &[(&str, &[Func])] = &[
    ("Language", logic::FUNCS),
    ("Templates", templates::FUNCS),
    ("Text", strings::FUNCS),
    ("Words", words::FUNCS),
    ("Regular expressions", regexes::FUNCS),
    ("Numbers", numbers::FUNCS),
    ("Lists", lists::FUNCS),
    ("Dictionaries", dicts::FUNCS),
    ("Defaults and types", defaults::FUNCS),
    ("YAML, JSON and TOML", data::FUNCS),
    ("Encodings and digests", encoding::FUNCS),
    ("Secrets", crypto::FUNCS),
    ("Certificates", certificates::FUNCS),
    ("Dates", dates::FUNCS),
    ("Versions", versions::FUNCS),
    ("Paths and addresses", paths::FUNCS),
];

/// Finds a function by name.
pub fn find(name: &str) -> Option<&'static Func> {
    static INDEX: OnceLock<Table<&'static str, &'static Func>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let rows = LISTS.iter().flat_map(|(_, list)| list.iter());
        rows.map(|func| (func.name, func)).collect()
    });
    index.get(name).copied()
}

/// A row with a fixed number of parameters.
const fn row(name: &'static str, params: &'static [Ty], about: &'static str, run: Run) -> Func {
    Func {
        name,
        params,
        rest: None,
        about,
        run,
        form: Form::Opaque,
        looks: Looks::Everywhere,
        changes: false,
        cost: Cost::Deep,
        digests: false,
    }
}

/// A row whose last parameter may be repeated.
const fn many(name: &'static str, params: &'static [Ty], rest: Ty, about: &'static str, run: Run) -> Func {
    Func { rest: Some(rest), ..row(name, params, about, run) }
}

/// The row of a function that handles the pieces of its result itself.
const fn pieces(func: Func) -> Func {
    Func { form: Form::Pieces, ..func }
}

static NIL: Val = Val::NIL;

/// The argument at an index; nil beyond the last.
fn arg(args: &[Val], index: usize) -> &Val {
    args.get(index).unwrap_or(&NIL)
}

/// The bytes of a string argument.
fn bytes(args: &[Val], index: usize) -> &[u8] {
    match &arg(args, index).data {
        Data::Str(text) | Data::Bytes(text) => text.bytes(),
        _ => b"",
    }
}

/// The text of a string argument.
fn text(args: &[Val], index: usize) -> std::borrow::Cow<'_, str> {
    crate::value::text_of(bytes(args, index))
}

/// The number of an integer argument.
fn int(args: &[Val], index: usize) -> i64 {
    match arg(args, index).data {
        Data::Int(n) | Data::Int64(n) => n,
        _ => 0,
    }
}
