//! Values as Python writes them. Knows nothing of types; hosts written in Python decide where such text is used.

use crate::val::{Data, Val};
use ecow::{EcoString, eco_format};
pub use purlin_value::python_text::{float_repr, quote};

/// Most levels of a value that are written.
const MAX_DEPTH: u32 = purlin_syntax::limits::VALUE_LEVELS;

/// A value as Python writes it: the conversion that hosts written in Python apply to values of strings.
pub fn python_text(value: &Val) -> EcoString {
    let mut out = String::new();
    write_python(value, 0, &mut out);
    out.into()
}

fn write_python(value: &Val, depth: u32, out: &mut String) {
    match &value.data {
        _ if depth > MAX_DEPTH => out.push_str("..."),
        Data::Bool(flag) => out.push_str(if *flag { "True" } else { "False" }),
        Data::Int(number) => out.push_str(&eco_format!("{number}")),
        Data::Float(number) => out.push_str(&float_repr(*number)),
        Data::Str(text) | Data::Timestamp(text) => quote(text, out),
        Data::List(items) => {
            let write = |item: &Val, out: &mut String| write_python(item, depth + 1, out);
            enclosed(items.iter(), '[', ']', write, out);
        }
        Data::Map(entries) => {
            let write = |(key, item): &(Val, Val), out: &mut String| {
                write_python(key, depth + 1, out);
                out.push_str(": ");
                write_python(item, depth + 1, out);
            };
            enclosed(entries.iter(), '{', '}', write, out);
        }
        Data::Call(call) => {
            let write = |arg: &Val, out: &mut String| write_python(arg, depth + 1, out);
            match call.args.as_slice() {
                // A host's call is kept whole.
                [whole] if !call.listed && whole.get(&call.name).is_some() => write(whole, out),
                args => {
                    out.push_str(&eco_format!("{{'{}': ", call.name));
                    match args {
                        [only] if !call.listed => write(only, out),
                        several => enclosed(several.iter(), '[', ']', write, out),
                    }
                    out.push('}');
                }
            }
        }
        Data::Null | Data::Poison | Data::Pending(_) => out.push_str("None"),
    }
}

fn enclosed<T>(
    items: impl Iterator<Item = T>,
    open: char,
    close: char,
    write: impl Fn(T, &mut String),
    out: &mut String,
) {
    out.push(open);
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        write(item, out);
    }
    out.push(close);
}
