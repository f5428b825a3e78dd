//! Go's `fmt`: how every value prints, and `printf` with its verbs, flags and in-band errors.

use crate::float::{format_float, with_point};
use crate::quote::{is_print, quote_with};
use crate::value::{Data, Heap, Str, Val};

/// Maximum nesting that is printed; a map that contains itself ends here.
const MAX_PRINT_DEPTH: u32 = purlin_syntax::limits::VALUE_LEVELS;

/// Flags of a verb.
#[derive(Clone, Copy, Default)]
struct Flags {
    plus: bool,
    minus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    sharp_v: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

/// A value as `print` prints it alone.
pub fn sprint(heap: &Heap, value: &Val) -> Vec<u8> {
    let mut printer = Printer { heap, out: Vec::new(), flags: Flags::default(), depth: 0, erring: false };
    printer.value(value, 'v');
    printer.out
}

/// A value as text, `%v`.
pub fn to_text(heap: &Heap, value: &Val) -> Str {
    match &value.data {
        Data::Str(text) => text.clone(),
        _ => Str::new(sprint(heap, value)),
    }
}

/// `fmt.Sprint`: a space between operands when neither is a string.
pub fn sprint_all(heap: &Heap, values: &[Val]) -> Vec<u8> {
    let mut printer = Printer { heap, out: Vec::new(), flags: Flags::default(), depth: 0, erring: false };
    let mut previous_string = true;
    for value in values {
        let is_string = matches!(value.data, Data::Str(_));
        if !is_string && !previous_string {
            printer.out.push(b' ');
        }
        printer.value(value, 'v');
        previous_string = is_string;
    }
    printer.out
}

/// `fmt.Sprintln`
pub fn sprintln(heap: &Heap, values: &[Val]) -> Vec<u8> {
    let mut printer = Printer { heap, out: Vec::new(), flags: Flags::default(), depth: 0, erring: false };
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            printer.out.push(b' ');
        }
        printer.value(value, 'v');
    }
    printer.out.push(b'\n');
    printer.out
}

/// `fmt.Sprintf`
pub fn sprintf(heap: &Heap, format: &[u8], args: &[Val]) -> Vec<u8> {
    sprintf_parts(heap, format, args, &mut |_, _, _| {})
}

/// `fmt.Sprintf` that reports the range of the result for each argument.
pub fn sprintf_parts(heap: &Heap, format: &[u8], args: &[Val], seen: &mut dyn FnMut(usize, usize, usize)) -> Vec<u8> {
    let printer = Printer { heap, out: Vec::new(), flags: Flags::default(), depth: 0, erring: false };
    let mut run = Format { printer, format, at: 0, args, next: 0, reordered: false, good_index: true, seen };
    run.run();
    run.printer.out
}

struct Printer<'h> {
    heap: &'h Heap,
    out: Vec<u8>,
    flags: Flags,
    depth: u32,
    /// Inside the text of a wrong verb, where methods are not called.
    erring: bool,
}

