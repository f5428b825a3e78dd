//! Messages of a server are hostile input: whatever its bytes are, reading ends without a panic, in memory that the bytes
//! bound, and what was read is written as it was.

#![allow(clippy::unwrap_used)]

use purlin_remote::digest::Function;
use purlin_remote::message::MESSAGES;
use purlin_remote::tree::Folder;
use purlin_remote::wire::Writer;

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % below.max(1)
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.roll(256)).unwrap()
    }

    /// Bytes that look like a message, some levels deep.
    fn message(&mut self, depth: usize) -> Vec<u8> {
        let mut to = Writer::default();
        for _ in 0..self.roll(8) {
            let field = u32::try_from(1 + self.roll(12)).unwrap();
            match self.roll(6) {
                0 => to.number(field, self.roll(usize::MAX) as u64),
                1 => to.text(field, &self.hash()),
                2 => to.text(field, ["", "a", "..", "a/b", "ü"][self.roll(5)]),
                3 => to.item(field, &(0..self.roll(20)).map(|_| self.byte()).collect::<Vec<u8>>()),
                _ if depth > 0 => to.item(field, &self.message(depth - 1)),
                _ => to.numbers(field, &[1, 2, u64::MAX]),
            }
        }
        to.into_bytes()
    }

    fn hash(&mut self) -> String {
        Function::Sha256.digest(&[self.byte()]).hex()
    }
}

fn check(bytes: &[u8]) {
    for (name, again) in MESSAGES {
        let Ok(first) = again(bytes) else { continue };
        assert_eq!(again(&first).as_deref(), Ok(first.as_slice()), "{name}: {bytes:?}");
        assert!(first.len() <= 2 * bytes.len() + 16, "{name}: {} bytes became {}", bytes.len(), first.len());
    }
    if let Ok(folder) = Folder::of_tree(bytes, Function::Sha256) {
        let is_bad = |path: &str| path.split('/').any(|part| ["", ".", ".."].contains(&part));
        assert!(folder.walk().iter().all(|(path, _)| !is_bad(path)), "{bytes:?}");
    }
}

#[test]
fn random_bytes_are_read_or_refused() {
    let mut dice = Dice(0x2545_F491_4F6C_DD1D);
    for _ in 0..3_000 {
        let bytes: Vec<u8> = (0..dice.roll(60)).map(|_| dice.byte()).collect();
        check(&bytes);
    }
}

#[test]
fn changed_messages_are_read_or_refused() {
    let mut dice = Dice(7);
    for _ in 0..3_000 {
        let mut bytes = dice.message(4);
        check(&bytes);
        for _ in 0..4 {
            if bytes.is_empty() {
                break;
            }
            let at = dice.roll(bytes.len());
            match dice.roll(3) {
                0 => bytes[at] = dice.byte(),
                1 => bytes.truncate(at),
                _ => bytes.insert(at, dice.byte()),
            }
            check(&bytes);
        }
    }
}

#[test]
fn messages_inside_of_messages_end() {
    // A tree names folders by their digests, so nothing nests deeper than its types; fields repeat.
    let mut bytes = Vec::new();
    for _ in 0..200 {
        let mut to = Writer::default();
        to.item(1, &bytes);
        to.item(2, &bytes);
        bytes = to.into_bytes();
        bytes.truncate(100_000);
    }
    check(&bytes);
}

#[test]
fn lists_have_a_maximum_length() {
    let mut to = Writer::default();
    for _ in 0..(1 << 20) + 10 {
        to.item(2, b"");
    }
    let bytes = to.into_bytes();
    let (_, again) = MESSAGES.iter().find(|(name, _)| *name == "FindMissingAnswer").unwrap();
    assert!(again(&bytes).is_err());
}
