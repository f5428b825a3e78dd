//! The cluster that a command of `helm` works on: chosen by flags, the environment and the kubeconfig, as Helm does.

use super::super::arguments::{Arguments, Takes};
use super::fail;
use crate::invocation::{Exit, Invocation};
use purlin_cluster::client::Client;
use purlin_cluster::release::{Around, Engine, Trouble};
use purlin_cluster::{Access, Wanted};
use purlin_run::stop::{Level, Signals, Stop};
use purlin_syntax::print::escape;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Flags of all commands.
#[rustfmt::skip]
pub(super) const GLOBAL: &[(&str, char, Takes)] = &[
    ("namespace", 'n', Takes::Text),
    ("kubeconfig", ' ', Takes::Text),
    ("kube-context", ' ', Takes::Text),
    ("kube-apiserver", ' ', Takes::Text),
    ("kube-token", ' ', Takes::Text),
    ("kube-as-user", ' ', Takes::Text),
    ("kube-as-group", ' ', Takes::List),
    ("kube-ca-file", ' ', Takes::Text),
    ("kube-tls-server-name", ' ', Takes::Text),
    ("kube-insecure-skip-tls-verify", ' ', Takes::Switch),
    ("debug", ' ', Takes::Switch),
    ("repository-config", ' ', Takes::Text),
    ("repository-cache", ' ', Takes::Text),
    ("registry-config", ' ', Takes::Text),
    ("allow-net", ' ', Takes::List),
];

