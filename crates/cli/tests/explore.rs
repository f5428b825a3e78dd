//! `purlin explore` and `purlin report` as seen by a browser: answers and refusals of the server, contents of the page,
//! hostile names that stay text and secrets that stay hidden.
//!
//! The server is tested everywhere; the page where chromium and its driver are installed.

#![cfg(unix)]
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod browser;

use browser::Browser;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A secret that no answer may contain.
const CANARY: &str = "c4n4ry-0f-the-explorer";
/// A name that would execute if parsed as HTML.
const HOSTILE: &str = "<img src=x onerror=alert(1)>";

const PROJECT: &str = r#"apiVersion: garden.io/v2
kind: Project
name: shop
environments:
  - name: dev
    variables: {replicas: 1}
  - name: prod
    variables: {replicas: 4}
providers: [{name: exec}]
variables:
  registry: registry.example
  replicas: 2
  markup: "<img src=x onerror=alert(1)>"
  unused: 1
---
kind: Build
type: exec
name: api
description: "</script><script>alert(1)</script>"
spec: {command: [make, "${var.registry}/api", "${local.env.PASSWORD || ''}"]}
---
kind: Deploy
type: exec
name: api
dependencies: [build.api]
spec: {deployCommand: [start, "--replicas=${var.replicas}", "${var.markup}"]}
---
kind: Test
type: exec
name: smoke
dependencies: [deploy.api]
spec: {command: [smoke, "${actions.deploy.api.version}"]}
"#;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("purlin-explore-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn purlin(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_purlin"));
    command.args(words).current_dir(folder).env("PASSWORD", CANARY);
    command
}

/// A server that ends with the test.
struct Served {
    child: Child,
    address: String,
    port: u16,
    token: String,
}

