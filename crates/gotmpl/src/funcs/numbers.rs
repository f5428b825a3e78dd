//! Arithmetic, with Sprig's loose conversions: integers wrap, floats are computed as decimals.

use super::casts::{to_float64, to_int64};
use super::{arg, int, many, row, text};
use crate::cause::Cause;
use crate::decimal::Decimal;
use crate::error::Fault;
use crate::func::{Func, Ty};
use crate::machine::Machine;
use crate::value::{Data, ListType, Val};
use purlin_value::Cost;

const A: Ty = Ty::Any;

fn long(number: i64) -> Val {
    Val::new(Data::Int64(number))
}

/// The rows.
pub(crate) static FUNCS: &[Func] = &[
    row("int", &[A], "`int A`: the value as an integer.", |_, args| Ok(Val::int(to_int64(arg(args, 0))))),
    row("int64", &[A], "`int64 A`: the value as a 64-bit integer.", |_, args| Ok(long(to_int64(arg(args, 0))))),
    row("float64", &[A], "`float64 A`: the value as a floating-point number.", |_, args| {
        Ok(Val::float(to_float64(arg(args, 0))))
    }),
    row("atoi", &[Ty::Str], "`atoi TEXT`: the decimal number, or 0.", |_, args| {
        let text = text(args, 0);
        let digits = text.strip_prefix(['+', '-']).unwrap_or(&text);
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        Ok(Val::int(if plain { text.trim_start_matches('+').parse().unwrap_or(0) } else { 0 }))
    }),
    row("toDecimal", &[A], "`toDecimal A`: an octal number as a decimal one.", |m, args| {
        let text = crate::print::to_text(&m.heap, arg(args, 0));
        Ok(long(i64::from_str_radix(&text.text(), 8).unwrap_or(0)))
    }),
    row("add1", &[A], "`add1 A`: one more.", |_, args| Ok(long(to_int64(arg(args, 0)).wrapping_add(1)))),
    many("add", &[], A, "`add A…`: the sum.", |_, args| {
        Ok(long(args.iter().fold(0, |sum: i64, a| sum.wrapping_add(to_int64(a)))))
    }),
    row("sub", &[A, A], "`sub A B`: A less B.", |_, args| {
        Ok(long(to_int64(arg(args, 0)).wrapping_sub(to_int64(arg(args, 1)))))
    }),
    many("mul", &[A], A, "`mul A B…`: the product.", |_, args| {
        Ok(long(args.iter().fold(1, |all: i64, a| all.wrapping_mul(to_int64(a)))))
    }),
    row("div", &[A, A], "`div A B`: the whole quotient.", |_, args| divide(args, i64::wrapping_div)),
    row("mod", &[A, A], "`mod A B`: the remainder.", |_, args| divide(args, i64::wrapping_rem)),
    many("max", &[A], A, "`max A…`: the greatest.", |_, args| Ok(long(args.iter().map(to_int64).max().unwrap_or(0)))),
    many("biggest", &[A], A, "`biggest A…`: the same as `max`.", |_, args| {
        Ok(long(args.iter().map(to_int64).max().unwrap_or(0)))
    }),
    many("min", &[A], A, "`min A…`: the least.", |_, args| Ok(long(args.iter().map(to_int64).min().unwrap_or(0)))),
    many("maxf", &[A], A, "`maxf A…`: the greatest, as a float.", |_, args| {
        Ok(Val::float(args.iter().map(to_float64).fold(f64::NEG_INFINITY, f64::max)))
    }),
    many("minf", &[A], A, "`minf A…`: the least, as a float.", |_, args| {
        Ok(Val::float(args.iter().map(to_float64).fold(f64::INFINITY, f64::min)))
    }),
    many("addf", &[], A, "`addf A…`: the sum, as a float.", |_, args| {
        fold(args, Decimal::of(0.0), |sum, next| Ok(sum.add(&next)))
    }),
    row("add1f", &[A], "`add1f A`: one more, as a float.", |_, args| {
        fold(args, Decimal::of(1.0), |sum, next| Ok(sum.add(&next)))
    }),
    many("subf", &[A], A, "`subf A B…`: A less the others, as a float.", |_, args| {
        chain(args, |left, next| Ok(left.sub(&next)))
    }),
    many("mulf", &[A], A, "`mulf A B…`: the product, as a float.", |_, args| {
        chain(args, |left, next| Ok(left.mul(&next)))
    }),
    many("divf", &[A], A, "`divf A B…`: the quotient, as a float.", |_, args| {
        chain(args, |left, next| left.div(&next).ok_or_else(|| Fault::new("decimal division by 0")))
    }),
    row("ceil", &[A], "`ceil A`: the next higher integer.", |_, args| Ok(Val::float(to_float64(arg(args, 0)).ceil()))),
    row("floor", &[A], "`floor A`: the next lower integer.", |_, args| {
        Ok(Val::float(to_float64(arg(args, 0)).floor()))
    }),
    many(
        "round",
        &[A, Ty::Int],
        Ty::Float,
        "`round A N [ON]`: rounded to N digits, up from a remainder of ON (0.5).",
        |_, args| {
            let on = match args.get(2).map(|value| &value.data) {
                Some(Data::Float(on)) => *on,
                _ => 0.5,
            };
            Ok(Val::float(round(to_float64(arg(args, 0)), int(args, 1), on)))
        },
    ),
    row("until", &[Ty::Int], "`until N`: the list 0, 1, …, N-1.", |m, args| {
        let stop = int(args, 0);
        steps(m, 0, stop, if stop < 0 { -1 } else { 1 })
    })
    .costs(Cost::Constant),
    row(
        "untilStep",
        &[Ty::Int, Ty::Int, Ty::Int],
        "`untilStep FROM TO STEP`: the numbers from FROM up to, not including, TO.",
        |m, args| steps(m, int(args, 0), int(args, 1), int(args, 2)),
    )
    .costs(Cost::Constant),
    many("seq", &[], Ty::Int, "`seq [FROM [STEP]] TO`: the numbers up to and including TO, as one text.", seq)
        .costs(Cost::Constant),
    row(
        "randInt",
        &[Ty::Int, Ty::Int],
        "`randInt FROM TO`: a random number from FROM up to, not including, TO.",
        |m, args| {
            let (low, high) = (int(args, 0), int(args, 1));
            if high <= low {
                return Err(Fault::new("invalid argument to Intn"));
            }
            let span = high.wrapping_sub(low) as u64;
            Ok(Val::int(low.wrapping_add(m.random().below(span) as i64)))
        },
    ),
];

