//! A headless browser, driven over the WebDriver protocol.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a view may take to appear on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser that ends with its test.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: PathBuf,
}

impl Browser {
    /// Starts one; `None` where none is installed.
    pub fn start() -> Option<Browser> {
        let port = TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
        let driver = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let profile = std::env::temp_dir().join(format!("purlin-browser-{}-{port}", std::process::id()));
        let mut browser = Browser { driver, port, session: String::new(), profile };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(50));
        }
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1280,800",
        ];
        let mut arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        arguments.push(format!("--user-data-dir={}", browser.profile.display()));
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let session = browser.ask("POST", "/session", &wanted);
        browser.session = session["sessionId"].as_str()?.to_owned();
        Some(browser)
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(2 * PATIENCE)).unwrap();
        let body = if method == "GET" { String::new() } else { body.to_string() };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or((&line, ""));
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().unwrap();
            }
        }
        // The driver keeps the connection open.
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer);
        let value: Value = serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{path}: {error}: {answer}"));
        assert!(value["value"]["error"].is_null(), "{path}: {value}");
        value["value"].clone()
    }

    fn of_session(&self, path: &str, body: &Value) -> Value {
        self.ask("POST", &format!("/session/{}{path}", self.session), body)
    }

    /// Goes to an address.
    pub fn open(&self, address: &str) {
        self.of_session("/url", &json!({"url": address}));
    }

    /// Shows another view of the page that is open.
    pub fn go(&self, _base: &str, view: &str) {
        self.of_session("/execute/sync", &json!({"script": "location.hash = arguments[0]", "args": [view]}));
    }

    /// The return value of a script.
    pub fn run(&self, script: &str) -> Value {
        self.of_session("/execute/sync", &json!({"script": script, "args": []}))
    }

    /// The value that a script passes to its callback.
    pub fn run_async(&self, script: &str) -> Value {
        self.of_session("/execute/async", &json!({"script": script, "args": []}))
    }

    /// Presses keys.
    pub fn keys(&self, keys: &str) {
        let press = |key: char| {
            let key = key.to_string();
            [json!({"type": "keyDown", "value": key}), json!({"type": "keyUp", "value": key})]
        };
        let actions: Vec<Value> = keys.chars().flat_map(press).collect();
        let actions = json!({"actions": [{"type": "key", "id": "keys", "actions": actions}]});
        self.of_session("/actions", &actions);
    }

    /// Waits until a text can be read on the page.
    pub fn until_shown(&self, text: &str) {
        let begun = Instant::now();
        let mut seen = String::new();
        while begun.elapsed() < PATIENCE {
            seen = self.run("return document.body.innerText").as_str().unwrap_or_default().to_owned();
            if seen.contains(text) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("`{text}` never appeared at {}; there is:\n{seen}", self.run("return location.href"));
    }

    /// The page's error messages since the last call.
    pub fn errors(&self) -> Vec<String> {
        let log = self.of_session("/se/log", &json!({"type": "browser"}));
        let wrong = log.as_array().unwrap().iter().filter(|entry| entry["level"] == "SEVERE");
        wrong.map(|entry| entry["message"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let path = format!("/session/{}", self.session);
            if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) {
                let head = format!("DELETE {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
                let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
                let _ = stream.write_all(head.as_bytes());
                let _ = stream.read(&mut [0; 512]);
            }
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}
