//! Compares the trees of the two readers, for tests, fuzzing and measurements.

use super::{Plain, parse};
use crate::limits::Limits;
use crate::scalar::Flavor;
use crate::source::Source;
use crate::tree::Tree;
use crate::yaml;
use std::sync::Arc;

/// Outcome of reading a text in both ways.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// The plain reader gives up at the line that begins before this byte.
    Left(usize),
    /// The trees are the same.
    Same,
    /// The trees differ; the differing parts.
    Different(String),
}

/// Reads a text in both ways.
pub fn compare(source: &Arc<Source>, flavor: Flavor, limits: &Limits) -> Comparison {
    let Some(plain) = parse(source, flavor, limits) else {
        return Comparison::Left(stop(source, flavor, limits));
    };
    let full = yaml::parse_fully(source.clone(), flavor, limits);
    let differing: String = parts(&plain, &full).into_iter().flatten().collect();
    if differing.is_empty() { Comparison::Same } else { Comparison::Different(differing) }
}

/// Reads a text with the full reader alone.
pub fn fully(source: &Arc<Source>, flavor: Flavor, limits: &Limits) -> Tree {
    yaml::parse_fully(source.clone(), flavor, limits)
}

fn stop(source: &Arc<Source>, flavor: Flavor, limits: &Limits) -> usize {
    let mut reader = Plain::new(source, flavor, limits);
    let _ = reader.read();
    reader.at
}

/// The parts of two trees, where they differ.
fn parts(plain: &Tree, full: &Tree) -> [Option<String>; 7] {
    [
        part("nodes", &plain.nodes, &full.nodes),
        part("roots", &plain.roots, &full.roots),
        part("keys", plain.names.all(), full.names.all()),
        part("texts", &plain.strings, &full.strings),
        part("tags and anchors", &plain.decorations, &full.decorations),
        part("comments", &plain.comments, &full.comments),
        part("problems", &plain.diagnostics, &full.diagnostics),
    ]
}

fn part<T: PartialEq + std::fmt::Debug>(name: &str, plain: &[T], full: &[T]) -> Option<String> {
    if plain == full {
        return None;
    }
    let at = plain.iter().zip(full).take_while(|(plain, full)| plain == full).count();
    Some(format!("{name} {at}: plain {:?}, full {:?}\n", plain.get(at), full.get(at)))
}
