//! `urlize`: addresses in a text become links. The text is escaped for HTML first.

use super::text::escaped;
use super::{Renderer, Values, flag, int_arg, text_arg, text_of};
use crate::arithmetic::too_long;
use crate::error::Result;
use crate::limits::MAX_STRING;
use crate::val::Val;

type R<'r, 'c> = &'r mut Renderer<'c>;

/// Text before an address that does not belong to it.
const OPENING: &[&str] = &["(", "<", "&lt;"];

/// Text behind an address that does not belong to it.
const CLOSING: &[&str] = &[")", ">", ".", ",", "\n", "&gt;"];

/// Brackets that belong to the address if it opens them.
const PAIRS: &[(&str, &str)] = &[("(", ")"), ("<", ">"), ("&lt;", "&gt;")];

/// Endings that make a bare name an address.
const DOMAINS: &[&str] = &["com", "net", "int", "edu", "gov", "org", "info", "mil"];

/// How links are written.
struct Style {
    /// The attributes of a link to a page, each with a blank before it.
    rel: String,
    target: String,
    /// How many characters of an address are shown.
    shown: Option<usize>,
    schemes: Vec<String>,
}

pub fn urlize(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let style = style(render, args)?;
    let text = escaped(&text);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let word = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(word);
        out.push_str(&linked(word, &style));
        let blank = behind.len() - behind.trim_start().len();
        let (blank, behind) = behind.split_at(blank);
        out.push_str(blank);
        rest = behind;
        if out.len() > MAX_STRING {
            return too_long();
        }
    }
    Ok(Val::str(out))
}

fn style(render: R<'_, '_>, args: &Values) -> Result<Style> {
    let mut words: Vec<String> =
        text_arg(render, args, 3, "rel")?.unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    words.push("noopener".to_owned());
    if flag(args, 1, "nofollow", false) {
        words.push("nofollow".to_owned());
    }
    words.sort();
    words.dedup();
    let target = text_arg(render, args, 2, "target")?.filter(|target| !target.is_empty());
    let mut schemes = Vec::new();
    for scheme in
        args.get(4, "extra_schemes").cloned().map(|list| render.iterate(&list)).transpose()?.unwrap_or_default()
    {
        schemes.push(text_of(render, &scheme)?.to_string());
    }
    Ok(Style {
        rel: format!(" rel=\"{}\"", escaped(&words.join(" "))),
        target: target.map_or(String::new(), |target| format!(" target=\"{}\"", escaped(&target))),
        shown: int_arg(args, 0, "trim_url_limit")?.and_then(|most| usize::try_from(most).ok()),
        schemes,
    })
}

/// A word with a link around the address in it, if there is one.
fn linked(word: &str, style: &Style) -> String {
    let mut head = 0;
    while let Some(mark) = OPENING.iter().find(|mark| word.get(head..).is_some_and(|rest| rest.starts_with(**mark))) {
        head += mark.len();
    }
    let (head, body) = word.split_at(head);
    let mut end = body.len();
    while let Some(mark) = CLOSING.iter().find(|mark| body.get(..end).is_some_and(|rest| rest.ends_with(**mark))) {
        end -= mark.len();
    }
    let (mut middle, mut tail) = body.split_at(end);
    for (open, close) in PAIRS {
        let missing = middle.matches(open).count().saturating_sub(middle.matches(close).count());
        for _ in 0..missing.min(tail.matches(close).count()) {
            let Some(at) = tail.find(close) else { break };
            (middle, tail) = body.split_at(middle.len() + at + close.len());
        }
    }
    match link(middle, style) {
        Some(link) => format!("{head}{link}{tail}"),
        None => word.to_owned(),
    }
}

