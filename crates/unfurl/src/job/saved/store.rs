//! The files of a finished job: the ensemble's status in its file, the record of the job, and the log that later jobs
//! compare with. Texts only; the caller writes them.

use crate::convert::key_text;
use crate::ensemble::manifest::Manifest;
use crate::ensemble::nested::SAVED;
use crate::ensemble::read::Reader;
use crate::eval::show::REDACTED;
use crate::eval::special::full_key_of;
use crate::job::change;
use crate::job::report::mapping;
use crate::job::task::{Digest, Task};
use crate::job::{Job, Request};
use crate::tree::{NodeId, NodeKind, Priority, Status, Topology, Tree};
use crate::val::{Data, MapKey, Val, ValMap};
use crate::yaml_text::{YamlStyle, to_yaml};
use ecow::EcoString;
use purlin_syntax::{Flavor, Limits, Sources, yaml};
use purlin_tosca::load::Given;
use purlin_value::{Session, path};
use std::collections::HashMap;

/// The file that lists all changes, if the ensemble does not name another.
const LOG: &str = "jobs.tsv";

/// The folder of the records of jobs.
const CHANGES: &str = "changes";

const STYLE: YamlStyle = YamlStyle { indent: 2, flow_leaves: false, sorted: false };

/// Inputs of earlier jobs: the last digest of each operation of each instance.
#[derive(Debug, Default)]
pub(in crate::job) struct Log {
    last: HashMap<(EcoString, EcoString), (EcoString, Digest)>,
}

impl Log {
    /// Reads the log of an ensemble. Broken lines are ignored.
    pub(in crate::job) fn read(session: &Session, manifest: &Manifest) -> Log {
        let file = path::join(&manifest.folder, &log_name(&manifest.document));
        let bytes = session.world.read(&file).unwrap_or_default();
        let mut log = Log::default();
        for line in String::from_utf8_lossy(&bytes).lines() {
            log.take(line);
        }
        log
    }

    fn take(&mut self, line: &str) {
        let mut terms = line.trim().split('\t');
        let Some(id) = terms.next().filter(|id| !id.is_empty() && !id.starts_with('#')) else { return };
        let fields: HashMap<&str, &str> = terms.filter_map(|term| term.split_once('=')).collect();
        let field = |name: &str| fields.get(name).copied().unwrap_or_default();
        let (target, operation) = (field("target"), field("operation"));
        if target.is_empty() || operation.is_empty() {
            return;
        }
        let digest = Digest {
            keys: field("digestKeys").to_owned(),
            value: field("digestValue").to_owned(),
            put: field("digestPut").to_owned(),
        };
        let key = (EcoString::from(target), EcoString::from(operation));
        let is_later = self.last.get(&key).is_none_or(|(known, _)| known.as_str() <= id);
        if is_later {
            self.last.insert(key, (id.into(), digest));
        }
    }

    /// The last inputs of an operation of an instance.
    pub(in crate::job) fn find(&self, target: &EcoString, operation: &EcoString) -> Option<&Digest> {
        self.last.get(&(target.clone(), operation.clone())).map(|(_, digest)| digest)
    }
}

fn log_name(document: &Val) -> EcoString {
    document.get("jobsLog").and_then(Val::as_str).unwrap_or(LOG).into()
}

/// Files that a job leaves, with paths in the world.
#[derive(Clone, Debug)]
pub struct Files {
    /// The ensemble's file.
    pub ensemble: String,
    /// Its sections that change, each with its key.
    pub sections: Vec<(String, String)>,
    /// The record of the job: its file and text. None before the job is finished.
    pub changes: Option<(String, String)>,
    /// The log: its file, and lines to add.
    pub log: Option<(String, String)>,
}

