//! `purlin status --remote`: what a server of the Remote Execution API can do, what it lacks, and how far away it is.

use crate::args::AnswerFormat;
use crate::commands::Context;
use crate::invocation::Exit;
use crate::remote::Wanted;
use crate::run_args::RemoteFlags;
use std::path::Path;

pub(in crate::commands) fn run(
    cx: &mut Context<'_, '_>,
    path: &Path,
    address: &str,
    format: AnswerFormat,
) -> Result<Exit, Exit> {
    cx.read_settings(path);
    let remote = Some(address.to_owned()).filter(|address| !address.is_empty());
    let Some(wanted) = cx.remote(&RemoteFlags { remote, ..RemoteFlags::default() })? else {
        let hint = match (&cx.settings.remote, cx.is_trusted) {
            (Some(_), false) => "`[remote]` of the project's `purlin.toml` needs `--trust`",
            _ => "the settings have no `[remote] address`",
        };
        return Err(cx.usage(&format!("name a server, for example `--remote grpc://localhost:8980`: {hint}")));
    };
    let answer = asked(&wanted).map_err(|why| {
        let message = format!("{}: {why}", wanted.settings.address);
        cx.invocation.refuse(&message, Exit::Io)
    })?;
    let text = match format {
        AnswerFormat::Json => answer.json(&wanted),
        AnswerFormat::Text => answer.text(&wanted),
    };
    Ok(cx.print_answer(&text, None))
}

/// What a server said.
#[cfg_attr(not(feature = "net"), allow(dead_code))] // A build without a network makes none.
struct Answer {
    version: (u64, u64),
    digests: &'static str,
    executes: bool,
    takes_results: bool,
    /// Largest batch of contents.
    batch: u64,
    /// Largest content, if it says one.
    largest: Option<u64>,
    round_trip: std::time::Duration,
    lacks: Vec<&'static str>,
}

#[cfg(feature = "net")]
fn asked(wanted: &Wanted) -> Result<Answer, String> {
    use purlin_remote::client::Client;
    use purlin_remote::settings::Settings;
    let never = || false;
    let settings = Settings { headers: wanted.headers()?, executes: false, ..wanted.settings.clone() };
    let client = Client::connect(settings, &never).map_err(|trouble| trouble.to_string())?;
    let round_trips: Result<Vec<_>, _> = (0..5).map(|_| client.round_trip(&never)).collect();
    let round_trips = round_trips.map_err(|trouble| trouble.to_string())?;
    let offer = client.offer();
    let lacks = [
        (!offer.executes, "it runs nothing: use it with `--remote-cache`"),
        (!offer.keeps_results, "it takes no results: `--remote-upload` has no effect"),
        (offer.version < (2, 1), "it is older than 2.1: properties of workers and outputs are sent in the older form"),
        (!offer.says_batch, "it does not say how large a batch may be: 2 MiB are sent at most"),
    ];
    Ok(Answer {
        version: offer.version,
        digests: offer.function.name(),
        executes: offer.executes,
        takes_results: offer.keeps_results,
        batch: offer.batch,
        largest: offer.largest,
        round_trip: round_trips.into_iter().min().unwrap_or_default(),
        lacks: lacks.into_iter().filter(|(is_lacking, _)| *is_lacking).map(|(_, text)| text).collect(),
    })
}

#[cfg(not(feature = "net"))]
fn asked(_: &Wanted) -> Result<Answer, String> {
    Err("this build of Purlin cannot connect to anything".to_owned())
}

impl Answer {
    fn text(&self, wanted: &Wanted) -> String {
        let yes = |truth: bool| if truth { "yes" } else { "no" };
        let mut rows = vec![
            ("server", wanted.settings.address.to_string()),
            ("version", format!("{}.{}", self.version.0, self.version.1)),
            ("digests", self.digests.to_owned()),
            ("runs actions", yes(self.executes).to_owned()),
            ("takes results", yes(self.takes_results).to_owned()),
            ("largest batch", format!("{} bytes", self.batch)),
        ];
        rows.extend(self.largest.map(|size| ("largest file", format!("{size} bytes"))));
        rows.push(("round trip", format!("{:.1} ms", self.round_trip.as_secs_f64() * 1000.0)));
        rows.extend(self.lacks.iter().map(|text| ("lacks", (*text).to_owned())));
        rows.iter().map(|(name, value)| format!("{name:14} {value}\n")).collect()
    }

    fn json(&self, wanted: &Wanted) -> String {
        let json = serde_json::json!({
            "server": wanted.settings.address.to_string(),
            "version": format!("{}.{}", self.version.0, self.version.1),
            "digests": self.digests,
            "runsActions": self.executes,
            "takesResults": self.takes_results,
            "largestBatch": self.batch,
            "largestFile": self.largest,
            "roundTripMs": self.round_trip.as_secs_f64() * 1000.0,
            "lacks": self.lacks,
        });
        format!("{json}\n")
    }
}
