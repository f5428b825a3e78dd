//! Quoted strings whose lines are indented less than the block around them.
//!
//! YAML forbids them, but every parser in common use reads them: quoted JSON whose last brace is in the first column
//! is common. The event parser refuses such lines, so they are read from a copy of the text in which they are
//! indented. Indentation inside quotes is insignificant, so the values are the same; locations are those of the
//! original text. Knows no trees.

/// A copy of a text with spaces added at the start of some lines.
#[derive(Default)]
pub struct Padded {
    /// The copy.
    pub text: String,
    /// Where spaces were added, as an offset in the original and the total number of added spaces up to and including
    /// it.
    added: Vec<(usize, usize)>,
}

impl Padded {
    /// Indents the lines of the quoted string that is open at `at`. The string is looked for from `from` on.
    ///
    /// Offsets refer to the copy if there is one already, otherwise to the text.
    pub fn around(before: Option<&Padded>, text: &str, from: usize, at: usize) -> Option<Padded> {
        let current = before.map_or(text, |padded| padded.text.as_str());
        let (start, end) = open_string(current, from, at)?;
        let line = current.get(..start)?.rfind('\n').map_or(0, |newline| newline + 1);
        let width = start - line + 1;
        let places = current.get(start..end)?.match_indices('\n').map(|(offset, _)| start + offset + 1);
        let mut own: Vec<usize> = places.map(|place| before.map_or(place, |padded| padded.original(place))).collect();
        own.extend(before.iter().flat_map(|padded| padded.added.iter().map(|(place, _)| *place)));
        own.sort_unstable();
        own.dedup();
        // One width for all: any sufficient indentation is equivalent.
        let known = before.and_then(|padded| padded.width()).unwrap_or(0);
        Some(Padded::of(text, &own, width.max(known)))
    }

    fn of(text: &str, places: &[usize], width: usize) -> Padded {
        let mut padded = Padded { text: String::with_capacity(text.len() + places.len() * width), added: Vec::new() };
        let mut done = 0;
        for place in places {
            padded.text.push_str(text.get(done..*place).unwrap_or_default());
            padded.text.extend(std::iter::repeat_n(' ', width));
            padded.added.push((*place, (padded.added.len() + 1) * width));
            done = *place;
        }
        padded.text.push_str(text.get(done..).unwrap_or_default());
        padded
    }

    fn width(&self) -> Option<usize> {
        self.added.first().map(|(_, width)| *width)
    }

    /// The offset in the original text of an offset in the copy.
    pub fn original(&self, at: usize) -> usize {
        let before = self.added.partition_point(|(place, total)| place + total <= at);
        let shift = before.checked_sub(1).and_then(|last| self.added.get(last)).map_or(0, |(_, total)| *total);
        // An offset among added spaces maps to the start of their line.
        let next = self.added.get(before).map_or(usize::MAX, |(place, _)| *place);
        (at - shift).min(next)
    }
}

/// The quoted string that starts at or after `from` and is open at `at`, with its quotes.
fn open_string(text: &str, from: usize, at: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut place = from;
    while place < at {
        let first_of_token = place == 0 || bytes.get(place - 1).is_some_and(|b| b" \t\n\r[{,:".contains(b));
        match bytes.get(place)? {
            b'#' if first_of_token => place += memchr::memchr(b'\n', bytes.get(place..)?)?,
            quote @ (b'"' | b'\'') if first_of_token => {
                let end = string_end(bytes, place, *quote)?;
                if end > at {
                    return Some((place, end));
                }
                place = end;
            }
            _ => place += 1,
        }
    }
    None
}

/// Offset after the closing quote of a string.
fn string_end(bytes: &[u8], start: usize, quote: u8) -> Option<usize> {
    let mut place = start + 1;
    loop {
        match bytes.get(place)? {
            b'\\' if quote == b'"' => place += 2,
            byte if *byte == quote && quote == b'\'' && bytes.get(place + 1) == Some(&quote) => place += 2,
            byte if *byte == quote => return Some(place + 1),
            _ => place += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn places_lead_back_to_the_original() {
        let text = "a:\n  b: '{\n x\n}' # '\nc: 1\n";
        let padded = Padded::around(None, text, 0, text.find('x').unwrap()).unwrap();
        assert_eq!(padded.text.replace(' ', ""), text.replace(' ', ""));
        for (at, char) in text.char_indices().filter(|(_, char)| !char.is_whitespace()) {
            let found = padded.text.char_indices().filter(|(_, other)| *other == char);
            assert!(found.map(|(place, _)| padded.original(place)).any(|place| place == at), "{char} at {at}");
        }
        assert_eq!(padded.original(padded.text.len()), text.len());
    }

    #[test]
    fn the_string_is_found_behind_other_strings_and_comments() {
        let text = "\"k'\": \"v\" # it's\nl: 'it''s\nso'\n";
        let at = text.find("so").unwrap();
        assert_eq!(open_string(text, 0, at), Some((text.find("'it").unwrap(), text.len() - 1)));
        assert_eq!(open_string("a: 'b\nc", 0, 6), None);
    }
}
