//! Traces of runs, as an OpenTelemetry collector receives them.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread::JoinHandle;

const PROJECT: &str = "apiVersion: garden.io/v2
kind: Project
name: shop
environments: [{name: local}]
providers: [{name: exec}]
---
kind: Run
type: exec
name: good
spec: {command: [echo, canary-text]}
---
kind: Run
type: exec
name: bad
dependencies: [run.good]
spec: {command: [sh, -c, 'exit 3']}
";

/// A field of a message: its number and its value.
enum Field {
    Number(u64),
    Bytes(Vec<u8>),
}

/// The fields of a message in Protocol Buffers' wire format. Panics on invalid input.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Field)> {
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let field = match tag & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => Field::Number(u64::from_le_bytes(take(&mut bytes, 8).try_into().unwrap())),
            2 => {
                let length = usize::try_from(varint(&mut bytes)).unwrap();
                Field::Bytes(take(&mut bytes, length).to_vec())
            }
            kind => panic!("wire type {kind}"),
        };
        out.push((tag >> 3, field));
    }
    out
}

fn take<'b>(bytes: &mut &'b [u8], count: usize) -> &'b [u8] {
    let (taken, rest) = bytes.split_at(count);
    *bytes = rest;
    taken
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    number
}

/// All messages in a field of a message.
fn inner(bytes: &[u8], number: u64) -> Vec<Vec<u8>> {
    let inner = |(found, field)| match field {
        Field::Bytes(bytes) if found == number => Some(bytes),
        _ => None,
    };
    fields(bytes).into_iter().filter_map(inner).collect()
}

fn text(bytes: &[u8], number: u64) -> String {
    String::from_utf8(inner(bytes, number).concat()).unwrap()
}

fn number(bytes: &[u8], wanted: u64) -> u64 {
    let found = fields(bytes).into_iter().find(|(found, _)| *found == wanted);
    found.map_or(0, |(_, field)| if let Field::Number(number) = field { number } else { panic!("no number") })
}

fn attributes(bytes: &[u8], field: u64) -> Vec<String> {
    let value = |attribute: &Vec<u8>| text(&inner(attribute, 2).concat(), 1);
    inner(bytes, field).iter().map(|attribute| format!("{}={}", text(attribute, 1), value(attribute))).collect()
}

/// A collector that accepts one request: its head and its body.
fn collector(status: &'static str) -> (String, JoinHandle<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream);
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            let lower = line.to_ascii_lowercase();
            length = lower.strip_prefix("content-length:").map_or(length, |text| text.trim().parse().unwrap());
            head.push_str(&lower);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        reader.get_mut().write_all(answer.as_bytes()).unwrap();
        (head, body)
    });
    (address, thread)
}

fn project(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("project.garden.yml"), PROJECT).unwrap();
    folder
}

fn run(folder: &Path, env: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_purlin"));
    command.args(["run", "bad"]).current_dir(folder).env("HOME", folder).env_remove("NO_PROXY");
    command.envs(env.iter().copied()).output().unwrap()
}

#[test]
fn a_collector_receives_one_span_for_each_action() {
    let (address, thread) = collector("200 OK");
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let env = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b"),
        ("OTEL_RESOURCE_ATTRIBUTES", "team=web"),
        ("TRACEPARENT", parent),
    ];
    let ran = run(&project("traces"), &env);
    assert_eq!(ran.status.code(), Some(6), "{}", String::from_utf8_lossy(&ran.stderr));
    let (head, body) = thread.join().unwrap();
    assert!(head.starts_with("post /v1/traces http/1.1"), "{head}");
    assert!(head.contains("content-type: application/x-protobuf") && head.contains("x-key: a b"), "{head}");
    assert!(!body.windows(11).any(|part| part == b"canary-text"), "what a command prints is not sent");

    let of_resource = inner(&body, 1).concat();
    let resource = attributes(&inner(&of_resource, 1).concat(), 1);
    assert_eq!(resource, ["service.name=purlin", "team=web"]);
    let of_scope = inner(&of_resource, 2).concat();
    let spans = inner(&of_scope, 2);
    let names: Vec<String> = spans.iter().map(|span| text(span, 5)).collect();
    assert_eq!(names, ["run.good", "run.bad", "purlin run"]);
    let root = &spans[2];
    for span in &spans[..2] {
        assert_eq!(inner(span, 4), inner(root, 2), "actions are below the run");
        assert!(number(span, 7) >= number(root, 7) && number(span, 8) <= number(root, 8) + 1_000_000_000);
    }
    for span in &spans {
        assert_eq!(inner(span, 1).concat()[..2], [0x4b, 0xf9], "the caller's trace is continued");
        assert!(number(span, 7) > 1_600_000_000_000_000_000 && number(span, 8) >= number(span, 7));
    }
    assert_eq!(inner(root, 4).concat()[..2], [0x00, 0xf0]);
    let failed: Vec<u64> = spans.iter().map(|span| number(&inner(span, 15).concat(), 3)).collect();
    assert_eq!(failed, [0, 2, 2]);
    let of_bad = attributes(&spans[1], 9);
    assert!(of_bad.contains(&"purlin.state=failed".to_owned()) && of_bad.contains(&"process.exit.code=3".to_owned()));
}

#[test]
fn a_collector_that_does_not_take_them_is_a_warning() {
    let (refusing, thread) = collector("503 Busy");
    for (variables, warning) in [
        (vec![("OTEL_EXPORTER_OTLP_ENDPOINT", refusing.as_str())], "the collector answered 503"),
        (vec![("OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:hunter2@127.0.0.1:1")], "could not send the traces"),
        (
            vec![("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
            "only `http/protobuf` is supported",
        ),
    ] {
        let ran = run(&project("traces-refused"), &variables);
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(6), "{said}");
        assert!(said.contains(warning) && !said.contains("hunter2"), "{said}");
    }
    thread.join().unwrap();
}

#[test]
fn a_project_names_no_collector() {
    let folder = project("traces-project");
    std::fs::write(folder.join("garden.env"), "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1\n").unwrap();
    std::fs::write(folder.join(".env"), "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1\n").unwrap();
    let said = run(&folder, &[]).stderr;
    let said = String::from_utf8_lossy(&said);
    // The folder's own name is in the message about the action that fails.
    assert!(!said.contains("the traces of this run") && !said.contains("no traces are sent"), "{said}");
}
