//! The model: all files, names, hierarchies and complete types of a run, and the primitive types of data types.
//!
//! The result of phases 1 to 4. Later phases only read it.

use crate::edition::{self, Edition, Standard};
use crate::entities;
use crate::entity::Entity;
use crate::evaluate::Budget;
use crate::hierarchy::{self, Hierarchy};
use crate::host::Host;
use crate::inherit::{self, Types};
use crate::link;
use crate::load::{self, Files, Options};
use crate::names::{self, DeclId, Names};
use crate::problem::Problems;
use crate::quirks::Quirks;
use crate::read::Role;
use crate::render::Frame;
use crate::scripts::Scripts;
use crate::special::units::{self, Family};
use crate::val::{Data, Text};
use ecow::EcoString;
use purlin_model::Kind;
use purlin_syntax::{FileId, Findings, Source, Span};
use purlin_value::Session;
use std::sync::{Arc, OnceLock};

/// The underlying type of a data type without properties.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the names are those of the standard
pub enum Primitive {
    Boolean,
    Integer,
    Float,
    String,
    Null,
    Bytes,
    Timestamp,
    Version,
    Range,
    List,
    Map,
    Size,
    Time,
    Frequency,
    Bitrate,
    Scalar,
}

/// Built-in data types by name.
pub const PRIMITIVES: &[(&str, Primitive)] = &[
    ("boolean", Primitive::Boolean),
    ("integer", Primitive::Integer),
    ("float", Primitive::Float),
    ("string", Primitive::String),
    ("null", Primitive::Null),
    ("nil", Primitive::Null),
    ("bytes", Primitive::Bytes),
    ("timestamp", Primitive::Timestamp),
    ("version", Primitive::Version),
    ("range", Primitive::Range),
    ("list", Primitive::List),
    ("map", Primitive::Map),
    ("scalar-unit.size", Primitive::Size),
    ("scalar-unit.time", Primitive::Time),
    ("scalar-unit.frequency", Primitive::Frequency),
    ("scalar-unit.bitrate", Primitive::Bitrate),
    ("scalar", Primitive::Scalar),
];

impl Primitive {
    /// The fixed family of units, for the quantities of TOSCA 1.x.
    pub fn family(self) -> Option<&'static Family> {
        Some(match self {
            Primitive::Size => &units::SIZE,
            Primitive::Time => &units::TIME,
            Primitive::Frequency => &units::FREQUENCY,
            Primitive::Bitrate => &units::BITRATE,
            _ => return None,
        })
    }

    /// Whether its values are quantities: numbers with units.
    pub fn is_quantity(self) -> bool {
        self == Primitive::Scalar || self.family().is_some()
    }

    /// Whether its values are amounts, which can be added and allocated.
    pub fn is_amount(self) -> bool {
        matches!(self, Primitive::Integer | Primitive::Float) || self.is_quantity()
    }
}

/// Most characters of the source that a message repeats.
const MAX_EXCERPT: usize = 80;

/// The result of completing types. Copies share the contents of files.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// All files.
    pub files: Arc<Files>,
    /// All names.
    pub names: Arc<Names>,
    /// All hierarchies.
    pub hierarchy: Arc<Hierarchy>,
    /// All complete types.
    pub types: Arc<Types>,
    /// JavaScript in the files.
    pub scripts: Arc<Scripts>,
    /// Departures from the strict reading.
    pub quirks: Quirks,
    /// The host's extensions.
    pub host: Option<&'static Host>,
    /// The texts of inputs that are given from outside.
    pub given: Vec<Arc<Source>>,
    /// The location at which another project requests the service, if any; it has written the inputs.
    pub asked: Option<Span>,
    /// Whether texts of the command line are strings where strings are wanted.
    pub plain_inputs: bool,
    /// The budget of evaluation.
    pub budget: Arc<Budget>,
    /// The rendered service, kept for other variants of a project, if any.
    pub(crate) frame: Option<Arc<OnceLock<Option<Frame>>>>,
    primitives: Arc<[Option<Primitive>]>,
}

