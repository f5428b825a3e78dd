//! Ports, and numbers with units.

use super::Call;
use crate::error::{Error, Kind, Result, type_error, value_error};
use crate::eval::Ctx;
use crate::python;
use crate::val::{Data, MapKey, Val, ValMap};

/// `portspec`
pub fn portspec(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let value = call.value(ctx)?.plain();
    let tainted = value.is_tainted();
    let spec = match &value.data {
        Data::Null => return Ok(Val::null()),
        Data::Str(text) if text.is_empty() => return Ok(Val::null()),
        Data::Str(text) => read_ports(text).map_err(|error| hidden(error, tainted))?,
        Data::Int(n) => {
            let port = in_range(*n, "source").map_err(|error| hidden(error, tainted))?;
            Val::record([("protocol", Val::str("tcp")), ("source", Val::int(port)), ("target", Val::int(port))])
        }
        Data::Map(entries) if entries.is_empty() => return Ok(Val::null()),
        Data::Map(entries) => with_numbers(entries).map_err(|error| hidden(error, tainted))?,
        _ => return type_error(format!("a port specification is a number, text or a map, not {}", value.kind())),
    };
    Ok(spec.taint_if(tainted))
}

/// A port specification that is written as a map: its ports are numbers.
fn with_numbers(entries: &ValMap) -> Result<Val> {
    let mut out = entries.clone();
    for name in ["source", "target"] {
        let Some(port) = out.get_mut(&MapKey::from(name)) else {
            continue;
        };
        let number = match &port.data {
            Data::Int(n) => in_range(*n, name)?,
            Data::Str(text) => port_number(text, name)?,
            _ => continue,
        };
        *port = Val::int(number).taint_if(port.is_tainted()).from_origin(port.origin);
    }
    Ok(Val::map(out))
}

/// An error about a secret does not repeat it.
fn hidden(error: Box<Error>, tainted: bool) -> Box<Error> {
    if tainted { Error::new(error.kind, "a secret value does not have the form it must have") } else { error }
}

fn in_range(port: i64, property: &str) -> Result<i64> {
    if (1..=65_535).contains(&port) {
        return Ok(port);
    }
    value_error(format!("the `{property}` port {port} is not between 1 and 65535"))
}

/// `source[-last][:target[-last]][/protocol]`
fn read_ports(text: &str) -> Result<Val> {
    let (ports, protocol) = text.split_once('/').unwrap_or((text, "tcp"));
    if !["tcp", "udp", "icmp"].contains(&protocol) {
        return value_error(format!("`{protocol}` is not a protocol: expected `tcp`, `udp` or `icmp`"));
    }
    let (source, target) = ports.split_once(':').unwrap_or((ports, ports));
    let target = if target.is_empty() { source } else { target };
    let mut out = ValMap::default();
    out.insert(MapKey::from("protocol"), Val::str(protocol));
    for (name, text) in [("source", source), ("target", target)] {
        match text.split_once('-') {
            Some((first, last)) => {
                if port_number(first, name)? > port_number(last, name)? {
                    return value_error(format!("`{text}` is not a range of ports: it ends before it starts"));
                }
                let range = Val::list(vec![Val::str(first), Val::str(last)]);
                out.insert(MapKey::Str(format!("{name}_range").into()), range);
            }
            None => {
                out.insert(MapKey::from(name), Val::int(port_number(text, name)?));
            }
        }
    }
    Ok(Val::map(out))
}

fn port_number(text: &str, property: &str) -> Result<i64> {
    match python::parse_int(text) {
        Some(port) => in_range(port, property),
        None => value_error(format!("\"{text}\" is not an integer.")),
    }
}

/// A unit: its name as written, the kind of quantity, and how much of the smallest unit it is.
struct Unit {
    name: &'static str,
    kind: u8,
    factor: f64,
}

const fn unit(name: &'static str, kind: u8, factor: f64) -> Unit {
    Unit { name, kind, factor }
}

const SIZE: u8 = 0;
const TIME: u8 = 1;
const FREQUENCY: u8 = 2;
const BITRATE: u8 = 3;

