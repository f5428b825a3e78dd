//! The client against servers that do something wrong: the right outcome or a clear error, never a wrong result, and never
//! without end.

#![allow(clippy::panic, clippy::unwrap_used, clippy::disallowed_methods)]

use purlin_remote::client::Client;
use purlin_remote::job::{End, Job};
use purlin_remote::trouble::{Code, Trouble, What};
use purlin_remote_suite::trial::{Dice, Heard, add, job, output, perform};
use purlin_remote_suite::{Fault, MissingAs, Nature, Server};
use std::time::Duration;

fn never() -> bool {
    false
}

/// A client that waits for a busy machine, but not for a server that says nothing.
fn started(nature: Nature) -> (Server, Client) {
    let stalls = nature.faults.iter().any(|(_, fault, _)| *fault == Fault::Stall);
    let gives_up = stalls || nature.ignores_timeouts || nature.has_no_worker;
    let server = Server::start(nature).unwrap();
    let mut settings = server.settings();
    settings.silence = Duration::from_millis(if gives_up { 300 } else { 10_000 });
    settings.queue = Duration::from_millis(if gives_up { 600 } else { 20_000 });
    let client = Client::connect(settings, &never).unwrap();
    (server, client)
}

/// A job that reads a small and a large file, and leaves both.
fn copies(client: &Client) -> Job {
    let mut copying = job("mkdir -p out; cp small large out");
    add(&mut copying, client.function(), "small", b"small");
    add(&mut copying, client.function(), "large", &Dice::new(7).bytes(5 << 20));
    copying
}

/// Runs it and reads all it left; the contents must be right.
fn copied(client: &Client) -> Result<(), Trouble> {
    let copying = copies(client);
    let done = perform(client, &copying)?;
    assert_eq!(done.end, End::Exit(0));
    assert_eq!(output(client, &done, "out/small")?.unwrap(), b"small");
    assert!(output(client, &done, "out/large")?.unwrap() == Dice::new(7).bytes(5 << 20));
    Ok(())
}

const METHODS: [&str; 7] =
    ["FindMissingBlobs", "BatchUpdateBlobs", "BatchReadBlobs", "Read", "Write", "GetActionResult", "Execute"];

#[test]
fn what_passes_is_tried_again() {
    for method in METHODS {
        for fault in [
            Fault::Refuse(14, "try later"),
            Fault::Refuse(8, "too much"),
            Fault::Refuse(10, "aborted"),
            Fault::Cut(0),
            Fault::Cut(1),
            Fault::Disconnect,
            Fault::Http(503),
            Fault::Stall,
        ] {
            let (server, client) = started(Nature::with(method, fault.clone(), 2));
            copied(&client).unwrap_or_else(|trouble| panic!("{method}, {fault:?}: {trouble}"));
            // An execution whose name did not arrive cannot be found again.
            let is_nameless = method == "Execute" && matches!(fault, Fault::Cut(1) | Fault::Stall);
            let most = if is_nameless { 3 } else { 1 };
            assert!((1..=most).contains(&server.runs()), "{method}, {fault:?}: {}", server.runs());
        }
    }
}

#[test]
fn streams_go_on_where_they_were_cut() {
    for (method, after) in [("Read", 20), ("Write", 5)] {
        let (server, client) = started(Nature::with(method, Fault::Cut(after), 3));
        copied(&client).unwrap();
        assert_eq!(server.calls(method), 4, "{method}");
    }
}

#[test]
fn an_execution_whose_stream_is_cut_is_found_again() {
    for after in [1, 2, 3] {
        // The next message comes when the one before has arrived.
        let cut = Nature::with("Execute", Fault::Cut(after), 1);
        let (server, client) = started(Nature { queue: Duration::from_millis(500), ..cut });
        server.nature().add("WaitExecution", Fault::Cut(1), 2);
        copied(&client).unwrap();
        assert!(server.runs() <= 1 + usize::from(after == 1), "after {after}: {}", server.runs());
    }
}

#[test]
fn an_execution_that_a_restart_forgot_is_begun_again() {
    let (server, client) = started(Nature::default());
    let packed = client.pack(&job("[ -e /nothing ] || sleep 0.5; echo done"));
    let done = std::thread::scope(|scope| {
        let running = scope.spawn(|| client.run(&packed, None, (false, None), &mut Heard::default(), &never));
        while server.runs() == 0 {
            std::thread::sleep(Duration::from_millis(2));
        }
        server.restart();
        running.join().unwrap()
    });
    assert_eq!(done.unwrap().stdout, b"done\n");
    assert_eq!(server.runs(), 2);
}

