//! Values as Python writes them. Knows nothing of types; hosts written in Python decide where such text is wanted.

use crate::val::{Data, Val};
use ecow::{EcoString, eco_format};

/// Values are written so deep.
const MAX_DEPTH: u32 = 200;

/// A value as Python writes it: what hosts written in Python make of anything that should be a string.
pub fn python_text(value: &Val) -> EcoString {
    let mut out = EcoString::new();
    write_python(value, 0, &mut out);
    out
}

fn write_python(value: &Val, depth: u32, out: &mut EcoString) {
    match &value.data {
        _ if depth > MAX_DEPTH => out.push_str("..."),
        Data::Bool(flag) => out.push_str(if *flag { "True" } else { "False" }),
        Data::Int(number) => out.push_str(&eco_format!("{number}")),
        Data::Float(number) => out.push_str(&eco_format!("{number:?}")),
        Data::Str(text) | Data::Timestamp(text) => {
            let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
            out.push(quote);
            for c in text.chars() {
                match c {
                    '\\' => out.push_str("\\\\"),
                    '\n' => out.push_str("\\n"),
                    '\t' => out.push_str("\\t"),
                    '\r' => out.push_str("\\r"),
                    c if c == quote => {
                        out.push('\\');
                        out.push(c);
                    }
                    c => out.push(c),
                }
            }
            out.push(quote);
        }
        Data::List(items) => {
            let write = |item: &Val, out: &mut EcoString| write_python(item, depth + 1, out);
            enclosed(items.iter(), '[', ']', write, out);
        }
        Data::Map(entries) => {
            let write = |(key, item): &(Val, Val), out: &mut EcoString| {
                write_python(key, depth + 1, out);
                out.push_str(": ");
                write_python(item, depth + 1, out);
            };
            enclosed(entries.iter(), '{', '}', write, out);
        }
        Data::Call(call) => {
            let write = |arg: &Val, out: &mut EcoString| write_python(arg, depth + 1, out);
            match call.args.as_slice() {
                // What a host wrote is kept whole.
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
    write: impl Fn(T, &mut EcoString),
    out: &mut EcoString,
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
