//! Dates and durations. The clock is read once for a run.

use std::sync::Arc;

use super::{arg, bytes, row as plain_row, text};
use crate::error::Fault;
use crate::func::{Func, Run, Ty};
use crate::machine::Machine;
use crate::object::{Object, Struct};
use crate::time::{SECOND, Time, format_duration, parse_duration};
use crate::value::{Data, Val};
use purlin_value::Cost;

const A: Ty = Ty::Any;
const S: Ty = Ty::Str;

/// A function that reads every character.
const fn row(name: &'static str, params: &'static [Ty], about: &'static str, run: Run) -> Func {
    plain_row(name, params, about, run).costs(Cost::Slow)
}

/// The rows.
pub(crate) static FUNCS: &[Func] = &[
    row("now", &[], "`now`: the time of this run.", |m, _| Ok(time_value(now(m)))).costs(Cost::Constant),
    row("date", &[S, A], "`date LAYOUT TIME`: the date in Go's layout.", |m, args| {
        Ok(Val::str(local(moment(m, arg(args, 1))).format(&text(args, 0))))
    }),
    row("dateInZone", &[S, A, S], "`dateInZone LAYOUT TIME ZONE`: the date in Go's layout, in a zone.", in_zone),
    row("date_in_zone", &[S, A, S], "`date_in_zone LAYOUT TIME ZONE`: the same as `dateInZone`.", in_zone),
    row("htmlDate", &[A], "`htmlDate TIME`: the date as year-month-day.", |m, args| {
        Ok(Val::str(local(moment(m, arg(args, 0))).format("2006-01-02")))
    }),
    row("htmlDateInZone", &[A, S], "`htmlDateInZone TIME ZONE`: the date as year-month-day, in a zone.", |m, args| {
        Ok(Val::str(zoned(moment(m, arg(args, 0)), bytes(args, 1)).format("2006-01-02")))
    }),
    row(
        "dateModify",
        &[S, Ty::Time],
        "`dateModify DURATION TIME`: the time moved; unchanged if the duration is bad.",
        modify,
    ),
    row("date_modify", &[S, Ty::Time], "`date_modify DURATION TIME`: the same as `dateModify`.", modify),
    row("mustDateModify", &[S, Ty::Time], "`mustDateModify DURATION TIME`: the time moved.", must_modify),
    row(
        "must_date_modify",
        &[S, Ty::Time],
        "`must_date_modify DURATION TIME`: the same as `mustDateModify`.",
        must_modify,
    ),
    row(
        "toDate",
        &[S, S],
        "`toDate LAYOUT TEXT`: the time read in Go's layout; the year 1 if it is bad.",
        |_, args| Ok(time_value(Time::parse(&text(args, 0), &text(args, 1)).unwrap_or_else(|_| Time::zero()))),
    ),
    row("mustToDate", &[S, S], "`mustToDate LAYOUT TEXT`: the time read in Go's layout.", |_, args| {
        Time::parse(&text(args, 0), &text(args, 1)).map(time_value).map_err(Fault::new)
    }),
    row("unixEpoch", &[Ty::Time], "`unixEpoch TIME`: seconds since 1970.", |_, args| {
        Ok(Val::str(time_of(arg(args, 0)).map_or(0, |time| time.unix()).to_string()))
    }),
    row("ago", &[A], "`ago TIME`: how long ago that was.", |m, args| {
        let passed = now(m).nanos - moment(m, arg(args, 0)).nanos;
        let seconds = (passed as f64 / SECOND as f64).round() as i64;
        Ok(Val::str(format_duration(seconds.saturating_mul(SECOND as i64))))
    }),
    row("duration", &[A], "`duration SECONDS`: the seconds as a duration.", |_, args| {
        let seconds = match &arg(args, 0).data {
            Data::Str(text) => text.text().parse().unwrap_or(0),
            Data::Int64(seconds) => *seconds,
            _ => 0,
        };
        Ok(Val::str(format_duration(seconds.wrapping_mul(SECOND as i64))))
    }),
    row("durationRound", &[A], "`durationRound A`: the duration in its largest unit.", |m, args| {
        Ok(Val::str(rough(m, arg(args, 0))))
    }),
    row("mustToDuration", &[A], "`mustToDuration A`: a duration from a text or a number of seconds.", |m, args| {
        duration_of(m, arg(args, 0)).map(|nanos| Val::new(Data::Duration(nanos))).map_err(Fault::new)
    }),
    row("durationSeconds", &[A], "`durationSeconds A`: the duration in seconds.", |m, args| {
        Ok(in_units(m, args, SECOND))
    }),
    row("durationMinutes", &[A], "`durationMinutes A`: the duration in minutes.", |m, args| {
        Ok(in_units(m, args, 60 * SECOND))
    }),
    row("durationHours", &[A], "`durationHours A`: the duration in hours.", |m, args| {
        Ok(in_units(m, args, 3_600 * SECOND))
    }),
    row("durationDays", &[A], "`durationDays A`: the duration in days.", |m, args| {
        Ok(in_units(m, args, 86_400 * SECOND))
    }),
    row("durationWeeks", &[A], "`durationWeeks A`: the duration in weeks.", |m, args| {
        Ok(in_units(m, args, 604_800 * SECOND))
    }),
    row("durationMilliseconds", &[A], "`durationMilliseconds A`: the duration in whole milliseconds.", |m, args| {
        Ok(whole_units(m, args, 1_000_000))
    }),
    row("durationMicroseconds", &[A], "`durationMicroseconds A`: the duration in whole microseconds.", |m, args| {
        Ok(whole_units(m, args, 1_000))
    }),
    row("durationNanoseconds", &[A], "`durationNanoseconds A`: the duration in nanoseconds.", |m, args| {
        Ok(whole_units(m, args, 1))
    }),
    row(
        "durationRoundTo",
        &[A, A],
        "`durationRoundTo A UNIT`: the duration rounded to a multiple of UNIT.",
        |m, args| {
            let (nanos, unit) = (lenient(m, arg(args, 0)), lenient(m, arg(args, 1)));
            Ok(Val::new(Data::Duration(round_to(nanos, unit))))
        },
    ),
    row(
        "durationTruncateTo",
        &[A, A],
        "`durationTruncateTo A UNIT`: the duration cut to a multiple of UNIT.",
        |m, args| {
            let (nanos, unit) = (lenient(m, arg(args, 0)), lenient(m, arg(args, 1)));
            Ok(Val::new(Data::Duration(if unit <= 0 { nanos } else { nanos - nanos % unit })))
        },
    ),
];