impl Job<'_> {
    /// The ensemble's file with the current status. `Err` is the reason the file cannot be changed.
    pub fn status_file(&mut self) -> Result<Files, String> {
        let status = self.status_value();
        self.files(vec![("status", status)])
    }

    /// All files of a finished job.
    pub fn final_files(&mut self) -> Result<Files, String> {
        let status = self.status_value();
        let stem = change::file_stem(self.started, &self.id);
        let relative = format!("{CHANGES}/{stem}.yaml");
        let record = self.job_record(&relative);
        let log = log_name(&self.ensemble.manifest.document);
        let sections = vec![("status", status), ("lastJob", record.clone()), ("jobsLog", Val::str(log.clone()))];
        let mut files = self.files(sections)?;
        let folder = self.ensemble.manifest.folder.clone();
        files.changes = Some((path::join(&folder, &relative), self.changes_text(&record)?));
        files.log = Some((path::join(&folder, &log), self.log_lines(&relative)));
        Ok(files)
    }

    fn files(&mut self, sections: Vec<(&str, Val)>) -> Result<Files, String> {
        let mut blocks = Vec::new();
        for (key, value) in sections {
            blocks.push((key.to_owned(), self.yaml(&mapping(vec![(key, value)]))?));
        }
        Ok(Files { ensemble: self.ensemble.manifest.path.clone(), sections: blocks, changes: None, log: None })
    }

    fn yaml(&self, value: &Val) -> Result<String, String> {
        to_yaml(value, &self.ensemble.tree, STYLE).map_err(|error| error.message.clone())
    }

    /// The section `status`.
    fn status_value(&mut self) -> Val {
        self.read_nested_values();
        let sections = [("inputs", false), ("outputs", true)];
        let mut entries: Vec<(&str, Val)> = Vec::new();
        for (name, is_output) in sections {
            let values = self.values(is_output);
            let tree = &self.ensemble.tree;
            let values = values.into_iter().map(|(name, value)| (name, stored(&value, tree)));
            entries.push((name, Val::map(values.collect())));
        }
        let root = self.ensemble.tree.root();
        entries.push(("instances", self.instances_below(root, 0)));
        mapping(entries)
    }

    /// Evaluates the inputs and outputs of the topologies in the place of instances.
    fn read_nested_values(&mut self) {
        let nested = self.ensemble.tree.topologies().iter().skip(1);
        let sections: Vec<NodeId> = nested.flat_map(|topology| [topology.inputs, topology.outputs]).collect();
        for id in sections {
            let names: Vec<EcoString> = self.ensemble.tree.node(id).attributes.keys().cloned().collect();
            let values = self.read_values(id, &names);
            self.nested_values.insert(id, values);
        }
    }

    /// Instances that a parent holds, as they are stored.
    fn instances_below(&self, root: NodeId, depth: usize) -> Val {
        // Children are finished before their parent, without a machine stack as deep as instances are hosted.
        let mut open = vec![(root, false)];
        let mut done: HashMap<NodeId, Val> = HashMap::new();
        while let Some((id, is_left)) = open.pop() {
            let children = &self.ensemble.tree.node(id).children;
            if !is_left {
                open.push((id, true));
                open.extend(children.iter().map(|child| (*child, false)));
                continue;
            }
            let mut inner = ValMap::default();
            for child in children {
                if let Some(entry) = done.remove(child).filter(|entry| !entry.is_null()) {
                    inner.insert(MapKey::Str(self.ensemble.tree.node(*child).name.clone()), entry);
                }
            }
            let entry = match id == root {
                true => Val::map(inner),
                false => match self.nested_at(id) {
                    Some(nested) => self.substituted_value(id, nested, depth),
                    None => self.instance_value(id, inner),
                },
            };
            done.insert(id, entry);
        }
        done.remove(&root).unwrap_or_else(|| Val::map(ValMap::default()))
    }

    /// One instance in its stored form; null if it has nothing to store.
    fn instance_value(&self, id: NodeId, inner: ValMap) -> Val {
        let directives = self.directives(id);
        let has = |name: &str| directives.iter().any(|word| word == name);
        let node = self.ensemble.tree.node(id);
        let record = self.record(id);
        let is_idle = matches!(node.local_status, None | Some(Status::Unknown))
            || has("default") && matches!(node.local_status, Some(Status::Ok | Status::Pending));
        if has("virtual") || (record.last_change().is_none() && is_idle) {
            return Val::null();
        }
        let mut entries = self.entity(id);
        let requirements = node.requirements.iter().filter_map(|requirement| self.requirement_value(*requirement));
        let requirements: Vec<Val> = requirements.collect();
        if !requirements.is_empty() {
            entries.push(("requirements", Val::list(requirements)));
        }
        if !inner.is_empty() {
            entries.push(("instances", Val::map(inner)));
        }
        mapping(entries)
    }

    /// The topology in the place of an instance.
    fn nested_at(&self, id: NodeId) -> Option<&Topology> {
        self.ensemble.tree.node(id).shadow?;
        self.ensemble.tree.topologies().iter().find(|topology| topology.outer == Some(id))
    }

    /// An instance with a topology in its place; null if nothing of that is stored.
    fn substituted_value(&self, id: NodeId, nested: &Topology, depth: usize) -> Val {
        let instances = match depth < crate::limits::MAX_DEPTH {
            true => self.instances_below(nested.root, depth + 1),
            false => Val::null(),
        };
        if instances.as_map().is_none_or(ValMap::is_empty) {
            return Val::null();
        }
        let tree = &self.ensemble.tree;
        let mut entries = vec![("template", Val::str(tree.node(id).template.clone()))];
        entries.extend(nested.substitution_node.map(|inner| {
            let address = ecow::eco_format!(":{}", tree.full_name(inner));
            ("imported", Val::str(address))
        }));
        entries.push(("priority", Val::str(self.priority(id).name())));
        let values = |id: NodeId| {
            let known = self.nested_values.get(&id).cloned().unwrap_or_default();
            Val::map(known.iter().map(|(name, value)| (name.clone(), stored(value, tree))).collect())
        };
        let sections =
            vec![("inputs", values(nested.inputs)), ("outputs", values(nested.outputs)), ("instances", instances)];
        entries.push((SAVED, mapping(sections)));
        mapping(entries)
    }

    /// A relationship that operations changed.
    fn requirement_value(&self, id: NodeId) -> Option<Val> {
        let node = self.ensemble.tree.node(id);
        let is_idle = matches!(node.local_status, None | Some(Status::Unknown | Status::Ok | Status::Pending));
        if self.record(id).last_change().is_none() && is_idle {
            return None;
        }
        let mut entries = self.entity(id);
        let capability = node.parent.map(|capability| full_key_of(&self.ensemble.tree, capability)).unwrap_or_default();
        entries.push(("capability", Val::str(capability)));
        let name = MapKey::Str(node.name.clone());
        Some(Val::map([(name, mapping(entries))].into_iter().collect()))
    }

    fn entity(&self, id: NodeId) -> Vec<(&'static str, Val)> {
        let tree = &self.ensemble.tree;
        let (node, record) = (tree.node(id), self.record(id));
        let template = match node.kind {
            NodeKind::Relationship => {
                let source = node.source.map(|source| tree.node(source).template.clone()).unwrap_or_default();
                ecow::eco_format!("{source}~r~{}", node.template)
            }
            _ => node.template.clone(),
        };
        let mut out = vec![("template", Val::str(template))];
        for (name, values) in [("attributes", &record.attributes), ("properties", &record.properties)] {
            if !values.is_empty() {
                let values = values.iter().map(|(name, value)| (name.clone(), stored(value, tree)));
                out.push((name, Val::map(values.collect())));
            }
        }
        out.extend(record.imported.clone().map(|imported| ("imported", imported)));
        let status = self.status(id);
        if record.last_change().is_some() || status != Status::Unknown {
            out.push(("priority", Val::str(self.priority(id).name())));
            if record.imported.is_none() {
                out.push(("readyState", ready_state(node.local_status, status, node.state.map(|state| state.name()))));
            }
            let changes =
                [("lastStateChange", &record.last_state_change), ("lastConfigChange", &record.last_config_change)];
            out.extend(changes.into_iter().filter_map(|(key, change)| Some((key, Val::str(change.clone()?)))));
        }
        let kept = [("created", record.created), ("protected", record.protected), ("customized", record.customized)];
        out.extend(kept.into_iter().filter_map(|(key, value)| Some((key, stored(&value?, tree)))));
        out
    }

    fn priority(&self, id: NodeId) -> Priority {
        self.record(id).priority.unwrap_or(self.ensemble.tree.node(id).priority)
    }

    /// The section `lastJob`.
    fn job_record(&self, changelog: &str) -> Val {
        let status = self.job_status();
        let options = self.options.stored.iter().map(|(name, value)| (*name, value.clone())).collect();
        let mut entries = vec![
            ("changeId", Val::str(self.id.clone())),
            ("startTime", Val::str(change::time(self.started))),
            ("endTime", Val::str(change::time(self.session.world.now()))),
        ];
        entries.extend(self.previous.clone().map(|previous| ("previousId", Val::str(previous))));
        entries.extend([
            ("workflow", Val::str(self.options.workflow.name())),
            ("options", mapping(options)),
            ("summary", Val::str(self.stats().to_string())),
            ("specDigest", Val::str(self.spec_digest())),
            ("readyState", ready_state(Some(Status::Ok), status, None)),
            ("changelog", Val::str(changelog)),
        ]);
        mapping(entries)
    }

    fn spec_digest(&self) -> String {
        let template = self.ensemble.manifest.service.as_ref().and_then(Given::node);
        let template = template.map(|node| Reader::new(None).read(node)).unwrap_or_default();
        change::digest([&template], &self.ensemble.tree)
    }

    /// The record of the job and of its tasks.
    fn changes_text(&self, record: &Val) -> Result<String, String> {
        let tasks = self.tasks.iter().filter_map(|task| Some(self.task_record(task, self.requests.get(task.request)?)));
        let changes = std::iter::once(record.clone()).chain(tasks).collect();
        let name = path::file_name(&self.ensemble.manifest.path);
        self.yaml(&mapping(vec![("manifest", Val::str(format!("../{name}"))), ("changes", Val::list(changes))]))
    }

    fn task_record(&self, task: &Task, request: &Request) -> Val {
        let tree = &self.ensemble.tree;
        let values = |values: &ValMap| {
            Val::map(values.iter().map(|(name, value)| (name.clone(), stored(value, tree))).collect())
        };
        let mut out = vec![("changeId", Val::str(task.change_id.clone()))];
        out.extend(task.previous.clone().map(|previous| ("previousId", Val::str(previous))));
        out.push(("target", Val::str(full_key_of(tree, request.target))));
        if let Some(status) = task.status {
            out.push(("priority", Val::str("required")));
            out.push(("readyState", ready_state(Some(status), status, None)));
        }
        out.push((
            "implementation",
            mapping(vec![
                ("operation", Val::str(request.operation.name.clone())),
                ("className", Val::str(request.operation.configurator.class())),
            ]),
        ));
        out.push(("reason", Val::str(request.reason.clone())));
        if !task.inputs.is_empty() {
            out.push(("inputs", values(&task.inputs)));
        }
        if !task.changes.is_empty() {
            let changes = task.changes.iter().map(|(id, set)| (MapKey::Str(full_key_of(tree, *id)), values(set)));
            out.push(("changes", Val::map(changes.collect())));
        }
        let dependency = |dependency: &crate::job::task::Dependency| {
            let mut out = vec![("ref", Val::str(dependency.query.clone()))];
            if !dependency.value.is_null() {
                out.push(("expected", stored(&dependency.value, tree)));
            }
            out.push(("required", Val::bool(true)));
            if dependency.is_set {
                out.push(("writeOnly", Val::bool(true)));
            }
            mapping(out)
        };
        if !task.dependencies.is_empty() {
            out.push(("dependencies", Val::list(task.dependencies.iter().map(dependency).collect())));
        }
        if !task.outputs.is_empty() {
            out.push(("outputs", values(&task.outputs)));
        }
        match task.status {
            None => out.push(("result", Val::str("skipped"))),
            // The output of a command may contain any data, so it is only in its log.
            Some(_) if task.result.as_str().is_some() => out.push(("result", stored(&task.result, tree))),
            Some(_) => {}
        }
        let Digest { keys, value, put } = &task.digest;
        let digests = [("digestKeys", keys), ("digestValue", value), ("digestPut", put)];
        out.extend(digests.into_iter().map(|(key, text)| (key, Val::str(text.as_str()))));
        out.push(("summary", Val::str(self.sentence(task))));
        mapping(out)
    }

    /// Lines for the log that later jobs compare with.
    fn log_lines(&self, changelog: &str) -> String {
        let line = |id: &str, fields: &[(&str, &str)]| {
            // Tabs and line ends would be read as something else.
            let clean = |text: &str| text.replace(['\t', '\n', '\r'], " ");
            let fields: String = fields.iter().map(|(key, value)| format!("\t{key}={}", clean(value))).collect();
            format!("{id}{fields}\n")
        };
        let (start, stats, digest) = (change::time(self.started), self.stats().to_string(), self.spec_digest());
        let previous = self.previous.as_deref().map(|previous| ("previousId", previous));
        let mut fields: Vec<(&str, &str)> = previous.into_iter().collect();
        fields.extend([
            ("status", self.job_status().name()),
            ("startTime", start.as_str()),
            ("specDigest", digest.as_str()),
            ("summary", stats.as_str()),
            ("changelog", changelog),
        ]);
        let mut out = line(&self.id, &fields);
        for task in &self.tasks {
            let (Some(status), Some(request)) = (task.status, self.requests.get(task.request)) else { continue };
            let target = full_key_of(&self.ensemble.tree, request.target);
            let sentence = self.sentence(task);
            out.push_str(&line(
                &task.change_id,
                &[
                    ("previousId", task.previous.as_deref().unwrap_or_default()),
                    ("status", status.name()),
                    ("target", &target),
                    ("operation", &request.operation.name),
                    ("digestKeys", &task.digest.keys),
                    ("digestValue", &task.digest.value),
                    ("digestPut", &task.digest.put),
                    ("summary", &sentence),
                ],
            ));
        }
        out
    }
}