const UNITS: &[Unit] = &[
    unit("B", SIZE, 1.0),
    unit("kB", SIZE, 1e3),
    unit("KiB", SIZE, 1024.0),
    unit("MB", SIZE, 1e6),
    unit("MiB", SIZE, 1_048_576.0),
    unit("GB", SIZE, 1e9),
    unit("GiB", SIZE, 1_073_741_824.0),
    unit("TB", SIZE, 1e12),
    unit("TiB", SIZE, 1_099_511_627_776.0),
    unit("d", TIME, 86_400.0),
    unit("h", TIME, 3_600.0),
    unit("m", TIME, 60.0),
    unit("s", TIME, 1.0),
    unit("ms", TIME, 1e-3),
    unit("us", TIME, 1e-6),
    unit("ns", TIME, 1e-9),
    unit("Hz", FREQUENCY, 1.0),
    unit("kHz", FREQUENCY, 1e3),
    unit("MHz", FREQUENCY, 1e6),
    unit("GHz", FREQUENCY, 1e9),
    unit("bps", BITRATE, 1.0),
    unit("Kbps", BITRATE, 1e3),
    unit("Kibps", BITRATE, 1024.0),
    unit("Mbps", BITRATE, 1e6),
    unit("Mibps", BITRATE, 1_048_576.0),
    unit("Gbps", BITRATE, 1e9),
    unit("Gibps", BITRATE, 1_073_741_824.0),
    unit("Tbps", BITRATE, 1e12),
    unit("Tibps", BITRATE, 1_099_511_627_776.0),
];

fn find_unit(name: &str) -> Result<&'static Unit> {
    let found = UNITS.iter().find(|unit| unit.name.eq_ignore_ascii_case(name));
    found.ok_or_else(|| Error::new(Kind::Value, format!("unknown unit `{name}`")))
}

/// A number and its unit.
fn read(text: &str) -> Result<(f64, &'static Unit)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || ".+-".contains(c))).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    match python::parse_float(digits) {
        Some(number) => Ok((number, find_unit(unit.trim())?)),
        None => value_error(format!("`{text}` is not a number with a unit")),
    }
}

/// A quantity in its base unit, so that quantities of one kind can be added in a template.
pub fn scalar(ctx: &Ctx<'_, '_>, value: &Val, unit: Option<&str>) -> Result<Val> {
    let text = ctx.text(value)?;
    let (number, own) = read(&text).map_err(|error| hidden(error, value.is_tainted()))?;
    let base = number * own.factor;
    let shown = match unit {
        Some(unit) => base / find_unit(unit)?.factor,
        None => base,
    };
    Ok(whole_if_exact(shown).taint_if(value.is_tainted()))
}

/// `scalar`
pub(crate) fn scalar_function(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let value = call.value(ctx)?;
    scalar(ctx, &value, None)
}

/// `scalar_value`
pub fn scalar_value(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    let value = call.value(ctx)?;
    let value = match value.as_list() {
        Some([only]) => only.clone(),
        _ => value,
    };
    let unit = call.named(ctx, "unit")?.map(|unit| ctx.text(&unit)).transpose()?;
    let tainted = value.is_tainted();
    let converted = match python::number(&value) {
        // A bare number is in the base unit of the requested kind.
        Some(number) => match &unit {
            Some(unit) => number.to_f64() / find_unit(unit)?.factor,
            None => number.to_f64(),
        },
        None => {
            let text = ctx.text(&value)?;
            let (number, own) = read(&text).map_err(|error| hidden(error, tainted))?;
            match &unit {
                Some(unit) => {
                    let wanted = find_unit(unit)?;
                    if wanted.kind != own.kind {
                        return value_error(format!("`{}` cannot be converted to `{}`", own.name, wanted.name));
                    }
                    number * own.factor / wanted.factor
                }
                None => number,
            }
        }
    };
    let rounded = match call.named(ctx, "round")?.map(|round| round.data) {
        Some(Data::Int(digits)) => crate::jinja::round_to(converted, digits.clamp(-300, 300)),
        Some(Data::Str(how)) if how == "ceil" => converted.ceil(),
        Some(Data::Str(how)) if how == "floor" => converted.floor(),
        Some(Data::Str(how)) if how == "round" => crate::jinja::round_to(converted, 0),
        _ => return Ok(whole_if_exact(converted).taint_if(tainted)),
    };
    Ok(whole_if_exact(rounded).taint_if(tainted))
}

fn whole_if_exact(x: f64) -> Val {
    if x.fract() == 0.0 && x.abs() < 9e15 { Val::int(x as i64) } else { Val::float(x) }
}
