//! Regular expressions in Go's syntax (RE2), translated to that of the `regex` crate, or rejected with Go's message.
//! The compiling code charges for the result ([`crate::pattern`]); nothing is matched here.
//!
//! The parser follows Go's `regexp/syntax` with its usual ("Perl") flags. Names of groups are kept separately: Go
//! allows one name for several groups, the engine does not.

use std::fmt::Write as _;

/// A pattern for the `regex` crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translated {
    /// The pattern.
    pub pattern: String,
    /// The name of each group, from the first one on.
    pub names: Vec<Option<String>>,
}

/// Maximum number of repetitions in Go, nested counts multiplied.
const MAX_REPEAT: u32 = 1_000;

/// Deepest nesting of groups, as in Go.
const MAX_DEPTH: usize = 1_000;

/// A class that matches nothing, for characters that cannot occur in text.
const NOTHING: &str = r"[^\x00-\x{10FFFF}]";

/// Translates a pattern; the error is what Go prints after `error parsing regexp: `.
pub fn translate(source: &[u8]) -> Result<Translated, String> {
    let source = match std::str::from_utf8(source) {
        Ok(source) => source,
        Err(error) => {
            let rest = source.get(error.valid_up_to()..).unwrap_or_default();
            return Err(refusal("invalid UTF-8", &String::from_utf8_lossy(rest)));
        }
    };
    let mut parser = Parser { whole: source, rest: source, groups: vec![Group::default()], ..Parser::default() };
    let mut repeated_before = None;
    while let Some(ch) = parser.rest.chars().next() {
        let before = parser.rest;
        let repeats = parser.step(ch, repeated_before)?;
        repeated_before = repeats.then_some(before);
    }
    match parser.groups.as_slice() {
        [one] => Ok(Translated { pattern: one.text(), names: parser.names }),
        _ => Err(refusal("missing closing )", source)),
    }
}

fn refusal(code: &str, part: &str) -> String {
    format!("{code}: `{part}`")
}

/// The Go flags that change the meaning of the rest of the pattern.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Flags {
    ignores_case: bool,
    multi_line: bool,
    dot_matches_newline: bool,
    swaps_greed: bool,
}

impl Flags {
    fn set(&mut self, name: char, on: bool) -> bool {
        let flag = match name {
            'i' => &mut self.ignores_case,
            'm' => &mut self.multi_line,
            's' => &mut self.dot_matches_newline,
            'U' => &mut self.swaps_greed,
            _ => return false,
        };
        *flag = on;
        true
    }

    /// In the engine's notation, with every flag explicit except greediness, which is explicit at each repetition.
    fn text(self) -> String {
        let all = [('i', self.ignores_case), ('m', self.multi_line), ('s', self.dot_matches_newline)];
        let chosen = |wanted: bool| all.iter().filter(move |(_, on)| *on == wanted).map(|(name, _)| *name);
        let off: String = chosen(false).collect();
        let on: String = chosen(true).collect();
        if off.is_empty() { on } else { format!("{on}-{off}") }
    }
}

/// A part of a pattern.
struct Atom {
    text: String,
    /// Number of repetitions of its parts, nested counts multiplied.
    repeats: u32,
    kind: AtomKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AtomKind {
    /// A character, a class, a group or an assertion.
    Plain,
    /// With a repetition after it.
    Repeated,
    /// A change of flags, which a following repetition skips.
    Flags,
}

/// The content of a pair of parentheses.
#[derive(Default)]
struct Group {
    /// Its opening text.
    opening: String,
    /// The flags after its end.
    outer: Flags,
    /// Alternatives that are complete, with their bars.
    complete: String,
    /// The maximum number of repetitions in them.
    repeats: u32,
    /// The parts of the current alternative.
    atoms: Vec<Atom>,
}

impl Group {
    fn text(&self) -> String {
        let atoms: String = self.atoms.iter().map(|atom| atom.text.as_str()).collect();
        format!("{}{atoms}", self.complete)
    }

