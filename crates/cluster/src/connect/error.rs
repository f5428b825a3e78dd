//! Errors of the communication with a cluster, worded to say what to do.

use crate::foreign::{Secrets, line};
use serde_json::Value as Json;

/// Why a request, or a whole deploy, did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApiError {
    /// The server does not answer.
    Unreachable {
        /// The address.
        server: String,
        /// The system's message.
        why: String,
    },
    /// The answer took too long.
    TimedOut {
        /// The address.
        server: String,
        /// The request.
        what: String,
    },
    /// The server does not know the user.
    Unauthorized {
        /// The user's entry in the kubeconfig.
        user: String,
        /// The context.
        context: String,
    },
    /// The user may not do this.
    Forbidden(String),
    /// The object does not exist.
    NotFound(String),
    /// The object exists already.
    Exists(String),
    /// Fields belong to other managers.
    Conflict {
        /// The object.
        object: String,
        /// Each field with the manager that has set it.
        fields: Vec<(String, String)>,
    },
    /// The server does not accept the object.
    Invalid {
        /// The object.
        object: String,
        /// The server's message, without the part about fields if those are known.
        message: String,
        /// Each field with its error.
        fields: Vec<(String, String)>,
    },
    /// Any other error response.
    Refused {
        /// The status.
        code: u16,
        /// The server's message.
        message: String,
    },
    /// The kind is not known to the server.
    UnknownKind(String),
    /// The answer does not conform to the API.
    Malformed(String),
    /// Objects did not come up; the first line names them, the others give the reasons.
    NotReady(Vec<String>),
    /// The run was stopped.
    Stopped,
    /// Something else.
    Other(String),
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ApiError::Unreachable { server, why } => write!(f, "could not reach the cluster at {server}: {why}"),
            ApiError::TimedOut { server, what } => write!(f, "the cluster at {server} did not answer in time ({what})"),
            ApiError::Unauthorized { user, context } => write!(
                f,
                "the cluster does not accept the credentials of user `{user}` (context `{context}`); log in again"
            ),
            ApiError::Forbidden(message) => write!(f, "not permitted by the cluster: {message}"),
            ApiError::NotFound(message) | ApiError::Exists(message) => f.write_str(message),
            ApiError::Conflict { object, fields } => {
                write!(f, "{object}: other managers have set ")?;
                let shown: Vec<String> = fields.iter().map(|(field, by)| format!("`{field}` ({by})")).collect();
                write!(f, "{}; take them over with `--force-conflicts`", shown.join(", "))
            }
            ApiError::Invalid { object, message, fields } => match fields.as_slice() {
                [] => write!(f, "{object}: {message}"),
                fields => {
                    let shown: Vec<String> = fields.iter().map(|(field, why)| format!("`{field}`: {why}")).collect();
                    let is_fixed = fields.iter().any(|(_, why)| why.contains(IMMUTABLE));
                    let hint = if is_fixed { "; delete the object first, or give it another name" } else { "" };
                    write!(f, "the cluster rejects {object}: {}{hint}", shown.join("; "))
                }
            },
            ApiError::Refused { code, message } => write!(f, "the cluster answered with status {code}: {message}"),
            ApiError::UnknownKind(kind) => write!(f, "the cluster does not know the kind {kind}"),
            ApiError::Malformed(what) => write!(f, "the cluster sent something unexpected: {what}"),
            ApiError::NotReady(lines) => f.write_str(lines.first().map_or("not ready", String::as_str)),
            ApiError::Stopped => f.write_str("stopped"),
            ApiError::Other(what) => f.write_str(what),
        }
    }
}

