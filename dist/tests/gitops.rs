//! What Argo CD and GitLab would run: the commands of the plugin and of the job template, in a real shell, on scratch
//! projects, against a local server that imitates GitLab's API.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it expects"
)]

use purlin_syntax::{FileId, Flavor, Limits, Node, Source, yaml};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// The folder of the program, if it and the tools are there.
fn programs(tools: &[&str]) -> Option<PathBuf> {
    let folder = std::env::current_exe().unwrap().parent()?.parent()?.to_owned();
    let missing = tools.iter().any(|tool| Command::new(tool).arg("--version").output().is_err());
    match (folder.join("purlin").is_file(), missing) {
        (false, _) => purlin_skipped::skipped("built program"),
        (true, true) => purlin_skipped::skipped("package tools"),
        (true, false) => return Some(folder),
    }
    None
}

/// The strings at a path of a YAML file of this repository.
fn texts(file: &str, path: &[&str]) -> Vec<String> {
    let text = std::fs::read_to_string(top().join(file)).unwrap();
    let source = Arc::new(Source::new(FileId(0), file, text));
    let tree = yaml::parse(source, Flavor::Go, &Limits::default());
    assert_eq!(tree.diagnostics(), []);
    let mut node: Node<'_> = tree.root().unwrap();
    for key in path {
        node = node.get(key).unwrap();
    }
    node.items().map(|item| item.text().to_owned()).collect()
}

/// An empty folder that is removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("purlin-gitops-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(words: &[String], folder: &Path, programs: &Path, env: &[(&str, &str)]) -> Output {
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display());
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).current_dir(folder).env_clear().env("PATH", path).env("HOME", folder);
    command.envs(env.iter().copied()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_plugin_of_argo_cd_renders_the_environment_of_the_application() {
    let Some(programs) = programs(&["sh"]) else { return };
    let generate = texts("packaging/argocd/plugin.yaml", &["spec", "generate", "command"]);
    let discover = texts("packaging/argocd/plugin.yaml", &["spec", "discover", "find", "command"]);
    let shop = top().join("examples/storefront");
    let rendered = |environment: &[(&str, &str)]| {
        let ran = run(&generate, &shop, &programs, environment);
        assert!(ran.status.success(), "{}", text(&ran.stderr));
        text(&ran.stdout)
    };
    let production = rendered(&[("ARGOCD_ENV_ENVIRONMENT", "production")]);
    assert!(production.contains("replicas: 12") && !production.contains("(secret)"), "{production}");
    assert!(rendered(&[]).contains("replicas: 2"), "the default environment");
    let unknown = run(&generate, &shop, &programs, &[("ARGOCD_ENV_ENVIRONMENT", "prod$(touch x)")]);
    assert!(!unknown.status.success() && !shop.join("x").exists(), "a name is a name");
    assert_eq!(text(&run(&discover, &shop, &programs, &[]).stdout), "purlin\n");
    let empty = Scratch::new("empty");
    assert_eq!(text(&run(&discover, &empty.0, &programs, &[]).stdout), "", "a folder without a project is not ours");
}

/// Notes of a merge request.
#[derive(Default)]
struct Notes {
    all: Vec<Value>,
    changes: Vec<String>,
}

fn serve(notes: Arc<Mutex<Notes>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/api/v4", listener.local_addr().unwrap());
    std::thread::spawn(move || listener.incoming().flatten().for_each(|stream| answer(stream, &notes)));
    address
}

fn answer(mut stream: TcpStream, notes: &Mutex<Notes>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut first, mut length, mut is_known) = (String::new(), 0, false);
    reader.read_line(&mut first).unwrap();
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
        is_known |= line == "private-token: token-of-the-test";
    }
    assert!(is_known, "{first} came without its token");
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut notes = notes.lock().unwrap();
    let words: Vec<&str> = first.split(' ').collect();
    let given = || serde_json::from_slice::<Value>(&body).unwrap()["body"].clone();
    let found = match (words[0], words[1].split('?').next().unwrap()) {
        ("GET", "/api/v4/projects/5/merge_requests/7/notes") => json!(notes.all),
        ("POST", "/api/v4/projects/5/merge_requests/7/notes") => {
            notes.changes.push("posted".to_owned());
            let note = json!({ "id": 11, "body": given() });
            notes.all.push(note.clone());
            note
        }
        ("PUT", "/api/v4/projects/5/merge_requests/7/notes/11") => {
            notes.changes.push("updated".to_owned());
            notes.all = vec![json!({ "id": 11, "body": given() })];
            json!({})
        }
        other => panic!("{other:?}"),
    };
    let found = found.to_string();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", found.len());
    stream.write_all((head + &found).as_bytes()).unwrap();
}

