//! The scripts of the GitHub action, run as in a workflow, against a local server that imitates GitHub's API: posted
//! comments, updated comments, and the exit code of each run.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it expects"
)]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn program() -> Option<PathBuf> {
    let path = std::env::current_exe().unwrap().parent()?.parent()?.join("purlin");
    let tools = ["bash", "curl", "python3", "git"];
    let missing = tools.iter().find(|tool| Command::new(tool).arg("--version").output().is_err());
    match (path.is_file(), missing) {
        (false, _) => purlin_skipped::skipped("built program"),
        (true, Some(_)) => purlin_skipped::skipped("package tools"),
        (true, None) => return Some(path),
    }
    None
}

/// Posted and updated comments of a pull request.
#[derive(Default)]
struct Comments {
    all: Vec<Value>,
    posts: usize,
    updates: usize,
}

/// Serves comments on a free port of this machine.
fn serve(comments: Arc<Mutex<Comments>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(stream, &comments);
        }
    });
    address
}

fn answer(mut stream: TcpStream, comments: &Mutex<Comments>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    let (mut length, mut is_known) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(number) = line.strip_prefix("content-length: ") {
            length = number.parse().unwrap();
        }
        is_known |= line == "authorization: bearer token-of-the-test";
    }
    assert!(is_known, "{first} came without its token");
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut comments = comments.lock().unwrap();
    let words: Vec<&str> = first.split(' ').collect();
    let text = match (words[0], words[1].split('?').next().unwrap()) {
        ("GET", "/repos/shop/config/issues/7/comments") => json!(comments.all).to_string(),
        ("POST", "/repos/shop/config/issues/7/comments") => {
            comments.posts += 1;
            let sent: Value = serde_json::from_slice(&body).unwrap();
            comments.all.push(json!({"id": 41, "body": sent["body"]}));
            "{}".to_owned()
        }
        ("PATCH", "/repos/shop/config/issues/comments/41") => {
            comments.updates += 1;
            let sent: Value = serde_json::from_slice(&body).unwrap();
            comments.all[0]["body"] = sent["body"].clone();
            "{}".to_owned()
        }
        other => panic!("{other:?} is no request of the action"),
    };
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}", text.len()).unwrap();
}

struct Place {
    folder: PathBuf,
    program: PathBuf,
    api: String,
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Place {
    fn new(name: &str, program: PathBuf, api: String) -> Place {
        let folder = std::env::temp_dir().join(format!("purlin-action-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let place = Place { folder, program, api };
        place.write("project.garden.yml", PROJECT);
        place.write("run.garden.yml", ACTION);
        place.git(&["init", "--quiet"]);
        place.git(&["add", "."]);
        place.git(&["-c", "user.name=a", "-c", "user.email=a@a", "commit", "--quiet", "-m", "one"]);
        place
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.folder.join(file), text).unwrap();
    }

    fn git(&self, args: &[&str]) -> String {
        let ran = Command::new("git").args(args).current_dir(&self.folder).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8_lossy(&ran.stdout).trim().to_owned()
    }

    /// Runs a script as a step of a workflow: its exit code and its output.
    fn step(&self, script: &str, env: &[(&str, &str)]) -> (i32, String) {
        let base = self.git(&["rev-parse", "HEAD"]);
        let ran = Command::new("bash")
            .arg(top().join("packaging/action").join(script))
            .current_dir(&self.folder)
            .env("PURLIN", &self.program)
            .env("GITHUB_API_URL", &self.api)
            .env("GITHUB_REPOSITORY", "shop/config")
            .env("GITHUB_TOKEN", "token-of-the-test")
            .env("NUMBER", "7")
            .env("BASE", base)
            .envs(env.iter().copied())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
        (ran.status.code().unwrap(), text)
    }
}

const PROJECT: &str = "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments:\n  - name: local\n  - name: production\n    \
                       variables: {size: large}\nproviders: [{name: exec}]\nvariables: {size: small}\n";
const ACTION: &str = "kind: Run\ntype: exec\nname: hello\nspec: {command: [echo, \"${var.size}\"]}\n";

#[test]
fn a_pull_request_gets_one_comment_that_is_updated() {
    let Some(program) = program() else { return };
    let comments = Arc::new(Mutex::new(Comments::default()));
    let place = Place::new("comment", program, serve(comments.clone()));
    let state = || {
        let comments = comments.lock().unwrap();
        let text = comments.all.first().map(|one| one["body"].as_str().unwrap().to_owned()).unwrap_or_default();
        (comments.posts, comments.updates, text)
    };

    // Nothing changed: nothing is posted.
    assert_eq!(place.step("comment.sh", &[]), (0, String::new()));
    assert_eq!(state(), (0, 0, String::new()));

    // Only production changed.
    place.write("project.garden.yml", &PROJECT.replace("large", "huge"));
    let (code, text) = place.step("comment.sh", &[]);
    let (posts, updates, body) = state();
    assert_eq!((code, posts, updates), (0, 1, 0), "{text}");
    assert!(body.starts_with("<!-- purlin -->") && body.contains("huge") && body.contains("production"), "{body}");

    // Broken: the comment reports it, and the step fails.
    place.write("run.garden.yml", "kind: Run\ntype: exec\nname: hello\nspec: {command: [echo, \"${var.sise}\"]}\n");
    let (code, text) = place.step("comment.sh", &[]);
    let (posts, updates, body) = state();
    assert_ne!(code, 0, "{text}");
    assert_eq!((posts, updates), (1, 1));
    assert!(body.contains("could not be compared"), "{body}");

    // Reverted: the same comment reports that nothing changes any more.
    place.write("project.garden.yml", PROJECT);
    place.write("run.garden.yml", ACTION);
    let (code, text) = place.step("comment.sh", &[]);
    assert_eq!((code, state().0, state().1), (0, 1, 2), "{text}");
    assert!(state().2.contains("does not change"), "{}", state().2);
}

#[test]
fn checks_end_as_documented_and_write_sarif() {
    let Some(program) = program() else { return };
    let place = Place::new("check", program, String::new());
    let env = [("PURLIN_PATHS", "."), ("PURLIN_ARGS", ""), ("PURLIN_SARIF", "purlin.sarif")];
    let read = || -> Value {
        serde_json::from_str(&std::fs::read_to_string(place.folder.join("purlin.sarif")).unwrap()).unwrap()
    };
    assert_eq!(place.step("check.sh", &env).0, 0);
    assert_eq!(read()["runs"][0]["results"].as_array().unwrap().len(), 0);

    // An error in production only fails the job and is annotated.
    place.write("run.garden.yml", &ACTION.replace("var.size", "var.only"));
    let text = PROJECT.replace("- name: local", "- name: local\n    variables: {only: here}");
    place.write("project.garden.yml", &text);
    let (code, text) = place.step("check.sh", &env);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("::error file=run.garden.yml"), "{text}");
    assert_eq!(read()["runs"][0]["results"][0]["ruleId"], "garden-unknown-key");
}