impl Printer<'_> {
    fn push(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Writes bytes padded to the width.
    fn pad(&mut self, bytes: &[u8]) {
        let width = self.flags.width.unwrap_or(0);
        let count = String::from_utf8_lossy(bytes).chars().count();
        let fill = width.saturating_sub(count);
        if fill == 0 {
            self.out.extend_from_slice(bytes);
        } else if self.flags.minus {
            self.out.extend_from_slice(bytes);
            self.out.extend(std::iter::repeat_n(b' ', fill));
        } else {
            let pad = if self.flags.zero { b'0' } else { b' ' };
            self.out.extend(std::iter::repeat_n(pad, fill));
            self.out.extend_from_slice(bytes);
        }
    }

    /// A verb that does not apply to the value; width and other flags remain in effect.
    fn bad_verb(&mut self, value: &Val, verb: char) {
        self.push(&format!("%!{verb}("));
        if value.is_nil() {
            self.push("<nil>");
        } else {
            let name = self.heap.type_name(value).into_owned();
            self.push(&name);
            self.push("=");
            let outer = std::mem::replace(&mut self.erring, true);
            self.value(value, 'v');
            self.erring = outer;
        }
        self.push(")");
    }

    /// The operand of a verb.
    fn argument(&mut self, value: &Val, verb: char) {
        if verb == 'T' {
            let name = self.heap.type_name(value).into_owned();
            match self.flags.precision {
                Some(limit) if !value.is_nil() => {
                    let cut: String = name.chars().take(limit).collect();
                    self.pad(cut.as_bytes());
                }
                _ => self.pad(name.as_bytes()),
            }
            return;
        }
        if value.is_nil() {
            match verb {
                'v' => self.pad(b"<nil>"),
                _ => self.bad_verb(value, verb),
            }
            return;
        }
        let composite = matches!(value.data, Data::List(_) | Data::Map(_) | Data::Object(_) | Data::Duration(_));
        if verb == 'w' && composite {
            return self.bad_verb(value, verb);
        }
        self.value(value, verb);
    }

    fn value(&mut self, value: &Val, verb: char) {
        match &value.data {
            Data::Nil if self.flags.sharp_v => self.push("interface {}(nil)"),
            Data::Nil => self.push("<nil>"),
            Data::Bool(truth) => match verb {
                't' | 'v' => self.pad(if *truth { b"true" } else { b"false" }),
                _ => self.bad_verb(value, verb),
            },
            Data::Int(n) | Data::Int64(n) => self.integer(value, *n as u64, *n < 0, verb),
            Data::Uint64(n) => self.integer(value, *n, false, verb),
            Data::Uint8(n) => self.integer(value, u64::from(*n), false, verb),
            Data::Float(n) => self.float_verb(value, *n, verb),
            Data::Complex(parts) => match verb {
                'v' | 'b' | 'g' | 'G' | 'x' | 'X' | 'f' | 'F' | 'e' | 'E' => {
                    self.push("(");
                    self.float_verb(value, parts.0, verb);
                    let plus = std::mem::replace(&mut self.flags.plus, true);
                    self.float_verb(value, parts.1, verb);
                    self.flags.plus = plus;
                    self.push("i)");
                }
                _ => self.bad_verb(value, verb),
            },
            Data::Str(text) => self.string(value, text.bytes(), verb),
            Data::Bytes(bytes) => match verb {
                's' | 'q' | 'x' | 'X' => self.string(value, bytes.bytes(), verb),
                _ => self.bytes(bytes.bytes(), verb),
            },
            Data::Duration(nanos) => match verb {
                'v' | 's' | 'q' | 'x' | 'X' if !self.erring && !self.flags.sharp_v => {
                    let text = crate::time::format_duration(*nanos);
                    self.string(value, text.as_bytes(), if verb == 'v' { 's' } else { verb });
                }
                _ => self.integer(value, *nanos as u64, *nanos < 0, verb),
            },
            Data::Object(object) => self.object(value, object, verb),
            Data::List(list) => self.list(*list, verb),
            Data::Map(map) => self.map(*map, verb),
        }
    }

    fn object(&mut self, value: &Val, object: &crate::object::Object, verb: char) {
        if let crate::object::Object::Version(version) = object
            && (self.erring || !matches!(verb, 'v' | 's' | 'q' | 'x' | 'X'))
        {
            return self.version(version, verb);
        }
        if let Some(text) = object.text() {
            return self.string(value, text.as_bytes(), if verb == 'v' { 's' } else { verb });
        }
        if let crate::object::Object::Struct(known) = object {
            if known.name.starts_with('*') {
                self.push("&");
            }
            self.push("{");
            for (index, (_, field)) in known.fields.iter().enumerate() {
                if index > 0 {
                    self.push(" ");
                }
                self.value(field, verb);
            }
            self.push("}");
        }
    }

    /// The fields of a version, for verbs that do not apply to its text.
    fn version(&mut self, version: &crate::semver::Version, verb: char) {
        self.push("&{");
        for number in version.numbers {
            self.value(&Val::new(Data::Uint64(number)), verb);
            self.push(" ");
        }
        self.value(&Val::str(version.pre.as_str()), verb);
        self.push(" ");
        self.value(&Val::str(version.meta.as_str()), verb);
        self.push(" ");
        self.value(&Val::str(version.original.as_str()), verb);
        self.push("}");
    }

    /// Bytes one by one, as a list of small numbers.
    fn bytes(&mut self, bytes: &[u8], verb: char) {
        self.push(if self.flags.sharp_v { "[]byte{" } else { "[" });
        for (index, byte) in bytes.iter().enumerate() {
            if index > 0 {
                self.push(if self.flags.sharp_v { ", " } else { " " });
            }
            if self.flags.sharp_v {
                self.push(&format!("{byte:#x}"));
            } else {
                self.value(&Val::new(Data::Uint8(*byte)), verb);
            }
        }
        self.push(if self.flags.sharp_v { "}" } else { "]" });
    }

    fn list(&mut self, list: crate::value::ListRef, verb: char) {
        let heap = self.heap;
        let body = heap.get_list(list);
        if self.nested() {
            return;
        }
        if self.flags.sharp_v {
            self.push(body.kind.name());
            if body.nil {
                self.push("(nil)");
                self.depth -= 1;
                return;
            }
            self.push("{");
        } else {
            self.push("[");
        }
        for (index, item) in body.items.iter().enumerate() {
            if index > 0 {
                self.push(if self.flags.sharp_v { ", " } else { " " });
            }
            self.value(item, verb);
        }
        self.push(if self.flags.sharp_v { "}" } else { "]" });
        self.depth -= 1;
    }

    fn map(&mut self, map: crate::value::MapRef, verb: char) {
        let heap = self.heap;
        let body = heap.get_map(map);
        if self.nested() {
            return;
        }
        if self.flags.sharp_v {
            self.push(map.kind.name());
            self.push("{");
        } else {
            self.push("map[");
        }
        for (index, (key, item)) in body.entries.iter().enumerate() {
            if index > 0 {
                self.push(if self.flags.sharp_v { ", " } else { " " });
            }
            self.string(&Val::new(Data::Str(key.clone())), key.bytes(), verb);
            self.push(":");
            self.value(item, verb);
        }
        self.push(if self.flags.sharp_v { "}" } else { "]" });
        self.depth -= 1;
    }

    /// Descends one level; true (and a mark in the text) if that is too deep.
    fn nested(&mut self) -> bool {
        if self.depth >= MAX_PRINT_DEPTH {
            self.push("...");
            return true;
        }
        self.depth += 1;
        false
    }

    fn string(&mut self, value: &Val, bytes: &[u8], verb: char) {
        let cut = |limit: Option<usize>| match limit {
            Some(limit) => {
                let text = String::from_utf8_lossy(bytes);
                text.chars().take(limit).collect::<String>().into_bytes()
            }
            None => bytes.to_vec(),
        };
        match verb {
            'v' if self.flags.sharp_v => {
                let text = quote_with(bytes, '"', false);
                self.pad(text.as_bytes());
            }
            'v' | 's' => {
                let text = cut(self.flags.precision);
                self.pad(&text);
            }
            'q' => {
                let text = cut(self.flags.precision);
                let control = |b: &u8| *b == b'`' || (*b < 0x20 && *b != b'\t') || *b == 0x7f;
                let plain = std::str::from_utf8(&text).is_ok() && !text.iter().any(control);
                let text = if self.flags.sharp && plain {
                    format!("`{}`", String::from_utf8_lossy(&text))
                } else {
                    quote_with(&text, '"', self.flags.plus)
                };
                self.pad(text.as_bytes());
            }
            'x' | 'X' => {
                let text = self.hex(bytes, verb == 'X');
                self.pad(text.as_bytes());
            }
            _ => self.bad_verb(value, verb),
        }
    }

    fn hex(&self, bytes: &[u8], upper: bool) -> String {
        let bytes = bytes.get(..self.flags.precision.unwrap_or(bytes.len()).min(bytes.len())).unwrap_or_default();
        let mut out = String::new();
        let prefix = if upper { "0X" } else { "0x" };
        for (index, byte) in bytes.iter().enumerate() {
            if self.flags.space && index > 0 {
                out.push(' ');
            }
            if self.flags.sharp && (self.flags.space || index == 0) {
                out.push_str(prefix);
            }
            out.push_str(&if upper { format!("{byte:02X}") } else { format!("{byte:02x}") });
        }
        out
    }

    /// An integer given as its bits in two's complement.
    fn integer(&mut self, value: &Val, bits: u64, negative: bool, verb: char) {
        let size = if negative { bits.wrapping_neg() } else { bits };
        let mut digits = match verb {
            'v' | 'd' => size.to_string(),
            'b' => format!("{size:b}"),
            'o' | 'O' => format!("{size:o}"),
            'x' => format!("{size:x}"),
            'X' => format!("{size:X}"),
            'c' | 'q' | 'U' => return self.rune(bits, verb),
            _ => return self.bad_verb(value, verb),
        };
        let sign = self.sign(negative);
        let wanted = match (self.flags.precision, self.flags.width) {
            (Some(0), width) if size == 0 => {
                self.out.extend(std::iter::repeat_n(b' ', width.unwrap_or(0)));
                return;
            }
            (Some(precision), _) => precision,
            (None, Some(width)) if self.flags.zero && !self.flags.minus => width.saturating_sub(sign.len()),
            _ => 0,
        };
        digits.insert_str(0, &"0".repeat(wanted.saturating_sub(digits.len())));
        let prefix = match verb {
            'O' if self.flags.sharp && !digits.starts_with('0') => "0o0",
            'O' => "0o",
            'b' if self.flags.sharp => "0b",
            'o' if self.flags.sharp && !digits.starts_with('0') => "0",
            'x' if self.flags.sharp => "0x",
            'X' if self.flags.sharp => "0X",
            _ => "",
        };
        self.pad_with_spaces(&format!("{sign}{prefix}{digits}"));
    }

    fn sign(&self, negative: bool) -> &'static str {
        if negative {
            "-"
        } else if self.flags.plus {
            "+"
        } else if self.flags.space {
            " "
        } else {
            ""
        }
    }

    /// Writes a text padded to the width, never with zeros.
    fn pad_with_spaces(&mut self, text: &str) {
        let zero = std::mem::replace(&mut self.flags.zero, false);
        self.pad(text.as_bytes());
        self.flags.zero = zero;
    }

    fn rune(&mut self, code: u64, verb: char) {
        let ch = u32::try_from(code).ok().and_then(char::from_u32);
        let shown = ch.unwrap_or('\u{FFFD}');
        match verb {
            'c' => self.pad(shown.to_string().as_bytes()),
            'q' => {
                let text = quote_with(shown.to_string().as_bytes(), '\'', self.flags.plus);
                self.pad(text.as_bytes());
            }
            _ => {
                let digits = self.flags.precision.unwrap_or(4).max(4);
                let code = format!("{code:X}");
                let mut text = format!("U+{}{code}", "0".repeat(digits.saturating_sub(code.len())));
                if let Some(ch) = ch.filter(|ch| self.flags.sharp && is_print(*ch)) {
                    text.push_str(&format!(" '{ch}'"));
                }
                self.pad_with_spaces(&text);
            }
        }
    }

    fn float_verb(&mut self, value: &Val, number: f64, verb: char) {
        let form = match verb {
            'v' => 'g',
            'F' => 'f',
            'g' | 'G' | 'e' | 'E' | 'f' | 'b' | 'x' | 'X' => verb,
            _ => return self.bad_verb(value, verb),
        };
        let text = format_float(number, form, self.flags.precision);
        let size = text.trim_start_matches(['-', '+']);
        let sign = self.sign(text.starts_with('-'));
        if !number.is_finite() {
            let sign = if number.is_infinite() && sign.is_empty() { "+" } else { sign };
            return self.pad_with_spaces(&format!("{sign}{size}"));
        }
        let size = if self.flags.sharp { with_point(size, form, self.flags.precision) } else { size.to_owned() };
        let width = self.flags.width.unwrap_or(0);
        if self.flags.zero && !self.flags.minus && !sign.is_empty() && width > sign.len() + size.len() {
            self.push(sign);
            self.out.extend(std::iter::repeat_n(b'0', width - sign.len() - size.len()));
            self.push(&size);
            return;
        }
        self.pad(format!("{sign}{size}").as_bytes());
    }
}

