//! The client against a server that does everything right, in all the ways that are right.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use purlin_remote::client::Client;
use purlin_remote::digest::Function;
use purlin_remote::job::{End, Watch};
use purlin_remote::message::Stage;
use purlin_remote::settings::Settings;
use purlin_remote::source::Sources;
use purlin_remote::tree::{Entry, Folder};
use purlin_remote_suite::trial::{Dice, Heard, add, job, output, perform};
use purlin_remote_suite::{Nature, Server};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn never() -> bool {
    false
}

fn started(nature: Nature) -> (Server, Client) {
    let server = Server::start(nature).unwrap();
    let client = Client::connect(server.settings(), &never).unwrap();
    (server, client)
}

/// All the kinds of servers that are right.
fn kinds() -> Vec<Nature> {
    vec![
        Nature::default(),
        Nature { function: Function::Blake3, ..Nature::default() },
        Nature { version: (2, 0), knows_old_outputs_only: true, ..Nature::default() },
        Nature { sends_roots: true, inlines_nothing: true, ..Nature::default() },
        Nature { batch: 0, ..Nature::default() },
        Nature { batch: 64 << 10, largest_message: Some(4 << 20), ..Nature::default() },
        Nature { batch: 4 << 20, largest_message: Some(4 << 20), ..Nature::default() },
        Nature { names_no_stages: true, ..Nature::default() },
        Nature { ignores_results: true, ..Nature::default() },
    ]
}

#[test]
fn an_action_runs_once_and_is_found_again() {
    for nature in kinds() {
        let (server, client) = started(nature.clone());
        let mut first = job("mkdir -p out; cat in/file; echo oops >&2; cp in/file out/copy; ln -s copy out/link");
        add(&mut first, client.function(), "in/file", b"text\n");
        let done = perform(&client, &first).unwrap();
        assert_eq!((done.end, done.is_cached), (End::Exit(0), false), "{nature:?}");
        assert_eq!((done.stdout.as_slice(), done.stderr.as_slice()), (&b"text\n"[..], &b"oops\n"[..]));
        assert_eq!(output(&client, &done, "out/copy").unwrap().unwrap(), b"text\n");
        assert_eq!(done.outputs.get("out/link"), Some(Entry::Link("copy".to_owned())));
        assert_eq!(done.worker, "worker-1");
        let again = perform(&client, &first).unwrap();
        assert!(again.is_cached && again.outputs == done.outputs && again.stdout == done.stdout, "{nature:?}");
        assert_eq!(server.runs(), 1, "{nature:?}");
    }
}

#[test]
fn a_failure_has_its_code_and_is_not_kept() {
    let (server, client) = started(Nature::default());
    let failing = job("echo no; exit 7");
    for _ in 0..2 {
        let done = perform(&client, &failing).unwrap();
        assert_eq!((done.end, done.stdout.as_slice()), (End::Exit(7), &b"no\n"[..]));
    }
    assert_eq!(server.runs(), 2);
}

#[test]
fn a_time_limit_ends_an_action() {
    let (_server, client) = started(Nature::default());
    let mut slow = job("echo begun; sleep 60");
    slow.timeout = Some(Duration::from_millis(200));
    let done = perform(&client, &slow).unwrap();
    assert_eq!((done.end, done.stdout.as_slice()), (End::TimedOut, &b"begun\n"[..]));
}

#[test]
fn stages_and_workers_are_heard_of() {
    let (_server, client) = started(Nature { queue: Duration::from_millis(100), ..Nature::default() });
    let packed = client.pack(&job("true"));
    let mut heard = Heard::default();
    client.run(&packed, None, (false, None), &mut heard, &never).unwrap();
    assert_eq!(heard.names.len(), 1);
    assert!(heard.sent > 0);
    let stages: Vec<Stage> = heard.stages.iter().map(|(stage, _)| *stage).collect();
    assert_eq!(stages, [Stage::Queued, Stage::Running, Stage::Ended]);
    assert_eq!(heard.stages[1].1, "worker-1");
}

#[test]
fn a_long_wait_is_told_once() {
    let server = Server::start(Nature { queue: Duration::from_millis(900), ..Nature::default() }).unwrap();
    let settings = Settings { notice: Duration::from_millis(100), ..server.settings() };
    let client = Client::connect(settings, &never).unwrap();
    let mut heard = Heard::default();
    client.run(&client.pack(&job("true")), None, (false, None), &mut heard, &never).unwrap();
    assert_eq!((heard.waited, server.runs()), (1, 1));
}

