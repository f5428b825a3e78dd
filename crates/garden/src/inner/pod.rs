//! The pod that a Run or Test of type `container`, `kubernetes-pod` or `helm-pod` runs in: its own container, or one of
//! a workload among its objects, changed so that it ends.

use super::Inner;
use super::making::{Making, image, items};
use crate::action::Action;
use crate::live::About;
use crate::rules;
use purlin_model::{Manifest, Resolved};
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, suggest};
use purlin_value::{Eval, Map, Session, Value};

/// Keys that a pod copies from its source. Keys of long-running workloads are left out.
const KEPT: &[&str] = &[
    "affinity",
    "automountServiceAccountToken",
    "dnsConfig",
    "dnsPolicy",
    "enableServiceLinks",
    "hostAliases",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "hostname",
    "nodeName",
    "nodeSelector",
    "overhead",
    "preemptionPolicy",
    "priority",
    "priorityClassName",
    "runtimeClassName",
    "schedulerName",
    "securityContext",
    "serviceAccount",
    "serviceAccountName",
    "shareProcessNamespace",
    "subdomain",
    "tolerations",
    "topologySpreadConstraints",
    "volumes",
];

/// Probes of a long-running container.
const PROBES: &[&str] = &["readinessProbe", "livenessProbe", "startupProbe"];

/// The longest name of a pod, without its unique suffix.
const LONGEST: usize = 56;

/// Inputs for making it.
pub(super) struct Pod<'a> {
    pub about: &'a About,
    pub action: &'a Action,
    pub spec: &'a Value,
}

/// The source of a pod.
#[derive(Default)]
struct Parts {
    spec: Map,
    container: Map,
    image: Option<Value>,
}