fn link(address: &str, style: &Style) -> Option<String> {
    let Style { rel, target, .. } = style;
    if is_page(address) {
        let full = if has_scheme(address) { address.to_owned() } else { format!("https://{address}") };
        return Some(format!("<a href=\"{full}\"{rel}{target}>{}</a>", shown(address, style)));
    }
    if let Some(mail) = address.strip_prefix("mailto:").filter(|mail| is_mail(mail)) {
        return Some(format!("<a href=\"{address}\">{mail}</a>"));
    }
    if is_mail(address) && !address.starts_with("www.") && !address.contains(':') {
        return Some(format!("<a href=\"mailto:{address}\">{address}</a>"));
    }
    let scheme = style.schemes.iter().find(|scheme| address != scheme.as_str() && address.starts_with(scheme.as_str()));
    scheme.map(|_| format!("<a href=\"{address}\"{rel}{target}>{address}</a>"))
}

/// As much of an address as is shown.
fn shown(address: &str, style: &Style) -> String {
    match style.shown {
        Some(most) if address.chars().count() > most => {
            format!("{}...", address.chars().take(most).collect::<String>())
        }
        _ => address.to_owned(),
    }
}

fn has_scheme(address: &str) -> bool {
    address.starts_with("https://") || address.starts_with("http://")
}

/// Whether a word is the address of a page: `https://host…`, `www.host…`, or a bare name under a known domain.
fn is_page(word: &str) -> bool {
    let lower = word.to_lowercase();
    let bare = ["https://", "http://"].iter().find_map(|scheme| lower.strip_prefix(scheme));
    let place = bare.unwrap_or(&lower);
    let end = place.find(['/', '?', '#']).unwrap_or(place.len());
    let (host, port) = match place.get(..end).unwrap_or("") {
        numbers if numbers.starts_with('[') => numbers.rfind(']').map_or((numbers, ""), |at| numbers.split_at(at + 1)),
        host => host.find(':').map_or((host, ""), |at| host.split_at(at)),
    };
    let is_port = |port: &str| (1..=5).contains(&port.len()) && port.bytes().all(|b| b.is_ascii_digit());
    if !port.is_empty() && !port.strip_prefix(':').is_some_and(is_port) {
        return false;
    }
    let is_named = bare.is_some() || lower.starts_with("www.");
    is_named && is_host(host) || bare.is_some() && is_numeric(host) || is_known(host)
}

fn is_label(label: &str) -> bool {
    !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || "_%-".contains(c))
}

/// Names with dots between them, the last of letters.
fn is_host(host: &str) -> bool {
    let (labels, last) = host.rsplit_once('.').map_or((None, host), |(labels, last)| (Some(labels), last));
    let is_domain = (2..=63).contains(&last.len()) && last.bytes().all(|b| b.is_ascii_lowercase());
    let is_encoded = last.strip_prefix("xn--").is_some_and(|rest| (2..=59).contains(&rest.len()) && is_label(rest));
    labels.is_none_or(|labels| labels.split('.').all(is_label)) && (is_domain || is_encoded)
}

/// Four numbers, or an address in brackets.
fn is_numeric(host: &str) -> bool {
    let is_number = |part: &str| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    let inside = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_six = |text: &str| text.parse::<std::net::Ipv6Addr>().is_ok();
    host.split('.').count() == 4 && host.split('.').all(is_number) || inside.is_some_and(is_six)
}

/// A bare name under one of the oldest domains.
fn is_known(host: &str) -> bool {
    let Some((labels, domain)) = host.rsplit_once('.') else { return false };
    let fits = |label: &str| (2..=63).contains(&label.chars().count()) && is_label(label);
    DOMAINS.contains(&domain) && labels.split('.').all(fits)
}

/// Whether a word is an address of mail.
fn is_mail(word: &str) -> bool {
    let Some((name, place)) = word.split_once('@') else { return false };
    let is_domain = place.rsplit_once('.').is_some_and(|(labels, last)| {
        labels
            .split('.')
            .all(|label| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || "_-".contains(c)))
            && !last.is_empty()
            && last.chars().all(|c| c.is_alphanumeric() || c == '_')
    });
    !name.is_empty() && is_domain
}
