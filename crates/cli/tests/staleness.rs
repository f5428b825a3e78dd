//! One change between two runs, and exactly the affected actions run again: none is stale, none runs needlessly.
//! `PURLIN_PAIRS` sets the number of random pairs in addition to one of each kind.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

const PROJECT: &str = r#"apiVersion: garden.io/v2
kind: Project
name: shop
environments: [{name: local}, {name: prod}]
providers: [{name: exec}]
---
kind: Build
type: exec
name: lib
include: [lib/**]
spec: {shell: true, command: ['echo lib >> TOP/ran; cat lib/* > out']}
---
kind: Build
type: exec
name: app
include: [app/**]
dependencies: [build.lib]
copyFrom: [{build: lib, sourcePath: out}]
spec: {shell: true, command: ['echo app >> TOP/ran; cat app/* out > made']}
---
kind: Test
type: exec
name: unit
build: app
include: []
spec: {shell: true, command: ['echo unit >> TOP/ran; cat made > scratch']}
---
kind: Run
type: exec
name: gen
include: [gen/**]
spec: {shell: true, command: ['echo gen >> TOP/ran; cat gen/a > $GARDEN_ACTION_OUTPUTS_PATH/v']}
---
kind: Run
type: exec
name: use
include: []
spec: {shell: true, command: ['echo use >> TOP/ran; echo ${actions.run.gen.outputs.v}']}
---
kind: Run
type: exec
name: env
include: []
spec: {shell: true, env: {X: "${local.env.SHOP || 'none'}"}, command: ['echo env >> TOP/ran']}
---
kind: Test
type: exec
name: plain
description: A test.
include: [plain/**]
spec: {shell: true, command: ['echo plain >> TOP/ran; cat plain/a > report'], artifacts: [{source: report}]}
"#;

/// Names of all actions that run in one environment.
const IN_ENVIRONMENT: [&str; 5] = ["unit", "gen", "use", "env", "plain"];
const ALL: [&str; 7] = ["lib", "app", "unit", "gen", "use", "env", "plain"];

struct Shop {
    top: PathBuf,
    folder: PathBuf,
    environment: &'static str,
    env: Vec<(&'static str, String)>,
}

impl Shop {
    fn new(number: usize) -> Self {
        let top = std::env::temp_dir().join(format!("purlin-staleness-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&top);
        let folder = top.join("shop");
        std::fs::create_dir_all(&folder).unwrap();
        let shop = Shop { top, folder, environment: "local", env: Vec::new() };
        shop.write("garden.yml", &PROJECT.replace("TOP", &shop.top.to_string_lossy()));
        for file in
            ["lib/a", "lib/b", "app/a", "gen/a", "plain/a", "plain/b", "shared/x", "shared/y", "extra/e", "more/f"]
        {
            shop.write(file, file);
        }
        symlink("../shared/x", shop.folder.join("plain/l")).unwrap();
        symlink("../more", shop.folder.join("plain/d")).unwrap();
        shop
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.folder.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    fn edit(&self, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.folder.join("garden.yml")).unwrap();
        assert!(text.contains(from), "{from}");
        self.write("garden.yml", &text.replacen(from, to, 1));
    }

    /// Changes a file but keeps its time, and its size if the text has the same length.
    fn write_back(&self, name: &str, text: &str) {
        let file = self.folder.join(name);
        let times = std::fs::metadata(&file).unwrap().modified().unwrap();
        self.write(name, text);
        std::fs::File::options().append(true).open(file).unwrap().set_modified(times).unwrap();
    }

    /// Runs everything; returns the actions that ran.
    fn run(&self) -> BTreeSet<String> {
        let ran = self.top.join("ran");
        let _ = std::fs::remove_file(&ran);
        for args in [&["build"][..], &["run", "*"], &["test"]] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_purlin"));
            command.args(args).args(["-e", self.environment]).current_dir(&self.folder);
            command.env("HOME", self.top.join("home")).env_remove("XDG_STATE_HOME").env_remove("SHOP").env("CI", "1");
            command.envs(self.env.iter().map(|(name, value)| (name, value)));
            let output = command.output().unwrap();
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && !told.contains("warning"), "{args:?}: {told}");
        }
        std::fs::read_to_string(ran).unwrap_or_default().lines().map(str::to_owned).collect()
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.top);
    }
}

type Change = (&'static str, fn(&mut Shop), &'static [&'static str]);

/// Changes, and the actions they affect.
const CHANGES: &[Change] = &[
    ("nothing", |_| (), &[]),
    ("content", |shop| shop.write("lib/a", "lib/A"), &["lib", "app", "unit"]),
    ("content, size and time as before", |shop| shop.write_back("app/a", "APP/a"), &["app", "unit"]),
    ("content of a Run, time as before", |shop| shop.write_back("gen/a", "GEN/a"), &["gen", "use"]),
    (
        "time",
        |shop| {
            let file = std::fs::File::options().append(true).open(shop.folder.join("lib/a")).unwrap();
            file.set_modified(SystemTime::now() + Duration::from_secs(3_600)).unwrap();
        },
        &[],
    ),
    (
        "permissions",
        |shop| {
            std::fs::set_permissions(shop.folder.join("app/a"), std::fs::Permissions::from_mode(0o755)).unwrap();
        },
        &["app", "unit"],
    ),
    (
        "permissions that do not count",
        |shop| {
            std::fs::set_permissions(shop.folder.join("app/a"), std::fs::Permissions::from_mode(0o640)).unwrap();
        },
        &[],
    ),
    (
        "name",
        |shop| std::fs::rename(shop.folder.join("lib/b"), shop.folder.join("lib/c")).unwrap(),
        &["lib", "app", "unit"],
    ),
    ("new file", |shop| shop.write("plain/n", "n"), &["plain"]),
    ("removed file", |shop| std::fs::remove_file(shop.folder.join("plain/b")).unwrap(), &["plain"]),
    ("other file", |shop| shop.write("README", "hello"), &[]),
    (
        "target of a link",
        |shop| {
            std::fs::remove_file(shop.folder.join("plain/l")).unwrap();
            symlink("../shared/y", shop.folder.join("plain/l")).unwrap();
        },
        &["plain"],
    ),
    ("content behind a link", |shop| shop.write("shared/x", "other"), &["plain"]),
    ("variable that is used", |shop| shop.env.push(("SHOP", "two".to_owned())), &["env"]),
    ("variable that is not used", |shop| shop.env.push(("SHIP", "two".to_owned())), &[]),
    ("environment", |shop| shop.environment = "prod", &IN_ENVIRONMENT),
    ("namespace", |shop| shop.environment = "mine.local", &IN_ENVIRONMENT),
    ("command", |shop| shop.edit("echo env >>", "echo  env >>"), &["env"]),
    ("declared variable", |shop| shop.edit("env: {X:", "env: {Y: y, X:"), &["env"]),
    ("description", |shop| shop.edit("A test.", "Another text."), &[]),
    ("include", |shop| shop.edit("[plain/**]", "[plain/**, extra/**]"), &["plain"]),
    ("exclude", |shop| shop.edit("include: [plain/**]", "include: [plain/**]\nexclude: [plain/b]"), &["plain"]),
    (
        "output of a Build removed",
        |shop| std::fs::remove_file(shop.folder.join(".garden/build/app/made")).unwrap(),
        &["app"],
    ),
    ("output of a Build changed", |shop| shop.write_back(".garden/build/app/made", "evil"), &["app"]),
    // It is rebuilt as it was, so the Build that uses it has nothing to do.
    ("output that another Build uses", |shop| shop.write(".garden/build/lib/out", "evil"), &["lib"]),
    (
        "output that only looks new",
        |shop| {
            let text = std::fs::read_to_string(shop.folder.join(".garden/build/app/made")).unwrap();
            shop.write(".garden/build/app/made", &text);
        },
        &[],
    ),
    ("content behind a link to a folder", |shop| shop.write("more/f", "other"), &["plain"]),
    (
        "folder of a Build removed",
        |shop| std::fs::remove_dir_all(shop.folder.join(".garden/build/app")).unwrap(),
        &["app"],
    ),
    ("artifact removed", |shop| std::fs::remove_dir_all(shop.folder.join(".garden/artifacts")).unwrap(), &["plain"]),
    ("artifact changed", |shop| shop.write(".garden/artifacts/report", "evil"), &["plain"]),
    ("results removed", |shop| std::fs::remove_dir_all(shop.folder.join(".purlin")).unwrap(), &ALL),
    (
        "key removed",
        |shop| {
            std::fs::remove_dir_all(shop.top.join("home")).unwrap();
            // The warning about foreign results is expected here, but `run` treats it as an error.
            std::fs::remove_dir_all(shop.folder.join(".purlin")).unwrap();
        },
        &ALL,
    ),
];

fn try_changes(number: usize, changes: &[&Change]) {
    let mut shop = Shop::new(number);
    assert_eq!(shop.run().len(), ALL.len());
    // File times are coarse; a change at the moment of creation is not detected.
    std::thread::sleep(Duration::from_millis(20));
    let mut expected = BTreeSet::new();
    for (_, change, affected) in changes {
        change(&mut shop);
        expected.extend(affected.iter().map(|name| (*name).to_owned()));
    }
    let names: Vec<&str> = changes.iter().map(|(name, ..)| *name).collect();
    assert_eq!(shop.run(), expected, "{names:?}");
    assert_eq!(shop.run(), BTreeSet::new(), "again after {names:?}");
}

#[test]
fn exactly_what_a_change_affects_runs_again() {
    for (number, change) in CHANGES.iter().enumerate() {
        try_changes(number, &[change]);
    }
}

#[test]
fn so_it_is_with_two_changes_at_once() {
    let draws: u64 = std::env::var("PURLIN_PAIRS").ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % CHANGES.len()
    };
    for number in 0..draws {
        let (one, other) = (&CHANGES[draw()], &CHANGES[draw()]);
        // These remove what the other one changes, or make it the first run of everything.
        let is_alone = |change: &Change| {
            change.0.contains("removed")
                || change.0.contains("environment")
                || change.0.contains("namespace")
                || change.0.contains("changed")
                || change.0.contains("file")
                || change.0.contains("include")
                || change.0.contains("exclude")
        };
        if one.0 == other.0 || is_alone(one) || is_alone(other) {
            continue;
        }
        try_changes(1_000 + usize::try_from(number).unwrap(), &[one, other]);
    }
}
