//! Go's `fmt`: how every value prints, and `printf` with its verbs, flags and in-band errors.

use crate::number::{exponent_form, plain_form, print_float, shortest};
use crate::quote::{is_print, quote_with};
use crate::value::{Data, Heap, Str, Val};

/// Deepest nesting printed; a map that contains itself ends here.
const MAX_PRINT_DEPTH: u32 = 200;

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

/// A value as `print` of it alone gives it.
pub fn sprint(heap: &Heap, value: &Val) -> Vec<u8> {
    let mut printer = Printer { heap, out: Vec::new(), flags: Flags::default(), depth: 0 };
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
    let mut printer = Printer { heap, out: Vec::new(), flags: Flags::default(), depth: 0 };
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
    let mut printer = Printer { heap, out: Vec::new(), flags: Flags::default(), depth: 0 };
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

/// `fmt.Sprintf` that reports which range of the result each argument made.
pub fn sprintf_parts(heap: &Heap, format: &[u8], args: &[Val], seen: &mut dyn FnMut(usize, usize, usize)) -> Vec<u8> {
    let printer = Printer { heap, out: Vec::new(), flags: Flags::default(), depth: 0 };
    let mut run = Format { printer, format, at: 0, args, next: 0, reordered: false, good_index: true, seen };
    run.run();
    run.printer.out
}

/// Whether a value, or anything in it, is a secret.
pub fn holds_taint(heap: &Heap, value: &Val) -> bool {
    fn visit(heap: &Heap, value: &Val, depth: u32) -> bool {
        if value.is_tainted() || depth > MAX_PRINT_DEPTH {
            return value.is_tainted();
        }
        match &value.data {
            Data::List(list) => heap.items(*list).iter().any(|item| visit(heap, item, depth + 1)),
            Data::Map(map) => heap.get_map(*map).entries.values().any(|item| visit(heap, item, depth + 1)),
            Data::Str(text) => text.pieces().is_some_and(|pieces| pieces.iter().any(|piece| piece.tainted)),
            _ => false,
        }
    }
    visit(heap, value, 0)
}

struct Printer<'h> {
    heap: &'h Heap,
    out: Vec<u8>,
    flags: Flags,
    depth: u32,
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

    fn bad_verb(&mut self, value: &Val, verb: char) {
        let flags = std::mem::take(&mut self.flags);
        self.push(&format!("%!{verb}("));
        if value.is_nil() {
            self.push("<nil>");
        } else {
            let name = self.heap.type_name(value).into_owned();
            self.push(&name);
            self.push("=");
            self.value(value, 'v');
        }
        self.push(")");
        self.flags = flags;
    }

    /// An operand at the top of a verb.
    fn argument(&mut self, value: &Val, verb: char) {
        if verb == 'T' {
            let name = self.heap.type_name(value).into_owned();
            self.pad(name.as_bytes());
            return;
        }
        if value.is_nil() {
            match verb {
                'v' => self.pad(b"<nil>"),
                _ => self.bad_verb(value, verb),
            }
            return;
        }
        self.value(value, verb);
    }

    fn value(&mut self, value: &Val, verb: char) {
        match &value.data {
            Data::Nil if self.flags.sharp_v => self.push("interface {}(nil)"),
            Data::Nil => self.pad(b"<nil>"),
            Data::Bool(truth) => match verb {
                't' | 'v' => self.pad(if *truth { b"true" } else { b"false" }),
                _ => self.bad_verb(value, verb),
            },
            Data::Int(n) | Data::Int64(n) => self.integer(value, n.unsigned_abs(), *n < 0, verb),
            Data::Int32(n) => self.integer(value, u64::from(n.unsigned_abs()), *n < 0, verb),
            Data::Uint64(n) => self.integer(value, *n, false, verb),
            Data::Uint8(n) => self.integer(value, u64::from(*n), false, verb),
            Data::Float(n) => self.float_verb(value, *n, verb),
            Data::Complex(parts) => {
                let text = format!("({}{}i)", print_float(parts.0), signed(print_float(parts.1)));
                self.pad(text.as_bytes());
            }
            Data::Str(text) => self.string(value, text.bytes(), verb),
            Data::Bytes(bytes) => match verb {
                'v' | 'd' => {
                    let text: Vec<String> = bytes.bytes().iter().map(u8::to_string).collect();
                    let text = format!("[{}]", text.join(" "));
                    self.push(&text);
                }
                _ => self.string(value, bytes.bytes(), verb),
            },
            Data::Duration(nanos) => match verb {
                'v' | 's' | 'q' | 'x' | 'X' => {
                    let text = crate::time::format_duration(*nanos);
                    self.string(value, text.as_bytes(), if verb == 'v' { 's' } else { verb });
                }
                _ => self.integer(value, nanos.unsigned_abs(), *nanos < 0, verb),
            },
            Data::Object(object) => self.object(value, object, verb),
            Data::List(list) => self.list(*list, verb),
            Data::Map(map) => self.map(*map, verb),
        }
    }

    fn object(&mut self, value: &Val, object: &crate::object::Object, verb: char) {
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
            self.string(&Val::NIL, key.bytes(), verb);
            self.push(":");
            self.value(item, verb);
        }
        self.push(if self.flags.sharp_v { "}" } else { "]" });
        self.depth -= 1;
    }

    /// Goes one level deeper; true (and a mark in the text) when that is too deep.
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
                let plain = !text.iter().any(|b| *b == b'`' || (*b < 0x20 && *b != b'\t') || *b == 0x7f);
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

    fn integer(&mut self, value: &Val, size: u64, negative: bool, verb: char) {
        let digits = match verb {
            'v' | 'd' => size.to_string(),
            'b' => format!("{size:b}"),
            'o' | 'O' => format!("{size:o}"),
            'x' => format!("{size:x}"),
            'X' => format!("{size:X}"),
            'c' | 'q' | 'U' => return self.rune(size, verb),
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 's' | 't' => return self.bad_verb(value, verb),
            _ => return self.bad_verb(value, verb),
        };
        let mut digits = digits;
        if let Some(precision) = self.flags.precision {
            if precision == 0 && size == 0 {
                let width = self.flags.width.unwrap_or(0);
                self.out.extend(std::iter::repeat_n(b' ', width));
                return;
            }
            while digits.len() < precision {
                digits.insert(0, '0');
            }
        }
        let mut prefix = String::new();
        if self.flags.sharp {
            match verb {
                'b' => prefix.push_str("0b"),
                'o' if !digits.starts_with('0') => prefix.push('0'),
                'x' => prefix.push_str("0x"),
                'X' => prefix.push_str("0X"),
                _ => {}
            }
        }
        if verb == 'O' {
            prefix.push_str("0o");
        }
        let sign = self.sign(negative);
        self.signed_digits(sign, &format!("{prefix}{digits}"));
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

    /// Writes a number; zero padding goes between sign and digits.
    fn signed_digits(&mut self, sign: &str, digits: &str) {
        let width = self.flags.width.unwrap_or(0);
        if self.flags.zero && !self.flags.minus && self.flags.precision.is_none() {
            let fill = width.saturating_sub(sign.len() + digits.len());
            self.push(sign);
            self.out.extend(std::iter::repeat_n(b'0', fill));
            self.push(digits);
            return;
        }
        let zero = std::mem::replace(&mut self.flags.zero, false);
        self.pad(format!("{sign}{digits}").as_bytes());
        self.flags.zero = zero;
    }

    fn rune(&mut self, code: u64, verb: char) {
        let ch = u32::try_from(code).ok().and_then(char::from_u32).unwrap_or('\u{FFFD}');
        let text = match verb {
            'c' => ch.to_string(),
            'q' => quote_with(ch.to_string().as_bytes(), '\'', self.flags.plus),
            _ if self.flags.sharp && is_print(ch) => format!("U+{code:04X} '{ch}'"),
            _ => format!("U+{code:04X}"),
        };
        self.pad(text.as_bytes());
    }

    fn float_verb(&mut self, value: &Val, number: f64, verb: char) {
        let text = match verb {
            'v' => format_float(number, 'g', self.flags.precision, self.flags.sharp && !self.flags.sharp_v),
            'g' | 'G' => format_float(number, verb, self.flags.precision, self.flags.sharp),
            'e' | 'E' | 'f' | 'F' => format_float(number, verb, Some(self.flags.precision.unwrap_or(6)), false),
            _ => return self.bad_verb(value, verb),
        };
        if number.is_nan() || number.is_infinite() {
            let zero = std::mem::replace(&mut self.flags.zero, false);
            let text = match text.strip_prefix('+') {
                Some(plain) if !self.flags.plus => plain.to_owned(),
                _ => text,
            };
            let text =
                if number.is_infinite() && number > 0.0 { format!("+{}", text.trim_start_matches('+')) } else { text };
            self.pad(text.as_bytes());
            self.flags.zero = zero;
            return;
        }
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits.to_owned()),
            None => (false, text),
        };
        let sign = self.sign(negative);
        let precision = self.flags.precision.take();
        self.signed_digits(sign, &digits);
        self.flags.precision = precision;
    }
}

