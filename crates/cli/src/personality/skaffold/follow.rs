//! `purlin skaffold dev`: the loop of `purlin dev` on Skaffold configurations; what was deployed is taken down at the end.

use super::execute::forwarded;
use super::flags::Flags;
use super::usage;
use crate::invocation::{Exit, Invocation};
use purlin_run::skaffold::Forwards;

/// Options that both commands have, with those of the native ones.
const SHARED: &[(&str, &str)] =
    &[("filename", "--file"), ("kube-context", "--kube-context"), ("kubeconfig", "--kubeconfig")];

/// Runs `dev` until it is interrupted.
pub(super) fn dev(invocation: &mut Invocation<'_>, flags: &Flags) -> Result<Exit, Exit> {
    let forwards = forwarded(flags).map_err(|message| usage(invocation, &message))?;
    if !matches!(forwards, None | Some(Forwards::All)) {
        let message = "`dev` forwards all ports or none: use `--port-forward` or `--port-forward=off`";
        return Err(usage(invocation, message));
    }
    let shared = shared(flags);
    let mut words = vec!["dev".to_owned()];
    words.extend(shared.iter().cloned());
    words.extend(forwards.is_some().then(|| "--forward".to_owned()));
    // All at once is more than any machine has to do.
    let jobs = flags.text("build-concurrency").and_then(|text| text.parse::<usize>().ok());
    words.extend(jobs.map(|jobs| format!("--jobs={}", if jobs == 0 { 1_000 } else { jobs })));
    words.extend(flags.switch("tail", true).then(|| "--logs".to_owned()));
    if flags.switch("skip-tests", false) {
        words.extend(["build.*", "deploy.*"].map(str::to_owned));
    }
    let exit = crate::run_inside(invocation, &words);
    if !flags.switch("cleanup", true) || exit == Exit::Usage {
        return Ok(exit);
    }
    let _ = writeln!(invocation.stdout, "Cleaning up...");
    let mut words = vec!["cleanup".to_owned(), "--yes".to_owned()];
    words.extend(shared);
    match (exit, crate::run_inside(invocation, &words)) {
        (Exit::Ok, removed) => Ok(removed),
        (exit, _) => Ok(exit),
    }
}

/// The options of the configuration and the cluster, as native commands take them.
fn shared(flags: &Flags) -> Vec<String> {
    let mut words = Vec::new();
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    for (own, native) in SHARED {
        if let Some(value) = flags.text(own) {
            option(native, value.to_owned());
        }
    }
    if let Some(namespace) = flags.text("namespace").filter(|name| !name.is_empty()) {
        option("--namespace", namespace.to_owned());
    }
    for (own, native) in [("profile", "--profile"), ("module", "--module")] {
        flags.list(own).into_iter().for_each(|value| option(native, value));
    }
    for own in ["profile-auto-activation", "propagate-profiles"] {
        if let Some(value) = flags.text(own) {
            option(&format!("--{own}"), value.to_owned());
        }
    }
    words.extend(flags.switch("allow-exec", false).then(|| "--allow-exec".to_owned()));
    for own in ["allow-net", "allow-path"] {
        flags.list(own).into_iter().for_each(|value| words.extend([format!("--{own}"), value]));
    }
    words
}
