//! Operations of instances: their declarations, implementations and inputs. Runs nothing.

use crate::ensemble::Ensemble;
use crate::ensemble::places::Reading;
use crate::ensemble::service::{Service, from_tosca};
use crate::tree::{NodeId, NodeKind, State};
use crate::val::{Data, MapKey, Val, ValMap};
use ecow::EcoString;
use purlin_syntax::Span;
use purlin_tosca::entities;
use purlin_tosca::entity::Entity;
use purlin_tosca::val as tosca;
use purlin_value::path;
use std::sync::Arc;

/// The interface with inputs and an implementation shared by all others.
const DEFAULTS: &str = "defaults";

/// The interface whose operations replace others in a dry run.
const MOCK: &str = "Mock";

/// The implementation of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Configurator {
    /// A command of this machine.
    Shell,
    /// A command configurator without a command.
    NoCommand,
    /// A result that is computed.
    Template,
    /// Another operation.
    Delegate,
    /// No operation, with success.
    Mock,
    /// A configurator that cannot be run here.
    Unsupported(EcoString),
}

/// Names of configurators: the short one, the class, the implementation.
const CONFIGURATORS: &[(&str, &str, Configurator)] = &[
    ("Cmd", "unfurl.configurators.CmdConfigurator", Configurator::NoCommand),
    ("Shell", "unfurl.configurators.shell.ShellConfigurator", Configurator::Shell),
    ("Template", "unfurl.configurators.TemplateConfigurator", Configurator::Template),
    ("Delegate", "unfurl.configurators.DelegateConfigurator", Configurator::Delegate),
    ("Mock", "unfurl.configurator.MockConfigurator", Configurator::Mock),
];

/// Short names of configurators that need another tool.
const ELSEWHERE: &[&str] =
    &["Ansible", "DNS", "Helm", "Kompose", "Kubernetes", "Octodns", "PythonPackageCheck", "Supervisor", "Terraform"];

/// The configurator that a name was probably meant to be. Commands are written in lower case.
pub(crate) fn near_configurator(name: &str) -> Option<&'static str> {
    let is_name = name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(|c| c.is_ascii_alphanumeric());
    if !is_name || Configurator::named(name).is_some() {
        return None;
    }
    let known = CONFIGURATORS.iter().map(|(short, _, _)| *short).chain(ELSEWHERE.iter().copied());
    known.into_iter().find(|known| purlin_syntax::suggest::is_slip(name, known))
}

impl Configurator {
    fn named(name: &str) -> Option<Configurator> {
        let known = CONFIGURATORS.iter().find(|(short, class, _)| *short == name || *class == name);
        if let Some((_, _, configurator)) = known {
            return Some(configurator.clone());
        }
        let is_word = !name.contains(char::is_whitespace);
        let is_python = is_word && (name.contains(".py#") || name.split(':').count() == 3);
        let is_class = is_word && name.starts_with("unfurl.") && name.split('.').count() > 2;
        (ELSEWHERE.contains(&name) || is_python || is_class).then(|| Configurator::Unsupported(name.into()))
    }

    /// The class that is stored.
    pub fn class(&self) -> &str {
        match self {
            Configurator::Unsupported(name) => name,
            other => CONFIGURATORS
                .iter()
                .find(|(_, _, configurator)| configurator == other)
                .map_or("", |(_, class, _)| class),
        }
    }
}

/// An operation of an instance.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Its interface.
    pub interface: EcoString,
    /// Its name.
    pub name: EcoString,
    /// The implementation.
    pub configurator: Configurator,
    /// Whether its implementation is a command line, without a configurator. A dry run does not replace it.
    pub is_line: bool,
    /// Its inputs, as written.
    pub inputs: ValMap,
    /// The targets of its results: an attribute for each.
    pub outputs: Vec<(EcoString, Val)>,
    /// Seconds after which it has failed.
    pub timeout: Option<i64>,
    /// Environment variables, as written.
    pub environment: Option<Val>,
    /// The state that lets it run.
    pub entry_state: Option<State>,
    /// The artifacts that it uses: its dependencies, then the one that implements it.
    pub artifacts: Vec<NodeId>,
    /// Where it runs, if set.
    pub host: Option<EcoString>,
    /// Folder of the file it is written in.
    pub dir: EcoString,
    /// Where it is written.
    pub span: Span,
}