fn signed(text: String) -> String {
    if text.starts_with(['-', '+']) { text } else { format!("+{text}") }
}

/// A float in one of Go's formats.
pub fn format_float(number: f64, verb: char, precision: Option<usize>, sharp: bool) -> String {
    if !number.is_finite() {
        return print_float(number);
    }
    let sign = if number.is_sign_negative() { "-" } else { "" };
    let size = number.abs();
    match verb {
        'f' | 'F' => format!("{sign}{size:.*}", precision.unwrap_or(6)),
        'e' | 'E' => {
            let text = format!("{size:.*e}", precision.unwrap_or(6));
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let exponent: i32 = exponent.parse().unwrap_or(0);
            let mark = if verb == 'E' { 'E' } else { 'e' };
            let exponent_sign = if exponent < 0 { '-' } else { '+' };
            format!("{sign}{mantissa}{mark}{exponent_sign}{:02}", exponent.abs())
        }
        _ => {
            let (digits, point) = match precision {
                None => shortest(size),
                Some(precision) => rounded(size, precision.max(1)),
            };
            let limit = match precision {
                None => 6,
                Some(precision) => {
                    let precision = precision.max(1) as i32;
                    let count = digits.len() as i32;
                    if precision > count && count >= point { count } else { precision }
                }
            };
            let exponent = point - 1;
            let mark = if verb == 'G' { 'E' } else { 'e' };
            let mut text = if exponent < -4 || exponent >= limit.max(if precision.is_none() { 6 } else { 0 }) {
                exponent_form(&digits, exponent, mark)
            } else {
                plain_form(&digits, point)
            };
            if sharp && !text.contains('.') {
                text.push('.');
            }
            format!("{sign}{text}")
        }
    }
}