/// Methods of times.
pub(crate) static TIME_METHODS: &[Func] = &[
    row("Format", &[S], "`.Format LAYOUT`: the time in Go's layout.", |_, args| {
        Ok(Val::str(time_of(arg(args, 0)).map(|time| time.format(&text(args, 1))).unwrap_or_default()))
    }),
    row("Unix", &[], "`.Unix`: seconds since 1970.", |_, args| {
        Ok(Val::new(Data::Int64(time_of(arg(args, 0)).map_or(0, |t| t.unix()))))
    }),
    row("UnixNano", &[], "`.UnixNano`: nanoseconds since 1970.", |_, args| {
        Ok(Val::new(Data::Int64(time_of(arg(args, 0)).map_or(0, |t| t.nanos as i64))))
    }),
    row("UTC", &[], "`.UTC`: the time in UTC.", |_, args| {
        Ok(time_value(zoned(time_of(arg(args, 0)).unwrap_or_else(Time::zero), b"UTC")))
    }),
    row("Year", &[], "`.Year`: the year.", |_, args| Ok(Val::int(time_of(arg(args, 0)).map_or(0, |t| t.civil().year)))),
    row("Day", &[], "`.Day`: the day of the month.", |_, args| {
        Ok(Val::int(time_of(arg(args, 0)).map_or(0, |t| i64::from(t.civil().day))))
    }),
    row("Hour", &[], "`.Hour`: the hour.", |_, args| {
        Ok(Val::int(time_of(arg(args, 0)).map_or(0, |t| i64::from(t.civil().hour))))
    }),
    row("Minute", &[], "`.Minute`: the minute.", |_, args| {
        Ok(Val::int(time_of(arg(args, 0)).map_or(0, |t| i64::from(t.civil().minute))))
    }),
    row("Second", &[], "`.Second`: the second.", |_, args| {
        Ok(Val::int(time_of(arg(args, 0)).map_or(0, |t| i64::from(t.civil().second))))
    }),
    row("YearDay", &[], "`.YearDay`: the day of the year.", |_, args| {
        Ok(Val::int(time_of(arg(args, 0)).map_or(0, |t| i64::from(t.civil().yearday))))
    }),
    row("Month", &[], "`.Month`: the month.", |_, args| {
        let name = time_of(arg(args, 0)).map(|t| t.format("January")).unwrap_or_default();
        Ok(named("time.Month", name))
    }),
    row("Weekday", &[], "`.Weekday`: the day of the week.", |_, args| {
        let name = time_of(arg(args, 0)).map(|t| t.format("Monday")).unwrap_or_default();
        Ok(named("time.Weekday", name))
    }),
    row("AddDate", &[Ty::Int, Ty::Int, Ty::Int], "`.AddDate YEARS MONTHS DAYS`: the time moved.", |_, args| {
        let time = time_of(arg(args, 0)).unwrap_or_else(Time::zero);
        Ok(time_value(time.add_date(super::int(args, 1), super::int(args, 2), super::int(args, 3))))
    }),
    row("Sub", &[Ty::Time], "`.Sub TIME`: the duration since another time.", |_, args| {
        let [a, b] = [0, 1].map(|index| time_of(arg(args, index)).map_or(0, |t| t.nanos));
        let nanos = (a - b).clamp(i128::from(i64::MIN), i128::from(i64::MAX));
        Ok(Val::new(Data::Duration(nanos as i64)))
    }),
    row("Before", &[Ty::Time], "`.Before TIME`: whether it is earlier.", |_, args| {
        let [a, b] = [0, 1].map(|index| time_of(arg(args, index)).map_or(0, |t| t.nanos));
        Ok(Val::bool(a < b))
    }),
    row("After", &[Ty::Time], "`.After TIME`: whether it is later.", |_, args| {
        let [a, b] = [0, 1].map(|index| time_of(arg(args, index)).map_or(0, |t| t.nanos));
        Ok(Val::bool(a > b))
    }),
    row("Equal", &[Ty::Time], "`.Equal TIME`: whether it is the same instant.", |_, args| {
        let [a, b] = [0, 1].map(|index| time_of(arg(args, index)).map_or(0, |t| t.nanos));
        Ok(Val::bool(a == b))
    }),
    row("UnixMilli", &[], "`.UnixMilli`: milliseconds since 1970.", |_, args| {
        Ok(Val::new(Data::Int64(time_of(arg(args, 0)).map_or(0, |t| t.nanos.div_euclid(1_000_000) as i64))))
    }),
    row("Nanosecond", &[], "`.Nanosecond`: the nanosecond within the second.", |_, args| {
        Ok(Val::int(time_of(arg(args, 0)).map_or(0, |t| i64::from(t.civil().nano))))
    }),
    row("String", &[], "`.String`: the time as text.", |_, args| {
        Ok(Val::str(time_of(arg(args, 0)).map(|t| t.to_string()).unwrap_or_default()))
    }),
    row("IsZero", &[], "`.IsZero`: whether it is the year 1.", |_, args| {
        Ok(Val::bool(time_of(arg(args, 0)).is_some_and(|t| t.nanos == Time::zero().nanos)))
    }),
];

