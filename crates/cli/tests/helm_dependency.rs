//! `purlin helm dependency` against a file server and a registry on this machine.

#![cfg(feature = "net")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use purlin_charts::archive::pack;
use purlin_charts::chart::ChartFile;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

type Pages = BTreeMap<String, (u16, Vec<(&'static str, String)>, Vec<u8>)>;

/// A server with fixed pages that records requests.
struct Server {
    place: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(pages: impl FnOnce(&str) -> Pages) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = format!("127.0.0.1:{}", listener.local_addr().unwrap().port());
        let (pages, asked) = (pages(&place), Arc::new(Mutex::new(Vec::new())));
        let seen = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let first = lines.next().and_then(Result::ok).unwrap_or_default();
                let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
                let headers: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
                let has_token = headers.iter().any(|line| line.to_lowercase() == "authorization: bearer t0k3n");
                seen.lock().unwrap().push(path.clone());
                let none = (404, Vec::new(), b"gone".to_vec());
                let (status, headers, body) = match pages.get(&path).unwrap_or(&none) {
                    (401, ..) if has_token => pages.get(&format!("{path} with token")).unwrap_or(&none),
                    page => page,
                };
                let mut head =
                    format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n", body.len());
                for (name, value) in headers {
                    head.push_str(&format!("{name}: {value}\r\n"));
                }
                let _ = stream.write_all(format!("{head}\r\n").as_bytes());
                let _ = stream.write_all(body);
            }
        });
        Server { place, asked }
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

fn chart(name: &str, version: &str) -> Vec<u8> {
    let file = |name: &str, text: String| ChartFile::new(name, text.into_bytes().into());
    let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{version: {version:?}}}\n");
    let files = [
        file("Chart.yaml", format!("apiVersion: v2\nname: {name}\nversion: {version}\n")),
        file("templates/a.yaml", text),
    ];
    pack(name, &files).unwrap()
}

