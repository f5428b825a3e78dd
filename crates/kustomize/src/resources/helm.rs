//! `helmCharts`: charts rendered by the engine for charts, with the values given in a kustomization.
//!
//! It knows the keys of an entry, but not charts.

use crate::arguments::Arguments;
use crate::edit::{set, text};
use crate::kustomization::{Kustomization, Problem, wrong};
use crate::resource::Resource;
use crate::strategic::{self, Lists};
use purlin_model::{Ask, ChartOptions, Engines, Manifest, Request};
use purlin_syntax::{Diagnostic, Flavor};
use purlin_value::{Map, MergeKeys, Session, Value, path, value_of};

/// The folder of charts, unless `helmGlobals.chartHome` names another one.
const HOME: &str = "charts";

/// The major version of Helm that Kustomize runs.
const HELM: &str = "3";

/// Names under `helmCharts` for the keys of `helmChartInflationGenerator`.
const OLD_KEYS: &[(&str, &str)] = &[
    ("chartName", "name"),
    ("chartVersion", "version"),
    ("chartRepoUrl", "repo"),
    ("values", "valuesFile"),
    ("valuesLocal", "valuesInline"),
    ("valuesMerge", "valuesMerge"),
    ("releaseName", "releaseName"),
    ("chartHome", "chartHome"),
];

/// The entries of a kustomization, with the folder of charts in each.
pub fn entries(kustomization: &Kustomization) -> Vec<Value> {
    let globals = kustomization.value.get("helmGlobals");
    let with_home = |mut entry: Value| {
        if let Some(home) = globals.and_then(|globals| globals.get("chartHome")) {
            set(&mut entry, "chartHome", home.clone());
        }
        entry
    };
    let old = kustomization.list("helmChartInflationGenerator").into_iter().map(|entry| renamed(&entry));
    old.chain(kustomization.list("helmCharts").into_iter().map(with_home)).collect()
}

fn renamed(old: &Value) -> Value {
    let known = OLD_KEYS.iter().filter_map(|(from, to)| Some(((*to).into(), old.get(from)?.clone())));
    Value::map(known.collect::<Map>()).with_origin(old.origin)
}

/// The objects of one entry.
pub fn render(
    session: &Session,
    kustomization: &Kustomization,
    entry: &Value,
    engines: Engines,
    arguments: &Arguments,
) -> Result<Vec<Resource>, Problem> {
    let entry = &Entry { session, kustomization, value: entry, arguments };
    let chart = entry.chart()?;
    let (values, additional) = entry.values(&chart)?;
    let request = Request { values: additional, ..entry.request(engines)? };
    let span = session.origins.span(entry.value.origin, &session.sources);
    let ask = Ask { path: &chart, request, values, span };
    let Some(engine) = engines.get("chart") else {
        return Err(Problem::Elsewhere { what: "`helmCharts`".to_owned(), span });
    };
    let who = format!("`helmCharts` of `{}`", kustomization.file);
    let (rendered, is_sound) = session.sink.succeeds(|| engine.resolve_for(session, &ask, &who));
    let Some(rendered) = rendered.filter(|_| is_sound) else { return Err(Problem::Reported) };
    let is_left_out = |manifest: &Manifest| manifest.value.is_null() || entry.is_on("skipHooks") && is_hook(manifest);
    let wanted = rendered.manifests.into_iter().filter(|manifest| !is_left_out(manifest));
    Ok(wanted.map(|manifest| Resource::new(manifest.value, manifest.source)).collect())
}

fn is_hook(manifest: &Manifest) -> bool {
    manifest.value.at("metadata.annotations").is_some_and(|annotations| annotations.get("helm.sh/hook").is_some())
}

/// An entry of `helmCharts`.
struct Entry<'e> {
    session: &'e Session,
    kustomization: &'e Kustomization,
    value: &'e Value,
    arguments: &'e Arguments,
}

