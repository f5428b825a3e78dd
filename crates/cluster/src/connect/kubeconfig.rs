//! Selects the cluster and the credentials: kubeconfig files, read and merged as in kubectl, or the service account of
//! a pod.

use crate::exec;
use crate::foreign;
use crate::hidden::Hidden;
use purlin_host::named;
use purlin_syntax::write::JsonLayout;
use purlin_syntax::{FileId, Flavor, Limits, MergeKeys, Source, suggest};
use purlin_value::emit::to_json;
use purlin_value::encoding::from_base64;
use purlin_value::{Secrets, value_of};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The folder with the service account of a pod.
const ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The user's selection.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The environment: `KUBECONFIG`, `HOME`, and the variables for credential plugins.
    pub env: BTreeMap<String, String>,
    /// A file that is read instead of all others.
    pub kubeconfig: Option<PathBuf>,
    /// A context, if not the current one.
    pub context: Option<String>,
    /// Whether credential plugins may be run.
    pub allow_exec: bool,
    /// Whether a file of a project chose the kubeconfig, not the user.
    pub by_project: bool,
    /// Whether the user trusts that project.
    pub trust: bool,
}

impl Wanted {
    /// Whether a kubeconfig is one of the user's own: listed in `KUBECONFIG`, or below `~/.kube`.
    fn is_users_own(&self, file: &Path) -> bool {
        let real = |path: &Path| named::canonical(path).unwrap_or_else(|_| path.to_owned());
        let file = real(file);
        let listed = self.env.get("KUBECONFIG").into_iter().flat_map(std::env::split_paths);
        let own = home(&self.env).map(|home| real(&home.join(".kube")));
        listed.filter(|path| !path.as_os_str().is_empty()).any(|path| real(&path) == file)
            || own.is_some_and(|folder| file.starts_with(folder))
    }
}

/// The user's credentials, besides a certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Proof {
    /// None.
    #[default]
    None,
    /// A bearer token.
    Token(Hidden),
    /// A name and a password.
    Basic(String, Hidden),
}

/// Everything needed to connect to a cluster.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The name of the context, for messages.
    pub context: String,
    /// The address of the API.
    pub server: String,
    /// Certificates of trusted authorities, PEM; the system's if `None`.
    pub authority: Option<Vec<u8>>,
    /// Whether any certificate of the server is accepted.
    pub insecure: bool,
    /// The name in the server's certificate, if not that of the address.
    pub server_name: Option<String>,
    /// A certificate and its key, PEM.
    pub identity: Option<(Vec<u8>, Hidden)>,
    /// A token or a password.
    pub proof: Proof,
    /// Headers for impersonation.
    pub impersonate: Vec<(String, String)>,
    /// The name of the user's entry, for messages.
    pub user: String,
    /// The namespace of the context.
    pub namespace: Option<String>,
    /// Time limit of a request; the default if not set.
    pub request_timeout: Option<Duration>,
}

/// An entry of a kubeconfig file, and the folder of its relative paths.
#[derive(Clone, Debug)]
struct Entry {
    body: Json,
    folder: PathBuf,
    /// Whether it comes from a project: then it may only use files below its folder, and no plain connection.
    is_confined: bool,
}

impl Entry {
    /// The content of a file that it names.
    fn read(&self, file: &str) -> std::io::Result<Vec<u8>> {
        let full = self.folder.join(file);
        if !self.is_confined {
            return named::stream(&full, named::LARGEST);
        }
        let (real, folder) = (named::canonical(&full)?, named::canonical(&self.folder)?);
        if !real.starts_with(folder) || !named::is_file(&real) {
            let why = "a kubeconfig of a project can only name files below its own folder";
            return Err(std::io::Error::new(std::io::ErrorKind::PermissionDenied, why));
        }
        named::read(&real, named::LARGEST)
    }
}

/// All files, merged: of several entries with one name the first counts.
#[derive(Clone, Debug, Default)]
struct Merged {
    current: Option<String>,
    contexts: BTreeMap<String, Entry>,
    clusters: BTreeMap<String, Entry>,
    users: BTreeMap<String, Entry>,
    files: Vec<PathBuf>,
    /// Whether the current file comes from a project.
    is_confined: bool,
}

