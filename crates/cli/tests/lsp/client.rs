//! A client of the language server over standard input and output.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A server and its messages so far.
pub struct Client {
    child: Child,
    stdin: ChildStdin,
    messages: Receiver<Value>,
    next: i64,
    /// The served folder.
    pub root: PathBuf,
    /// The last diagnostics of every file, by its path below the root.
    pub diagnostics: BTreeMap<String, Vec<Value>>,
}

/// How long an answer may take before the test gives up; not a benchmark.
const PATIENCE: Duration = Duration::from_secs(300);

impl Client {
    /// Starts a server on a folder.
    pub fn start(root: &Path, options: Value) -> Client {
        let mut child = Command::new(env!("CARGO_BIN_EXE_purlin"))
            .arg("lsp")
            .current_dir(root)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let stdin = child.stdin.take().expect("it has an input");
        let stdout = child.stdout.take().expect("it has an output");
        let (send, messages) = channel();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            while let Some(message) = read_message(&mut reader) {
                if send.send(message).is_err() {
                    return;
                }
            }
        });
        let root = root.canonicalize().expect("the folder is there");
        let mut client = Client { child, stdin, messages, next: 0, root, diagnostics: BTreeMap::new() };
        let uri = client.uri("");
        let params = json!({
            "processId": null,
            "rootUri": uri.trim_end_matches('/'),
            "capabilities": {},
            "initializationOptions": options,
        });
        client.request("initialize", params);
        client.notify("initialized", json!({}));
        client
    }

    /// The address of a file below the root.
    pub fn uri(&self, file: &str) -> String {
        purlin_lsp::uri_of(&format!("{}/{file}", self.root.display()))
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and waits for its result.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        self.try_request(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Sends a request and waits for its result or its error.
    pub fn try_request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.messages.recv_timeout(PATIENCE).expect("the server answers");
            if message["method"] == "textDocument/publishDiagnostics" {
                self.note(&message["params"]);
            }
            if message["id"] == id && message.get("method").is_none() {
                return match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].clone()),
                };
            }
        }
    }

    fn note(&mut self, params: &Value) {
        let path = purlin_lsp::path_of(params["uri"].as_str().unwrap_or("")).unwrap_or_default();
        let file = path.strip_prefix(&format!("{}/", self.root.display())).unwrap_or(&path).to_owned();
        let list = params["diagnostics"].as_array().cloned().unwrap_or_default();
        self.diagnostics.insert(file, list);
    }

    /// Waits until all changes are resolved.
    pub fn settle(&mut self) {
        self.request("purlin/settled", json!({}));
    }

    /// Opens a file as it is on disk.
    pub fn open(&mut self, file: &str) {
        let text = std::fs::read_to_string(self.root.join(file)).expect("the file is there");
        let uri = self.uri(file);
        let document = json!({"uri": uri, "languageId": "yaml", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    /// Replaces the whole text of an open file.
    pub fn change(&mut self, file: &str, text: &str) {
        let uri = self.uri(file);
        let params = json!({"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": text}]});
        self.notify("textDocument/didChange", params);
    }

    /// A request about a position, both numbers from 0.
    pub fn ask(&mut self, method: &str, file: &str, line: usize, character: usize) -> Value {
        let uri = self.uri(file);
        let position = json!({"line": line, "character": character});
        self.request(method, json!({"textDocument": {"uri": uri}, "position": position}))
    }

    /// The process, for measuring its memory.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Shuts the server down; returns whether it ended well.
    pub fn stop(mut self) -> bool {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        drop(self.stdin);
        self.child.wait().is_ok_and(|status| status.success())
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.stdin, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("the server listens");
        self.stdin.flush().expect("the server listens");
    }
}

fn read_message(reader: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some(number) = line.strip_prefix("Content-Length: ") {
            length = number.parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