/// The data of an implementation, in any notation.
#[derive(Default)]
struct Implementation {
    primary: Option<Val>,
    /// Whether the artifact is named under `primary`, where only known names count.
    is_named: bool,
    class: Option<EcoString>,
    timeout: Option<i64>,
    host: Option<EcoString>,
    environment: Option<Val>,
    /// Artifacts required in addition to the one that implements it.
    dependencies: Vec<Val>,
}

/// The input with the attributes that a result sets.
pub(super) const RESULT_TEMPLATE: &str = "resultTemplate";

impl Operation {
    /// Whether its result may change an attribute; any attribute, if none is named.
    pub(super) fn may_set(&self, attribute: Option<&str>) -> bool {
        if matches!(self.configurator, Configurator::Delegate) || !self.outputs.is_empty() {
            return true;
        }
        let Some(template) = self.inputs.get(&MapKey::from(RESULT_TEMPLATE)) else { return false };
        attribute.is_none_or(|attribute| may_name(template, attribute, 0))
    }
}

/// Whether a result template may yield a key: one that is written, or any if it is computed.
fn may_name(template: &Val, key: &str, depth: usize) -> bool {
    match &template.data {
        _ if depth > crate::limits::MAX_DEPTH => true,
        Data::List(items) => items.iter().any(|item| may_name(item, key, depth + 1)),
        Data::Map(entries) => entries.iter().any(|(name, item)| match name.as_str() {
            Some("attributes") => item
                .as_map()
                .is_none_or(|set| set.contains_key(&MapKey::from("eval")) || set.contains_key(&MapKey::from(key))),
            Some("eval" | "ref") => true,
            _ => matches!(item.data, Data::List(_) | Data::Map(_)) && may_name(item, key, depth + 1),
        }),
        _ => true,
    }
}

impl Ensemble {
    /// The operation of an instance that an interface declares; none without an implementation.
    pub fn operation(&self, target: NodeId, interface: &str, name: &str) -> Option<Operation> {
        self.find_operation(target, interface, name, 0)
    }

    /// Whether an operation of an instance has an implementation.
    pub(super) fn is_implemented(&self, target: NodeId, interface: &str, name: &str) -> bool {
        if self.operation(target, interface, name).is_some() {
            return true;
        }
        let (service, owners) = self.owners(target);
        let interfaces = owners.iter().filter_map(|owner| owner.named("interfaces", interface));
        let mut written = interfaces.filter_map(|interface| interface.named("operations", name));
        written.any(|operation| {
            let carried_out = implementation_of(operation).is_some_and(|own| !is_declined(own.value("primary")));
            carried_out && is_planned(service, operation)
        })
    }

    /// The replacement of an operation in a dry run.
    pub(crate) fn mock(&self, target: NodeId, name: &str) -> Option<Operation> {
        self.operation(target, MOCK, name)
    }

