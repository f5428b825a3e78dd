//! Named departures from the strict reading, for templates written for other processors.
//!
//! Quirks are data: each is a switch that one rule checks. Unknown names are rejected.

use crate::edition::{Edition, Standard};

/// The active switches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quirks {
    on: Vec<&'static str>,
    usual: bool,
    puccini: bool,
}

/// Every quirk with its effect.
pub const QUIRKS: &[(&str, &str)] = &[
    (IMPLICIT_DISABLE, "the normative profile is not imported by itself"),
    (VERSION_PERMISSIVE, "imported files may be written in another edition"),
    (TOPOLOGY_IGNORE, "a service template in an imported file is ignored"),
    (IMPORT_CYCLES, "files may import each other in a cycle"),
    (IMPORTS_SEQUENCED, "an import may be written as a one-key map"),
    (STRING_PERMISSIVE, "other scalars are accepted as strings and versions"),
    (TIMESTAMP_PERMISSIVE, "timestamps may be written without quotes"),
    (OCCURRENCES_PERMISSIVE, "how many relationships lead to a capability is not checked"),
    (NORMATIVE_IGNORE, "normative types get no name at all"),
    (SHORTCUTS_DISABLE, "normative types get no short names"),
    (SUBSTITUTION_LIST, "mapped requirements may be a list"),
    (SUBSTITUTION_WORKFLOWS, "operations of a mapped interface may be workflows, as the standard writes them"),
    (SUBSTITUTION_PERMISSIVE, "a mapped requirement need not be assigned"),
    (ANNOTATIONS_IGNORE, "annotations are skipped"),
    (OPERATIONS_PERMISSIVE, "operations may be written directly in an interface"),
    (SPELLINGS_PERMISSIVE, "the version of TOSCA may be spelt as its drafts did, or by its address"),
    (VERSIONS_PERMISSIVE, "versions may be written without quotes"),
    (FLOAT_PERMISSIVE, "a float may be written as an integer"),
    (METADATA_PERMISSIVE, "metadata may hold any value"),
    (EMPTY_PERMISSIVE, "a key with nothing under it says nothing"),
    (BOOLEAN_PERMISSIVE, "`yes` and `no` are booleans where a keyname wants one"),
    (ENTRY_OPTIONAL, "lists and maps need not say what their entries are"),
    (NORMATIVE_REPLACE, "a type named like a normative one replaces it"),
    (NAMESPACE_OWN, "types are identified by the namespace of their own file, not of the one that imports it"),
    (NAMESPACE_FLAT, "a file may use names of files that are imported elsewhere"),
    (PARAMETERS_PERMISSIVE, "an input may be given a value where it should be defined"),
    (INTERFACE_INPUTS_PERMISSIVE, "an input of an interface may be given to its operations instead"),
    (ATTRIBUTES_REFLECT, "a property can be asked for as an attribute"),
    (ATTRIBUTES_PENDING, "an attribute without a value is known once the service runs"),
    (UNUSED_PERMISSIVE, "problems in imported types that are not used are one warning per file"),
    (REQUIREMENTS_OPEN, "a requirement that names no node may stay open"),
    (OCCURRENCES_MINIMUM, "that a capability is used too seldom is only a warning"),
    (REACH, "a reference through a requirement reaches what is at its other end"),
    (FILTER_VALUES, "a filter may give the value that a property must be equal to"),
];

/// Names for several quirks at once.
pub const COMBINATIONS: &[(&str, &[&str])] = &[
    (
        "etsinfv",
        &[TOPOLOGY_IGNORE, STRING_PERMISSIVE, OCCURRENCES_PERMISSIVE, SUBSTITUTION_LIST, SUBSTITUTION_PERMISSIVE],
    ),
    ("onap", &[ANNOTATIONS_IGNORE, IMPORTS_SEQUENCED, VERSION_PERMISSIVE]),
];

/// Quirks of the native commands before TOSCA 2.0, because the standard's own examples, or nearly all templates, rely
/// on them and have only one meaning.
const USUAL: &[&str] = &[
    IMPORT_CYCLES,
    IMPORTS_SEQUENCED,
    TOPOLOGY_IGNORE,
    TIMESTAMP_PERMISSIVE,
    SUBSTITUTION_LIST,
    SUBSTITUTION_WORKFLOWS,
    OPERATIONS_PERMISSIVE,
    SPELLINGS_PERMISSIVE,
    VERSIONS_PERMISSIVE,
    FLOAT_PERMISSIVE,
    METADATA_PERMISSIVE,
    EMPTY_PERMISSIVE,
    BOOLEAN_PERMISSIVE,
    ENTRY_OPTIONAL,
    NORMATIVE_REPLACE,
    NAMESPACE_OWN,
    NAMESPACE_FLAT,
    PARAMETERS_PERMISSIVE,
    INTERFACE_INPUTS_PERMISSIVE,
    ATTRIBUTES_REFLECT,
    ATTRIBUTES_PENDING,
    UNUSED_PERMISSIVE,
    REQUIREMENTS_OPEN,
    OCCURRENCES_MINIMUM,
    REACH,
    FILTER_VALUES,
];