fn sha(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path = std::env::temp_dir().join(format!("purlin-helm-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        let folder = Folder(path);
        std::fs::create_dir_all(folder.0.join("work/.git")).unwrap();
        files.iter().for_each(|(name, text)| folder.write(name, text));
        folder
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.0.join("work").join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    fn work(&self) -> PathBuf {
        self.0.join("work")
    }

    /// Exit code, standard output, standard error.
    fn purlin(&self, args: &[&str]) -> (i32, String, String) {
        let out = Command::new(env!("CARGO_BIN_EXE_purlin"))
            .args(args)
            .current_dir(self.work())
            .env("XDG_CACHE_HOME", self.0.join("cache"))
            .env("SOURCE_DATE_EPOCH", "1700000000")
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (out.status.code().unwrap(), text(&out.stdout), text(&out.stderr))
    }

    fn charts(&self) -> Vec<String> {
        let Ok(found) = std::fs::read_dir(self.work().join("charts")) else { return Vec::new() };
        let mut names: Vec<String> = found.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn page(body: impl Into<Vec<u8>>) -> (u16, Vec<(&'static str, String)>, Vec<u8>) {
    (200, Vec::new(), body.into())
}

/// A repository with three versions of `db` and a broken `bad`.
fn repository(_place: &str) -> Pages {
    let mut pages = Pages::new();
    let mut index = "apiVersion: v1\nentries:\n  db:\n".to_owned();
    for version in ["1.0.0", "1.10.0", "1.9.0", "2.0.0"] {
        let bytes = chart("db", version);
        index.push_str(&format!(
            "  - {{name: db, version: {version}, digest: {}, urls: [db-{version}.tgz]}}\n",
            sha(&bytes)
        ));
        pages.insert(format!("/charts/db-{version}.tgz"), page(bytes));
    }
    let digest = "0".repeat(64);
    index.push_str(&format!(
        "  bad:\n  - {{name: bad, version: 1.0.0, digest: {digest}, urls: [/charts/bad-1.0.0.tgz]}}\n"
    ));
    pages.insert("/charts/bad-1.0.0.tgz".to_owned(), page(chart("bad", "1.0.0")));
    pages.insert("/charts/index.yaml".to_owned(), page(index));
    pages
}

#[test]
fn a_repository_is_asked_for_what_is_declared() {
    let server = Server::start(repository);
    let declared = format!(
        "apiVersion: v2\nname: shop\nversion: 1.0.0\ndependencies:\n- name: db\n  version: ^1.0.0\n  repository: http://{}/charts\n",
        server.place
    );
    let folder = Folder::new("repository", &[("Chart.yaml", &declared)]);
    let allow = format!("http://{}", server.place);

    let (code, out, said) = folder.purlin(&["helm", "dependency", "build"]);
    assert_eq!((code, out.as_str()), (4, ""), "{said}");
    assert!(said.contains("needs `--allow-net http://127.0.0.1`"), "{said}");
    assert!(server.asked().is_empty());

    let (code, out, said) = folder.purlin(&["helm", "dependency", "list"]);
    assert_eq!((code, said.as_str()), (0, ""));
    assert!(out.contains("\tmissing"), "{out}");

    let (code, out, said) = folder.purlin(&["helm", "dependency", "update", "--allow-net", &allow]);
    assert_eq!((code, said.as_str()), (0, ""));
    let repository = format!("http://{}/charts", server.place);
    assert_eq!(out, format!("Saving 1 charts\nDownloading db from repo {repository}\nDeleting outdated charts\n"));
    assert_eq!(folder.charts(), ["db-1.10.0.tgz"]);
    assert_eq!(server.asked(), ["/charts/index.yaml", "/charts/db-1.10.0.tgz"]);
    let lock = std::fs::read_to_string(folder.work().join("Chart.lock")).unwrap();
    assert!(lock.starts_with(&format!("dependencies:\n- name: db\n  repository: {repository}\n  version: 1.10.0\n")));
    assert!(lock.ends_with("generated: \"2023-11-14T22:13:20Z\"\n"), "{lock}");
    assert!(!Path::new(&folder.work().join("purlin.lock")).exists());

    // The same from the cache alone, given the lock file.
    std::fs::remove_dir_all(folder.work().join("charts")).unwrap();
    let (code, _, said) = folder.purlin(&["--offline", "helm", "dependency", "build"]);
    assert_eq!((code, said.as_str()), (0, ""));
    assert_eq!(folder.charts(), ["db-1.10.0.tgz"]);
    assert!(server.asked().is_empty());
    let (_, out, _) = folder.purlin(&["helm", "dependency", "list"]);
    assert!(out.contains("\tok"), "{out}");
    let (code, out, said) = folder.purlin(&["render"]);
    assert_eq!((code, said.as_str()), (0, ""));
    assert!(out.contains("version: \"1.10.0\""), "{out}");

    // A lock file that does not match is refused before any request.
    folder.write("Chart.yaml", &declared.replace("^1.0.0", "^2.0.0"));
    let (code, _, said) = folder.purlin(&["helm", "dependency", "build", "--allow-net", &allow]);
    assert_eq!(code, 1);
    let wanted = "Error: the lock file (Chart.lock) is out of sync with the dependencies file (Chart.yaml). Please update the dependencies\n";
    assert_eq!(said, wanted);
    assert!(server.asked().is_empty());
    let (code, _, said) = folder.purlin(&["helm", "dependency", "update", "--allow-net", &allow]);
    assert_eq!((code, said.as_str()), (0, ""));
    assert_eq!(folder.charts(), ["db-2.0.0.tgz"], "the outdated one is gone");
}

#[test]
fn what_cannot_be_had_changes_nothing() {
    let server = Server::start(repository);
    let allow = format!("http://{}", server.place);
    let declared = |name: &str, version: &str| {
        let repository = format!("http://{}/charts", server.place);
        format!(
            "apiVersion: v2\nname: shop\nversion: 1.0.0\ndependencies:\n- {{name: {name}, version: {version}, repository: {repository:?}}}\n"
        )
    };
    for (name, version, message) in [
        ("db", "^3.0.0", "can't get a valid version for 1 subchart(s)"),
        ("nothing", "1.0.0", "nothing chart not found in repo"),
        ("bad", "1.0.0", "the index says 0000"),
        ("db", "not a range", "has an invalid version/constraint format"),
        ("../db", "1.0.0", "has an invalid name"),
    ] {
        let folder = Folder::new("refused", &[("Chart.yaml", &declared(name, version))]);
        let (code, _, said) = folder.purlin(&["helm", "dependency", "update", "--allow-net", &allow]);
        assert_eq!(code, 1, "{said}");
        assert!(said.contains(message), "{said}");
        assert!(folder.charts().is_empty());
        assert!(!folder.work().join("Chart.lock").exists());
    }
}

/// A registry that requires a token, and lists tags on two pages.
fn registry(place: &str) -> Pages {
    let archive = chart("cache", "1.2.0+b");
    let digest = format!("sha256:{}", sha(&archive));
    let layer = format!(
        "{{\"mediaType\": \"application/vnd.cncf.helm.chart.content.v1.tar+gzip\", \"digest\": {digest:?}, \"size\": 1}}"
    );
    let challenge = format!("Bearer realm=\"http://{place}/token\",service=\"r\",scope=\"repository:team/cache:pull\"");
    let mut pages = Pages::new();
    pages.insert("/token?scope=repository:team/cache:pull&service=r".to_owned(), page("{\"token\": \"t0k3n\"}"));
    let more = vec![("link", "</v2/team/cache/tags/list?n=1000&last=1.0.0>; rel=\"next\"".to_owned())];
    for (path, answer) in [
        ("tags/list?n=1000", (200, more, b"{\"tags\": [\"1.0.0\", \"latest\"]}".to_vec())),
        ("tags/list?n=1000&last=1.0.0", page("{\"tags\": [\"1.2.0_b\", \"2.0.0\"]}")),
        ("manifests/1.2.0_b", page(format!("{{\"layers\": [{layer}]}}"))),
        (&format!("blobs/{digest}"), page(archive)),
    ] {
        let path = format!("/v2/team/cache/{path}");
        pages.insert(format!("{path} with token"), answer);
        pages.insert(path, (401, vec![("www-authenticate", challenge.clone())], Vec::new()));
    }
    pages
}

#[test]
fn a_registry_is_asked_with_a_token_for_everybody() {
    let server = Server::start(registry);
    let declared = format!(
        "apiVersion: v2\nname: shop\nversion: 1.0.0\ndependencies:\n- {{name: cache, version: 1.x, repository: \"oci://{}/team\"}}\n",
        server.place
    );
    let folder = Folder::new("registry", &[("Chart.yaml", &declared)]);
    let allow = format!("http://{}", server.place);
    let (code, out, said) = folder.purlin(&["helm", "template", ".", "--dependency-update", "--allow-net", &allow]);
    assert_eq!(code, 0, "{said}");
    assert!(out.contains("version: \"1.2.0+b\"") && !out.contains("Saving"), "{out}");
    assert!(said.starts_with("Saving 1 charts\n"), "{said}");
    assert_eq!(folder.charts(), ["cache-1.2.0+b.tgz"]);
    server.asked();
    // Nothing is missing now, so there are no requests.
    let (code, _, said) = folder.purlin(&["helm", "template", ".", "--dependency-update"]);
    assert_eq!((code, said.as_str()), (0, ""));
    std::fs::remove_dir_all(folder.work().join("charts")).unwrap();
    let (code, _, said) = folder.purlin(&["helm", "dependency", "build", "--offline"]);
    assert_eq!((code, said.as_str()), (0, ""));
    assert_eq!(folder.charts(), ["cache-1.2.0+b.tgz"]);
    assert!(server.asked().is_empty());
}

#[test]
fn folders_beside_the_chart_are_packed() {
    let declared = "apiVersion: v2\nname: shop\nversion: 1.0.0\ndependencies:\n- {name: common, version: '>=1', repository: 'file://../common'}\n- {name: own, version: 0.1.0, repository: ''}\n";
    let long = format!("files/{}x.txt", "a-long-folder/".repeat(9));
    let folder = Folder::new(
        "local",
        &[
            ("shop/Chart.yaml", declared),
            ("shop/charts/own/Chart.yaml", "apiVersion: v2\nname: own\nversion: 0.1.0\n"),
            ("common/Chart.yaml", "apiVersion: v2\nname: common\nversion: 1.4.0\n"),
            ("common/.helmignore", "*.bak\n"),
            (
                "common/templates/a.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: common}\ndata: {x: {{ .Files.Get \"FILE\" | quote }}}\n",
            ),
            ("common/a.bak", "no"),
        ],
    );
    folder.write(&format!("common/{long}"), "long name");
    let template = std::fs::read_to_string(folder.work().join("common/templates/a.yaml")).unwrap();
    folder.write("common/templates/a.yaml", &template.replace("FILE", &long));
    let (code, out, said) = folder.purlin(&["helm", "dep", "up", "shop"]);
    assert_eq!((code, said.as_str()), (0, ""));
    assert_eq!(
        out,
        "Saving 2 charts\nArchiving common from repo file://../common\nDependency own did not declare a repository. Assuming it exists in the charts directory\nDeleting outdated charts\n"
    );
    let (code, out, said) = folder.purlin(&["helm", "template", "shop"]);
    assert_eq!((code, said.as_str()), (0, ""));
    assert!(out.contains("long name"), "{out}");
    let (_, out, _) = folder.purlin(&["helm", "dependency", "list", "shop"]);
    let wanted = "NAME  \tVERSION\tREPOSITORY      \tSTATUS  \ncommon\t>=1    \tfile://../common\tok      \nown   \t0.1.0  \t                \tunpacked\n\n";
    assert_eq!(out, wanted);
}

/// Sends a request to a server on this machine; returns the status and the `location`.
fn send(place: &str, method: &str, path: &str, kind: &str, body: &[u8]) -> Option<(u16, String)> {
    let mut stream = std::net::TcpStream::connect(place).ok()?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {place}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body).ok()?;
    let mut lines = BufReader::new(stream).lines();
    let status = lines.next()?.ok()?.split(' ').nth(1)?.parse().ok()?;
    let headers = lines.map_while(Result::ok).take_while(|line| !line.is_empty());
    let location = headers.filter_map(|line| {
        Some(line.split_once(": ").filter(|(name, _)| name.eq_ignore_ascii_case("location"))?.1.to_owned())
    });
    Some((status, location.last().unwrap_or_default()))
}

fn push_blob(place: &str, bytes: &[u8]) -> String {
    let digest = format!("sha256:{}", sha(bytes));
    let (_, location) = send(place, "POST", "/v2/team/cache/blobs/uploads/", "text/plain", b"").unwrap();
    let path = location.strip_prefix(&format!("http://{place}")).unwrap_or(&location).to_owned();
    let (status, _) =
        send(place, "PUT", &format!("{path}&digest={digest}"), "application/octet-stream", bytes).unwrap();
    assert_eq!(status, 201);
    digest
}

/// The registry that Debian packages, where it is installed.
#[test]
fn a_real_registry_is_asked() {
    let folder = Folder::new("docker", &[]);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let place = format!("127.0.0.1:{port}");
    folder.write(
        "registry.yml",
        &format!(
            "version: 0.1\nstorage: {{filesystem: {{rootdir: {:?}}}}}\nhttp: {{addr: {place:?}}}\n",
            folder.0.join("registry")
        ),
    );
    let started = Command::new("docker-registry")
        .args(["serve", "registry.yml"])
        .current_dir(folder.work())
        .stderr(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .spawn();
    let Ok(mut registry) = started else {
        purlin_skipped::skipped("chart registry");
        return;
    };
    for _ in 0..100 {
        if send(&place, "GET", "/v2/", "text/plain", b"").is_some() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let archive = chart("cache", "1.2.0+b");
    let (config, layer) = (push_blob(&place, b"{}"), push_blob(&place, &archive));
    let kind = "application/vnd.oci.image.manifest.v1+json";
    let manifest = format!(
        "{{\"schemaVersion\": 2, \"mediaType\": {kind:?}, \"config\": {{\"mediaType\": \"application/vnd.cncf.helm.config.v1+json\", \"digest\": {config:?}, \"size\": 2}}, \"layers\": [{{\"mediaType\": \"application/vnd.cncf.helm.chart.content.v1.tar+gzip\", \"digest\": {layer:?}, \"size\": {}}}]}}",
        archive.len()
    );
    let (status, _) = send(&place, "PUT", "/v2/team/cache/manifests/1.2.0_b", kind, manifest.as_bytes()).unwrap();
    let declared = format!(
        "apiVersion: v2\nname: shop\nversion: 1.0.0\ndependencies:\n- {{name: cache, version: 1.x, repository: \"oci://{place}/team\"}}\n"
    );
    folder.write("Chart.yaml", &declared);
    let (code, _, said) = folder.purlin(&["helm", "dependency", "update", "--allow-net", &format!("http://{place}")]);
    let _ = registry.kill();
    let _ = registry.wait();
    assert_eq!((status, code, said.as_str()), (201, 0, ""));
    assert_eq!(folder.charts(), ["cache-1.2.0+b.tgz"]);
}
