//! CBOR and MessagePack: compact binary formats.
//!
//! Lengths come before their contents, so collections must have the announced length; all collections in a Clout do.

use purlin_syntax::write::Emit;
use purlin_value::encoding;

/// One of the two formats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Packing {
    /// RFC 8949.
    Cbor,
    /// The MessagePack specification.
    MessagePack,
}

/// Writes one value.
pub(super) struct PackedWriter {
    packing: Packing,
    bytes: Vec<u8>,
}

/// The kind of a length or number. The number is CBOR's major type.
#[derive(Clone, Copy)]
enum Head {
    Unsigned = 0,
    Negative = 1,
    Bytes = 2,
    Text = 3,
    List = 4,
    Map = 5,
}

impl PackedWriter {
    pub(super) fn new(packing: Packing) -> PackedWriter {
        PackedWriter { packing, bytes: Vec::new() }
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }

    fn head(&mut self, head: Head, number: u64) {
        match self.packing {
            Packing::Cbor => self.cbor_head(head, number),
            Packing::MessagePack => self.message_pack_head(head, number),
        }
    }

    /// A code and a number in the fewest possible bytes; the codes are those for 8, 16, 32 and 64 bits.
    fn sized(&mut self, codes: [u8; 4], number: u64) {
        let [c8, c16, c32, c64] = codes;
        if let Ok(number) = u8::try_from(number) {
            self.bytes.extend([c8, number]);
        } else if let Ok(number) = u16::try_from(number) {
            self.bytes.push(c16);
            self.bytes.extend(number.to_be_bytes());
        } else if let Ok(number) = u32::try_from(number) {
            self.bytes.push(c32);
            self.bytes.extend(number.to_be_bytes());
        } else {
            self.bytes.push(c64);
            self.bytes.extend(number.to_be_bytes());
        }
    }

    fn cbor_head(&mut self, head: Head, number: u64) {
        let major = (head as u8) << 5;
        match u8::try_from(number) {
            Ok(small) if small < 24 => self.bytes.push(major | small),
            _ => self.sized([24, 25, 26, 27].map(|code| major | code), number),
        }
    }

    fn message_pack_head(&mut self, head: Head, number: u64) {
        let small = |base: u8, below: u64| u8::try_from(number).ok().filter(|_| number < below).map(|n| base | n);
        let (short, codes) = match head {
            Head::Unsigned => (small(0, 128), [0xcc, 0xcd, 0xce, 0xcf]),
            Head::Negative => return self.message_pack_negative(number),
            Head::Bytes => (None, [0xc4, 0xc5, 0xc6, 0xc6]),
            Head::Text => (small(0xa0, 32), [0xd9, 0xda, 0xdb, 0xdb]),
            // Lists and maps have no length of 8 bits.
            Head::List | Head::Map => return self.message_pack_collection(head, number),
        };
        match short {
            Some(byte) => self.bytes.push(byte),
            None => self.sized(codes, number),
        }
    }

    fn message_pack_collection(&mut self, head: Head, number: u64) {
        let is_list = matches!(head, Head::List);
        let (base, c16, c32) = if is_list { (0x90, 0xdc, 0xdd) } else { (0x80, 0xde, 0xdf) };
        match (u8::try_from(number), u16::try_from(number)) {
            (Ok(short), _) if short < 16 => self.bytes.push(base | short),
            (_, Ok(number)) => {
                self.bytes.push(c16);
                self.bytes.extend(number.to_be_bytes());
            }
            _ => {
                self.bytes.push(c32);
                self.bytes.extend(u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes());
            }
        }
    }

    /// A negative number in CBOR's encoding: -1 is 0.
    fn message_pack_negative(&mut self, number: u64) {
        let value = -1 - i64::try_from(number).unwrap_or(i64::MAX);
        if let Ok(value) = i8::try_from(value) {
            if value < -32 {
                self.bytes.push(0xd0);
            }
            self.bytes.extend(value.to_be_bytes());
        } else if let Ok(value) = i16::try_from(value) {
            self.bytes.push(0xd1);
            self.bytes.extend(value.to_be_bytes());
        } else if let Ok(value) = i32::try_from(value) {
            self.bytes.push(0xd2);
            self.bytes.extend(value.to_be_bytes());
        } else {
            self.bytes.push(0xd3);
            self.bytes.extend(value.to_be_bytes());
        }
    }

    fn either(&mut self, cbor: u8, message_pack: u8) {
        self.bytes.push(if self.packing == Packing::Cbor { cbor } else { message_pack });
    }
}