    pub(super) fn find_operation(
        &self,
        target: NodeId,
        interface: &str,
        name: &str,
        depth: usize,
    ) -> Option<Operation> {
        if let Some(artifact) = self.installed(target) {
            return self.installing(artifact, interface, name, depth);
        }
        let (service, owners) = self.owners(target);
        let interfaces: Vec<&Arc<Entity>> =
            owners.iter().filter_map(|owner| owner.named("interfaces", interface)).collect();
        let written: Vec<&Arc<Entity>> =
            interfaces.iter().filter_map(|interface| interface.named("operations", name)).collect();
        let first = *written.iter().find(|operation| is_planned(service, operation))?;
        let defaults: Vec<&Arc<Entity>> =
            owners.iter().filter_map(|owner| owner.named("interfaces", DEFAULTS)).collect();
        let reading = Reading { secrets: &self.manifest.settings.vault, places: &service.places };
        let mut inputs = ValMap::default();
        for layer in [&defaults, &interfaces, &written] {
            layer.iter().rev().for_each(|entity| take_inputs(entity, reading, &mut inputs));
        }
        if let Some(invoked) =
            written.iter().find_map(|operation| operation.value("invoke")).and_then(tosca::Val::as_str)
            && depth < 16
        {
            let (interface, name) = invoked.rsplit_once('.').unwrap_or((interface, invoked));
            let mut found = self.find_operation(target, interface, name, depth + 1)?;
            found.inputs.extend(inputs);
            return Some(found);
        }
        let own = written.iter().find_map(|operation| implementation_of(operation));
        let shared = || interfaces.iter().chain(&defaults).find_map(|entity| entity.value("implementation"));
        let implementation = match own {
            Some(own) => Implementation::of_entity(own, reading),
            None => Implementation::of_value(&from_tosca(shared()?, reading)),
        };
        let outputs =
            [&written, &interfaces, &defaults].into_iter().flatten().flat_map(|entity| entity.values("outputs"));
        let outputs = outputs.map(|(name, mapping)| (name.text.clone(), from_tosca(mapping, reading))).collect();
        let entry_state = written.iter().find_map(|operation| operation.value("entry_state"));
        // An operation of the library runs for the template that has it, and is shown there.
        let of_template = owners.iter().copied().find(|owner| is_users(service, owner));
        let shown = of_template.filter(|_| !is_users(service, first)).unwrap_or(first);
        let mut operation = Operation {
            interface: interface.into(),
            name: name.into(),
            configurator: Configurator::NoCommand,
            is_line: false,
            inputs,
            outputs,
            timeout: implementation.timeout,
            environment: implementation.environment.clone(),
            entry_state: entry_state.and_then(tosca::Val::as_str).and_then(State::parse),
            artifacts: self.artifacts_of(&implementation, target),
            host: implementation.host.clone(),
            dir: folder_of(service, shown),
            span: service.places.span(shown.at),
        };
        self.choose(&mut operation, &implementation, target)?;
        Some(operation)
    }

    /// Decides the implementation of an operation.
    fn choose(&self, operation: &mut Operation, implementation: &Implementation, target: NodeId) -> Option<()> {
        let artifact =
            implementation.primary.as_ref().and_then(Val::as_str).and_then(|name| self.artifact(target, name));
        let inline = implementation.primary.as_ref().and_then(|primary| primary.get("file").and_then(Val::as_str));
        let text = implementation.primary.as_ref().and_then(Val::as_str);
        let guess: Option<EcoString> = match (&artifact, inline, text) {
            (Some((file, _)), _, _) => Some(file.clone()),
            (_, Some(file), _) => Some(file.into()),
            // The value of `primary` names an artifact or a configurator, never a command.
            (_, _, Some(text)) if implementation.is_named && Configurator::named(text).is_none() => None,
            (_, _, text) => text.map(EcoString::from),
        };
        if guess.as_deref() == Some(NOT_IMPLEMENTED) {
            return None;
        }
        let class = implementation.class.clone().or_else(|| artifact.and_then(|(_, class)| class));
        operation.configurator = match (&class, &guess) {
            (Some(class), _) => Configurator::named(class).unwrap_or_else(|| Configurator::Unsupported(class.clone())),
            (None, Some(guess)) => match Configurator::named(guess) {
                Some(configurator) => configurator,
                None => {
                    operation.is_line = true;
                    self.command(operation, guess, implementation)
                }
            },
            (None, None) => return None,
        };
        if operation.configurator == Configurator::NoCommand {
            let given = operation.inputs.get(&MapKey::from("cmd")).cloned();
            match given.as_ref().map(|cmd| &cmd.data) {
                Some(Data::Str(text)) if !text.is_empty() => {
                    operation.configurator = self.command(operation, text, implementation);
                }
                Some(Data::List(_) | Data::Map(_)) => {
                    operation
                        .inputs
                        .entry(MapKey::from("command"))
                        .or_insert_with(|| given.clone().unwrap_or_default());
                    operation.configurator = Configurator::Shell;
                }
                _ => {}
            }
        }
        Some(())
    }

    /// A command line: one word is a program, everything else is read by a shell.
    fn command(&self, operation: &mut Operation, line: &str, implementation: &Implementation) -> Configurator {
        if let Some(host) = implementation.host.as_deref().filter(|host| !matches!(*host, "localhost" | "ORCHESTRATOR"))
        {
            return Configurator::Unsupported(format!("Ansible (to run on `{host}`)").into());
        }
        let is_word = line.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-')) && !line.is_empty();
        let shell = match operation.inputs.get(&MapKey::from("shell")).map(|shell| &shell.data) {
            None | Some(Data::Null) => !is_word,
            Some(Data::Bool(shell)) => *shell,
            Some(_) => true,
        };
        let line = Val::str(line.trim_start());
        let command = if shell { line } else { Val::list(vec![line]) };
        operation.inputs.entry(MapKey::from("command")).or_insert(command);
        Configurator::Shell
    }