impl Entry<'_> {
    fn text(&self, key: &str) -> &str {
        text(self.value, &[key])
    }

    fn is_on(&self, key: &str) -> bool {
        self.value.get(key).and_then(Value::as_bool) == Some(true)
    }

    fn wrong(&self, message: String) -> Diagnostic {
        wrong(self.session, self.value, message)
    }

    fn texts(&self, key: &str) -> Vec<String> {
        let list = self.value.get(key).and_then(Value::as_list).unwrap_or_default();
        list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// The folder of the chart. A pulled chart from a repository is in a folder with its version.
    fn chart(&self) -> Result<String, Problem> {
        let (name, version, repo) = (self.text("name"), self.text("version"), self.text("repo"));
        if name.is_empty() {
            return Err(self.wrong("this chart has no `name`".to_owned()).into());
        }
        let home = Some(self.text("chartHome")).filter(|home| !home.is_empty()).unwrap_or(HOME);
        let mut home = path::join(&self.kustomization.folder, home);
        if !version.is_empty() && !repo.is_empty() {
            home = path::join(&home, &format!("{name}-{version}"));
        }
        let chart = path::normalize(&path::join(&home, name));
        if self.session.world.exists(&chart) {
            return Ok(chart);
        }
        if repo.is_empty() {
            let missing = self.wrong(format!("no chart `{name}` found at `{}`", self.session.sources.shown(&chart)));
            return Err(missing.hint("add the chart there, or add its `repo`").into());
        }
        let span = self.session.origins.span(self.value.origin, &self.session.sources);
        let shown = self.session.sources.shown(&chart);
        Err(Problem::Elsewhere { what: format!("the chart `{name}` of `{repo}`, which is not in `{shown}`,"), span })
    }

    fn request(&self, engines: Engines) -> Result<Request, Problem> {
        let given = |key: &str| Some(self.text(key)).filter(|text| !text.is_empty()).map(str::to_owned);
        let (release, template) = (given("releaseName"), given("nameTemplate"));
        if release.is_some() && template.is_some() {
            return Err(self.wrong("both `releaseName` and `nameTemplate` are set".to_owned()).into());
        }
        let chart = ChartOptions {
            release_name: release,
            name_template: template,
            helm_version: Some(HELM.to_owned()),
            kube_version: given("kubeVersion").or_else(|| self.arguments.kube_version.clone()),
            api_versions: Some(self.texts("apiVersions"))
                .filter(|own| !own.is_empty())
                .unwrap_or_else(|| self.arguments.api_versions.clone()),
            include_crds: self.is_on("includeCRDs"),
            skip_tests: self.is_on("skipTests"),
            ..ChartOptions::default()
        };
        Ok(Request { namespace: given("namespace"), chart, engines, ..Request::default() })
    }

    /// The values in one mapping, and further files of values that override it. Without values of its own an entry
    /// leaves the chart those it has.
    fn values(&self, chart: &str) -> Result<(Value, Vec<String>), Problem> {
        let file = |written: &str| self.kustomization.own_file(self.session, self.value, written);
        let own = match self.text("valuesFile") {
            "" => None,
            written => Some(file(written)?),
        };
        let mut files = Vec::new();
        for written in self.texts("additionalValuesFiles") {
            files.push(file(&written)?);
        }
        let inline = self.value.get("valuesInline").filter(|values| values.as_map().is_some_and(|map| !map.is_empty()));
        let Some(inline) = inline else {
            return Ok((Value::null(), own.into_iter().chain(files).collect()));
        };
        let base = || self.read(&own.clone().unwrap_or_else(|| path::join(chart, "values.yaml")));
        let merged = |mut base: Value, over: &Value| {
            strategic::merge(&mut base, over, Lists::Replaced, &self.session.origins);
            base
        };
        let values = match self.text("valuesMerge") {
            "" | "override" => merged(base()?, inline),
            "merge" => merged(inline.clone(), &base()?),
            "replace" => inline.clone(),
            other => {
                let message = format!("`valuesMerge`: expected `merge`, `override` or `replace`, found `{other}`");
                let hint = "write `merge`, `override` or `replace`";
                return Err(self.wrong(message).hint(hint).into());
            }
        };
        let mut all = values;
        for file in files {
            all = over(all, self.read(&file)?);
        }
        Ok((all, Vec::new()))
    }

    fn read(&self, file: &str) -> Result<Value, Problem> {
        let tree = self.session.read_yaml(file, Flavor::Go)?;
        Ok(tree.root().map(|root| value_of(root, MergeKeys::Apply)).unwrap_or_default())
    }
}

/// Values of a later file over those of earlier ones, as Helm merges them: a null stays, to take a default away.
fn over(base: Value, later: Value) -> Value {
    let (Some(low), Some(high)) = (base.as_map(), later.as_map()) else {
        return if later.is_null() { base } else { later };
    };
    let mut all = low.clone();
    for (key, value) in high.iter() {
        let merged = match all.get(key) {
            Some(known) if known.as_map().is_some() && value.as_map().is_some() => over(known.clone(), value.clone()),
            _ => value.clone(),
        };
        all.insert(key.clone(), merged);
    }
    base.clone().tainted_by(later.taint()).with(all.into())
}
