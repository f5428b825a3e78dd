//! YAML, JSON and TOML, read and written as Helm does.

use purlin_syntax::write::{GoStyle, GoYamlWriter, JsonFlavor, JsonLayout, JsonWriter, WriteError};

use crate::cause::Cause;
use crate::emit::{EmitError, KeyOrder, emit};
use crate::error::{Fault, Limit};
use crate::func::{Func, Run, Ty};
use crate::funcs::{arg, bytes, pieces, row};
use crate::json;
use crate::machine::Machine;
use crate::value::{Data, ListType, MapType, Str, Val};
use crate::yaml;
use purlin_value::Cost;

const A: Ty = Ty::Any;

/// A function that reads text.
const fn reader(name: &'static str, params: &'static [Ty], about: &'static str, run: Run) -> Func {
    row(name, params, about, run).costs(Cost::Slow)
}

/// The rows.
pub(crate) static FUNCS: &[Func] = &[
    pieces(row("toYaml", &[A], "`toYaml A`: the value as YAML, without the last line break.", |m, args| {
        or_empty(to_yaml(m, arg(args, 0)))
    }))
    .unseen(),
    pieces(row("mustToYaml", &[A], "`mustToYaml A`: the value as YAML, without the last line break.", |m, args| {
        to_yaml(m, arg(args, 0))
    }))
    .unseen(),
    row("toYamlPretty", &[A], "`toYamlPretty A`: the value as YAML with lists moved inside.", |m, args| {
        let mut writer = GoYamlWriter::with_limit(GoStyle::Pretty, m.limits.text);
        let emitted = emit(&m.heap, arg(args, 0), KeyOrder::Natural(GoStyle::Pretty), &mut writer, &mut |_, _| {});
        or_empty(finish(emitted, writer.finish()).map(|text| Val::str(text.strip_suffix('\n').unwrap_or(&text))))
    })
    .unseen(),
    pieces(reader(
        "fromYaml",
        &[Ty::Str],
        "`fromYaml TEXT`: a dictionary read from YAML; a problem is under the key `Error`.",
        |m, args| match yaml::read_map(m, arg(args, 0)) {
            Err(Fault::Message(message)) => {
                let found = error_map(m, message);
                Ok(unreadable(m, args, found))
            }
            found => found,
        },
    ))
    .unseen(),
    pieces(reader(
        "fromYamlArray",
        &[Ty::Str],
        "`fromYamlArray TEXT`: a list read from YAML; a problem is its only element.",
        |m, args| match yaml::read_list(m, arg(args, 0)) {
            Err(Fault::Message(message)) => {
                let found = m.heap.any_list(vec![Val::str(message)]);
                Ok(unreadable(m, args, found))
            }
            found => found,
        },
    ))
    .unseen(),
    row("toJson", &[A], "`toJson A`: the value as JSON.", |m, args| {
        or_empty(to_json(m, args, JsonLayout::Compact, JsonFlavor::Go))
    })
    .unseen(),
    row("mustToJson", &[A], "`mustToJson A`: the value as JSON.", |m, args| {
        to_json(m, args, JsonLayout::Compact, JsonFlavor::Go)
    })
    .unseen(),
    row("toPrettyJson", &[A], "`toPrettyJson A`: the value as JSON over several lines.", |m, args| {
        or_empty(to_json(m, args, JsonLayout::Pretty, JsonFlavor::Go))
    })
    .unseen(),
    row("mustToPrettyJson", &[A], "`mustToPrettyJson A`: the value as JSON over several lines.", |m, args| {
        to_json(m, args, JsonLayout::Pretty, JsonFlavor::Go)
    })
    .unseen(),
    row("toRawJson", &[A], "`toRawJson A`: the value as JSON with `<`, `>` and `&` as they are.", |m, args| {
        or_empty(to_json(m, args, JsonLayout::Compact, JsonFlavor::GoRaw))
    })
    .unseen(),
    row("mustToRawJson", &[A], "`mustToRawJson A`: the value as JSON with `<`, `>` and `&` as they are.", |m, args| {
        to_json(m, args, JsonLayout::Compact, JsonFlavor::GoRaw)
    })
    .unseen(),
    reader(
        "fromJson",
        &[Ty::Str],
        "`fromJson TEXT`: a dictionary read from JSON; a problem is under the key `Error`.",
        from_json,
    )
    .unseen(),
    reader(
        "fromJsonArray",
        &[Ty::Str],
        "`fromJsonArray TEXT`: a list read from JSON; a problem is its only element.",
        from_json_array,
    )
    .unseen(),
    reader("mustFromJson", &[Ty::Str], "`mustFromJson TEXT`: any value read from JSON.", |m, args| {
        json::parse(&mut m.heap, bytes(args, 0)).map_err(Fault::new)
    })
    .unseen(),
    row("toToml", &[A], "`toToml A`: the dictionary as TOML.", |m, args| {
        if arg(args, 0).is_nil() {
            return Err(Cause::Unset("reflect: call of reflect.Value.Type on zero Value").into());
        }
        Ok(Val::str(crate::toml::write(&m.heap, arg(args, 0)).unwrap_or_else(|message| message)))
    })
    .unseen(),
    row("mustToToml", &[A], "`mustToToml A`: the dictionary as TOML.", |m, args| {
        crate::toml::write(&m.heap, arg(args, 0)).map(Val::str).map_err(Fault::new)
    })
    .unseen(),
    reader(
        "fromToml",
        &[Ty::Str],
        "`fromToml TEXT`: a dictionary read from TOML; a problem is under the key `Error`.",
        |m, args| match crate::toml::read(&mut m.heap, &crate::funcs::text(args, 0)) {
            Ok(value) => Ok(value),
            Err(message) => Ok(error_map(m, message)),
        },
    )
    .unseen(),
];

