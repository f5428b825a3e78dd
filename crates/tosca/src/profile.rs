//! Version keywords and the profiles that come with them: which files every template imports without saying so.
//!
//! The files are TOSCA themselves, under `profiles/`, each in the edition its header names. A profile is the sum of
//! the files that apply to an edition, so that no type is written down twice.

use crate::schema::Edition;

/// A file that is part of the program.
#[derive(Clone, Copy, Debug)]
pub struct Embedded {
    /// What it is called in messages.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! embedded {
    ($path:literal) => {
        Embedded { path: concat!("purlin:/tosca/", $path), text: include_str!(concat!("../profiles/", $path)) }
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
    Version { keyword: "tosca_2_0", edition: Edition::V2_0, profile: &[BUILTIN_2] },
    Version {
        keyword: "tosca_simple_yaml_1_3",
        edition: Edition::V1_3,
        profile: &[BUILTIN_1, BUILTIN_1_3, ALL, SINCE_1_1, SINCE_1_2, SINCE_1_3],
    },
    Version {
        keyword: "tosca_simple_yaml_1_2",
        edition: Edition::V1_2,
        profile: &[BUILTIN_1, ALL, SINCE_1_1, SINCE_1_2, UNTIL_1_2],
    },
    Version {
        keyword: "tosca_simple_profile_for_nfv_1_0",
        edition: Edition::V1_2,
        profile: &[BUILTIN_1, ALL, SINCE_1_1, SINCE_1_2, UNTIL_1_2, NFV],
    },
    Version {
        keyword: "tosca_simple_yaml_1_1",
        edition: Edition::V1_1,
        profile: &[BUILTIN_1, ALL, UNTIL_1_1, SINCE_1_1, ONLY_1_1, UNTIL_1_2],
    },
    Version {
        keyword: "tosca_simple_yaml_1_0",
        edition: Edition::V1_0,
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
