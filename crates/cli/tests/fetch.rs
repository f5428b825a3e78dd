//! Fetching through the disk world: real repositories made on the spot, and a `git` that only records its arguments.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod git;

use git::{git, has_git};
use purlin_cli::disk::{DiskSettings, DiskWorld, Permissions};
use purlin_value::lock::{Lock, Locked};
use purlin_value::world::{Fetched, Moment, Remote, World, WorldError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder with a project, a folder for repositories next to it, and a cache; removed at the end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("purlin-fetch-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        for part in ["project", "repositories", "cache"] {
            std::fs::create_dir_all(folder.join(part)).unwrap();
        }
        Place(folder.canonicalize().unwrap())
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.join(below)
    }

    fn text(&self, below: &str) -> String {
        self.path(below).to_string_lossy().into_owned()
    }

    fn world_with(&self, path: Option<&str>, change: impl FnOnce(&mut Permissions)) -> DiskWorld {
        let paths = vec![self.path("repositories")];
        let mut permissions = Permissions { paths, exec: true, ..Permissions::default() };
        change(&mut permissions);
        let path = path.map_or_else(|| std::env::var("PATH").unwrap_or_default(), str::to_owned);
        let env = [("PATH", path), ("XDG_CACHE_HOME", self.text("cache")), ("HOME", self.text("cache"))];
        DiskWorld::new(DiskSettings {
            root: self.path("project"),
            cwd: self.path("project"),
            env: env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<BTreeMap<_, _>>(),
            project_env: BTreeMap::default(),
            permissions,
            now: Moment(0),
            seed: purlin_cli::seed::SeedSource::default(),
            max_file: 1_000,
        })
    }

    fn world(&self) -> DiskWorld {
        self.world_with(None, |_| {})
    }

    fn lock(&self) -> Lock {
        Lock::read(&std::fs::read_to_string(self.path("project/purlin.lock")).unwrap()).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A repository with one commit; returns its folder.
fn repository(place: &Place, below: &str) -> PathBuf {
    let folder = place.path(below);
    write(&folder.join("config.yaml"), "a: 1\n");
    write(&folder.join("sub/deep.yaml"), "b: 2\n");
    git(&folder, &["init", "--quiet"]);
    commit(&folder, "first");
    folder
}

fn commit(folder: &Path, message: &str) -> String {
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--message", message]);
    git(folder, &["rev-parse", "HEAD"])
}

fn fetch(world: &DiskWorld, address: &str, revision: &str, refresh: bool) -> Result<Fetched, WorldError> {
    world.fetch(&Remote::Git { address: address.to_owned(), revision: revision.to_owned(), refresh })
}

#[test]
fn a_branch_stays_where_the_lock_has_it() {
    if !has_git() {
        return;
    }
    let place = Place::new("branch");
    let folder = repository(&place, "repositories/a");
    let address = folder.to_string_lossy().into_owned();
    let first = git(&folder, &["rev-parse", "HEAD"]);

    let world = place.world();
    let fetched = fetch(&world, &address, "main", false).unwrap();
    assert_eq!(fetched.revision, first);
    assert_eq!(&*world.read(&format!("{}/config.yaml", fetched.path)).unwrap(), b"a: 1\n");
    assert_eq!(&*world.read(&format!("{}/sub/deep.yaml", fetched.path)).unwrap(), b"b: 2\n");
    let locked = Locked { commit: Some(first.clone()), hash: fetched.hash.clone() };
    assert_eq!(place.lock().get(&address, "main"), Some(&locked));

    write(&folder.join("config.yaml"), "a: 2\n");
    let second = commit(&folder, "second");
    assert_eq!(fetch(&place.world(), &address, "main", false).unwrap(), fetched, "the lock decides");
    std::fs::remove_dir_all(place.path("cache")).unwrap();
    assert_eq!(fetch(&place.world(), &address, "main", false).unwrap(), fetched, "also without a copy");

    let newer = fetch(&place.world(), &address, "main", true).unwrap();
    assert_eq!(newer.revision, second);
    assert_eq!(place.lock().get(&address, "main").unwrap().commit, Some(second));
    assert_eq!(place.lock().len(), 1);
    assert!(!place.path("cache/purlin/tmp").read_dir().unwrap().any(|_| true), "nothing is left over");
}

#[test]
fn revisions_of_every_kind_are_found() {
    if !has_git() {
        return;
    }
    let place = Place::new("kinds");
    let folder = repository(&place, "repositories/a");
    let first = git(&folder, &["rev-parse", "HEAD"]);
    git(&folder, &["tag", "--annotate", "--message", "x", "v1.0"]);
    write(&folder.join("config.yaml"), "a: 2\n");
    let second = commit(&folder, "second");
    let address = folder.to_string_lossy().into_owned();
    let short: String = first.chars().take(10).collect();
    for (revision, expected) in [
        ("", &second),
        ("HEAD", &second),
        ("main", &second),
        ("refs/heads/main", &second),
        ("v1.0", &first),
        (first.as_str(), &first),
        (short.as_str(), &first),
        ("main~1", &first),
        ("HEAD^", &first),
    ] {
        let found = fetch(&place.world(), &address, revision, false);
        assert_eq!(found.as_ref().map(|found| &found.revision), Ok(expected), "{revision}");
    }
    let missing = fetch(&place.world(), &address, "no-such-branch", false);
    assert!(matches!(missing, Err(WorldError::FetchFailed(_))), "{missing:?}");
    let missing = fetch(&place.world(), &address, &"0".repeat(40), false);
    assert!(matches!(missing, Err(WorldError::FetchFailed(_))), "{missing:?}");
}

#[test]
fn what_does_not_agree_with_the_lock_is_refused() {
    if !has_git() {
        return;
    }
    let place = Place::new("mismatch");
    let address = repository(&place, "repositories/a").to_string_lossy().into_owned();
    let fetched = fetch(&place.world(), &address, "main", false).unwrap();
    let lock = place.path("project/purlin.lock");
    let good = std::fs::read_to_string(&lock).unwrap();

    let other = format!("sha256:{}", "0".repeat(64));
    write(&lock, &good.replace(&fetched.hash, &other));
    for refresh in [false, true] {
        let refused = fetch(&place.world(), &address, "main", refresh);
        assert!(matches!(refused, Err(WorldError::LockMismatch(_))), "{refused:?}");
    }
    assert_eq!(refused_rule(&fetch(&place.world(), &address, "main", false)), "lock-mismatch");

    // A lock file that cannot be parsed protects nothing, so it stops everything.
    for broken in ["version: 1\nentries: [", "version: 9\n", "", "version: 1\nentries:\n  - {address: x}\n"] {
        write(&lock, broken);
        let refused = fetch(&place.world(), &address, "main", false);
        assert!(matches!(refused, Err(WorldError::LockMismatch(_))), "{broken:?}: {refused:?}");
        assert_eq!(std::fs::read_to_string(&lock).unwrap(), broken, "nor is it written over");
    }

    // A modified copy is detected.
    write(&lock, &good);
    write(&PathBuf::from(&fetched.path).join("config.yaml"), "a: evil\n");
    let refused = fetch(&place.world(), &address, "main", false);
    assert!(matches!(refused, Err(WorldError::LockMismatch(_))), "{refused:?}");
}

fn refused_rule(result: &Result<Fetched, WorldError>) -> &'static str {
    result.as_ref().err().map_or("", |error| error.diagnostic("x").rule.name)
}

