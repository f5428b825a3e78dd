//! The rules of this dialect, each with a page under `docs/rules`.

use purlin_syntax::{About, Loses, Rule};

/// The edition of TOSCA is missing or unknown.
pub const VERSION: Rule = Rule::error("tosca-version", "The edition of TOSCA is missing or unknown.")
    .advice("add `tosca_definitions_version: tosca_2_0`");
/// A file is written in a related language that is not read yet.
pub const UNSUPPORTED: Rule =
    Rule::error("tosca-unsupported", "A file is written in a related language that is not read yet.")
        .advice("use the tool that the file was written for");
/// A key is unknown in this edition of TOSCA.
pub const UNKNOWN_KEY: Rule = Rule::error("tosca-unknown-key", "A key is unknown in this edition of TOSCA.")
    .advice("remove it, or move it to the section that it belongs to")
    .loses(Loses::Entry);
/// A required key is missing.
pub const MISSING_KEY: Rule = Rule::error("tosca-missing-key", "A required key is missing.").about(About::Missing);
/// Something is written as the wrong kind of YAML.
pub const WRONG_SHAPE: Rule =
    Rule::error("tosca-wrong-shape", "Something is written as the wrong kind of YAML.").loses(Loses::Entry);
/// A value, clause or mapping has the wrong form.
pub const MALFORMED: Rule = Rule::error("tosca-malformed", "A value, clause or mapping has the wrong form.")
    .advice("write it in the form that the message shows");
/// A name that must be unique is used twice.
pub const DUPLICATE: Rule =
    Rule::error("tosca-duplicate-name", "A name that must be unique is used twice.").advice("use another name");
/// A template has a name that TOSCA reserves.
pub const RESERVED: Rule =
    Rule::error("tosca-reserved-name", "A template has a name that TOSCA reserves.").advice("use another name");
/// An import cannot be found or read.
pub const IMPORT: Rule = Rule::error("tosca-import", "An import cannot be found or read.")
    .advice("correct the address of the import")
    .about(About::Name);
/// An import is on the network, and access was not allowed.
pub const IMPORT_DENIED: Rule =
    Rule::denied("tosca-import-denied", "An import is on the network, and access was not allowed.");
/// Files import each other in a cycle.
pub const IMPORT_LOOP: Rule = Rule::error("tosca-import-loop", "Files import each other in a cycle.")
    .advice("move what both files need into a third file");
/// An imported file is written in another edition.
pub const IMPORT_EDITION: Rule = Rule::error("tosca-import-edition", "An imported file is written in another edition.")
    .advice("write both files in the same edition");
/// An archive cannot be used as a CSAR.
pub const CSAR: Rule = Rule::error("tosca-csar", "An archive cannot be used as a CSAR.")
    .advice("create the archive again with `purlin csar create`");
/// One name means two different things.
pub const AMBIGUOUS: Rule = Rule::error("tosca-ambiguous-name", "One name means two different things.");
/// A name refers to nothing.
pub const UNKNOWN_NAME: Rule = Rule::error("tosca-unknown-name", "A name refers to nothing.")
    .advice("correct the name, or declare it")
    .about(About::Name);
/// Types derive from each other in a cycle.
pub const TYPE_LOOP: Rule = Rule::error("tosca-type-loop", "Types derive from each other in a cycle.");
/// A type derives from one that is incomplete.
pub const INCOMPLETE: Rule = Rule::error("tosca-incomplete-type", "A type derives from one that is incomplete.")
    .advice("break the cycle of types");
/// Types of an imported file that are not used have problems.
pub const LIBRARY: Rule = Rule::warning("tosca-library", "Types of an imported file that are not used have problems.");
/// A derived type breaks what its parent promises.
pub const CONTRACT: Rule = Rule::error("tosca-broken-contract", "A derived type breaks what its parent promises.")
    .advice("stay within what the parent declares, or change the parent");
/// Templates copy each other in a cycle.
pub const COPY_LOOP: Rule = Rule::error("tosca-copy-loop", "Templates copy each other in a cycle.");
/// Something is assigned that the type does not declare.
pub const UNDECLARED: Rule = Rule::error("tosca-undeclared", "Something is assigned that the type does not declare.")
    .advice("correct the name, or declare it in the type")
    .about(About::Name)
    .loses(Loses::Entry);
/// A value that is required is not assigned.
pub const UNASSIGNED: Rule =
    Rule::error("tosca-unassigned", "A value that is required is not assigned.").about(About::Value);
/// A value does not have the declared type.
pub const WRONG_TYPE: Rule = Rule::error("tosca-wrong-type", "A value does not have the declared type.")
    .advice("write a value of the declared type");
/// A value does not satisfy a constraint or validation clause.
pub const CONSTRAINT: Rule =
    Rule::error("tosca-constraint", "A value does not satisfy a constraint or validation clause.")
        .advice("use a value that satisfies the constraint");
/// A requirement is assigned too few or too many times.
pub const COUNT: Rule = Rule::error("tosca-requirement-count", "A requirement is assigned too few or too many times.")
    .advice("change how often the requirement is assigned, or the range of its type");
/// Something is used where its type does not fit.
pub const INCOMPATIBLE: Rule = Rule::error("tosca-incompatible", "Something is used where its type does not fit.")
    .advice("use something of a compatible type");
/// An input is missing, undeclared or wrong.
pub const INPUT: Rule = Rule::error("tosca-input", "An input is missing, undeclared or wrong.")
    .advice("declare it under `inputs`, or correct its name")
    .about(About::Value);
/// A function call is malformed or cannot be evaluated.
pub const FUNCTION: Rule = Rule::error("tosca-function", "A function call is malformed or cannot be evaluated.")
    .advice("correct the arguments of the function")
    .about(About::Name);
/// Values are computed from each other in a cycle.
pub const FUNCTION_LOOP: Rule = Rule::error("tosca-function-loop", "Values are computed from each other in a cycle.");
/// No node satisfies a requirement.
pub const UNRESOLVED: Rule = Rule::error("tosca-unresolved", "No node satisfies a requirement.")
    .advice("add a node with the required capability, or name one in the requirement")
    .about(About::Name);
/// No template can be substituted for a node that asks for it.
pub const SUBSTITUTION: Rule =
    Rule::error("tosca-substitution", "No template can be substituted for a node that asks for it.");
/// An operation is carried out by something that cannot be run here.
pub const OPERATION: Rule =
    Rule::error("tosca-operation", "An operation is carried out by something that cannot be run here.");
/// An unknown quirk was requested.
pub const QUIRK: Rule = Rule::error("tosca-quirk", "An unknown quirk was requested.");

/// All of them.
pub const RULES: &[&Rule] = &[
    &VERSION,
    &UNSUPPORTED,
    &UNKNOWN_KEY,
    &MISSING_KEY,
    &WRONG_SHAPE,
    &MALFORMED,
    &DUPLICATE,
    &RESERVED,
    &IMPORT,
    &IMPORT_DENIED,
    &IMPORT_LOOP,
    &IMPORT_EDITION,
    &CSAR,
    &AMBIGUOUS,
    &UNKNOWN_NAME,
    &TYPE_LOOP,
    &INCOMPLETE,
    &LIBRARY,
    &CONTRACT,
    &COPY_LOOP,
    &UNDECLARED,
    &UNASSIGNED,
    &WRONG_TYPE,
    &CONSTRAINT,
    &COUNT,
    &INCOMPATIBLE,
    &INPUT,
    &FUNCTION,
    &FUNCTION_LOOP,
    &UNRESOLVED,
    &SUBSTITUTION,
    &OPERATION,
    &QUIRK,
];
