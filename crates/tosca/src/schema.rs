//! The vocabulary of the entity table: editions, kinds, shapes, merge rules, fields and rows.
//!
//! Every phase reads the same rows (see `entities`). This file knows no key and no TOSCA type by name.

/// Editions of the standard, oldest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Edition {
    /// TOSCA Simple Profile in YAML 1.0.
    V1_0,
    /// TOSCA Simple Profile in YAML 1.1.
    V1_1,
    /// TOSCA Simple Profile in YAML 1.2.
    V1_2,
    /// TOSCA Simple Profile in YAML 1.3.
    V1_3,
    /// TOSCA 1.3 with what a host such as `unfurl` adds to it.
    Extended,
    /// TOSCA 2.0.
    V2_0,
}

impl Edition {
    /// All editions of the standard, oldest first.
    pub const ALL: [Edition; 5] = [Edition::V1_0, Edition::V1_1, Edition::V1_2, Edition::V1_3, Edition::V2_0];

    /// The edition's number as people write it.
    pub const fn number(self) -> &'static str {
        match self {
            Edition::V1_0 => "1.0",
            Edition::V1_1 => "1.1",
            Edition::V1_2 => "1.2",
            Edition::V1_3 | Edition::Extended => "1.3",
            Edition::V2_0 => "2.0",
        }
    }

    /// The edition of the standard that this one is, or extends.
    pub const fn standard(self) -> Edition {
        match self {
            Edition::Extended => Edition::V1_3,
            standard => standard,
        }
    }

    /// Whether this is the edition that a host extends.
    pub const fn is_extended(self) -> bool {
        matches!(self, Edition::Extended)
    }

    /// Whether this is TOSCA 2.0, where functions carry a `$`.
    pub const fn is_2(self) -> bool {
        matches!(self, Edition::V2_0)
    }
}

/// The kinds of entities a TOSCA file is made of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
#[allow(missing_docs)] // each kind is described by its row's label
pub enum Kind {
    File,
    Import,
    Repository,
    ArtifactType,
    CapabilityType,
    DataType,
    GroupType,
    InterfaceType,
    NodeType,
    PolicyType,
    RelationshipType,
    PropertyDefinition,
    AttributeDefinition,
    ParameterDefinition,
    SchemaDefinition,
    CapabilityDefinition,
    RequirementDefinition,
    RelationshipDefinition,
    InterfaceDefinition,
    OperationDefinition,
    NotificationDefinition,
    Implementation,
    ArtifactDefinition,
    TriggerDefinition,
    EventFilter,
    TriggerCondition,
    FunctionDefinition,
    FunctionSignature,
    ServiceTemplate,
    NodeTemplate,
    RelationshipTemplate,
    CapabilityAssignment,
    RequirementAssignment,
    RelationshipAssignment,
    InterfaceAssignment,
    OperationAssignment,
    NotificationAssignment,
    Artifact,
    Group,
    Policy,
    NodeFilter,
    CapabilityFilter,
    SubstitutionMappings,
    Workflow,
    WorkflowStep,
    WorkflowPrecondition,
    CallOperation,
}

impl Kind {
    /// The eight kinds of types, in the order in which they can be completed: a later one may be
    /// made of earlier ones, never the other way round.
    pub const TYPES: [Kind; 8] = [
        Kind::DataType,
        Kind::ArtifactType,
        Kind::InterfaceType,
        Kind::CapabilityType,
        Kind::RelationshipType,
        Kind::NodeType,
        Kind::GroupType,
        Kind::PolicyType,
    ];

    /// Whether entities of this kind are types that others may derive from.
    pub fn is_type(self) -> bool {
        Kind::TYPES.contains(&self)
    }
}