#[test]
fn repositories_inside_the_project_leave_no_trace_in_the_lock() {
    if !has_git() {
        return;
    }
    let place = Place::new("inside");
    let folder = repository(&place, "project/modules");
    assert!(fetch(&place.world(), "modules", "", false).is_ok());
    write(&folder.join("config.yaml"), "a: 2\n");
    let second = commit(&folder, "second");
    assert_eq!(fetch(&place.world(), "./modules", "", false).unwrap().revision, second, "the newest is used");
    assert!(!place.path("project/purlin.lock").exists());
}

#[test]
fn what_is_not_allowed_is_not_fetched() {
    let place = Place::new("denied");
    std::fs::create_dir_all(place.path("elsewhere/.git")).unwrap();
    let full = place.text("elsewhere");
    let with_scheme = format!("file://{full}");
    // Refusing needs no git, so none is installed.
    let world = place.world_with(Some("/nonexistent"), |permissions| permissions.hosts = vec!["a.example".to_owned()]);
    for address in [full.as_str(), with_scheme.as_str(), "../elsewhere", "https://b.example/x.git", "git@b.example:x"] {
        let refused = fetch(&world, address, "", false);
        assert!(matches!(refused, Err(WorldError::Denied(_))), "{address}: {refused:?}");
        assert_eq!(refused_rule(&refused), "not-allowed");
        let refused = world.fetch(&Remote::File { address: address.to_owned() });
        assert!(matches!(refused, Err(WorldError::Denied(_))), "{address}: {refused:?}");
    }
    let offline = place.world_with(Some("/nonexistent"), |permissions| {
        permissions.hosts = vec!["a.example".to_owned()];
        permissions.offline = true;
    });
    for remote in [
        Remote::Git { address: "https://a.example/x.git".to_owned(), revision: String::new(), refresh: true },
        Remote::File { address: "https://a.example/x".to_owned() },
    ] {
        let refused = offline.fetch(&remote);
        assert!(matches!(&refused, Err(WorldError::Denied(why)) if why.contains("--offline")), "{refused:?}");
    }
    let missing = fetch(&world, "no-such-folder", "", false);
    assert_eq!(refused_rule(&missing), "fetch-failed");
    assert!(!place.path("project/purlin.lock").exists());
}