fn ready_state(local: Option<Status>, effective: Status, state: Option<&str>) -> Val {
    let mut out = Vec::new();
    if local != Some(effective) {
        out.push(("effective", Val::str(effective.name())));
    }
    out.extend(local.map(|local| ("local", Val::str(local.name()))));
    out.extend(state.map(|state| ("state", Val::str(state))));
    mapping(out)
}

/// A value as it is stored: secrets redacted, handles as the expressions that make them again.
pub(in crate::job) fn stored(value: &Val, tree: &Tree) -> Val {
    stored_at(value, tree, 0)
}

fn stored_at(value: &Val, tree: &Tree, depth: usize) -> Val {
    if value.is_tainted() {
        return Val::str(REDACTED);
    }
    match &value.data {
        _ if depth > crate::limits::MAX_DEPTH => Val::null(),
        Data::List(items) => Val::list(items.iter().map(|item| stored_at(item, tree, depth + 1)).collect()),
        Data::Map(entries) => {
            let entry = |(key, item): (&MapKey, &Val)| (MapKey::Str(key_text(key)), stored_at(item, tree, depth + 1));
            Val::map(entries.iter().map(entry).collect())
        }
        Data::External(external) => stored_at(&external.as_expression(), tree, depth + 1),
        Data::Node(id) | Data::Attributes(id) => Val::record([("ref", Val::str(full_key_of(tree, *id)))]),
        Data::Status(status) => Val::str(status.name()),
        Data::State(state) => Val::str(state.name()),
        Data::Priority(priority) => Val::str(priority.name()),
        Data::Null | Data::Bool(_) | Data::Int(_) | Data::Float(_) | Data::Str(_) => value.clone(),
        _ => Val::str(crate::python::to_text(value, tree)),
    }
}

