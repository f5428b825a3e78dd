//! Moments and durations in templates: `datetime` and `timedelta` of Python, without time zones.
//!
//! Their text, fields and methods, and operators on them. The calendar itself is in `time`.

use crate::ast::Operator;
use crate::error::{Result, limit, type_error, value_error};
use crate::object::Object;
use crate::python::{self, Number};
use crate::render::Values;
use crate::time;
use crate::val::{Data, Val};
use std::cmp::Ordering;
use std::rc::Rc;

const MICRO: i128 = 1_000;
const SECOND: i128 = 1_000_000_000;
const DAY: i128 = 86_400 * SECOND;

/// Years that Python has dates for.
const FIRST: i128 = -62_135_596_800 * SECOND;
const LAST: i128 = 253_402_300_800 * SECOND;
/// The longest duration Python has.
const LONGEST: i128 = 1_000_000_000 * DAY;

/// A moment as a value, if it is within the years that have dates.
pub fn moment(nanos: i128) -> Result<Val> {
    if !(FIRST..LAST).contains(&nanos) {
        return limit("a date is outside the years 1 to 9999");
    }
    Ok(Data::Object(Rc::new(Object::Moment(nanos))).into())
}

/// A duration as a value.
pub fn duration(nanos: i128) -> Result<Val> {
    if nanos.abs() >= LONGEST {
        return limit("a duration is longer than 999999999 days");
    }
    Ok(Data::Object(Rc::new(Object::Duration(nanos))).into())
}

/// The number of nanoseconds of a moment, or of a duration.
#[derive(Clone, Copy)]
enum Time {
    At(i128),
    Long(i128),
}

fn time_of(value: &Val) -> Option<Time> {
    match &value.data {
        Data::Object(object) => match &**object {
            Object::Moment(nanos) => Some(Time::At(*nanos)),
            Object::Duration(nanos) => Some(Time::Long(*nanos)),
            _ => None,
        },
        _ => None,
    }
}

/// The result of an operator on moments and durations; none if it does not apply to them.
pub fn compute(operator: Operator, left: &Val, right: &Val) -> Option<Result<Val>> {
    use Operator::{Add, Div, FloorDiv, Mod, Mul, Sub};
    use Time::{At, Long};
    let scale = |value: &Val| python::number(value).map(Number::to_f64);
    let divisor = |nanos: i128| if nanos == 0 { value_error("division by zero") } else { Ok(nanos) };
    Some(match (operator, time_of(left), time_of(right)) {
        (Sub, Some(At(a)), Some(At(b))) => duration(a - b),
        (Add, Some(At(a)), Some(Long(b))) | (Add, Some(Long(b)), Some(At(a))) => moment(a + b),
        (Sub, Some(At(a)), Some(Long(b))) => moment(a - b),
        (Add, Some(Long(a)), Some(Long(b))) => duration(a + b),
        (Sub, Some(Long(a)), Some(Long(b))) => duration(a - b),
        (Div, Some(Long(a)), Some(Long(b))) => divisor(b).map(|b| Val::float(a as f64 / b as f64)),
        (FloorDiv, Some(Long(a)), Some(Long(b))) => divisor(b).and_then(|b| whole(floor_div(a, b))),
        (Mod, Some(Long(a)), Some(Long(b))) => divisor(b).and_then(|b| duration(a - b * floor_div(a, b))),
        (Mul, Some(Long(a)), None) => scaled(a, scale(right)?, false),
        (Mul, None, Some(Long(b))) => scaled(b, scale(left)?, false),
        (Div, Some(Long(a)), None) => scaled(a, scale(right)?, true),
        // A negative duration is written as zero minus it.
        (Sub, None, Some(Long(b))) if scale(left) == Some(0.0) => duration(-b),
        _ => return None,
    })
}

fn floor_div(a: i128, b: i128) -> i128 {
    let quotient = a / b;
    if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
}

fn whole(number: i128) -> Result<Val> {
    i64::try_from(number).map_or_else(|_| limit(crate::arithmetic::TOO_LARGE), |number| Ok(Val::int(number)))
}

/// A duration times or divided by a number, to the microsecond.
fn scaled(nanos: i128, by: f64, divided: bool) -> Result<Val> {
    if divided && by == 0.0 {
        return value_error("division by zero");
    }
    let micros = (nanos / MICRO) as f64;
    let micros = if divided { micros / by } else { micros * by };
    if !micros.is_finite() || micros.abs() >= (LONGEST / MICRO) as f64 {
        return limit("a duration is longer than 999999999 days");
    }
    duration(crate::filters::round_to(micros, 0) as i128 * MICRO)
}

/// The order of two moments or two durations.
pub fn compare(left: &Val, right: &Val) -> Option<Ordering> {
    match (time_of(left)?, time_of(right)?) {
        (Time::At(a), Time::At(b)) | (Time::Long(a), Time::Long(b)) => Some(a.cmp(&b)),
        _ => None,
    }
}

/// `str()` of a moment or a duration.
pub fn text(object: &Object) -> Option<String> {
    Some(match object {
        Object::Moment(nanos) => time::iso(*nanos).replacen('T', " ", 1),
        Object::Duration(nanos) => {
            let (days, rest) = (nanos.div_euclid(DAY), nanos.rem_euclid(DAY));
            let (seconds, micros) = (rest / SECOND, rest % SECOND / MICRO);
            let mut out = match days {
                0 => String::new(),
                1 | -1 => format!("{days} day, "),
                _ => format!("{days} days, "),
            };
            out.push_str(&format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60));
            if micros > 0 {
                out.push_str(&format!(".{micros:06}"));
            }
            out
        }
        _ => return None,
    })
}

