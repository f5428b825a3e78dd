//! `purlin mcp` as seen by an assistant's program: lines in, lines out, and no access that the user has not allowed.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const PROJECT: &str = "apiVersion: garden.io/v2
kind: Project
name: shop
environments: [{name: local, variables: {replicas: \"1\"}}, {name: production, variables: {replicas: \"3\"}}]
providers: [{name: exec}]
---
kind: Run
type: exec
name: migrate
spec: {command: [echo, \"${var.replicas}\"]}
";

const BROKEN: &str = "apiVersion: skaffold/v4beta11\nkind: Config\nbuild: {artifcats: []}\n";

struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("shop/broken")).unwrap();
    std::fs::write(folder.join("shop/project.garden.yml"), PROJECT).unwrap();
    std::fs::write(folder.join("shop/broken/skaffold.yaml"), BROKEN).unwrap();
    std::fs::write(folder.join("outside.yaml"), "canary: outside\n").unwrap();
    folder.join("shop")
}

impl Client {
    fn start(folder: &Path, options: &[&str]) -> Client {
        let mut child = Command::new(env!("CARGO_BIN_EXE_purlin"))
            .args(options)
            .arg("mcp")
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Client { child, input, output, last: 0 };
        let hello = client.ask("initialize", &json!({ "protocolVersion": "2025-06-18", "capabilities": {} }));
        assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        client
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params }).to_string());
        let answer = self.receive();
        assert_eq!(answer["id"], self.last, "{answer}");
        answer
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))["result"].clone()
    }

    fn end(mut self) -> i32 {
        drop(self.input.take());
        self.child.wait().unwrap().code().unwrap()
    }
}

#[test]
fn tools_answer_as_the_commands_do() {
    let mut client = Client::start(&folder("mcp-tools"), &["--diagnostics", "github"]);
    let tools = client.ask("tools/list", &json!({}))["result"]["tools"].clone();
    let is_read_only = |tool: &Value| tool["annotations"]["readOnlyHint"] == true;
    assert!(tools.as_array().unwrap().iter().all(is_read_only), "{tools}");

    let check = client.call("check", &json!({}));
    let answer = &check["structuredContent"];
    assert_eq!((&answer["exitCode"], &check["isError"]), (&json!(1), &json!(false)), "{check}");
    assert_eq!(answer["answer"]["projects"][0]["variants"], json!(["local", "production"]));
    let rules = answer["findings"].as_array().unwrap().iter().map(|finding| finding["rule"].as_str().unwrap());
    assert!(rules.collect::<Vec<_>>().contains(&"skaffold-unknown-key"), "{check}");
    assert_eq!(serde_json::from_str::<Value>(check["content"][0]["text"].as_str().unwrap()).unwrap(), *answer);

    let given = json!({ "node": "run.migrate", "field": "spec.command.1", "environment": "production" });
    let why = client.call("why", &given);
    let origin = &why["structuredContent"]["answer"]["pieces"][0]["origin"];
    assert_eq!((&origin["file"], &origin["line"]), (&json!("project.garden.yml"), &json!(4)), "{why}");
    let diff = client.call("diff", &json!({ "environment": "local", "to_environment": "production" }));
    assert_eq!((&diff["structuredContent"]["exitCode"], &diff["isError"]), (&json!(1), &json!(false)), "{diff}");
    let affects = client.call("affects", &json!({ "location": "project.garden.yml:4" }));
    assert!(affects["structuredContent"]["answer"]["affects"].as_array().is_some_and(|some| some.len() > 1));
    for (tool, given) in [("graph", json!({})), ("resolve", json!({ "nodes": ["run.migrate"] }))] {
        let result = client.call(tool, &given);
        assert!(result["structuredContent"]["answer"].is_object(), "{result}");
    }
    let page = client.call("explain", &json!({ "rule": "skaffold-unknown-key" }));
    assert!(page["structuredContent"]["answer"].as_str().unwrap().starts_with('#'), "{page}");

    let unknown = client.call("why", &json!({ "node": "run.none" }));
    assert_eq!(unknown["isError"], true, "{unknown}");
    assert_eq!(unknown["structuredContent"]["findings"][0]["rule"], "unknown-node", "{unknown}");
    let resources = client.ask("resources/list", &json!({}))["result"]["resources"].clone();
    for resource in resources.as_array().unwrap() {
        let read = client.ask("resources/read", &json!({ "uri": resource["uri"] }));
        assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains("$schema"), "{read}");
    }
    assert_eq!(client.end(), 0);
}