const PROJECT: &str = "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments:\n- { name: dev }\n\
                       - { name: prod, variables: { replicas: 4 } }\nproviders: [{ name: exec }]\n\
                       variables: { replicas: 1 }\noutputs: [{ name: replicas, value: \"${var.replicas}\" }]\n";

#[test]
fn the_job_of_gitlab_reports_findings_and_one_comment() {
    let Some(programs) = programs(&["bash", "git", "python3"]) else { return };
    let script = texts("packaging/gitlab/purlin.gitlab-ci.yml", &["purlin", "script"]).join("\n");
    let words = ["bash", "-eo", "pipefail", "-c", &script].map(str::to_owned);
    let folder = Scratch::new("gitlab");
    let git = |words: &[&str]| {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
        let all: Vec<String> = ["git"].iter().chain(&identity).chain(words).map(|word| (*word).to_owned()).collect();
        let ran = run(&all, &folder.0, &programs, &[]);
        assert!(ran.status.success(), "{words:?}: {}", text(&ran.stderr));
        text(&ran.stdout).trim().to_owned()
    };
    folder.write("project.garden.yml", PROJECT);
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "project.garden.yml"]);
    git(&["commit", "-q", "-m", "first"]);
    let base = git(&["rev-parse", "HEAD"]);
    let notes = Arc::new(Mutex::new(Notes::default()));
    let address = serve(notes.clone());
    let env = [
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", base.as_str()),
        ("CI_API_V4_URL", &address),
        ("CI_PROJECT_ID", "5"),
        ("CI_MERGE_REQUEST_IID", "7"),
        ("PURLIN_TOKEN", "token-of-the-test"),
        ("PURLIN_PATHS", "."),
    ];
    let job = || {
        let ran = run(&words, &folder.0, &programs, &env);
        (ran.status.code(), text(&ran.stdout) + &text(&ran.stderr))
    };
    let quality =
        || -> Value { serde_json::from_slice(&std::fs::read(folder.0.join("purlin-quality.json")).unwrap()).unwrap() };

    let (code, said) = job();
    assert_eq!(code, Some(0), "{said}");
    assert!(notes.lock().unwrap().changes.is_empty(), "nothing has changed, so nothing is posted");
    assert_eq!(quality(), json!([]));

    folder.write("project.garden.yml", &PROJECT.replace("replicas: 4", "replicas: 6"));
    let (code, said) = job();
    assert_eq!(code, Some(0), "{said}");
    folder.write("project.garden.yml", &PROJECT.replace("replicas: 4", "replicas: 8"));
    assert_eq!(job().0, Some(0));
    assert_eq!(notes.lock().unwrap().changes, ["posted", "updated"]);
    let note = notes.lock().unwrap().all[0]["body"].as_str().unwrap().to_owned();
    assert!(note.starts_with("<!-- purlin -->\n") && note.contains("prod") && note.contains('8'), "{note}");

    folder.write("project.garden.yml", &PROJECT.replace("${var.replicas}", "${var.replica}"));
    let (code, said) = job();
    assert_eq!(code, Some(1), "{said}");
    let found = quality();
    assert_eq!(found[0]["severity"], "major", "{found}");
    assert_eq!(found[0]["location"]["path"], "project.garden.yml");
    assert!(found[0]["location"]["lines"]["begin"].as_u64().unwrap() > 1, "{found}");
}
