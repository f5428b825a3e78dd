//! `purlin demo`: unpacks the example storefront, and runs it without containers and without a cluster.
//!
//! A script replaces the container builder, and an API in this process replaces the cluster; their output says so.
//! Everything else is real: the commands of the tour are those that a user types.

use crate::border::write_below;
use crate::commands::Context;
use crate::invocation::{Exit, Invocation};
use crate::veil::Veil;
use purlin_cluster::stand_in::StandIn;
use purlin_host::loopback::{Loopback, Sent};
use purlin_host::named;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The files of the example.
#[rustfmt::skip]
const FILES: &[(&str, &str)] = &[
    ("README.md", include_str!("../../../../../examples/storefront/README.md")),
    ("production.yml", include_str!("../../../../../examples/storefront/production.yml")),
    ("project.garden.yml", include_str!("../../../../../examples/storefront/project.garden.yml")),
    ("charts/garden.yml", include_str!("../../../../../examples/storefront/charts/garden.yml")),
    ("charts/api/Chart.yaml", include_str!("../../../../../examples/storefront/charts/api/Chart.yaml")),
    ("charts/api/values.yaml", include_str!("../../../../../examples/storefront/charts/api/values.yaml")),
    ("charts/api/config/resources.yaml", include_str!("../../../../../examples/storefront/charts/api/config/resources.yaml")),
    ("charts/web/Chart.yaml", include_str!("../../../../../examples/storefront/charts/web/Chart.yaml")),
    ("charts/web/values.yaml", include_str!("../../../../../examples/storefront/charts/web/values.yaml")),
    ("charts/web/values.shop.yaml", include_str!("../../../../../examples/storefront/charts/web/values.shop.yaml")),
    ("charts/web/templates/_names.tpl", include_str!("../../../../../examples/storefront/charts/web/templates/_names.tpl")),
    ("charts/web/templates/config.yaml", include_str!("../../../../../examples/storefront/charts/web/templates/config.yaml")),
    ("charts/web/templates/deployment.yaml", include_str!("../../../../../examples/storefront/charts/web/templates/deployment.yaml")),
    ("charts/web/templates/service.yaml", include_str!("../../../../../examples/storefront/charts/web/templates/service.yaml")),
    ("charts/web/charts/cache/Chart.yaml", include_str!("../../../../../examples/storefront/charts/web/charts/cache/Chart.yaml")),
    ("charts/web/charts/cache/values.yaml", include_str!("../../../../../examples/storefront/charts/web/charts/cache/values.yaml")),
    ("charts/web/charts/cache/templates/deployment.yaml", include_str!("../../../../../examples/storefront/charts/web/charts/cache/templates/deployment.yaml")),
    ("images/garden.yml", include_str!("../../../../../examples/storefront/images/garden.yml")),
    ("images/skaffold.yaml", include_str!("../../../../../examples/storefront/images/skaffold.yaml")),
    ("images/api/Dockerfile", include_str!("../../../../../examples/storefront/images/api/Dockerfile")),
    ("images/api/routes.json", include_str!("../../../../../examples/storefront/images/api/routes.json")),
    ("images/base/Dockerfile", include_str!("../../../../../examples/storefront/images/base/Dockerfile")),
    ("images/base/notice.txt", include_str!("../../../../../examples/storefront/images/base/notice.txt")),
    ("images/k8s/autoscaler.yaml", include_str!("../../../../../examples/storefront/images/k8s/autoscaler.yaml")),
    ("images/k8s/worker.yaml", include_str!("../../../../../examples/storefront/images/k8s/worker.yaml")),
    ("images/web/Dockerfile", include_str!("../../../../../examples/storefront/images/web/Dockerfile")),
    ("images/web/index.html", include_str!("../../../../../examples/storefront/images/web/index.html")),
    ("images/web/robots.txt", include_str!("../../../../../examples/storefront/images/web/robots.txt")),
    ("images/worker/Dockerfile", include_str!("../../../../../examples/storefront/images/worker/Dockerfile")),
    ("images/worker/queues.json", include_str!("../../../../../examples/storefront/images/worker/queues.json")),
    ("network/garden.yml", include_str!("../../../../../examples/storefront/network/garden.yml")),
    ("network/service.yaml", include_str!("../../../../../examples/storefront/network/service.yaml")),
    ("payments/ensemble.yaml", include_str!("../../../../../examples/storefront/payments/ensemble.yaml")),
    ("payments/garden.yml", include_str!("../../../../../examples/storefront/payments/garden.yml")),
    ("payments/unfurl.yaml", include_str!("../../../../../examples/storefront/payments/unfurl.yaml")),
    ("services/job.json", include_str!("../../../../../examples/storefront/services/job.json")),
    ("services/jobs.garden.yml", include_str!("../../../../../examples/storefront/services/jobs.garden.yml")),
    ("services/templates.garden.yml", include_str!("../../../../../examples/storefront/services/templates.garden.yml")),
    (".gitignore", ".purlin/\n.purlin-demo/\n"),
];