impl Files {
    /// The text of the ensemble's file with the new sections. All other bytes are unchanged.
    pub fn rewritten(&self, text: &str) -> Result<String, String> {
        self.sections.iter().try_fold(text.to_owned(), |text, (key, block)| with_section(&text, key, block))
    }
}

/// A text with one of its sections replaced, or added at its end.
fn with_section(text: &str, key: &str, block: &str) -> Result<String, String> {
    let sources = Sources::default();
    let tree = yaml::parse(sources.insert("ensemble", text), Flavor::Core, &Limits::default());
    let Some(root) = tree.root().filter(|root| root.is_map() && tree.is_sound()) else {
        return Err("it is not valid YAML any more".to_owned());
    };
    if text.get(root.span().start as usize..).is_some_and(|rest| rest.starts_with('{')) {
        return Err("it is written in braces; write it as block YAML".to_owned());
    }
    let end_of_line =
        |at: usize| text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |end| at + end + 1);
    let Some(entry) = root.entry(key) else {
        let gap = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
        return Ok(format!("{text}{gap}{block}"));
    };
    let start = entry.key.span().start as usize;
    let end = (entry.value.span().end as usize).max(entry.key.span().end as usize);
    let ends_a_line = end > 0 && text.as_bytes().get(end - 1) == Some(&b'\n');
    let end = if ends_a_line { end } else { end_of_line(end) };
    let (before, after) = (text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default());
    Ok(format!("{before}{block}{after}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_section_is_replaced_and_everything_else_kept() {
        let text = "a: 1 # one\nstatus:\n  x: |\n    lines\n# about b\nb: {c: d}\n";
        let found = with_section(text, "status", "status:\n  y: 2\n").unwrap();
        assert_eq!(found, "a: 1 # one\nstatus:\n  y: 2\n# about b\nb: {c: d}\n");
        assert_eq!(with_section("a: 1", "status", "status: {}\n").unwrap(), "a: 1\nstatus: {}\n");
        let empty = "status:\nb: 1\n";
        assert_eq!(with_section(empty, "status", "status: {}\n").unwrap(), "status: {}\nb: 1\n");
        assert!(with_section("{a: 1}\n", "status", "").is_err());
    }
}
