//! Pure text operations behind the helper functions. They know strings only, no values.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base64 with padding.
pub fn base64_encode(bytes: &[u8]) -> String {
    let mut result = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let digit = ALPHABET.get((bits >> (18 - 6 * i) & 63) as usize).copied().unwrap_or(b'=');
            result.push(if i <= chunk.len() { digit as char } else { '=' });
        }
    }
    result
}

/// Lenient: characters that do not belong are skipped, padding may be missing, both alphabets are read.
pub fn base64_decode(text: &str) -> Vec<u8> {
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

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

/// Spaces before every line that is not empty.
pub fn indent(text: &str, spaces: usize) -> String {
    let pad = " ".repeat(spaces);
    let lines = text.split('\n').map(|line| if line.is_empty() { String::new() } else { format!("{pad}{line}") });
    lines.collect::<Vec<_>>().join("\n")
}

/// The range that `slice(start, end)` covers in a sequence of a length; negative counts from the end.
pub fn slice_range(length: usize, start: f64, end: Option<f64>) -> std::ops::Range<usize> {
    let place = |index: f64| {
        let index = if index.is_nan() { 0.0 } else { index.trunc() };
        let from_start = if index < 0.0 { (length as f64 + index).max(0.0) } else { index };
        from_start.min(length as f64) as usize
    };
    let from = place(start);
    let to = end.map_or(length, place);
    from..to.max(from)
}

/// Part of a text, counted in UTF-16 units as the original does.
pub fn slice(text: &str, start: f64, end: Option<f64>) -> String {
    if text.is_ascii() {
        return text.get(slice_range(text.len(), start, end)).unwrap_or("").to_string();
    }
    let units: Vec<u16> = text.encode_utf16().collect();
    String::from_utf16_lossy(units.get(slice_range(units.len(), start, end)).unwrap_or(&[]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_lenient() {
        for text in ["", "a", "ab", "abc", "my value", "ünï"] {
            assert_eq!(base64_decode(&base64_encode(text.as_bytes())), text.as_bytes());
        }
        assert_eq!(base64_encode(b"a"), "YQ==");
        assert_eq!(base64_decode("!!"), b"");
        assert_eq!(base64_decode("Y W-"), base64_decode("YW+"));
    }

    #[test]
    fn slices_count_from_either_end() {
        assert_eq!(slice("abcdef", 1.0, Some(3.0)), "bc");
        assert_eq!(slice("abcdef", -2.0, None), "ef");
        assert_eq!(slice("abcdef", 4.0, Some(2.0)), "");
        assert_eq!(slice("äöü", 1.0, Some(99.0)), "öü");
    }
}
