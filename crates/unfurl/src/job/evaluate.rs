//! Evaluates the inputs of an operation, and notes every attribute read on the way.

use super::Job;
use super::task::Dependency;
use crate::error::{Error, Kind, Result};
use crate::eval::frame::{Frame, Mode, Scope, Variable};
use crate::eval::lazy::Memo;
use crate::eval::path::by_name;
use crate::eval::special::full_key_of;
use crate::eval::status::target as target_of;
use crate::eval::{Ctx, Engine};
use crate::tree::{NodeId, NodeKind};
use crate::val::{Data, MapKey, Val, ValMap};
use ecow::EcoString;
use purlin_value::path;
use std::cell::RefCell;
use std::rc::Rc;

/// The inputs of an operation while they are evaluated.
pub(super) struct Inputs<'c, 'e, 'w> {
    pub ctx: &'c Ctx<'e, 'w>,
    read: RefCell<ValMap>,
}

impl Inputs<'_, '_, '_> {
    /// An input, completely evaluated; none if missing.
    pub fn get(&self, name: &str) -> Result<Option<Val>> {
        let inputs = self.ctx.variable("inputs")?.unwrap_or_default();
        let Some(value) = by_name(self.ctx, &inputs, name)? else { return Ok(None) };
        let value = self.ctx.engine.force(value)?;
        self.read.borrow_mut().insert(MapKey::from(name), value.clone());
        Ok(Some(value))
    }

    /// An input that is set and not null.
    pub fn given(&self, name: &str) -> Result<Option<Val>> {
        Ok(self.get(name)?.filter(|value| !value.is_null()))
    }
}

/// The values read during an evaluation.
#[derive(Default)]
pub(super) struct Reads {
    pub inputs: ValMap,
    pub attributes: Vec<Dependency>,
    /// Secret texts that were met.
    pub secrets: Vec<String>,
}