impl Emit for PackedWriter {
    fn null(&mut self) {
        self.either(0xf6, 0xc0);
    }

    fn bool(&mut self, value: bool) {
        let step = u8::from(value);
        self.either(0xf4 + step, 0xc2 + step);
    }

    fn int(&mut self, value: i64) {
        match u64::try_from(value) {
            Ok(value) => self.head(Head::Unsigned, value),
            Err(_) => self.head(Head::Negative, !value.cast_unsigned()),
        }
    }

    fn float(&mut self, value: f64) {
        self.either(0xfb, 0xcb);
        self.bytes.extend(value.to_be_bytes());
    }

    fn number(&mut self, text: &str) {
        if let Ok(value) = text.parse::<i64>() {
            self.int(value);
        } else if let Ok(value) = text.parse::<u64>() {
            self.head(Head::Unsigned, value);
        } else {
            self.float(text.parse().unwrap_or(f64::NAN));
        }
    }

    fn string(&mut self, text: &str) {
        self.head(Head::Text, text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }

    fn binary(&mut self, base64: &str) {
        match encoding::from_base64(base64.as_bytes()) {
            Ok(bytes) => {
                self.head(Head::Bytes, bytes.len() as u64);
                self.bytes.extend(bytes);
            }
            Err(_) => self.string(base64),
        }
    }

    fn begin_list(&mut self, len: usize) {
        self.head(Head::List, len as u64);
    }

    fn end_list(&mut self) {}

    fn begin_map(&mut self, len: usize) {
        self.head(Head::Map, len as u64);
    }

    fn key(&mut self, key: &str) {
        self.string(key);
    }

    fn end_map(&mut self) {}

    fn stopped(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::{PackedWriter, Packing};
    use purlin_syntax::write::Emit;
    use purlin_value::encoding::hex;

    fn packed(packing: Packing, drive: impl Fn(&mut PackedWriter)) -> String {
        let mut writer = PackedWriter::new(packing);
        drive(&mut writer);
        hex(&writer.finish())
    }

    /// Test vectors of RFC 8949, appendix A, and the encodings of the same values in the MessagePack specification.
    #[test]
    fn values_are_packed_as_the_specifications_say() {
        let both = |drive: &dyn Fn(&mut PackedWriter), cbor: &str, message_pack: &str| {
            assert_eq!(packed(Packing::Cbor, |writer| drive(writer)), cbor);
            assert_eq!(packed(Packing::MessagePack, |writer| drive(writer)), message_pack);
        };
        both(&|w| w.int(0), "00", "00");
        both(&|w| w.int(23), "17", "17");
        both(&|w| w.int(100), "1864", "64");
        both(&|w| w.int(200), "18c8", "ccc8");
        both(&|w| w.int(1000), "1903e8", "cd03e8");
        both(&|w| w.int(1_000_000), "1a000f4240", "ce000f4240");
        both(&|w| w.int(1_000_000_000_000), "1b000000e8d4a51000", "cf000000e8d4a51000");
        both(&|w| w.number("18446744073709551615"), "1bffffffffffffffff", "cfffffffffffffffff");
        both(&|w| w.int(-1), "20", "ff");
        both(&|w| w.int(-100), "3863", "d09c");
        both(&|w| w.int(-1000), "3903e7", "d1fc18");
        both(&|w| w.int(i64::MIN), "3b7fffffffffffffff", "d38000000000000000");
        both(&|w| w.float(1.1), "fb3ff199999999999a", "cb3ff199999999999a");
        both(&|w| w.bool(false), "f4", "c2");
        both(&|w| w.bool(true), "f5", "c3");
        both(&|w| w.null(), "f6", "c0");
        both(&|w| w.string("IETF"), "6449455446", "a449455446");
        both(&|w| w.binary("AQIDBA=="), "4401020304", "c40401020304");
    }

    #[test]
    fn collections_begin_with_their_length() {
        let nested = |writer: &mut PackedWriter| {
            writer.begin_map(2);
            writer.key("a");
            writer.int(1);
            writer.key("b");
            writer.begin_list(2);
            writer.int(2);
            writer.int(3);
            writer.end_list();
            writer.end_map();
        };
        assert_eq!(packed(Packing::Cbor, nested), "a26161016162820203");
        assert_eq!(packed(Packing::MessagePack, nested), "82a16101a162920203");
        let long = |writer: &mut PackedWriter| {
            writer.begin_list(20);
            (0..20).for_each(|_| writer.null());
        };
        assert!(packed(Packing::Cbor, long).starts_with("94f6"));
        assert!(packed(Packing::MessagePack, long).starts_with("dc0014c0"));
    }
}
