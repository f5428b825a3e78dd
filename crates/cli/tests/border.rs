//! The border between the project and the rest of the disk, while links are swapped concurrently.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use purlin_cli::disk::{DiskSettings, DiskWorld, Permissions};
use purlin_value::World;
use purlin_value::world::Moment;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often each path is used while links change.
const RUNS: usize = 10_000;

/// A project in a folder, and files next to it that must not be touched; removed at the end.
struct Ground(PathBuf);

impl Ground {
    fn new(name: &str) -> Self {
        let base = std::env::temp_dir().join(format!("purlin-border-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&base);
        // A repository of its own: parent folders do not count.
        for folder in ["project/folder", "project/.git", "outside"] {
            std::fs::create_dir_all(base.join(folder)).unwrap();
        }
        std::fs::write(base.join("project/folder/a.yaml"), "inside").unwrap();
        std::fs::write(base.join("project/plain.yaml"), "inside").unwrap();
        std::fs::write(base.join("outside/a.yaml"), "outside").unwrap();
        Ground(base.canonicalize().unwrap())
    }

    fn project(&self) -> PathBuf {
        self.0.join("project")
    }

    fn world(&self, write: bool) -> DiskWorld {
        DiskWorld::new(DiskSettings {
            root: self.project(),
            cwd: self.project(),
            env: std::collections::BTreeMap::new(),
            project_env: std::collections::BTreeMap::new(),
            permissions: Permissions { write, ..Permissions::default() },
            now: Moment(0),
            seed: purlin_cli::seed::SeedSource::default(),
            max_file: 1_000,
        })
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Makes `name` lead to each target in turn, by renaming a fresh link over it, until told to stop.
fn swap(name: PathBuf, targets: Vec<PathBuf>, stop: Arc<AtomicBool>) -> std::thread::JoinHandle<()> {
    let next = name.with_extension("next");
    symlink(targets.first().unwrap(), &name).unwrap();
    std::thread::spawn(move || {
        for target in targets.iter().cycle() {
            let _ = std::fs::remove_file(&next);
            symlink(target, &next).unwrap();
            std::fs::rename(&next, &name).unwrap();
            if stop.load(Ordering::Relaxed) {
                return;
            }
        }
    })
}

/// Runs `act` while a link of the project alternates between a folder inside, one outside, and nothing.
fn while_links_change(ground: &Ground, act: impl FnOnce(&Path)) {
    let project = ground.project();
    let (file, folder) = (project.join("file.yaml"), project.join("way"));
    let stop = Arc::new(AtomicBool::new(false));
    let outside = ground.0.join("outside");
    let files = vec![project.join("plain.yaml"), outside.join("a.yaml"), "plain.yaml".into(), "/etc/passwd".into()];
    let folders = vec![project.join("folder"), outside.clone(), "folder".into(), "../outside".into(), "gone".into()];
    let threads = [swap(file, files, stop.clone()), swap(folder, folders, stop.clone())];
    act(&project);
    stop.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn nothing_outside_is_read_while_links_change() {
    let ground = Ground::new("read");
    while_links_change(&ground, |_| {
        let world = ground.world(false);
        let mut seen = 0;
        for _ in 0..RUNS {
            for path in ["file.yaml", "way/a.yaml"] {
                if let Ok(bytes) = world.read(path) {
                    assert_eq!(&*bytes, b"inside", "{path}");
                    seen += 1;
                }
            }
            if let Ok(entries) = world.list("way") {
                assert_eq!(entries.len(), 1);
            }
            // The file inside is one byte shorter than the one outside.
            if let Ok(stat) = world.stat("way/a.yaml") {
                assert_eq!(stat.size, 6);
            }
        }
        assert!(seen > 0, "the links never led inside");
    });
}

#[test]
fn nothing_outside_is_written_while_links_change() {
    let ground = Ground::new("write");
    while_links_change(&ground, |_| {
        let world = ground.world(true);
        // Every write waits for the disk, so there are fewer of them; a busy machine may need more rounds to hit the
        // link.
        let mut written = 0;
        for round in 0..RUNS * 10 {
            if round >= RUNS / 10 && written > 0 {
                break;
            }
            written += usize::from(world.write("way/new/b.yaml", b"new").is_ok());
        }
        assert!(written > 0, "the links never led inside");
    });
    let outside: Vec<_> = std::fs::read_dir(ground.0.join("outside")).unwrap().flatten().collect();
    assert_eq!(outside.len(), 1, "{outside:?}");
    assert_eq!(std::fs::read_to_string(ground.0.join("outside/a.yaml")).unwrap(), "outside");
}

/// A project of every dialect that reads through links, and the commands that read or write it.
const RACED: &[(&str, &str, &[&[&str]])] = &[
    ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n", &[&["check", "."], &["render", "."], &["fmt", "."]]),
    (
        "garden.yml",
        "apiVersion: garden.io/v2\nkind: Project\nname: p\nenvironments: [{name: dev}]\nvarfile: way/a.yaml\n---\n\
         kind: Run\ntype: exec\nname: a\ninclude: [way/**, file.yaml]\nspec: {command: [\"${jsonEncode(var)}\"]}\n",
        &[&["check", "."], &["resolve", "."], &["why", "run.a", "spec"], &["graph", "."]],
    ),
    (
        "skaffold.yaml",
        "apiVersion: skaffold/v4beta13\nkind: Config\nrequires: [{path: way/a.yaml}, {path: file.yaml}]\n\
         manifests: {rawYaml: [way/*.yaml, file.yaml]}\n",
        &[&["resolve", "."], &["render", "."], &["skaffold", "render"]],
    ),
    (
        "service.yaml",
        "tosca_definitions_version: tosca_2_0\nimports: [way/a.yaml, file.yaml]\nservice_template: {node_templates: {}}\n",
        &[&["check", "."], &["resolve", "."], &["csar", "create", "out.csar", "."]],
    ),
];

/// Whole commands, too: detecting, listing, reading and rewriting always stay inside. `PURLIN_RACES=10000` sets the
/// number of runs; `PURLIN=FILE` uses another binary.
#[test]
fn commands_stay_inside_while_links_change() {
    let count = std::env::var("PURLIN_RACES").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let binary = std::env::var("PURLIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_purlin").to_owned());
    let (mut runs, mut answers) = (0, 0);
    for (name, text, commands) in RACED {
        let ground = Ground::new(&format!("commands-{}", name.replace('.', "-")));
        let outside = "canary: outside-canary\nkind: ConfigMap\n";
        std::fs::write(ground.0.join("outside/a.yaml"), outside).unwrap();
        for (inner, inside) in [("folder/a.yaml", "within: 1\n"), ("plain.yaml", "within: 1\n"), (name, text)] {
            std::fs::write(ground.project().join(inner), inside).unwrap();
        }
        // Charts read values, templates and files through links, too.
        std::fs::create_dir(ground.project().join("templates")).unwrap();
        let template = "a: {{ .Files.Get \"way/a.yaml\" }}{{ .Files.Get \"file.yaml\" }}{{ toJson .Values }}\n";
        std::fs::write(ground.project().join("templates/t.yaml"), template).unwrap();
        symlink("../way", ground.project().join("templates/more")).unwrap();
        symlink("file.yaml", ground.project().join("values.yaml")).unwrap();
        while_links_change(&ground, |project| {
            for at in 0..count / RACED.len() {
                let command = commands.get(at % commands.len()).unwrap();
                let output = Command::new(&binary).args(*command).current_dir(project).output().unwrap();
                let said = [output.stdout, output.stderr].concat();
                let said = String::from_utf8_lossy(&said);
                assert!(!said.contains("outside-canary") && !said.contains("root:x:"), "{command:?}:\n{said}");
                assert!(output.status.code().is_some_and(|code| code != 101), "{command:?}: {:?}", output.status);
                (runs, answers) = (runs + 1, answers + usize::from(said.contains("within")));
            }
        });
        let left: Vec<_> = std::fs::read_dir(ground.0.join("outside")).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!(std::fs::read_to_string(ground.0.join("outside/a.yaml")).unwrap(), outside);
    }
    eprintln!("{runs} commands, {answers} of them showed what is inside");
    assert!(answers > 0, "the links never led inside");
}

/// Predictable names of temporary files were once followed to the targets of planted links.
#[test]
fn links_under_the_final_name_and_beside_it_are_not_followed() {
    let ground = Ground::new("planted");
    let (project, victim) = (ground.project(), ground.0.join("outside/a.yaml"));
    symlink(&victim, project.join("out.json")).unwrap();
    std::fs::write(project.join("a.yaml"), "a: 1\n").unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_purlin"))
        .args(["limits", "-h"])
        .current_dir(&project)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    symlink(&victim, project.join(format!(".out.json.{}.tmp", child.id() + 1))).unwrap();
    let _ = child.wait_with_output();
    let world = ground.world(true);
    world.write("out.json", b"new").unwrap();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "outside");
    assert_eq!(std::fs::read_to_string(project.join("out.json")).unwrap(), "new");
}

/// A full disk is exit 5 for every command that prints, and the previous file stays complete.
#[test]
fn an_output_that_cannot_be_written_is_told() {
    if !Path::new("/dev/full").exists() {
        purlin_skipped::skipped("full device");
        return;
    }
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/shop");
    for args in [
        vec!["--version"],
        vec!["--help"],
        vec!["limits"],
        vec!["explain", "duplicate-key"],
        vec!["completions", "bash"],
        vec!["man"],
        vec!["check", example, "-o", "json"],
        vec!["resolve", example],
        vec!["graph", example],
        vec!["why", "deploy.api", "spec.replicas", "--path", example],
        vec!["diff", example, "-e", "local", "--to-env", "production"],
        vec!["eval", "${project.name}", example],
        vec!["garden", "get", "actions", "--root", example],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let run = Command::new(env!("CARGO_BIN_EXE_purlin")).args(&args).stdout(full).output().unwrap();
        let told = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(5), "{args:?}: {told}");
        assert_eq!(told.matches("error: ").count(), 1, "{args:?}: {told}");
    }
}

/// Devices are written to, not replaced by a file.
#[test]
fn a_device_can_be_named_as_output() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/shop");
    let run = Command::new(env!("CARGO_BIN_EXE_purlin"))
        .args(["graph", example, "-o", "json", "--out", "/dev/stdout"])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&run.stdout).starts_with('{'), "{run:?}");
    assert!(!Path::new("/dev/stdout").symlink_metadata().unwrap().is_file());
}