/// What may be written under a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A string.
    Text,
    /// A boolean.
    Bool,
    /// An integer.
    Int,
    /// A list of strings.
    Texts,
    /// Notes for tools: a map (of strings before TOSCA 2.0).
    Metadata,
    /// Any value; it may be, or contain, function calls.
    Value,
    /// Anything at all; it is only there to be referred to by YAML aliases.
    Aliases,
    /// A version, checked as one.
    Version,
    /// Two numbers, the second of which may be `UNBOUNDED`.
    Range,
    /// A map of unit or prefix to multiplier.
    Multipliers,
    /// A list of constraint clauses (before TOSCA 2.0).
    Constraints,
    /// One validation clause (TOSCA 2.0).
    Validation,
    /// A condition: one clause (2.0) or a list of clauses.
    Condition,
    /// What a filter asks of a property: a constraint clause or a list of them.
    PropertyFilters,
    /// What is done in a workflow step or by a trigger.
    Activities,
    /// Where an operation's outputs go.
    OutputMappings,
    /// A map of mapped names to places in the service, as substitution mappings have.
    Mappings,
    /// The name of one entity of these kinds.
    Name(&'static [Kind]),
    /// A name that need not exist among these kinds, because it may also name something local.
    MaybeName(&'static [Kind]),
    /// In the extended edition: the name of one entity of these kinds, or a list of names.
    Parents(&'static [Kind]),
    /// Names of entities of these kinds.
    Names(&'static [Kind]),
    /// One entity.
    One(Kind),
    /// A map of entities by name.
    Map(Kind),
    /// A list of entities without names.
    List(Kind),
    /// A list of one-key maps; a name may be repeated.
    Sequence(Kind),
    /// A list of one-key maps; names are unique.
    UniqueSequence(Kind),
    /// In the extended edition: a map of parameter definitions, each of which may be written as its value.
    Parameters,
    /// In the extended edition: a map of types of any kind.
    Types,
    /// A map of names to values, such as property assignments.
    Values,
    /// A map of names to values where each may also be written as `{description, value}`.
    AttributeValues,
}

/// How a value meets the inherited one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Merge {
    /// It is not inherited.
    Own,
    /// The child's, otherwise the parent's.
    Fallback,
    /// By name; the same name refines.
    ByName,
    /// By name; the same name replaces.
    Replace,
    /// The parent's and the child's clauses must both hold.
    Both,
    /// The child's list, each of whose types must be one of the parent's or derive from it.
    Narrow,
    /// The child's list, then the parent's.
    Append,
    /// The same type or one derived from it.
    Derived,
    /// `true` may not become `false`.
    Tighten,
    /// The range must lie within the parent's.
    Within,
    /// Once set it may not be changed.
    Fixed,
    /// One entity that refines the parent's.
    Refine,
}

/// When a key must be there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// It may be absent.
    Optional,
    /// It must be written.
    Written,
    /// It must be there once everything is inherited.
    Inherited,
}

/// Whether the extended edition has a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extension {
    /// As TOSCA 1.3 does.
    Same,
    /// It does, whatever TOSCA 1.3 says.
    Has,
    /// It has another field with this key.
    Replaces,
}

/// One key of one entity: a row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The key as written.
    pub key: &'static str,
    /// The name the phases use; differs from `key` where editions renamed it.
    pub slot: &'static str,
    /// What may be written there.
    pub shape: Shape,
    /// How it meets the inherited value.
    pub merge: Merge,
    /// When it must be there.
    pub need: Need,
    /// The first edition that has it.
    pub since: Edition,
    /// The last edition that has it.
    pub until: Edition,
    /// Whether the extended edition has it.
    pub extension: Extension,
    /// Whether the extended edition lets it be absent.
    pub lax: bool,
    /// One sentence for people.
    pub doc: &'static str,
}

/// A field of every edition that is optional and not inherited.
pub const fn field(key: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field {
        key,
        slot: key,
        shape,
        merge: Merge::Own,
        need: Need::Optional,
        since: Edition::V1_0,
        until: Edition::V2_0,
        extension: Extension::Same,
        lax: false,
        doc,
    }
}

/// A field that only the extended edition has.
pub const fn extension(key: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field { since: Edition::V2_0, until: Edition::V1_0, extension: Extension::Has, ..field(key, shape, doc) }
}