impl Job<'_> {
    /// Evaluates in the context of a request's operation.
    pub(super) fn evaluate<T>(
        &mut self,
        request: usize,
        further: Vec<Variable>,
        run: impl FnOnce(&Inputs<'_, '_, '_>) -> Result<T>,
    ) -> Result<(T, Reads)> {
        let Some(asked) = self.requests.get(request).cloned() else {
            return Err(Error::new(Kind::Reported, "no such operation"));
        };
        let (result, reads) = {
            let engine = self.ensemble.engine(self.session);
            *engine.touched.borrow_mut() = Some(Vec::new());
            let mut variables = self.variables(request);
            variables.extend(further);
            let mode = Mode { attribute: true, ..Mode::default() };
            let dir: EcoString = path::join(self.session.world.root(), &asked.operation.dir).into();
            let home = Val::node(asked.target);
            let scope = Rc::new(Scope { variables, parent: None, home: home.clone(), mode, dir: dir.clone() });
            let frame = Frame { start: home.clone(), current: home, scope: Some(scope), mode, dir };
            let ctx = Ctx { engine: &engine, frame: Rc::new(frame) };
            let inputs = Inputs { ctx: &ctx, read: RefCell::default() };
            let result = run(&inputs).map_err(|error| engine.scrubbed(error));
            let mut reads = Reads { inputs: inputs.read.take(), attributes: Vec::new(), secrets: engine.met_secrets() };
            reads.inputs.extend(read_through_others(&ctx, &reads.inputs));
            reads.attributes = self.touched(&engine);
            (result, reads)
        };
        self.forget(&reads.attributes);
        match result {
            Ok(value) => Ok((value, reads)),
            Err(error) => {
                self.failed_reads = reads.attributes;
                Err(error)
            }
        }
    }

    /// Values of the topology's inputs or outputs.
    pub(super) fn read_values(&mut self, id: NodeId, names: &[EcoString]) -> ValMap {
        let (values, touched) = {
            let engine = self.ensemble.engine(self.session);
            *engine.touched.borrow_mut() = Some(Vec::new());
            let value = |name: &EcoString| {
                let found = engine.attribute(id, name).and_then(|value| engine.force(value.unwrap_or_default()));
                (MapKey::Str(name.clone()), found.unwrap_or_else(|_| Val::null()))
            };
            let values: ValMap = names.iter().map(value).collect();
            (values, self.touched(&engine))
        };
        self.keep_reads(&touched);
        self.forget(&touched);
        values
    }

    /// Attributes that an engine has evaluated, with their values.
    fn touched(&self, engine: &Engine<'_>) -> Vec<Dependency> {
        let names = engine.touched.borrow_mut().take().unwrap_or_default();
        let tree = &self.ensemble.tree;
        let read = |(id, name): (NodeId, EcoString)| {
            let attribute = tree.node(id).attributes.get(&name)?;
            let Memo::Done(value) = attribute.memo.borrow().clone() else { return None };
            let value = engine.force(value).unwrap_or_else(|_| Val::null());
            let is_set =
                self.records.get(id).is_some_and(|record| record.attributes.contains_key(&MapKey::Str(name.clone())));
            let is_live = is_set || !attribute.property;
            let query = ecow::eco_format!("{}::{name}", full_key_of(tree, id));
            Some(Dependency { instance: id, query, value, is_set: false, is_live })
        };
        names.into_iter().filter_map(read).collect()
    }

    /// The evaluated values may have changed the next time.
    fn forget(&self, read: &[Dependency]) {
        for dependency in read {
            let name = dependency.query.rsplit("::").next().unwrap_or_default();
            if let Some(attribute) = self.ensemble.tree.node(dependency.instance).attributes.get(name) {
                *attribute.memo.borrow_mut() = Memo::Empty;
            }
        }
    }

    /// Values that were read are stored with their instances.
    pub(super) fn keep_reads(&mut self, read: &[Dependency]) {
        for dependency in read.iter().filter(|dependency| !dependency.is_set) {
            let node = self.ensemble.tree.node(dependency.instance);
            if node.kind != NodeKind::Node {
                continue;
            }
            let name = dependency.query.rsplit("::").next().unwrap_or_default();
            let key = MapKey::Str(name.into());
            let record = self.records.edit(dependency.instance);
            match dependency.is_live {
                // An attribute that is not set is missing.
                true if dependency.value.is_null() => {}
                true => {
                    record.attributes.insert(key, dependency.value.clone());
                }
                false => {
                    record.properties.insert(key, dependency.value.clone());
                }
            }
        }
    }

    /// The variables that an operation's expressions see.
    fn variables(&self, request: usize) -> Vec<Variable> {
        let Some(asked) = self.requests.get(request) else { return Vec::new() };
        let tree = &self.ensemble.tree;
        let node = tree.node(asked.target);
        let attributes = |id: NodeId| -> Val { Data::Attributes(id).into() };
        let end = match node.kind {
            NodeKind::Relationship => target_of(tree, asked.target).unwrap_or(tree.root()),
            _ => asked.target,
        };
        let operation = &asked.operation;
        let text = |text: &str| Val::str(text);
        let folder = path::join(self.session.world.root(), &self.ensemble.manifest.folder);
        let task = Val::record([
            ("name", text(&self.config_name(request))),
            ("dryrun", Val::bool(self.options.dry_run)),
            ("verbose", Val::int(0)),
            ("workflow", text(self.task_workflow(request))),
            ("operation", text(&operation.name)),
            ("timeout", operation.timeout.map_or_else(Val::null, Val::int)),
            ("target", text(&node.name)),
            ("reason", text(&asked.reason)),
            ("cwd", text(&folder)),
        ]);
        let host = tree.node(end).parent.filter(|host| tree.node(*host).kind == NodeKind::Node).unwrap_or(tree.root());
        let mut out = vec![
            Variable::written("inputs", Val::map(operation.inputs.clone())),
            Variable::ready("task", task),
            Variable::ready("connections", Val::map(ValMap::default())),
            Variable::ready("HOST", attributes(host)),
            Variable::ready("ORCHESTRATOR", Val::map(ValMap::default())),
            Variable::ready("OPERATION_HOST", Val::map(ValMap::default())),
        ];
        if node.kind == NodeKind::Relationship {
            out.extend(node.source.map(|source| Variable::ready("SOURCE", attributes(source))));
            out.push(Variable::ready("TARGET", attributes(end)));
        }
        out
    }

    /// The workflow that an operation's expressions see.
    fn task_workflow(&self, request: usize) -> &'static str {
        let own = self.options.workflow.name();
        match self.requests.get(request) {
            Some(asked) if asked.reason == own => own,
            _ => "deploy",
        }
    }
}

/// Inputs that others refer to, so that they were evaluated, too.
fn read_through_others(ctx: &Ctx<'_, '_>, known: &ValMap) -> ValMap {
    let Ok(Some(Val { data: Data::Lazy(lazy), .. })) = ctx.variable("inputs") else { return ValMap::default() };
    let mut out = ValMap::default();
    for (index, cell) in lazy.cells.borrow().iter().enumerate() {
        if let (Memo::Done(value), Some(key)) = (cell, lazy.key_at(index))
            && !known.contains_key(key)
        {
            out.insert(key.clone(), value.clone());
        }
    }
    out
}