#[test]
fn what_is_there_is_not_sent_again() {
    let (server, client) = started(Nature::default());
    let mut with_file = job("true");
    add(&mut with_file, client.function(), "large", &Dice::new(1).bytes(5 << 20));
    perform(&client, &with_file).unwrap();
    assert_eq!(server.calls("Write"), 1);
    // Another client, another action, the same file.
    let other = Client::connect(server.settings(), &never).unwrap();
    with_file.environment.insert("OTHER".to_owned(), "1".to_owned());
    perform(&other, &with_file).unwrap();
    assert_eq!(server.calls("Write"), 1);
}

#[test]
fn random_trees_come_back_as_they_went() {
    for nature in kinds() {
        let (_server, client) = started(nature.clone());
        for seed in 0..12 {
            let mut dice = Dice::new(seed);
            let mut copying = job("cp -a in out");
            let tree = dice.tree(client.function(), &mut copying.sources);
            copying.input.put("in", Entry::Folder(tree.clone()));
            let done = perform(&client, &copying).unwrap();
            assert_eq!(done.end, End::Exit(0));
            let back = done.outputs.folders.get("out").cloned().unwrap_or_default();
            assert_eq!(back, tree, "seed {seed}, {nature:?}");
            check_contents(&client, &back, &copying.sources);
        }
    }
}

fn check_contents(client: &Client, back: &Folder, sources: &Sources) {
    let digests = purlin_remote::source::contents(back);
    let read = client.read_all(&digests, &never).unwrap();
    for digest in digests {
        assert!(sources.contains_key(&digest) || digest.size == 0);
        assert_eq!(client.function().digest(&read[&digest]), digest);
    }
}

#[test]
fn many_callers_share_one_connection() {
    let (server, client) = started(Nature::default());
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let client = &client;
            scope.spawn(move || {
                for number in 0..10 {
                    let mut own = job("mkdir -p out; cat file > out/copy");
                    let text = format!("{thread} {number}");
                    add(&mut own, client.function(), "file", text.as_bytes());
                    let done = perform(client, &own).unwrap();
                    assert_eq!(output(client, &done, "out/copy").unwrap().unwrap(), text.as_bytes());
                }
            });
        }
    });
    assert_eq!(server.runs(), 80);
}

#[test]
fn a_result_of_this_machine_is_shared() {
    let (server, client) = started(Nature::default());
    let mut own = job("mkdir -p out; cat file > out/copy");
    add(&mut own, client.function(), "file", b"x");
    let packed = client.pack(&own);
    let mut done = perform(&client, &own).unwrap();
    server.forget_results();
    done.stdout = b"printed here".to_vec();
    client.share(&packed, &done, &Sources::new(), &never).unwrap();
    let found = Client::connect(server.settings(), &never).unwrap().earlier(&packed, &never).unwrap().unwrap();
    assert_eq!((found.stdout.as_slice(), found.outputs), (&b"printed here"[..], done.outputs));
    assert_eq!(server.runs(), 1);
}

#[test]
fn a_stopped_run_cancels_its_execution() {
    let (server, client) = started(Nature::default());
    let packed = client.pack(&job("sleep 60"));
    let running = || server.runs() > 0;
    let stopped = client.run(&packed, None, (false, None), &mut Heard::default(), &running);
    assert_eq!(stopped.unwrap_err().to_string(), "stopped");
    while server.under_way() > 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_execution_is_found_again_by_its_name() {
    let (server, client) = started(Nature::default());
    let packed = client.pack(&job("sleep 1; echo done"));
    struct Once<'o>(Option<String>, &'o AtomicBool);
    impl Watch for Once<'_> {
        fn named(&mut self, name: &str) {
            self.0 = Some(name.to_owned());
            self.1.store(true, Ordering::SeqCst);
        }
        fn stage(&mut self, _: Stage, _: &str) {}
        fn waits(&mut self, _: Duration) {}
        fn sending(&mut self, _: u64) {}
    }
    let is_named = AtomicBool::new(false);
    let mut once = Once(None, &is_named);
    // A run that dies: its connection is lost, nothing is cancelled.
    let nobody = Client::connect(server.settings(), &never).unwrap();
    server.nature().cannot_cancel = true;
    let running = || server.runs() > 0 && is_named.load(Ordering::SeqCst);
    assert!(nobody.run(&packed, None, (false, None), &mut once, &running).is_err());
    let done = client.run(&packed, None, (false, once.0.as_deref()), &mut Heard::default(), &never).unwrap();
    assert_eq!(done.stdout, b"done\n");
    assert_eq!(server.runs(), 1);
    // A name that means nothing any longer.
    let done = client.run(&packed, None, (false, Some("operations/gone")), &mut Heard::default(), &never).unwrap();
    assert_eq!(done.stdout, b"done\n");
    assert_eq!(server.runs(), 1);
}
