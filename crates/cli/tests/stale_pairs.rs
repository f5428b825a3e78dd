//! Random changes to a project, one between two runs, compared with a model of each action's inputs: exactly the
//! actions without a known result run again. A Garden project with commands, images and a provider, and a Skaffold
//! project with Dockerfiles and custom commands; a stand-in builds the images.
//!
//! `PURLIN_PAIRS` sets the number of pairs for each, `PURLIN_SEED` the seed, `PURLIN` another binary.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, clippy::print_stderr)]

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

/// Builds, tags and records images as lines `NAME ID`; every build gets a new id.
const DOCKER: &str = r#"#!/bin/sh
images=TOP/images
touch $images
find() { grep "^$1 " $images | tail -n 1 | cut -d' ' -f2; }
put() { grep -v "^$1 " $images > $images.new; mv $images.new $images; echo "$1 $2" >> $images; }
case "$*" in
  version*|"buildx version") exit 0 ;;
  "image inspect"*) for word in "$@"; do :; done; id=$(find "$word"); [ -n "$id" ] && echo "sha256:$id" ;;
  tag*) put "$3" "$(find "$2")" ;;
  push*) echo "v1: digest: sha256:d1935 size: 1" ;;
  *) id=$(cat /proc/sys/kernel/random/uuid | tr -d -)
     before=""; name=""
     for word in "$@"; do
       case "$before" in
         --tag) put "$word" "$id"; name="$word" ;;
         --iidfile) echo "sha256:$id" > "$word" ;;
       esac
       before="$word"
     done
     name=${name##*/}; echo "${name%%:*}" >> TOP/ran ;;
esac
"#;

const GARDEN: &str = r#"apiVersion: garden.io/v2
kind: Project
name: shop
environments: [{name: local}, {name: prod}]
providers:
  - {name: exec}
  - {name: kubernetes, context: c, deploymentRegistry: {hostname: REGISTRY, namespace: n}}
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
kind: Build
type: container
name: img
include: [img/**]
spec: {dockerfile: img/Dockerfile, buildArgs: {SHOP: null}}
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
spec: {shell: true, command: ['echo gen >> TOP/ran; cat gen/a TOP/luck > $GARDEN_ACTION_OUTPUTS_PATH/v']}
---
kind: Run
type: exec
name: use
include: []
spec: {shell: true, env: {V: '${actions.run.gen.outputs.v}'}, command: ['echo use >> TOP/ran; echo $V']}
---
kind: Run
type: exec
name: env
include: []
spec: {shell: true, env: {X: "${local.env.SHOP || 'none'}"}, command: ['echo COMMAND >> TOP/ran']}
---
kind: Run
type: exec
name: tool
include: []
spec: {command: [bin/tool.sh]}
---
kind: Run
type: exec
name: path
include: []
spec: {command: [mytool]}
---
kind: Test
type: exec
name: plain
description: DESCRIPTION
include: INCLUDE
spec: {shell: true, command: ['echo plain >> TOP/ran; cat plain/a > report'], artifacts: [{source: report}]}
"#;

const SKAFFOLD: &str = r#"apiVersion: skaffold/v4beta13
kind: Config
build:
  tagPolicy: {sha256: {}}
  local: {push: false}
  artifacts:
    - image: base
      context: base
      docker: {buildArgs: {NOTHING: null}}
    - image: app
      context: app
      requires: [{image: base, alias: BASE}]
      custom: {buildCommand: "../build.sh {{.SHOP}}", dependencies: {paths: ["src*", conf], ignore: ["**/*.md"]}}
    - image: web
      context: web
      docker: {dockerfile: ../Web, buildArgs: {WHAT: "{{.SHOP}}"}, secrets: [{id: s, src: secret}]}
"#;

/// A number for every part of a project that can change.
type State = BTreeMap<&'static str, usize>;

struct Shop {
    top: PathBuf,
    folder: PathBuf,
    state: State,
    random: u64,
}

impl Shop {
    fn new(name: &str, seed: u64) -> Self {
        let top = std::env::temp_dir().join(format!("purlin-pairs-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&top);
        let folder = top.join("shop");
        std::fs::create_dir_all(&folder).unwrap();
        let shop = Shop { top, folder, state: State::new(), random: seed.wrapping_mul(2).wrapping_add(1) };
        shop.program("../t1/docker", DOCKER);
        shop
    }

    /// A random number below `most`.
    fn draw(&mut self, most: usize) -> usize {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.random >> 33).unwrap() % most
    }

    fn get(&self, part: &'static str) -> usize {
        self.state.get(part).copied().unwrap_or_default()
    }

    /// Draws another number for a part.
    fn next(&mut self, part: &'static str, count: usize) -> usize {
        let now = (self.get(part) + 1 + self.draw(count - 1)) % count;
        self.state.insert(part, now);
        now
    }

    fn text(&self, text: &str) -> String {
        text.replace("TOP", &self.top.to_string_lossy())
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.folder.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, self.text(text)).unwrap();
    }

    fn program(&self, name: &str, text: &str) {
        self.write(name, text);
        self.allow(name, 0o755);
    }

    fn allow(&self, name: &str, mode: u32) {
        std::fs::set_permissions(self.folder.join(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Writes new content of the same length; every second time the file keeps its modification time.
    fn content(&mut self, part: &'static str, name: &str) {
        let number = self.next(part, 3);
        let file = self.folder.join(name);
        let times = std::fs::metadata(&file).and_then(|found| found.modified());
        self.write(name, &format!("{name} {number}\n"));
        if let (Ok(times), 0) = (times, self.draw(2)) {
            std::fs::File::options().append(true).open(file).unwrap().set_modified(times).unwrap();
        }
    }

    /// Updates the time of a file or folder without changing it.
    fn touch(&self, name: &str) {
        if let Ok(file) = std::fs::File::open(self.folder.join(name)) {
            let _ = file.set_modified(SystemTime::now() + Duration::from_secs(3_600));
        }
    }

    fn link(&self, name: &str, target: &str) {
        let _ = std::fs::remove_file(self.folder.join(name));
        symlink(target, self.folder.join(name)).unwrap();
    }

    /// Runs a command; returns the actions that ran.
    fn run(&self, args: &[&str]) -> Vec<String> {
        let ran = self.top.join("ran");
        let _ = std::fs::remove_file(&ran);
        let binary = std::env::var("PURLIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_purlin").to_owned());
        let environment = ["local", "prod", "mine.local"][self.get("environment")];
        let path = format!("t{}:/usr/local/bin:/usr/bin:/bin", 1 + self.get("path"));
        let path = path.replacen('t', &format!("{}/t", self.top.display()), 1);
        let shop = format!("v{}", self.get("shop"));
        let mut command = Command::new(binary);
        command.args(args).current_dir(&self.folder).env_clear().env("HOME", self.top.join("home")).env("CI", "1");
        command.env("PATH", path).env("SHOP", shop).env("SHIP", self.get("ship").to_string());
        if args[0] != "skaffold" {
            command.args(["-e", environment]);
        }
        if self.get("clock") > 0 {
            command.env("SOURCE_DATE_EPOCH", (self.get("clock") * 100_000_000).to_string());
        }
        let output = command.output().unwrap();
        let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{args:?}: {told}");
        assert!(!told.contains("not kept"), "{args:?}: {told}");
        std::fs::read_to_string(ran).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// The images of the stand-in, as lines.
    fn images(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.top.join("images")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.top);
    }
}

/// One known result.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
struct Known {
    /// Its effect: files, an image, an output.
    left: String,
}

/// The expected state of all actions.
#[derive(Default)]
struct Model {
    /// Results by action and key.
    known: BTreeMap<(&'static str, String), Known>,
    /// The key of the last result of a Build.
    last: BTreeMap<&'static str, String>,
    /// Results of actions that are on the disk.
    disk: BTreeMap<&'static str, String>,
    /// Number of results so far, for values that differ each time.
    count: usize,
}

impl Model {
    /// Whether an action runs whose result is valid as long as its effect still exists.
    fn runs(&self, name: &'static str, key: &str) -> bool {
        let known = self.known.get(&(name, key.to_owned()));
        known.is_none_or(|known| self.disk.get(name).is_some_and(|now| *now != known.left))
    }

    fn ran(&mut self, name: &'static str, key: &str, left: Option<String>) {
        let known = Known { left: left.clone().unwrap_or_default() };
        self.known.insert((name, key.to_owned()), known);
        self.last.insert(name, key.to_owned());
        if let Some(left) = left {
            self.disk.insert(name, left);
        }
    }
}

/// The keys of a Garden project, and the actions expected to run.
fn garden_expected(shop: &Shop, model: &mut Model, forced: &[&'static str]) -> BTreeSet<&'static str> {
    let part =
        |names: &[&'static str]| names.iter().map(|name| format!("{name}={} ", shop.get(name))).collect::<String>();
    let here = part(&["environment"]);
    let lib = part(&["lib/a", "lib name"]);
    let app = format!("{lib}{}", part(&["app/a", "app mode"]));
    let unit = format!("{app}{here}");
    let gen_ = format!("{}{here}", part(&["gen/a"]));
    let env = format!("{}{here}", part(&["shop", "command"]));
    let tool = format!("{}{here}", part(&["tool"]));
    let path = format!("{}{here}", part(&["path", "mytool"]));
    let behind = if shop.get("plain link") == 0 { part(&["shared/x"]) } else { part(&["shared/y"]) };
    let plain = part(&["plain/a", "plain link", "behind folder", "plain new", "include"]) + &behind + &here;
    let img = part(&["img/a", "img mode", "shop", "registry"]);
    let mut ran = BTreeSet::new();

    let is_last = |model: &Model, name: &'static str, key: &str| model.last.get(name).is_some_and(|last| last == key);
    if !is_last(model, "lib", &lib) || model.disk.get("lib") != Some(&lib) {
        ran.insert("lib");
        model.ran("lib", &lib, Some(lib.clone()));
    }
    if !is_last(model, "app", &app) || model.disk.get("app") != Some(&app) {
        ran.insert("app");
        model.ran("app", &app, Some(app.clone()));
    }
    for (name, key) in [("unit", &unit), ("env", &env), ("tool", &tool), ("path", &path)] {
        if model.runs(name, key) {
            ran.insert(name);
            model.ran(name, key, None);
        }
    }
    if model.runs("gen", &gen_) || forced.contains(&"gen") {
        ran.insert("gen");
        let output = part(&["gen/a", "luck"]);
        model.ran("gen", &gen_, None);
        model.known.insert(("gen", gen_.clone()), Known { left: output });
    }
    if !forced.is_empty() {
        return ran;
    }
    let output = model.known.get(&("gen", gen_.clone())).map(|known| known.left.clone()).unwrap_or_default();
    let use_ = format!("{gen_}{output}");
    if model.runs("use", &use_) {
        ran.insert("use");
        model.ran("use", &use_, None);
    }
    // The report equals its inputs, whichever run has made it.
    let report = part(&["plain/a"]);
    let is_kept = model.known.contains_key(&("plain", plain.clone())) && model.disk.get("plain") == Some(&report);
    if !is_kept {
        ran.insert("plain");
        model.ran("plain", &plain, Some(report));
    }
    if model.runs("img", &img) {
        ran.insert("img");
        model.count += 1;
        let name = part(&["img/a"]);
        let id = format!("{name}{}", model.count);
        model.ran("img", &img, None);
        model.known.insert(("img", img.clone()), Known { left: id.clone() });
        model.disk.insert("img", id.clone());
        model.disk.insert(TAGS[shop.get("img/a")], id);
    } else {
        let now = model.known.get(&("img", img.clone())).map(|known| known.left.clone()).unwrap_or_default();
        model.disk.insert("img", now);
    }
    ran
}

/// Tags of the image, one for each content, which is the part that Garden's version covers.
const TAGS: [&str; 3] = ["tag 0", "tag 1", "tag 2"];

/// Before an image is requested: the image that its name currently refers to.
fn garden_image(shop: &Shop, model: &mut Model) {
    let now = model.disk.get(TAGS[shop.get("img/a")]).cloned().unwrap_or_default();
    model.disk.insert("img", now);
}

fn write_garden(shop: &Shop) {
    let include = ["[plain/**]", "[plain/**, extra/**]", "[plain/**]\nexclude: [plain/b]"][shop.get("include")];
    let command = ["echo env", "echo  env", "true; echo env"][shop.get("command")];
    let text = GARDEN.replace("INCLUDE", include).replace("COMMAND", command.trim_start_matches("echo "));
    let text = text.replace("echo true; echo env", "true; echo env");
    let text = text.replace("DESCRIPTION", &format!("text {}", shop.get("description")));
    shop.write("garden.yml", &text.replace("REGISTRY", ["a.example", "b.example"][shop.get("registry")]));
}

/// One random change; returns its name.
fn change_garden(shop: &mut Shop, model: &mut Model) -> (String, Vec<&'static str>) {
    let files =
        [("lib/a", "lib/a"), ("app/a", "app/a"), ("gen/a", "gen/a"), ("plain/a", "plain/a"), ("img/a", "img/a")];
    let number = shop.draw(32);
    let name = match number {
        0..=4 => {
            let (part, file) = files[number];
            shop.content(part, file);
            part
        }
        5 => {
            let file = ["shared/x", "shared/y"][shop.draw(2)];
            shop.content(file, file);
            file
        }
        6 => {
            let target = ["../shared/x", "../shared/y"][shop.next("plain link", 2)];
            shop.link("plain/l", target);
            "target of a link"
        }
        7 => {
            shop.content("behind folder", "other/f");
            "behind a link to a folder"
        }
        8 => {
            let is_renamed = shop.next("lib name", 2) == 1;
            let (from, to) = if is_renamed { ("lib/b", "lib/c") } else { ("lib/c", "lib/b") };
            std::fs::rename(shop.folder.join(from), shop.folder.join(to)).unwrap();
            "name"
        }
        9 => {
            match shop.next("plain new", 2) {
                1 => shop.write("plain/n", "n"),
                _ => std::fs::remove_file(shop.folder.join("plain/n")).unwrap(),
            }
            "a file more or less"
        }
        10 => {
            let mode = [0o644, 0o755][shop.next("app mode", 2)];
            shop.allow("app/a", mode);
            "program or not"
        }
        11 => {
            let mode = [0o644, 0o755][shop.next("img mode", 2)];
            shop.allow("img/a", mode);
            "program or not, in an image"
        }
        12 => {
            let mode = [0o600, 0o640, 0o644][shop.draw(3)];
            shop.allow("plain/a", mode);
            "permissions that do not count"
        }
        13 => {
            shop.next("shop", 3);
            "variable that is read"
        }
        14 => {
            shop.next("ship", 3);
            "variable that is not read"
        }
        15 => {
            shop.next("clock", 3);
            "clock"
        }
        16 => {
            shop.next("environment", 3);
            "environment"
        }
        17 => {
            let number = shop.next("tool", 3);
            shop.program("bin/tool.sh", &format!("#!/bin/sh\necho tool >> TOP/ran\n# {number}\n"));
            "tool of the project"
        }
        18 => {
            shop.next("path", 2);
            "another tool by PATH"
        }
        19..=22 => {
            let part = ["command", "description", "include", "registry"][number - 19];
            shop.next(part, if number == 22 { 2 } else { 3 });
            write_garden(shop);
            part
        }
        23 => {
            shop.write("README", &format!("{}", shop.random));
            "other file"
        }
        24 => {
            let all = ["lib/a", "app/a", "gen", "img/a", "plain", ".garden/build/app/made", ".garden/build/lib/out"];
            let file = all[shop.draw(all.len())];
            shop.touch(file);
            "time"
        }
        25 => {
            shop.touch(".garden/artifacts/report");
            "time of an artifact"
        }
        26 => {
            shop.write(".garden/build/app/made", "evil");
            model.disk.insert("app", "evil".into());
            "output of a Build"
        }
        27 => {
            std::fs::remove_dir_all(shop.folder.join(".garden/build/lib")).unwrap();
            model.disk.insert("lib", "removed".into());
            "folder of a Build"
        }
        28 => {
            let _ = std::fs::remove_file(shop.folder.join(".garden/artifacts/report"));
            model.disk.insert("plain", "removed".into());
            "artifact removed"
        }
        29 => {
            shop.write(".garden/artifacts/report", "evil");
            model.disk.insert("plain", "evil".into());
            "artifact changed"
        }
        30 => {
            // All names of all images refer to something else, or to nothing.
            let is_removed = shop.draw(2) == 0;
            let other = |line: &String| format!("{} 0ther\n", line.split(' ').next().unwrap());
            let text = if is_removed { String::new() } else { shop.images().iter().map(other).collect() };
            std::fs::write(shop.top.join("images"), text).unwrap();
            TAGS.iter().for_each(|tag| drop(model.disk.insert(tag, "evil".into())));
            "images"
        }
        _ => {
            let number = shop.next("luck", 3);
            std::fs::write(shop.top.join("luck"), format!("luck {number}")).unwrap();
            return ("luck, and a forced run".into(), vec!["gen"]);
        }
    };
    (name.to_owned(), Vec::new())
}

#[test]
fn exactly_the_affected_actions_of_a_garden_project_run() {
    let (pairs, seed) = wanted(30);
    let mut shop = Shop::new("garden", seed);
    for file in ["lib/a", "app/a", "gen/a", "plain/a", "img/a", "shared/x", "shared/y", "other/f"] {
        shop.write(file, &format!("{file} 0\n"));
    }
    for file in ["lib/b", "plain/b", "extra/e", "img/Dockerfile"] {
        shop.write(file, file);
    }
    shop.program("bin/tool.sh", "#!/bin/sh\necho tool >> TOP/ran\n# 0\n");
    for folder in ["../t1", "../t2"] {
        shop.program(&format!("{folder}/docker"), DOCKER);
        shop.program(&format!("{folder}/mytool"), &format!("#!/bin/sh\necho path >> TOP/ran\n# {folder}\n"));
    }
    std::fs::write(shop.top.join("luck"), "luck 0").unwrap();
    shop.link("plain/l", "../shared/x");
    shop.link("plain/d", "../other");
    write_garden(&shop);
    let mut model = Model::default();
    let mut history = vec!["nothing before".to_owned()];
    for _ in 0..=pairs {
        garden_image(&shop, &mut model);
        let expected = garden_expected(&shop, &mut model, &[]);
        let commands: [&[&str]; 3] = [&["build"], &["run", "*"], &["test"]];
        check(&shop, &commands, &expected, &history);
        let (name, forced) = change_garden(&mut shop, &mut model);
        history.push(format!("{name} {:?}", shop.state));
        if !forced.is_empty() {
            let expected = forced.iter().copied().collect();
            garden_forced(&shop, &mut model);
            check(&shop, &[&["run", "gen", "--force"]], &expected, &history);
        }
    }
    eprintln!("{pairs} pairs of a Garden project");
}

/// `gen` was run by force.
fn garden_forced(shop: &Shop, model: &mut Model) {
    let part =
        |names: &[&'static str]| names.iter().map(|name| format!("{name}={} ", shop.get(name))).collect::<String>();
    let key = part(&["gen/a", "environment"]);
    model.known.insert(("gen", key), Known { left: part(&["gen/a", "luck"]) });
}

fn wanted(usual: usize) -> (usize, u64) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    (number("PURLIN_PAIRS").map_or(usual, |pairs| usize::try_from(pairs).unwrap()), number("PURLIN_SEED").unwrap_or(1))
}

fn check(shop: &Shop, commands: &[&[&str]], expected: &BTreeSet<&'static str>, history: &[String]) {
    let ran: Vec<String> = commands.iter().flat_map(|args| shop.run(args)).collect();
    let found: BTreeSet<&str> = ran.iter().map(String::as_str).collect();
    let last: Vec<&String> = history.iter().rev().take(4).collect();
    assert_eq!(found, *expected, "after {} changes, the last first: {last:#?}", history.len());
    assert_eq!(found.len(), ran.len(), "something ran twice: {ran:?}");
}

/// The images built by a Skaffold project. An image that was built before is known by its id, whatever its name refers
/// to.
fn skaffold_expected(shop: &Shop, model: &mut Model) -> BTreeSet<&'static str> {
    let part =
        |names: &[&'static str]| names.iter().map(|name| format!("{name}={} ", shop.get(name))).collect::<String>();
    let base = part(&["base/a", "base mode", "base Dockerfile", "base link"]);
    let app = format!("{base}{}", part(&["app/src/a", "app/conf", "app/srcdir", "shop", "tool", "argument"]));
    let web = part(&["web/a", "Web", "shop", "web ignore", "secret"]);
    let mut ran = BTreeSet::new();
    for (name, key) in [("base", base), ("app", app), ("web", web)] {
        if model.known.insert((name, key), Known::default()).is_none() {
            ran.insert(name);
        }
    }
    ran
}

fn change_skaffold(shop: &mut Shop, model: &mut Model) -> String {
    let files = ["base/a", "base/Dockerfile", "app/src/a", "app/conf", "app/srcdir/deep/x", "web/a", "Web", "secret"];
    let parts: [&'static str; 8] =
        ["base/a", "base Dockerfile", "app/src/a", "app/conf", "app/srcdir", "web/a", "Web", "secret"];
    let number = shop.draw(20);
    let name = match number {
        0..=7 => {
            shop.content(parts[number], files[number]);
            parts[number]
        }
        8 => {
            let mode = [0o644, 0o755][shop.next("base mode", 2)];
            shop.allow("base/a", mode);
            "program or not"
        }
        9 => {
            let target = ["sub", "sub2"][shop.next("base link", 2)];
            shop.link("base/l", target);
            "target of a link to a folder"
        }
        10 => {
            shop.next("shop", 3);
            "variable that is read"
        }
        11 => {
            shop.next("ship", 3);
            "variable that is not read"
        }
        12 => {
            let number = shop.next("tool", 3);
            write_builder(shop, number);
            "tool"
        }
        13 => {
            let text = ["notes\n", "notes\nother\n"][shop.next("web ignore", 2)];
            shop.write("web/.dockerignore", text);
            "ignore file"
        }
        14 => {
            shop.write("web/notes", &format!("{}", shop.random));
            shop.write("app/src/a.md", &format!("{}", shop.random));
            shop.write("app/elsewhere", &format!("{}", shop.random));
            "ignored files"
        }
        15 => {
            for file in ["base/a", "app/conf", "web/a", "Web"] {
                shop.touch(file);
            }
            "times"
        }
        16 => {
            shop.next("clock", 3);
            "clock"
        }
        17 => {
            let word = ["", " x", " y"][shop.next("argument", 3)];
            shop.write(
                "skaffold.yaml",
                &SKAFFOLD.replace("build.sh {{.SHOP}}", &format!("build.sh {{{{.SHOP}}}}{word}")),
            );
            "command"
        }
        18 => {
            std::fs::write(shop.top.join("images"), "").unwrap();
            model.known.clear();
            "images removed"
        }
        _ => {
            // Names without an id refer to something else; built images still exist by id.
            let is_named = |line: &String| line.contains(":latest ") || !line.contains(':');
            let other = |line: String| match is_named(&line) {
                true => format!("{} 0ther\n", line.split(' ').next().unwrap()),
                false => line + "\n",
            };
            let text: String = shop.images().into_iter().map(other).collect();
            std::fs::write(shop.top.join("images"), text).unwrap();
            "images under other names"
        }
    };
    name.to_owned()
}

fn write_builder(shop: &Shop, number: usize) {
    shop.program("build.sh", &format!("#!/bin/sh\nexec docker build --tag $IMAGE $BUILD_CONTEXT # {number}\n"));
}

#[test]
fn exactly_the_affected_artifacts_of_a_skaffold_project_are_built() {
    let (pairs, seed) = wanted(30);
    let mut shop = Shop::new("skaffold", seed);
    for file in ["base/a", "base/Dockerfile", "app/src/a", "app/conf", "app/srcdir/deep/x", "web/a", "Web", "secret"] {
        shop.write(file, &format!("{file} 0\n"));
    }
    for file in ["base/sub/f", "base/sub2/f"] {
        shop.write(file, "same");
    }
    shop.write("web/.dockerignore", "notes\n");
    shop.link("base/l", "sub");
    shop.write("skaffold.yaml", SKAFFOLD);
    write_builder(&shop, 0);
    let mut model = Model::default();
    let mut history = vec!["nothing before".to_owned()];
    for _ in 0..=pairs {
        let expected = skaffold_expected(&shop, &mut model);
        check(&shop, &[&["skaffold", "build"]], &expected, &history);
        let name = change_skaffold(&mut shop, &mut model);
        history.push(format!("{name} {:?}", shop.state));
    }
    eprintln!("{pairs} pairs of a Skaffold project");
}
