//! Named departures from the strict reading, for templates written for other processors.
//!
//! Quirks are data: each is a switch that one rule looks at. Unknown names are refused.

/// The switches in force.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quirks {
    on: Vec<&'static str>,
}

/// Every quirk with what it does.
pub const QUIRKS: &[(&str, &str)] = &[
    (IMPLICIT_DISABLE, "the normative profile is not imported by itself"),
    (VERSION_PERMISSIVE, "imported files may be written in another edition"),
    (TOPOLOGY_IGNORE, "a service template in an imported file is ignored"),
    (IMPORTS_SEQUENCED, "an import may be written as a one-key map"),
    (STRING_PERMISSIVE, "other scalars are accepted as strings and versions"),
    (TIMESTAMP_PERMISSIVE, "timestamps may be written without quotes"),
    (OCCURRENCES_PERMISSIVE, "how many relationships lead to a capability is not checked"),
    (NORMATIVE_IGNORE, "normative types get no name at all"),
    (SHORTCUTS_DISABLE, "normative types get no short names"),
    (SUBSTITUTION_LIST, "mapped requirements may be a list"),
    (SUBSTITUTION_PERMISSIVE, "a mapped requirement need not be assigned"),
    (ANNOTATIONS_IGNORE, "annotations are skipped"),
    (OPERATIONS_PERMISSIVE, "operations may stand directly in an interface"),
];

/// Names for several quirks at once.
pub const COMBINATIONS: &[(&str, &[&str])] = &[
    (
        "etsinfv",
        &[TOPOLOGY_IGNORE, STRING_PERMISSIVE, OCCURRENCES_PERMISSIVE, SUBSTITUTION_LIST, SUBSTITUTION_PERMISSIVE],
    ),
    ("onap", &[ANNOTATIONS_IGNORE, IMPORTS_SEQUENCED, VERSION_PERMISSIVE]),
];

pub(crate) const IMPLICIT_DISABLE: &str = "imports.implicit.disable";
pub(crate) const VERSION_PERMISSIVE: &str = "imports.version.permissive";
pub(crate) const TOPOLOGY_IGNORE: &str = "imports.topology_template.ignore";
pub(crate) const IMPORTS_SEQUENCED: &str = "imports.sequencedlist";
pub(crate) const STRING_PERMISSIVE: &str = "data_types.string.permissive";
pub(crate) const TIMESTAMP_PERMISSIVE: &str = "data_types.timestamp.permissive";
pub(crate) const OCCURRENCES_PERMISSIVE: &str = "capabilities.occurrences.permissive";
pub(crate) const NORMATIVE_IGNORE: &str = "namespace.normative.ignore";
pub(crate) const SHORTCUTS_DISABLE: &str = "namespace.normative.shortcuts.disable";
pub(crate) const SUBSTITUTION_LIST: &str = "substitution_mappings.requirements.list";
pub(crate) const SUBSTITUTION_PERMISSIVE: &str = "substitution_mappings.requirements.permissive";
pub(crate) const ANNOTATIONS_IGNORE: &str = "annotations.ignore";
pub(crate) const OPERATIONS_PERMISSIVE: &str = "interfaces.operations.permissive";

impl Quirks {
    /// The quirks and combinations of these names; the names that do not exist are given back.
    pub fn parse<'a>(names: impl IntoIterator<Item = &'a str>) -> (Self, Vec<&'a str>) {
        let mut quirks = Quirks::default();
        let mut unknown = Vec::new();
        for name in names {
            if let Some((known, _)) = QUIRKS.iter().find(|(known, _)| *known == name) {
                quirks.on.push(known);
            } else if let Some((_, several)) = COMBINATIONS.iter().find(|(known, _)| *known == name) {
                quirks.on.extend_from_slice(several);
            } else {
                unknown.push(name);
            }
        }
        (quirks, unknown)
    }

    /// Whether a quirk is in force.
    pub fn has(&self, name: &str) -> bool {
        self.on.contains(&name)
    }

    /// The names of those in force.
    pub fn names(&self) -> &[&'static str] {
        &self.on
    }
}