#[test]
fn mistakes_of_the_client_are_answered_and_end_nothing() {
    let mut client = Client::start(&folder("mcp-mistakes"), &[]);
    for (line, code) in [
        ("{".to_owned(), -32700),
        ("[]".to_owned(), -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/run"}"#.to_owned(), -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy"}}"#.to_owned(), -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"why","arguments":[]}}"#.to_owned(), -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///etc"}}"#.to_owned(), -32002),
        (format!("\"{}\"", "x".repeat(2 << 20)), -32602),
    ] {
        client.send(&line);
        let answer = client.receive();
        assert_eq!(answer["error"]["code"], code, "{line:.60}: {answer}");
    }
    let wrong = client.call("check", &json!({ "reveal": true }));
    assert_eq!(wrong["isError"], true, "{wrong}");
    assert_eq!(client.ask("ping", &json!({}))["result"], json!({}));
    assert_eq!(client.end(), 0);
}

#[test]
fn the_client_is_not_the_user() {
    let shop = folder("mcp-border");
    std::os::unix::fs::symlink("../outside.yaml", shop.join("linked.yaml")).unwrap();
    let mut client = Client::start(&shop, &[]);
    for (tool, given) in [
        ("check", json!({ "path": ".." })),
        ("check", json!({ "path": "/etc" })),
        ("resolve", json!({ "path": "../outside.yaml" })),
        ("render", json!({ "values": ["../outside.yaml"] })),
        ("render", json!({ "values": ["linked.yaml"] })),
        ("affects", json!({ "location": "../outside.yaml:1" })),
        ("diff", json!({ "to_path": ".." })),
        ("resolve", json!({ "nodes": ["--allow-exec", "--reveal"] })),
        ("diff", json!({ "revision": "--upload-pack=touch outside.yaml" })),
    ] {
        let result = client.call(tool, &given);
        assert_eq!(result["isError"], true, "{given}: {result}");
        assert!(!result.to_string().contains("canary: outside"), "{result}");
    }
    assert_eq!(client.end(), 0);
}

#[test]
fn secrets_are_hidden() {
    let shop = folder("mcp-secrets");
    let chart = shop.join("web");
    std::fs::create_dir_all(chart.join("templates")).unwrap();
    std::fs::write(chart.join("Chart.yaml"), "apiVersion: v2\nname: web\nversion: 1.0.0\n").unwrap();
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: {password: hunter2-canary}\n";
    std::fs::write(chart.join("templates/secret.yaml"), secret).unwrap();
    let mut client = Client::start(&shop, &[]);
    for (tool, given) in [
        ("render", json!({ "path": "web" })),
        ("resolve", json!({ "path": "web" })),
        ("why", json!({ "path": "web", "node": "Secret/web", "field": "stringData.password" })),
        ("check", json!({})),
    ] {
        let result = client.call(tool, &given);
        assert!(!result.to_string().contains("hunter2"), "{given}: {result}");
    }
    assert_eq!(client.end(), 0);
}

#[test]
fn the_client_library_of_the_protocol_understands_every_answer() {
    let python = |args: &[&str]| Command::new("python3").args(args).output();
    if !python(&["-c", "import mcp"]).is_ok_and(|ran| ran.status.success()) {
        return purlin_skipped::skipped("assistant client");
    }
    let shop = folder("mcp-library");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/client.py");
    let (script, shop) = (script.to_string_lossy(), shop.to_string_lossy());
    let ran = python(&[&script, env!("CARGO_BIN_EXE_purlin"), &shop]).unwrap();
    let expected = "tools check why affects diff graph resolve render explain\n\
                    check False 1\nwhy False 0\ndiff False 1\nwhy True 1\nresources 7\n";
    assert_eq!(String::from_utf8_lossy(&ran.stdout), expected, "{}", String::from_utf8_lossy(&ran.stderr));
}