/// The folder of the stand-ins, below that of the demo.
const STATE: &str = ".purlin-demo";
const CLUSTER: &str = ".purlin-demo/cluster.json";
const KUBECONFIG: &str = ".purlin-demo/kubeconfig";
const BUILDER: &str = ".purlin-demo/tools/buildah";
const LARGEST_STATE: u64 = 64 << 20;

/// The commands of the tour, and what each shows.
const TOUR: &[(&str, &[&str])] = &[
    ("every project of the folder, in all environments", &["check"]),
    ("where one value comes from", &["why", "deploy.api/Deployment/api-api", "spec.replicas", "-e", "production"]),
    ("images in order, each with what it is built on", &["build"]),
    ("network, payments and migration, then the charts and the worker", &["deploy"]),
    ("a test of what is deployed", &["test"]),
    ("nothing has changed, so nothing runs again", &["deploy"]),
];

pub(in crate::commands) fn run(cx: &mut Context<'_, '_>, folder: &Path, command: &[String]) -> Result<Exit, Exit> {
    let full = crate::native::canonical_or_same(cx.invocation.cwd.join(folder));
    if !cfg!(unix) {
        return Err(cx.usage("`purlin demo` needs a Unix shell; try `purlin check examples/storefront` instead"));
    }
    let is_new = !named::is_folder(&full.join(STATE));
    if is_new {
        unpack(cx, &full, folder)?;
    }
    let demo = Demo::start(&full).map_err(|error| cx.io(&format!("could not start the demo: {error}")))?;
    let exit = match command {
        [] => tour(cx, &demo, folder, is_new),
        command => {
            let words: Vec<&str> = command.iter().map(String::as_str).collect();
            say(cx, STANDING_IN);
            Ok(demo.purlin(cx.invocation, &words))
        }
    };
    demo.keep().map_err(|error| cx.io(&format!("could not write `{CLUSTER}`: {error}")))?;
    exit
}

const STANDING_IN: &str = "demo: no container is built and no cluster is used; a builder that shows the steps, and an API \
                           in this process, stand in for them\n";

/// Writes the files of the example into a folder that is empty or missing.
fn unpack(cx: &mut Context<'_, '_>, full: &Path, shown: &Path) -> Result<(), Exit> {
    if named::exists(full) && named::list(full).map_or(true, |mut names| names.next().is_some()) {
        let message = format!("`{}` is not empty; name another folder: purlin demo DIR", shown.display());
        return Err(cx.usage(&message));
    }
    let written = || -> std::io::Result<()> {
        named::create_folder(full)?;
        for (name, text) in FILES {
            write_below(full, name, text.as_bytes())?;
        }
        write_below(full, BUILDER, include_bytes!("demo/buildah"))?;
        named::make_executable(&full.join(BUILDER))
    };
    written().map_err(|error| cx.io(&format!("could not write `{}`: {error}", shown.display())))
}

fn say(cx: &mut Context<'_, '_>, text: &str) {
    let _ = cx.invocation.stderr.write_all(text.as_bytes());
}

/// Runs the commands of the tour, each below its own line, up to the first that fails.
fn tour(cx: &mut Context<'_, '_>, demo: &Demo, folder: &Path, is_new: bool) -> Result<Exit, Exit> {
    let shown = folder.display();
    if is_new {
        say(cx, &format!("wrote {} files to {shown}\n", FILES.len()));
    }
    say(cx, STANDING_IN);
    for (what, words) in TOUR {
        say(cx, &format!("\n# {what}\n$ purlin {}\n", words.join(" ")));
        let exit = demo.purlin(cx.invocation, words);
        if exit != Exit::Ok {
            return Ok(exit);
        }
    }
    let next = format!(
        "\nNow yours:\n  cd {shown}\n  purlin explore                  the same in a browser\n  \
         purlin diff -e staging --to-env production\n  purlin demo . -- dev            run again what a change affects: \
         edit images/api/routes.json\n  purlin demo . -- cleanup --yes  take everything down\n"
    );
    say(cx, &next);
    Ok(Exit::Ok)
}

