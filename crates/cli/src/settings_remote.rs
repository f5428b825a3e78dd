//! The table `[remote]` of `purlin.toml`: a server that runs actions or keeps their results.
//!
//! Where files of a project are sent to is the user's decision: the table of a project holds only if the user trusts it.

use crate::settings::Reader;
use purlin_remote::settings::{Address, HeadersFrom};
use purlin_syntax::Span;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The keys of the table.
const KEYS: &[&str] = &[
    "address",
    "cache-only",
    "authority",
    "certificate",
    "key",
    "server-name",
    "headers-from",
    "platform",
    "path",
    "jobs",
    "queue",
    "priority",
    "fallback",
    "upload",
    "stay",
    "secrets",
];

/// What settings say about a server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Remote {
    pub address: Option<Address>,
    /// Whether only results are shared.
    pub cache_only: bool,
    /// Files in PEM.
    pub authority: Option<PathBuf>,
    pub certificate: Option<PathBuf>,
    pub key: Option<PathBuf>,
    pub server_name: Option<String>,
    pub headers_from: Option<HeadersFrom>,
    /// Properties of workers.
    pub platform: BTreeMap<String, String>,
    /// The `PATH` of commands there.
    pub path: Option<String>,
    /// Actions at once.
    pub jobs: Option<usize>,
    /// How long an action may wait for a worker.
    pub queue: Option<Duration>,
    pub priority: i64,
    /// Whether a failure of the server is answered by running here.
    pub fallback: Option<bool>,
    /// Whether results of this machine are shared.
    pub upload: bool,
    /// Patterns of actions that stay here.
    pub stay: Vec<String>,
    /// Patterns of actions whose secrets may be sent.
    pub secrets: Vec<String>,
    /// Where the table is.
    pub at: Option<Span>,
}

/// Reads the table.
pub(crate) fn read(reader: &mut Reader, at: std::ops::Range<usize>, value: &Spanned<DeValue<'_>>) -> Option<Remote> {
    let DeValue::Table(table) = value.get_ref() else {
        reader.wrong(value, "a table");
        return None;
    };
    let mut remote = Remote { at: Some(reader.span(at.clone())), ..Remote::default() };
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "address" => remote.address = address(reader, value),
            "cache-only" => remote.cache_only = reader.truth(value),
            "authority" => remote.authority = file(reader, value),
            "certificate" => remote.certificate = file(reader, value),
            "key" => remote.key = file(reader, value),
            "server-name" => remote.server_name = reader.text(value),
            "headers-from" => remote.headers_from = headers_from(reader, &at, value),
            "platform" => remote.platform = properties(reader, value),
            "path" => remote.path = reader.text(value),
            "jobs" => remote.jobs = number(reader, value, 1..=1000),
            "queue" => {
                let seconds = number(reader, value, 1..=86_400);
                remote.queue = seconds.map(|seconds| Duration::from_secs(seconds as u64));
            }
            "priority" => remote.priority = priority(reader, value),
            "fallback" => remote.fallback = Some(reader.truth(value)),
            "upload" => remote.upload = reader.truth(value),
            "stay" => remote.stay = reader.texts(value),
            "secrets" => remote.secrets = reader.texts(value),
            _ => reader.unknown(key, KEYS),
        }
    }
    if remote.certificate.is_some() != remote.key.is_some() {
        let message = "a client certificate needs `certificate` and `key`".to_owned();
        reader.problem(value.span(), message, "write both, each the path of a PEM file");
    }
    Some(remote)
}

fn address(reader: &mut Reader, value: &Spanned<DeValue<'_>>) -> Option<Address> {
    let text = reader.text(value)?;
    match Address::parse(&text) {
        Ok(address) => Some(address),
        Err(trouble) => {
            reader.problem(value.span(), trouble.to_string(), "write `grpcs://HOST[:PORT][/INSTANCE]`");
            None
        }
    }
}

/// A file beside the settings.
fn file(reader: &mut Reader, value: &Spanned<DeValue<'_>>) -> Option<PathBuf> {
    let path = reader.text(value)?;
    Some(reader.settings.folder().join(path))
}

fn integer(reader: &mut Reader, value: &Spanned<DeValue<'_>>) -> Option<i64> {
    if let DeValue::Integer(number) = value.get_ref()
        && let Ok(number) = i64::from_str_radix(&number.as_str().replace('_', ""), number.radix())
    {
        return Some(number);
    }
    reader.wrong(value, "an integer");
    None
}

fn number(reader: &mut Reader, value: &Spanned<DeValue<'_>>, range: std::ops::RangeInclusive<usize>) -> Option<usize> {
    let number = integer(reader, value)?;
    let found = usize::try_from(number).ok().filter(|number| range.contains(number));
    if found.is_none() {
        let message = format!("expected an integer from {} to {}, found {number}", range.start(), range.end());
        reader.problem(value.span(), message, "write a number in this range");
    }
    found
}

/// A priority of the protocol has 32 bits.
fn priority(reader: &mut Reader, value: &Spanned<DeValue<'_>>) -> i64 {
    let Some(number) = integer(reader, value) else { return 0 };
    if i32::try_from(number).is_err() {
        let message = format!("expected an integer of 32 bits, found {number}");
        reader.problem(value.span(), message, "lower numbers run first; 0 is usual");
        return 0;
    }
    number
}

fn headers_from(
    reader: &mut Reader,
    table: &std::ops::Range<usize>,
    value: &Spanned<DeValue<'_>>,
) -> Option<HeadersFrom> {
    const HINT: &str = "write `{ env = \"NAME\" }` or `{ command = [\"helper\", \"get\"] }`";
    let DeValue::Table(table) = value.get_ref() else {
        // A header that is written into the file is a secret, so its line is not shown.
        let message = "`headers-from` is a header, which is secret: name where it comes from".to_owned();
        reader.problem_above(table.clone(), value.span(), message, HINT);
        return None;
    };
    let mut found = Vec::new();
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "env" => found.extend(reader.text(value).map(HeadersFrom::Env)),
            "command" => {
                let words = reader.texts(value);
                match words.is_empty() {
                    true => reader.problem(value.span(), "the command is empty".to_owned(), HINT),
                    false => found.push(HeadersFrom::Command(words)),
                }
            }
            _ => reader.unknown(key, &["env", "command"]),
        }
    }
    if found.len() > 1 {
        let message = "mutually exclusive keys are used together: `env` and `command`".to_owned();
        reader.problem(value.span(), message, HINT);
        return None;
    }
    found.pop()
}

fn properties(reader: &mut Reader, value: &Spanned<DeValue<'_>>) -> BTreeMap<String, String> {
    let table: &DeTable<'_> = match value.get_ref() {
        DeValue::Table(table) => table,
        _ => {
            reader.wrong(value, "a table");
            return BTreeMap::new();
        }
    };
    let property = |(key, value): (&Spanned<toml::de::DeString<'_>>, &Spanned<DeValue<'_>>)| {
        Some((key.get_ref().to_string(), reader.text(value)?))
    };
    table.iter().filter_map(property).collect()
}
