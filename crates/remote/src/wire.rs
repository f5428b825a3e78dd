//! The encoding of protobuf messages: fields with numbers. Knows no message.
//!
//! What is read comes from a server and is not trusted: lengths are checked against what is there, unknown fields are
//! skipped, and lists have a maximum length.

/// Maximum number of items of one list.
pub const LONGEST_LIST: usize = 1 << 20;

/// Bytes that are not a message of the expected type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// A message.
pub trait Message: Sized {
    /// Writes its fields.
    fn encode(&self, to: &mut Writer);
    /// Reads it.
    fn decode(bytes: &[u8]) -> Result<Self, Malformed>;
    /// Its bytes.
    fn to_bytes(&self) -> Vec<u8> {
        let mut to = Writer::default();
        self.encode(&mut to);
        to.0
    }
}

/// Bytes of a message that is written. Fields with the value that readers assume are left out.
#[derive(Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push((number as u8 & 0x7f) | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// The bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// A number.
    pub fn number(&mut self, field: u32, number: u64) {
        if number != 0 {
            self.varint(u64::from(field) << 3);
            self.varint(number);
        }
    }

    /// A number with a sign.
    pub fn signed(&mut self, field: u32, number: i64) {
        self.number(field, number.cast_unsigned());
    }

    /// A truth value.
    pub fn truth(&mut self, field: u32, value: bool) {
        self.number(field, u64::from(value));
    }

    /// Numbers of a list, packed.
    pub fn numbers(&mut self, field: u32, numbers: &[u64]) {
        let mut packed = Writer::default();
        numbers.iter().for_each(|number| packed.varint(*number));
        self.bytes(field, &packed.0);
    }

    /// Bytes.
    pub fn bytes(&mut self, field: u32, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.item(field, bytes);
        }
    }

    /// An item of a list of bytes, which may be empty.
    pub fn item(&mut self, field: u32, bytes: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// A text.
    pub fn text(&mut self, field: u32, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    /// A message, which is there even if it is empty.
    pub fn message(&mut self, field: u32, message: &impl Message) {
        self.item(field, &message.to_bytes());
    }

    /// Messages of a list.
    pub fn messages(&mut self, field: u32, messages: &[impl Message]) {
        messages.iter().for_each(|message| self.message(field, message));
    }
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field<'b> {
    /// A number.
    Number(u64),
    /// Bytes: a text, a message or a packed list.
    Bytes(&'b [u8]),
    /// A number of fixed width, which none of our messages has.
    Fixed,
}

impl<'b> Field<'b> {
    /// A number.
    pub fn number(self) -> Result<u64, Malformed> {
        match self {
            Field::Number(number) => Ok(number),
            _ => Err(Malformed),
        }
    }

    /// A number with a sign.
    pub fn signed(self) -> Result<i64, Malformed> {
        Ok(self.number()?.cast_signed())
    }

    /// Bytes.
    pub fn bytes(self) -> Result<&'b [u8], Malformed> {
        match self {
            Field::Bytes(bytes) => Ok(bytes),
            _ => Err(Malformed),
        }
    }

    /// A text.
    pub fn text(self) -> Result<String, Malformed> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|_| Malformed)
    }

    /// A message.
    pub fn message<M: Message>(self) -> Result<M, Malformed> {
        M::decode(self.bytes()?)
    }

    /// Adds a message to a list.
    pub fn push<M: Message>(self, to: &mut Vec<M>) -> Result<(), Malformed> {
        if to.len() >= LONGEST_LIST {
            return Err(Malformed);
        }
        to.push(self.message()?);
        Ok(())
    }

    /// Adds a text to a list.
    pub fn push_text(self, to: &mut Vec<String>) -> Result<(), Malformed> {
        if to.len() >= LONGEST_LIST {
            return Err(Malformed);
        }
        to.push(self.text()?);
        Ok(())
    }

    /// Adds a number, or those of a packed list.
    pub fn push_numbers(self, to: &mut Vec<u64>) -> Result<(), Malformed> {
        let mut fields = match self {
            Field::Number(number) => {
                to.push(number);
                return Ok(());
            }
            field => Fields { rest: field.bytes()? },
        };
        while !fields.rest.is_empty() {
            if to.len() >= LONGEST_LIST {
                return Err(Malformed);
            }
            to.push(fields.varint()?);
        }
        Ok(())
    }
}

/// The fields of a message, in the order they were written.
#[derive(Clone, Debug)]
pub struct Fields<'b> {
    rest: &'b [u8],
}

impl<'b> Fields<'b> {
    /// The fields of some bytes.
    pub fn of(bytes: &'b [u8]) -> Self {
        Fields { rest: bytes }
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.rest.split_first().ok_or(Malformed)?;
            self.rest = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Malformed)
    }

    fn take(&mut self, count: u64) -> Result<&'b [u8], Malformed> {
        let count = usize::try_from(count).map_err(|_| Malformed)?;
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    fn read(&mut self) -> Result<(u32, Field<'b>), Malformed> {
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).map_err(|_| Malformed)?;
        let field = match key & 7 {
            0 => Field::Number(self.varint()?),
            1 => self.take(8).map(|_| Field::Fixed)?,
            2 => {
                let length = self.varint()?;
                Field::Bytes(self.take(length)?)
            }
            5 => self.take(4).map(|_| Field::Fixed)?,
            _ => return Err(Malformed),
        };
        if number == 0 { Err(Malformed) } else { Ok((number, field)) }
    }
}

impl<'b> Iterator for Fields<'b> {
    type Item = Result<(u32, Field<'b>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let read = self.read();
        if read.is_err() {
            self.rest = &[];
        }
        Some(read)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut to = Writer::default();
        to.number(1, 300);
        to.signed(2, -1);
        to.text(3, "text");
        to.numbers(4, &[1, 9, 1 << 40]);
        to.number(5, 0);
        let read: Vec<_> = Fields::of(&to.0).map(Result::unwrap).collect();
        assert_eq!(read.len(), 4);
        assert_eq!(read[0], (1, Field::Number(300)));
        assert_eq!(read[1].1.signed(), Ok(-1));
        assert_eq!(read[2].1.text().as_deref(), Ok("text"));
        let mut numbers = Vec::new();
        read[3].1.push_numbers(&mut numbers).unwrap();
        assert_eq!(numbers, [1, 9, 1 << 40]);
    }

    #[test]
    fn lies_about_lengths_end_the_reading() {
        for bytes in
            [&b"\x0a\x05abc"[..], b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"\x80", b"\x0b", b"\x00\x01"]
        {
            let read: Vec<_> = Fields::of(bytes).collect();
            assert_eq!(read.last(), Some(&Err(Malformed)), "{bytes:?}");
        }
    }
}
