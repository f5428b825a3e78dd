//! Names in services: targets of requirements, mappings, workflows, and prefixes of imports.

use super::members::{Holder, Member, entries};
use super::{Ctx, Marks};
use crate::edition::{Edition, Standard};
use crate::entities;
use crate::val::merged_entries;
use purlin_model::Kind;
use purlin_syntax::tree::Entry;
use purlin_syntax::{Node, Span};
use purlin_value::Value;
use purlin_value::names::{kind, unquoted, written};

impl<'a> Marks<'a> {
    /// A template of the service by its section and name.
    pub(super) fn template(&self, section: &str, name: &str) -> Option<Entry<'a>> {
        entries(self.service?, section).into_iter().find(|entry| entry.key.text() == name)
    }

    /// The node that a requirement leads to, as far as it is written: a template, or a type.
    pub(super) fn target(&self, requirement: &Member<'a>) -> Holder<'a> {
        let is_extended = self.index.model.edition().is_extended();
        let short = requirement.short(false).or_else(|| requirement.short(true).filter(|_| is_extended));
        let Some(name) = short.or_else(|| requirement.get("node")) else { return Holder::default() };
        let name = name.items().next().unwrap_or(name);
        if let Some(template) = self.template("node_templates", name.text()) {
            return self.index.template(entities::NODE_TYPE, template.value);
        }
        self.index.named(entities::NODE_TYPE, name).map(|id| self.index.type_of(id)).unwrap_or_default()
    }

    /// The capability that a requirement uses: by its name in the node, or by its type.
    pub(super) fn capability(&self, requirement: &Member<'a>) -> Holder<'a> {
        let short = || requirement.short(true).filter(|_| !self.index.model.edition().is_extended());
        let Some(name) = requirement.get("capability").or_else(short) else { return Holder::default() };
        if let Some(id) = self.index.named(entities::CAPABILITY_TYPE, name) {
            return self.index.type_of(id);
        }
        let of_node = self.index.member(&self.target(requirement), "capabilities", name.text());
        of_node.map(|member| self.index.inside(&member, "capabilities")).unwrap_or_default()
    }

    /// Keys whose names are not in the tables. Returns whether it was one of them.
    pub(super) fn special(
        &self,
        own: Kind,
        edition: Edition,
        key: &str,
        node: Node<'a>,
        ctx: &Ctx<'a>,
        depth: u32,
    ) -> bool {
        match (own, key) {
            (entities::IMPORT, "namespace_prefix") => self.declares_prefix(node),
            (entities::IMPORT, "namespace") if edition.is_2() => self.declares_prefix(node),
            (
                entities::REQUIREMENT_ASSIGNMENT | entities::REQUIREMENT_DEFINITION | entities::DECORATOR,
                "capability",
            ) => {
                // A type takes precedence over a capability of that name.
                if !node.is_scalar() || !self.reference(entities::CAPABILITY_TYPE, node) {
                    self.names_member(&ctx.target, &["capabilities"], node);
                }
            }
            (entities::REQUIREMENT_ASSIGNMENT, "node") => {
                let name = node.items().next().unwrap_or(node);
                self.references(&[entities::NODE_TEMPLATE, entities::NODE_TYPE], name);
                if !node.is_scalar() && !node.is_list() {
                    return false;
                }
            }
            (
                entities::PROPERTY_DEFINITION | entities::ATTRIBUTE_DEFINITION | entities::PARAMETER_DEFINITION,
                "default" | "value",
            ) => {
                self.value(node, Some(&ctx.holder), ctx, depth + 1);
            }
            (entities::NODE_FILTER | entities::CAPABILITY_FILTER, "properties") => self.filters(node, ctx, depth),
            (entities::NODE_FILTER, "capabilities") => self.capability_filters(node, ctx, depth),
            (
                entities::SUBSTITUTION_MAPPINGS,
                "properties" | "attributes" | "capabilities" | "requirements" | "interfaces",
            ) => {
                self.mappings(key, node, ctx, depth);
            }
            (entities::WORKFLOW_STEP, "activities") | (entities::TRIGGER_DEFINITION, "action") => {
                self.activities(node, ctx, depth);
            }
            (entities::WORKFLOW, "steps") => self.steps(edition, node, ctx, depth),
            (entities::WORKFLOW_STEP, "on_success" | "on_failure") => {
                let steps = ctx.workflow.and_then(|workflow| workflow.get("steps"));
                for name in node.items().filter(|name| name.is_scalar()) {
                    let step = steps.into_iter().flat_map(merged_entries).find(|step| step.key.text() == name.text());
                    step.into_iter().for_each(|step| self.uses_scalar("workflow step", step.key, name));
                }
            }
            (entities::WORKFLOW_STEP | entities::WORKFLOW_PRECONDITION, "target_relationship") => {
                self.names_member(&ctx.own, &["requirements"], node);
            }
            (entities::IMPLEMENTATION, "primary") if node.is_scalar() => {
                self.names_member(&ctx.own, &["artifacts"], node);
            }
            (entities::IMPLEMENTATION, "dependencies") => {
                for name in node.items().filter(|name| name.is_scalar()) {
                    self.names_member(&ctx.own, &["artifacts"], name);
                }
            }
            (entities::EVENT_FILTER, "requirement" | "capability") => {
                self.names_member(&ctx.own, &["requirements", "capabilities"], node);
            }
            _ => return false,
        }
        true
    }

    fn declares_prefix(&self, node: Node<'a>) {
        if node.is_scalar() && !node.is_null() {
            self.declare("prefix", node, node);
        }
    }

    /// The prefix of a prefixed name: that of an import of the file, or of one of its unprefixed imports.
    pub(super) fn prefix(&self, name: Node<'a>, whole: Span) {
        let separators = [':', '.'];
        let Some(file) = self.index.file_of(name.span().file) else { return };
        let imports = self.imports(file, 0);
        let text = name.text();
        let found = imports.iter().find(|prefix| {
            let rest = text.strip_prefix(prefix.text());
            !prefix.text().is_empty() && rest.is_some_and(|rest| rest.starts_with(separators))
        });
        if let Some(prefix) = found {
            let length = u32::try_from(prefix.text().len()).unwrap_or(0);
            self.uses("prefix", *prefix, Span::new(whole.file, whole.start, whole.start + length));
        }
    }

    /// The prefixes of a file's imports, including those of its unprefixed imports.
    fn imports(&self, at: usize, depth: usize) -> Vec<Node<'a>> {
        let Some(file) = self.index.model.files.list.get(at).filter(|_| depth < 20) else { return Vec::new() };
        let root = if at == 0 { self.index.root } else { file.tree.root() };
        let written = root.and_then(|root| root.get("imports"));
        let keys: &[&str] = if file.edition.is_2() { &["namespace"] } else { &["namespace_prefix"] };
        let item = |node: Node<'a>| -> Vec<Node<'a>> {
            let inner = merged_entries(node).into_iter().map(|entry| entry.value).filter(|value| value.is_map());
            std::iter::once(node).chain(inner).collect()
        };
        let own = written.into_iter().flat_map(Node::items).flat_map(item);
        let mut found: Vec<Node<'a>> = own.filter_map(|import| keys.iter().find_map(|key| import.get(key))).collect();
        for import in file.imports.iter().filter(|import| import.prefix.is_empty()) {
            found.extend(self.imports(import.file, depth + 1));
        }
        found
    }

    /// Properties that a filter asks for, each with its conditions.
    fn filters(&self, node: Node<'a>, ctx: &Ctx<'a>, depth: u32) {
        let rows: Vec<Entry<'a>> =
            if node.is_list() { node.items().flat_map(merged_entries).collect() } else { merged_entries(node) };
        for entry in rows {
            self.names_member(&ctx.holder, &["properties", "attributes"], entry.key);
            self.value(entry.value, None, ctx, depth + 1);
        }
    }

    fn capability_filters(&self, node: Node<'a>, ctx: &Ctx<'a>, depth: u32) {
        let rows: Vec<Entry<'a>> =
            if node.is_list() { node.items().flat_map(merged_entries).collect() } else { merged_entries(node) };
        for entry in rows {
            let named = self.names_member(&ctx.holder, &["capabilities"], entry.key).map(|(_, inside)| inside);
            let by_type = || {
                self.references(&[entities::CAPABILITY_TYPE], entry.key);
                let id = self.index.named(entities::CAPABILITY_TYPE, entry.key);
                id.map(|id| self.index.type_of(id)).unwrap_or_default()
            };
            let holder = named.unwrap_or_else(by_type);
            if let Some(properties) = entry.value.get("properties") {
                self.filters(properties, &Ctx { holder, ..ctx.clone() }, depth + 1);
            }
        }
    }

    /// Keys are members of the node type that is replaced, values places in the service.
    fn mappings(&self, section: &str, node: Node<'a>, ctx: &Ctx<'a>, depth: u32) {
        let rows: Vec<Entry<'a>> =
            if node.is_list() { node.items().flat_map(merged_entries).collect() } else { merged_entries(node) };
        for entry in rows {
            self.names_member(&ctx.holder, &[section], entry.key);
            self.mapped(section, entry.value, ctx, depth);
        }
    }

    fn mapped(&self, section: &str, value: Node<'a>, ctx: &Ctx<'a>, depth: u32) {
        let items: Vec<Node<'a>> = value.items().collect();
        let is_scalar = |node: &&Node<'a>| node.is_scalar();
        match items.as_slice() {
            [] if value.is_scalar() && section == "properties" => self.input(&[value], ctx),
            [] if value.is_scalar() && section == "attributes" => self.output(value),
            [] if value.is_scalar() => self.references(&[entities::NODE_TEMPLATE], value),
            [] => {
                for entry in merged_entries(value) {
                    self.references(&[entities::WORKFLOW], entry.value);
                }
            }
            [one] if one.is_scalar() => self.input(&[*one], ctx),
            [node, member, ..] if [node, member].into_iter().all(|node| is_scalar(&node)) => {
                if let Some(template) = self.template("node_templates", node.text()) {
                    self.uses_scalar("node template", template.key, *node);
                    let holder = self.index.template(entities::NODE_TYPE, template.value);
                    self.names_member(&holder, &[section, "properties", "attributes"], *member);
                }
            }
            _ => items.iter().for_each(|item| self.mapped(section, *item, ctx, depth)),
        }
        self.value(value, None, ctx, depth + 1);
    }

    fn output(&self, name: Node<'a>) {
        if let Some(found) = self.template("outputs", name.text()) {
            self.uses_scalar("output", found.key, name);
        }
    }

    fn steps(&self, edition: Edition, node: Node<'a>, ctx: &Ctx<'a>, depth: u32) {
        for entry in merged_entries(node) {
            self.declare("workflow step", entry.key, entry.value);
            let target = entry.value.get("target");
            let template = target.and_then(|target| self.template("node_templates", target.text()));
            let group = target.and_then(|target| self.template("groups", target.text()));
            let by_template = template.map(|found| self.index.template(entities::NODE_TYPE, found.value));
            let by_group = group.map(|found| self.index.template(entities::GROUP_TYPE, found.value));
            let own = by_template.or(by_group).unwrap_or_default();
            let ctx = Ctx { own: own.clone(), holder: own, ..ctx.clone() };
            self.entity(entities::WORKFLOW_STEP, edition, entry.value, &ctx, depth + 1);
        }
    }

    /// The activities of a workflow step or a trigger.
    fn activities(&self, node: Node<'a>, ctx: &Ctx<'a>, depth: u32) {
        for entry in node.items().flat_map(merged_entries) {
            let (name, value) = (entry.key.text(), entry.value);
            match name {
                "inline" | "delegate" => {
                    let workflow = if value.is_map() { value.get("workflow") } else { Some(value) };
                    workflow.into_iter().for_each(|name| self.references(&[entities::WORKFLOW], name));
                }
                "call_operation" => {
                    let operation = if value.is_map() { value.get("operation") } else { Some(value) };
                    operation.into_iter().for_each(|name| self.operation(name, value.get("inputs"), ctx, depth));
                    continue;
                }
                _ => {}
            }
            self.value(value, None, ctx, depth + 1);
        }
    }

    /// `interface.operation`
    fn operation(&self, name: Node<'a>, inputs: Option<Node<'a>>, ctx: &Ctx<'a>, depth: u32) {
        let Some((interface, operation)) = name.text().rsplit_once('.') else { return };
        let whole = written(name);
        let (length, last) = (u32::try_from(interface.len()).unwrap_or(0), u32::try_from(operation.len()).unwrap_or(0));
        let Some(found) = self.index.member(&ctx.own, "interfaces", interface) else { return };
        self.uses("interface", found.key, Span::new(whole.file, whole.start, whole.start + length));
        let inside = self.index.inside(&found, "interfaces");
        let Some(found) = self.index.member(&inside, "operations", operation) else { return };
        self.uses("operation", found.key, Span::new(whole.file, whole.end.saturating_sub(last), whole.end));
        let holder = self.index.inside(&found, "operations");
        inputs.into_iter().for_each(|inputs| {
            self.assignments("inputs", inputs, &Ctx { holder: holder.clone(), ..ctx.clone() }, depth)
        });
    }

    /// Inputs that another project has written.
    pub(super) fn given(&self, values: &Value) {
        let (origins, sources) = (&self.session.origins, &self.session.sources);
        for (name, value) in values.as_map().into_iter().flat_map(|map| map.iter()) {
            let key = origins.key_place(value.origin, name, sources);
            if let (Some(found), Some(key)) = (self.template("inputs", name), key) {
                self.uses(kind::INPUT, found.key, unquoted(key, sources));
            }
        }
    }
}