/// Methods of durations.
pub(crate) static DURATION_METHODS: &[Func] = &[
    row("Seconds", &[], "`.Seconds`: the duration in seconds.", |m, args| Ok(in_units(m, args, SECOND))),
    row("Minutes", &[], "`.Minutes`: the duration in minutes.", |m, args| Ok(in_units(m, args, 60 * SECOND))),
    row("Hours", &[], "`.Hours`: the duration in hours.", |m, args| Ok(in_units(m, args, 3_600 * SECOND))),
    row("Milliseconds", &[], "`.Milliseconds`: the duration in whole milliseconds.", |m, args| {
        Ok(whole_units(m, args, 1_000_000))
    }),
    row("Nanoseconds", &[], "`.Nanoseconds`: the duration in nanoseconds.", |m, args| Ok(whole_units(m, args, 1))),
    row("String", &[], "`.String`: the duration as text.", |m, args| {
        Ok(Val::str(format_duration(lenient(m, arg(args, 0)))))
    }),
];

fn now(m: &Machine<'_>) -> Time {
    Time::utc(m.outside.now)
}

fn time_value(time: Time) -> Val {
    Val::new(Data::Object(Arc::new(Object::Time(time))))
}

/// A month or a weekday, which print as their names.
fn named(name: &'static str, text: String) -> Val {
    Val::new(Data::Object(Arc::new(Object::Struct(Struct {
        name,
        fields: Vec::new(),
        text: Some(text.as_str().into()),
    }))))
}

