//! Values with origin and taint, laziness, scopes, merge rules and the World.
//!
//! The core that all dialects share. It knows text and trees, and no dialect.

pub mod archive;
mod common;
pub mod emit;
pub mod encoding;
pub mod fast;
mod files;
pub mod function;
pub mod glob;
pub mod go_pattern;
pub mod ignore;
pub mod image;
pub mod lazy;
pub mod lock;
pub mod merge;
pub mod meter;
pub mod names;
pub mod origin;
pub mod path;
pub mod pattern;
pub mod python_text;
pub mod read;
mod recorded;
pub mod rules;
mod scope;
mod seed;
mod session;
pub mod stack;
mod taint;
pub mod tracked;
pub mod value;
pub mod weight;
pub mod world;

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
pub use scope::{Layer, Lookup, MapLayer, Scope};
pub use seed::Seed;
pub use session::{Listing, Session};
pub use taint::Taint;
pub use value::{Data, Entries, List, Map, Pending, Value};
pub use world::{MemoryWorld, World, WorldError};