/// Reads the flags of a command and those of all.
pub(super) fn arguments(
    invocation: &mut Invocation<'_>,
    args: &[String],
    tables: &[&[(&'static str, char, Takes)]],
) -> Result<Arguments, Exit> {
    let mut known = GLOBAL.to_vec();
    tables.iter().for_each(|table| known.extend_from_slice(table));
    Arguments::read(args, &known).map_err(|message| fail(invocation, &message))
}

/// The value of a flag, or that of an environment variable.
fn flag_or(invocation: &Invocation<'_>, flags: &Arguments, flag: &str, variable: &str) -> Option<String> {
    let given = flags.text(flag).map(str::to_owned);
    given.or_else(|| invocation.env.get(variable).cloned()).filter(|text| !text.is_empty())
}

/// A cluster that is connected, and the namespace.
pub(super) struct Connected {
    client: Arc<Client>,
    /// The namespace of the releases.
    pub(super) namespace: String,
    stop: Arc<Stop>,
    _signals: Option<Signals>,
    epoch: Option<i128>,
}

/// Chooses the cluster and reads the credentials. Nothing is sent yet.
pub(super) fn connect(invocation: &mut Invocation<'_>, flags: &Arguments) -> Result<Connected, Exit> {
    let driver = invocation.env.get("HELM_DRIVER").map_or("", String::as_str);
    if !matches!(driver, "" | "secret" | "secrets") {
        let message = format!("`HELM_DRIVER={driver}` is not supported: releases are kept in Secrets");
        return Err(fail(invocation, &message));
    }
    let access = access(invocation, flags).map_err(|why| fail(invocation, &unreachable(&why)))?;
    let namespace = namespace(invocation, flags).or(access.namespace.clone()).unwrap_or_else(|| "default".to_owned());
    let client =
        Client::new(&access).map(Arc::new).map_err(|error| fail(invocation, &unreachable(&error.to_string())))?;
    let stop = Arc::new(Stop::new().map_err(|error| fail(invocation, &format!("could not make a pipe: {error}")))?);
    // Signals belong to a process of our own; inside another run they are left alone.
    let signals = match invocation.last {
        true => {
            let listening = Signals::listen(&stop);
            Some(listening.map_err(|error| fail(invocation, &format!("could not listen for signals: {error}")))?)
        }
        false => None,
    };
    if signals.is_some() {
        end_at_second_signal(&stop);
    }
    let epoch = match invocation.env.contains_key("SOURCE_DATE_EPOCH") {
        true => Some(crate::project::clock(&invocation.env).map_err(|message| fail(invocation, &message))?.0),
        false => None,
    };
    Ok(Connected { client, namespace, stop, _signals: signals, epoch })
}

/// The namespace that the user chose.
pub(super) fn namespace(invocation: &Invocation<'_>, flags: &Arguments) -> Option<String> {
    flag_or(invocation, flags, "namespace", "HELM_NAMESPACE")
}

fn unreachable(why: &str) -> String {
    format!("kubernetes cluster unreachable: {why}")
}

fn access(invocation: &Invocation<'_>, flags: &Arguments) -> Result<Access, String> {
    let path = flags.text("kubeconfig").filter(|path| !path.is_empty());
    let mut access = Access::find(&Wanted {
        env: invocation.env.clone(),
        kubeconfig: path.map(|path| invocation.cwd.join(path)),
        context: flag_or(invocation, flags, "kube-context", "HELM_KUBECONTEXT"),
        allow_exec: invocation.given.as_ref().is_some_and(|given| given.permissions.exec),
        ..Wanted::default()
    })?;
    if let Some(server) = flag_or(invocation, flags, "kube-apiserver", "HELM_KUBEAPISERVER") {
        access.server = server.trim_end_matches('/').to_owned();
    }
    if let Some(token) = flag_or(invocation, flags, "kube-token", "HELM_KUBETOKEN") {
        access.set_token(&token);
    }
    if let Some(user) = flag_or(invocation, flags, "kube-as-user", "HELM_KUBEASUSER") {
        access.impersonate = vec![("Impersonate-User".to_owned(), user)];
        let groups = flags.list("kube-as-group").iter().flat_map(|list| list.split(','));
        access.impersonate.extend(groups.map(|group| ("Impersonate-Group".to_owned(), group.to_owned())));
    }
    if let Some(file) = flag_or(invocation, flags, "kube-ca-file", "HELM_KUBECAFILE") {
        let path = invocation.cwd.join(&file);
        let read = purlin_host::named::read(&path, purlin_host::named::LARGEST);
        access.authority = Some(read.map_err(|error| format!("could not read `{}`: {error}", escape(&file)))?);
    }
    if let Some(name) = flag_or(invocation, flags, "kube-tls-server-name", "HELM_KUBETLS_SERVER_NAME") {
        access.server_name = Some(name);
    }
    if flags.switch("kube-insecure-skip-tls-verify") {
        (access.insecure, access.authority) = (true, None);
    }
    Ok(access)
}

/// The first signal lets the operation record how far it came; a second one ends the program at once. The record then says
/// that the operation is pending, as after a lost connection.
fn end_at_second_signal(stop: &Arc<Stop>) {
    let stop = Arc::downgrade(stop);
    let work = move || {
        while let Some(stop) = stop.upgrade() {
            if stop.level() == Level::Now {
                std::process::exit(128 + stop.signal().unwrap_or(2));
            }
            drop(stop);
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    // Without the thread, a second signal changes nothing.
    let _ = std::thread::Builder::new().name("second signal".into()).spawn(work);
}

impl Connected {
    /// Works on releases of the namespace; what the work reports goes to standard error.
    pub(super) fn work<T>(
        &self,
        invocation: &mut Invocation<'_>,
        namespace: &str,
        work: impl FnOnce(&Engine<'_>) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let err = Mutex::new(&mut *invocation.stderr);
        let say = |line: &str| {
            let _ = writeln!(err.lock().unwrap_or_else(PoisonError::into_inner), "{line}");
        };
        let go_on = || self.stop.level() == Level::Going;
        let now = || self.epoch.unwrap_or_else(now);
        work(&Engine::new(&self.client, namespace, Around { go_on: &go_on, say: &say, now: &now }))
    }

    /// The cluster, for questions of templates.
    pub(super) fn client(&self) -> Arc<Client> {
        self.client.clone()
    }

    /// Whether the user asked to stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.level() != Level::Going
    }
}

fn now() -> i128 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i128::try_from(since.as_nanos()).unwrap_or(0)
}

/// Prints why an operation failed, as Helm does.
pub(super) fn report(invocation: &mut Invocation<'_>, before: &str, trouble: &Trouble) -> Exit {
    let exit = fail(invocation, &format!("{before}{trouble}"));
    for line in trouble.details() {
        let _ = writeln!(invocation.stderr, "  {line}");
    }
    exit
}

/// A time of Go's notation: `5m0s`, `90s`, `1h30m`.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    let mut total = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|ch: char| !ch.is_ascii_digit() && ch != '.')?;
        let (number, tail) = rest.split_at_checked(end)?;
        let end = tail.find(|ch: char| ch.is_ascii_digit() || ch == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at_checked(end)?;
        let seconds = match unit {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            _ => return None,
        };
        total += number.parse::<f64>().ok()? * seconds;
        rest = tail;
    }
    Duration::try_from_secs_f64(total).ok()
}

/// `--timeout`, five minutes if it is not given.
pub(super) fn timeout(invocation: &mut Invocation<'_>, flags: &Arguments) -> Result<Duration, Exit> {
    let Some(text) = flags.text("timeout") else { return Ok(Duration::from_secs(300)) };
    duration(text).ok_or_else(|| {
        let why = format!("invalid argument {text:?} for \"--timeout\" flag: time: invalid duration {text:?}");
        fail(invocation, &why)
    })
}

/// An integer of a flag.
pub(super) fn number<T: std::str::FromStr + Copy>(
    invocation: &mut Invocation<'_>,
    flags: &Arguments,
    name: &str,
    usual: T,
) -> Result<T, Exit> {
    let Some(text) = flags.text(name) else { return Ok(usual) };
    text.parse().map_err(|_| {
        let why = format!(
            "invalid argument {text:?} for \"--{name}\" flag: strconv.ParseInt: parsing {text:?}: invalid syntax"
        );
        fail(invocation, &why)
    })
}

/// Files and folders that Helm keeps for its user.
pub(super) struct Homes {
    /// `repositories.yaml`
    pub(super) repositories: PathBuf,
    /// The folder of indexes.
    pub(super) cache: PathBuf,
    /// The folder of settings.
    pub(super) config: PathBuf,
    /// The folder of data.
    pub(super) data: PathBuf,
    /// The folder that holds the cache.
    pub(super) cache_home: PathBuf,
    /// `registry/config.json`
    pub(super) registry: PathBuf,
}

impl Homes {
    /// Where Helm keeps them, by its flags and variables.
    pub(super) fn of(invocation: &Invocation<'_>, flags: &Arguments) -> Homes {
        let env = |name: &str| invocation.env.get(name).filter(|text| !text.is_empty());
        let home = PathBuf::from(env("HOME").map_or("", String::as_str));
        let base = |own: &str, shared: &str, usual: &str| match (env(own), env(shared)) {
            (Some(own), _) => PathBuf::from(own),
            (None, Some(shared)) => PathBuf::from(shared).join("helm"),
            (None, None) => home.join(usual).join("helm"),
        };
        let config = base("HELM_CONFIG_HOME", "XDG_CONFIG_HOME", ".config");
        let cache_home = base("HELM_CACHE_HOME", "XDG_CACHE_HOME", ".cache");
        let data = base("HELM_DATA_HOME", "XDG_DATA_HOME", ".local/share");
        let named = |flag: &str, variable: &str, usual: PathBuf| {
            let given = flags.text(flag).map(str::to_owned).or_else(|| env(variable).cloned());
            given.filter(|text| !text.is_empty()).map_or(usual, |path| invocation.cwd.join(path))
        };
        Homes {
            repositories: named("repository-config", "HELM_REPOSITORY_CONFIG", config.join("repositories.yaml")),
            cache: named("repository-cache", "HELM_REPOSITORY_CACHE", cache_home.join("repository")),
            registry: named("registry-config", "HELM_REGISTRY_CONFIG", config.join("registry/config.json")),
            config,
            data,
            cache_home,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_in_go() {
        for (text, seconds) in
            [("5m0s", 300.0), ("90s", 90.0), ("1h30m", 5_400.0), ("1.5s", 1.5), ("200ms", 0.2), ("0", 0.0)]
        {
            assert_eq!(duration(text), Some(Duration::from_secs_f64(seconds)), "{text}");
        }
        for bad in ["", "5", "s", "5x", "-5s", "1..2s"] {
            assert_eq!(duration(bad), None, "{bad}");
        }
    }
}