/// The stand-ins of a folder.
struct Demo {
    folder: PathBuf,
    port: u16,
    cluster: Arc<Mutex<StandIn>>,
}

impl Demo {
    /// Starts the API with what an earlier run has left in it, at the same address if that is free: results belong to
    /// the address of a cluster.
    fn start(folder: &Path) -> std::io::Result<Demo> {
        let text = named::read_text(&folder.join(CLUSTER), LARGEST_STATE).unwrap_or_default();
        let stored: Json = serde_json::from_str(&text).unwrap_or_default();
        let port = stored.get("port").and_then(Json::as_u64).and_then(|port| u16::try_from(port).ok());
        let cluster = stored.get("cluster").map_or_else(StandIn::new, StandIn::restored);
        let cluster = Arc::new(Mutex::new(cluster));
        let server = Loopback::open(port)?;
        let port = server.port();
        write_below(folder, KUBECONFIG, kubeconfig(port, server.token()).as_bytes())?;
        let shared = cluster.clone();
        server.start(Arc::new(move |sent: &Sent| {
            lock(&shared).answer(&sent.method, &sent.target, &sent.accept, &sent.body)
        }));
        Ok(Demo { folder: folder.to_owned(), port, cluster })
    }

    /// Stores what is in the cluster for the next run.
    fn keep(&self) -> std::io::Result<()> {
        let stored = json!({ "port": self.port, "cluster": lock(&self.cluster).stored() });
        write_below(&self.folder, CLUSTER, stored.to_string().as_bytes())
    }

    /// The user's environment with the stand-ins in place of the tools.
    fn environment(&self, user: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let text = |path: &str| self.folder.join(path).to_string_lossy().into_owned();
        let mut env = user.clone();
        let path = env.get("PATH").map_or("/usr/local/bin:/usr/bin:/bin", String::as_str);
        let tools = text(BUILDER).trim_end_matches("/buildah").to_owned();
        let path = format!("{tools}:{path}");
        let own = [
            ("PATH", path),
            ("KUBECONFIG", text(KUBECONFIG)),
            ("PURLIN_BUILDER", "buildah".to_owned()),
            ("PURLIN_DEMO", text(STATE)),
        ];
        env.extend(own.map(|(name, value)| (name.to_owned(), value)));
        env
    }

    /// Runs a command of Purlin in the folder.
    fn purlin(&self, invocation: &mut Invocation<'_>, words: &[&str]) -> Exit {
        let inner = Invocation {
            args: words.iter().map(|word| (*word).to_owned()).collect(),
            cwd: self.folder.clone(),
            env: self.environment(&invocation.env),
            project_env: BTreeMap::new(),
            stdin: None,
            stdout: &mut *invocation.stdout,
            stderr: &mut *invocation.stderr,
            terminal: invocation.terminal,
            given: None,
            last: false,
            // Both streams hide the secrets of this run already; a second pass through one veil would wait for itself.
            veil: Veil::default(),
        };
        let code = crate::run(inner);
        // Both streams are read as one, in order.
        let flushed = invocation.stdout.flush().is_ok();
        if flushed { Exit::of(code) } else { Exit::Io }
    }
}

fn kubeconfig(port: u16, token: &str) -> String {
    format!(
        "# The cluster of `purlin demo`: an API in its process, while it runs.\napiVersion: v1\nkind: Config\n\
         current-context: purlin-demo\nclusters:\n- name: stand-in\n  cluster: {{ server: 'http://127.0.0.1:{port}' }}\n\
         contexts:\n- name: purlin-demo\n  context: {{ cluster: stand-in, user: demo }}\n\
         users:\n- name: demo\n  user: {{ token: {token} }}\n"
    )
}

fn lock(cluster: &Mutex<StandIn>) -> MutexGuard<'_, StandIn> {
    cluster.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_demo_has_every_file_of_the_example() {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/storefront");
        let mut open = vec![top.clone()];
        let mut found = Vec::new();
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let name = entry.path().strip_prefix(&top).unwrap().display().to_string();
                match entry.file_type().unwrap().is_dir() {
                    true if !name.starts_with('.') => open.push(entry.path()),
                    true => {}
                    false => found.push(name),
                }
            }
        }
        found.push(".gitignore".to_owned());
        found.sort();
        let mut packed: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        packed.sort_unstable();
        assert_eq!(packed, found);
    }
}
