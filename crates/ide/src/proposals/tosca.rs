//! Names that TOSCA types define for their users: properties, requirements, capabilities, operations. It uses the types
//! of the project's files and the built-in types of an edition.

use crate::complete::{ProposalKind, Proposals, find_type, value_at};
use crate::context::Context;
use crate::facts::Facts;
use crate::functions::tosca_functions;
use crate::outline::Step;
use purlin_compiler::SchemaOf;
use purlin_model::schema::Edition;
use purlin_syntax::{FileId, Flavor, Limits, Node, Source, Tree, yaml};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Sections with types, and the name of their entries.
const SECTIONS: &[(&str, &str)] = &[
    ("node_types", "node type"),
    ("relationship_types", "relationship type"),
    ("capability_types", "capability type"),
    ("interface_types", "interface type"),
    ("data_types", "data type"),
    ("artifact_types", "artifact type"),
    ("policy_types", "policy type"),
    ("group_types", "group type"),
];

/// Operations of the interfaces in every edition.
const OPERATIONS: &[(&str, &[&str])] = &[
    ("Standard", &["create", "configure", "start", "stop", "delete"]),
    (
        "Configure",
        &[
            "pre_configure_source",
            "pre_configure_target",
            "post_configure_source",
            "post_configure_target",
            "add_target",
            "remove_target",
        ],
    ),
    ("Install", &["connect", "restart", "revert", "check", "discover"]),
    ("Mock", &["configure", "delete"]),
];

/// Keys of an operation, and of its implementation.
const OF_OPERATION: &[&str] = &["implementation", "inputs", "description", "outputs"];
const OF_IMPLEMENTATION: &[&str] = &["primary", "dependencies", "timeout", "operation_host"];

/// Deeper types derive from themselves.
const DEEPEST: usize = 50;

/// The edition of a document.
fn edition(of: Option<SchemaOf>) -> Option<Edition> {
    match of? {
        SchemaOf::Tosca(edition) => Some(edition),
        SchemaOf::Ensemble => Some(purlin_tosca::edition::EXTENDED),
        _ => None,
    }
}

/// The built-in types of an edition; each of their files is read once.
fn builtin(edition: Edition) -> Vec<Arc<Tree>> {
    static TREES: OnceLock<Mutex<HashMap<&'static str, Arc<Tree>>>> = OnceLock::new();
    let standard = if edition == purlin_tosca::edition::EXTENDED { purlin_tosca::edition::V1_3 } else { edition };
    let versions = purlin_tosca::profile::VERSIONS.iter().filter(|version| version.edition == standard);
    let mut known = TREES.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    let mut found: Vec<Arc<Tree>> = Vec::new();
    for file in versions.flat_map(|version| version.profile) {
        let read = || {
            let source = Arc::new(Source::new(FileId(0), file.path, file.text));
            Arc::new(yaml::parse(source, Flavor::Core, &Limits::default()))
        };
        found.push(known.entry(file.path).or_insert_with(read).clone());
    }
    found
}

/// The names of built-in types of some kinds.
pub(crate) fn builtin_names(context: &Context, kinds: &[&'static str]) -> Vec<String> {
    let Some(edition) = edition(context.of) else { return Vec::new() };
    let wanted = SECTIONS.iter().filter(|(_, kind)| kinds.contains(kind));
    let sections: Vec<&str> = wanted.map(|(section, _)| *section).collect();
    let mut names = Vec::new();
    for tree in builtin(edition) {
        for list in tree.roots().flat_map(|root| sections.iter().filter_map(move |section| root.get(section))) {
            names.extend(list.entries().map(|entry| entry.key.text().to_owned()));
        }
    }
    names
}

fn builtin_type<'t>(trees: &'t [Arc<Tree>], name: &str) -> Option<Node<'t>> {
    let sections = trees
        .iter()
        .flat_map(|tree| tree.roots())
        .flat_map(|root| SECTIONS.iter().filter_map(move |(section, _)| root.get(section)).collect::<Vec<_>>());
    let is_it = |known: &str| {
        known == name || known.strip_suffix(name).is_some_and(|rest| rest.ends_with('.') && !rest.is_empty())
    };
    let mut near = None;
    for entry in sections.flat_map(|list| list.entries()) {
        if entry.key.text() == name {
            return Some(entry.value);
        }
        if near.is_none() && is_it(entry.key.text()) {
            near = Some(entry.value);
        }
    }
    near
}

