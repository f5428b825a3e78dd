//! Deploys to Kubernetes, from a project to the objects in a cluster, against an API in this process.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod charts;
mod containers;
mod deploys;
mod failures;
mod fake;
mod live;
mod objects;
mod releases;
mod revisions;
mod skaffold;
mod storefront;
mod streams;

use fake::Fake;
use purlin_suite::{Ran, Scratch, environment, run};

/// A project in a folder, with a cluster.
pub struct Bench {
    /// The project's folder.
    pub scratch: Scratch,
    /// The cluster.
    pub fake: Fake,
    kubeconfig: String,
}

const PROJECT: &str = "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments: [{ name: dev }]\n\
                       providers:\n- name: kubernetes\n  context: test\n  namespace: shop-dev\n";

impl Bench {
    /// A project with a provider and nothing else.
    pub fn new(name: &str) -> Bench {
        let scratch = Scratch::new(&format!("cluster-{name}")).unwrap();
        let fake = Fake::start();
        let home = scratch.path().join("home");
        std::fs::create_dir_all(&home).unwrap();
        let kubeconfig = fake.kubeconfig(&home).display().to_string();
        let bench = Bench { scratch, fake, kubeconfig };
        bench.write("project.garden.yml", PROJECT);
        bench
    }

    /// Writes a file of the project.
    pub fn write(&self, file: &str, text: &str) {
        let path = self.scratch.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Adds a `kubernetes` Deploy with manifests in a separate file.
    pub fn deploy_of(&self, name: &str, manifests: &str) {
        let text = format!(
            "kind: Deploy\nname: {name}\ntype: kubernetes\nspec:\n  manifestFiles: [{name}.yaml]\n  timeout: 1\n"
        );
        self.write(&format!("{name}.garden.yml"), &text);
        self.write(&format!("{name}.yaml"), manifests);
    }

    /// Runs Purlin in the project.
    pub fn purlin(&self, args: &[&str]) -> Ran {
        self.purlin_with(args, &[])
    }

    /// The same with additional environment variables.
    pub fn purlin_with(&self, args: &[&str], more: &[(&str, &str)]) -> Ran {
        let mut env = environment("");
        env.insert("KUBECONFIG".to_owned(), self.kubeconfig.clone());
        env.extend(more.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        run(&args, self.scratch.path(), &env)
    }

    /// The same, which must succeed.
    pub fn good(&self, args: &[&str]) -> Ran {
        let ran = self.purlin(args);
        assert_eq!(ran.code, 0, "{args:?}\n{}\n{}", ran.stdout, ran.stderr);
        ran
    }
}

/// One object.
pub fn object(version: &str, kind: &str, name: &str, rest: &str) -> String {
    format!("---\napiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {name}\n{rest}")
}

/// A workload that becomes ready at once, unless `wish` says otherwise.
pub fn deployment(name: &str, replicas: i32, wish: &str) -> String {
    format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\n  annotations: {{ test/wish: '{wish}' }}\n\
         spec:\n  replicas: {replicas}\n  selector: {{ matchLabels: {{ app: {name} }} }}\n  template:\n    metadata: {{ labels: {{ app: {name} }} }}\n    \
         spec: {{ containers: [{{ name: main, image: 'nginx:1' }}] }}\n"
    )
}
