//! Methods of `.Capabilities`: API versions and the cluster's version.

use crate::func::{Func, Ty};
use crate::funcs::{arg, bytes, row};
use crate::object::Object;
use crate::value::{Data, Val};

/// Methods of the list of API versions.
pub(crate) static VERSION_SET: &[Func] = &[row(
    "Has",
    &[Ty::Str],
    "`.Has VERSION`: whether the cluster knows `group/version` or `group/version/Kind`.",
    |m, args| {
        let found = arg(args, 0).as_list().is_some_and(|list| {
            m.heap.items(list).iter().any(|item| item.as_str().is_some_and(|text| text.bytes() == bytes(args, 1)))
        });
        Ok(Val::bool(found))
    },
)];

/// Methods of the cluster's version.
pub(crate) static KUBE_VERSION: &[Func] = &[
    row("GitVersion", &[], "`.GitVersion`: the version as text.", |_, args| Ok(version(args))),
    row("String", &[], "`.String`: the version as text.", |_, args| Ok(version(args))),
];

fn version(args: &[Val]) -> Val {
    match &arg(args, 0).data {
        Data::Object(object) => match object.as_ref() {
            Object::Struct(known) => known.text.clone().map_or_else(|| Val::str(""), Val::str),
            _ => Val::str(""),
        },
        _ => Val::str(""),
    }
}