    fn most_repeats(&self) -> u32 {
        self.atoms.iter().map(|atom| atom.repeats).max().unwrap_or_default().max(self.repeats)
    }
}

#[derive(Default)]
struct Parser<'s> {
    whole: &'s str,
    rest: &'s str,
    flags: Flags,
    /// Open groups, the pattern itself first.
    groups: Vec<Group>,
    names: Vec<Option<String>>,
}

impl<'s> Parser<'s> {
    /// Reads one part; returns whether it was a repetition. `repeated` is the text from the directly preceding
    /// repetition on.
    fn step(&mut self, ch: char, repeated: Option<&'s str>) -> Result<bool, String> {
        match ch {
            '(' if self.groups.len() > MAX_DEPTH => return Err(refusal("expression nests too deeply", self.whole)),
            '(' if self.rest.starts_with("(?") => self.special_group()?,
            '(' => {
                self.names.push(None);
                self.open("(");
                self.skip(1);
            }
            ')' => self.close()?,
            '|' => {
                self.skip(1);
                if let Some(group) = self.groups.last_mut() {
                    group.repeats = group.most_repeats();
                    let Group { complete, atoms, .. } = group;
                    complete.extend(atoms.drain(..).map(|atom| atom.text));
                    complete.push('|');
                }
            }
            '^' | '$' | '.' => {
                self.skip(1);
                self.push(ch.to_string());
            }
            '[' => self.class()?,
            '*' | '+' | '?' => {
                let before = self.rest;
                self.skip(1);
                self.repeat(before, &ch.to_string(), None, repeated)?;
                return Ok(true);
            }
            '{' => {
                let before = self.rest;
                let Some((count, len)) = counted(before) else {
                    self.skip(1);
                    self.literal('{');
                    return Ok(false);
                };
                let written = before.get(..len).unwrap_or_default();
                if !count.is_valid() {
                    return Err(refusal("invalid repeat count", written));
                }
                self.skip(len);
                self.repeat(before, &count.text(), Some(count), repeated)?;
                return Ok(true);
            }
            '\\' => self.backslash()?,
            _ => {
                self.skip(ch.len_utf8());
                self.literal(ch);
            }
        }
        Ok(false)
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn push(&mut self, text: String) {
        self.push_atom(Atom { text, repeats: 0, kind: AtomKind::Plain });
    }

    fn push_atom(&mut self, atom: Atom) {
        if let Some(group) = self.groups.last_mut() {
            group.atoms.push(atom);
        }
    }

    fn literal(&mut self, ch: char) {
        let mut text = String::new();
        write_char(&mut text, ch);
        self.push(text);
    }

    fn open(&mut self, opening: &str) {
        self.groups.push(Group { opening: opening.to_owned(), outer: self.flags, ..Group::default() });
    }

    fn close(&mut self) -> Result<(), String> {
        if self.groups.len() < 2 {
            return Err(refusal("unexpected )", self.whole));
        }
        self.skip(1);
        if let Some(group) = self.groups.pop() {
            self.flags = group.outer;
            let text = format!("{}{})", group.opening, group.text());
            self.push_atom(Atom { text, repeats: group.most_repeats(), kind: AtomKind::Plain });
        }
        Ok(())
    }

    /// `(?P<name>`, `(?<name>`, `(?flags)` or `(?flags:`.
    fn special_group(&mut self) -> Result<(), String> {
        let start = self.rest;
        let name_at = match start {
            _ if start.starts_with("(?P<") && start.len() > 4 => Some(4),
            _ if start.starts_with("(?<") && start.len() > 3 => Some(3),
            _ => None,
        };
        if let Some(name_at) = name_at {
            let Some(end) = start.find('>') else { return Err(refusal("invalid named capture", start)) };
            let name = start.get(name_at..end).unwrap_or_default();
            if name.is_empty() || !name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
                return Err(refusal("invalid named capture", start.get(..=end).unwrap_or_default()));
            }
            self.names.push(Some(name.to_owned()));
            self.open("(");
            self.skip(end + 1);
            return Ok(());
        }
        let mut flags = self.flags;
        let (mut on, mut seen) = (true, false);
        for (at, ch) in start.char_indices().skip(2) {
            match ch {
                '-' if on => (on, seen) = (false, false),
                ':' | ')' if on || seen => {
                    self.skip(at + 1);
                    if ch == ':' {
                        self.open(&format!("(?{}:", flags.text()));
                    } else if flags != self.flags {
                        let text = format!("(?{})", flags.text());
                        self.push_atom(Atom { text, repeats: 0, kind: AtomKind::Flags });
                    }
                    self.flags = flags;
                    return Ok(());
                }
                _ if flags.set(ch, on) => seen = true,
                _ => {
                    let read = start.get(..at + ch.len_utf8()).unwrap_or_default();
                    return Err(refusal("invalid or unsupported Perl syntax", read));
                }
            }
        }
        Err(refusal("invalid or unsupported Perl syntax", start))
    }

