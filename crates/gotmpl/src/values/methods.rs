//! Methods that templates can call on values: `.Files.Get`, `.Capabilities.APIVersions.Has`, versions, times.

use crate::func::Func;
use crate::funcs;
use crate::object::Object;
use crate::value::{Data, Heap, ListType, MapType, Val};

/// Finds a method of a value by name. Methods take precedence over map keys, as in Go.
pub fn find(heap: &Heap, receiver: &Val, name: &[u8]) -> Option<&'static Func> {
    let table: &'static [Func] = match &receiver.data {
        Data::Map(map) => match map.kind {
            MapType::Values => funcs::values::METHODS,
            MapType::Files => funcs::files::METHODS,
            _ => return None,
        },
        Data::List(list) if heap.get_list(*list).kind == ListType::VersionSet => funcs::capabilities::VERSION_SET,
        Data::Duration(_) => funcs::dates::DURATION_METHODS,
        Data::Object(object) => match object.as_ref() {
            Object::Time(_) => funcs::dates::TIME_METHODS,
            Object::Version(_) => funcs::versions::METHODS,
            Object::Struct(known) if known.name == "common.KubeVersion" => funcs::capabilities::KUBE_VERSION,
            Object::Struct(_) => return None,
        },
        _ => return None,
    };
    table.iter().find(|method| method.name.as_bytes() == name)
}