impl Pod<'_> {
    /// The pod, given the objects that its container may be found in.
    pub fn resolve(&self, objects: Option<Inner>, eval: &mut Eval<'_>) -> Inner {
        self.made(objects, eval).unwrap_or_else(|missing| missing)
    }

    fn made(&self, objects: Option<Inner>, eval: &mut Eval<'_>) -> Result<Inner, Inner> {
        let making = Making::new(eval.session, self.action);
        let version = self.about.version(eval);
        let provider = self.about.cluster(eval);
        let Parts { mut spec, mut container, image } = self.parts(objects, eval)?;
        let Some(image) = image else {
            return Err(self.about.wrong(
                self.action,
                eval.session,
                format!("the container of `{}` has no image", self.action.key),
                None,
            ));
        };
        container.retain(|key, _| !PROBES.contains(&key.as_str()));
        if self.action.type_name == "container" {
            container.insert("resources".into(), making.resources(self.spec, None));
        }
        let security = making.security(self.spec);
        if !security.is_empty() {
            let security = security.into_iter().map(|(key, value)| (key.into(), value)).collect();
            container.insert("securityContext".into(), Value::map(security));
        }
        let mut env = making.environment(&version, self.spec.get("env"));
        let known = |env: &[Value], name: &Value| {
            env.iter().any(|one| one.get("name").map(|n| n.as_str()) == Some(name.as_str()))
        };
        for variable in container.get("env").and_then(Value::as_list).unwrap_or(&[]) {
            if variable.get("name").is_some_and(|name| !known(&env, name)) {
                env.push(variable.clone());
            }
        }
        container.insert("name".into(), making.own("main"));
        container.insert("image".into(), image);
        container.insert("env".into(), making.list(env));
        for key in ["command", "args"] {
            if let Some(list) = self.spec.get(key).filter(|list| !list.is_null()) {
                container.insert(key.into(), list.clone());
            }
        }
        self.mount(&making, &mut spec, &mut container)?;
        spec.insert("containers".into(), making.list(vec![Value::map(container)]));
        let secrets = provider.pull_secrets().into_iter().map(|name| making.map([("name", name)])).collect();
        spec.insert("imagePullSecrets".into(), making.list(secrets));
        spec.insert("restartPolicy".into(), making.own("Never"));
        let name: String = format!("{}-{}", self.action.kind.lower(), self.action.name).chars().take(LONGEST).collect();
        let metadata = making.map([("name", making.own(name)), ("namespace", provider.namespace(self.spec))]);
        let pod = making.map([
            ("apiVersion", making.own("v1")),
            ("kind", making.own("Pod")),
            ("metadata", metadata),
            ("spec", Value::map(spec)),
        ]);
        let mut resolved = Resolved::new(self.action.name.clone());
        resolved.manifests = vec![Manifest::new(self.action.config.file.clone(), pod)];
        Ok(Inner::Known(Box::new(resolved)))
    }

    fn parts(&self, objects: Option<Inner>, eval: &mut Eval<'_>) -> Result<Parts, Inner> {
        let Some(objects) = objects else {
            let image = image(self.about, self.action, self.spec, eval);
            return Ok(Parts { image, ..Parts::default() });
        };
        let whole = match self.spec.get("podSpec").filter(|spec| !spec.is_null()) {
            Some(spec) => spec.clone(),
            None => self.found(objects, eval.session)?,
        };
        if whole.is_pending() {
            return Err(Inner::Pending(whole));
        }
        let container = self.container(&whole, eval.session)?;
        let kept = whole.as_map().into_iter().flat_map(|map| map.iter());
        let kept =
            kept.filter(|(key, _)| KEPT.contains(&key.as_str())).map(|(key, value)| (key.clone(), value.clone()));
        let image = container.get("image").cloned();
        Ok(Parts { spec: kept.collect(), container: container.as_map().cloned().unwrap_or_default(), image })
    }

    /// The pod of the workload that `resource` means.
    fn found(&self, objects: Inner, session: &Session) -> Result<Value, Inner> {
        let Inner::Known(resolved) = objects else { return Err(objects) };
        let Some(query) = self.spec.get("resource") else { return Err(Inner::Broken) };
        let Some(kind) = query.get("kind").and_then(Value::as_str) else {
            let message =
                format!("`resource` of `{}` names no `kind`; the pod to run is made from a workload", self.action.key);
            return Err(self.about.wrong(self.action, session, message, Some(query)));
        };
        let name = query.get("name").and_then(Value::as_str);
        let text = |object: &Value, path: &str| object.at(path).and_then(|value| value.as_str().map(str::to_owned));
        let of_kind = || resolved.manifests.iter().filter(|m| text(&m.value, "kind").as_deref() == Some(kind));
        let is_named = |object: &Value| name.is_none_or(|name| text(object, "metadata.name").as_deref() == Some(name));
        let mut fitting = of_kind().filter(|manifest| is_named(&manifest.value));
        let (first, second) = (fitting.next(), fitting.next());
        let names: Vec<String> = of_kind().filter_map(|manifest| text(&manifest.value, "metadata.name")).collect();
        let Some(found) = first.filter(|_| name.is_some() || second.is_none()) else {
            let what = name.map_or_else(|| kind.to_owned(), |name| format!("{kind} `{name}`"));
            let message = match first {
                None => format!("`{}` has no {what} to take a pod from", self.action.key),
                Some(_) => format!("`{}` has several objects of the kind {kind}; set `resource.name`", self.action.key),
            };
            let hint = name.and_then(|name| suggest::did_you_mean(name, names.iter().map(String::as_str)));
            let place = self.about.place(self.action, Some(query), session);
            self.about.report(session, Diagnostic::nowhere(&rules::INNER, message).maybe_hint(hint), place);
            return Err(Inner::Broken);
        };
        let path = if kind == "Pod" { "spec" } else { "spec.template.spec" };
        found.value.at(path).ok_or_else(|| {
            self.about.wrong(self.action, session, format!("{kind} of `{}` has no pod", self.action.key), Some(query))
        })
    }

    fn container(&self, pod: &Value, session: &Session) -> Result<Value, Inner> {
        let all = pod.get("containers").and_then(Value::as_list).unwrap_or(&[]);
        let query = self.spec.get("resource");
        let wanted = query.and_then(|query| query.get("containerName")).and_then(Value::as_str);
        let is_meant = |one: &&Value| wanted.is_none_or(|name| one.get("name").and_then(Value::as_str) == Some(name));
        all.iter().find(is_meant).cloned().ok_or_else(|| {
            let message = match wanted {
                Some(name) => what::lacking(format!("the pod of `{}`", self.action.key), "container", name),
                None => format!("the pod of `{}` has no containers", self.action.key).into(),
            };
            self.about.wrong(self.action, session, message, query)
        })
    }

    /// Volumes of the action's own, or those of the workload that do not depend on its place.
    fn mount(&self, making: &Making, spec: &mut Map, container: &mut Map) -> Result<(), Inner> {
        if self.action.type_name == "container" {
            let own = items(self.spec, "volumes")?;
            if !own.is_empty() {
                let (volumes, mounts) = making.volumes(own, &self.about.full(&self.action.source_folder));
                spec.insert("volumes".into(), volumes);
                container.insert("volumeMounts".into(), mounts);
            }
            return Ok(());
        }
        let Some(volumes) = spec.get("volumes").and_then(Value::as_list) else { return Ok(()) };
        let stays =
            |volume: &&Value| ["configMap", "secret"].iter().any(|key| volume.get(key).is_some_and(|v| !v.is_null()));
        let kept: Vec<Value> = volumes.iter().filter(stays).cloned().collect();
        let has = |mount: &&Value| {
            let name = mount.get("name").and_then(Value::as_str);
            kept.iter().any(|volume| volume.get("name").and_then(Value::as_str) == name)
        };
        let mounts = container.get("volumeMounts").and_then(Value::as_list);
        let mounts = mounts.map(|list| list.iter().filter(has).cloned().collect::<Vec<Value>>());
        if let Some(mounts) = mounts {
            container.insert("volumeMounts".into(), making.list(mounts));
        }
        spec.insert("volumes".into(), making.list(kept));
        Ok(())
    }
}