    /// Repeats the last part. The operator is already read, a question mark after it is not.
    fn repeat(
        &mut self,
        before: &'s str,
        operator: &str,
        count: Option<Count>,
        repeated: Option<&'s str>,
    ) -> Result<(), String> {
        let is_lazy = self.rest.starts_with('?');
        if is_lazy {
            self.skip(1);
        }
        let read = |from: &'s str| from.get(..from.len() - self.rest.len()).unwrap_or_default();
        if let Some(first) = repeated {
            return Err(refusal("invalid nested repetition operator", read(first)));
        }
        let atoms = self.groups.last_mut().map(|group| group.atoms.iter_mut());
        let Some(atom) = atoms.and_then(|mut atoms| atoms.rfind(|atom| atom.kind != AtomKind::Flags)) else {
            return Err(refusal("missing argument to repetition operator", read(before)));
        };
        if let Some(times) = count.map(Count::times) {
            let repeats = if times == 0 { 0 } else { times.max(times.saturating_mul(atom.repeats)) };
            if count.is_some_and(Count::is_many) && repeats > MAX_REPEAT {
                return Err(refusal("invalid repeat count", read(before)));
            }
            atom.repeats = repeats;
        }
        // The flag at the operator decides, which may differ from the one at the part.
        let lazy = if is_lazy != self.flags.swaps_greed { "?" } else { "" };
        atom.text = match atom.kind {
            AtomKind::Repeated => format!("(?:{}){operator}{lazy}", atom.text),
            _ => format!("{}{operator}{lazy}", atom.text),
        };
        atom.kind = AtomKind::Repeated;
        Ok(())
    }

    /// A backslash sequence outside brackets.
    fn backslash(&mut self) -> Result<(), String> {
        let second = self.rest.chars().nth(1);
        let look = match second {
            Some('A') => r"\A",
            Some('z') => r"\z",
            // Word characters are ASCII only.
            Some('b') => r"(?-u:\b)",
            Some('B') => r"(?-u:\B)",
            _ => "",
        };
        if !look.is_empty() {
            self.skip(2);
            self.push(look.to_owned());
            return Ok(());
        }
        match second {
            Some('C') => Err(refusal("invalid escape sequence", r"\C")),
            Some('Q') => {
                self.skip(2);
                let (quoted, rest) = self.rest.split_once(r"\E").unwrap_or((self.rest, ""));
                self.rest = rest;
                quoted.chars().for_each(|ch| self.literal(ch));
                Ok(())
            }
            _ => {
                if let Some(class) = self.class_escape()? {
                    self.push(class);
                    return Ok(());
                }
                match self.escape()? {
                    Some(ch) => self.literal(ch),
                    None => self.push(NOTHING.to_owned()),
                }
                Ok(())
            }
        }
    }

    /// `\d`, `\pL`, `\p{Greek}` and the like as a class of the engine, for use inside and outside brackets.
    fn class_escape(&mut self) -> Result<Option<String>, String> {
        let second = self.rest.strip_prefix('\\').and_then(|rest| rest.chars().next());
        let class = match second {
            Some('d') => "[0-9]",
            Some('D') => "[^0-9]",
            Some('w') => "[0-9A-Za-z_]",
            Some('W') => "[^0-9A-Za-z_]",
            Some('s') => r"[\t\n\x0C\r ]",
            Some('S') => r"[^\t\n\x0C\r ]",
            Some('p' | 'P') => return self.unicode_class().map(Some),
            _ => return Ok(None),
        };
        self.skip(2);
        Ok(Some(class.to_owned()))
    }

