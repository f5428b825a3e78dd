//! Output of `inspect … list`: parts of the configurations, as one line of JSON.
//!
//! Works on resolved configurations and changes nothing.

use crate::environment;
use crate::item::{Item, View};
use crate::walk::Config;
use purlin_syntax::write::{Emit, JsonFlavor, JsonLayout, JsonWriter};
use std::collections::BTreeMap;

/// One line of JSON, written by a function.
pub fn json(write: impl FnOnce(&mut JsonWriter)) -> String {
    let mut writer = JsonWriter::new(JsonLayout::Compact, JsonFlavor::Go);
    write(&mut writer);
    let mut text = writer.finish().unwrap_or_default();
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// Fields of one entry; empty strings and false booleans are left out.
#[derive(Default)]
struct Facts<'a> {
    texts: Vec<(&'static str, &'a str)>,
    switches: Vec<(&'static str, bool)>,
}

impl Facts<'_> {
    fn write(&self, to: &mut JsonWriter) {
        let texts: Vec<_> = self.texts.iter().filter(|(_, text)| !text.is_empty()).collect();
        let switches: Vec<_> = self.switches.iter().filter(|(_, on)| *on).collect();
        to.begin_map(texts.len() + switches.len());
        for (key, text) in texts {
            to.key(key);
            to.string(text);
        }
        for (key, on) in switches {
            to.key(key);
            to.bool(*on);
        }
        to.end_map();
    }
}