fn divide(args: &[Val], how: fn(i64, i64) -> i64) -> Result<Val, Fault> {
    let by = to_int64(arg(args, 1));
    if by == 0 {
        return Err(Cause::DivisionByZero.into());
    }
    Ok(long(how(to_int64(arg(args, 0)), by)))
}

type Step = fn(Decimal, Decimal) -> Result<Decimal, Fault>;

fn fold(args: &[Val], start: Decimal, step: Step) -> Result<Val, Fault> {
    let mut result = start;
    for value in args {
        result = step(result, Decimal::of(to_float64(value)))?;
    }
    Ok(Val::float(result.to_f64()))
}

fn chain(args: &[Val], step: Step) -> Result<Val, Fault> {
    let (first, rest) = args.split_at(1.min(args.len()));
    fold(rest, Decimal::of(to_float64(arg(first, 0))), step)
}

fn round(number: f64, places: i64, on: f64) -> f64 {
    let power = 10f64.powi(places.clamp(-400, 400) as i32);
    let digit = power * number;
    let fraction = digit - digit.trunc();
    // Sprig tests the signed remainder, so negative numbers are rounded down.
    if fraction >= on { digit.ceil() / power } else { digit.floor() / power }
}

fn steps(m: &mut Machine<'_>, start: i64, stop: i64, step: i64) -> Result<Val, Fault> {
    let mut items = Vec::new();
    let count = if step == 0 {
        0
    } else {
        let span = i128::from(stop) - i128::from(start);
        let step = i128::from(step);
        if (span > 0) == (step > 0) { (span + step - step.signum()) / step } else { 0 }
    };
    m.limited_items(usize::try_from(count).unwrap_or(usize::MAX))?;
    for index in 0..count.max(0) as i64 {
        items.push(Val::int(start.wrapping_add(index.wrapping_mul(step))));
    }
    Ok(m.heap.list(ListType::Ints, items))
}

fn seq(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let (start, step, end) = match args.len() {
        0 => return Ok(Val::str("")),
        1 => (1, if int(args, 0) < 1 { -1 } else { 1 }, int(args, 0)),
        2 => (int(args, 0), if int(args, 1) < int(args, 0) { -1 } else { 1 }, int(args, 1)),
        3 => (int(args, 0), int(args, 1), int(args, 2)),
        _ => return Ok(Val::str("")),
    };
    if args.len() == 3 && (step > 0 && end < start || step == 0) {
        return Ok(Val::str(""));
    }
    let list = steps(m, start, end.saturating_add(step.signum()), step)?;
    let texts: Vec<Vec<u8>> = match list.data {
        Data::List(list) => m.heap.items(list).iter().map(|item| crate::print::sprint(&m.heap, item)).collect(),
        _ => Vec::new(),
    };
    m.limited(texts.join(&b' '))
}
