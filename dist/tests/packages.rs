//! Packages of the program built for the tests are installed into empty folders, and run there on the storefront
//! example. If an installer is absent, the test reports it.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it expects"
)]

use purlin_dist::contents::{Contents, File};
use purlin_dist::lists;
use purlin_dist::packages::Release;
use purlin_dist::packed::sha256;
use purlin_dist::target::{TARGETS, Target};
use std::path::{Path, PathBuf};
use std::process::Command;

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The program next to the folder of this test.
fn program() -> Option<PathBuf> {
    let here = std::env::current_exe().unwrap();
    let path = here.parent()?.parent()?.join("purlin");
    path.is_file().then_some(path)
}

/// An empty folder that is removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("purlin-dist-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok_and(|run| run.status.success());
    if !found {
        eprintln!("{tool} is not installed");
        purlin_skipped::skipped("package tools");
    }
    found
}

fn run(folder: &Path, words: &[&str]) -> String {
    let ran = Command::new(words[0]).args(&words[1..]).current_dir(folder).output();
    let ran = ran.unwrap_or_else(|error| panic!("{words:?}: {error}"));
    let text = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{words:?}: {text}");
    text
}

/// The first command of a new user.
fn checks_the_storefront(program: &Path) {
    let answer = run(&top(), &[program.to_str().unwrap(), "check", "examples/storefront"]);
    assert!(answer.contains("no errors"), "{answer}");
}

#[test]
fn packages_install_into_empty_folders_and_work_there() {
    let Some(program) = program() else {
        purlin_skipped::skipped("built program");
        return;
    };
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        purlin_skipped::skipped("packages");
        return;
    }
    let contents = Contents::gather(&program, &program, &top()).unwrap();
    let release = Release { version: "0.1.0".to_owned(), level: 1 };
    let scratch = Scratch::new("install");
    let mut packages = release.packages(Target::named("x86_64-unknown-linux-musl").unwrap(), &contents).unwrap();
    packages.push(release.npm_front(&contents).unwrap());
    for (name, bytes) in &packages {
        std::fs::write(scratch.0.join(name), bytes).unwrap();
    }
    let named = |ending: &str| {
        let package = packages.iter().find(|(name, _)| name.ends_with(ending));
        scratch.0.join(&package.unwrap_or_else(|| panic!("no package ends in {ending}")).0)
    };
    let text = |path: &Path| path.to_str().unwrap().to_owned();

    run(&scratch.0, &["tar", "xzf", &text(&named("musl.tar.gz"))]);
    let unpacked = scratch.0.join("purlin-0.1.0-x86_64-unknown-linux-musl");
    checks_the_storefront(&unpacked.join("purlin"));
    assert!(std::fs::read_to_string(unpacked.join("man/purlin.1")).unwrap().contains(".TH purlin"));

    if has("dpkg-deb") {
        run(&scratch.0, &["dpkg-deb", "--extract", &text(&named(".deb")), "from-deb"]);
        checks_the_storefront(&scratch.0.join("from-deb/usr/bin/purlin"));
        let about = run(&scratch.0, &["dpkg-deb", "--info", &text(&named(".deb"))]);
        assert!(about.contains("Package: purlin") && about.contains("Architecture: amd64"), "{about}");
    }
    if has("rpm2cpio") && has("cpio") {
        let command = format!("rpm2cpio {} | cpio -id --quiet", text(&named(".rpm")));
        std::fs::create_dir(scratch.0.join("from-rpm")).unwrap();
        run(&scratch.0.join("from-rpm"), &["sh", "-c", &command]);
        checks_the_storefront(&scratch.0.join("from-rpm/usr/bin/purlin"));
    }
    if has("python3") {
        run(&scratch.0, &["python3", "-m", "venv", "environment"]);
        let wheel = text(&named(".whl"));
        run(
            &scratch.0,
            &["environment/bin/pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", &wheel],
        );
        checks_the_storefront(&scratch.0.join("environment/bin/purlin"));
    }
    if has("npm") {
        std::fs::create_dir(scratch.0.join("node")).unwrap();
        let (front, platform) = (text(&named("purlin-0.1.0.tgz")), text(&named("linux-x64-0.1.0.tgz")));
        let options = ["--offline", "--no-audit", "--no-fund", "--omit=optional", "--prefix", "."];
        let words: Vec<&str> =
            ["npm", "install"].iter().chain(&options).copied().chain([platform.as_str(), &front]).collect();
        run(&scratch.0.join("node"), &words);
        checks_the_storefront(&scratch.0.join("node/node_modules/.bin/purlin"));
    }
}

fn made_up() -> Contents {
    Contents {
        program: b"program".to_vec(),
        manuals: vec![("purlin.1".to_owned(), b"manual".to_vec())],
        completions: vec![("bash", b"bash".to_vec()), ("zsh", b"zsh".to_vec()), ("fish", b"fish".to_vec())],
        texts: vec![
            ("LICENSE-MIT", b"MIT".to_vec()),
            ("LICENSE-APACHE", b"Apache".to_vec()),
            ("README.md", b"# P".to_vec()),
        ],
        schemas: Vec::new(),
    }
}

#[test]
fn the_same_contents_give_the_same_bytes() {
    let release = Release { version: "1.2.3".to_owned(), level: 9 };
    for target in TARGETS {
        let once = release.packages(target, &made_up()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1_100));
        assert_eq!(once, release.packages(target, &made_up()).unwrap(), "{}", target.triple);
    }
}

#[test]
fn formulas_need_every_checksum() {
    let template = std::fs::read_to_string(top().join("packaging/homebrew/purlin.rb")).unwrap();
    let release = Release { version: "1.2.3".to_owned(), level: 1 };
    let packages = |targets: &[Target]| -> Vec<(String, String)> {
        let all = targets.iter().flat_map(|target| release.packages(target, &made_up()).unwrap());
        all.map(|(name, bytes)| (name, sha256(&bytes))).collect()
    };
    let whole = lists::filled(&template, "1.2.3", "https://example.com/purlin", &packages(TARGETS)).unwrap();
    assert!(!whole.contains("SHA256_") && !whole.contains("VERSION") && !whole.contains("REPOSITORY"), "{whole}");
    let missing =
        lists::filled(&template, "1.2.3", "https://example.com/purlin", &packages(&TARGETS[..1])).unwrap_err();
    assert!(missing.to_string().contains("there is no archive for"), "{missing}");
}

#[test]
fn the_bill_of_materials_lists_what_the_lock_file_has() {
    let lock = std::fs::read_to_string(top().join("Cargo.lock")).unwrap();
    let bill: serde_json::Value = serde_json::from_str(&lists::bill_of_materials(&lock, "1.2.3").unwrap()).unwrap();
    let components = bill["components"].as_array().unwrap();
    assert_eq!(components.len(), lock.matches("\nchecksum = ").count());
    assert!(components.iter().any(|one| one["purl"].as_str().is_some_and(|purl| purl.starts_with("pkg:cargo/clap@"))));
}

#[test]
fn installed_files_have_their_places() {
    let files = made_up().installed();
    let paths: Vec<&str> = files.iter().map(|File { path, .. }| path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "bin/purlin",
            "share/bash-completion/completions/purlin",
            "share/doc/purlin/LICENSE-APACHE",
            "share/doc/purlin/LICENSE-MIT",
            "share/doc/purlin/README.md",
            "share/fish/vendor_completions.d/purlin.fish",
            "share/man/man1/purlin.1",
            "share/zsh/site-functions/_purlin",
        ]
    );
}