fn list(name: &str, all: &[Facts<'_>]) -> String {
    json(|to| {
        to.begin_map(1);
        to.key(name);
        to.begin_list(all.len());
        all.iter().for_each(|facts| facts.write(to));
        to.end_list();
        to.end_map();
    })
}

/// `inspect modules list`; unnamed ones only when all are wanted.
pub fn modules(configs: &[Config<'_>], all: bool) -> String {
    let names: Vec<String> = configs
        .iter()
        .map(
            |config| {
                if config.name.is_empty() { format!("__config_{}", config.index) } else { config.name.to_string() }
            },
        )
        .collect();
    let facts: Vec<Facts<'_>> = configs
        .iter()
        .zip(&names)
        .filter(|(config, _)| all || !config.name.is_empty())
        .map(|(config, name)| Facts {
            texts: vec![("name", name), ("path", &config.file.path)],
            switches: vec![("isRemote", config.is_remote), ("isRoot", !config.is_dependency)],
        })
        .collect();
    list("modules", &facts)
}

/// `inspect profiles list`, perhaps only those with a build environment.
pub fn profiles(configs: &[Config<'_>], environment: Option<&str>) -> String {
    let mut found: Vec<(String, &Config<'_>)> = Vec::new();
    for config in configs {
        for profile in config.item.view().get("profiles").into_iter().flat_map(View::items) {
            if environment.is_none_or(|wanted| environment::of(profile) == wanted) {
                found.push((profile.text_of("name").into_owned(), config));
            }
        }
    }
    let facts: Vec<Facts<'_>> = found
        .iter()
        .map(|(name, config)| Facts {
            texts: vec![("name", name), ("path", &config.file.path), ("module", &config.name)],
            switches: Vec::new(),
        })
        .collect();
    list("profiles", &facts)
}

/// `inspect build-env list`.
pub fn build_environments(configs: &[Config<'_>]) -> String {
    let facts: Vec<Facts<'_>> = configs
        .iter()
        .map(|config| Facts {
            texts: vec![
                ("type", environment::of(config.item.view())),
                ("path", &config.file.path),
                ("module", &config.name),
            ],
            switches: Vec::new(),
        })
        .collect();
    list("build_envs", &facts)
}

/// `inspect tests list`: of each test case first the custom tests, then the structure tests.
pub fn tests(configs: &[Config<'_>]) -> String {
    let placed: Vec<Item<'_>> = configs.iter().map(Config::placed).collect();
    let cases: Vec<View<'_, '_>> =
        placed.iter().flat_map(|config| config.view().get("test").into_iter().flat_map(View::items)).collect();
    let members = |case: &View<'_, '_>, key: &str| case.get(key).into_iter().flat_map(View::items).count();
    let count = cases.iter().map(|case| members(case, "custom") + members(case, "structureTests")).sum();
    json(|to| {
        to.begin_map(1);
        to.key("tests");
        to.begin_list(count);
        for case in &cases {
            case.get("custom").into_iter().flat_map(View::items).for_each(|test| custom_test(test, to));
            let files = case.get("structureTests").into_iter().flat_map(View::items);
            files.for_each(|file| structure_test(file, case.get("structureTestsArgs"), to));
        }
        to.end_list();
        to.end_map();
    })
}

/// A custom test is printed with the names of the original's own fields, empty ones included.
fn custom_test(test: View<'_, '_>, to: &mut JsonWriter) {
    to.begin_map(4);
    named(to, "testType", "custom-test");
    named(to, "Command", &test.text_of("command"));
    to.key("TimeoutSeconds");
    to.int(test.get("timeoutSeconds").and_then(View::int).unwrap_or(0));
    to.key("Dependencies");
    match test.get("dependencies") {
        None => to.null(),
        Some(dependencies) => {
            to.begin_map(3);
            named(to, "Command", &dependencies.text_of("command"));
            texts(to, "Paths", dependencies.get("paths"));
            texts(to, "Ignore", dependencies.get("ignore"));
            to.end_map();
        }
    }
    to.end_map();
}

fn structure_test(file: View<'_, '_>, args: Option<View<'_, '_>>, to: &mut JsonWriter) {
    to.begin_map(3);
    named(to, "testType", "structure-test");
    named(to, "structureTest", &file.text());
    texts(to, "structureTestArgs", args);
    to.end_map();
}

fn named(to: &mut JsonWriter, key: &str, text: &str) {
    to.key(key);
    to.string(text);
}

/// A list of strings, or null if missing.
fn texts(to: &mut JsonWriter, key: &str, list: Option<View<'_, '_>>) {
    to.key(key);
    match list {
        None => to.null(),
        Some(list) => {
            to.begin_list(list.items().count());
            list.items().for_each(|item| to.string(&item.text()));
            to.end_list();
        }
    }
}

/// The kind of checks or actions that a listing shows, and their fields, sorted by name.
fn by_name(
    configs: &[Config<'_>],
    verify_key: &str,
    action_key: &str,
    says: fn(View<'_, '_>) -> Option<String>,
) -> String {
    let collect = |section: &str| -> BTreeMap<String, String> {
        let items = configs.iter().flat_map(|config| config.item.view().get(section).into_iter().flat_map(View::items));
        items.filter_map(|item| Some((item.text_of("name").into_owned(), says(item)?))).collect()
    };
    json(|to| {
        to.begin_map(2);
        for (key, found) in [(verify_key, collect("verify")), (action_key, collect("customActions"))] {
            to.key(key);
            to.begin_map(found.len());
            found.iter().for_each(|(name, text)| named(to, name, text));
            to.end_map();
        }
        to.end_map();
    })
}

/// `inspect jobManifestPaths list`.
pub fn job_manifest_paths(configs: &[Config<'_>]) -> String {
    by_name(configs, "verifyJobManifestPaths", "customActionJobManifestPaths", |item| {
        let path = item.at(&["executionMode", "kubernetesCluster", "jobManifestPath"])?.text().into_owned();
        (!path.is_empty()).then_some(path)
    })
}

/// `inspect executionModes list`.
pub fn execution_modes(configs: &[Config<'_>]) -> String {
    by_name(configs, "verifyExecutionModes", "customActionsExecutionModes", |item| {
        let cluster = item.at(&["executionMode", "kubernetesCluster"]).is_some();
        Some(if cluster { "kubernetesCluster" } else { "local" }.to_owned())
    })
}

/// A resource of a file of manifests.
pub struct Resource {
    /// Its name.
    pub name: String,
    /// Its namespace; empty if the manifest has none.
    pub namespace: String,
}

/// `inspect namespaces list`: the namespaces that the deployments of a file of manifests go to. A manifest without one
/// takes it from the flags of `kubectl`, else from the default namespace of the configuration.
pub fn namespaces(configs: &[Config<'_>], deployments: &[Resource]) -> String {
    let (mut fallback, mut from_flags) = ("default".to_owned(), String::new());
    for kubectl in configs.iter().filter_map(|config| config.item.view().at(&["deploy", "kubectl"])) {
        if let Some(namespace) = kubectl.get("defaultNamespace").filter(|text| !text.text().is_empty()) {
            fallback = namespace.text().into_owned();
        }
        for flags in ["global", "apply"].iter().filter_map(|key| kubectl.at(&["flags", key])) {
            from_flags = namespace_flag(flags).unwrap_or(from_flags);
        }
    }
    let chosen = if from_flags.is_empty() { &fallback } else { &from_flags };
    json(|to| {
        to.begin_map(1);
        to.key("resourceToInfoMap");
        to.begin_map(usize::from(!deployments.is_empty()));
        if !deployments.is_empty() {
            to.key("apps/v1, Kind=Deployment");
            to.begin_list(deployments.len());
            for Resource { name, namespace } in deployments {
                to.begin_map(2);
                named(to, "name", name);
                named(to, "namespace", if namespace.is_empty() { chosen } else { namespace });
                to.end_map();
            }
            to.end_list();
        }
        to.end_map();
        to.end_map();
    })
}

/// The namespace that flags of `kubectl` name: `-n NAME`, `-n=NAME` or the same with `--namespace`.
fn namespace_flag(flags: View<'_, '_>) -> Option<String> {
    let flags: Vec<String> = flags.items().map(|flag| flag.text().into_owned()).collect();
    flags.iter().enumerate().find_map(|(at, flag)| match flag.as_str() {
        "-n" | "--namespace" => flags.get(at + 1).cloned(),
        _ => {
            let value = flag.strip_prefix("-n=").or_else(|| flag.strip_prefix("--namespace="))?;
            (!value.contains('=')).then(|| value.to_owned())
        }
    })
}

/// A problem, as `inspect` prints it.
pub fn error(code: &str, message: &str) -> String {
    json(|to| Facts { texts: vec![("errorCode", code), ("errorMessage", message)], switches: Vec::new() }.write(to))
}