fn error_map(m: &mut Machine<'_>, message: String) -> Val {
    m.heap.any_map([(Str::from("Error"), Val::str(message))].into())
}

/// The error for a string that could not be read. It may quote the string, so it is secret if the string is.
fn unreadable(m: &mut Machine<'_>, text: &[Val], found: Val) -> Val {
    let (origin, tainted) = m.join_contents(text);
    if tainted {
        m.heap.taint_within(&found);
    }
    found.at(origin).taint(tainted)
}

/// A failed conversion gives an empty text, a limit stays an error.
fn or_empty(result: Result<Val, Fault>) -> Result<Val, Fault> {
    match result {
        Err(Fault::Limit(limit)) => Err(Fault::Limit(limit)),
        Err(_) => Ok(Val::str("")),
        found => found,
    }
}

fn finish(emitted: Result<(), EmitError>, written: Result<String, WriteError>) -> Result<String, Fault> {
    if let Err(error) = emitted {
        return Err(Fault::new(error.message()));
    }
    written.map_err(|error| match error {
        WriteError::TooLong => Fault::Limit(Limit::Text),
        WriteError::Unreadable => Fault::new("error converting JSON to YAML: yaml: control characters are not allowed"),
    })
}

/// Bytes of YAML written per step: every scalar is checked for its meaning when read back.
const YAML_BYTES_PER_STEP: usize = 4;

fn to_yaml(m: &mut Machine<'_>, value: &Val) -> Result<Val, Fault> {
    let mut writer = GoYamlWriter::with_limit(GoStyle::Kubernetes, m.limits.text);
    if !m.outside.track {
        let emitted = emit(&m.heap, value, KeyOrder::Natural(GoStyle::Kubernetes), &mut writer, &mut |_, _| {});
        let mut text = finish(emitted, writer.finish())?;
        if text.ends_with('\n') {
            text.pop();
        }
        m.spend(text.len() / YAML_BYTES_PER_STEP)?;
        return Ok(Val::str(text));
    }
    let written = yaml::write_tracked(m, value)?;
    m.spend(written.as_str().map_or(0, Str::len) / YAML_BYTES_PER_STEP)?;
    Ok(written)
}

fn to_json(m: &mut Machine<'_>, args: &[Val], layout: JsonLayout, flavor: JsonFlavor) -> Result<Val, Fault> {
    let mut writer = JsonWriter::with_limit(layout, flavor, m.limits.text);
    let emitted = emit(&m.heap, arg(args, 0), KeyOrder::Bytes, &mut writer, &mut |_, _| {});
    let text = finish(emitted, writer.finish())?;
    m.spend(text.len() / 64)?;
    let tainted = m.outside.track && crate::taint::holds_taint(&m.heap, args);
    Ok(Val::str(text).taint(tainted))
}

fn from_json(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let wrong = |what: &str| format!("json: cannot unmarshal {what} into Go value of type map[string]interface {{}}");
    let message = match json::parse(&mut m.heap, bytes(args, 0)) {
        Ok(value) => match value.data {
            Data::Map(_) => return Ok(value),
            Data::Nil => return Ok(m.heap.map(MapType::Nil, Default::default())),
            _ => wrong(json::kind_name(&value)),
        },
        Err(message) => message,
    };
    Ok(error_map(m, message))
}

fn from_json_array(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let message = match json::parse(&mut m.heap, bytes(args, 0)) {
        Ok(value) => match value.data {
            Data::List(_) => return Ok(value),
            Data::Nil => return Ok(m.heap.nil_list(ListType::Any)),
            _ => format!("json: cannot unmarshal {} into Go value of type []interface {{}}", json::kind_name(&value)),
        },
        Err(message) => message,
    };
    Ok(m.heap.any_list(vec![Val::str(message)]))
}
