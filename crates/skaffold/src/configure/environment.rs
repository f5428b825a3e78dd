//! Build environments as `inspect build-env` sees them: their names, their settings and the flags that set those.
//!
//! It must not know files.

use crate::entities::{Entity, build};
use crate::item::{Data, Item, View};

/// The environments images are built in; without any, on this machine.
pub const KINDS: &[&str] = &["local", "googleCloudBuild", "cluster"];

/// The build environment of a configuration or profile.
pub fn of(pipeline: View<'_, '_>) -> &'static str {
    let build = pipeline.get("build");
    let has = |key: &&&str| build.is_some_and(|build| build.get(key).is_some());
    KINDS.iter().rev().find(has).copied().unwrap_or("local")
}

/// The table of an environment's settings.
pub fn entity(kind: &str) -> Option<&'static Entity> {
    match kind {
        "local" => Some(&build::LOCAL_BUILD),
        "googleCloudBuild" => Some(&build::GOOGLE_CLOUD_BUILD),
        "cluster" => Some(&build::CLUSTER_DETAILS),
        _ => None,
    }
}

/// Type of a flag's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// A string; an empty one is not set.
    Text,
    /// An integer; one below the minimum is not set.
    Number(i64),
    /// A boolean that is kept even if it is false.
    Switch,
    /// A boolean that only counts if it is true.
    On,
}

/// A flag of `build-env add` and `build-env modify`.
#[derive(Debug)]
pub struct Flag {
    /// Its name.
    pub name: &'static str,
    /// Type of its value.
    pub takes: Takes,
    /// The keys of the setting, from the environment on.
    keys: &'static [&'static str],
}

use Takes::{Number, On, Switch, Text};

const fn flag(name: &'static str, takes: Takes, keys: &'static [&'static str]) -> Flag {
    Flag { name, takes, keys }
}

const LOCAL: &[Flag] = &[
    flag("push", Switch, &["push"]),
    flag("tryImportMissing", Switch, &["tryImportMissing"]),
    flag("useDockerCLI", Switch, &["useDockerCLI"]),
    flag("useBuildkit", Switch, &["useBuildkit"]),
    flag("concurrency", Number(0), &["concurrency"]),
];

const GOOGLE_CLOUD_BUILD: &[Flag] = &[
    flag("projectId", Text, &["projectId"]),
    flag("diskSizeGb", Number(1), &["diskSizeGb"]),
    flag("machineType", Text, &["machineType"]),
    flag("timeout", Text, &["timeout"]),
    flag("concurrency", Number(0), &["concurrency"]),
    flag("logging", Text, &["logging"]),
    flag("logStreamingOption", Text, &["logStreamingOption"]),
    flag("workerPool", Text, &["workerPool"]),
];

const CLUSTER: &[Flag] = &[
    flag("timeout", Text, &["timeout"]),
    flag("concurrency", Number(0), &["concurrency"]),
    flag("pullSecretPath", Text, &["pullSecretPath"]),
    flag("pullSecretName", Text, &["pullSecretName"]),
    flag("pullSecretMountPath", Text, &["pullSecretMountPath"]),
    flag("namespace", Text, &["namespace"]),
    flag("dockerConfigPath", Text, &["dockerConfig", "path"]),
    flag("dockerConfigSecretName", Text, &["dockerConfig", "secretName"]),
    flag("serviceAccount", Text, &["serviceAccount"]),
    flag("runAsUser", Number(0), &["runAsUser"]),
    flag("randomPullSecret", On, &["randomPullSecret"]),
    flag("randomDockerConfigSecret", On, &["randomDockerConfigSecret"]),
];

/// The flag of an environment's settings that has this name.
pub fn flag_named(kind: &str, name: &str) -> Option<&'static Flag> {
    let flags = match kind {
        "local" => LOCAL,
        "googleCloudBuild" => GOOGLE_CLOUD_BUILD,
        "cluster" => CLUSTER,
        _ => &[],
    };
    flags.iter().find(|flag| flag.name == name)
}

/// Writes the values of flags into an environment. The error is for an invalid value.
pub fn set(section: &mut Item<'_>, kind: &str, settings: &[(String, String)]) -> Result<(), String> {
    section.map();
    for (name, text) in settings {
        let Some(flag) = flag_named(kind, name) else { continue };
        let Some(value) = value(flag, text)? else { continue };
        let place = flag.keys.iter().fold(&mut *section, |item, key| item.slot(key));
        *place = value;
    }
    Ok(())
}

fn value<'f>(flag: &Flag, text: &str) -> Result<Option<Item<'f>>, String> {
    let refused = |expected: &str| format!("invalid value `{text}` for `--{}`: expected {expected}", flag.name);
    match flag.takes {
        Text => Ok((!text.is_empty()).then(|| Item::text(text))),
        Number(least) => {
            let number: i64 = text.parse().map_err(|_| refused("an integer"))?;
            Ok((number >= least).then(|| Data::Int(number).into()))
        }
        Switch | On => {
            let on = match text {
                "true" | "1" | "t" | "T" | "TRUE" | "True" => true,
                "false" | "0" | "f" | "F" | "FALSE" | "False" => false,
                _ => return Err(refused("`true` or `false`")),
            };
            Ok((on || flag.takes == Switch).then(|| Data::Bool(on).into()))
        }
    }
}

/// Whether an environment is written with any setting in it.
pub fn is_used(build: View<'_, '_>, kind: &str) -> bool {
    let Some(entity) = entity(kind) else { return false };
    build.get(kind).is_some_and(|section| crate::emit::has_settings(section, entity))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editions::LATEST;

    #[test]
    fn every_flag_sets_a_key_of_the_table() {
        for (kind, flags) in [("local", LOCAL), ("googleCloudBuild", GOOGLE_CLOUD_BUILD), ("cluster", CLUSTER)] {
            for flag in flags {
                let row = flag.keys.first().and_then(|key| entity(kind)?.field(key, LATEST));
                assert!(row.is_some(), "{kind} {}", flag.name);
            }
        }
    }
}