    /// `\pL`, `\p{Lu}`, `\p{^Greek}`, `\P{…}`.
    fn unicode_class(&mut self) -> Result<String, String> {
        let start = self.rest;
        let is_negated = start.starts_with(r"\P");
        let after = start.get(2..).unwrap_or_default();
        let (name, len) = if after.starts_with('{') {
            let Some(end) = start.find('}') else { return Err(refusal("invalid character class range", start)) };
            (start.get(3..end).unwrap_or_default(), end + 1)
        } else {
            let Some(letter) = after.chars().next() else { return Err(refusal("invalid UTF-8", "")) };
            let len = 2 + letter.len_utf8();
            (start.get(2..len).unwrap_or_default(), len)
        };
        let written = start.get(..len).unwrap_or_default();
        let plain = name.strip_prefix('^');
        let is_negated = is_negated != plain.is_some();
        let table = unicode_table(plain.unwrap_or(name));
        let Some(table) = table else { return Err(refusal("invalid character class range", written)) };
        self.skip(len);
        Ok(match (table, is_negated) {
            (Table::Named(name), false) => format!(r"\p{{{name}}}"),
            (Table::Named(name), true) => format!(r"\P{{{name}}}"),
            (Table::Empty, false) => NOTHING.to_owned(),
            (Table::Empty, true) => r"[\x00-\x{10FFFF}]".to_owned(),
        })
    }

    /// One character after a backslash; `None` if it cannot occur in text.
    fn escape(&mut self) -> Result<Option<char>, String> {
        let start = self.rest;
        let mut rest = start.strip_prefix('\\').unwrap_or(start).chars();
        let Some(first) = rest.next() else {
            return Err(refusal("trailing backslash at end of expression", ""));
        };
        let plain = match first {
            _ if first.is_ascii() && !first.is_ascii_alphanumeric() => Some(first as u32),
            '0'..='7' => octal(first, &mut rest),
            'x' => hexadecimal(&mut rest)?,
            'a' => Some(7),
            'f' => Some(0xC),
            'n' => Some(0xA),
            'r' => Some(0xD),
            't' => Some(9),
            'v' => Some(0xB),
            _ => None,
        };
        let left = rest.as_str();
        let Some(code) = plain else {
            let read = start.get(..start.len() - left.len()).unwrap_or_default();
            return Err(refusal("invalid escape sequence", read));
        };
        self.rest = left;
        Ok(char::from_u32(code))
    }

    /// A class in brackets.
    fn class(&mut self) -> Result<(), String> {
        let whole = self.rest;
        self.skip(1);
        let mut out = String::from("[");
        if self.rest.starts_with('^') {
            self.skip(1);
            out.push('^');
        }
        let mut first = true;
        // The engine has no empty brackets, but nested brackets may be empty.
        let mut is_empty = true;
        while first || !self.rest.starts_with(']') {
            first = false;
            if let Some(named) = self.posix_class()? {
                out.push_str(named);
                is_empty = false;
                continue;
            }
            if let Some(class) = self.class_escape()? {
                out.push_str(&class);
                is_empty = false;
                continue;
            }
            let range = self.rest;
            let low = self.class_char(whole)?;
            let is_range = self.rest.starts_with('-')
                && self.rest.get(1..).is_some_and(|rest| !rest.is_empty() && !rest.starts_with(']'));
            let mut high = low;
            if is_range {
                self.skip(1);
                high = self.class_char(whole)?;
                if high < low {
                    let read = range.get(..range.len() - self.rest.len()).unwrap_or_default();
                    return Err(refusal("invalid character class range", read));
                }
            }
            is_empty &= !write_range(&mut out, low, high);
        }
        self.skip(1);
        if is_empty {
            out.push_str(NOTHING);
        }
        out.push(']');
        self.push(out);
        Ok(())
    }