impl Access {
    /// Determines the access to the requested cluster.
    pub fn find(wanted: &Wanted) -> Result<Access, String> {
        let merged = Merged::read(wanted)?;
        if merged.is_empty() && wanted.context.is_none() {
            if let Some(access) = in_cluster(&wanted.env)? {
                return Ok(access);
            }
            let hint = "set `KUBECONFIG`, or use `--kubeconfig FILE`";
            return Err(format!("no Kubernetes cluster is configured ({}); {hint}", merged.looked_at()));
        }
        merged.access(wanted)
    }
}

impl Access {
    /// Uses a token in the place of other credentials.
    pub fn set_token(&mut self, token: &str) {
        self.proof = Proof::Token(Hidden::new(token));
        self.identity = None;
    }
}

impl Merged {
    fn read(wanted: &Wanted) -> Result<Merged, String> {
        let mut merged = Merged::default();
        let listed = wanted.env.get("KUBECONFIG").filter(|list| !list.is_empty());
        let (files, must_exist) = match (&wanted.kubeconfig, listed) {
            (Some(file), _) => (vec![file.clone()], true),
            (None, Some(list)) => (std::env::split_paths(list).collect(), false),
            (None, None) => (home(&wanted.env).map(|home| home.join(".kube/config")).into_iter().collect(), false),
        };
        let is_foreign = |file: &Path| wanted.by_project && wanted.kubeconfig.is_some() && !wanted.is_users_own(file);
        for file in files.into_iter().filter(|file| !file.as_os_str().is_empty()) {
            merged.is_confined = is_foreign(&file);
            if merged.is_confined && !wanted.trust {
                let shown = foreign::line(&file.display().to_string());
                return Err(format!(
                    "the project chooses the kubeconfig `{shown}`, which is not one of yours; add `--trust` if you trust this \
                     project, or choose it with `--kubeconfig`"
                ));
            }
            if merged.files.contains(&file) {
                continue;
            }
            let found = match merged.is_confined {
                true => named::read(&file, named::LARGEST),
                false => named::stream(&file, named::LARGEST),
            };
            match found {
                Ok(bytes) => merged.add(&file, &bytes)?,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => {}
                Err(error) => return Err(format!("could not read `{}`: {error}", file.display())),
            }
            merged.files.push(file);
        }
        Ok(merged)
    }

