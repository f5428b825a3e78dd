//! Sends traces of runs to the collector that the user's environment names, by OTLP over HTTP.
//!
//! The variables are those of OpenTelemetry, read from the process alone: no file of a project chooses the destination.
//! Nothing here knows the contents of a trace.

use std::collections::BTreeMap;
use std::time::Duration;

/// The destination of traces, and the data sent along.
#[derive(Clone, PartialEq, Eq)]
pub struct Collector {
    address: String,
    headers: Vec<(String, String)>,
    timeout: Duration,
    /// Attributes of the program.
    pub resource: BTreeMap<String, String>,
    /// The trace and the span that the run belongs to.
    pub parent: Option<([u8; 16], [u8; 8])>,
}

/// The value of the first of several variables that is not empty.
fn variable<'e>(env: &'e BTreeMap<String, String>, names: &[&str]) -> Option<&'e str> {
    names.iter().find_map(|name| env.get(*name).map(|text| text.trim()).filter(|text| !text.is_empty()))
}

/// The collector that the environment names, if any. The error describes an unsupported setting.
pub fn collector(env: &BTreeMap<String, String>) -> Result<Option<Collector>, String> {
    if variable(env, &["OTEL_SDK_DISABLED"]).is_some_and(|text| text.eq_ignore_ascii_case("true"))
        || variable(env, &["OTEL_TRACES_EXPORTER"]) == Some("none")
    {
        return Ok(None);
    }
    let own = variable(env, &["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]).map(str::to_owned);
    let common = variable(env, &["OTEL_EXPORTER_OTLP_ENDPOINT"]);
    let common = common.map(|address| format!("{}/v1/traces", address.trim_end_matches('/')));
    let Some(address) = own.or(common) else { return Ok(None) };
    let protocol = variable(env, &["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"]);
    if let Some(protocol) = protocol.filter(|protocol| *protocol != "http/protobuf") {
        return Err(format!("OTEL_EXPORTER_OTLP_PROTOCOL is `{protocol}`, and only `http/protobuf` is supported"));
    }
    let headers = variable(env, &["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"]);
    let timeout = variable(env, &["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"]);
    let mut resource = variable(env, &["OTEL_RESOURCE_ATTRIBUTES"]).map(pairs).unwrap_or_default();
    if let Some(name) = variable(env, &["OTEL_SERVICE_NAME"]) {
        resource.push(("service.name".to_owned(), name.to_owned()));
    }
    let mut resource: BTreeMap<String, String> = resource.into_iter().collect();
    resource.entry("service.name".to_owned()).or_insert_with(|| "purlin".to_owned());
    Ok(Some(Collector {
        address,
        headers: headers.map(pairs).unwrap_or_default(),
        timeout: Duration::from_millis(timeout.and_then(|text| text.parse().ok()).unwrap_or(10_000)),
        resource,
        parent: variable(env, &["TRACEPARENT"]).and_then(parent),
    }))
}

/// `a=b,c=d`, with percent-encoded values.
fn pairs(text: &str) -> Vec<(String, String)> {
    let pair = |part: &str| part.split_once('=').map(|(key, value)| (key.trim().to_owned(), decoded(value.trim())));
    text.split(',').filter_map(pair).filter(|(key, _)| !key.is_empty()).collect()
}

fn decoded(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let escaped = hex.filter(|_| *byte == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok());
        out.push(escaped.unwrap_or(*byte));
        rest = if escaped.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// `00-TRACE-SPAN-FLAGS`, as W3C's Trace Context writes it.
fn parent(text: &str) -> Option<([u8; 16], [u8; 8])> {
    let mut parts = text.split('-');
    let (version, trace, span) = (parts.next()?, parts.next()?, parts.next()?);
    let (trace, span) = (bytes::<16>(trace)?, bytes::<8>(span)?);
    let is_one = version.len() == 2 && version != "ff" && trace != [0; 16] && span != [0; 8];
    is_one.then_some((trace, span))
}

fn bytes<const N: usize>(hex: &str) -> Option<[u8; N]> {
    let mut out = [0; N];
    if hex.len() != N * 2 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (at, byte) in out.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(at * 2..at * 2 + 2)?, 16).ok()?;
    }
    Some(out)
}

impl Collector {
    /// Sends one request. The error says why it did not arrive, without the address's credentials.
    #[cfg(feature = "net")]
    pub fn send(&self, request: &[u8]) -> Result<(), String> {
        let config = ureq::Agent::config_builder()
            .max_redirects(0)
            .http_status_as_error(false)
            .timeout_global(Some(self.timeout))
            .user_agent(concat!("purlin/", env!("CARGO_PKG_VERSION")))
            .build();
        let post = ureq::Agent::new_with_config(config).post(&self.address);
        let post = post.header("content-type", "application/x-protobuf");
        let post = self.headers.iter().fold(post, |post, (name, value)| post.header(name, value));
        let answer = post.send(request).map_err(|error| error.to_string())?;
        match answer.status().as_u16() {
            200..300 => Ok(()),
            status => Err(format!("the collector answered {status}")),
        }
    }

    /// Sends nothing: this build cannot connect.
    #[cfg(not(feature = "net"))]
    pub fn send(&self, _request: &[u8]) -> Result<(), String> {
        Err("this build of Purlin cannot connect to anything".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(lines: &[(&str, &str)]) -> Result<Option<Collector>, String> {
        collector(&lines.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    fn address(lines: &[(&str, &str)]) -> Option<String> {
        named(lines).ok().flatten().map(|collector| collector.address)
    }

    #[test]
    fn the_environment_names_the_collector() {
        let common = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318/");
        assert_eq!(address(&[]), None);
        assert_eq!(address(&[common]).as_deref(), Some("http://localhost:4318/v1/traces"));
        let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://other/x");
        assert_eq!(address(&[common, own]).as_deref(), Some("http://other/x"));
        assert_eq!(address(&[common, ("OTEL_SDK_DISABLED", "true")]), None);
        assert_eq!(address(&[common, ("OTEL_TRACES_EXPORTER", "none")]), None);
        assert!(named(&[common, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]).is_err_and(|why| why.contains("`grpc`")));
    }

    #[test]
    fn headers_and_attributes_are_decoded() {
        assert_eq!(pairs("a=b%20c, d=%zz,=x,e"), [("a", "b c"), ("d", "%zz")].map(|(k, v)| (k.into(), v.into())));
        assert_eq!(decoded("%"), "%");
        let lines = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://x"), ("OTEL_RESOURCE_ATTRIBUTES", "team=a%2Cb")];
        let resource = named(&lines).ok().flatten().map(|collector| collector.resource).unwrap_or_default();
        assert_eq!(resource.get("team").map(String::as_str), Some("a,b"));
        assert_eq!(resource.get("service.name").map(String::as_str), Some("purlin"));
    }

    #[test]
    fn the_trace_of_a_caller_is_continued() {
        let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        assert!(parent(&format!("00-{trace}-{span}-01")).is_some_and(|(trace, _)| trace[0] == 0x4b));
        let zeros = format!("00-{}-{span}-01", "0".repeat(32));
        for wrong in
            ["", "00", "00-x-y-01", &format!("ff-{trace}-{span}-01"), &zeros, &format!("00-{trace}+-{span}-01")]
        {
            assert_eq!(parent(wrong), None, "{wrong}");
        }
    }
}