    /// `[:alpha:]` inside brackets.
    fn posix_class(&mut self) -> Result<Option<&'s str>, String> {
        let Some(end) = self.rest.strip_prefix("[:").and_then(|rest| rest.find(":]")) else { return Ok(None) };
        let written = self.rest.get(..end + 4).unwrap_or_default();
        let name = written.get(2..end + 2).unwrap_or_default();
        if !POSIX.contains(&name.strip_prefix('^').unwrap_or(name)) {
            return Err(refusal("invalid character class range", written));
        }
        self.skip(written.len());
        Ok(Some(written))
    }

    /// One character of a class, by its number: surrogates can be written, but do not occur in text.
    fn class_char(&mut self, whole: &str) -> Result<u32, String> {
        let Some(ch) = self.rest.chars().next() else { return Err(refusal("missing closing ]", whole)) };
        if ch != '\\' {
            self.skip(ch.len_utf8());
            return Ok(ch as u32);
        }
        Ok(self.escape()?.map_or(FIRST_SURROGATE, |ch| ch as u32))
    }
}

const FIRST_SURROGATE: u32 = 0xD800;
const LAST_SURROGATE: u32 = 0xDFFF;

/// Up to three octal digits; a single one would refer to a group, unless it is 0.
fn octal(first: char, rest: &mut std::str::Chars<'_>) -> Option<u32> {
    let digit = |rest: &std::str::Chars<'_>| rest.clone().next().and_then(|ch| ch.to_digit(8));
    let mut code = first.to_digit(8)?;
    if code != 0 && digit(rest).is_none() {
        return None;
    }
    for _ in 0..2 {
        let Some(next) = digit(rest) else { break };
        rest.next();
        code = code * 8 + next;
    }
    Some(code)
}

/// `\x7F` or `\x{10FFFF}`; on failure, `rest` is the part that Go has not read.
fn hexadecimal(rest: &mut std::str::Chars<'_>) -> Result<Option<u32>, String> {
    let Some(first) = rest.next() else { return Ok(None) };
    if first != '{' {
        let Some(second) = rest.next() else { return Err(refusal("invalid UTF-8", "")) };
        return Ok(first.to_digit(16).zip(second.to_digit(16)).map(|(high, low)| high * 16 + low));
    }
    let (mut code, mut digits) = (0, 0);
    for ch in rest.by_ref() {
        match ch.to_digit(16) {
            None if ch == '}' && digits > 0 => return Ok(Some(code)),
            None => return Ok(None),
            Some(digit) => code = code * 16 + digit,
        }
        if code > char::MAX as u32 {
            return Ok(None);
        }
        digits += 1;
    }
    Ok(None)
}

/// Writes a character literally, for use inside and outside brackets. `\<` and `\>` have a meaning of their own in
/// the engine.
fn write_char(out: &mut String, ch: char) {
    if ch.is_alphanumeric() || matches!(ch, '_' | ' ' | '/' | ':' | '"' | '\'' | ',' | '=' | '@' | '<' | '>') {
        out.push(ch);
    } else if ch.is_ascii_punctuation() {
        out.push('\\');
        out.push(ch);
    } else {
        // Cannot fail on a string.
        let _ = write!(out, r"\x{{{:X}}}", ch as u32);
    }
}

/// Writes a range without the surrogates in it; false if nothing is left.
fn write_range(out: &mut String, low: u32, high: u32) -> bool {
    let low = if (FIRST_SURROGATE..=LAST_SURROGATE).contains(&low) { LAST_SURROGATE + 1 } else { low };
    let high = if (FIRST_SURROGATE..=LAST_SURROGATE).contains(&high) { FIRST_SURROGATE - 1 } else { high };
    let (Some(first), Some(last)) = (char::from_u32(low), char::from_u32(high)) else { return false };
    if last < first {
        return false;
    }
    write_char(out, first);
    if first != last {
        out.push('-');
        write_char(out, last);
    }
    true
}

/// `{n}`, `{n,}` or `{n,m}`; numbers that are too large are `None`.
#[derive(Clone, Copy)]
struct Count {
    least: Option<u32>,
    most: Option<Option<u32>>,
}

impl Count {
    fn is_valid(self) -> bool {
        let is_small = |number: u32| number <= MAX_REPEAT;
        let least_valid = self.least.is_some_and(is_small);
        let most_valid =
            self.most.is_none_or(|most| most.is_some_and(|most| is_small(most) && Some(most) >= self.least));
        least_valid && most_valid
    }