    fn add(&mut self, file: &Path, bytes: &[u8]) -> Result<(), String> {
        let config = read_yaml(file, bytes)?;
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        let is_confined = self.is_confined;
        let current = text(&config, "current-context");
        self.current = self.current.take().or(current);
        for (list, key, into) in [
            ("contexts", "context", &mut self.contexts),
            ("clusters", "cluster", &mut self.clusters),
            ("users", "user", &mut self.users),
        ] {
            for entry in config.get(list).and_then(Json::as_array).into_iter().flatten() {
                let Some(name) = text(entry, "name") else { continue };
                let body = entry.get(key).cloned().unwrap_or(Json::Null);
                into.entry(name).or_insert(Entry { body, folder: folder.clone(), is_confined });
            }
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.contexts.is_empty() && self.clusters.is_empty() && self.users.is_empty() && self.current.is_none()
    }

    fn looked_at(&self) -> String {
        let files: Vec<String> = self.files.iter().map(|file| format!("`{}`", file.display())).collect();
        if files.is_empty() { "no kubeconfig file".to_owned() } else { format!("looked at {}", files.join(", ")) }
    }

    fn access(&self, wanted: &Wanted) -> Result<Access, String> {
        let name = wanted.context.clone().or_else(|| self.current.clone());
        let Some(name) = name else {
            let names: Vec<&str> = self.contexts.keys().map(String::as_str).collect();
            return Err(format!(
                "no context is chosen; use `--kube-context` with one of: {}",
                if names.is_empty() { "(there are none)".to_owned() } else { names.join(", ") }
            ));
        };
        let context = named(&self.contexts, "context", &name, &self.looked_at())?;
        let cluster_name = text(&context.body, "cluster").unwrap_or_default();
        let cluster = named(&self.clusters, "cluster", &cluster_name, &format!("context `{name}`"))?;
        let user_name = text(&context.body, "user").unwrap_or_default();
        let mut access = Access {
            server: text(&cluster.body, "server")
                .ok_or_else(|| format!("cluster `{cluster_name}` has no `server`"))?
                .trim_end_matches('/')
                .to_owned(),
            authority: data_or_file(cluster, "certificate-authority")?,
            insecure: cluster.body.get("insecure-skip-tls-verify").and_then(Json::as_bool).unwrap_or(false),
            server_name: text(&cluster.body, "tls-server-name"),
            namespace: text(&context.body, "namespace"),
            context: name,
            user: user_name.clone(),
            ..Access::default()
        };
        if let Some(proxy) = text(&cluster.body, "proxy-url") {
            return Err(format!(
                "cluster `{cluster_name}` is behind a proxy (`proxy-url: {}`), which is not supported",
                foreign::address(&proxy)
            ));
        }
        if cluster.is_confined && !access.server.to_ascii_lowercase().starts_with("https://") {
            return Err(format!(
                "cluster `{cluster_name}` of the project's kubeconfig is at {}, which is not encrypted; choose the file with \
                 `--kubeconfig` to connect",
                foreign::address(&access.server)
            ));
        }
        if access.insecure && access.authority.is_some() {
            return Err(format!(
                "cluster `{cluster_name}` has both a certificate authority and `insecure-skip-tls-verify`; remove one"
            ));
        }
        if !user_name.is_empty() {
            let user = named(&self.users, "user", &user_name, &format!("context `{}`", access.context))?;
            fill_user(&mut access, user, &user_name, cluster, wanted)?;
        }
        Ok(access)
    }
}

/// Applies the entry of a user.
fn fill_user(access: &mut Access, user: &Entry, name: &str, cluster: &Entry, wanted: &Wanted) -> Result<(), String> {
    let body = &user.body;
    if body.get("auth-provider").is_some_and(|provider| !provider.is_null()) {
        return Err(format!("user `{name}` has an `auth-provider`, which Kubernetes no longer supports; use `exec`"));
    }
    let certificate = data_or_file(user, "client-certificate")?;
    let key = data_or_file(user, "client-key")?;
    access.identity = match (certificate, key) {
        (Some(certificate), Some(key)) => Some((certificate, Hidden::new(String::from_utf8_lossy(&key)))),
        (None, None) => None,
        (Some(_), None) => return Err(format!("user `{name}` has a client certificate, but no key")),
        (None, Some(_)) => return Err(format!("user `{name}` has a client key, but no certificate")),
    };
    let named = text(body, "tokenFile");
    let file = named.as_ref().map(|file| {
        let why = |error| format!("could not read the token of user `{name}` in `{}`: {error}", foreign::line(file));
        user.read(file).map_err(why)
    });
    // If the token file cannot be read, an inline token is used, as in kubectl.
    let file = match file {
        Some(Err(_)) if text(body, "token").is_some() => None,
        other => other.transpose()?,
    };
    let token = file.map(|token| String::from_utf8_lossy(&token).trim().to_owned()).filter(|token| !token.is_empty());
    access.proof = match (token.or_else(|| text(body, "token")), text(body, "username")) {
        (Some(token), _) => Proof::Token(Hidden::new(token)),
        (None, Some(username)) => Proof::Basic(username, Hidden::new(text(body, "password").unwrap_or_default())),
        (None, None) => match text(body, "tokenFile") {
            Some(file) => return Err(format!("could not read the token of user `{name}` in `{file}`")),
            None => Proof::None,
        },
    };
    access.impersonate = impersonation(body);
    let plugin = body.get("exec").filter(|plugin| !plugin.is_null());
    if let Some(plugin) = plugin.filter(|_| access.proof == Proof::None && access.identity.is_none()) {
        if user.is_confined {
            return Err(format!(
                "user `{name}` of the project's kubeconfig gets credentials from a command, which only a kubeconfig of yours \
                 can; choose the file with `--kubeconfig` to run it"
            ));
        }
        let given = exec::credentials(plugin, name, &user.folder, cluster_info(access, cluster), wanted)?;
        access.proof = given.token.map_or(Proof::None, Proof::Token);
        access.identity = given.identity;
    }
    Ok(())
}

/// Cluster information for a credential plugin.
fn cluster_info(access: &Access, cluster: &Entry) -> Json {
    let mut info = Map::new();
    info.insert("server".into(), access.server.clone().into());
    for key in ["tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data"] {
        if let Some(value) = cluster.body.get(key) {
            info.insert(key.into(), value.clone());
        }
    }
    Json::Object(info)
}

fn impersonation(body: &Json) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    headers.extend(text(body, "as").map(|name| ("Impersonate-User".to_owned(), name)));
    headers.extend(text(body, "as-uid").map(|uid| ("Impersonate-Uid".to_owned(), uid)));
    for group in body.get("as-groups").and_then(Json::as_array).into_iter().flatten() {
        headers.extend(group.as_str().map(|group| ("Impersonate-Group".to_owned(), group.to_owned())));
    }
    for (key, values) in body.get("as-user-extra").and_then(Json::as_object).into_iter().flatten() {
        for value in values.as_array().into_iter().flatten().filter_map(Json::as_str) {
            headers.push((format!("Impersonate-Extra-{key}"), value.to_owned()));
        }
    }
    headers
}

