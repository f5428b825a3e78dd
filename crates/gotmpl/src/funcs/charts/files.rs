//! Methods of `.Files`.

use std::collections::BTreeMap;

use purlin_value::encoding;
use purlin_value::glob::{Glob, Notation};
use purlin_value::meter::{BYTES_PER_STEP, Cost};

use crate::error::Fault;
use crate::func::{Func, Ty};
use crate::funcs::{arg, bytes, row};
use crate::machine::Machine;
use crate::value::{Data, ListType, MapType, Str, Val};

/// A file is looked up by its path; the others are not read.
const PATH: Cost = Cost::Linear(0b10);

/// The methods.
pub(crate) static METHODS: &[Func] = &[
    row("Get", &[Ty::Str], "`.Get PATH`: the file's text, empty if there is none.", |m, args| {
        let (text, origin) = file(m, args, bytes(args, 1)).unwrap_or_else(|| (Str::from(""), 0));
        Ok(Val::new(Data::Str(text)).at(origin))
    })
    .shallow()
    .costs(PATH),
    row("GetBytes", &[Ty::Str], "`.GetBytes PATH`: the file's bytes.", |m, args| {
        let (text, origin) = file(m, args, bytes(args, 1)).unwrap_or_else(|| (Str::from(""), 0));
        Ok(Val::new(Data::Bytes(text)).at(origin))
    })
    .costs(PATH),
    row("Glob", &[Ty::Str], "`.Glob PATTERN`: the files whose path matches.", |m, args| {
        let glob = Glob::read(&crate::funcs::text(args, 1), Notation::CHART_FILES);
        let matches = |path: &Str| glob.as_ref().is_none_or(|glob| glob.matches(&path.text()));
        let mut entries = BTreeMap::new();
        if let Some(map) = arg(args, 0).as_map() {
            for (path, value) in &m.heap.get_map(map).entries {
                if matches(path) {
                    entries.insert(path.clone(), value.clone());
                }
            }
        }
        m.spend(entries.len())?;
        Ok(m.heap.map(MapType::Files, entries))
    })
    .shallow()
    .costs(Cost::ALL),
    row("Lines", &[Ty::Str], "`.Lines PATH`: the file's lines.", |m, args| {
        let Some((text, origin)) = file(m, args, bytes(args, 1)).filter(|(text, _)| !text.is_empty()) else {
            return Ok(m.heap.strings([]));
        };
        m.spend(text.len() / BYTES_PER_STEP as usize)?;
        let whole = text.bytes().strip_suffix(b"\n").unwrap_or(text.bytes());
        let lines: Vec<Str> = whole.split(|b| *b == b'\n').map(Str::from).collect();
        m.limited_items(lines.len())?;
        let items = lines.into_iter().map(|line| Val::new(Data::Str(line)).at(origin)).collect();
        Ok(m.heap.list(ListType::Strings, items))
    })
    .costs(PATH),
    row("AsConfig", &[], "`.AsConfig`: the files as the data of a ConfigMap.", |m, args| {
        as_map(m, args, |text| Val::new(Data::Str(text.clone())))
    }),
    row("AsSecrets", &[], "`.AsSecrets`: the files as the data of a Secret.", |m, args| {
        as_map(m, args, |text| Val::str(encoding::base64(text.bytes())))
    }),
];

/// The bytes of a file and their origin.
fn file(m: &Machine<'_>, args: &[Val], path: &[u8]) -> Option<(Str, u32)> {
    let map = arg(args, 0).as_map()?;
    let file = m.heap.get_map(map).entries.get(path)?;
    match &file.data {
        Data::Bytes(text) | Data::Str(text) => Some((text.clone(), file.origin)),
        _ => None,
    }
}

fn as_map(m: &mut Machine<'_>, args: &[Val], value: fn(&Str) -> Val) -> Result<Val, Fault> {
    let mut entries = BTreeMap::new();
    if let Some(map) = arg(args, 0).as_map() {
        for (path, item) in &m.heap.get_map(map).entries {
            if let Data::Bytes(text) | Data::Str(text) = &item.data {
                entries.insert(Str::from(crate::funcs::paths::base(&path.text())), value(text).at(item.origin));
            }
        }
    }
    let map = m.heap.any_map(entries);
    let rows = crate::funcs::data::FUNCS.iter().find(|func| func.name == "toYaml");
    match rows {
        Some(func) => (func.run)(m, &[map]),
        None => Ok(Val::str("")),
    }
}