    /// The maximum number of repetitions, or the minimum if there is no maximum.
    fn times(self) -> u32 {
        self.most.flatten().or(self.least).unwrap_or_default()
    }

    fn is_many(self) -> bool {
        self.least.unwrap_or_default() >= 2 || self.most.flatten().unwrap_or_default() >= 2
    }

    fn text(self) -> String {
        let least = self.least.unwrap_or_default();
        match self.most {
            None => format!("{{{least},}}"),
            Some(most) => format!("{{{least},{}}}", most.unwrap_or_default()),
        }
    }
}

/// The count at the start of a text and its length; `None` if the brace is literal.
fn counted(text: &str) -> Option<(Count, usize)> {
    let (least, rest) = integer(text.strip_prefix('{')?)?;
    let (most, rest) = match rest.strip_prefix(',') {
        None => (Some(least), rest),
        Some(open) if open.starts_with('}') => (None, open),
        Some(more) => {
            let (most, rest) = integer(more)?;
            (Some(most), rest)
        }
    };
    let rest = rest.strip_prefix('}')?;
    Some((Count { least, most }, text.len() - rest.len()))
}

/// A number without leading zeros; `None` inside if it is too large.
fn integer(text: &str) -> Option<(Option<u32>, &str)> {
    let len = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at_checked(len)?;
    if digits.is_empty() || len > 1 && digits.starts_with('0') {
        return None;
    }
    Some((digits.parse::<u32>().ok().filter(|number| *number < 100_000_000), rest))
}

/// The names of POSIX classes.
const POSIX: &[&str] = &[
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word",
    "xdigit",
];

/// The characters of a Unicode class.
#[derive(Debug, PartialEq, Eq)]
enum Table {
    /// By its name in the engine.
    Named(String),
    /// Surrogates, and classes that the engine's Unicode version does not have yet.
    Empty,
}

/// Go's lookup by name: categories, their long names, and scripts, ignoring case, dashes and underscores.
fn unicode_table(name: &str) -> Option<Table> {
    if name.is_empty() || !name.is_ascii() {
        return None;
    }
    let plain: String =
        name.chars().filter(|ch| !matches!(ch, '_' | '-' | ' ')).map(|ch| ch.to_ascii_lowercase()).collect();
    let is_same = |known: &&str| known.chars().filter(|ch| *ch != '_').collect::<String>().eq_ignore_ascii_case(&plain);
    if matches!(plain.as_str(), "cs" | "surrogate") {
        return Some(Table::Empty);
    }
    if let Some(script) = SCRIPTS.iter().find(|known| is_same(known)) {
        let is_known = regex_syntax::parse(&format!(r"\p{{{script}}}")).is_ok();
        return Some(if is_known { Table::Named((*script).to_owned()) } else { Table::Empty });
    }
    let short =
        CATEGORIES.iter().find(|(short, long)| short.eq_ignore_ascii_case(&plain) || long.iter().any(&is_same))?;
    Some(Table::Named(short.0.to_owned()))
}

/// Categories with their other names in Go.
const CATEGORIES: &[(&str, &[&str])] = &[
    ("any", &[]),
    ("assigned", &[]),
    ("ascii", &[]),
    ("C", &["Other"]),
    ("Cc", &["Control", "cntrl"]),
    ("Cf", &["Format"]),
    ("Cn", &["Unassigned"]),
    ("Co", &["Private_Use"]),
    ("L", &["Letter"]),
    ("LC", &["Cased_Letter"]),
    ("Ll", &["Lowercase_Letter"]),
    ("Lm", &["Modifier_Letter"]),
    ("Lo", &["Other_Letter"]),
    ("Lt", &["Titlecase_Letter"]),
    ("Lu", &["Uppercase_Letter"]),
    ("M", &["Mark", "Combining_Mark"]),
    ("Mc", &["Spacing_Mark"]),
    ("Me", &["Enclosing_Mark"]),
    ("Mn", &["Nonspacing_Mark"]),
    ("N", &["Number"]),
    ("Nd", &["Decimal_Number", "digit"]),
    ("Nl", &["Letter_Number"]),
    ("No", &["Other_Number"]),
    ("P", &["Punctuation", "punct"]),
    ("Pc", &["Connector_Punctuation"]),
    ("Pd", &["Dash_Punctuation"]),
    ("Pe", &["Close_Punctuation"]),
    ("Pf", &["Final_Punctuation"]),
    ("Pi", &["Initial_Punctuation"]),
    ("Po", &["Other_Punctuation"]),
    ("Ps", &["Open_Punctuation"]),
    ("S", &["Symbol"]),
    ("Sc", &["Currency_Symbol"]),
    ("Sk", &["Modifier_Symbol"]),
    ("Sm", &["Math_Symbol"]),
    ("So", &["Other_Symbol"]),
    ("Z", &["Separator"]),
    ("Zl", &["Line_Separator"]),
    ("Zp", &["Paragraph_Separator"]),
    ("Zs", &["Space_Separator"]),
];

