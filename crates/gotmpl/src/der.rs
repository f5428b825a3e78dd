//! The little of DER and PEM that keys and certificates need.

use purlin_value::encoding;

/// An element: tag and content.
pub fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    let len = content.len();
    if len < 128 {
        out.push(len as u8);
    } else {
        let bytes: Vec<u8> = (len as u64).to_be_bytes().into_iter().skip_while(|b| *b == 0).collect();
        out.push(0x80 | bytes.len() as u8);
        out.extend(bytes);
    }
    out.extend_from_slice(content);
    out
}

/// A sequence of elements.
pub fn sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    element(0x30, &parts.concat())
}

/// A non-negative integer from its bytes, the most significant first.
pub fn integer(bytes: &[u8]) -> Vec<u8> {
    let mut content: Vec<u8> = bytes.iter().copied().skip_while(|b| *b == 0).collect();
    if content.first().is_none_or(|b| b & 0x80 != 0) {
        content.insert(0, 0);
    }
    element(2, &content)
}

/// A bit string without unused bits.
pub fn bit_string(content: &[u8]) -> Vec<u8> {
    element(3, &[&[0], content].concat())
}

/// An object identifier from its encoded bytes.
pub fn oid(encoded: &[u8]) -> Vec<u8> {
    element(6, encoded)
}

/// Takes an element off the front: its tag and content.
pub fn take<'d>(rest: &mut &'d [u8]) -> Option<(u8, &'d [u8])> {
    let (tag, after) = rest.split_first()?;
    let (first, after) = after.split_first()?;
    let (len, after) = if *first < 128 {
        (usize::from(*first), after)
    } else {
        let count = usize::from(first & 0x7f);
        if count > 4 {
            return None;
        }
        let len = after.get(..count)?.iter().fold(0usize, |len, b| len << 8 | usize::from(*b));
        (len, after.get(count..)?)
    };
    let content = after.get(..len)?;
    *rest = after.get(len..)?;
    Some((*tag, content))
}

/// Takes an integer off the front, without its leading zero.
pub fn take_integer<'d>(rest: &mut &'d [u8]) -> Option<&'d [u8]> {
    let (tag, content) = take(rest)?;
    (tag == 2).then(|| content.strip_prefix(&[0]).unwrap_or(content))
}

/// A PEM block.
pub fn pem(label: &str, content: &[u8]) -> String {
    let body = encoding::base64(content);
    let mut out = format!("-----BEGIN {label}-----\n");
    for line in body.as_bytes().chunks(64) {
        out.push_str(&String::from_utf8_lossy(line));
        out.push('\n');
    }
    out.push_str(&format!("-----END {label}-----\n"));
    out
}

/// The label and content of the first PEM block in a text.
pub fn read_pem(text: &str) -> Option<(String, Vec<u8>)> {
    let (_, rest) = text.split_once("-----BEGIN ")?;
    let (label, rest) = rest.split_once("-----")?;
    let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
    let plain: String = body.chars().filter(|ch| !ch.is_whitespace()).collect();
    Some((label.to_owned(), encoding::from_base64(plain.as_bytes()).ok()?))
}
