//! Semantic versions and ranges.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{arg, bytes, row as plain_row, text};
use crate::error::Fault;
use crate::func::{Func, Run, Ty};
use crate::object::Object;
use crate::semver::{Range, Version};
use crate::value::{Data, Val};
use purlin_value::Cost;

/// Steps per byte of a range, beyond reading it: two bytes can be a comparison.
const STEPS_PER_BYTE: usize = 8;

/// A function that reads every character.
const fn row(name: &'static str, params: &'static [Ty], about: &'static str, run: Run) -> Func {
    plain_row(name, params, about, run).costs(Cost::Slow)
}

/// The rows.
pub(crate) static FUNCS: &[Func] = &[
    row("semver", &[Ty::Str], "`semver TEXT`: the version, with `.Major`, `.Minor`, `.Patch` and so on.", |_, args| {
        read(&text(args, 0)).map(value)
    }),
    row(
        "semverCompare",
        &[Ty::Str, Ty::Str],
        "`semverCompare RANGE VERSION`: whether the version is in the range.",
        |m, args| {
            m.spend(bytes(args, 0).len() * STEPS_PER_BYTE)?;
            let range = Range::parse(&text(args, 0)).map_err(Fault::new)?;
            let version = read(&text(args, 1))?;
            Ok(Val::bool(range.contains(&version)))
        },
    ),
];

/// Methods of versions.
pub(crate) static METHODS: &[Func] = &[
    row("Major", &[], "`.Major`: the first number.", |_, args| Ok(number(args, 0))),
    row("Minor", &[], "`.Minor`: the second number.", |_, args| Ok(number(args, 1))),
    row("Patch", &[], "`.Patch`: the third number.", |_, args| Ok(number(args, 2))),
    row("Prerelease", &[], "`.Prerelease`: the part after `-`.", |_, args| {
        Ok(Val::str(of(args, 0).map(|v| v.pre).unwrap_or_default()))
    }),
    row("Metadata", &[], "`.Metadata`: the part after `+`.", |_, args| {
        Ok(Val::str(of(args, 0).map(|v| v.meta).unwrap_or_default()))
    }),
    row("Original", &[], "`.Original`: the version as it was written.", |_, args| {
        Ok(Val::str(of(args, 0).map(|v| v.original).unwrap_or_default()))
    }),
    row("String", &[], "`.String`: the version as text.", |_, args| {
        Ok(Val::str(of(args, 0).map(|v| v.to_string()).unwrap_or_default()))
    }),
    row("Compare", &[Ty::Version], "`.Compare OTHER`: -1, 0 or 1.", |_, args| Ok(Val::int(order(args) as i64))),
    row("Equal", &[Ty::Version], "`.Equal OTHER`: whether both are the same.", |_, args| {
        Ok(Val::bool(order(args) == Ordering::Equal))
    }),
    row("LessThan", &[Ty::Version], "`.LessThan OTHER`: whether this one is older.", |_, args| {
        Ok(Val::bool(order(args) == Ordering::Less))
    }),
    row("GreaterThan", &[Ty::Version], "`.GreaterThan OTHER`: whether this one is newer.", |_, args| {
        Ok(Val::bool(order(args) == Ordering::Greater))
    }),
    row("LessThanEqual", &[Ty::Version], "`.LessThanEqual OTHER`: whether this one is not newer.", |_, args| {
        Ok(Val::bool(order(args) != Ordering::Greater))
    }),
    row("GreaterThanEqual", &[Ty::Version], "`.GreaterThanEqual OTHER`: whether this one is not older.", |_, args| {
        Ok(Val::bool(order(args) != Ordering::Less))
    }),
    row("IncMajor", &[], "`.IncMajor`: the next major version.", |_, args| Ok(next(args, 0))),
    row("IncMinor", &[], "`.IncMinor`: the next minor version.", |_, args| Ok(next(args, 1))),
    row("IncPatch", &[], "`.IncPatch`: the next patch version.", |_, args| Ok(next(args, 2))),
];

fn read(text: &str) -> Result<Version, Fault> {
    Version::parse(text)
        .ok_or_else(|| Fault::new(if text.is_empty() { "version string empty" } else { "invalid semantic version" }))
}

fn value(version: Version) -> Val {
    Val::new(Data::Object(Arc::new(Object::Version(version))))
}

fn of(args: &[Val], index: usize) -> Option<Version> {
    match &arg(args, index).data {
        Data::Object(object) => match object.as_ref() {
            Object::Version(version) => Some(version.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn number(args: &[Val], index: usize) -> Val {
    Val::new(Data::Uint64(of(args, 0).and_then(|v| v.numbers.get(index).copied()).unwrap_or(0)))
}

fn order(args: &[Val]) -> Ordering {
    match (of(args, 0), of(args, 1)) {
        (Some(a), Some(b)) => a.compare(&b),
        _ => Ordering::Equal,
    }
}

fn next(args: &[Val], index: usize) -> Val {
    let Some(version) = of(args, 0) else { return Val::NIL };
    let mut numbers = version.numbers;
    // A pre-release becomes its release first.
    if let Some(place) = numbers.get_mut(index).filter(|_| index < 2 || version.pre.is_empty()) {
        *place += 1;
    }
    for place in numbers.iter_mut().skip(index + 1) {
        *place = 0;
    }
    let mut result = Version { numbers, pre: String::new(), meta: String::new(), original: String::new() };
    let prefix = if version.original.starts_with('v') { "v" } else { "" };
    result.original = format!("{prefix}{result}");
    value(result)
}