impl Served {
    fn start(folder: &Path) -> Self {
        let mut command = purlin(folder, &["explore", "--no-open"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().to_owned();
        let (host, token) = address.strip_prefix("http://").unwrap().split_once("/?token=").unwrap();
        let port = host.strip_prefix("127.0.0.1:").unwrap().parse().unwrap();
        let token = token.to_owned();
        Served { child, address, port, token }
    }

    /// The body of an answer.
    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let (port, token) = (self.port, &self.token);
        let head = format!("Host: 127.0.0.1:{port}\r\nCookie: purlin-{port}={token}\r\nConnection: close\r\n");
        stream.write_all(format!("GET {path} HTTP/1.1\r\n{head}\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200") || head.starts_with("HTTP/1.1 404"), "{path}: {head}");
        body.to_owned()
    }

    fn json(&self, path: &str) -> Value {
        let body = self.get(path);
        serde_json::from_str(&body).unwrap_or_else(|error| panic!("{path}: {error}\n{body}"))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The answers to all requests that the server supports.
fn all_answers(served: &Served) -> String {
    let mut all = String::new();
    let project = served.json("/data/project");
    for env in project["environments"].as_array().unwrap() {
        let env = env["name"].as_str().unwrap();
        all += &served.get(&format!("/data/project?env={env}"));
        all += &served.get(&format!("/data/picture?env={env}"));
        all += &served.get(&format!("/data/compare?from=env:dev&to=env:{env}"));
        for node in project["nodes"].as_array().unwrap() {
            let id = node["id"].as_str().unwrap();
            let found = served.json(&format!("/data/node?id={id}"));
            for row in found["environments"][env]["rows"].as_array().unwrap() {
                if !matches!(row[3].as_str(), Some("map" | "list")) {
                    all += &served.get(&format!("/data/why?env={env}&id={id}&field={}", row[2].as_str().unwrap()));
                }
            }
            all += &found.to_string();
        }
    }
    all += &served.get("/data/node?id=variables");
    all += &served.get("/data/problems");
    all += &served.get("/data/file?path=garden.yml");
    all += &served.get("/data/affects?file=garden.yml&line=11");
    all
}

#[test]
fn no_answer_and_no_report_holds_a_secret() {
    let folder = folder("canary");
    let charts = folder.join("chart/templates");
    std::fs::create_dir_all(&charts).unwrap();
    std::fs::write(folder.join("garden.yml"), PROJECT).unwrap();
    std::fs::write(folder.join("chart/Chart.yaml"), "apiVersion: v2\nname: c\nversion: 1.0.0\n").unwrap();
    std::fs::write(folder.join("chart/values.yaml"), format!("password: {CANARY}\n")).unwrap();
    std::fs::write(
        charts.join("secret.yaml"),
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: {{ .Values.password | quote }}}\n\
         data: {encoded: {{ .Values.password | b64enc }}}\n",
    )
    .unwrap();
    let encoded = "YzRuNHJ5LTBmLXRoZS1leHBsb3Jlcg";
    let served = Served::start(&folder);
    let answers = all_answers(&served);
    assert!(answers.contains("registry.example"), "answers hold what is no secret");
    assert!(!answers.contains(CANARY), "an answer holds the secret");
    let chart = Served::start(&folder.join("chart"));
    let id = chart.json("/data/project")["nodes"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(id, "Secret/s");
    for path in [
        "/data/project".to_owned(),
        format!("/data/node?id={id}"),
        format!("/data/why?id={id}&field=stringData.password"),
        format!("/data/why?id={id}&field=data.encoded"),
        "/data/node?id=variables".to_owned(),
        "/data/why?id=variables&field=password".to_owned(),
        "/data/file?path=chart/values.yaml".to_owned(),
        "/data/file?path=values.yaml".to_owned(),
    ] {
        let answer = chart.get(&path);
        assert!(!answer.contains(CANARY) && !answer.contains(encoded), "{path}: {answer}");
    }
    for project in [".", "chart"] {
        for words in
            [["report", project, "--out", "site", "-q"], ["graph", project, "-o", "html", "--out=site/one.html"]]
        {
            assert!(purlin(&folder, &words).status().unwrap().success(), "{words:?}");
        }
        let mut folders = vec![folder.join("site")];
        while let Some(inner) = folders.pop() {
            for entry in std::fs::read_dir(inner).unwrap().flatten().map(|entry| entry.path()) {
                if entry.is_dir() {
                    folders.push(entry);
                    continue;
                }
                let text = std::fs::read_to_string(&entry).unwrap();
                let is_clean = !text.contains(CANARY) && !text.contains(encoded);
                assert!(is_clean, "{} holds the secret", entry.display());
                assert!(!text.contains("</script><script>alert"), "{} has hostile text as it is", entry.display());
            }
        }
    }
}

#[test]
fn the_server_answers_as_the_schemas_say_and_as_the_command_line_does() {
    let folder = folder("answers");
    std::fs::write(folder.join("garden.yml"), PROJECT).unwrap();
    let served = Served::start(&folder);
    let project = served.json("/data/project");
    assert_eq!(project["environment"], "dev");
    assert_eq!(project["environments"].as_array().unwrap().len(), 2);
    let names: Vec<&str> =
        project["nodes"].as_array().unwrap().iter().map(|node| node["id"].as_str().unwrap()).collect();
    assert_eq!(names, ["build.api", "deploy.api", "test.smoke"]);
    for id in names {
        let node = served.json(&format!("/data/node?id={id}"));
        for env in ["dev", "prod"] {
            for row in node["environments"][env]["rows"].as_array().unwrap() {
                let path = row[2].as_str().unwrap();
                if matches!(row[3].as_str(), Some("map" | "list")) {
                    continue;
                }
                let own = served.json(&format!("/data/why?env={env}&id={id}&field={path}"));
                let ran = purlin(&folder, &["why", id, path, "-e", env, "-o", "json"]).output().unwrap();
                let told: Value = serde_json::from_slice(&ran.stdout).unwrap();
                assert_eq!(own, told, "{id} {path} in {env}");
            }
        }
    }
    let compared = served.json("/data/compare?from=env:dev&to=env:prod");
    assert!(compared["causes"].as_array().unwrap().iter().any(|cause| cause.as_str().unwrap().contains("garden.yml")));
    assert_eq!(served.get("/data/file?path=/etc/passwd"), "unknown node, value or file");
    assert_eq!(served.get("/data/file?path=../../../../etc/passwd"), "unknown node, value or file");
    let problems = served.json("/data/problems");
    assert!(
        problems["problems"]
            .as_array()
            .unwrap()
            .iter()
            .any(|problem| problem["rule"].as_str().unwrap().contains("unused"))
    );
    // A change is noticed, and waiting requests are answered.
    let version = project["version"].as_u64().unwrap();
    std::fs::write(folder.join("garden.yml"), PROJECT.replace("name: smoke", "name: smoked")).unwrap();
    let told = served.json(&format!("/data/changes?since={version}"));
    assert!(told["version"].as_u64().unwrap() > version);
    assert!(served.get("/data/project").contains("test.smoked"));
}

#[test]
fn the_page_shows_everything_and_runs_nothing_of_the_project() {
    let Some(browser) = Browser::start() else { return purlin_skipped::skipped("browser") };
    let folder = folder("page");
    std::fs::write(folder.join("garden.yml"), PROJECT).unwrap();
    let served = Served::start(&folder);
    browser.open(&served.address);
    let base = format!("http://127.0.0.1:{}/", served.port);
    assert_eq!(browser.run("return location.href"), json!(base), "the token is not in the address any more");
    let views = [
        ("#/graph", "shop"),
        ("#/graph?node=deploy.api", "deploy.api"),
        ("#/graph?node=deploy.api&field=spec.deployCommand.1&env=prod", "--replicas=4"),
        ("#/graph?node=deploy.api&tab=source&wide=1", "kind: Deploy"),
        ("#/graph?node=deploy.api&tab=environments", "--replicas=1"),
        ("#/graph?node=test.smoke&tab=edges", "deploy.api"),
        ("#/graph?node=test.smoke&path=build.api", "test.smoke"),
        ("#/compare?from=env%3Adev&to=env%3Aprod", "--replicas=4"),
        ("#/problems", "unused"),
        ("#/problems?only=unused", "unused"),
    ];
    for (address, expected) in views {
        browser.go(&base, address);
        browser.until_shown(expected);
        assert_eq!(
            browser.run("return document.querySelectorAll('main img, main script').length"),
            json!(0),
            "{address}"
        );
    }
    // Executable names stay text.
    browser.go(&base, "#/graph?node=deploy.api&field=spec.deployCommand.2");
    browser.until_shown(HOSTILE);
    assert_eq!(browser.run("return typeof globalThis.hacked"), json!("undefined"));
    // Back leads to the view before.
    browser.run("history.back()");
    browser.until_shown("Unused settings");
    // The keyboard alone: search, choose, close.
    browser.go(&base, "#/graph");
    browser.until_shown("View and filters");
    browser.keys("/");
    browser.keys("smoke\u{e007}");
    browser.until_shown("Dependents");
    assert_eq!(browser.run("return location.hash"), json!("#/graph?node=test.smoke"));
    // A change of a file arrives by itself.
    browser.go(&base, "#/graph");
    browser.until_shown("View and filters");
    std::fs::write(folder.join("garden.yml"), PROJECT.replace("name: smoke", "name: smoked")).unwrap();
    browser.until_shown("test.smoked");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn a_page_of_another_origin_gets_nothing() {
    let Some(browser) = Browser::start() else { return purlin_skipped::skipped("browser") };
    let folder = folder("origin");
    std::fs::write(folder.join("garden.yml"), PROJECT).unwrap();
    let (served, other) = (Served::start(&folder), Served::start(&folder));
    // The browser holds the cookie; the page of the other server is another origin.
    browser.open(&served.address);
    browser.until_shown("build.api");
    browser.open(&other.address);
    browser.until_shown("build.api");
    let attacks = [
        "fetch(A, {credentials: 'include'}).then((r) => r.text())",
        "fetch(A, {mode: 'no-cors', credentials: 'include'}).then((r) => r.text())",
        "fetch(A, {method: 'POST', mode: 'no-cors', credentials: 'include', body: 'x'}).then((r) => r.text())",
        "new Promise((yes) => { const f = document.createElement('iframe'); f.src = A; f.onload = () => { try { yes(f.contentDocument.body.textContent) } catch (e) { yes('') } }; document.body.append(f); setTimeout(() => yes(''), 1500) })",
        "new Promise((yes) => { const s = document.createElement('script'); s.src = A; s.onload = () => yes('build.api'); s.onerror = () => yes(''); document.head.append(s) })",
    ];
    for path in ["/", "/data/project", "/page/main.js"] {
        for attack in attacks {
            let address = format!("http://127.0.0.1:{}{path}", served.port);
            let script =
                format!("const done = arguments[0]; const A = {address:?}; {attack}.then(done, () => done(''))");
            let got = browser.run_async(&script);
            let got = got.as_str().unwrap_or_default();
            assert!(!got.contains("build.api") && !got.contains("Purlin"), "{attack} of {path} got {got}");
        }
    }
}

#[test]
fn reports_are_read_from_disk() {
    let Some(browser) = Browser::start() else { return purlin_skipped::skipped("browser") };
    let folder = folder("report");
    std::fs::write(folder.join("garden.yml"), PROJECT).unwrap();
    assert!(purlin(&folder, &["report", "--out", "site", "-q"]).status().unwrap().success());
    assert!(purlin(&folder, &["report", "--out", "one.html", "--single", "-q"]).status().unwrap().success());
    for page in ["site/index.html", "one.html"] {
        let base = format!("file://{}", folder.join(page).display());
        browser.open(&base);
        for (address, expected) in [
            ("#/graph", "build.api"),
            ("#/graph?node=deploy.api&field=spec.deployCommand.1&env=prod", "--replicas=4"),
            ("#/graph?node=deploy.api&tab=source&wide=1", "kind: Deploy"),
            ("#/compare?from=env%3Adev&to=env%3Aprod", "--replicas=4"),
            ("#/problems", "unused"),
        ] {
            browser.go(&base, address);
            browser.until_shown(expected);
        }
        assert_eq!(browser.errors(), Vec::<String>::new(), "{page}");
    }
}