pub(crate) const IMPLICIT_DISABLE: &str = "imports.implicit.disable";
pub(crate) const VERSION_PERMISSIVE: &str = "imports.version.permissive";
pub(crate) const TOPOLOGY_IGNORE: &str = "imports.topology_template.ignore";
pub(crate) const IMPORT_CYCLES: &str = "imports.cycles.permissive";
pub(crate) const IMPORTS_SEQUENCED: &str = "imports.sequencedlist";
pub(crate) const STRING_PERMISSIVE: &str = "data_types.string.permissive";
pub(crate) const TIMESTAMP_PERMISSIVE: &str = "data_types.timestamp.permissive";
pub(crate) const OCCURRENCES_PERMISSIVE: &str = "capabilities.occurrences.permissive";
pub(crate) const NORMATIVE_IGNORE: &str = "namespace.normative.ignore";
pub(crate) const SHORTCUTS_DISABLE: &str = "namespace.normative.shortcuts.disable";
pub(crate) const SUBSTITUTION_LIST: &str = "substitution_mappings.requirements.list";
pub(crate) const SUBSTITUTION_WORKFLOWS: &str = "substitution_mappings.interfaces.workflows";
pub(crate) const SUBSTITUTION_PERMISSIVE: &str = "substitution_mappings.requirements.permissive";
pub(crate) const ANNOTATIONS_IGNORE: &str = "annotations.ignore";
pub(crate) const OPERATIONS_PERMISSIVE: &str = "interfaces.operations.permissive";
pub(crate) const SPELLINGS_PERMISSIVE: &str = "tosca_definitions_version.permissive";
pub(crate) const VERSIONS_PERMISSIVE: &str = "data_types.version.permissive";
pub(crate) const FLOAT_PERMISSIVE: &str = "data_types.float.permissive";
pub(crate) const METADATA_PERMISSIVE: &str = "metadata.permissive";
pub(crate) const EMPTY_PERMISSIVE: &str = "keynames.empty.permissive";
pub(crate) const BOOLEAN_PERMISSIVE: &str = "keynames.boolean.permissive";
pub(crate) const ENTRY_OPTIONAL: &str = "data_types.entry_schema.optional";
pub(crate) const NORMATIVE_REPLACE: &str = "namespace.normative.replace";
pub(crate) const NAMESPACE_OWN: &str = "namespace.own";
pub(crate) const NAMESPACE_FLAT: &str = "namespace.flat";
pub(crate) const PARAMETERS_PERMISSIVE: &str = "parameters.permissive";
pub(crate) const INTERFACE_INPUTS_PERMISSIVE: &str = "interfaces.inputs.permissive";
pub(crate) const ATTRIBUTES_REFLECT: &str = "attributes.reflect";
pub(crate) const ATTRIBUTES_PENDING: &str = "attributes.pending";
pub(crate) const UNUSED_PERMISSIVE: &str = "types.unused.permissive";
pub(crate) const REQUIREMENTS_OPEN: &str = "requirements.open";
pub(crate) const OCCURRENCES_MINIMUM: &str = "capabilities.occurrences.minimum";
pub(crate) const REACH: &str = "functions.requirement.reach";
pub(crate) const FILTER_VALUES: &str = "node_filter.values";

impl Quirks {
    /// The quirks and combinations of these names, and the unknown names.
    pub fn parse<'a>(names: impl IntoIterator<Item = &'a str>) -> (Self, Vec<&'a str>) {
        let mut quirks = Quirks::default();
        let mut unknown = Vec::new();
        for name in names {
            if let Some((known, _)) = QUIRKS.iter().find(|(known, _)| *known == name) {
                quirks.on.push(known);
            } else if name == "usual" {
                quirks.usual = true;
            } else if let Some((_, several)) = COMBINATIONS.iter().find(|(known, _)| *known == name) {
                quirks.on.extend_from_slice(several);
            } else {
                unknown.push(name);
            }
        }
        (quirks, unknown)
    }

    /// These quirks and, before TOSCA 2.0, the usual ones.
    pub fn and_usual(self) -> Self {
        Quirks { usual: true, ..self }
    }

    /// These quirks and what Puccini always takes.
    pub fn as_in_puccini(self) -> Self {
        Quirks { puccini: true, ..self }
    }

    /// Whether `dsl_definitions` may hold anything. The standard wants a mapping of names to what can be referred to.
    pub(crate) fn allow_any_definitions(&self, edition: Edition) -> bool {
        self.puccini || !edition.is_2()
    }

    /// Whether templates are read as the native commands read them.
    pub(crate) fn are_usual(&self) -> bool {
        self.usual
    }

    /// Whether a quirk applies to files of an edition, as a chosen or a usual one.
    pub fn allow(&self, name: &str, edition: Edition) -> bool {
        let old = !edition.is_2() && !edition.is_extended();
        self.has(name) || (self.usual && old && USUAL.contains(&name))
    }

    /// Whether a quirk applies in all editions, as a chosen or a usual one.
    pub(crate) fn allow_everywhere(&self, name: &str) -> bool {
        self.has(name) || (self.usual && USUAL.contains(&name))
    }

    /// Whether a quirk was asked for.
    pub fn has(&self, name: &str) -> bool {
        self.on.contains(&name)
    }

    /// The names of the chosen quirks.
    pub fn names(&self) -> &[&'static str] {
        &self.on
    }
}
