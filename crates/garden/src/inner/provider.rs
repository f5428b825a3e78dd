//! Settings of a cluster's provider for everything deployed there: the namespace, host names, certificates and the
//! secrets that images are pulled with.

use crate::live::{About, Base};
use ecow::EcoString;
use purlin_value::{Eval, Value};

/// The providers that select a cluster.
pub(crate) const CLUSTER_PROVIDERS: &[&str] = &["kubernetes", "local-kubernetes", "openshift"];

/// The provider that deploys to a cluster.
pub struct Provider {
    config: Value,
    project: EcoString,
    namespace: EcoString,
}

impl About {
    /// The provider that deploys to a cluster, if there is one.
    pub(crate) fn cluster(&self, eval: &mut Eval<'_>) -> Provider {
        self.base().cluster(eval)
    }
}

impl Base {
    /// The same, for values that are computed without an action.
    pub(crate) fn cluster(&self, eval: &mut Eval<'_>) -> Provider {
        let config = CLUSTER_PROVIDERS.iter().find_map(|name| self.provider(name, eval)).unwrap_or_else(Value::null);
        // The namespace, and whether it is production, are the environment's.
        if !config.is_null() {
            eval.vary();
        }
        let owner = self.owner();
        Provider { config, project: owner.project.clone(), namespace: owner.namespace.clone() }
    }
}

impl Provider {
    /// The provider of a project and its namespace.
    pub(crate) fn of(config: Value, project: EcoString, namespace: EcoString) -> Self {
        Provider { config, project, namespace }
    }

    /// Whether a provider is configured.
    pub fn is_there(&self) -> bool {
        !self.config.is_null()
    }

    /// Its configuration; null if the project does not configure it.
    pub fn config(&self) -> &Value {
        &self.config
    }

    fn text(&self, key: &str) -> Option<&Value> {
        self.config.get(key).filter(|value| value.as_str().is_some_and(|text| !text.is_empty()))
    }

    /// The namespace of an action: its own, the provider's, or Garden's default.
    pub fn namespace(&self, spec: &Value) -> Value {
        let is_given = |value: &&Value| value.as_str().is_some_and(|name| !name.is_empty());
        let own = spec.get("namespace").filter(is_given);
        let named = self.config.get("namespace");
        let given = named.filter(is_given).or_else(|| named?.get("name").filter(is_given));
        match own.or(given) {
            Some(found) => found.clone(),
            // Without a provider, `helm`'s default applies.
            None if !self.is_there() => Value::str("default"),
            None => Value::str(ecow::eco_format!("{}-{}", self.project, self.namespace)),
        }
    }

    /// The host name of ingresses without one.
    pub(crate) fn default_hostname(&self) -> Option<Value> {
        let local = || Value::str(ecow::eco_format!("{}.local.demo.garden", self.project));
        let is_implied = self.is_local() && !self.finds_hostname();
        self.text("defaultHostname").cloned().or_else(|| is_implied.then(local))
    }

    fn is_local(&self) -> bool {
        self.text("name").and_then(Value::as_str) == Some("local-kubernetes")
    }

    /// Whether the host name is that of a Minikube, which depends on its address, so that only a command can find it.
    pub(crate) fn finds_hostname(&self) -> bool {
        self.is_local() && self.text("context").and_then(Value::as_str) == Some("minikube")
    }

    /// The class of ingresses.
    pub(super) fn ingress_class(&self) -> Option<Value> {
        if let Some(class) = self.text("ingressClass") {
            return Some(class.clone());
        }
        let is_local = self.is_local();
        match self.config.get("setupIngressController") {
            Some(name) if matches!(name.as_str(), Some("traefik" | "nginx")) => Some(name.clone()),
            None if is_local => Some(Value::str("nginx")),
            _ => None,
        }
    }

    /// The certificates of ingresses.
    pub(super) fn certificates(&self) -> &[Value] {
        self.config.get("tlsCertificates").and_then(Value::as_list).unwrap_or(&[])
    }

    /// Whether every ingress needs a certificate.
    pub(super) fn forces_ssl(&self) -> bool {
        self.config.get("forceSsl").and_then(Value::as_bool) == Some(true)
    }

    fn references<'p>(&'p self, key: &str) -> impl Iterator<Item = &'p Value> {
        self.config.get(key).and_then(Value::as_list).into_iter().flatten()
    }

    /// The names of secrets that images are pulled with.
    pub(super) fn pull_secrets(&self) -> Vec<Value> {
        self.references("imagePullSecrets").filter_map(|secret| secret.get("name").cloned()).collect()
    }

    /// Secrets that must be in the namespace of an action: name, and the namespace they are copied from. Certificates
    /// are needed by those that have ingresses.
    pub fn copied_secrets(&self, spec: &Value) -> Vec<(String, String)> {
        let has_ingresses = spec.get("ingresses").and_then(Value::as_list).is_some_and(|list| !list.is_empty());
        let certificates = if has_ingresses { self.certificates() } else { &[] };
        let certificates = certificates.iter().filter_map(|certificate| certificate.get("secretRef"));
        let all = self.references("imagePullSecrets").chain(self.references("copySecrets")).chain(certificates);
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let named = |secret: &Value| {
            let namespace = text(secret, "namespace").unwrap_or_else(|| "default".to_owned());
            Some((text(secret, "name")?, namespace))
        };
        let mut found: Vec<(String, String)> = all.filter_map(named).collect();
        found.sort();
        found.dedup();
        found
    }
}