struct Format<'h, 's> {
    printer: Printer<'h>,
    format: &'h [u8],
    at: usize,
    args: &'h [Val],
    next: usize,
    reordered: bool,
    good_index: bool,
    seen: &'s mut dyn FnMut(usize, usize, usize),
}

impl Format<'_, '_> {
    fn peek(&self) -> Option<u8> {
        self.format.get(self.at).copied()
    }

    fn run(&mut self) {
        let mut any_reordered = false;
        while self.at < self.format.len() {
            let rest = self.format.get(self.at..).unwrap_or_default();
            let plain = memchr::memchr(b'%', rest).unwrap_or(rest.len());
            self.printer.out.extend_from_slice(rest.get(..plain).unwrap_or_default());
            self.at += plain;
            if self.at >= self.format.len() {
                break;
            }
            self.at += 1;
            self.reordered = false;
            self.good_index = true;
            self.verb();
            any_reordered |= self.reordered;
        }
        if !any_reordered && self.next < self.args.len() {
            self.extra();
        }
    }

    fn extra(&mut self) {
        self.printer.flags = Flags::default();
        self.printer.push("%!(EXTRA ");
        for (index, arg) in self.args.iter().skip(self.next).enumerate() {
            if index > 0 {
                self.printer.push(", ");
            }
            if arg.is_nil() {
                self.printer.push("<nil>");
            } else {
                let name = self.printer.heap.type_name(arg).into_owned();
                self.printer.push(&name);
                self.printer.push("=");
                let start = self.printer.out.len();
                self.printer.value(arg, 'v');
                (self.seen)(self.next + index, start, self.printer.out.len());
            }
        }
        self.printer.push(")");
    }