#[test]
fn files_of_allowed_folders_are_recorded() {
    let place = Place::new("file");
    write(&place.path("repositories/x.yaml"), "a: 1\n");
    write(&place.path("project/own.yaml"), "a: 1\n");
    let address = place.text("repositories/x.yaml");
    let remote = Remote::File { address: address.clone() };
    let fetched = place.world().fetch(&remote).unwrap();
    assert_eq!(place.lock().get(&address, ""), Some(&Locked { commit: None, hash: fetched.hash }));
    let own = place.world().fetch(&Remote::File { address: "own.yaml".to_owned() });
    assert!(own.is_ok());
    assert_eq!(place.lock().len(), 1);
    write(&place.path("repositories/x.yaml"), "a: 2\n");
    let refused = place.world().fetch(&remote);
    assert!(matches!(refused, Err(WorldError::LockMismatch(_))), "{refused:?}");
    write(&place.path("repositories/x.yaml"), &"x".repeat(1_001));
    let refused = place.world().fetch(&remote);
    assert!(matches!(refused, Err(WorldError::TooLarge(_))), "{refused:?}");
}

#[cfg(unix)]
#[test]
fn links_in_a_repository_do_not_lead_out_of_it() {
    if !has_git() {
        return;
    }
    let place = Place::new("links");
    write(&place.path("project/secret.yaml"), "secret: 1\n");
    let folder = repository(&place, "repositories/a");
    let link = |target: &str, name: &str| std::os::unix::fs::symlink(target, folder.join(name)).unwrap();
    link("config.yaml", "good");
    link(&place.text("project/secret.yaml"), "absolute");
    link("../../../../../../../../../etc/passwd", "upwards");
    std::fs::create_dir_all(folder.join("a/b/c")).unwrap();
    link("../../..", "a/b/c/top");
    // Its text stays inside; followed step by step it does not.
    link("a/b/c/top/../../x", "round");
    commit(&folder, "links");
    let world = place.world();
    let fetched = fetch(&world, &folder.to_string_lossy(), "", false).unwrap();
    let read = |name: &str| world.read(&format!("{}/{name}", fetched.path));
    assert_eq!(&*read("good").unwrap(), b"a: 1\n");
    assert_eq!(String::from_utf8_lossy(&read("absolute").unwrap()), place.text("project/secret.yaml"));
    assert!(read("upwards").unwrap().starts_with(b"../"));
    assert!(read("round").is_err());
    assert!(world.read(&place.text("cache/purlin")).is_err(), "the rest of the cache is not open");
}

#[cfg(unix)]
#[test]
fn nothing_in_a_repository_is_run() {
    if !has_git() {
        return;
    }
    let place = Place::new("hooks");
    let canary = place.text("canary");
    let folder = repository(&place, "repositories/a");
    let script = format!("#!/bin/sh\ntouch '{canary}'\n");
    for hook in ["post-checkout", "post-merge", "reference-transaction", "pre-receive", "post-upload-pack"] {
        let path = folder.join(".git/hooks").join(hook);
        write(&path, &script);
        Command::new("chmod").arg("+x").arg(&path).status().unwrap();
    }
    write(&folder.join(".gitattributes"), "* filter=evil\n");
    write(&folder.join(".gitmodules"), "[submodule \"x\"]\n\tpath = x\n\turl = -u./evil\n\tupdate = !touch x\n");
    git(&folder, &["update-index", "--add", "--cacheinfo", &format!("160000,{},x", "1".repeat(40))]);
    git(&folder, &["add", ".gitattributes", ".gitmodules"]);
    git(&folder, &["commit", "--quiet", "--message", "tricks"]);
    git(&folder, &["config", "filter.evil.smudge", &format!("touch '{canary}'")]);
    std::fs::write(
        place.path("cache/.gitconfig"),
        format!(
            "[filter \"evil\"]\n\tsmudge = touch '{canary}'\n[core]\n\thooksPath = {}/.git/hooks\n",
            folder.display()
        ),
    )
    .unwrap();
    let _ = std::fs::remove_file(&canary);
    let fetched = fetch(&place.world(), &folder.to_string_lossy(), "", false).unwrap();
    assert!(Path::new(&fetched.path).join(".gitmodules").exists());
    assert!(!Path::new(&fetched.path).join("x").exists(), "submodules are left out");
    assert!(!Path::new(&canary).exists());
}

