//! Labels: text with allowed characters only, of a limited length, with a digest where something was cut.

use super::Call;
use crate::error::{Error, Kind, Result, type_error, value_error};
use crate::eval::Ctx;
use crate::val::{Data, MapKey, Val, ValMap};
use fancy_regex::{Regex, RegexBuilder};
use purlin_value::encoding;
use purlin_value::meter::Held;
use sha1::{Digest, Sha1};

/// The largest class of characters, in bytes, and the cost of compiling one.
const CLASS_BYTES: usize = 64 << 10;
const CLASS_STEPS: usize = 10_000;
/// The steps of one byte of a text, each character of which is compared with classes.
const STEPS_PER_BYTE: usize = 16;

#[derive(Clone, Copy, PartialEq)]
enum Case {
    Any,
    Upper,
    Lower,
}

/// How labels of a kind look.
struct Preset {
    allowed: &'static str,
    start: &'static str,
    end: &'static str,
    replace: &'static str,
    case: &'static str,
}

const PLAIN: Preset = Preset { allowed: "\\w", start: "a-zA-Z", end: "", replace: "", case: "any" };
const DNS: Preset = Preset { allowed: "a-zA-Z0-9-", start: "a-zA-Z", end: "a-zA-Z0-9", replace: "--", case: "lower" };
const KUBERNETES: Preset =
    Preset { allowed: "\\w.-", start: "a-zA-Z0-9", end: "a-zA-Z0-9", replace: "__", case: "any" };
const GOOGLE: Preset = Preset { allowed: "\\w-", start: "a-zA-Z", end: "", replace: "__", case: "lower" };

struct Options {
    allowed: Regex,
    start: Regex,
    end: Option<Regex>,
    replace: String,
    start_prepend: String,
    case: Case,
    max: usize,
    digest: Option<String>,
    digest_length: usize,
    separator: String,
}

/// `to_label`
pub fn to_label(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    label(ctx, call, &PLAIN)
}

/// `to_dns_label`
pub fn to_dns_label(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    label(ctx, call, &DNS)
}

/// `to_kubernetes_label`
pub(crate) fn to_kubernetes_label(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    label(ctx, call, &KUBERNETES)
}

/// `to_googlecloud_label`
pub(crate) fn to_googlecloud_label(ctx: &Ctx<'_, '_>, call: &Call<'_>) -> Result<Val> {
    label(ctx, call, &GOOGLE)
}

fn label(ctx: &Ctx<'_, '_>, call: &Call<'_>, preset: &Preset) -> Result<Val> {
    let value = call.value(ctx)?;
    let options = Options::read(ctx, call, preset)?;
    let tainted = value.tainted_within();
    let _held = options.afford(ctx, &value)?;
    Ok(match &value.data {
        Data::Str(text) => Val::str(options.text(text)),
        Data::List(items) => Val::str(options.list(ctx, items)?),
        Data::Map(entries) => options.map(entries),
        Data::External(external) => Val::str(options.text(external.value.as_str().unwrap_or(""))),
        _ => return Ok(value),
    }
    .taint_if(tainted))
}

impl Options {
    /// Pays for labels: every character may be replaced by a text.
    fn afford<'e>(&self, ctx: &Ctx<'e, '_>, value: &Val) -> Result<Held<'e>> {
        let bytes = ctx.engine.weigh(value)?;
        let longest = 1 + self.replace.len() + self.separator.len();
        let grown = bytes.saturating_mul(longest).saturating_add(self.start_prepend.len());
        ctx.engine.spend(bytes.saturating_mul(STEPS_PER_BYTE).saturating_add(grown))?;
        ctx.engine.hold(grown.saturating_mul(2))
    }