/// The scripts, by their full Unicode names; Go has no short ones.
#[rustfmt::skip]
const SCRIPTS: &[&str] = &[
    "Adlam", "Ahom", "Anatolian_Hieroglyphs", "Arabic", "Armenian", "Avestan", "Balinese", "Bamum", "Bassa_Vah",
    "Batak", "Bengali", "Beria_Erfe", "Bhaiksuki", "Bopomofo", "Brahmi", "Braille", "Buginese", "Buhid",
    "Canadian_Aboriginal", "Carian", "Caucasian_Albanian", "Chakma", "Cham", "Cherokee", "Chorasmian", "Common",
    "Coptic", "Cuneiform", "Cypriot", "Cypro_Minoan", "Cyrillic", "Deseret", "Devanagari", "Dives_Akuru", "Dogra",
    "Duployan", "Egyptian_Hieroglyphs", "Elbasan", "Elymaic", "Ethiopic", "Garay", "Georgian", "Glagolitic",
    "Gothic", "Grantha", "Greek", "Gujarati", "Gunjala_Gondi", "Gurmukhi", "Gurung_Khema", "Han", "Hangul",
    "Hanifi_Rohingya", "Hanunoo", "Hatran", "Hebrew", "Hiragana", "Imperial_Aramaic", "Inherited",
    "Inscriptional_Pahlavi", "Inscriptional_Parthian", "Javanese", "Kaithi", "Kannada", "Katakana", "Kawi",
    "Kayah_Li", "Kharoshthi", "Khitan_Small_Script", "Khmer", "Khojki", "Khudawadi", "Kirat_Rai", "Lao", "Latin",
    "Lepcha", "Limbu", "Linear_A", "Linear_B", "Lisu", "Lycian", "Lydian", "Mahajani", "Makasar", "Malayalam",
    "Mandaic", "Manichaean", "Marchen", "Masaram_Gondi", "Medefaidrin", "Meetei_Mayek", "Mende_Kikakui",
    "Meroitic_Cursive", "Meroitic_Hieroglyphs", "Miao", "Modi", "Mongolian", "Mro", "Multani", "Myanmar",
    "Nabataean", "Nag_Mundari", "Nandinagari", "New_Tai_Lue", "Newa", "Nko", "Nushu", "Nyiakeng_Puachue_Hmong",
    "Ogham", "Ol_Chiki", "Ol_Onal", "Old_Hungarian", "Old_Italic", "Old_North_Arabian", "Old_Permic", "Old_Persian",
    "Old_Sogdian", "Old_South_Arabian", "Old_Turkic", "Old_Uyghur", "Oriya", "Osage", "Osmanya", "Pahawh_Hmong",
    "Palmyrene", "Pau_Cin_Hau", "Phags_Pa", "Phoenician", "Psalter_Pahlavi", "Rejang", "Runic", "Samaritan",
    "Saurashtra", "Sharada", "Shavian", "Siddham", "Sidetic", "SignWriting", "Sinhala", "Sogdian", "Sora_Sompeng",
    "Soyombo", "Sundanese", "Sunuwar", "Syloti_Nagri", "Syriac", "Tagalog", "Tagbanwa", "Tai_Le", "Tai_Tham",
    "Tai_Viet", "Tai_Yo", "Takri", "Tamil", "Tangsa", "Tangut", "Telugu", "Thaana", "Thai", "Tibetan", "Tifinagh",
    "Tirhuta", "Todhri", "Tolong_Siki", "Toto", "Tulu_Tigalari", "Ugaritic", "Vai", "Vithkuqi", "Wancho",
    "Warang_Citi", "Yezidi", "Yi", "Zanabazar_Square",
];

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]
    use super::translate;

    /// The engine has meanings of its own for some characters after a backslash.
    #[test]
    fn punctuation_stands_for_itself() {
        for ch in ('!'..='~').filter(char::is_ascii_punctuation) {
            let source = format!("a \\{ch}b");
            let translated = translate(source.as_bytes()).unwrap_or_else(|why| panic!("{source}: {why}"));
            let parsed = regex_syntax::parse(&translated.pattern).unwrap_or_else(|why| panic!("{source}: {why}"));
            let literal = match parsed.kind() {
                regex_syntax::hir::HirKind::Literal(literal) => literal.0.to_vec(),
                other => panic!("{source}: {other:?}"),
            };
            assert_eq!(literal, format!("a {ch}b").into_bytes());
        }
    }

    /// Go's own words.
    #[test]
    fn patterns_that_go_refuses() {
        let table = [
            ("a**", "invalid nested repetition operator: `**`"),
            ("a+?*", "invalid nested repetition operator: `+?*`"),
            ("a{2}{3}", "invalid nested repetition operator: `{2}{3}`"),
            ("a{1,1001}", "invalid repeat count: `{1,1001}`"),
            ("((a{1,10})b{11}){1,91}", "invalid repeat count: `{1,91}`"),
            ("((a{10}){10}){11,}", "invalid repeat count: `{11,}`"),
            ("a{2,1}", "invalid repeat count: `{2,1}`"),
            ("a{99999999999}", "invalid repeat count: `{99999999999}`"),
            ("*a", "missing argument to repetition operator: `*`"),
            ("(|+?)", "missing argument to repetition operator: `+?`"),
            ("(?i)*", "missing argument to repetition operator: `*`"),
            ("(a", "missing closing ): `(a`"),
            ("a)b", "unexpected ): `a)b`"),
            ("x[a", "missing closing ]: `[a`"),
            ("[z-a]", "invalid character class range: `z-a`"),
            ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
            (r"\p{Grek}", r"invalid character class range: `\p{Grek}`"),
            (r"\p{Alphabetic}", r"invalid character class range: `\p{Alphabetic}`"),
            (r"\pX", r"invalid character class range: `\pX`"),
            (r"\p{L", r"invalid character class range: `\p{L`"),
            (r"\1", r"invalid escape sequence: `\1`"),
            (r"\8", r"invalid escape sequence: `\8`"),
            (r"\C", r"invalid escape sequence: `\C`"),
            (r"\Z", r"invalid escape sequence: `\Z`"),
            (r"\h", r"invalid escape sequence: `\h`"),
            (r"\u00e9", r"invalid escape sequence: `\u`"),
            (r"\E", r"invalid escape sequence: `\E`"),
            (r"[\b]", r"invalid escape sequence: `\b`"),
            (r"\xZ1", r"invalid escape sequence: `\xZ1`"),
            (r"\x{110000}", r"invalid escape sequence: `\x{110000`"),
            (r"\x{}", r"invalid escape sequence: `\x{}`"),
            ("\\", "trailing backslash at end of expression: ``"),
            ("(?x)a", "invalid or unsupported Perl syntax: `(?x`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("(?<!a)", "invalid named capture: `(?<!a)`"),
            ("(?-)", "invalid or unsupported Perl syntax: `(?-)`"),
            ("(?P<n-m>a)", "invalid named capture: `(?P<n-m>`"),
        ];
        for (pattern, reason) in table {
            assert_eq!(translate(pattern.as_bytes()).map(|found| found.pattern), Err(reason.to_owned()), "{pattern}");
        }
        for pattern in ["(a*)*", "[a**]", r"a\**", "a{,5}", "a+?b*", r"\Q**\E", "[]*+]", "a(?i)*"] {
            assert!(translate(pattern.as_bytes()).is_ok(), "{pattern}");
        }
    }
}
