//! Defaults, emptiness, and type tests.

use super::{arg, bytes, many, pieces, row};
use crate::equal::deep_equal;
use crate::func::{Func, Ty};
use crate::value::{Data, Val};
use purlin_value::Cost;

const A: Ty = Ty::Any;

/// The rows.
pub(crate) static FUNCS: &[Func] = &[
    pieces(many("default", &[A], A, "`default A B`: B, or A if B is empty.", |m, args| {
        match args.get(1).filter(|value| m.heap.truth(value)) {
            Some(given) => Ok(given.clone()),
            None => Ok(m.chosen("default", arg(args, 0).clone(), args.get(1..).unwrap_or_default())),
        }
    }))
    .looks(1, 2)
    .costs(Cost::Constant),
    row("empty", &[A], "`empty A`: whether A is empty: nil, false, 0, or without elements.", |m, args| {
        Ok(Val::bool(!m.heap.truth(arg(args, 0))))
    })
    .shallow()
    .costs(Cost::Constant),
    pieces(many("coalesce", &[], A, "`coalesce A…`: the first argument that is not empty.", |m, args| {
        let at = args.iter().position(|value| m.heap.truth(value));
        let passed = args.get(..at.unwrap_or(args.len())).unwrap_or_default();
        Ok(m.chosen("coalesce", at.map_or(Val::NIL, |at| arg(args, at).clone()), passed))
    }))
    .costs(Cost::Constant),
    many("all", &[], A, "`all A…`: whether no argument is empty.", |m, args| {
        Ok(Val::bool(args.iter().all(|v| m.heap.truth(v))))
    })
    .costs(Cost::Constant),
    many("any", &[], A, "`any A…`: whether an argument is not empty.", |m, args| {
        Ok(Val::bool(args.iter().any(|v| m.heap.truth(v))))
    })
    .costs(Cost::Constant),
    pieces(row("ternary", &[A, A, Ty::Bool], "`ternary A B TRUTH`: A if true, else B.", |m, args| {
        let truth = matches!(arg(args, 2).data, Data::Bool(true));
        let taken = arg(args, if truth { 0 } else { 1 }).clone();
        Ok(m.chosen("ternary", taken, args.get(2..).unwrap_or_default()))
    }))
    .looks(2, 3)
    .costs(Cost::Constant),
    row("typeOf", &[A], "`typeOf A`: the name of the Go type.", |m, args| {
        Ok(Val::str(m.heap.type_name(arg(args, 0)).as_ref()))
    })
    .shallow()
    .costs(Cost::Constant),
    row("typeIs", &[Ty::Str, A], "`typeIs NAME A`: whether the Go type has this name.", |m, args| {
        Ok(Val::bool(m.heap.type_name(arg(args, 1)).as_bytes() == bytes(args, 0)))
    })
    .shallow()
    .costs(Cost::Constant),
    row(
        "typeIsLike",
        &[Ty::Str, A],
        "`typeIsLike NAME A`: like `typeIs`, pointers counting as what they point to.",
        |m, args| {
            let name = m.heap.type_name(arg(args, 1));
            let plain = name.strip_prefix('*').unwrap_or(&name);
            Ok(Val::bool(name.as_bytes() == bytes(args, 0) || plain.as_bytes() == bytes(args, 0)))
        },
    )
    .shallow()
    .costs(Cost::Constant),
    row("kindOf", &[A], "`kindOf A`: the Go kind: `map`, `slice`, `string`, `float64` and so on.", |m, args| {
        Ok(Val::str(m.heap.kind_name(arg(args, 0))))
    })
    .shallow()
    .costs(Cost::Constant),
    row("kindIs", &[Ty::Str, A], "`kindIs NAME A`: whether that is the Go kind.", |m, args| {
        Ok(Val::bool(m.heap.kind_name(arg(args, 1)).as_bytes() == bytes(args, 0)))
    })
    .shallow()
    .costs(Cost::Constant),
    row("deepEqual", &[A, A], "`deepEqual A B`: whether both have the same type and content.", |m, args| {
        Ok(Val::bool(deep_equal(&m.heap, arg(args, 0), arg(args, 1))))
    }),
];
