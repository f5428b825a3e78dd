//! The shapes that only TOSCA has: each a number for the reader, words for people and an outline for other tools.

use purlin_model::schema::{Shape, Special};

/// The numbers by which the reader distinguishes them.
pub mod number {
    /// See [`super::METADATA`].
    pub const METADATA: u16 = 0;
    /// See [`super::ALIASES`].
    pub const ALIASES: u16 = 1;
    /// See [`super::VERSION`].
    pub const VERSION: u16 = 2;
    /// See [`super::CONSTRAINTS`].
    pub const CONSTRAINTS: u16 = 3;
    /// See [`super::VALIDATION`].
    pub const VALIDATION: u16 = 4;
    /// See [`super::CONDITION`].
    pub const CONDITION: u16 = 5;
    /// See [`super::PROPERTY_FILTERS`].
    pub const PROPERTY_FILTERS: u16 = 6;
    /// See [`super::ACTIVITIES`].
    pub const ACTIVITIES: u16 = 7;
    /// See [`super::OUTPUT_MAPPINGS`].
    pub const OUTPUT_MAPPINGS: u16 = 8;
    /// See [`super::MAPPINGS`].
    pub const MAPPINGS: u16 = 9;
    /// See [`super::PARAMETERS`].
    pub const PARAMETERS: u16 = 10;
    /// See [`super::TYPES`].
    pub const TYPES: u16 = 11;
    /// See [`super::ATTRIBUTE_VALUES`].
    pub const ATTRIBUTE_VALUES: u16 = 12;
}

/// Notes for tools: a map (of strings before TOSCA 2.0).
pub const METADATA: Shape = Shape::Special(&Special {
    number: number::METADATA,
    label: "a mapping of notes",
    outline: Shape::MapOf(&Shape::Any),
});

/// Any content; it exists to be referred to by YAML aliases, or for other tools.
pub const ALIASES: Shape = Shape::Special(&Special { number: number::ALIASES, label: "anything", outline: Shape::Any });

/// A version, checked as one.
pub const VERSION: Shape =
    Shape::Special(&Special { number: number::VERSION, label: "a version", outline: Shape::Any });

/// Constraint clauses (before TOSCA 2.0).
pub const CONSTRAINTS: Shape = Shape::Special(&Special {
    number: number::CONSTRAINTS,
    label: "a list of constraints",
    outline: Shape::ListOf(&Shape::Any),
});

/// One validation clause (TOSCA 2.0).
pub const VALIDATION: Shape =
    Shape::Special(&Special { number: number::VALIDATION, label: "a validation clause", outline: Shape::Any });

/// A condition: one clause (2.0) or a list of clauses.
pub const CONDITION: Shape =
    Shape::Special(&Special { number: number::CONDITION, label: "a condition", outline: Shape::Any });

/// The properties of a filter: for each, a constraint clause or a list of them.
pub const PROPERTY_FILTERS: Shape = Shape::Special(&Special {
    number: number::PROPERTY_FILTERS,
    label: "a list of property filters",
    outline: Shape::ListOf(&Shape::MapOf(&Shape::Any)),
});

/// The activities of a workflow step or a trigger.
pub const ACTIVITIES: Shape = Shape::Special(&Special {
    number: number::ACTIVITIES,
    label: "a list of activities",
    outline: Shape::ListOf(&Shape::Any),
});

/// The targets of an operation's outputs.
pub const OUTPUT_MAPPINGS: Shape = Shape::Special(&Special {
    number: number::OUTPUT_MAPPINGS,
    label: "a mapping from outputs, each to where it goes",
    outline: Shape::MapOf(&Shape::Any),
});

/// Mapped names and places in the service, as substitution mappings have them.
pub const MAPPINGS: Shape = Shape::Special(&Special {
    number: number::MAPPINGS,
    label: "a mapping from names, each to a place in the service, or a list of such mappings",
    outline: Shape::Union(&[Shape::MapOf(&Shape::Any), Shape::ListOf(&Shape::Any)]),
});

/// In the extended edition: parameter definitions, each of which may be written as its value.
pub const PARAMETERS: Shape = Shape::Special(&Special {
    number: number::PARAMETERS,
    label: "a mapping from names, each to a parameter definition or its value",
    outline: Shape::MapOf(&Shape::Any),
});

/// In the extended edition: types of any kind.
pub const TYPES: Shape = Shape::Special(&Special {
    number: number::TYPES,
    label: "a mapping from names, each to a type of any kind",
    outline: Shape::MapOf(&Shape::Any),
});

/// Values by name, each of which may also be written as `{description, value}`.
pub const ATTRIBUTE_VALUES: Shape = Shape::Special(&Special {
    number: number::ATTRIBUTE_VALUES,
    label: "a mapping from names, each to a value",
    outline: Shape::MapOf(&Shape::Any),
});
