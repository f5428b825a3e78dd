//! The rules of this dialect, each with a page under `docs/rules`.

use purlin_syntax::Rule;

/// Declares rules and lists them.
macro_rules! rules {
    ($($id:ident = $make:ident($name:literal, $summary:literal);)*) => {
        $(#[doc = $summary] pub const $id: Rule = Rule::$make($name, $summary);)*
        /// All of them.
        pub const RULES: &[&Rule] = &[$(&$id),*];
    };
}

rules! {
    VERSION = error("tosca-version", "The edition of TOSCA is missing or unknown.");
    UNSUPPORTED = error("tosca-unsupported", "A file is written in a related language that is not read yet.");
    UNKNOWN_KEY = error("tosca-unknown-key", "A key is unknown in this edition of TOSCA.");
    MISSING_KEY = error("tosca-missing-key", "A required key is missing.");
    WRONG_SHAPE = error("tosca-wrong-shape", "Something is written as the wrong kind of YAML.");
    MALFORMED = error("tosca-malformed", "A value, clause or mapping has the wrong form.");
    DUPLICATE = error("tosca-duplicate-name", "A name that must be unique is used twice.");
    RESERVED = error("tosca-reserved-name", "A template has a name that TOSCA reserves.");
    IMPORT = error("tosca-import", "An import cannot be found or read.");
    IMPORT_DENIED = denied("tosca-import-denied", "An import is on the network, and access was not allowed.");
    IMPORT_LOOP = error("tosca-import-loop", "Files import each other in a cycle.");
    IMPORT_EDITION = error("tosca-import-edition", "An imported file is written in another edition.");
    CSAR = error("tosca-csar", "An archive cannot be used as a CSAR.");
    AMBIGUOUS = error("tosca-ambiguous-name", "One name means two different things.");
    UNKNOWN_NAME = error("tosca-unknown-name", "A name refers to nothing.");
    TYPE_LOOP = error("tosca-type-loop", "Types derive from each other in a cycle.");
    INCOMPLETE = error("tosca-incomplete-type", "A type derives from one that is incomplete.");
    LIBRARY = warning("tosca-library", "Types of an imported file that are not used have problems.");
    CONTRACT = error("tosca-broken-contract", "A derived type breaks what its parent promises.");
    COPY_LOOP = error("tosca-copy-loop", "Templates copy each other in a cycle.");
    UNDECLARED = error("tosca-undeclared", "Something is assigned that the type does not declare.");
    UNASSIGNED = error("tosca-unassigned", "A value that is required is not assigned.");
    WRONG_TYPE = error("tosca-wrong-type", "A value does not have the declared type.");
    CONSTRAINT = error("tosca-constraint", "A value does not satisfy a constraint or validation clause.");
    COUNT = error("tosca-requirement-count", "A requirement is assigned too few or too many times.");
    INCOMPATIBLE = error("tosca-incompatible", "Something is used where its type does not fit.");
    INPUT = error("tosca-input", "An input is missing, undeclared or wrong.");
    FUNCTION = error("tosca-function", "A function call is malformed or cannot be evaluated.");
    FUNCTION_LOOP = error("tosca-function-loop", "Values are computed from each other in a cycle.");
    UNRESOLVED = error("tosca-unresolved", "No node satisfies a requirement.");
    SUBSTITUTION = error("tosca-substitution", "No template can be substituted for a node that asks for it.");
    OPERATION = error("tosca-operation", "An operation is carried out by something that cannot be run here.");
    QUIRK = error("tosca-quirk", "An unknown quirk was requested.");
}
