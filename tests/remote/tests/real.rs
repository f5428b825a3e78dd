//! The client against servers that others wrote, where they are installed. What each does not do is named here, and nothing else is
//! let pass.

#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, clippy::print_stderr)]

use purlin_remote::client::Client;
use purlin_remote::job::End;
use purlin_remote::settings::{Address, Settings};
use purlin_remote::source::Sources;
use purlin_remote::tree::Entry;
use purlin_remote::trouble::Code;
use purlin_remote_suite::trial::{Dice, add, job, output, perform};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server of somebody else, which ends with the test.
struct Foreign {
    child: Child,
    folder: PathBuf,
    settings: Settings,
}

fn never() -> bool {
    false
}

impl Foreign {
    fn start(name: &str, begin: impl Fn(u16, &PathBuf) -> Command) -> Foreign {
        let folder = std::env::temp_dir().join(format!("purlin-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = std::fs::File::create(folder.join("log")).unwrap();
        let mut command = begin(port, &folder);
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        let child = command.spawn().unwrap();
        let address = Address { is_secure: false, host: "127.0.0.1".into(), port, instance: "remote-execution".into() };
        let deadline = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "{name} does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        Foreign { child, folder, settings: Settings { silence: Duration::from_secs(20), ..Settings::of(address) } }
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// `buildbox-casd`, as `packaging/remote/install-casd` installs it.
fn casd() -> Option<Foreign> {
    let Some(installed) = std::env::var_os("PURLIN_CASD").map(PathBuf::from) else {
        purlin_skipped::skipped("casd server");
        return None;
    };
    let mut server = Foreign::start("casd", |port, folder| {
        let mut command = Command::new(installed.join("start"));
        command.arg(port.to_string()).arg(folder.join("data"));
        command
    });
    server.settings.address.instance.clear();
    Some(server)
}

/// `just execute` of the package justbuild.
fn just() -> Option<Foreign> {
    let Some(program) = std::env::var_os("PURLIN_JUST").map(|value| value.to_string_lossy().into_owned()) else {
        purlin_skipped::skipped("just server");
        return None;
    };
    Some(Foreign::start("just", |port, folder| {
        let mut words = program.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or("just"));
        command.args(words).args(["execute", "--compatible", "-i", "127.0.0.1", "-p"]).arg(port.to_string());
        command.arg("--local-build-root").arg(folder.join("root"));
        command
    }))
}

/// What every server must do.
fn check(server: &Foreign, keeps_dangling_links: bool) {
    let client = Client::connect(server.settings.clone(), &never).unwrap();
    eprintln!("{:?}", client.offer());
    let mut first =
        job("mkdir -p out; cat in/file; echo oops >&2; cp in/file out/copy; ln -s copy out/link; : > out/empty");
    add(&mut first, client.function(), "in/file", b"text\n");
    let done = perform(&client, &first).unwrap();
    assert_eq!((done.end, done.is_cached), (End::Exit(0), false));
    assert_eq!((done.stdout.as_slice(), done.stderr.as_slice()), (&b"text\n"[..], &b"oops\n"[..]));
    assert_eq!(output(&client, &done, "out/copy").unwrap().unwrap(), b"text\n");
    assert_eq!(output(&client, &done, "out/empty").unwrap().unwrap(), b"");
    assert_eq!(done.outputs.get("out/link"), Some(Entry::Link("copy".to_owned())));
    let again = perform(&client, &first).unwrap();
    assert!(again.is_cached && again.outputs == done.outputs, "{again:?}");
    for _ in 0..2 {
        let failed = perform(&client, &job("mkdir -p out; echo no; exit 7")).unwrap();
        assert_eq!((failed.end, failed.is_cached, failed.stdout.as_slice()), (End::Exit(7), false, &b"no\n"[..]));
    }
    for size in [0, 1, 70_000, 5 << 20] {
        let mut large = job("mkdir -p out; cp file out/copy");
        let bytes = Dice::new(size as u64 + 5).bytes(size);
        add(&mut large, client.function(), "file", &bytes);
        let done = perform(&client, &large).unwrap();
        assert!(output(&client, &done, "out/copy").unwrap().unwrap() == bytes, "{size} bytes");
    }
    for seed in 0..10 {
        let mut dice = Dice::new(seed);
        let mut copying = job("mkdir -p out; cp -a in/. out");
        let tree = dice.tree_with(keeps_dangling_links, client.function(), &mut copying.sources);
        copying.input.put("in", Entry::Folder(tree.clone()));
        let done = perform(&client, &copying).unwrap();
        assert_eq!(done.outputs.folders.get("out").cloned().unwrap_or_default(), tree, "seed {seed}");
    }
    let mut lost = job("true");
    let digest = client.function().digest(b"never sent");
    lost.input.put("file", Entry::File(purlin_remote::tree::File { digest, is_executable: false }));
    assert!(perform(&client, &lost).is_err());
}

#[test]
fn casd_runs_actions() {
    let Some(server) = casd() else { return };
    check(&server, true);
    let client = Client::connect(server.settings.clone(), &never).unwrap();
    let mut slow = job("mkdir -p out; sleep 60");
    slow.timeout = Some(Duration::from_secs(1));
    match perform(&client, &slow) {
        Ok(done) => assert_eq!(done.end, End::TimedOut),
        Err(trouble) => assert!(trouble.is(Code::DeadlineExceeded), "{trouble}"),
    }
    let own = job("mkdir -p out; echo never run > out/file");
    let mut done = perform(&client, &job("mkdir -p out; echo shared > out/file")).unwrap();
    done.stdout = b"from here".to_vec();
    let packed = client.pack(&own);
    client.share(&packed, &done, &Sources::new(), &never).unwrap();
    let found = client.earlier(&packed, &never).unwrap().unwrap();
    assert_eq!((found.stdout.as_slice(), found.outputs), (&b"from here"[..], done.outputs));
}

#[test]
fn just_runs_actions() {
    let Some(server) = just() else { return };
    // It refuses actions that leave links to nothing.
    check(&server, false);
    // It does not end actions, and does not say when they begin: what waits and what runs too long look the same.
    let client = Client::connect(server.settings.clone(), &never).unwrap();
    let mut slow = job("mkdir -p out; sleep 3");
    slow.timeout = Some(Duration::from_secs(1));
    match perform(&client, &slow) {
        Ok(done) => assert_eq!(done.end, End::Exit(0)),
        Err(trouble) => {
            assert!(trouble.is(Code::DeadlineExceeded) || trouble.to_string().contains("worker"), "{trouble}")
        }
    }
}