/// Phases 1 to 4. Variants of a project share one model, which the first one builds.
pub fn build(session: &Session, path: &str, options: &Options, problems: &mut Problems) -> Model {
    let building = |problems: &mut Problems| {
        let files = load::load(session, path, options, problems);
        complete(session, files, options, problems)
    };
    if !session.has_variants() {
        return building(problems);
    }
    let built = session.in_common(&options.identity(path), || {
        let mut problems = Problems::new();
        let building = || Model { frame: Some(Arc::default()), ..building(&mut problems) };
        let (model, said) = session.sink.apart(building);
        Built { model, problems, said }
    });
    session.sink.extend(built.said.iter().cloned());
    problems.absorb(&built.problems);
    Model { budget: Arc::new(Budget::new(&session.limits, session.meter.clone())), ..built.model.clone() }
}

/// The result of phases 1 to 4.
struct Built {
    model: Model,
    problems: Problems,
    /// Findings about files that are not text.
    said: Findings,
}

/// Phases 1 to 4 for several libraries of one edition, which may import each other: each file is processed once.
pub(crate) fn build_libraries(session: &Session, paths: &[&str], options: &Options, problems: &mut Problems) -> Model {
    let files = load::load_all(session, paths, options, problems);
    complete(session, files, options, problems)
}

/// Phases 2 to 4.
fn complete(session: &Session, files: Files, options: &Options, problems: &mut Problems) -> Model {
    let scripts = match options.host {
        Some(_) => Scripts::default(), // only Puccini runs them
        None => Scripts::gather(session, &files, problems),
    };
    let names = names::gather(&files, &options.quirks, problems);
    link::check(&files, &names, problems);
    let hierarchy = hierarchy::place(&names, problems);
    let types = inherit::inherit(&names, &hierarchy, options.host, problems);
    let primitives = primitives(&files, &names, &hierarchy);
    let (quirks, host) = (options.quirks.clone(), options.host);
    let budget = Arc::new(Budget::new(&session.limits, session.meter.clone()));
    Model {
        files: Arc::new(files),
        names: Arc::new(names),
        hierarchy: Arc::new(hierarchy),
        types: Arc::new(types),
        scripts: Arc::new(scripts),
        quirks,
        host,
        given: Vec::new(),
        asked: None,
        plain_inputs: false,
        budget,
        frame: None,
        primitives: primitives.into(),
    }
}

fn primitives(files: &Files, names: &Names, hierarchy: &Hierarchy) -> Vec<Option<Primitive>> {
    let mut out = vec![None; names.decls.len()];
    for id in &hierarchy.order {
        let Some(decl) = names.decl(*id).filter(|decl| decl.kind == entities::DATA_TYPE) else { continue };
        let built_in = files.list.get(decl.file).is_some_and(|file| file.role == Role::Profile);
        let inherited = hierarchy.parent(*id).and_then(|parent| out.get(parent.index()).copied().flatten());
        let own =
            || PRIMITIVES.iter().find(|(name, _)| built_in && *name == decl.name).map(|(_, primitive)| *primitive);
        // A type that does not derive from a built-in one may name it.
        let named = || {
            let name = decl.entity.text("type")?;
            PRIMITIVES.iter().find(|(known, _)| name.text == *known).map(|(_, primitive)| *primitive)
        };
        let found = inherited.or_else(own).or_else(named);
        if let Some(slot) = out.get_mut(id.index()) {
            *slot = found;
        }
    }
    out
}

impl Model {
    /// The parts of the service that do not depend on inputs, in a project with several variants.
    pub(crate) fn frame(&self) -> Option<&Frame> {
        self.frame.as_deref()?.get()?.as_ref()
    }

    /// Renders the service again, since it is not the one of the files.
    pub fn set_apart(&mut self) {
        self.frame = None;
    }

    /// The edition of the root file.
    pub fn edition(&self) -> Edition {
        self.files.edition.unwrap_or(edition::V2_0)
    }

    /// The underlying primitive type; none for types with properties.
    pub fn primitive(&self, id: DeclId) -> Option<Primitive> {
        self.primitives.get(id.index()).copied().flatten()
    }

    /// The declaration of a name at its location.
    pub fn find(&self, kind: Kind, name: &Text) -> Option<DeclId> {
        self.names.find(name.span.file, kind, &name.text)
    }

    /// The type a definition or template names in a slot.
    pub fn type_of(&self, entity: &Entity, slot: &str, kind: Kind) -> Option<DeclId> {
        self.find(kind, entity.text(slot)?)
    }

