//! Credential plugins: a command of the kubeconfig that prints a token or a certificate. Only run if allowed.

use crate::hidden::Hidden;
use crate::kubeconfig::{Wanted, text};
use serde_json::{Value as Json, json};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time limit of a plugin.
const LONGEST: Duration = Duration::from_secs(60);

/// Maximum size of a plugin's output.
const LARGEST: u64 = 1 << 20;

/// Credentials printed by a plugin.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// A bearer token.
    pub token: Option<Hidden>,
    /// A certificate and its key, PEM.
    pub identity: Option<(Vec<u8>, Hidden)>,
}

/// Runs the plugin of a user's entry.
pub(crate) fn credentials(
    plugin: &Json,
    user: &str,
    folder: &Path,
    cluster: Json,
    wanted: &Wanted,
) -> Result<Credentials, String> {
    let program = text(plugin, "command").ok_or_else(|| format!("`exec` of user `{user}` has no `command`"))?;
    let version = text(plugin, "apiVersion").unwrap_or_default();
    if !matches!(version.as_str(), "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1") {
        return Err(format!("`exec` of user `{user}` has the unsupported apiVersion `{version}`"));
    }
    if text(plugin, "interactiveMode").as_deref() == Some("Always") {
        return Err(format!(
            "`exec` of user `{user}` needs a terminal (`interactiveMode: Always`), which is not supported"
        ));
    }
    if !wanted.allow_exec {
        return Err(format!(
            "user `{user}` gets credentials from the command `{program}`; add `--allow-exec` to run it"
        ));
    }
    let mut spec = json!({ "interactive": false });
    if plugin.get("provideClusterInfo").and_then(Json::as_bool) == Some(true) {
        spec["cluster"] = cluster;
    }
    let info = json!({ "apiVersion": version, "kind": "ExecCredential", "spec": spec });
    // A program with a slash is relative to the folder of its kubeconfig.
    let full = if program.contains('/') { folder.join(&program) } else { program.clone().into() };
    let mut command = purlin_host::process::command(full);
    command.env_clear().envs(&wanted.env).env("KUBERNETES_EXEC_INFO", info.to_string());
    command.args(plugin.get("args").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str));
    for variable in plugin.get("env").and_then(Json::as_array).into_iter().flatten() {
        if let (Some(name), Some(value)) = (text(variable, "name"), variable.get("value").and_then(Json::as_str)) {
            command.env(name, value);
        }
    }
    let failed = |why: String| {
        let hint = text(plugin, "installHint").map(|hint| format!("\n{hint}")).unwrap_or_default();
        format!("the credential command `{program}` of user `{user}` failed: {why}{hint}")
    };
    let printed = run(command).map_err(failed)?;
    read(&printed, &version).map_err(failed)
}

fn run(mut command: Command) -> Result<String, String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let mut out = child.stdout.take().ok_or("it has no output")?.take(LARGEST);
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).map(|_| text)
    });
    let begun = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if begun.elapsed() < LONGEST => std::thread::sleep(Duration::from_millis(10)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("it took longer than {} s", LONGEST.as_secs()));
            }
            Err(error) => return Err(error.to_string()),
        }
    };
    if !status.success() {
        return Err(status.to_string());
    }
    let text = reader.join().map_err(|_| "its output could not be read".to_owned())?;
    text.map_err(|error| error.to_string())
}

fn read(printed: &str, version: &str) -> Result<Credentials, String> {
    // Its output may contain a token, so no part of it is repeated.
    let answer: Json = serde_json::from_str(printed).map_err(|_| "it did not print JSON".to_owned())?;
    if text(&answer, "apiVersion").as_deref() != Some(version) {
        return Err(format!("expected an answer of version `{version}`"));
    }
    let status = answer.get("status").ok_or("its answer has no `status`")?;
    let token = text(status, "token").map(Hidden::new);
    let pem = |key: &str| text(status, key);
    let identity = match (pem("clientCertificateData"), pem("clientKeyData")) {
        (Some(certificate), Some(key)) => Some((certificate.into_bytes(), Hidden::new(key))),
        (None, None) => None,
        _ => return Err("its answer has only one of certificate and key".to_owned()),
    };
    if token.is_none() && identity.is_none() {
        return Err("its answer has neither a token nor a certificate".to_owned());
    }
    Ok(Credentials { token, identity })
}