    fn read(ctx: &Ctx<'_, '_>, call: &Call<'_>, preset: &Preset) -> Result<Options> {
        let text = |name: &str, default: &str| -> Result<String> {
            match call.named(ctx, name)? {
                Some(value) => Ok(ctx.text(&value)?.to_string()),
                None => Ok(default.to_owned()),
            }
        };
        let number = |name: &str| -> Result<Option<usize>> {
            match call.named(ctx, name)?.map(|value| value.data) {
                None | Some(Data::Null) => Ok(None),
                Some(Data::Int(n)) => Ok(usize::try_from(n).ok()),
                Some(_) => type_error(format!("`{name}` must be an integer")),
            }
        };
        let case = match text("case", preset.case)?.as_str() {
            "any" => Case::Any,
            "upper" => Case::Upper,
            "lower" => Case::Lower,
            other => return value_error(format!("`case` is `any`, `upper` or `lower`, not `{other}`")),
        };
        let max = number("max")?.unwrap_or(63);
        if max == 0 {
            return value_error("`max` must be at least 1");
        }
        let end = text("end", preset.end)?;
        Ok(Options {
            allowed: class(ctx, &text("allowed", preset.allowed)?)?,
            start: class(ctx, &text("start", preset.start)?)?,
            end: if end.is_empty() { None } else { Some(class(ctx, &end)?) },
            replace: text("replace", preset.replace)?,
            start_prepend: text("start_prepend", "x")?,
            case,
            max,
            digest: call.named(ctx, "digest")?.map(|digest| ctx.text(&digest)).transpose()?.map(String::from),
            digest_length: number("digestlen")?.unwrap_or(if max < 32 { 2 } else { 3 }),
            separator: text("sep", "")?,
        })
    }

    fn text(&self, text: &str) -> String {
        let (label, cut) = self.cleaned(text, self.max, true);
        self.with_digest(label, cut, text)
    }

    /// The digest of a label's source, where something was cut or a digest is requested.
    fn with_digest(&self, label: String, cut: bool, text: &str) -> String {
        if text.is_empty() || (!cut && self.digest.is_none()) {
            return label;
        }
        let digest = self.digest_of(text);
        let room = self.max.saturating_sub(digest.chars().count());
        let kept = if label.chars().count() > room { self.shortened(&label, room) } else { label };
        let whole = kept + &digest;
        whole.chars().take(self.max).collect()
    }

    fn digest_of(&self, text: &str) -> String {
        let extra = self.digest.as_deref().unwrap_or("");
        let hash = Sha1::digest(format!("{text}{extra}").as_bytes());
        let encoded = match self.case {
            Case::Any => encoding::base64(&hash).replace(['+', '/'], ""),
            Case::Lower => encoding::base32(&hash).to_ascii_lowercase(),
            Case::Upper => encoding::base32(&hash),
        };
        encoded.chars().take(self.digest_length).collect()
    }

    /// Allowed characters only, and whether the text is too long.
    fn cleaned(&self, text: &str, max: usize, first: bool) -> (String, bool) {
        let mut label = text.to_owned();
        if first && text.chars().next().is_some_and(|c| !matches(&self.start, c)) {
            label = self.start_prepend.clone() + &label;
        }
        let replace = if label.chars().count() > max { "" } else { self.replace.as_str() };
        let mut out = String::new();
        for c in label.chars() {
            if matches(&self.allowed, c) {
                out.push(c);
            } else {
                out.push_str(replace);
            }
        }
        if let Some(end) = &self.end {
            while out.chars().last().is_some_and(|c| !matches(end, c)) {
                out.pop();
            }
        }
        let out = match self.case {
            Case::Any => out,
            Case::Upper => out.to_uppercase(),
            Case::Lower => out.to_lowercase(),
        };
        let long = out.chars().count() > max;
        (out, long)
    }

