//! Functions that call templates, stop a render, or query a cluster (which never exists).

use std::rc::Rc;

use crate::cause::Cause;
use crate::error::{Fault, Limit};
use crate::func::{Func, Ty};
use crate::funcs::{arg, pieces, row, text};
use crate::machine::{INCLUDE_STEPS, Machine, SourceFile};
use crate::rope::Rope;
use crate::value::{Data, Val};
use purlin_value::Cost;

/// Maximum length of a `tpl` text.
const MAX_TPL_BYTES: usize = 256 << 10;

/// Steps of parsing a `tpl` text, and memory of the result.
const PARSE_STEPS: usize = 100;
const PARSE_STEPS_PER_BYTE: usize = 2;
const PARSED_BYTES: u64 = 512;
const PARSED_BYTES_PER_BYTE: u64 = 4;

/// The rows.
pub(crate) static FUNCS: &[Func] = &[
    pieces(row("include", &[Ty::Str, Ty::Any], "`include NAME DATA`: the template's output as text.", include))
        .looks(0, 1)
        .costs(Cost::Own),
    pieces(row("tpl", &[Ty::Str, Ty::Any], "`tpl TEXT DATA`: the text, rendered as a template.", tpl))
        .unseen()
        .costs(Cost::Own),
    pieces(row(
        "required",
        &[Ty::Str, Ty::Any],
        "`required MESSAGE A`: A, or the message as an error if it is missing.",
        |m, args| {
            let value = arg(args, 1);
            let missing = match &value.data {
                Data::Nil => true,
                Data::Str(text) => text.is_empty(),
                _ => false,
            };
            match missing {
                true => stop(m, "level=WARN msg=\"missing required value\"", &text(args, 0)),
                false => Ok(value.clone()),
            }
        },
    ))
    .unseen()
    .costs(Cost::Constant),
    row("fail", &[Ty::Str], "`fail MESSAGE`: stops with the message.", |m, args| {
        stop(m, "level=INFO msg=\"funcMap fail\"", &text(args, 0))
    })
    .unseen(),
    row(
        "lookup",
        &[Ty::Str, Ty::Str, Ty::Str, Ty::Str],
        "`lookup VERSION KIND NAMESPACE NAME`: empty, because rendering asks no cluster; a unit test can describe one.",
        lookup,
    )
    .costs(Cost::Own),
];

/// Rendering queries no cluster; unit tests describe one.
fn lookup(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let Some(lookup) = m.outside.lookup.clone() else { return Ok(m.heap.any_map(Default::default())) };
    m.spend(LOOKUP_STEPS)?;
    let [version, kind, namespace, name] = [0, 1, 2, 3].map(|at| text(args, at));
    Ok((lookup.0)(&mut m.heap, [&version, &kind, &namespace, &name]))
}

/// The objects of a described cluster are written by hand, so there are few.
const LOOKUP_STEPS: usize = 100;

/// Stops with a message; linting only logs it.
fn stop(m: &mut Machine<'_>, logged: &str, message: &str) -> Result<Val, Fault> {
    if !m.outside.is_lint {
        return Err(Fault::Stop(message.to_owned()));
    }
    m.logged.push(format!("{logged} message={message:?}"));
    Ok(Val::str(""))
}

fn include(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let Data::Str(name) = &arg(args, 0).data else { return Ok(Val::str("")) };
    if let Some(natives) = m.natives.clone()
        && let Some(result) = natives.call(m, name.bytes(), arg(args, 1))
    {
        return result;
    }
    m.spend(INCLUDE_STEPS)?;
    let count = m.including.entry(name.clone()).or_insert(0);
    if *count > m.limits.includes {
        return Err(Cause::TooManyIncludes(name.text().into_owned()).into());
    }
    *count += 1;
    let result = m.execute_called(name, arg(args, 0), arg(args, 1).clone());
    if let Some(count) = m.including.get_mut(name) {
        *count -= 1;
    }
    match result {
        Ok(rope) => finish(m, rope),
        Err(error) => Err(Fault::Inner(error)),
    }
}

fn finish(m: &Machine<'_>, rope: Rope) -> Result<Val, Fault> {
    if m.outside.track {
        return m.limited_rope(rope);
    }
    if rope.bytes.len() > m.limits.output {
        return Err(Fault::Limit(Limit::Text));
    }
    Ok(Val::str(rope.bytes))
}

fn tpl(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let source = arg(args, 0);
    let Data::Str(text) = &source.data else { return Ok(Val::str("")) };
    if memchr::memmem::find(text.bytes(), b"{{").is_none()
        && memchr::memmem::find(text.bytes(), b"<no value>").is_none()
    {
        return Ok(source.clone());
    }
    if text.len() > MAX_TPL_BYTES && text.len() > m.limits.text / 4 {
        return Err(Fault::Limit(Limit::Text));
    }
    let (origin, is_secret) = m.join_origins(std::slice::from_ref(source));
    let key = (text.clone(), origin);
    let outer = m.namespace.clone();
    let at_bottom = m.tpl_depth == 0;
    let layer = match m.parsed.get(&key) {
        Some(layer) if at_bottom => layer.clone(),
        _ => {
            m.spend(PARSE_STEPS + text.len() * PARSE_STEPS_PER_BYTE)?;
            let kept = PARSED_BYTES + text.len() as u64 * PARSED_BYTES_PER_BYTE;
            m.limits.meter.charge(0, kept).map_err(|_| Fault::Limit(Limit::Heap))?;
            let base = m.new_base(text.len());
            let layer =
                outer.layer(text.clone(), base).map_err(|error| Fault::TplParse(text.text().into_owned(), error))?;
            if let Some(tree) = &layer.main {
                m.sources.push(SourceFile { file: tree.file.clone(), origin, digested: Vec::new() });
            }
            let layer = Rc::new(layer);
            if at_bottom {
                m.parsed.insert(key, layer.clone());
            }
            layer
        }
    };
    if m.tpl_depth >= m.limits.tpl {
        return Err(Fault::Limit(Limit::Depth));
    }
    let Some(tree) = layer.main.clone() else { return Ok(Val::str("")) };
    m.namespace = layer;
    m.tpl_depth += 1;
    let around = m.secret_text;
    m.secret_text |= is_secret;
    let result = m.execute_tree(&tree, arg(args, 1).clone());
    m.secret_text = around;
    m.tpl_depth -= 1;
    m.namespace = outer;
    match result {
        Ok(mut rope) => {
            if is_secret {
                rope.pieces.iter_mut().for_each(|piece| piece.tainted = true);
            }
            Ok(finish(m, without_no_value(rope))?.taint(is_secret))
        }
        Err(error) => Err(Fault::TplExec(text.text().into_owned(), error)),
    }
}

/// Removes every `<no value>`, as Helm does.
pub fn without_no_value(rope: Rope) -> Rope {
    const MARK: &[u8] = b"<no value>";
    if memchr::memmem::find(&rope.bytes, MARK).is_none() {
        return rope;
    }
    let mut kept = Rope::default();
    let mut at = 0;
    let found: Vec<usize> = memchr::memmem::find_iter(&rope.bytes, MARK).collect();
    for end in found.into_iter().chain([rope.bytes.len()]) {
        let part = rope.bytes.get(at..end).unwrap_or_default();
        if rope.pieces.is_empty() {
            kept.bytes.extend_from_slice(part);
        } else {
            kept.push_pieces(part, &crate::rope::slice(&rope.pieces, at, end), false);
        }
        at = end + MARK.len();
    }
    kept
}
