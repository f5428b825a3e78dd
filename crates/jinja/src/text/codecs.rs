//! Encodings of text by their names in Python.
//!
//! The web's encodings come from `encoding_rs`; those that it reads differently or lacks are here.

use encoding_rs::Encoding;
use purlin_syntax::{Message, what};

/// Why text could not be read or written.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// An unknown encoding.
    Unknown,
    /// The bytes are not text in this encoding, or it has no way to write a character.
    Damaged,
}

impl Failure {
    /// The error message.
    pub fn message(&self, codec: &str) -> Message {
        match self {
            Failure::Unknown => what::unknown("encoding", codec),
            Failure::Damaged => format!("it is not text in the encoding `{codec}`").into(),
        }
    }
}

/// Encodings that `encoding_rs` does not have, or reads as others of the same family.
enum Own {
    Utf8 {
        marked: bool,
    },
    Ascii,
    Latin1,
    /// Two or four bytes per unit; the order of bytes, or none if a mark sets it.
    Wide {
        four: bool,
        big: Option<bool>,
    },
    /// One byte per character; those above 127.
    Table(&'static str),
}

/// The characters above 127 of the original PC.
const CP437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";
/// The characters of the PC in western Europe.
const CP850: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}";

/// A name without case, blanks, dashes and underscores.
fn normal(codec: &str) -> String {
    codec.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

fn own(name: &str) -> Option<Own> {
    let wide = |four, big| Some(Own::Wide { four, big });
    match name {
        "utf8" | "utf" | "u8" | "cp65001" => Some(Own::Utf8 { marked: false }),
        "utf8sig" => Some(Own::Utf8 { marked: true }),
        "ascii" | "usascii" | "646" | "ansix341968" => Some(Own::Ascii),
        "latin1" | "latin" | "l1" | "iso88591" | "88591" | "cp819" | "iso8859" => Some(Own::Latin1),
        "utf16" | "u16" => wide(false, None),
        "utf16le" | "unicodelittleunmarked" => wide(false, Some(false)),
        "utf16be" | "unicodebigunmarked" => wide(false, Some(true)),
        "utf32" | "u32" => wide(true, None),
        "utf32le" => wide(true, Some(false)),
        "utf32be" => wide(true, Some(true)),
        "cp437" | "437" | "ibm437" => Some(Own::Table(CP437)),
        "cp850" | "850" | "ibm850" => Some(Own::Table(CP850)),
        _ => None,
    }
}

/// Python's names for encodings with other names on the web.
const NAMES: &[(&str, &str)] = &[
    ("eucjp", "euc-jp"),
    ("ujis", "euc-jp"),
    ("shiftjis", "shift_jis"),
    ("sjis", "shift_jis"),
    ("cp932", "shift_jis"),
    ("iso2022jp", "iso-2022-jp"),
    ("euckr", "euc-kr"),
    ("cp949", "euc-kr"),
    ("big5", "big5"),
    ("gb2312", "gbk"),
    ("gbk", "gbk"),
    ("cp936", "gbk"),
    ("gb18030", "gb18030"),
    ("koi8r", "koi8-r"),
    ("koi8u", "koi8-u"),
    ("macroman", "macintosh"),
    ("maccyrillic", "x-mac-cyrillic"),
    ("cp866", "ibm866"),
    ("cp874", "windows-874"),
    ("tis620", "windows-874"),
];

/// The web's encoding for a name in Python.
fn of_the_web(name: &str) -> Option<&'static Encoding> {
    let known = NAMES.iter().find(|(python, _)| *python == name).map(|(_, web)| (*web).to_owned());
    let windows = || name.strip_prefix("cp").or(name.strip_prefix("windows")).map(|page| format!("windows-{page}"));
    let iso = || name.strip_prefix("iso8859").map(|part| format!("iso-8859-{part}"));
    let latin = || {
        let part = match name.strip_prefix("latin").or(name.strip_prefix('l'))? {
            "5" => "9",
            "6" => "10",
            "7" => "13",
            "8" => "14",
            "9" => "15",
            "10" => "16",
            same => same,
        };
        Some(format!("iso-8859-{part}"))
    };
    let label = known.or_else(windows).or_else(iso).or_else(latin)?;
    Encoding::for_label(label.as_bytes())
}

/// Bytes as text.
pub fn decode(bytes: &[u8], codec: &str) -> Result<String, Failure> {
    let name = normal(codec);
    match own(&name) {
        Some(own) => own.decode(bytes).ok_or(Failure::Damaged),
        None => {
            let encoding = of_the_web(&name).ok_or(Failure::Unknown)?;
            let text = encoding.decode_without_bom_handling_and_without_replacement(bytes).ok_or(Failure::Damaged)?;
            Ok(text.into_owned())
        }
    }
}

/// Text as bytes.
pub fn encode(text: &str, codec: &str) -> Result<Vec<u8>, Failure> {
    let name = normal(codec);
    match own(&name) {
        Some(own) => own.encode(text).ok_or(Failure::Damaged),
        None => {
            let encoding = of_the_web(&name).ok_or(Failure::Unknown)?;
            let (bytes, _, damaged) = encoding.encode(text);
            if damaged { Err(Failure::Damaged) } else { Ok(bytes.into_owned()) }
        }
    }
}