    /// Head and tail of a text, or only its head where the space is too small for both.
    fn shortened(&self, text: &str, max: usize) -> String {
        let chars: Vec<char> = text.chars().collect();
        if chars.len() <= max {
            return text.to_owned();
        }
        let mark = self.replace.chars().count();
        if max / 2 <= 4 || mark >= max {
            return chars.iter().take(max).collect();
        }
        let tail = (max - mark) / 2;
        let head = max - mark - tail;
        let start: String = chars.iter().take(head).collect();
        let end: String = chars.iter().skip(chars.len() - tail).collect();
        format!("{start}{}{end}", self.replace)
    }

    fn map(&self, entries: &ValMap) -> Val {
        let mut out = ValMap::default();
        for (key, value) in entries.iter().filter(|(_, value)| !value.is_null()) {
            let name = match key {
                MapKey::Str(name) => {
                    let (label, cut) = self.cleaned(name, self.max, true);
                    let plain = if cut { self.with_digest(label, cut, name) } else { label };
                    MapKey::Str(plain.into())
                }
                other => other.clone(),
            };
            let value = match value.as_str() {
                Some(text) => Val::str(self.text(text)).taint_if(value.is_tainted()),
                None => value.clone(),
            };
            out.insert(name, value);
        }
        Val::map(out)
    }

    /// Labels of several texts, each with its share of the room, joined.
    fn list(&self, ctx: &Ctx<'_, '_>, items: &[Val]) -> Result<String> {
        let mut texts = Vec::new();
        for item in items {
            texts.push(ctx.text(item)?.to_string());
        }
        let whole: String = texts.concat();
        let clean = |text: &str, first: bool| self.cleaned(text, usize::MAX, first).0;
        let labels: Vec<String> = texts.iter().enumerate().map(|(at, text)| clean(text, at == 0)).collect();
        let joined = labels.join(&self.separator);
        if joined.chars().count() <= self.max && self.digest.is_none() {
            return Ok(joined);
        }
        let digest: String = self.digest_of(&whole).chars().take(self.max).collect();
        let separators = self.separator.chars().count() * labels.len();
        let room = self.max.saturating_sub(digest.chars().count()).saturating_sub(separators);
        let bare: Vec<String> = texts.iter().enumerate().map(|(at, text)| self.cleaned(text, 0, at == 0).0).collect();
        let shares = shares(&bare.iter().map(|label| label.chars().count()).collect::<Vec<_>>(), room);
        let mut out = String::new();
        for (label, share) in bare.iter().zip(shares) {
            let short = self.shortened(label, share);
            if !short.is_empty() {
                out.push_str(&short);
                out.push_str(&self.separator);
            }
        }
        out.push_str(&digest);
        let length = out.chars().count();
        Ok(out.chars().skip(length.saturating_sub(self.max)).collect())
    }
}

/// The space for each length: equal parts, with unused space going to the first that need it.
fn shares(lengths: &[usize], room: usize) -> Vec<usize> {
    let count = lengths.len().max(1);
    let (each, more) = (room / count, room % count);
    let mut shares: Vec<usize> = (0..lengths.len()).map(|at| each + usize::from(at < more)).collect();
    let mut spare: usize = 0;
    for (share, length) in shares.iter_mut().zip(lengths) {
        spare += share.saturating_sub(*length);
        *share = (*share).min(*length);
    }
    for (share, length) in shares.iter_mut().zip(lengths) {
        let taken = spare.min(length - *share);
        *share += taken;
        spare -= taken;
    }
    shares
}

fn class(ctx: &Ctx<'_, '_>, text: &str) -> Result<Regex> {
    ctx.engine.spend(CLASS_STEPS + text.len())?;
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    RegexBuilder::new(&format!("\\A[{inner}]\\z"))
        .delegate_size_limit(CLASS_BYTES)
        .backtrack_limit(CLASS_STEPS)
        .build()
        .map_err(|_| Error::new(Kind::Value, format!("`{text}` is not a character class")))
}

fn matches(class: &Regex, c: char) -> bool {
    class.is_match(c.encode_utf8(&mut [0; 4])).unwrap_or(false)
}
