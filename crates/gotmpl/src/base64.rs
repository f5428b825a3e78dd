//! Base 64 and base 32 as Go's standard encodings, with Go's messages.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const ALPHABET32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn symbol(alphabet: &[u8], index: u32) -> char {
    char::from(alphabet.get(index as usize).copied().unwrap_or(b'='))
}

/// Encodes with padding.
pub fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for index in 0..4 {
            if index <= chunk.len() {
                out.push(symbol(ALPHABET, word >> (18 - 6 * index) & 63));
            } else {
                out.push('=');
            }
        }
    }
    out
}

/// Decodes; line breaks are skipped, anything else is an error at its byte.
pub fn decode(text: &[u8]) -> Result<Vec<u8>, String> {
    decode_with(text, 4, 6, |byte| ALPHABET.iter().position(|b| *b == byte), "base64")
}

/// Encodes in base 32 with padding.
pub fn encode32(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(5) {
        let word = chunk.iter().fold(0u64, |word, byte| word << 8 | u64::from(*byte)) << (8 * (5 - chunk.len()));
        let used = (chunk.len() * 8).div_ceil(5);
        for index in 0..8 {
            if index < used {
                out.push(symbol(ALPHABET32, (word >> (35 - 5 * index) & 31) as u32));
            } else {
                out.push('=');
            }
        }
    }
    out
}

/// Decodes base 32.
pub fn decode32(text: &[u8]) -> Result<Vec<u8>, String> {
    decode_with(text, 8, 5, |byte| ALPHABET32.iter().position(|b| *b == byte), "base32")
}

fn decode_with(
    text: &[u8],
    group: usize,
    bits: u32,
    find: impl Fn(u8) -> Option<usize>,
    name: &str,
) -> Result<Vec<u8>, String> {
    let illegal = |at: usize| format!("illegal {name} data at input byte {at}");
    let plain: Vec<(usize, u8)> =
        text.iter().copied().enumerate().filter(|(_, b)| !matches!(b, b'\r' | b'\n')).collect();
    let mut out = Vec::with_capacity(text.len() * bits as usize / 8);
    let mut chunks = plain.chunks(group).peekable();
    while let Some(chunk) = chunks.next() {
        let padding = chunk.iter().rev().take_while(|(_, b)| *b == b'=').count();
        let data = chunk.get(..chunk.len() - padding).unwrap_or_default();
        let mut word = 0u64;
        for (at, byte) in data {
            let Some(value) = find(*byte) else { return Err(illegal(*at)) };
            word = word << bits | value as u64;
        }
        if chunk.len() < group {
            // A group that ends early is wrong from its first byte on.
            let first = text.len() - chunk.len();
            return Err(illegal(if padding > 0 { text.len() } else { first }));
        }
        let bytes = data.len() * bits as usize / 8;
        let spare = data.len() * bits as usize % 8;
        let complete = bytes > 0 && spare < bits as usize;
        if padding > 0 && (!complete || chunks.peek().is_some()) {
            let at = chunk.get(data.len() + usize::from(complete)).or(chunk.last()).map_or(text.len(), |(at, _)| *at);
            return Err(illegal(at));
        }
        let word = word >> spare;
        out.extend((0..bytes).rev().map(|index| (word >> (8 * index)) as u8));
    }
    Ok(out)
}