fn time_of(value: &Val) -> Option<Time> {
    match &value.data {
        Data::Object(object) => match object.as_ref() {
            Object::Time(time) => Some(time.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// A time from a time or from seconds; any other value is now.
fn moment(m: &Machine<'_>, value: &Val) -> Time {
    let seconds = match value.data {
        Data::Int(n) | Data::Int64(n) => n,
        _ => return time_of(value).unwrap_or_else(|| now(m)),
    };
    Time::utc(i128::from(seconds) * SECOND)
}

/// The same instant in the local zone, which is UTC on every machine.
fn local(time: Time) -> Time {
    Time::utc(time.nanos)
}

/// The same instant in a zone.
fn zoned(time: Time, zone: &[u8]) -> Time {
    crate::zone::in_zone(&time, &String::from_utf8_lossy(zone))
}

fn in_zone(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    Ok(Val::str(zoned(moment(m, arg(args, 1)), bytes(args, 2)).format(&text(args, 0))))
}

fn modify(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    Ok(must_modify(m, args).unwrap_or_else(|_| arg(args, 1).clone()))
}

fn must_modify(_: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let by = parse_duration(&text(args, 0)).map_err(Fault::new)?;
    let time = time_of(arg(args, 1)).unwrap_or_else(Time::zero);
    Ok(time_value(Time { nanos: time.nanos + i128::from(by), ..time }))
}

/// A duration from a duration, a string (`1h` or seconds) or a number of seconds.
fn duration_of(m: &Machine<'_>, value: &Val) -> Result<i64, String> {
    let from_seconds = |seconds: f64| super::casts::float_to_int(seconds * SECOND as f64);
    match &value.data {
        Data::Duration(nanos) => Ok(*nanos),
        Data::Str(text) => {
            let text = text.text();
            let trimmed = text.trim();
            parse_duration(trimmed).or_else(|error| crate::number::parse_float(trimmed).map(from_seconds).ok_or(error))
        }
        Data::Int(n) | Data::Int64(n) => Ok(n.wrapping_mul(SECOND as i64)),
        Data::Uint64(n) => Ok((*n as i64).wrapping_mul(SECOND as i64)),
        Data::Uint8(n) => Ok(i64::from(*n) * SECOND as i64),
        Data::Float(n) => Ok(from_seconds(*n)),
        _ => Err(format!("unsupported duration type {}", m.heap.type_name(value))),
    }
}

fn lenient(m: &Machine<'_>, value: &Val) -> i64 {
    duration_of(m, value).unwrap_or(0)
}

fn in_units(m: &Machine<'_>, args: &[Val], unit: i128) -> Val {
    let nanos = lenient(m, arg(args, 0));
    let (whole, rest) = (nanos / unit as i64, nanos % unit as i64);
    Val::float(whole as f64 + rest as f64 / unit as f64)
}

fn whole_units(m: &Machine<'_>, args: &[Val], unit: i64) -> Val {
    Val::new(Data::Int64(lenient(m, arg(args, 0)) / unit))
}

fn round_to(nanos: i64, unit: i64) -> i64 {
    if unit <= 0 {
        return nanos;
    }
    let rest = nanos % unit;
    if nanos < 0 {
        return if -rest * 2 < unit { nanos - rest } else { nanos - rest - unit };
    }
    if rest * 2 < unit { nanos - rest } else { nanos - rest + unit }
}

/// A duration as one number with its largest unit: `2h`, `3d`, `1y`.
fn rough(m: &Machine<'_>, value: &Val) -> String {
    let nanos = match &value.data {
        Data::Str(text) => parse_duration(&text.text()).unwrap_or(0),
        Data::Int64(nanos) => *nanos,
        Data::Object(_) => time_of(value).map_or(0, |time| (now(m).nanos - time.nanos) as i64),
        _ => 0,
    };
    let seconds = nanos.unsigned_abs() / SECOND as u64;
    const SIZES: &[(u64, &str)] =
        &[(31_536_000, "y"), (2_592_000, "mo"), (86_400, "d"), (3_600, "h"), (60, "m"), (1, "s")];
    for (size, unit) in SIZES {
        if seconds > *size || seconds == *size && *size == 1 {
            return format!("{}{unit}", seconds / size);
        }
    }
    "0s".to_owned()
}
