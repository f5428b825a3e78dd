//! Why calls fail, as data: what is tried again, what falls back, what is said.

use crate::digest::Digest;
use crate::message::{Any, PreconditionFailure, Status};
use crate::wire::Message;
use std::fmt;
use std::time::Duration;

/// The kinds of failures that servers report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Their meanings are those of gRPC.
pub enum Code {
    Cancelled = 1,
    Unknown = 2,
    InvalidArgument = 3,
    DeadlineExceeded = 4,
    NotFound = 5,
    AlreadyExists = 6,
    PermissionDenied = 7,
    ResourceExhausted = 8,
    FailedPrecondition = 9,
    Aborted = 10,
    OutOfRange = 11,
    Unimplemented = 12,
    Internal = 13,
    Unavailable = 14,
    DataLoss = 15,
    Unauthenticated = 16,
}

const CODES: [(Code, &str); 16] = [
    (Code::Cancelled, "cancelled"),
    (Code::Unknown, "unknown error"),
    (Code::InvalidArgument, "invalid argument"),
    (Code::DeadlineExceeded, "deadline exceeded"),
    (Code::NotFound, "not found"),
    (Code::AlreadyExists, "already exists"),
    (Code::PermissionDenied, "permission denied"),
    (Code::ResourceExhausted, "resource exhausted"),
    (Code::FailedPrecondition, "failed precondition"),
    (Code::Aborted, "aborted"),
    (Code::OutOfRange, "out of range"),
    (Code::Unimplemented, "not implemented"),
    (Code::Internal, "internal error"),
    (Code::Unavailable, "unavailable"),
    (Code::DataLoss, "data loss"),
    (Code::Unauthenticated, "not authenticated"),
];

impl Code {
    /// The code of a number; an unknown one is an unknown error.
    pub fn of(number: i64) -> Code {
        CODES.iter().find(|(code, _)| *code as i64 == number).map_or(Code::Unknown, |(code, _)| *code)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        CODES.iter().find(|(code, _)| *code == self).map_or("unknown error", |(_, name)| *name)
    }
}

/// What failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// There is no connection: why.
    Connect(String),
    /// The certificate or the encryption was not accepted: why.
    Tls(String),
    /// The connection broke: why.
    Lost(String),
    /// Nothing arrived for this time.
    Silent(Duration),
    /// The server refused: the kind and its text.
    Refused(Code, String),
    /// The answer is not what the protocol says.
    Malformed(&'static str),
    /// An answer is larger than allowed.
    TooLarge,
    /// A content does not match its digest.
    Wrong(Digest),
    /// A content is not there.
    Gone(Digest),
    /// An input does not match what was hashed, or cannot be read: the file and why.
    Input(String, String),
    /// A folder cannot be used: why.
    Tree(String),
    /// The server lacks something that is needed.
    Lacks(String),
    /// The settings are wrong: why.
    Settings(String),
    /// No worker took it in this time.
    NoWorker(Duration),
    /// The run was stopped.
    Stopped,
}

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What failed.
    pub what: What,
    /// Contents that the server said it lacks.
    pub missing: Vec<Digest>,
    /// How long to wait before the next try, if the server says so.
    pub after: Option<Duration>,
}

impl From<What> for Trouble {
    fn from(what: What) -> Self {
        Trouble { what, missing: Vec::new(), after: None }
    }
}

/// The result of what may fail.
pub type Tried<T> = Result<T, Trouble>;

/// The longest text of a server that is shown.
const LONGEST_TEXT: usize = 400;

impl Trouble {
    /// A failure with the server's status.
    pub fn of(status: &Status) -> Self {
        let mut trouble = Trouble::from(What::Refused(Code::of(status.code), shown(&status.message)));
        for detail in &status.details {
            trouble.missing.extend(missing_blobs(detail));
            trouble.after = trouble.after.or_else(|| retry_delay(detail));
        }
        trouble
    }

    /// Whether the same call may succeed later.
    pub fn is_passing(&self) -> bool {
        match &self.what {
            What::Connect(_) | What::Lost(_) | What::Silent(_) => true,
            What::Refused(code, _) => matches!(code, Code::Unavailable | Code::ResourceExhausted | Code::Aborted),
            _ => false,
        }
    }

    /// Whether a server refused with this code.
    pub fn is(&self, code: Code) -> bool {
        matches!(&self.what, What::Refused(own, _) if *own == code)
    }
}

/// The part of a server's text that is shown.
fn shown(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST_TEXT).collect();
    clean.trim().to_owned()
}

/// The contents that a detail says are missing.
fn missing_blobs(detail: &Any) -> Vec<Digest> {
    if !detail.name.ends_with("google.rpc.PreconditionFailure") {
        return Vec::new();
    }
    let failure = PreconditionFailure::decode(&detail.value).unwrap_or_default();
    let missing = failure.violations.iter().filter(|violation| violation.kind == "MISSING");
    missing.filter_map(|violation| Digest::parse(violation.subject.strip_prefix("blobs/")?)).collect()
}

/// How long to wait, if a detail says so.
fn retry_delay(detail: &Any) -> Option<Duration> {
    if !detail.name.ends_with("google.rpc.RetryInfo") {
        return None;
    }
    let mut fields = crate::wire::Fields::of(&detail.value);
    let span: crate::message::Span = fields.find_map(|field| match field.ok()? {
        (1, field) => field.message().ok(),
        _ => None,
    })?;
    Some(Duration::from_secs(u64::try_from(span.seconds).ok()?.min(60)))
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::Connect(why) => write!(f, "could not connect: {why}"),
            What::Tls(why) => write!(f, "no secure connection: {why}"),
            What::Lost(why) => write!(f, "the connection was lost: {why}"),
            What::Silent(time) => write!(f, "nothing arrived for {} s", time.as_secs()),
            What::Refused(code, text) if text.is_empty() => f.write_str(code.name()),
            What::Refused(code, text) => write!(f, "{}: {text}", code.name()),
            What::Malformed(what) => write!(f, "its answer is not one of the Remote Execution API: {what}"),
            What::TooLarge => f.write_str("its answer is larger than 16 MiB"),
            What::Wrong(digest) => write!(f, "it sent bytes that do not match the digest {digest}"),
            What::Gone(digest) => write!(f, "it no longer has the content {digest}"),
            What::Input(file, why) => write!(f, "`{file}` {why}"),
            What::Tree(why) => write!(f, "a folder that it sent cannot be used: {why}"),
            What::Lacks(what) | What::Settings(what) => f.write_str(what),
            What::NoWorker(time) => write!(f, "no worker took the action within {} s", time.as_secs()),
            What::Stopped => f.write_str("stopped"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Function;
    use crate::message::Violation;

    #[test]
    fn missing_contents_are_read_from_details() {
        let digest = Function::Sha256.digest(b"x");
        let violation =
            |kind: &str, subject: String| Violation { kind: kind.to_owned(), subject, description: String::new() };
        let violations =
            vec![violation("MISSING", format!("blobs/{digest}")), violation("OTHER", "blobs/1/2".to_owned())];
        let value = PreconditionFailure { violations }.to_bytes();
        let detail = Any { name: "type.googleapis.com/google.rpc.PreconditionFailure".to_owned(), value };
        let status = Status { code: 9, message: "a\nb\u{1b}[31m".to_owned(), details: vec![detail] };
        let trouble = Trouble::of(&status);
        assert_eq!(trouble.missing, [digest]);
        assert_eq!(trouble.to_string(), "failed precondition: a b [31m");
        assert!(!trouble.is_passing() && Trouble::of(&Status { code: 14, ..Status::default() }).is_passing());
    }
}