/// Results for a type and for those that it derives from, the nearest first.
fn along<T>(
    related: &[Arc<Facts>],
    edition: Edition,
    own: &str,
    mut take: impl FnMut(Node<'_>) -> Option<T>,
) -> Option<T> {
    let trees = builtin(edition);
    let mut name = short(own).to_owned();
    for _ in 0..DEEPEST {
        let written = find_type(related, &name).and_then(|(facts, mark)| value_at(facts, mark));
        let node = written.or_else(|| builtin_type(&trees, &name))?;
        if let Some(found) = take(node) {
            return Some(found);
        }
        name = short(node.get("derived_from")?.text()).to_owned();
    }
    None
}

/// A name without the prefix of an import.
fn short(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// The entries of a section of a type and of all types it derives from.
pub(crate) fn type_keys(related: &[Arc<Facts>], edition: Edition, own: &str, section: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    along(related, edition, own, |node| {
        let entries = node.get(section)?;
        for entry in entries.entries().chain(entries.items().flat_map(|item| item.entries().collect::<Vec<_>>())) {
            let doc = entry.value.get("description").map(|text| text.text().to_owned()).unwrap_or_default();
            found.push((entry.key.text().to_owned(), doc));
        }
        None::<()>
    });
    found
}

/// The type that an entry of a section of a type has.
fn type_of_entry(related: &[Arc<Facts>], edition: Edition, own: &str, section: &str, entry: &str) -> Option<String> {
    along(related, edition, own, |node| {
        let entry = node.get(section)?.get(entry)?;
        let name = entry.get("type").unwrap_or(entry);
        name.is_scalar().then(|| name.text().to_owned())
    })
}

/// The type of a node template.
fn type_of_template(related: &[Arc<Facts>], name: &str) -> Option<String> {
    related.iter().find_map(|facts| {
        let mut marks = facts.declared.iter().filter(|mark| mark.kind == "node template" && mark.name == name);
        let node = value_at(facts, marks.next()?)?;
        Some(node.get("type")?.text().to_owned())
    })
}

const SECTIONS_OF_TEMPLATES: &[&str] =
    &["properties", "attributes", "capabilities", "requirements", "interfaces", "inputs", "artifacts"];

/// Names that a type defines for the keys of a template: properties, attributes, capabilities, requirements,
/// operations.
pub(crate) fn keys(context: &Context, related: &[Arc<Facts>], proposals: &mut Proposals<'_>) {
    let Some(edition) = edition(context.of) else { return };
    let cursor = &context.cursor;
    let steps: Vec<&str> = cursor.path.iter().map(Step::name).collect();
    let Some(at) = steps.iter().rposition(|key| SECTIONS_OF_TEMPLATES.contains(key)) else { return };
    let Some(section) = steps.get(at).copied() else { return };
    let below: Vec<&str> = steps.get(at + 1..).unwrap_or_default().to_vec();
    let typed = context.text.get(cursor.word.clone()).unwrap_or("");
    let present = |key: &str| key != typed && cursor.level().is_some_and(|level| level.has(key));
    let mut add = |key: &str, detail: &str, doc: &str, score: u32| {
        if !present(key) {
            proposals.add(key, ProposalKind::Name, detail, doc, score);
        }
    };
    let own = cursor.levels.get(at).and_then(|level| level.get("type")).filter(|name| !name.is_empty());
    if section == "interfaces" {
        let is_inner = below.get(1) == Some(&"operations");
        match (below.len() - usize::from(is_inner), own) {
            (0, Some(own)) => {
                for (key, doc) in type_keys(related, edition, own, section) {
                    add(&key, &format!("of `{own}`"), &doc, 3_000);
                }
                add("Standard", "", "", 2_500);
            }
            (0, None) => OPERATIONS.iter().for_each(|(name, _)| add(name, "", "", 100)),
            (1, own) => {
                let interface = below.first().copied().unwrap_or("");
                let of = own.and_then(|own| type_of_entry(related, edition, own, section, interface));
                let of = of.unwrap_or_else(|| interface.to_owned());
                for (key, doc) in type_keys(related, edition, &of, "operations") {
                    add(&key, &format!("of `{of}`"), &doc, 2_900);
                }
                // Operations may be under a separate key.
                let holds = |names: &[&str]| cursor.below.keys.iter().any(|key| names.contains(&key.as_str()));
                if !is_inner && OPERATIONS.iter().any(|(_, names)| holds(names)) {
                    add("operations", "", "", 4_000);
                }
                let known =
                    OPERATIONS.iter().filter(|(name, _)| *name == interface || of.ends_with(&format!(".{name}")));
                for (at, name) in known.flat_map(|(_, names)| names.iter()).enumerate() {
                    let last = u32::try_from(at).unwrap_or(0);
                    add(name, "operation", "", 2_900 - last);
                }
            }
            (2, _) => {
                OF_OPERATION.iter().zip((0..).map(|at| 900 - at)).for_each(|(key, score)| add(key, "", "", score))
            }
            (3, _) if below.last() == Some(&"implementation") => {
                OF_IMPLEMENTATION.iter().zip((0..).map(|at| 900 - at)).for_each(|(key, score)| add(key, "", "", score));
            }
            _ => {}
        }
        return;
    }
    // The properties of a capability are those of its type.
    let holder = at.checked_sub(2).filter(|_| section == "properties");
    if let Some(holder) = holder.filter(|holder| steps.get(*holder) == Some(&"capabilities"))
        && below.is_empty()
    {
        let node = cursor.levels.get(holder).and_then(|level| level.get("type"));
        let capability = steps.get(holder + 1).copied().unwrap_or("");
        let of = node.and_then(|node| type_of_entry(related, edition, node, "capabilities", capability));
        for (key, doc) in of.map(|of| type_keys(related, edition, &of, section)).unwrap_or_default() {
            add(&key, &format!("of `{capability}`"), &doc, 3_000);
        }
        return;
    }
    let is_direct = below.is_empty() || below == ["-"];
    let Some(own) = own.filter(|_| is_direct) else { return };
    for (key, doc) in type_keys(related, edition, own, section) {
        add(&key, &format!("of `{own}`"), &doc, 3_000);
    }
}

/// Functions, if a value may be a call.
pub(crate) fn calls(context: &Context, related: &[Arc<Facts>], proposals: &mut Proposals<'_>) {
    let Some(edition) = edition(context.of) else { return };
    let is_value = |step: &Step| matches!(step, Step::Key(key) if matches!(key.as_str(), "properties" | "attributes" | "inputs" | "outputs"));
    let Some(at) = context.cursor.path.iter().rposition(is_value) else { return };
    if context.cursor.path.len() <= at + 1 {
        return;
    }
    let usual = |name: &str| match (name.trim_start_matches('$'), context.cursor.below.is_list) {
        ("get_input", false) => 60,
        ("get_attribute" | "get_property", true) => 60,
        ("concat", true) => 50,
        ("eval", _) => 40,
        ("get_attribute" | "get_property", false) => 30,
        _ => 0,
    };
    let written = |name: &str| -> u32 {
        let counts = related.iter().flat_map(|facts| facts.keys.iter()).filter(|((_, key), _)| key == name);
        counts.map(|(_, count)| *count).sum::<u32>().min(50)
    };
    let mut add = |name: &str, signature: &str, doc: &str| {
        proposals.add(name, ProposalKind::Function, signature, doc, 700 + usual(name) + written(name));
    };
    for (name, signature, doc) in tosca_functions(edition) {
        add(&name, &signature, doc);
    }
    if edition == purlin_tosca::edition::EXTENDED {
        add("eval", "eval(query)", "Evaluates a query.");
        add("q", "q(value)", "Takes a value as it is.");
    }
}

/// Properties and attributes of the node that is the first argument of a call.
pub(crate) fn arguments(context: &Context, related: &[Arc<Facts>], proposals: &mut Proposals<'_>) {
    let Some(edition) = edition(context.of) else { return };
    let cursor = &context.cursor;
    let is_call =
        matches!(cursor.last_key(), Some("get_property" | "get_attribute" | "$get_property" | "$get_attribute"));
    let levels = cursor.levels.len();
    let list = levels.checked_sub(2).and_then(|at| cursor.levels.get(at));
    let Some(list) = list.filter(|_| is_call && cursor.path.last() == Some(&Step::Item)) else { return };
    if is_at_first(context) {
        let words = ["SELF", "HOST", "SOURCE", "TARGET"].into_iter().zip([1_500, 800, 790, 780]);
        words.for_each(|(word, score)| proposals.add(word, ProposalKind::Word, "", "", score));
        return;
    }
    let Some(node) = list.get("0").filter(|node| !node.is_empty()) else { return };
    let own = match node {
        "SELF" => cursor.levels.iter().find_map(|level| level.get("type")).map(str::to_owned),
        name => type_of_template(related, name),
    };
    for (section, score) in
        [("properties", 2_000), ("attributes", 1_990), ("capabilities", 1_900), ("requirements", 1_800)]
    {
        for (key, doc) in own.as_deref().map(|own| type_keys(related, edition, own, section)).unwrap_or_default() {
            proposals.add(&key, ProposalKind::Name, &format!("of `{node}`"), &doc, score);
        }
    }
}

/// Whether the cursor is in the first item of a list in flow style.
fn is_at_first(context: &Context) -> bool {
    let before = context.text.get(..context.offset).unwrap_or("");
    let open = before.rfind('[').unwrap_or(0);
    !before.get(open..).unwrap_or("").contains(',')
}
