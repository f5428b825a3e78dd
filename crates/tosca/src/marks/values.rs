//! Names in values: keys of data types, and what calls refer to.

use super::members::{Holder, Member};
use super::{Ctx, DEPTH, Marks, Reference, Start, label};
use crate::edition::Standard;
use crate::entities;
use crate::val::merged_entries;
use purlin_syntax::{Node, Span};
use purlin_value::names::{kind, written};

/// The target of the words of a path.
enum At<'a> {
    /// A node, a group or a relationship with all its members.
    Holder(Holder<'a>),
    /// The relationship of a requirement.
    Requirement(Member<'a>),
    /// A capability.
    Capability(Holder<'a>),
}

impl<'a> Marks<'a> {
    /// A value; `data` is its data type, as far as it is known.
    pub(super) fn value(&self, node: Node<'a>, data: Option<&Holder<'a>>, ctx: &Ctx<'a>, depth: u32) {
        if depth > DEPTH || node.is_alias() {
            return;
        }
        let references = self.foreign.map(|foreign| foreign(node)).unwrap_or_default();
        references.iter().for_each(|reference| self.follow(reference, ctx));
        let rows = merged_entries(node);
        if let [call] = rows.as_slice()
            && let Some(name) = self.function(call.key.text())
        {
            let key = written(call.key);
            let span = Span::new(
                key.file,
                key.end.saturating_sub(u32::try_from(name.len()).unwrap_or(0)).max(key.start),
                key.end,
            );
            self.call(name, span, call.value, ctx);
            return self.value(call.value, None, ctx, depth + 1);
        }
        let entry = data.and_then(|data| self.index.entry(data));
        for row in &rows {
            let declared = data.filter(|data| self.index.has_properties(data));
            let found = declared.and_then(|data| self.names_member(data, &["properties"], row.key));
            let inner = found.map(|(_, inner)| inner).or_else(|| entry.clone());
            self.value(row.value, inner.as_ref(), ctx, depth + 1);
        }
        node.items().for_each(|item| self.value(item, entry.as_ref(), ctx, depth + 1));
    }

    /// The function that the only key of a mapping calls.
    fn function<'k>(&self, key: &'k str) -> Option<&'k str> {
        let edition = self.index.model.edition();
        match edition.is_2() {
            true => key.strip_prefix('$').filter(|name| !name.starts_with('$')),
            false => Some(key).filter(|key| crate::functions::is_function(key, edition)),
        }
    }

    fn call(&self, name: &str, at: Span, value: Node<'a>, ctx: &Ctx<'a>) {
        let args: Vec<Node<'a>> = if value.is_list() { value.items().collect() } else { vec![value] };
        match name {
            "get_input" => self.input(&args, ctx),
            "get_property" | "get_attribute" => self.path(name, &args, ctx),
            "get_operation_output" => {
                if let Some(At::Holder(holder)) = self.start(&args, ctx)
                    && let Some(interface) = args.get(1)
                    && let Some((_, inside)) = self.names_member(&holder, &["interfaces"], *interface)
                    && let Some(operation) = args.get(2)
                    && let Some((member, _)) = self.names_member(&inside, &["operations"], *operation)
                    && let Some(output) = args.get(3)
                {
                    self.names_member(&self.index.inside(&member, "operations"), &["outputs"], *output);
                }
            }
            "get_artifact" => {
                if let (Some(At::Holder(holder)), Some(artifact)) = (self.start(&args, ctx), args.get(1)) {
                    self.names_member(&holder, &["artifacts"], *artifact);
                }
            }
            "get_nodes_of_type" => {
                args.first().into_iter().for_each(|name| self.references(&[entities::NODE_TYPE], *name));
            }
            _ => self.custom(name, at),
        }
    }

    /// A function of the author's own.
    fn custom(&self, name: &str, at: Span) {
        let id = self.index.find(entities::FUNCTION_DEFINITION, at.file, name);
        let key = id.and_then(|id| self.index.key_of(id)).filter(|key| !self.index.is_normative(*key));
        if let Some(key) = key.filter(|key| key.text() == name) {
            self.uses(entities::label(entities::FUNCTION_DEFINITION), key, at);
        }
    }

    /// `get_input: name` or `get_input: [name, field, …]`.
    pub(super) fn input(&self, args: &[Node<'a>], ctx: &Ctx<'a>) {
        let Some(name) = args.first().filter(|name| name.is_scalar()) else { return };
        let find = |node: Node<'a>| {
            let rows = super::entries(node, "inputs");
            rows.into_iter().find(|entry| entry.key.text() == name.text())
        };
        let of_workflow = ctx.workflow.and_then(find);
        let of = if of_workflow.is_some() { "operation input" } else { kind::INPUT };
        let Some(found) = of_workflow.or_else(|| self.service.and_then(find)) else { return };
        self.uses_scalar(of, found.key, *name);
        let data_type = found.value.get("type").and_then(|name| self.index.named(entities::DATA_TYPE, name));
        self.fields(self.index.with(found.value, true, data_type), args.get(1..).unwrap_or_default());
    }

    /// `get_property: [SELF, requirement, name, field, …]`.
    fn path(&self, function: &str, args: &[Node<'a>], ctx: &Ctx<'a>) {
        let Some(start) = self.start(args, ctx) else { return };
        let sections: &[&str] = match function {
            "get_attribute" => &["attributes", "properties"],
            _ => &["properties", "attributes"],
        };
        let rest = args.get(1..).unwrap_or_default();
        let (at, rest) = self.words(start, rest);
        let Some((name, further)) = rest.split_first() else { return };
        match at {
            At::Capability(holder) => self.own_value(&holder, sections, *name, further),
            At::Requirement(member) => self.beyond(&member, sections, rest),
            At::Holder(holder) => self.in_node(&holder, sections, rest),
        }
    }

    /// The entity named by the first argument.
    fn start(&self, args: &[Node<'a>], ctx: &Ctx<'a>) -> Option<At<'a>> {
        let first = args.first().filter(|first| first.is_scalar())?;
        Some(At::Holder(match first.text() {
            "SELF" => ctx.own.clone(),
            "SOURCE" if ctx.is_relationship => ctx.source.clone(),
            "TARGET" if ctx.is_relationship => ctx.target.clone(),
            "SOURCE" | "TARGET" | "HOST" => return None,
            name => {
                let rows = [
                    ("node_templates", entities::NODE_TEMPLATE, entities::NODE_TYPE),
                    ("relationship_templates", entities::RELATIONSHIP_TEMPLATE, entities::RELATIONSHIP_TYPE),
                    ("groups", entities::GROUP, entities::GROUP_TYPE),
                ];
                let (of, entry, type_kind) = rows
                    .into_iter()
                    .find_map(|(section, of, type_kind)| Some((of, self.template(section, name)?, type_kind)))?;
                self.uses_scalar(entities::label(of), entry.key, *first);
                self.index.template(type_kind, entry.value)
            }
        }))
    }

    /// The words of TOSCA 2.0: `RELATIONSHIP`, `CAPABILITY`, `TARGET` and `SOURCE`.
    fn words<'n>(&self, start: At<'a>, args: &'n [Node<'a>]) -> (At<'a>, &'n [Node<'a>]) {
        let (mut at, mut rest) = (start, args);
        while self.index.model.edition().is_2() && rest.len() > 1 {
            // An index selects one of several, not a member.
            if rest.first().is_some_and(|word| word.as_int().is_some() || word.text() == "ALL") {
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            let word = rest.first().map_or("", |word| word.text());
            let named = rest.get(1).copied();
            let next = match (word, &at, named) {
                ("RELATIONSHIP", At::Holder(holder), Some(name)) => {
                    let found = self.names_member(holder, &["requirements"], name);
                    found.map(|(member, _)| (At::Requirement(member), 2))
                }
                ("CAPABILITY", At::Holder(holder), Some(name)) => {
                    self.names_member(holder, &["capabilities"], name).map(|(_, inside)| (At::Capability(inside), 2))
                }
                ("TARGET", At::Requirement(member), _) => Some((At::Holder(self.target(member)), 1)),
                ("CAPABILITY", At::Requirement(member), _) => Some((At::Capability(self.capability(member)), 1)),
                _ => None,
            };
            let Some((next, used)) = next else { break };
            (at, rest) = (next, rest.get(used..).unwrap_or_default());
        }
        (at, rest)
    }

    fn in_node(&self, holder: &Holder<'a>, sections: &[&str], rest: &[Node<'a>]) {
        let Some((first, further)) = rest.split_first() else { return };
        let is_named = further.first().is_some_and(|next| next.is_scalar());
        let capability = self.index.member(holder, "capabilities", first.text()).filter(|_| is_named);
        if let Some(capability) = capability {
            let inside = self.index.inside(&capability, "capabilities");
            let has =
                further.first().is_some_and(|next| self.index.member_of(&inside, sections, next.text()).is_some());
            let required = self.index.member(holder, "requirements", first.text());
            if has || required.is_none() {
                self.uses_scalar(label("capabilities"), capability.key, *first);
                if let Some((name, fields)) = further.split_first() {
                    self.own_value(&inside, sections, *name, fields);
                }
                return;
            }
        }
        if is_named && let Some(requirement) = self.index.member(holder, "requirements", first.text()) {
            self.uses_scalar(label("requirements"), requirement.key, *first);
            let is_index = further.first().is_some_and(|next| next.as_int().is_some());
            return self.beyond(&requirement, sections, further.get(usize::from(is_index)..).unwrap_or_default());
        }
        self.own_value(holder, sections, *first, further);
    }

    /// A value in the relationship of a requirement, or at its other end.
    fn beyond(&self, requirement: &Member<'a>, sections: &[&str], rest: &[Node<'a>]) {
        let Some((name, fields)) = rest.split_first() else { return };
        let template = |name: &str| self.template("relationship_templates", name).map(|entry| entry.value);
        let ends =
            [self.index.relationship(requirement, template), self.capability(requirement), self.target(requirement)];
        let has = |end: &&Holder<'a>| self.index.member_of(end, sections, name.text()).is_some();
        if let Some(end) = ends.iter().find(has) {
            self.own_value(end, sections, *name, fields);
        }
    }

    fn own_value(&self, holder: &Holder<'a>, sections: &[&str], name: Node<'a>, fields: &[Node<'a>]) {
        if let Some((_, inside)) = self.names_member(holder, sections, name) {
            self.fields(inside, fields);
        }
    }

    /// Fields of a value, by its data type.
    fn fields(&self, mut data: Holder<'a>, fields: &[Node<'a>]) {
        for field in fields {
            let found = self.names_member(&data, &["properties"], *field).map(|(_, inside)| inside);
            match found.or_else(|| self.index.entry(&data)) {
                Some(inside) => data = inside,
                None => return,
            }
        }
    }

    /// The target of a host's expression: a chain of members from its start.
    fn follow(&self, reference: &Reference, ctx: &Ctx<'a>) {
        let mut words = reference.words.iter();
        let mut holder = match reference.start {
            Start::Own => ctx.own.clone(),
            Start::Source => ctx.source.clone(),
            Start::Target => ctx.target.clone(),
            Start::All => {
                let Some((name, span)) = words.next() else { return };
                let Some(template) = self.template("node_templates", name) else { return };
                self.uses("node template", template.key, *span);
                self.index.template(entities::NODE_TYPE, template.value)
            }
            Start::Inputs => {
                let Some((name, span)) = words.next() else { return };
                let Some(input) = self.template("inputs", name) else { return };
                self.uses(kind::INPUT, input.key, *span);
                let of = input.value.get("type").and_then(|name| self.index.named(entities::DATA_TYPE, name));
                self.index.with(input.value, true, of)
            }
        };
        let mut sections: &[&str] = &["attributes", "properties"];
        for (word, span) in words {
            match word.as_str() {
                "." | ".self" | ".super" => continue,
                ".targets" | ".requirements" => sections = &["requirements"],
                ".capabilities" => sections = &["capabilities"],
                ".source" => holder = ctx.source.clone(),
                ".target" => holder = ctx.target.clone(),
                name => {
                    let Some((section, member)) = self.index.member_of(&holder, sections, name) else { return };
                    self.uses(label(section), member.key, *span);
                    holder = match section {
                        "requirements" => self.target(&member),
                        _ => self.index.inside(&member, section),
                    };
                    sections = match section {
                        "requirements" | "capabilities" => &["attributes", "properties"],
                        _ => &["properties"],
                    };
                }
            }
        }
    }
}
