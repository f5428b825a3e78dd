//! Skaffold configurations in git repositories: permissions, the lock and its renewal, with temporary repositories.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod git;

use git::{git, has_git};
use purlin_cli::Invocation;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A project, a repository next to it, and a home; removed at the end.
struct Place(PathBuf);

/// The result of a run.
struct Run {
    code: i32,
    out: String,
    errors: String,
}

impl Place {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("purlin-skaffold-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        for part in ["project/.git", "lib", "home"] {
            std::fs::create_dir_all(folder.join(part)).unwrap();
        }
        let place = Place(folder.canonicalize().unwrap());
        git(&place.0.join("lib"), &["init", "--quiet"]);
        place.publish("first");
        place.require(&place.0.join("lib").to_string_lossy());
        place
    }

    /// Commits a version of the library.
    fn publish(&self, image: &str) {
        let text = format!(
            "apiVersion: skaffold/v4beta14\nkind: Config\nmetadata: {{name: lib}}\nbuild: {{artifacts: [{{image: {image}}}]}}\n"
        );
        let lib = self.0.join("lib");
        std::fs::write(lib.join("skaffold.yaml"), text).unwrap();
        git(&lib, &["add", "--all"]);
        git(&lib, &["commit", "--quiet", "--message", image]);
    }

    /// Writes a project that requires the library at an address.
    fn require(&self, address: &str) {
        let text = format!(
            "apiVersion: skaffold/v4beta14\nkind: Config\nmetadata: {{name: app}}\nrequires:\n- configs: [lib]\n  git:\n    repo: {address}\n    ref: main\n"
        );
        std::fs::write(self.0.join("project/skaffold.yaml"), text).unwrap();
    }

    fn run(&self, args: &[&str]) -> Run {
        let (mut out, mut errors) = (Vec::new(), Vec::new());
        let env = [("PATH", std::env::var("PATH").unwrap_or_default()), ("HOME", self.text("home"))];
        let code = purlin_cli::run(Invocation {
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            cwd: self.0.join("project"),
            env: env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<BTreeMap<_, _>>(),
            stdin: None,
            stdout: &mut out,
            stderr: &mut errors,
            terminal: false,
            project_env: std::collections::BTreeMap::default(),
            given: None,
            last: false,
            veil: purlin_cli::Veil::default(),
        });
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Run { code, out: text(out), errors: text(errors) }
    }

    /// The images of all configurations, as seen by a native command with further arguments.
    fn images(&self, args: &[&str]) -> Run {
        let lib = self.text("lib");
        let all: Vec<&str> =
            ["eval", "order", "--allow-exec", "--allow-path", &lib].iter().chain(args).copied().collect();
        self.run(&all)
    }

    fn lock(&self) -> String {
        std::fs::read_to_string(self.0.join("project/purlin.lock")).unwrap_or_default()
    }

    fn text(&self, below: &str) -> String {
        self.0.join(below).to_string_lossy().into_owned()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_lock_stays_until_it_is_renewed() {
    if !has_git() {
        return;
    }
    let place = Place::new("lock");
    let first = place.images(&[]);
    assert_eq!((first.code, first.out.as_str()), (0, "- first\n"), "{}", first.errors);
    let locked = place.lock();
    assert!(locked.contains("revision: main") && locked.contains("commit: ") && locked.contains("hash: sha256:"));

    place.publish("second");
    assert_eq!(place.images(&[]).out, "- first\n", "an ordinary run takes what is recorded");
    assert_eq!(place.lock(), locked);

    let newer = place.images(&["--update"]);
    assert_eq!((newer.code, newer.out.as_str()), (0, "- second\n"), "{}", newer.errors);
    assert_ne!(place.lock(), locked);
    assert_eq!(place.images(&[]).out, "- second\n");
}

#[test]
fn what_does_not_agree_with_the_lock_is_refused() {
    if !has_git() {
        return;
    }
    let place = Place::new("mismatch");
    assert_eq!(place.images(&[]).code, 0);
    let wrong: String = place
        .lock()
        .lines()
        .map(|line| match line.split_once("sha256:") {
            Some((start, digits)) => format!("{start}sha256:{}\n", "0".repeat(digits.len())),
            None => format!("{line}\n"),
        })
        .collect();
    std::fs::write(place.0.join("project/purlin.lock"), &wrong).unwrap();
    let refused = place.images(&[]);
    assert_eq!(refused.code, 1);
    assert!(refused.errors.starts_with("error[lock-mismatch]: "), "{}", refused.errors);
    assert!(refused.errors.contains("--> skaffold.yaml:7:5"), "{}", refused.errors);
    assert_eq!(place.lock(), wrong, "a refusal changes nothing");
}

#[test]
fn refusals_have_their_own_rule_and_code() {
    if !has_git() {
        return;
    }
    let place = Place::new("refused");
    for (address, args, hint) in [
        (place.text("lib"), &[][..], "--allow-path"),
        ("https://git.example.com/lib.git".to_owned(), &[][..], "--allow-net git.example.com"),
        ("https://git.example.com/lib.git".to_owned(), &["--offline"][..], "`--offline` forbids fetching it"),
    ] {
        place.require(&address);
        let run = place.run(&["check"].iter().chain(args).copied().collect::<Vec<_>>());
        assert_eq!(run.code, 4, "{}", run.errors);
        assert!(run.errors.starts_with("error[not-allowed]: "), "{}", run.errors);
        assert!(run.errors.contains(hint) && run.errors.contains("--> skaffold.yaml:7:5"), "{}", run.errors);
    }
    let missing = place.text("lib/nothing");
    place.require(&missing);
    let run = place.run(&["check", "--allow-path", &place.text("lib")]);
    assert_eq!(run.code, 5, "{}", run.errors);
    assert!(run.errors.starts_with("error[fetch-failed]: "), "{}", run.errors);
    assert!(!place.0.join("project/purlin.lock").exists(), "nothing was fetched, nothing is recorded");
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_project_is_refused_unless_allowed() {
    if !has_git() {
        return;
    }
    let place = Place::new("link");
    std::os::unix::fs::symlink(place.0.join("lib"), place.0.join("project/linked")).unwrap();
    let text = "apiVersion: skaffold/v4beta14\nkind: Config\nrequires: [{path: linked}]\n";
    std::fs::write(place.0.join("project/skaffold.yaml"), text).unwrap();
    let run = place.run(&["check"]);
    assert_eq!(run.code, 4, "{}", run.errors);
    assert!(run.errors.starts_with("error[skaffold-outside]: "), "{}", run.errors);
    let allowed = place.images(&[]);
    assert_eq!((allowed.code, allowed.out.as_str()), (0, "- first\n"), "{}", allowed.errors);
}

#[test]
fn the_original_flag_renews_too() {
    if !has_git() {
        return;
    }
    let place = Place::new("personality");
    let lib = place.text("lib");
    let diagnose = |sync: &str| {
        let sync = format!("--sync-remote-cache={sync}");
        let args = ["skaffold", "diagnose", "--yaml-only", "--allow-exec", "--allow-path", &lib, &sync];
        place.run(if sync.ends_with('=') { &args[..6] } else { &args[..] })
    };
    let never = diagnose("never");
    assert_eq!(never.code, 1);
    assert!(never.errors.starts_with("error[fetch-failed]: ") && never.errors.contains("--sync-remote-cache"));

    let first = diagnose("");
    assert_eq!(first.code, 0, "{}", first.errors);
    assert!(first.out.contains("image: first"));
    let locked = place.lock();
    place.publish("second");
    for sync in ["", "missing", "never"] {
        assert!(diagnose(sync).out.contains("image: first"), "{sync}");
        assert_eq!(place.lock(), locked, "{sync}");
    }
    assert!(diagnose("always").out.contains("image: second"));
    assert_ne!(place.lock(), locked);
}

#[test]
fn images_of_a_fetched_configuration_have_the_commit_as_their_tag() {
    if !has_git() {
        return;
    }
    let place = Place::new("tags");
    let lib = place.0.join("lib");
    let build = |policy: &str| {
        let text = format!(
            "apiVersion: skaffold/v4beta14\nkind: Config\nmetadata: {{name: lib}}\nbuild:\n  tagPolicy: {{gitCommit: {policy}}}\n  artifacts: [{{image: app, custom: {{buildCommand: 'echo built $IMAGE'}}}}]\n"
        );
        std::fs::write(lib.join("skaffold.yaml"), text).unwrap();
        git(&lib, &["add", "--all"]);
        git(&lib, &["commit", "--quiet", "--message", policy]);
        let run = place.run(&["build", "--update", "--allow-exec", "--allow-path", &place.text("lib")]);
        assert_eq!(run.code, 0, "{}{}", run.out, run.errors);
        (git(&lib, &["rev-parse", "HEAD"]), run.out + &run.errors)
    };
    let (commit, said) = build("{}");
    assert!(said.contains(&format!("built app:{}\n", &commit[..7])), "{said}");
    let (commit, said) = build("{variant: CommitSha, prefix: p-}");
    assert!(said.contains(&format!("built app:p-{commit}\n")), "{said}");
    let (_, said) = build("{variant: Branches}");
    assert!(said.contains("built app:main\n"), "{said}");
}
