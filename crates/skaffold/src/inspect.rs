//! Answers of `inspect … list`: what is in the configurations, as one line of JSON.
//!
//! Works on resolved configurations and changes nothing.

use crate::item::View;
use crate::walk::Config;
use purlin_syntax::write::{Emit, JsonFlavor, JsonLayout, JsonWriter};

/// One line of JSON, written by a function.
pub fn json(write: impl FnOnce(&mut JsonWriter)) -> String {
    let mut writer = JsonWriter::new(JsonLayout::Compact, JsonFlavor::Plain);
    write(&mut writer);
    let mut text = writer.finish().unwrap_or_default();
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// What is said about one thing; empty texts and false switches are left out.
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
            if environment.is_none_or(|key| profile.at(&["build", key]).is_some()) {
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
    let kind = |config: &Config<'_>| {
        let build = config.item.view().get("build");
        let kinds = ["googleCloudBuild", "cluster"];
        kinds.into_iter().find(|key| build.is_some_and(|build| build.get(key).is_some())).unwrap_or("local")
    };
    let facts: Vec<Facts<'_>> = configs
        .iter()
        .map(|config| Facts {
            texts: vec![("type", kind(config)), ("path", &config.file.path), ("module", &config.name)],
            switches: Vec::new(),
        })
        .collect();
    list("build_envs", &facts)
}

/// `inspect tests list`: one entry per structure test and per custom test.
pub fn tests(configs: &[Config<'_>]) -> String {
    struct Test {
        kind: &'static str,
        what: String,
        image: String,
        args: String,
        timeout: i64,
    }
    let mut found: Vec<(Test, &Config<'_>)> = Vec::new();
    for config in configs {
        for case in config.item.view().get("test").into_iter().flat_map(View::items) {
            let image = case.text_of("image").into_owned();
            let args: Vec<String> = case
                .get("structureTestsArgs")
                .into_iter()
                .flat_map(View::items)
                .map(|a| a.text().into_owned())
                .collect();
            for file in case.get("structureTests").into_iter().flat_map(View::items) {
                let what = file.text().into_owned();
                found.push((
                    Test { kind: "structure-test", what, image: image.clone(), args: args.join(" "), timeout: 0 },
                    config,
                ));
            }
            for custom in case.get("custom").into_iter().flat_map(View::items) {
                let what = custom.text_of("command").into_owned();
                let timeout = custom.get("timeoutSeconds").and_then(View::int).unwrap_or(0);
                found.push((
                    Test { kind: "custom-test", what, image: image.clone(), args: String::new(), timeout },
                    config,
                ));
            }
        }
    }
    json(|to| {
        to.begin_map(1);
        to.key("tests");
        to.begin_list(found.len());
        for (test, config) in &found {
            let is_custom = test.kind == "custom-test";
            let texts = [
                ("testType", test.kind),
                (if is_custom { "customTest" } else { "structureTest" }, test.what.as_str()),
                ("structureTestArgs", test.args.as_str()),
                ("targetArtifact", test.image.as_str()),
                ("path", config.file.path.as_str()),
                ("module", config.name.as_str()),
            ];
            let texts: Vec<_> = texts.into_iter().filter(|(_, text)| !text.is_empty()).collect();
            to.begin_map(texts.len() + usize::from(test.timeout != 0));
            for (key, text) in texts {
                to.key(key);
                to.string(text);
            }
            if test.timeout != 0 {
                to.key("customTestTimeout");
                to.int(test.timeout);
            }
            to.end_map();
        }
        to.end_list();
        to.end_map();
    })
}

/// Which of the checks and actions a listing is about, and what it says of each.
fn by_name(
    configs: &[Config<'_>],
    verify_key: &str,
    action_key: &str,
    says: fn(View<'_, '_>) -> Option<String>,
) -> String {
    let collect = |section: &str| -> Vec<(String, String)> {
        let items = configs
            .iter()
            .flat_map(|config| config.item.view().get(section).into_iter().flat_map(View::items).collect::<Vec<_>>());
        items.filter_map(|item| Some((item.text_of("name").into_owned(), says(item)?))).collect()
    };
    json(|to| {
        to.begin_map(2);
        for (key, found) in [(verify_key, collect("verify")), (action_key, collect("customActions"))] {
            to.key(key);
            to.begin_map(found.len());
            for (name, text) in found {
                to.key(&name);
                to.string(&text);
            }
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
    by_name(configs, "verifyExecutionModes", "customActionExecutionModes", |item| {
        let cluster = item.at(&["executionMode", "kubernetesCluster"]).is_some();
        Some(if cluster { "kubernetesCluster" } else { "local" }.to_owned())
    })
}

/// `inspect namespaces list`: the namespaces a file of manifests uses.
pub fn namespaces(found: &[String]) -> String {
    json(|to| {
        to.begin_map(1);
        to.key("namespaces");
        to.begin_list(found.len());
        found.iter().for_each(|name| to.string(name));
        to.end_list();
        to.end_map();
    })
}

/// A problem, as `inspect` prints it.
pub fn error(code: &str, message: &str) -> String {
    json(|to| Facts { texts: vec![("errorCode", code), ("errorMessage", message)], switches: Vec::new() }.write(to))
}
