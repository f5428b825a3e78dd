//! Version keywords and their profiles: the files that every template imports implicitly.
//!
//! The files are TOSCA themselves, under `profiles/`, each in the edition its header names. A profile is the sum of
//! the files that apply to an edition, so that no type is written twice.

use crate::edition::{self, Edition};

/// A built-in file.
#[derive(Clone, Copy, Debug)]
pub struct Embedded {
    /// Its name in messages.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! embedded {
    ($path:literal) => {
        Embedded { path: concat!("purlin:/tosca/", $path), text: include_str!(concat!("../../profiles/", $path)) }
    };
}

const BUILTIN_1: Embedded = embedded!("builtin-1.x.yaml");
const BUILTIN_1_3: Embedded = embedded!("builtin-1.3.yaml");
const BUILTIN_2: Embedded = embedded!("builtin-2.0.yaml");
const ALL: Embedded = embedded!("simple/all.yaml");
const UNTIL_1_1: Embedded = embedded!("simple/until-1.1.yaml");
const UNTIL_1_2: Embedded = embedded!("simple/until-1.2.yaml");
const SINCE_1_1: Embedded = embedded!("simple/since-1.1.yaml");
const SINCE_1_2: Embedded = embedded!("simple/since-1.2.yaml");
const SINCE_1_3: Embedded = embedded!("simple/since-1.3.yaml");
const ONLY_1_0: Embedded = embedded!("simple/only-1.0.yaml");
const ONLY_1_1: Embedded = embedded!("simple/only-1.1.yaml");
const NFV: Embedded = embedded!("nfv-1.0.yaml");

/// A value of `tosca_definitions_version`, the edition it means and the files that are imported with it.
#[derive(Clone, Copy, Debug)]
pub struct Version {
    /// The value.
    pub keyword: &'static str,
    /// The edition.
    pub edition: Edition,
    /// The profile.
    pub profile: &'static [Embedded],
}

/// All version keywords.
pub const VERSIONS: &[Version] = &[
    Version { keyword: "tosca_2_0", edition: edition::V2_0, profile: &[BUILTIN_2] },
    Version {
        keyword: "tosca_simple_yaml_1_3",
        edition: edition::V1_3,
        profile: &[BUILTIN_1, BUILTIN_1_3, ALL, SINCE_1_1, SINCE_1_2, SINCE_1_3],
    },
    Version {
        keyword: "tosca_simple_yaml_1_2",
        edition: edition::V1_2,
        profile: &[BUILTIN_1, ALL, SINCE_1_1, SINCE_1_2, UNTIL_1_2],
    },
    Version {
        keyword: "tosca_simple_profile_for_nfv_1_0",
        edition: edition::V1_2,
        profile: &[BUILTIN_1, ALL, SINCE_1_1, SINCE_1_2, UNTIL_1_2, NFV],
    },
    Version {
        keyword: "tosca_simple_yaml_1_1",
        edition: edition::V1_1,
        profile: &[BUILTIN_1, ALL, UNTIL_1_1, SINCE_1_1, ONLY_1_1, UNTIL_1_2],
    },
    Version {
        keyword: "tosca_simple_yaml_1_0",
        edition: edition::V1_0,
        profile: &[BUILTIN_1, ALL, UNTIL_1_1, ONLY_1_0, UNTIL_1_2],
    },
];

/// Profiles that can be imported by name.
pub const NAMED: &[(&str, Embedded)] = &[
    ("org.oasis-open.simple:2.0", embedded!("simple-2.0.yaml")),
    ("org.oasis-open.tosca.simple:2.0", embedded!("simple-2.0.yaml")),
];

/// The version with a keyword.
pub fn version(keyword: &str) -> Option<&'static Version> {
    VERSIONS.iter().find(|version| version.keyword == keyword)
}

/// The version behind another spelling: that of drafts, with a third number, or the address of the keyword's
/// namespace.
pub fn spelt_otherwise(keyword: &str) -> Option<&'static Version> {
    if let Some(number) = keyword.strip_prefix("http://docs.oasis-open.org/tosca/ns/simple/yaml/") {
        return version(&format!("tosca_simple_yaml_{}", number.replace('.', "_")));
    }
    version(keyword.strip_suffix("_0")?).filter(|version| version.edition != edition::V2_0)
}

/// A language of some orchestrator that shares the version key with TOSCA.
#[derive(Clone, Copy, Debug)]
pub struct Foreign {
    /// The common beginning of its version keywords.
    prefix: &'static str,
    /// The message about it.
    pub message: &'static str,
    /// The hint.
    pub hint: Option<&'static str>,
}

/// Languages that are recognised and not read.
const FOREIGN: &[Foreign] = &[
    Foreign { prefix: "cloudify_dsl_", message: "Cloudify blueprints are recognised, but not read yet", hint: None },
    Foreign {
        prefix: "alien_dsl_",
        message: "this is Alien4Cloud's own language, which is recognised, but not read: its imports name archives of \
                  a catalogue",
        hint: Some("to have it read, write it in TOSCA with `tosca_simple_yaml_1_3` and import files"),
    },
    Foreign {
        prefix: "tosca_simple_yaml_1_0_0_wd",
        message: "this working draft of TOSCA 1.0 is recognised, but not read: its notation changed before 1.0",
        hint: Some("rewrite it for `tosca_simple_yaml_1_3`"),
    },
    Foreign {
        prefix: "tosca_variability_",
        message: "Variability4TOSCA is recognised, but not read: its variants must be chosen first",
        hint: Some("resolve the variability with OpenTOSCA Vintner, and give what it writes"),
    },
    Foreign {
        prefix: "yorc_tosca_",
        message: "this is Yorc's own language, which is recognised, but not read",
        hint: Some("to have it read, write it in TOSCA with `tosca_simple_yaml_1_3`"),
    },
];

/// The language that a version keyword belongs to, if it is not TOSCA.
pub fn foreign(keyword: &str) -> Option<&'static Foreign> {
    FOREIGN.iter().find(|foreign| keyword.starts_with(foreign.prefix))
}