#[test]
fn retries_are_bounded() {
    for (fault, text) in [
        (Fault::Refuse(14, "closed for today"), "unavailable: closed for today"),
        (Fault::Refuse(8, "quota"), "resource exhausted: quota"),
        (Fault::Cut(0), "the connection was lost"),
        (Fault::Stall, "nothing arrived for"),
    ] {
        for method in ["FindMissingBlobs", "Execute", "Write"] {
            let (server, client) = started(Nature::with(method, fault.clone(), u32::MAX));
            let trouble = copied(&client).unwrap_err();
            assert!(trouble.to_string().contains(text), "{method}: {trouble}");
            assert!((2..=8).contains(&server.calls(method)), "{method}: {} calls", server.calls(method));
        }
    }
}

#[test]
fn what_does_not_pass_is_not_tried_again() {
    for (code, name) in
        [(16, "not authenticated"), (7, "permission denied"), (3, "invalid argument"), (12, "not implemented")]
    {
        for method in ["FindMissingBlobs", "Execute", "BatchUpdateBlobs"] {
            let (server, client) = started(Nature::with(method, Fault::Refuse(code, "because"), u32::MAX));
            let trouble = copied(&client).unwrap_err();
            assert_eq!(trouble.to_string(), format!("{name}: because"));
            assert_eq!(server.calls(method), 1, "{method}");
        }
    }
}

#[test]
fn answers_that_are_no_answers_are_errors() {
    let huge = [&[0_u8][..], &u32::MAX.to_be_bytes()].concat();
    let compressed = vec![1, 0, 0, 0, 0];
    let unreadable = vec![0, 0, 0, 0, 2, 0x0a, 0x7f];
    let short = vec![0, 0, 0, 0, 9, 1];
    for raw in [huge, compressed, unreadable, short] {
        for method in ["FindMissingBlobs", "BatchUpdateBlobs", "GetActionResult", "Execute", "Read", "Write"] {
            let (server, client) = started(Nature::with(method, Fault::Raw(raw.clone()), u32::MAX));
            assert!(copied(&client).is_err(), "{method}: {raw:?}");
            assert!(server.calls(method) <= 8);
        }
    }
    for method in ["FindMissingBlobs", "GetActionResult"] {
        let (_server, client) = started(Nature::with(method, Fault::Silent, u32::MAX));
        let trouble = copied(&client).unwrap_err();
        assert!(matches!(trouble.what, What::Malformed(_)), "{trouble}");
    }
}

#[test]
fn a_lying_store_is_always_found() {
    // Wrong bytes once may come from the network: they are asked for again.
    let (_server, client) = started(Nature { lies: 1, ..Nature::default() });
    copied(&client).unwrap();
    for seed in 0..20 {
        let (server, client) = started(Nature { inlines_nothing: seed % 2 == 0, ..Nature::default() });
        let done = perform(&client, &copies(&client)).unwrap();
        server.nature().lies = u32::MAX;
        for path in ["out/small", "out/large"] {
            let trouble = output(&client, &done, path).unwrap_err();
            assert!(matches!(trouble.what, What::Wrong(_)), "{trouble}");
        }
    }
    let (server, client) = started(Nature { inlines_nothing: true, ..Nature::default() });
    let printing = job("echo text; mkdir -p out");
    perform(&client, &printing).unwrap();
    server.nature().lies = u32::MAX;
    assert!(client.earlier(&client.pack(&printing), &never).is_err());
}

#[test]
fn a_spoiled_content_is_found() {
    for cut in [true, false] {
        let (server, client) = started(Nature::default());
        let done = perform(&client, &copies(&client)).unwrap();
        server.spoil(|bytes| {
            let mut other = bytes.to_vec();
            if cut {
                other.pop();
            } else {
                other.extend(b"more");
            }
            Some(other)
        });
        for path in ["out/small", "out/large"] {
            assert!(output(&client, &done, path).is_err(), "{path}");
        }
    }
}

#[test]
fn results_whose_contents_are_gone_are_no_results() {
    for keeps_stale_results in [true, false] {
        let (server, client) = started(Nature { keeps_stale_results, ..Nature::default() });
        let made = job("mkdir -p out; echo made > out/file");
        for runs in [1, 2] {
            let done = perform(&client, &made).unwrap();
            assert_eq!(output(&client, &done, "out/file").unwrap().unwrap(), b"made\n");
            assert_eq!(server.runs(), runs, "stale results: {keeps_stale_results}");
            server.lose(|bytes| bytes == b"made\n");
        }
    }
}

#[test]
fn inputs_that_were_lost_are_sent_again() {
    for missing_as in [
        MissingAs::Details,
        MissingAs::FailedPrecondition,
        MissingAs::Internal,
        MissingAs::InternalResult,
        MissingAs::NotFound,
    ] {
        let (server, client) = started(Nature { missing_as, ..Nature::default() });
        copied(&client).unwrap();
        // The client remembers what it has sent.
        server.lose(|_| true);
        server.forget_results();
        copied(&client).unwrap_or_else(|trouble| panic!("{missing_as:?}: {trouble}"));
        assert_eq!(server.runs(), 2, "{missing_as:?}");
    }
}