/// A program named `git` that writes its arguments to a file, one per line, and fails.
#[cfg(unix)]
fn recording_git(place: &Place) -> String {
    let program = place.path("fake/git");
    let record = place.text("record");
    write(&program, &format!("#!/bin/sh\nfor a in \"$@\"; do echo \"$a\" >> '{record}'; done\nenv >> '{record}'\n"));
    Command::new("chmod").arg("+x").arg(&program).status().unwrap();
    format!("{}:/usr/bin:/bin", place.text("fake"))
}

#[cfg(unix)]
#[test]
fn git_is_never_handed_an_option_of_others() {
    let place = Place::new("injection");
    let path = recording_git(&place);
    let hosts = ["a.example", "-oproxycommand=x", "host"].map(str::to_owned).to_vec();
    let world = place.world_with(Some(&path), |permissions| permissions.hosts = hosts);
    for (address, revision) in [
        ("--upload-pack=touch x", ""),
        ("-u./evil", ""),
        ("ext::sh -c touch% x", ""),
        ("ssh://-oProxyCommand=touch x/y", ""),
        ("ssh://-oProxyCommand=x@host/y", ""),
        ("https://a.example/x\r\nHost: b", ""),
        ("https://a.example/x\n--upload-pack=y", ""),
        ("https://a.example/x.git", "--upload-pack=touch x"),
        ("https://a.example/x.git", "-x"),
        ("https://a.example/x.git", "main:refs/heads/x"),
        ("https://a.example/x.git", "main --exec"),
        ("https://a.example/x.git", "+main"),
        ("https://a.example/x.git", "a\nb"),
    ] {
        let refused = fetch(&world, address, revision, false);
        assert!(matches!(refused, Err(WorldError::Denied(_))), "{address} {revision}: {refused:?}");
        assert!(!place.path("record").exists(), "git was started for {address} {revision}");
    }

    let failed = fetch(&world, "https://user:pass@a.example/x.git", "main", false);
    assert!(matches!(failed, Err(WorldError::FetchFailed(_))), "{failed:?}");
    let record = std::fs::read_to_string(place.path("record")).unwrap();
    let lines: Vec<&str> = record.lines().collect();
    let at = lines.iter().position(|line| *line == "--end-of-options").unwrap();
    let last = lines.iter().rposition(|line| *line == "https://user:pass@a.example/x.git").unwrap();
    assert_eq!(lines[last - 1], "--end-of-options");
    assert_eq!(lines[last + 1], "main");
    assert!(at < last);
    for setting in [
        "core.hooksPath=/dev/null",
        "protocol.ext.allow=never",
        "protocol.allow=never",
        "protocol.https.allow=always",
        "http.followRedirects=false",
        "--no-recurse-submodules",
        "GIT_TERMINAL_PROMPT=0",
        "GIT_CONFIG_NOSYSTEM=1",
    ] {
        assert!(lines.contains(&setting), "{setting}");
    }
    assert!(!record.contains("protocol.file.allow=always"));
}

#[cfg(unix)]
#[test]
fn passwords_are_not_repeated() {
    let place = Place::new("password");
    let program = place.path("fake/git");
    write(
        &program,
        "#!/bin/sh\ncase \"$*\" in *init*) exit;; esac\necho \"fatal: unable to access 'https://user:hunter2@a.example/x.git/': no\" >&2\nexit 1\n",
    );
    Command::new("chmod").arg("+x").arg(&program).status().unwrap();
    let world =
        place.world_with(Some(&place.text("fake")), |permissions| permissions.hosts = vec!["a.example".to_owned()]);
    let Err(WorldError::FetchFailed(why)) = fetch(&world, "https://user:hunter2@a.example/x.git", "", false) else {
        panic!("it should fail")
    };
    assert!(!why.contains("hunter2"), "{why}");
}