/// The name Python gives its type.
pub fn type_name(object: &Object) -> Option<&'static str> {
    match object {
        Object::Moment(_) => Some("datetime.datetime"),
        Object::Duration(_) => Some("datetime.timedelta"),
        _ => None,
    }
}

/// A field of a moment or a duration.
pub fn field(object: &Object, name: &str) -> Option<Val> {
    match object {
        Object::Moment(nanos) => time::field(*nanos, name),
        Object::Duration(nanos) => {
            let within = nanos.rem_euclid(DAY);
            let number = match name {
                "days" => nanos.div_euclid(DAY),
                "seconds" => within / SECOND,
                "microseconds" => within % SECOND / MICRO,
                _ => return None,
            };
            i64::try_from(number).ok().map(Val::int)
        }
        _ => None,
    }
}

/// Whether a moment or a duration has a method.
pub fn has_method(object: &Object, name: &str) -> bool {
    match object {
        Object::Moment(_) => matches!(
            name,
            "strftime" | "isoformat" | "timestamp" | "date" | "time" | "replace" | "weekday" | "isoweekday" | "ctime"
        ),
        Object::Duration(_) => name == "total_seconds",
        _ => false,
    }
}

/// Calls a method of a moment or a duration.
pub fn call(object: &Object, name: &str, args: &Values) -> Result<Val> {
    match (object, name) {
        (Object::Duration(nanos), "total_seconds") => Ok(Val::float((nanos / MICRO) as f64 / 1e6)),
        (Object::Moment(nanos), "strftime") => match args.get(0, "format").and_then(Val::as_str) {
            Some(pattern) => Ok(Val::str(time::format(*nanos, pattern))),
            None => type_error("`strftime` needs a format"),
        },
        (Object::Moment(nanos), "isoformat") => {
            let separator = args.get(0, "sep").and_then(Val::as_str).unwrap_or("T");
            Ok(Val::str(time::iso(*nanos).replacen('T', separator, 1)))
        }
        (Object::Moment(nanos), "timestamp") => Ok(Val::float((nanos / MICRO) as f64 / 1e6)),
        (Object::Moment(nanos), "date") => Ok(Val::str(time::format(*nanos, "%Y-%m-%d"))),
        (Object::Moment(nanos), "time") => Ok(Val::str(time::format(*nanos, "%H:%M:%S"))),
        (Object::Moment(nanos), "ctime") => Ok(Val::str(time::format(*nanos, "%a %b %e %H:%M:%S %Y"))),
        (Object::Moment(nanos), "weekday") => Ok(Val::int(weekday(*nanos))),
        (Object::Moment(nanos), "isoweekday") => Ok(Val::int(weekday(*nanos) + 1)),
        (Object::Moment(nanos), "replace") => replaced(*nanos, args),
        _ => type_error(format!("unknown method `{name}`")),
    }
}

/// From Monday, which is 0.
fn weekday(nanos: i128) -> i64 {
    i64::try_from((nanos.div_euclid(DAY) + 3).rem_euclid(7)).unwrap_or(0)
}

/// `replace(year=…, …)`
fn replaced(nanos: i128, args: &Values) -> Result<Val> {
    const FIELDS: &[&str] = &["year", "month", "day", "hour", "minute", "second", "microsecond"];
    let mut numbers = [0; 7];
    for (at, (name, slot)) in FIELDS.iter().zip(&mut numbers).enumerate() {
        let own = time::field(nanos, name).unwrap_or_default();
        let value = args.get(at, name).unwrap_or(&own);
        match python::number(value) {
            Some(Number::Int(number)) => *slot = number,
            _ => return type_error(format!("`{name}` must be an integer")),
        }
    }
    match time::from_fields(numbers) {
        Some(nanos) => moment(nanos),
        None => value_error("no such date or time exists"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn shown(value: Result<Val>) -> String {
        match &value.unwrap().data {
            Data::Object(object) => text(object).unwrap(),
            _ => String::new(),
        }
    }

    #[test]
    fn durations_print_as_in_python() {
        assert_eq!(shown(duration(2 * DAY)), "2 days, 0:00:00");
        assert_eq!(shown(duration(-SECOND)), "-1 day, 23:59:59");
        assert_eq!(shown(duration(90 * SECOND + 5 * MICRO)), "0:01:30.000005");
    }

    /// Adding a difference gives the original again.
    #[test]
    fn differences_add_up() {
        for (a, b) in [(0, DAY), (5 * DAY + 7, -3 * DAY), (-SECOND, LAST - 1)] {
            let (a, b) = (moment(a).unwrap(), moment(b).unwrap());
            let between = compute(Operator::Sub, &a, &b).unwrap().unwrap();
            let back = compute(Operator::Add, &b, &between).unwrap().unwrap();
            assert_eq!(compare(&a, &back), Some(Ordering::Equal));
        }
    }

    #[test]
    fn dates_end() {
        let last = moment(LAST - 1).unwrap();
        let day = duration(DAY).unwrap();
        assert!(compute(Operator::Add, &last, &day).unwrap().is_err());
        assert!(compute(Operator::Mul, &day, &Val::float(1e300)).unwrap().is_err());
    }
}