    /// The capability that a complete requirement definition asks for: its type, and its name if the definition has the name
    /// that the node type gives it.
    pub fn asked_capability(&self, definition: &Entity) -> (Option<Text>, Option<DeclId>) {
        let Some(name) = definition.text("capability") else { return (None, None) };
        if let Some(id) = self.find(entities::CAPABILITY_TYPE, name) {
            return (None, Some(id));
        }
        let node = self.type_of(definition, "node", entities::NODE_TYPE).and_then(|id| self.complete(id));
        match node.and_then(|node| node.named("capabilities", &name.text)) {
            Some(capability) => (Some(name.clone()), self.type_of(capability, "type", entities::CAPABILITY_TYPE)),
            None => (None, None),
        }
    }

    /// The complete form of a type.
    pub fn complete(&self, id: DeclId) -> Option<&Arc<Entity>> {
        self.types.get(id)
    }

    /// Whether a departure from the strict reading applies.
    pub fn allows(&self, quirk: &str) -> bool {
        self.quirks.allow(quirk, self.edition())
    }

    /// Whether a node may meet its own requirement without being named: only in the strict reading, as Puccini has it,
    /// since it is never intended.
    pub(crate) fn lets_nodes_meet_themselves(&self) -> bool {
        !self.quirks.are_usual() && !self.edition().is_2() && !self.edition().is_extended()
    }

    /// Whether a host lets a type have properties that it does not declare.
    pub fn is_open(&self, id: DeclId) -> bool {
        self.host.is_some()
            && self.hierarchy.lineage(id).any(|id| self.complete(id).is_some_and(|complete| allows_any(complete)))
    }

    /// Whether a type may have unknown members: an ancestor is missing, is in a cycle, or is in a file that could not
    /// be read.
    pub fn is_partial(&self, id: DeclId) -> bool {
        if self.hierarchy.is_broken(id) {
            return true;
        }
        self.files.any_unread
            && self.hierarchy.lineage(id).any(|id| {
                let parent = self.names.decl(id).and_then(|decl| decl.entity.text("derived_from"));
                self.hierarchy.parent(id).is_none() && parent.is_some_and(|parent| self.files.may_be_unread(parent))
            })
    }

    /// The name that identifies a type everywhere.
    pub fn canonical(&self, id: DeclId) -> EcoString {
        self.names.decl(id).map(|decl| decl.canonical.clone()).unwrap_or_default()
    }

    /// The type's name as its author wrote it.
    pub fn name(&self, id: DeclId) -> EcoString {
        self.names.decl(id).map(|decl| decl.name.clone()).unwrap_or_default()
    }

    /// A built-in data type by name, as the root file sees it.
    pub fn built_in(&self, name: &str) -> Option<DeclId> {
        let file = self.files.root()?.id;
        self.names.find(file, entities::DATA_TYPE, name)
    }

    /// The service template of the root file.
    pub fn service(&self) -> Option<&Arc<Entity>> {
        self.files.root()?.entity.one("service_template")
    }

    /// The source text at a location in one of the files.
    pub fn written_at(&self, span: Span) -> Option<&str> {
        let file = self.files.of(span.file).and_then(|file| self.files.list.get(file))?;
        file.tree.source().text().get(span.start as usize..span.end as usize)
    }

    /// The source text at a location in the inputs from outside.
    pub fn given_at(&self, span: Span) -> Option<&str> {
        self.given.iter().find(|source| source.id() == span.file).map(|source| source.slice(span))
    }

    /// The text of an option's value, if it may be taken literally.
    pub fn option_at(&self, span: Span) -> Option<&str> {
        let of_option = |source: &&Arc<Source>| source.id() == span.file && source.path().starts_with("--");
        self.given.iter().filter(|_| self.plain_inputs).find(of_option).map(|source| source.text().trim())
    }

    /// The source text at a location, in one line of limited length.
    pub fn excerpt(&self, span: Span) -> String {
        let text = self.written_at(span).unwrap_or("…");
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.chars().count() <= MAX_EXCERPT {
            return line;
        }
        line.chars().take(MAX_EXCERPT).chain(['…']).collect()
    }

    /// Whether a name is that of a declared function.
    pub fn custom_function(&self, file: FileId, name: &str) -> Option<DeclId> {
        self.names.find(file, entities::FUNCTION_DEFINITION, name)
    }
}

/// Whether an entity allows undeclared properties.
pub fn allows_any(entity: &Entity) -> bool {
    let flag = entity.value("metadata").and_then(|metadata| metadata.get("additionalProperties"));
    flag.is_some_and(|flag| matches!(flag.data, Data::Bool(true)) || flag.as_str() == Some("true"))
}