    /// The artifacts of an implementation: its dependencies, then its own.
    fn artifacts_of(&self, implementation: &Implementation, target: NodeId) -> Vec<NodeId> {
        let names = implementation.dependencies.iter().chain(&implementation.primary).filter_map(Val::as_str);
        names.filter_map(|name| self.named_artifact(target, name)).collect()
    }

    /// An artifact by its name: one of the instance, or else of a local repository.
    fn named_artifact(&self, target: NodeId, name: &str) -> Option<NodeId> {
        // The operations of an artifact use those beside it.
        let original = self.copies.get(&target).copied().unwrap_or(target);
        let beside = self.tree.node(original).parent.filter(|_| self.tree.node(original).kind == NodeKind::Artifact);
        let owners = [target].into_iter().chain(beside).chain(self.stores.iter().copied());
        let mut artifacts = owners.flat_map(|owner| self.tree.node(owner).artifacts.iter().copied());
        artifacts.find(|id| self.tree.node(*id).name == name)
    }

    /// The file and the configurator of an artifact of an instance.
    fn artifact(&self, target: NodeId, name: &str) -> Option<(EcoString, Option<EcoString>)> {
        let artifact = self.tree.node(self.named_artifact(target, name)?);
        let text = |key: &str| artifact.attributes.get(key).and_then(|value| value.raw.as_str()).map(EcoString::from);
        Some((text("file")?, text("className")))
    }

    /// The declarations of an instance's interfaces: its template, then its type, with their service.
    pub(super) fn owners(&self, target: NodeId) -> (&Service, Vec<&Entity>) {
        let node = self.tree.node(target);
        let service = self.service_of(target).as_ref();
        match (node.kind, node.source) {
            (NodeKind::Node, _) => {
                let Some(template) = service.topology.nodes.get(&node.template) else { return (service, Vec::new()) };
                let complete = service.model.complete(template.node_type).map(Arc::as_ref);
                (service, [Some(template.template.as_ref()), complete].into_iter().flatten().collect())
            }
            (NodeKind::Relationship, Some(source)) => self.relationship_owners(source, &node.name),
            (NodeKind::Artifact, _) => self.artifact_owners(target),
            _ => (service, Vec::new()),
        }
    }

    /// The same of an artifact.
    fn artifact_owners(&self, artifact: NodeId) -> (&Service, Vec<&Entity>) {
        let original = self.copies.get(&artifact).copied().unwrap_or(artifact);
        let service = self.service_of(original).as_ref();
        let node = self.tree.node(original);
        let owner = node.parent.map(|owner| self.tree.node(owner));
        let Some(template) = owner.and_then(|owner| service.topology.nodes.get(&owner.template)) else {
            return (service, Vec::new());
        };
        let own = template.artifacts.get(&node.name);
        let declared = || service.model.complete(template.node_type)?.named("artifacts", &node.name);
        let kind = match own {
            Some(own) => own.artifact_type,
            None => declared().and_then(|entity| service.model.type_of(entity, "type", entities::ARTIFACT_TYPE)),
        };
        let kind = kind.and_then(|id| service.model.complete(id)).map(Arc::as_ref);
        (service, own.map(|own| own.entity.as_ref()).into_iter().chain(kind).collect())
    }

    /// The same for a relationship of a node. An inner node that represents an outer one has the relationships of
    /// that.
    fn relationship_owners(&self, source: NodeId, name: &str) -> (&Service, Vec<&Entity>) {
        let topology = self.tree.topology_of(source);
        let outer = topology.outer.filter(|_| topology.substitution_node == Some(source));
        let of_outer = outer.map(|outer| self.declared_relationship(outer, name));
        let found = of_outer.filter(|(_, found)| !found.is_empty());
        found.unwrap_or_else(|| self.declared_relationship(source, name))
    }

