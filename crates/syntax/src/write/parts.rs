//! Parts that a document repeats: written once, then copied from the existing text.
//!
//! A value under a key looks the same at every key of the same depth, so a writer needs to know only where it wrote
//! the part before.

use super::Text;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::ops::Range;

/// The parts written so far.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// The place of each part's text, by its number and the depth it was written at.
    written: HashMap<(u64, usize), Range<usize>, RandomState>,
    /// The parts being written; those that cannot be copied have no number.
    open: Vec<Option<(u64, usize, usize)>>,
}

impl Parts {
    /// Repeats a part if it was written before at this depth; otherwise starts writing it, and it must be ended.
    pub(super) fn begin(&mut self, part: u64, depth: usize, text: &mut Text) -> bool {
        if let Some(range) = self.written.get(&(part, depth)) {
            text.repeat(range.clone());
            return true;
        }
        self.open.push(Some((part, depth, text.written.len())));
        false
    }

    /// Begins a part at a position where nothing can be copied.
    pub(super) fn pass(&mut self) {
        self.open.push(None);
    }

    /// Ends the innermost part.
    pub(super) fn end(&mut self, text: &Text) {
        if let Some((part, depth, start)) = self.open.pop().flatten() {
            self.written.insert((part, depth), start..text.written.len());
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::sample::{Sample, drive, map, str};
    use super::super::{Emit, JsonFlavor, JsonLayout, JsonWriter, WriteError, YamlWriter};

    /// Values of every layout, each of which is a part.
    fn parts() -> Vec<Sample> {
        vec![
            Sample::Int(1),
            str("two\nlines\n\n"),
            str("yes"),
            Sample::List(vec![]),
            Sample::List(vec![Sample::Null, map([("a", str("x\ny"))])]),
            map([]),
            map([("b", map([("c", Sample::Bool(true))])), ("d", Sample::List(vec![Sample::Int(1)]))]),
        ]
    }

    /// Writes every part several times: under keys at three depths, and in a list, where nothing is copied.
    fn write_all(to: &mut impl Emit, in_parts: bool) {
        let part = |number: usize, sample: &Sample, to: &mut dyn Emit| {
            if in_parts && to.begin_part(number as u64) {
                return;
            }
            drive(sample, to);
            if in_parts {
                to.end_part();
            }
        };
        to.begin_map(2);
        for key in ["first", "second"] {
            to.key(key);
            to.begin_map(parts().len() + 1);
            for (number, sample) in parts().iter().enumerate() {
                to.key(&format!("p{number}"));
                part(number, sample, to);
            }
            to.key("below");
            to.begin_list(parts().len() + 1);
            for (number, sample) in parts().iter().enumerate() {
                part(number, sample, to);
            }
            to.begin_map(parts().len());
            for (number, sample) in parts().iter().enumerate() {
                to.key(&format!("q{number}"));
                part(number, sample, to);
            }
            to.end_map();
            to.end_list();
            to.end_map();
        }
        to.end_map();
    }

    #[test]
    fn copies_look_like_what_they_copy() {
        let yaml = |in_parts| {
            let mut writer = YamlWriter::new();
            write_all(&mut writer, in_parts);
            writer.finish().unwrap()
        };
        assert_eq!(yaml(true), yaml(false));
        for layout in [JsonLayout::Compact, JsonLayout::Pretty] {
            let json = |in_parts| {
                let mut writer = JsonWriter::new(layout, JsonFlavor::Plain);
                write_all(&mut writer, in_parts);
                writer.finish().unwrap()
            };
            assert_eq!(json(true), json(false));
        }
    }

    #[test]
    fn copies_count_towards_the_limit() {
        let mut writer = YamlWriter::with_limit(100);
        writer.begin_map(1_000);
        for _ in 0..1_000 {
            writer.key("k");
            if !writer.begin_part(1) {
                writer.string("a text of some length");
                writer.end_part();
            }
        }
        writer.end_map();
        assert_eq!(writer.finish(), Err(WriteError::TooLong));
    }
}