#[test]
fn a_store_that_claims_to_have_everything_is_no_hang() {
    let (server, client) = started(Nature { claims_all: true, ..Nature::default() });
    let trouble = copied(&client).unwrap_err();
    assert!(trouble.is(Code::FailedPrecondition), "{trouble}");
    assert!(server.calls("Execute") <= 4);
}

#[test]
fn outputs_that_are_lost_at_once_are_made_again() {
    let (server, client) = started(Nature { forgets_outputs: 1, sends_roots: true, ..Nature::default() });
    let done = perform(&client, &copies(&client)).unwrap();
    assert_eq!(done.end, End::Exit(0));
    assert_eq!(server.runs(), 2);
    let (server, client) = started(Nature { forgets_outputs: u32::MAX, ..Nature::default() });
    assert!(perform(&client, &copies(&client)).is_err());
    assert!(server.runs() <= 4);
}

#[test]
fn kept_failures_are_tried_again() {
    let (server, client) = started(Nature { caches_failures: true, ..Nature::default() });
    let failing = job("exit 3");
    for round in 1..=2 {
        assert_eq!(perform(&client, &failing).unwrap().end, End::Exit(3));
        assert_eq!(server.runs(), round);
    }
}

#[test]
fn an_action_that_runs_twice_has_one_result() {
    let (server, client) = started(Nature { runs_twice: true, ..Nature::default() });
    copied(&client).unwrap();
    assert_eq!((server.runs(), server.results()), (2, 1));
}

#[test]
fn time_limits_hold_even_where_the_server_ignores_them() {
    let (server, client) = started(Nature { ignores_timeouts: true, ..Nature::default() });
    let mut slow = job("sleep 30");
    slow.timeout = Some(Duration::from_millis(100));
    let trouble = perform(&client, &slow).unwrap_err();
    assert!(trouble.is(Code::DeadlineExceeded), "{trouble}");
    while server.under_way() > 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_queue_without_a_worker_is_left_and_named() {
    for names_no_stages in [false, true] {
        let (server, client) = started(Nature { has_no_worker: true, names_no_stages, ..Nature::default() });
        let mut waiting = job("true");
        waiting.timeout = Some(Duration::from_millis(100));
        let trouble = perform(&client, &waiting).unwrap_err();
        let is_named = matches!(trouble.what, What::NoWorker(_)) || trouble.is(Code::DeadlineExceeded);
        assert!(is_named, "{trouble}");
        while server.under_way() > 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn what_cannot_be_cancelled_does_not_hold_up_the_end() {
    for fault in [None, Some(Fault::Stall), Some(Fault::Disconnect)] {
        let (server, client) = started(Nature { cannot_cancel: true, ..Nature::default() });
        if let Some(fault) = fault {
            server.nature().add("CancelOperation", fault, u32::MAX);
        }
        let running = || server.runs() > 0;
        let packed = client.pack(&job("sleep 5"));
        let stopped = client.run(&packed, None, (false, None), &mut Heard::default(), &running);
        assert_eq!(stopped.unwrap_err().what, What::Stopped);
        assert_eq!(server.under_way(), 1);
    }
}

#[test]
fn servers_that_lack_something_are_refused_by_name() {
    let connect = |nature: Nature| {
        let server = Server::start(nature).unwrap();
        Client::connect(server.settings(), &never).map(|_| ()).map_err(|trouble| trouble.to_string())
    };
    let cache_only = connect(Nature { is_cache_only: true, ..Nature::default() }).unwrap_err();
    assert!(cache_only.contains("use `--remote-cache` instead"), "{cache_only}");
    let silent = connect(Nature { has_no_capabilities: true, ..Nature::default() }).unwrap_err();
    assert!(silent.contains("does not run actions"), "{silent}");
    let token = Nature { token: Some("Bearer right".to_owned()), ..Nature::default() };
    let refused = connect(token.clone()).unwrap_err();
    assert!(refused.starts_with("not authenticated"), "{refused}");
    let server = Server::start(token).unwrap();
    let mut settings = server.settings();
    settings.headers = purlin_remote::settings::header_lines("Authorization: Bearer right").unwrap();
    Client::connect(settings, &never).unwrap();
}

#[test]
fn a_large_file_is_refused_where_the_server_takes_none() {
    let (_server, client) = started(Nature { largest_blob: 1 << 20, ..Nature::default() });
    let trouble = copied(&client).unwrap_err();
    assert!(trouble.to_string().contains("the server takes 1048576 at most"), "{trouble}");
}

#[test]
fn a_server_that_keeps_lies_does_no_harm() {
    let (_server, client) = started(Nature { takes_lies: true, ..Nature::default() });
    copied(&client).unwrap();
}

#[test]
fn connections_that_are_lost_while_idle_are_opened_again() {
    let (server, client) = started(Nature::default());
    for round in 0..5 {
        let mut own = job("true");
        own.environment.insert("ROUND".to_owned(), round.to_string());
        perform(&client, &own).unwrap();
        server.disconnect();
        std::thread::sleep(Duration::from_millis(60));
    }
    assert_eq!(server.runs(), 5);
}