    fn declared_relationship(&self, source: NodeId, name: &str) -> (&Service, Vec<&Entity>) {
        let service = self.service_of(source).as_ref();
        let template = service.topology.nodes.get(&self.tree.node(source).template);
        let requirements = template.map(|template| template.requirements.as_slice()).unwrap_or_default();
        let mut out = Vec::new();
        for requirement in requirements {
            let Some(relationship) = &requirement.relationship else { continue };
            let own = relationship.template.as_ref();
            if requirement.name != name && own.is_none_or(|own| own.name != name) {
                continue;
            }
            out.extend(own.map(Arc::as_ref));
            let kind = relationship.relationship_type.and_then(|kind| service.model.complete(kind));
            out.extend(kind.map(Arc::as_ref));
            break;
        }
        (service, out)
    }
}

/// Whether an entity is written by the user rather than part of the standard's types.
pub(super) fn is_users(service: &Service, entity: &Entity) -> bool {
    file_of(service, entity).is_some_and(|file| !file.starts_with("purlin:"))
}

/// Whether an operation can be part of a plan. The built-in interface types declare operations without an
/// implementation.
fn is_planned(service: &Service, operation: &Entity) -> bool {
    is_users(service, operation) || implementation_of(operation).is_some()
}

/// The word in the place of an implementation that says that there is none.
const NOT_IMPLEMENTED: &str = "not_implemented";

/// Whether an operation is written down as one that is not carried out.
pub(crate) fn is_declined(primary: Option<&tosca::Val>) -> bool {
    primary.and_then(tosca::Val::as_str) == Some(NOT_IMPLEMENTED)
}

/// The implementation of an operation.
fn implementation_of(operation: &Entity) -> Option<&Arc<Entity>> {
    operation.one("implementation").filter(|own| own.slots.iter().any(|slot| !is_null(slot)))
}

fn folder_of(service: &Service, entity: &Entity) -> EcoString {
    file_of(service, entity).map_or(EcoString::new(), |file| path::parent(file).into())
}

fn file_of<'s>(service: &'s Service, entity: &Entity) -> Option<&'s EcoString> {
    let files = &service.model.files;
    files.of(entity.at.file).and_then(|file| files.list.get(file)).map(|file| &file.path)
}

impl Implementation {
    fn of_entity(entity: &Entity, reading: Reading<'_>) -> Self {
        let value =
            |key: &str| entity.value(key).map(|value| from_tosca(value, reading)).filter(|value| !value.is_null());
        let primary = entity.value("primary");
        Implementation {
            primary: value("primary"),
            is_named: primary.is_some_and(|primary| primary.span != entity.span),
            class: value("className").and_then(|class| class.as_str().map(EcoString::from)),
            timeout: entity.int("timeout"),
            host: entity.text("operation_host").map(|host| host.text.clone()),
            environment: value("environment"),
            dependencies: items(value("dependencies").as_ref()),
        }
    }

    fn of_value(value: &Val) -> Self {
        if value.as_str().is_some() {
            return Implementation { primary: Some(value.clone()), ..Implementation::default() };
        }
        let text = |key: &str| value.get(key).and_then(Val::as_str).map(EcoString::from);
        Implementation {
            primary: value.get("primary").cloned(),
            is_named: true,
            class: text("className"),
            timeout: value.get("timeout").and_then(|timeout| match timeout.data {
                Data::Int(seconds) => Some(seconds),
                _ => None,
            }),
            host: text("operation_host"),
            environment: value.get("environment").cloned(),
            dependencies: items(value.get("dependencies")),
        }
    }
}

fn items(list: Option<&Val>) -> Vec<Val> {
    list.and_then(Val::as_list).map(<[Val]>::to_vec).unwrap_or_default()
}

fn is_null(slot: &purlin_tosca::entity::Slot) -> bool {
    matches!(&slot.content, purlin_tosca::entity::Content::Value(value) if matches!(value.data, tosca::Data::Null))
}

/// Inputs with values in a definition, and assigned ones.
fn take_inputs(entity: &Entity, reading: Reading<'_>, out: &mut ValMap) {
    for (name, parameter) in entity.entries("inputs") {
        if let Some(value) = parameter.value("value").or_else(|| parameter.value("default")) {
            out.insert(MapKey::Str(name.clone()), from_tosca(value, reading));
        }
    }
    for (name, value) in entity.values("inputs") {
        out.insert(MapKey::Str(name.text.clone()), from_tosca(value, reading));
    }
}
