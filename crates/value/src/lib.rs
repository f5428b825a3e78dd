//! Values with origin and taint, laziness, scopes, merge rules and the World.
//!
//! The core that all dialects share. It knows text and trees, and no dialect.

pub mod data;
pub mod fast;
pub mod function;
pub mod rules;
pub mod run;
pub mod text;

pub use data::{emit, lazy, merge, names, origin, read, value, weight};
use data::{scope, taint};
pub use ecow::EcoString;
pub use emit::{Secrets, emit};
pub use fast::{FastIndex, FastMap, FastSet};
pub use files::{Read, Shelf, Text};
pub use lazy::{Eval, Lazy, Thunk};
pub use merge::merge_patch;
pub use meter::{Cost, Exceeded, Meter, Tab};
pub use names::{Bound, NameId, NameMark, NameRole, Names, NoteBook};
pub use origin::{Origin, OriginKind, OriginSet, Origins, Piece};
pub use purlin_syntax::{MergeKeys, calendar};
pub use read::value_of;
pub use run::{archive, lock, meter, stack, tracked, world};
use run::{common, files, recorded, seed, session};
pub use scope::{Layer, Lookup, MapLayer, Scope};
pub use seed::Seed;
pub use session::{Listing, Session};
pub use taint::Taint;
pub use text::{encoding, glob, go_pattern, ignore, image, path, pattern, python_text};
pub use value::{Data, Entries, List, Map, Pending, Value};
pub use world::{MemoryWorld, World, WorldError};
