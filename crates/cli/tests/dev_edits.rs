//! `purlin dev` under random edits: each round runs exactly what a fresh build of the changed project would run, nothing
//! is lost and nothing superfluous, whatever the dialect.
//!
//! `PURLIN_EDITS=1000` makes that many edits in each project instead of a few.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Number of actions in a project.
const ACTIONS: usize = 9;

/// Random numbers without a library: the low bits of this generator are poor, so the high ones are used.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % most.max(1)
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// How a dialect writes a project.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Garden,
    Skaffold,
}

/// A project as the test knows it.
struct Model {
    dialect: Dialect,
    /// For each action those that it is made of, all before it.
    needs: Vec<Vec<usize>>,
    /// A number in the configuration of each action.
    settings: Vec<usize>,
    files: BTreeMap<String, String>,
}

impl Model {
    fn new(dialect: Dialect, random: &mut Random) -> Self {
        let needs = (0..ACTIONS).map(|own| (0..own).filter(|_| random.chance(30)).collect()).collect();
        let files = (0..ACTIONS).map(|own| (format!("a{own}/main"), "0".to_owned())).collect();
        Model { dialect, needs, settings: vec![0; ACTIONS], files }
    }

    fn configuration(&self, ran: &str) -> (&'static str, String) {
        match self.dialect {
            Dialect::Garden => ("garden.yml", self.garden(ran)),
            Dialect::Skaffold => ("skaffold.yaml", self.skaffold(ran)),
        }
    }

    fn garden(&self, ran: &str) -> String {
        let mut text =
            "apiVersion: garden.io/v2\nkind: Project\nname: p\nenvironments: [{name: l}]\nproviders: [{name: exec}]\n"
                .to_owned();
        for (own, needs) in self.needs.iter().enumerate() {
            let needs: Vec<String> = needs.iter().map(|need| format!("build.a{need}")).collect();
            text.push_str(&format!(
                "---\nkind: Build\ntype: exec\nname: a{own}\ninclude: ['a{own}/**']\ndependencies: [{}]\n\
                 spec: {{shell: true, command: ['sleep 0.0{}; echo a{own} >> {ran}; : {}']}}\n",
                needs.join(", "),
                own % 3,
                self.settings[own],
            ));
        }
        text
    }

    fn skaffold(&self, ran: &str) -> String {
        let mut text = "apiVersion: skaffold/v4beta11\nkind: Config\nbuild:\n  artifacts:\n".to_owned();
        for (own, needs) in self.needs.iter().enumerate() {
            text.push_str(&format!(
                "    - image: a{own}\n      context: a{own}\n      custom: {{buildCommand: 'echo a{own} >> {ran}; : {}', \
                 dependencies: {{paths: ['.']}}}}\n",
                self.settings[own],
            ));
            if !needs.is_empty() {
                let needs: Vec<String> = needs.iter().map(|need| format!("{{image: a{need}}}")).collect();
                text.push_str(&format!("      requires: [{}]\n", needs.join(", ")));
            }
        }
        text
    }

    /// What decides the result of each action: its setting, its files, and what it is made of.
    fn states(&self) -> Vec<String> {
        let mut states: Vec<String> = Vec::new();
        for (own, needs) in self.needs.iter().enumerate() {
            let prefix = format!("a{own}/");
            let files: Vec<_> = self.files.iter().filter(|(file, _)| file.starts_with(&prefix)).collect();
            let made_of: Vec<&String> = needs.iter().map(|need| &states[*need]).collect();
            let state = format!("{own} {} {files:?} {made_of:?}", self.settings[own]);
            // Short, since states hold those of what they are made of.
            let mut hash = std::collections::hash_map::DefaultHasher::new();
            std::hash::Hash::hash(&state, &mut hash);
            states.push(format!("{own}:{:x}", std::hash::Hasher::finish(&hash)));
        }
        states
    }

    /// The actions that a fresh build runs: those whose state has no result yet.
    fn due(&self, known: &mut BTreeSet<String>) -> Vec<String> {
        let new = self.states().into_iter().enumerate().filter(|(_, state)| known.insert(state.clone()));
        new.map(|(own, _)| format!("a{own}")).collect()
    }

    /// Some actions, and all that are made of them.
    fn affected(&self, changed: &BTreeSet<usize>) -> Vec<String> {
        let mut reached = changed.clone();
        for (own, needs) in self.needs.iter().enumerate() {
            if needs.iter().any(|need| reached.contains(need)) {
                reached.insert(own);
            }
        }
        reached.iter().map(|own| format!("a{own}")).collect()
    }

    /// One edit: the actions that it concerns. Content never repeats, so that no earlier result fits again.
    fn edit(&mut self, number: usize, random: &mut Random) -> BTreeSet<usize> {
        let own = random.below(ACTIONS);
        match random.below(10) {
            0..=4 => {
                self.files.insert(format!("a{own}/main"), number.to_string());
            }
            5 | 6 => {
                self.files.insert(format!("a{own}/more{}", random.below(3)), number.to_string());
            }
            7 => {
                let name = format!("a{own}/more{}", random.below(3));
                if self.files.remove(&name).is_none() {
                    self.files.insert(format!("a{own}/main"), number.to_string());
                }
            }
            8 => self.settings[own] = number,
            _ => {
                self.files.insert(format!("a{own}/deep{}/x", random.below(2)), number.to_string());
            }
        }
        BTreeSet::from([own])
    }
}