impl ApiError {
    /// The error for an unsuccessful answer. `object` is its subject.
    pub(crate) fn of(code: u16, body: &[u8], object: &str, who: (&str, &str)) -> ApiError {
        let status: Json = serde_json::from_slice(body).unwrap_or(Json::Null);
        let said = status.get("message").and_then(Json::as_str).map(str::to_owned);
        let message = line(&said.unwrap_or_else(|| excerpt(body)));
        let causes = || status.pointer("/details/causes").and_then(Json::as_array).into_iter().flatten();
        let field = |cause: &Json, key: &str| line(cause.get(key).and_then(Json::as_str).unwrap_or(""));
        match code {
            401 => ApiError::Unauthorized { user: who.0.to_owned(), context: who.1.to_owned() },
            403 => ApiError::Forbidden(message),
            404 => ApiError::NotFound(message),
            409 if status.get("reason").and_then(Json::as_str) == Some("AlreadyExists") => ApiError::Exists(message),
            409 => {
                let is_field = |cause: &&Json| field(cause, "reason") == "FieldManagerConflict";
                let fields: Vec<(String, String)> = causes()
                    .filter(is_field)
                    .map(|c| (plain_field(&field(c, "field")), manager(&field(c, "message"))))
                    .collect();
                match fields.is_empty() {
                    true => ApiError::Refused { code, message },
                    false => ApiError::Conflict { object: object.to_owned(), fields },
                }
            }
            400 | 422 => {
                let fields =
                    causes().map(|cause| (plain_field(&field(cause, "field")), short(&field(cause, "message"))));
                let fields = fields.filter(|(field, _)| !field.is_empty()).collect();
                ApiError::Invalid { object: object.to_owned(), message, fields }
            }
            // Server-side apply returns this for a field that the kind does not have.
            500 if message.contains(UNDECLARED) => {
                let fields = undeclared(&message);
                ApiError::Invalid { object: object.to_owned(), message, fields }
            }
            _ => ApiError::Refused { code, message },
        }
    }

    /// The same without secret texts: servers repeat values that they reject.
    pub(crate) fn without(self, secrets: &Secrets) -> ApiError {
        let hidden = |fields: Vec<(String, String)>| {
            fields.into_iter().map(|(field, why)| (field, secrets.hide(&why))).collect::<Vec<_>>()
        };
        match self {
            ApiError::Forbidden(message) => ApiError::Forbidden(secrets.hide(&message)),
            ApiError::NotFound(message) => ApiError::NotFound(secrets.hide(&message)),
            ApiError::Exists(message) => ApiError::Exists(secrets.hide(&message)),
            ApiError::Conflict { object, fields } => ApiError::Conflict { object, fields: hidden(fields) },
            ApiError::Invalid { object, message, fields } => {
                ApiError::Invalid { object, message: secrets.hide(&message), fields: hidden(fields) }
            }
            ApiError::Refused { code, message } => ApiError::Refused { code, message: secrets.hide(&message) },
            other => other,
        }
    }

    /// The fields of the object that it names.
    pub fn fields(&self) -> &[(String, String)] {
        match self {
            ApiError::Conflict { fields, .. } | ApiError::Invalid { fields, .. } => fields,
            _ => &[],
        }
    }

    /// Further lines with reasons.
    pub fn details(&self) -> &[String] {
        match self {
            ApiError::NotReady(lines) => lines.get(1..).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// The end of the server's message about a field that a kind does not have.
const UNDECLARED: &str = ": field not declared in schema";

/// The fields in `….: .spec.prots: field not declared in schema`.
fn undeclared(message: &str) -> Vec<(String, String)> {
    let before = message.match_indices(UNDECLARED).filter_map(|(at, _)| message.get(..at));
    let field = |text: &str| text.rsplit(char::is_whitespace).next().map(plain_field);
    before.filter_map(field).map(|field| (field, "unknown field".to_owned())).collect()
}

/// `.spec.replicas` is `spec.replicas`.
fn plain_field(field: &str) -> String {
    field.trim_start_matches('.').to_owned()
}

/// The server's message about a field that cannot change.
const IMMUTABLE: &str = "field is immutable";

/// Maximum length of a value repeated in a message.
const LONGEST_VALUE: usize = 80;

/// A message without the value that it repeats, if that is long: a whole pod template is of no use.
fn short(message: &str) -> String {
    let value = message.strip_prefix("Invalid value: ").and_then(|rest| rest.rsplit_once(": "));
    match value {
        Some((value, why)) if value.len() > LONGEST_VALUE => why.to_owned(),
        _ => message.to_owned(),
    }
}

/// The manager in `conflict with "kubectl" using apps/v1`.
fn manager(message: &str) -> String {
    let quoted = message.split('"').nth(1);
    quoted.map_or_else(|| message.to_owned(), |name| format!("set by `{name}`"))
}

/// The beginning of an answer that is not a `Status` object, on one line.
fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body.get(..300).unwrap_or(body)).into_owned();
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() { "no explanation".to_owned() } else { line }
}