fn named<'m>(
    entries: &'m BTreeMap<String, Entry>,
    what: &str,
    name: &str,
    asked_by: &str,
) -> Result<&'m Entry, String> {
    entries.get(name).ok_or_else(|| {
        let hint = suggest::did_you_mean(name, entries.keys().map(String::as_str));
        let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        format!("unknown {what} `{name}` in the kubeconfig ({asked_by}){hint}")
    })
}

/// The base64 data of `KEY-data`, or the file named by `KEY`. Data takes precedence, as in kubectl.
fn data_or_file(entry: &Entry, key: &str) -> Result<Option<Vec<u8>>, String> {
    if let Some(data) = text(&entry.body, &format!("{key}-data")) {
        let packed: String = data.chars().filter(|c| !c.is_whitespace()).collect();
        let bytes =
            from_base64(packed.as_bytes()).map_err(|_| format!("`{key}-data` of the kubeconfig is not base64"))?;
        return Ok(Some(bytes));
    }
    let Some(file) = text(&entry.body, key) else { return Ok(None) };
    let shown = foreign::line(&entry.folder.join(&file).display().to_string());
    entry.read(&file).map(Some).map_err(|error| format!("could not read `{shown}` (`{key}`): {error}"))
}

/// The service account of the pod that this process runs in, if any.
fn in_cluster(env: &BTreeMap<String, String>) -> Result<Option<Access>, String> {
    let (Some(host), Some(port)) = (env.get("KUBERNETES_SERVICE_HOST"), env.get("KUBERNETES_SERVICE_PORT")) else {
        return Ok(None);
    };
    let read = |name: &str| named::read(&Path::new(ACCOUNT).join(name), named::LARGEST);
    let Ok(token) = read("token") else { return Ok(None) };
    let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
    Ok(Some(Access {
        context: "in-cluster".to_owned(),
        server: format!("https://{host}:{port}"),
        authority: read("ca.crt").ok(),
        proof: Proof::Token(Hidden::new(String::from_utf8_lossy(&token).trim())),
        user: "service account".to_owned(),
        namespace: read("namespace").ok().map(|name| String::from_utf8_lossy(&name).trim().to_owned()),
        ..Access::default()
    }))
}

fn home(env: &BTreeMap<String, String>) -> Option<PathBuf> {
    env.get("HOME").or_else(|| env.get("USERPROFILE")).filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// A string that is set and not empty.
pub(crate) fn text(value: &Json, key: &str) -> Option<String> {
    value.get(key).and_then(Json::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn read_yaml(file: &Path, bytes: &[u8]) -> Result<Json, String> {
    let shown = file.display().to_string();
    let source = Arc::new(Source::new(FileId(0), shown.as_str(), String::from_utf8_lossy(bytes).as_ref()));
    let tree = purlin_syntax::yaml::parse(source, Flavor::Core, &Limits::default());
    if let Some(problem) = tree.diagnostics().iter().find(|problem| problem.is_error()) {
        return Err(format!("could not parse `{shown}`: {}", problem.message));
    }
    let Some(root) = tree.roots().next() else { return Ok(Json::Null) };
    let written = to_json(&value_of(root, MergeKeys::Apply), Secrets::Reveal, JsonLayout::Compact);
    let parsed = written.ok().and_then(|written| serde_json::from_str(&written).ok());
    parsed.ok_or_else(|| format!("could not read `{shown}`"))
}
