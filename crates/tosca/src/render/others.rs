//! Groups, policies and their triggers.

use super::Renderer;
use super::props::Sort;
use crate::edition::Standard;
use crate::entities;
use crate::entity::Entity;
use crate::names::DeclId;
use crate::rules;
use crate::topology::{Group, Policy};
use crate::val::Text;
use purlin_model::Kind;
use purlin_syntax::Diagnostic;
use purlin_syntax::what;
use std::collections::HashSet;
use std::sync::Arc;

impl Renderer<'_> {
    pub(super) fn groups_and_policies(&mut self, service: &Arc<Entity>) {
        for (name, template) in service.entries("groups") {
            let Some(group) = self.group(template, service) else { continue };
            if !self.can_hold(self.model.budget.hold_group(&group), template) {
                break;
            }
            self.topology.groups.insert(name.clone(), group);
        }
        for (name, template) in service.entries("policies") {
            let Some(policy) = self.policy(template, service) else { continue };
            if !self.can_hold(self.model.budget.hold_policy(&policy), template) {
                break;
            }
            self.topology.policies.insert(name.clone(), policy);
        }
    }

    fn group(&mut self, template: &Arc<Entity>, service: &Entity) -> Option<Group> {
        let group_type = self.model.type_of(template, "type", entities::GROUP_TYPE)?;
        let complete = self.model.complete(group_type)?.clone();
        let properties = self.template_props(Sort::Property, &complete, template);
        let interfaces = self.interfaces(template, &complete, ".interfaces");
        let allowed = self.allowed(&complete, "members", &[entities::NODE_TYPE]);
        for member in template.texts("members") {
            self.fits(member, &allowed, service, "be a member of this group");
        }
        if template.edition.is_extended() {
            self.distinct_members(template);
        }
        Some(Group {
            template: template.clone(),
            group_type,
            properties,
            interfaces,
            members: template.texts("members").to_vec(),
        })
    }

    /// Unfurl requires at least one member, and no duplicates.
    fn distinct_members(&mut self, template: &Entity) {
        let mut seen = HashSet::new();
        for member in template.texts("members").iter().filter(|member| !seen.insert(&member.text)) {
            let message = what::duplicate("member", &member.text);
            self.problems.push(Diagnostic::at(&rules::MALFORMED, member.span, message).hint("remove one of them"));
        }
        if template.slot("members").is_some() && template.texts("members").is_empty() {
            let diagnostic = Diagnostic::at(&rules::MALFORMED, template.place("members"), "a group needs a member");
            self.problems.push(diagnostic.hint("name a node template, or remove `members`"));
        }
    }

    fn policy(&mut self, template: &Arc<Entity>, service: &Entity) -> Option<Policy> {
        let policy_type = self.model.type_of(template, "type", entities::POLICY_TYPE)?;
        let complete = self.model.complete(policy_type)?.clone();
        let properties = self.template_props(Sort::Property, &complete, template);
        // A list of node types does not restrict groups, nor the reverse.
        for target in template.texts("targets") {
            let is_node = service.named("node_templates", &target.text).is_some();
            let kind = if is_node { entities::NODE_TYPE } else { entities::GROUP_TYPE };
            let allowed = self.allowed(&complete, "targets", &[kind]);
            self.fits(target, &allowed, service, "be a target of this policy");
        }
        let own = template.entries("triggers").map(|(name, trigger)| (name.clone(), trigger.clone()));
        let inherited = complete.entries("triggers").filter(|(name, _)| template.named("triggers", name).is_none());
        let triggers = own.chain(inherited.map(|(name, trigger)| (name.clone(), trigger.clone()))).collect();
        self.schedules(template);
        Some(Policy {
            template: template.clone(),
            policy_type,
            properties,
            targets: template.texts("targets").to_vec(),
            triggers,
        })
    }

    /// A trigger's schedule is an interval of time.
    fn schedules(&mut self, template: &Arc<Entity>) {
        let Some(interval) = self.model.built_in("tosca.datatypes.TimeInterval") else { return };
        for (_, trigger) in template.entries("triggers") {
            if let Some(schedule) = trigger.value("schedule") {
                let declared = crate::values::Declared { data_type: interval, definition: trigger };
                self.checker().typed(schedule, declared, trigger.place("schedule"), 0);
            }
        }
    }

    fn allowed(&self, complete: &Entity, slot: &str, kinds: &[Kind]) -> Vec<DeclId> {
        complete
            .texts(slot)
            .iter()
            .flat_map(|name| kinds.iter().filter_map(|kind| self.model.find(*kind, name)))
            .collect()
    }

    fn fits(&mut self, member: &Text, allowed: &[DeclId], service: &Entity, what: &str) {
        if allowed.is_empty() {
            return;
        }
        let node = service.named("node_templates", &member.text).map(|node| (node, entities::NODE_TYPE));
        let found = node.or_else(|| service.named("groups", &member.text).map(|group| (group, entities::GROUP_TYPE)));
        let Some((entity, kind)) = found else { return };
        let Some(id) = self.model.type_of(entity, "type", kind) else { return };
        if !allowed.iter().any(|outer| self.model.hierarchy.is_a(id, *outer)) {
            let message = format!("`{}` is a `{}`, which cannot {what}", member.text, self.model.name(id));
            self.problems.at(&rules::INCOMPATIBLE, member.span, message);
        }
    }
}
