//! Methods of chart values: `.Values.AsMap`, `.Values.YAML`, `.Values.Table`.

use purlin_syntax::write::{GoStyle, GoYamlWriter};

use crate::emit::{KeyOrder, emit};
use crate::error::Fault;
use crate::func::{Func, Ty};
use crate::funcs::{arg, pieces, row, text};
use crate::value::{Data, MapType, Val};
use purlin_value::meter::Cost;

/// The methods.
pub(crate) static METHODS: &[Func] = &[
    pieces(row("AsMap", &[], "`.AsMap`: the values as an ordinary dictionary.", |_, args| {
        let value = arg(args, 0);
        let Data::Map(map) = value.data else { return Ok(value.clone()) };
        Ok(Val::new(Data::Map(map.seen_as(MapType::Any))).at(value.origin))
    }))
    .shallow()
    .costs(Cost::Constant),
    row("YAML", &[], "`.YAML`: the values as YAML.", |m, args| {
        let mut writer = GoYamlWriter::with_limit(GoStyle::Kubernetes, m.limits.text);
        emit(&m.heap, arg(args, 0), KeyOrder::Natural(GoStyle::Kubernetes), &mut writer, &mut |_, _| {})
            .map_err(|error| Fault::new(error.message()))?;
        Ok(Val::str(writer.finish().unwrap_or_default()))
    }),
    pieces(row("Table", &[Ty::Str], "`.Table PATH`: the dictionary under a dotted path.", |m, args| {
        let mut current = arg(args, 0).clone();
        for name in text(args, 1).split('.') {
            let found = current.as_map().and_then(|map| m.heap.lookup(map, name.as_bytes()));
            match found {
                Some(value) if value.as_map().is_some() => current = value.unboxed(),
                _ => return Err(Fault::new(format!("{} is not a table", crate::quote::quote(name.as_bytes())))),
            }
        }
        Ok(current)
    }))
    .shallow()
    .costs(Cost::Linear(0b10)),
    pieces(row("PathValue", &[Ty::Str], "`.PathValue PATH`: the value under a dotted path.", |m, args| {
        let mut current = arg(args, 0).clone();
        for name in text(args, 1).split('.') {
            let found = current.as_map().and_then(|map| m.heap.lookup(map, name.as_bytes()));
            match found {
                Some(value) => current = value.unboxed(),
                None => return Err(Fault::new(format!("{} is not a value", crate::quote::quote(name.as_bytes())))),
            }
        }
        Ok(current)
    }))
    .shallow()
    .costs(Cost::Linear(0b10)),
];