impl Own {
    fn decode(&self, bytes: &[u8]) -> Option<String> {
        let utf8 = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(str::to_owned);
        match self {
            Own::Utf8 { marked } => utf8(bytes.strip_prefix(b"\xEF\xBB\xBF").filter(|_| *marked).unwrap_or(bytes)),
            Own::Ascii => bytes.is_ascii().then(|| utf8(bytes)).flatten(),
            Own::Latin1 => Some(bytes.iter().map(|byte| char::from(*byte)).collect()),
            Own::Table(high) => bytes
                .iter()
                .map(|byte| match byte.checked_sub(128) {
                    None => Some(char::from(*byte)),
                    Some(at) => high.chars().nth(usize::from(at)),
                })
                .collect(),
            Own::Wide { four, big } => {
                let size = if *four { 4 } else { 2 };
                let big_mark: &[u8] = if *four { &[0, 0, 0xFE, 0xFF] } else { &[0xFE, 0xFF] };
                let little_mark: &[u8] = if *four { &[0xFF, 0xFE, 0, 0] } else { &[0xFF, 0xFE] };
                let (big, rest) = match big {
                    Some(big) => (*big, bytes),
                    None => match (bytes.strip_prefix(big_mark), bytes.strip_prefix(little_mark)) {
                        (Some(rest), _) => (true, rest),
                        (_, Some(rest)) => (false, rest),
                        _ => (false, bytes),
                    },
                };
                if !rest.len().is_multiple_of(size) {
                    return None;
                }
                let unit = |bytes: &[u8]| {
                    let number = |number: u32, byte: &u8| (number << 8) | u32::from(*byte);
                    if big { bytes.iter().fold(0, number) } else { bytes.iter().rev().fold(0, number) }
                };
                let units = rest.chunks(size).map(unit);
                if *four {
                    return units.map(char::from_u32).collect();
                }
                char::decode_utf16(units.map(|unit| unit as u16)).collect::<Result<String, _>>().ok()
            }
        }
    }

    fn encode(&self, text: &str) -> Option<Vec<u8>> {
        match self {
            Own::Utf8 { marked: false } => Some(text.as_bytes().to_vec()),
            Own::Utf8 { marked: true } => Some([b"\xEF\xBB\xBF", text.as_bytes()].concat()),
            Own::Ascii => text.is_ascii().then(|| text.as_bytes().to_vec()),
            Own::Latin1 => text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect(),
            Own::Table(high) => text
                .chars()
                .map(|c| match c.is_ascii() {
                    true => u8::try_from(u32::from(c)).ok(),
                    false => high.chars().position(|known| known == c).and_then(|at| u8::try_from(at + 128).ok()),
                })
                .collect(),
            Own::Wide { four, big } => {
                let mark = big.is_none().then_some('\u{FEFF}');
                let chars = mark.into_iter().chain(text.chars());
                let is_big = *big == Some(true);
                Some(if *four {
                    let order = |c: char| if is_big { u32::from(c).to_be_bytes() } else { u32::from(c).to_le_bytes() };
                    chars.flat_map(order).collect()
                } else {
                    let units: Vec<u16> = chars.collect::<String>().encode_utf16().collect();
                    let order = |unit: u16| if is_big { unit.to_be_bytes() } else { unit.to_le_bytes() };
                    units.into_iter().flat_map(order).collect()
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Encoded text is decoded unchanged, in every encoding that has the characters.
    #[test]
    fn there_and_back() {
        let all = "utf-8 UTF_8 utf-8-sig latin-1 iso8859-15 ISO-8859-1 cp437 cp850 cp1252 windows-1251 utf-16 utf-16-le \
                   utf-16-be utf-32 utf_32_be koi8-r shift_jis euc-jp gb18030 big5 mac-roman latin2 l9";
        for codec in all.split_whitespace() {
            let text = match codec {
                "koi8-r" | "windows-1251" => "при a",
                "shift_jis" | "euc-jp" | "gb18030" | "big5" => "日 a",
                _ => "é a",
            };
            let read = encode(text, codec).and_then(|bytes| decode(&bytes, codec));
            assert_eq!(read.as_deref(), Ok(text), "{codec}");
        }
    }

    #[test]
    fn tables_have_all_their_characters() {
        for table in [CP437, CP850] {
            assert_eq!(table.chars().count(), 128);
        }
    }

    #[test]
    fn damage_and_unknown_names_are_told_apart() {
        assert_eq!(decode(b"caf\xe9", "ascii"), Err(Failure::Damaged));
        assert_eq!(decode(b"\xff\xff", "utf-8"), Err(Failure::Damaged));
        assert_eq!(decode(b"abc", "utf-16"), Err(Failure::Damaged));
        assert_eq!(decode(b"a", "nope"), Err(Failure::Unknown));
        assert_eq!(encode("日", "cp1252"), Err(Failure::Damaged));
    }
}