    fn verb(&mut self) {
        let mut flags = self.read_flags();
        self.read_index();
        if self.peek() == Some(b'*') {
            self.at += 1;
            match self.star() {
                Some(width) => {
                    flags.minus |= width < 0;
                    flags.zero &= width >= 0;
                    flags.width = Some(width.unsigned_abs() as usize);
                }
                None => self.printer.push("%!(BADWIDTH)"),
            }
        } else {
            let before = self.at;
            flags.width = self.read_number();
            if self.reordered && self.at > before {
                self.good_index = false;
            }
        }
        if self.peek() == Some(b'.') && self.at + 1 < self.format.len() {
            self.at += 1;
            if self.reordered {
                self.good_index = false;
            }
            self.read_index();
            if self.peek() == Some(b'*') {
                self.at += 1;
                match self.star() {
                    Some(precision) if precision >= 0 => flags.precision = Some(precision as usize),
                    _ => self.printer.push("%!(BADPREC)"),
                }
            } else {
                flags.precision = Some(self.read_number().unwrap_or(0));
            }
        }
        self.read_index();
        let Some((verb, width)) = crate::lex::decode(self.format.get(self.at..).unwrap_or_default()) else {
            self.printer.push("%!(NOVERB)");
            return;
        };
        self.at += width;
        self.printer.flags = flags;
        if verb == '%' {
            self.printer.push("%");
        } else if !self.good_index {
            self.printer.push(&format!("%!{verb}(BADINDEX)"));
        } else if let Some(arg) = self.args.get(self.next) {
            let index = self.next;
            self.next += 1;
            if verb == 'v' || verb == 'w' {
                self.printer.flags.sharp_v = std::mem::take(&mut self.printer.flags.sharp);
                self.printer.flags.plus = false;
            }
            let start = self.printer.out.len();
            self.printer.argument(arg, verb);
            (self.seen)(index, start, self.printer.out.len());
        } else {
            self.printer.push(&format!("%!{verb}(MISSING)"));
        }
    }