impl Field {
    /// The key must be written.
    pub const fn written(mut self) -> Self {
        self.need = Need::Written;
        self
    }
    /// The key must be there after inheritance.
    pub const fn needed(mut self) -> Self {
        self.need = Need::Inherited;
        self
    }
    /// How it meets the inherited value.
    pub const fn merge(mut self, merge: Merge) -> Self {
        self.merge = merge;
        self
    }
    /// The first edition that has it.
    pub const fn since(mut self, edition: Edition) -> Self {
        self.since = edition;
        self
    }
    /// The last edition that has it.
    pub const fn until(mut self, edition: Edition) -> Self {
        self.until = edition;
        self
    }
    /// The name the phases use for it.
    pub const fn slot(mut self, slot: &'static str) -> Self {
        self.slot = slot;
        self
    }
    /// The extended edition has it too.
    pub const fn extended(mut self) -> Self {
        self.extension = Extension::Has;
        self
    }
    /// The extended edition has another field with this key.
    pub const fn replaced(mut self) -> Self {
        self.extension = Extension::Replaces;
        self
    }
    /// The extended edition lets it be absent.
    pub const fn lax(mut self) -> Self {
        self.lax = true;
        self
    }
    /// Whether this edition has the field.
    pub fn in_edition(&self, edition: Edition) -> bool {
        let standard = edition.standard();
        match self.extension {
            Extension::Has if edition.is_extended() => true,
            Extension::Replaces if edition.is_extended() => false,
            _ => self.since <= standard && standard <= self.until,
        }
    }
    /// Whether the field must be there in this edition, in this way.
    pub fn is_needed(&self, edition: Edition, need: Need) -> bool {
        self.need == need && !(self.lax && edition.is_extended())
    }
    /// Whether no edition of the standard has the field.
    pub fn is_extension(&self) -> bool {
        self.since > self.until
    }
}

/// What a scalar (or list) stands for when it is written instead of the entity's map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Short {
    /// Nothing: only the map is accepted.
    None,
    /// A string stands for this slot.
    Text(&'static str),
    /// A string or a map stands for the primary artifact of the implementation.
    Primary,
    /// In TOSCA 2.0, a list stands for this slot and a scalar for the value.
    List(&'static str),
    /// In TOSCA 2.0, anything but a map stands for the fixed value.
    Value,
}

/// One entity: a block of rows.
#[derive(Debug)]
pub struct Row {
    /// Which entity.
    pub kind: Kind,
    /// What people call it.
    pub label: &'static str,
    /// Its fields, in groups so that common headers are written once.
    pub groups: &'static [&'static [Field]],
    /// Its short notation.
    pub short: Short,
    /// Before TOSCA 1.3, every other key is an entry of this slot.
    pub open: Option<&'static str>,
}

impl Row {
    /// Whether an edition reads past keys it does not know, with a word of warning.
    pub fn skips_unknown(&self, edition: Edition) -> bool {
        use Kind::{AttributeDefinition, CapabilityAssignment, DataType, Import, PropertyDefinition, SchemaDefinition};
        const SKIPPING: &[Kind] =
            &[AttributeDefinition, CapabilityAssignment, DataType, Import, PropertyDefinition, SchemaDefinition];
        edition.is_extended() && SKIPPING.contains(&self.kind)
    }

    /// The fields of this entity in one edition.
    pub fn fields(&self, edition: Edition) -> impl Iterator<Item = &'static Field> + use<> {
        self.groups.iter().flat_map(|group| group.iter()).filter(move |field| field.in_edition(edition))
    }

    /// The slots that an entity of one edition may have: those of its fields, and the one that holds its open keys.
    pub fn slots(&self, edition: Edition) -> impl Iterator<Item = &'static Field> + use<> {
        let open = self.open.filter(|slot| self.by_slot(slot, edition).is_none());
        let beside =
            open.and_then(|slot| self.groups.iter().flat_map(|group| group.iter()).find(|field| field.slot == slot));
        self.fields(edition).chain(beside)
    }

    /// The field written with this key in one edition.
    pub fn by_key(&self, key: &str, edition: Edition) -> Option<&'static Field> {
        self.fields(edition).find(|field| field.key == key)
    }

    /// The field behind this slot in one edition.
    pub fn by_slot(&self, slot: &str, edition: Edition) -> Option<&'static Field> {
        self.fields(edition).find(|field| field.slot == slot)
    }
}
