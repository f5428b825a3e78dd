//! Measures a server: actions per second, uncached and cached, and what they cost this process.
//!
//!     cargo run --release -p purlin-remote --example measure -- grpc://HOST:PORT[/INSTANCE] ACTIONS THREADS

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use purlin_remote::client::Client;
use purlin_remote::digest::Function;
use purlin_remote::job::{Job, Watch};
use purlin_remote::message::Stage;
use purlin_remote::settings::{Address, Settings};
use purlin_remote::source::Source;
use purlin_remote::tree::{Entry, File};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

struct Quiet;

impl Watch for Quiet {
    fn named(&mut self, _: &str) {}
    fn stage(&mut self, _: Stage, _: &str) {}
    fn waits(&mut self, _: Duration) {}
    fn sending(&mut self, _: u64) {}
}

fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}

fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().to_owned()
}

fn job(client: &Client, number: usize, salt: &str) -> Job {
    let text = format!("{salt} {number}");
    let digest = client.function().digest(text.as_bytes());
    let mut job = Job {
        arguments: ["/bin/sh", "-c", "mkdir -p out; cat file > out/copy"].map(str::to_owned).to_vec(),
        environment: [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into(),
        outputs: vec!["out".to_owned()],
        is_cacheable: true,
        ..Job::default()
    };
    job.input.put("file", Entry::File(File { digest, is_executable: false }));
    job.sources.insert(digest, Source::Bytes(text.into_bytes().into()));
    job
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let address = Address::parse(&arguments.next().unwrap()).unwrap();
    let count: usize = arguments.next().unwrap().parse().unwrap();
    let threads: usize = arguments.next().unwrap().parse().unwrap();
    let client = Client::connect(Settings::of(address), &|| false).unwrap();
    println!("{:?} {}", client.offer(), Function::Sha256.name());
    let salt = format!("{:?}", std::time::SystemTime::now());
    for round in ["uncached", "cached"] {
        let (began, before) = (Instant::now(), cpu());
        let (next, hits) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= count {
                            return;
                        }
                        let packed = client.pack(&job(&client, number, &salt));
                        let earlier = client.earlier(&packed, &|| false).unwrap();
                        match earlier {
                            Some(_) => {
                                hits.fetch_add(1, Ordering::Relaxed);
                            }
                            None => {
                                let done = client.run(&packed, None, (false, None), &mut Quiet, &|| false);
                                let done = done.unwrap_or_else(|trouble| panic!("{trouble}"));
                                assert!(done.outputs.get("out/copy").is_some(), "{done:?}");
                            }
                        }
                    }
                });
            }
        });
        let (took, used) = (began.elapsed(), cpu().saturating_sub(before));
        let per = used.as_secs_f64() * 1000.0 / count as f64;
        println!(
            "{round}: {:.0}/s, {per:.3} ms CPU per action, {} hits, {}",
            count as f64 / took.as_secs_f64(),
            hits.load(Ordering::Relaxed),
            memory()
        );
    }
}