    fn read_flags(&mut self) -> Flags {
        let mut flags = Flags::default();
        loop {
            match self.peek() {
                Some(b'+') => flags.plus = true,
                Some(b'-') => {
                    flags.minus = true;
                    flags.zero = false;
                }
                Some(b'#') => flags.sharp = true,
                Some(b' ') => flags.space = true,
                Some(b'0') => flags.zero = !flags.minus,
                _ => return flags,
            }
            self.at += 1;
        }
    }

    fn read_number(&mut self) -> Option<usize> {
        let mut number: Option<usize> = None;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            let value = number.unwrap_or(0) * 10 + usize::from(digit - b'0');
            number = Some(value.min(1_000_000));
            self.at += 1;
        }
        number
    }

    /// Reads `[n]`.
    fn read_index(&mut self) {
        if self.peek() != Some(b'[') {
            return;
        }
        self.reordered = true;
        let rest = self.format.get(self.at + 1..).unwrap_or_default();
        let Some(close) = memchr::memchr(b']', rest) else {
            self.good_index = false;
            self.at += 1;
            return;
        };
        let number =
            std::str::from_utf8(rest.get(..close).unwrap_or_default()).ok().and_then(|t| t.parse::<usize>().ok());
        self.at += close + 2;
        match number {
            Some(number) if number >= 1 && number <= self.args.len() => self.next = number - 1,
            _ => self.good_index = false,
        }
    }

    fn star(&mut self) -> Option<i64> {
        let value = self.args.get(self.next)?;
        self.next += 1;
        let number = match value.data {
            Data::Int(n) | Data::Int64(n) => n,
            _ => return None,
        };
        // Go refuses larger ones, too.
        (-1_000_000..=1_000_000).contains(&number).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::sprintf;
    use crate::value::{Data, Heap, Val};

    fn check(format: &str, arg: &Val, expected: &str) {
        let heap = Heap::default();
        let text = sprintf(&heap, format.as_bytes(), std::slice::from_ref(arg));
        assert_eq!(String::from_utf8_lossy(&text), expected, "{format}");
    }

    #[test]
    fn wrong_verbs_keep_their_flags() {
        check("%08.3f", &Val::bool(false), "%!f(bool=000false)");
        check("%+d", &Val::float(1e21), "%!d(float64=+1e+21)");
        check("%8.3E", &Val::int(3), "%!E(int=     003)");
        check("%-5d|", &Val::str("a"), "%!d(string=a    )|");
        check("%12F", &Val::new(Data::Duration(90_000_000_000)), "%!F(time.Duration= 90000000000)");
        check("%w", &Val::int(1), "%!w(int=1)");
    }

    #[test]
    fn integers_and_floats() {
        check("%#08x", &Val::int(255), "0x000000ff");
        check("%#O", &Val::int(65), "0o0101");
        check("%U", &Val::int(-1), "U+FFFFFFFFFFFFFFFF");
        check("%+v", &Val::int(3), "3");
        check("%#g", &Val::float(-0.125), "-0.125000");
        check("%x", &Val::float(3.0), "0x1.8p+01");
        check("%.0f", &Val::float(2.5), "2");
        check("%8.3g|", &Val::new(Data::Complex(std::sync::Arc::new((1.0, 2.0)))), "(       1      +2i)|");
    }

    #[test]
    fn odd_directives() {
        check("%.", &Val::int(1), "%!.(int=1)");
        check("%.*d", &Val::int(-2), "%!(BADPREC)%!d(MISSING)");
        check("%*d", &Val::int(1_000_001), "%!(BADWIDTH)%!d(MISSING)");
    }
}
