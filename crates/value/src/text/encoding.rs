//! Bytes as text: hexadecimal, base 32 and base 64 in their standard alphabets.
//!
//! The strict readers report errors in Go's words, which chart functions show; the lenient one skips invalid
//! characters, as JavaScript does.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const ALPHABET32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn symbol(alphabet: &[u8], index: u32) -> char {
    char::from(alphabet.get(index as usize).copied().unwrap_or(b'='))
}

/// Bytes in lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from_digit(u32::from(digit), 16).unwrap_or('0')).collect()
}

/// The bytes of hexadecimal digits in pairs; `None` for anything else.
pub fn from_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let value = |digit: u8| char::from(digit).to_digit(16).and_then(|d| u8::try_from(d).ok());
    let (pairs, rest) = digits.as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(value(*high)? << 4 | value(*low)?));
    if rest.is_empty() { bytes.collect() } else { None }
}

/// A UUID of a version, from bytes of which six bits are replaced.
pub fn uuid(mut bytes: [u8; 16], version: u8) -> String {
    bytes[6] = bytes[6] & 0x0f | version << 4;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits = hex(&bytes);
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

/// Bytes in base 64, with padding.
pub fn base64(bytes: &[u8]) -> String {
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

/// The bytes of a text in base 64; line breaks are skipped, anything else is an error at its byte.
pub fn from_base64(text: &[u8]) -> Result<Vec<u8>, String> {
    const VALUES: [u8; 256] = values(ALPHABET);
    decode_with(text, 4, 6, &VALUES, "base64")
}

/// Bytes in base 32, with padding.
pub fn base32(bytes: &[u8]) -> String {
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

/// The bytes of a text in base 32; line breaks are skipped, anything else is an error at its byte.
pub fn from_base32(text: &[u8]) -> Result<Vec<u8>, String> {
    const VALUES: [u8; 256] = values(ALPHABET32);
    decode_with(text, 8, 5, &VALUES, "base32")
}

/// A character that is not in the alphabet.
const NO_VALUE: u8 = u8::MAX;
/// The longest group of characters that encodes whole bytes.
const LONGEST_GROUP: usize = 8;

/// The value of each character of an alphabet.
const fn values(alphabet: &[u8]) -> [u8; 256] {
    let mut table = [NO_VALUE; 256];
    let mut at = 0;
    while at < alphabet.len() {
        table[alphabet[at] as usize] = at as u8;
        at += 1;
    }
    table
}

fn decode_with(text: &[u8], group: usize, bits: usize, values: &[u8; 256], name: &str) -> Result<Vec<u8>, String> {
    let illegal = |at: usize| format!("illegal {name} data at input byte {at}");
    let mut plain = text.iter().copied().enumerate().filter(|(_, b)| !matches!(b, b'\r' | b'\n')).peekable();
    let mut out = Vec::with_capacity(text.len() * bits / 8);
    while plain.peek().is_some() {
        let mut chunk = [(0, 0u8); LONGEST_GROUP];
        let mut len = 0;
        for (slot, next) in chunk.iter_mut().take(group).zip(plain.by_ref()) {
            *slot = next;
            len += 1;
        }
        let chunk = chunk.get(..len).unwrap_or_default();
        let padding = chunk.iter().rev().take_while(|(_, b)| *b == b'=').count();
        let data = chunk.get(..chunk.len() - padding).unwrap_or_default();
        let mut word = 0u64;
        for (at, byte) in data {
            let value = values.get(usize::from(*byte)).copied().unwrap_or(NO_VALUE);
            if value == NO_VALUE {
                return Err(illegal(*at));
            }
            word = word << bits | u64::from(value);
        }
        if chunk.len() < group {
            // An incomplete group is wrong from its first byte on.
            let first = text.len() - chunk.len();
            return Err(illegal(if padding > 0 { text.len() } else { first }));
        }
        let bytes = data.len() * bits / 8;
        let spare = data.len() * bits % 8;
        let complete = bytes > 0 && spare < bits;
        if padding > 0 && (!complete || plain.peek().is_some()) {
            let at = chunk.get(data.len() + usize::from(complete)).or(chunk.last()).map_or(text.len(), |(at, _)| *at);
            return Err(illegal(at));
        }
        let word = word >> spare;
        out.extend((0..bytes).rev().map(|index| (word >> (8 * index)) as u8));
    }
    Ok(out)
}

/// The bytes of a base 64 text, leniently: invalid characters are skipped, padding is optional, both alphabets are
/// read.
pub fn from_base64_leniently(text: &str) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => continue,
        };
        bits = bits << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            result.push((bits >> count & 0xFF) as u8);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for text in ["", "a", "ab", "abc", "abcd", "abcde", "my value", "ünï"] {
            let bytes = text.as_bytes();
            assert_eq!(from_base64(base64(bytes).as_bytes()).unwrap(), bytes);
            assert_eq!(from_base32(base32(bytes).as_bytes()).unwrap(), bytes);
            assert_eq!(from_base64_leniently(&base64(bytes)), bytes);
        }
        assert_eq!(
            (base64(b"a").as_str(), base32(b"a").as_str(), hex(b"a\xf0").as_str()),
            ("YQ==", "ME======", "61f0")
        );
    }

    #[test]
    fn leniency_skips_what_does_not_belong() {
        assert_eq!(from_base64_leniently("!!"), b"");
        assert_eq!(from_base64_leniently("Y W-"), from_base64_leniently("YW+"));
        assert_eq!(from_base64(b"YW!j").unwrap_err(), "illegal base64 data at input byte 2");
    }
}
