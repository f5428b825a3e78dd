//! Requests and answers of JSON-RPC 2.0 as the Model Context Protocol uses it. Must not know the tools.

use serde_json::{Value, json};

/// Supported revisions of the protocol, the newest first.
const REVISIONS: &[&str] = &["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Maximum number of requests in a batch, which only one revision has.
const MOST_IN_A_BATCH: usize = 100;

/// Instructions for the assistant.
const INSTRUCTIONS: &str = "Purlin resolves the configuration in this repository (Garden, Skaffold, Helm and Metachart \
charts, kustomizations, TOSCA, Unfurl) and knows where every value comes from. Begin with `check`, which lists all \
projects with their environments and everything that is wrong. `why` shows how one value was made, `affects` what a line \
of a file reaches, `diff` what differs between environments or git revisions. Secrets are hidden, and nothing is run, \
fetched or written.";

/// A request, or a notification.
pub(super) struct Message {
    pub method: String,
    pub params: Value,
}

/// The result of a request.
pub(super) type Answer = Result<Value, Refusal>;

/// Why a request is not answered, with the code of JSON-RPC.
pub(super) struct Refusal {
    code: i64,
    why: String,
}

impl Refusal {
    fn of(code: i64, why: impl Into<String>) -> Self {
        Refusal { code, why: why.into() }
    }

    pub(super) fn invalid(why: &str) -> Self {
        Self::of(-32602, why)
    }

    pub(super) fn unknown_method(method: &str) -> Self {
        Self::of(-32601, format!("unknown method `{method}`"))
    }

    pub(super) fn unknown_resource(uri: &str) -> Self {
        Self::of(-32002, format!("unknown resource `{uri}`"))
    }

    pub(super) fn to_json(&self, id: &Value) -> Value {
        json!({ "jsonrpc": "2.0", "id": id, "error": { "code": self.code, "message": self.why } })
    }
}

/// The server's introduction, in a revision of the protocol that the client supports, or else in the newest one known
/// here.
pub(super) fn introduction(params: &Value) -> Value {
    let wanted = params.get("protocolVersion").and_then(Value::as_str);
    let spoken = REVISIONS.iter().find(|revision| Some(**revision) == wanted).or(REVISIONS.first());
    json!({
        "protocolVersion": spoken,
        "capabilities": { "tools": {}, "resources": {} },
        "serverInfo": { "name": "purlin", "title": "Purlin", "version": env!("CARGO_PKG_VERSION") },
        "instructions": INSTRUCTIONS,
    })
}

/// The answer to a line: `None` for notifications and for answers of the client.
pub(super) fn answer(line: &[u8], handle: &mut dyn FnMut(&Message) -> Answer) -> Option<Value> {
    let Ok(message) = serde_json::from_slice::<Value>(line) else {
        return Some(Refusal::of(-32700, "the message is not JSON").to_json(&Value::Null));
    };
    let Value::Array(batch) = message else { return answer_one(&message, handle) };
    if batch.is_empty() || batch.len() > MOST_IN_A_BATCH {
        let why = format!("expected 1 to {MOST_IN_A_BATCH} requests in a batch, found {}", batch.len());
        return Some(Refusal::of(-32600, why).to_json(&Value::Null));
    }
    let answers: Vec<Value> = batch.iter().filter_map(|message| answer_one(message, handle)).collect();
    (!answers.is_empty()).then_some(Value::Array(answers))
}

fn answer_one(message: &Value, handle: &mut dyn FnMut(&Message) -> Answer) -> Option<Value> {
    let is_answer = message.get("result").is_some() || message.get("error").is_some();
    let Some(method) = message.get("method").and_then(Value::as_str) else {
        let refused = || Refusal::of(-32600, "the message is no request").to_json(&Value::Null);
        return (!is_answer).then(refused);
    };
    let id = message.get("id").filter(|id| id.is_string() || id.is_number())?;
    let params = message.get("params").cloned().unwrap_or(Value::Null);
    Some(match handle(&Message { method: method.to_owned(), params }) {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(refusal) => refusal.to_json(id),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> Option<String> {
        let mut handle = |message: &Message| match message.method.as_str() {
            "ping" => Ok(json!({})),
            method => Err(Refusal::unknown_method(method)),
        };
        answer(line.as_bytes(), &mut handle).map(|answer| answer.to_string())
    }

    #[test]
    fn requests_are_answered_and_notifications_are_not() {
        assert_eq!(said(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), None);
        assert_eq!(said(r#"{"jsonrpc":"2.0","id":4,"result":{}}"#), None);
        let pong = said(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#).unwrap_or_default();
        assert_eq!(pong, r#"{"jsonrpc":"2.0","id":"a","result":{}}"#);
        for (line, code) in [
            ("{", "-32700"),
            ("7", "-32600"),
            ("[]", "-32600"),
            (r#"{"id":1}"#, "-32600"),
            (r#"{"id":1,"method":"other"}"#, "-32601"),
        ] {
            assert!(said(line).is_some_and(|answer| answer.contains(code)), "{line}");
        }
    }

    #[test]
    fn batches_are_answered_together() {
        let batch = r#"[{"id":1,"method":"ping"},{"method":"note"},{"id":2,"method":"ping"}]"#;
        assert!(said(batch).is_some_and(|answer| answer.starts_with('[') && answer.matches("result").count() == 2));
        assert_eq!(said(r#"[{"method":"note"}]"#), None);
        let many = format!("[{}1]", "1,".repeat(100));
        assert!(said(&many).is_some_and(|answer| answer.contains("-32600")));
    }

    #[test]
    fn an_unknown_revision_is_answered_with_the_newest() {
        let spoken = |wanted: &str| introduction(&json!({ "protocolVersion": wanted }))["protocolVersion"].clone();
        assert_eq!(spoken("2024-11-05"), "2024-11-05");
        assert_eq!(spoken("1999-01-01"), REVISIONS.first().copied().unwrap_or_default());
    }
}