/// A running `purlin dev` on the project of a model.
struct Dev {
    top: PathBuf,
    child: Child,
    /// The project as it is on disk.
    written: BTreeMap<String, String>,
}

impl Dev {
    fn start(name: &str, model: &Model) -> Self {
        let top = std::env::temp_dir().join(format!("purlin-dev-edits-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&top);
        std::fs::create_dir_all(top.join("project")).unwrap();
        let log = std::fs::File::create(top.join("log")).unwrap();
        let mut dev = Dev { child: Command::new("true").spawn().unwrap(), top, written: BTreeMap::new() };
        dev.write(model);
        let _ = dev.child.wait();
        dev.child = Command::new(env!("CARGO_BIN_EXE_purlin"))
            .args(["dev", "-j", "2", "build.*"])
            .current_dir(dev.top.join("project"))
            .env("CI", "1")
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        dev
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.top.join("log")).unwrap_or_default()
    }

    fn ran_file(&self) -> PathBuf {
        self.top.join("ran")
    }

    /// Writes what differs, the way editors do: beside the file, and then in its place.
    fn write(&mut self, model: &Model) {
        let (name, text) = model.configuration(&self.ran_file().to_string_lossy());
        let mut files = model.files.clone();
        files.insert(name.to_owned(), text);
        let root = self.top.join("project");
        for gone in self.written.keys().filter(|file| !files.contains_key(*file)) {
            std::fs::remove_file(root.join(gone)).unwrap();
        }
        for (file, text) in files.iter().filter(|(file, text)| self.written.get(*file) != Some(text)) {
            let full = root.join(file);
            std::fs::create_dir_all(full.parent().unwrap()).unwrap();
            let beside = self.top.join("new");
            std::fs::write(&beside, text).unwrap();
            std::fs::rename(&beside, &full).unwrap();
        }
        self.written = files;
    }

    /// What ran since the last call, once all of it has run and nothing follows any more.
    fn ran(&self, expected: &[String]) -> Vec<String> {
        let deadline = Instant::now() + Duration::from_secs(60);
        let lines = || -> Vec<String> {
            let text = std::fs::read_to_string(self.ran_file()).unwrap_or_default();
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        let is_at_rest = || self.log().trim_end().lines().last().is_some_and(|line| line.starts_with("watching"));
        while Instant::now() < deadline && !(lines().len() >= expected.len() && is_at_rest()) {
            std::thread::sleep(Duration::from_millis(10));
        }
        lines()
    }

    fn forget(&self) {
        let _ = std::fs::remove_file(self.ran_file());
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.top);
    }
}

fn count() -> usize {
    std::env::var("PURLIN_EDITS").ok().and_then(|text| text.parse().ok()).unwrap_or(12)
}

fn rounds_run_what_a_fresh_build_would(name: &str, dialect: Dialect) {
    let mut random = Random(dialect as u64 + 7);
    let mut model = Model::new(dialect, &mut random);
    let mut known = BTreeSet::new();
    let all = model.due(&mut known);
    let mut dev = Dev::start(name, &model);
    assert_eq!(dev.ran(&all), all, "{}", dev.log());
    for number in 1..=count() {
        dev.forget();
        let changed = model.edit(number, &mut random);
        dev.write(&model);
        let expected = model.due(&mut known);
        assert_eq!(dev.ran(&expected), expected, "edit {number} of {changed:?}\n{}", dev.log());
    }
}

/// An edit during a run is not lost: the last state of every file is built in the end.
fn an_edit_during_a_run_is_not_lost(name: &str, dialect: Dialect) {
    let mut random = Random(dialect as u64 + 99);
    let mut model = Model::new(dialect, &mut random);
    let mut dev = Dev::start(name, &model);
    let all = model.affected(&(0..ACTIONS).collect());
    dev.ran(&all);
    for number in 1..=count() {
        dev.forget();
        let mut changed = BTreeSet::new();
        for part in 0..3 {
            changed.extend(model.edit(number * 10 + part, &mut random));
            dev.write(&model);
            std::thread::sleep(Duration::from_millis(random.below(60) as u64));
        }
        let expected = model.affected(&changed);
        let deadline = Instant::now() + Duration::from_secs(60);
        let missing = |ran: Vec<String>| expected.iter().any(|own| !ran.contains(own));
        while missing(dev.ran(&expected)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(!missing(dev.ran(&expected)), "edit {number} of {changed:?}\n{}", dev.log());
    }
    // What was built last is what a build from here on finds: nothing is left to do.
    std::thread::sleep(Duration::from_millis(300));
    dev.ran(&[]);
    dev.forget();
    let done = Command::new(env!("CARGO_BIN_EXE_purlin"))
        .args(["build"])
        .current_dir(dev.top.join("project"))
        .env("CI", "1")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(dev.ran(&[]), Vec::<String>::new(), "{}", dev.log());
}

#[test]
fn garden_projects_run_what_an_edit_affects() {
    rounds_run_what_a_fresh_build_would("garden", Dialect::Garden);
}

#[test]
fn skaffold_projects_run_what_an_edit_affects() {
    rounds_run_what_a_fresh_build_would("skaffold", Dialect::Skaffold);
}

#[test]
fn garden_projects_lose_no_edit() {
    an_edit_during_a_run_is_not_lost("garden-during", Dialect::Garden);
}
