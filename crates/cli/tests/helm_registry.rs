//! `purlin helm registry login`, `push` and `pull` against the registry that Debian packages, which wants a password.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PASSWORD: &str = "canary-9c1e";
/// The password as `htpasswd -B` writes it.
const KNOWN: &str = "me:$2b$05$OajxpbLzQQ2.A1k5XHCWN.NPAJ14hmltU1cYw3Tf12ObynP3QklqS\n";

struct Bench {
    top: PathBuf,
    place: String,
    registry: Child,
}

impl Bench {
    /// `None` where there is no registry to start.
    fn start() -> Option<Bench> {
        let top = std::env::temp_dir().join(format!("purlin-push-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&top);
        std::fs::create_dir_all(top.join("work")).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let place = format!("127.0.0.1:{port}");
        std::fs::write(top.join("users"), KNOWN).unwrap();
        let settings = format!(
            "version: 0.1\nstorage: {{filesystem: {{rootdir: {:?}}}}}\nhttp: {{addr: {place:?}}}\n\
             auth: {{htpasswd: {{realm: test, path: {:?}}}}}\n",
            top.join("storage"),
            top.join("users")
        );
        std::fs::write(top.join("registry.yml"), settings).unwrap();
        let mut command = Command::new("docker-registry");
        command.args(["serve", "registry.yml"]).current_dir(&top).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(registry) = command.spawn() else {
            purlin_skipped::skipped("chart registry");
            let _ = std::fs::remove_dir_all(&top);
            return None;
        };
        let begun = Instant::now();
        while TcpStream::connect(&place).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(60), "the registry does not come up");
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(Bench { top, place, registry })
    }

    fn helm(&self, args: &[&str], input: &str) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_purlin"));
        command.arg("helm").args(args).current_dir(self.top.join("work")).env("HOME", self.top.join("home"));
        for name in ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "HELM_REGISTRY_CONFIG", "DOCKER_CONFIG"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let done = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
        assert!(!said.contains(PASSWORD) && !said.contains("bWU6Y2FuYXJ5"), "{args:?} shows the password: {said}");
        (done.status.code().unwrap(), said)
    }

    fn file(&self) -> PathBuf {
        self.top.join("home/.config/helm/registry/config.json")
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = self.registry.kill();
        let _ = self.registry.wait();
        let _ = std::fs::remove_dir_all(&self.top);
    }
}

fn mode(file: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).unwrap().permissions().mode() & 0o777
}

#[test]
fn charts_are_pushed_and_pulled_with_stored_credentials() {
    let Some(bench) = Bench::start() else { return };
    let place = bench.place.as_str();
    let remote = format!("oci://{place}/team/charts");
    assert_eq!(bench.helm(&["create", "shop"], "").0, 0);
    assert_eq!(bench.helm(&["package", "shop", "--version", "1.2.0+b"], "").0, 0);
    let push = ["push", "shop-1.2.0+b.tgz", &remote, "--plain-http"];
    let (code, said) = bench.helm(&push, "");
    assert!(code == 1 && said.contains("the registry wants credentials"), "{code} {said}");
    let login = ["registry", "login", place, "-u", "me", "--password-stdin", "--plain-http"];
    let (code, said) = bench.helm(&login, "wrong\n");
    assert!(code == 1 && said.contains("failed: the registry does not accept the credentials"), "{code} {said}");
    assert!(!bench.file().exists());
    assert_eq!(bench.helm(&login, &format!("{PASSWORD}\n")), (0, "Login Succeeded\n".to_owned()));
    assert_eq!(mode(&bench.file()), 0o600);
    let (code, said) = bench.helm(&push, "");
    assert!(
        code == 0 && said.contains(&format!("Pushed: {place}/team/charts/shop:1.2.0_b\nDigest: sha256:")),
        "{said}"
    );
    // What is there already is not sent again, and the same chart has the same digest.
    assert_eq!(bench.helm(&push, "").0, 0);
    let chart = format!("{remote}/shop");
    let pull = ["pull", &chart, "--version", "1.2.0+b", "--plain-http", "-d", "down"];
    let (code, said) = bench.helm(&pull, "");
    assert_eq!(code, 0, "{said}");
    let read = |name: &str| std::fs::read(bench.top.join("work").join(name)).unwrap();
    assert!(read("shop-1.2.0+b.tgz") == read("down/shop-1.2.0+b.tgz"));
    let (code, said) = bench.helm(&["push", "shop-1.2.0+b.tgz", "https://x", "--plain-http"], "");
    assert!(code == 1 && said.contains("scheme prefix missing"), "{said}");
    assert_eq!(
        bench.helm(&["registry", "logout", place], ""),
        (0, format!("Removing login credentials for {place}\n"))
    );
    let (code, said) = bench.helm(&["registry", "logout", place], "");
    assert!(code == 1 && said.contains(&format!("not logged in to {place}")), "{said}");
    let (code, said) = bench.helm(&["pull", &chart, "--version", "9.9.9", "--plain-http"], "");
    assert!(code == 1 && said.contains("wants credentials"), "{said}");
}