/// Digits rounded to a count, trailing zeros dropped, and the place of the point.
fn rounded(size: f64, count: usize) -> (Vec<u8>, i32) {
    let text = format!("{size:.*e}", count - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    while digits.len() > 1 && digits.last() == Some(&b'0') {
        digits.pop();
    }
    (digits, exponent.parse::<i32>().unwrap_or(0) + 1)
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
                self.printer.value(arg, 'v');
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
                    flags.width = Some(width.unsigned_abs().min(1_000_000) as usize);
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
        if self.peek() == Some(b'.') {
            self.at += 1;
            if self.reordered {
                self.good_index = false;
            }
            self.read_index();
            if self.peek() == Some(b'*') {
                self.at += 1;
                match self.star() {
                    Some(precision) if precision >= 0 => flags.precision = Some(precision.min(1_000_000) as usize),
                    Some(_) => flags.precision = None,
                    None => self.printer.push("%!(BADPREC)"),
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
            let mut verb = verb;
            if verb == 'w' {
                verb = 'z';
            }
            if verb == 'v' && flags.sharp {
                self.printer.flags.sharp = false;
                self.printer.flags.sharp_v = true;
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
        match value.data {
            Data::Int(n) | Data::Int64(n) => Some(n),
            Data::Int32(n) => Some(i64::from(n)),
            _ => None,
        }
    }
}
