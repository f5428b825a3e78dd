//! Prunes the search: remembers amounts for which no capability had room, so that equal or larger ones fail at once.
//!
//! In a service that allocates more than its capabilities have, most requirements with allocations fail. Each would
//! check all offers and try to move all their users, although larger amounts fail wherever smaller ones do.

use super::index::{Amounts, Offers, Takes, Wanted};
use super::{FULL, Fast, MAX_REFUSALS, Refusals, Resolver, User};
use crate::evaluate::{Key, Owner, Share, amount_of};
use crate::names::DeclId;
use crate::topology::{Node, Requirement};
use ecow::EcoString;
use std::collections::HashMap;

/// Amounts that failed, by the other properties of the requirement and the types of node and relationship. Valid until
/// a relationship is moved.
pub(super) type Hopeless = HashMap<Kind, Vec<Amounts>, Fast>;

/// Requirements that differ at most in their amounts: what they require, and the types of node and relationship.
type Kind = (Wanted, DeclId, Option<DeclId>);

/// Most failed amounts kept for a kind.
const MAX_AMOUNTS: usize = 20;
/// The relative error allowed in sums of fractions.
const INEXACT: f64 = 1e-6;

/// The total amount left of a property in all capabilities.
#[derive(Default)]
pub(super) struct Left {
    /// By the property's name; none if it is not known.
    sums: HashMap<EcoString, Option<f64>, Fast>,
    /// Whether an allocation may differ between candidates, so that sums decide nothing.
    pub varies: bool,
}

impl Left {
    /// Something was taken or given back.
    pub fn change(&mut self, shares: &[Share], changed: impl Fn(f64, f64) -> f64) {
        for share in shares {
            self.varies |= share.amount.is_none();
            if let (Some(Some(sum)), Some(amount)) = (self.sums.get_mut(&share.name), share.amount) {
                *sum = changed(*sum, amount);
            }
        }
    }
}

impl Resolver<'_> {
    /// Whether the same or a smaller amount has failed.
    pub(super) fn is_hopeless(&self, user: User, requirement: &Requirement, wanted: &Wanted) -> bool {
        let Takes::Same(amounts) = &wanted.takes else { return false };
        if self.hopeless.is_empty() {
            return false;
        }
        let Some(kind) = self.kind(user, requirement, wanted) else { return false };
        self.hopeless.get(&kind).is_some_and(|vain| vain.iter().any(|less| is_at_least(amounts, less)))
    }

    /// Records that the amounts of a requirement failed.
    pub(super) fn give_up(&mut self, user: User, requirement: &Requirement) {
        if requirement.allocation().is_empty() {
            return;
        }
        let Ok(wanted) = self.wanted(user, requirement) else { return };
        let Takes::Same(amounts) = &wanted.takes else { return };
        let Some(kind) = self.kind(user, requirement, &wanted) else { return };
        let vain = self.hopeless.entry(kind).or_default();
        vain.retain(|more| !is_at_least(more, amounts));
        if vain.len() < MAX_AMOUNTS {
            vain.push(amounts.clone());
        }
    }

    /// The kind of a requirement, if others of the same kind choose in the same way.
    fn kind(&self, user: User, requirement: &Requirement, wanted: &Wanted) -> Option<Kind> {
        let (_, source) = self.topology.nodes.get_index(user.0)?;
        if self.lenient
            || requirement.is_counted()
            || self.is_filtered(user, requirement)
            || self.may_meet_itself(source, wanted)
        {
            return None;
        }
        let relationship = requirement.relationship.as_ref().and_then(|relationship| relationship.relationship_type);
        Some((Wanted { takes: Takes::Nothing, ..wanted.clone() }, source.node_type, relationship))
    }

    /// Whether a node offers the capability it requires, which other nodes may use.
    fn may_meet_itself(&self, source: &Node, wanted: &Wanted) -> bool {
        source.capabilities.values().any(|capability| {
            wanted.capability_type.is_none_or(|wanted| {
                capability.capability_type.is_some_and(|found| self.model.hierarchy.is_a(found, wanted))
            })
        })
    }

    /// Whether a requirement takes more than is left in all capabilities together, so that moving others cannot help.
    pub(super) fn is_too_much(&mut self, offers: &Offers) -> bool {
        let Takes::Same(amounts) = self.index.takes(offers) else { return false };
        amounts.iter().any(|(name, amount)| {
            !self.left.varies && self.left_of(name).is_some_and(|left| amount.number() > left * (1.0 + INEXACT))
        })
    }

    /// The total amount left of a property in all capabilities, if all of them count it in the same way.
    fn left_of(&mut self, name: &EcoString) -> Option<f64> {
        if let Some(known) = self.left.sums.get(name) {
            return *known;
        }
        let sum = self.sum_left(name);
        self.left.sums.insert(name.clone(), sum);
        sum
    }

    fn sum_left(&mut self, name: &EcoString) -> Option<f64> {
        let offers: Vec<_> = self.index.all().collect();
        let mut sum = 0.0;
        let mut counted_as = None;
        for offer in offers {
            let Some((_, capability)) = self.capability(offer) else { continue };
            let Some(prop) = capability.properties.get(name) else {
                let complete = capability.capability_type.and_then(|id| self.model.complete(id));
                if complete.is_some_and(|complete| complete.named("properties", name).is_some()) {
                    return None; // it may become known
                }
                continue;
            };
            if *counted_as.get_or_insert(prop.data_type) != prop.data_type {
                return None;
            }
            let owner = Owner::Capability(offer.node, offer.capability);
            let whole = self.evaluator.force(Key { owner, attribute: false, name: name.clone() });
            sum += amount_of(&whole)? - self.evaluator.taken.amount(offer.node, offer.capability, name);
        }
        Some(sum)
    }

    /// Why each offer is refused to an unresolvable requirement.
    pub(super) fn refused(&mut self, user: User, requirement: &Requirement, wanted: Wanted) -> Refusals {
        let offers = self.find(user, requirement, Wanted { takes: Takes::Nothing, ..wanted });
        let mut refusals = Vec::new();
        for at in 0..self.index.len(&offers).min(MAX_REFUSALS) {
            let Some(offer) = self.index.get(&offers, at) else { break };
            let why = self.suits(user, requirement, offer).err();
            refusals.push((offer, why.unwrap_or_else(|| FULL.to_owned())));
        }
        refusals
    }
}

/// Whether all amounts are at least as large as others of the same properties.
fn is_at_least(amounts: &Amounts, others: &Amounts) -> bool {
    others
        .iter()
        .all(|(name, other)| amounts.iter().any(|(known, amount)| known == name && amount.number() >= other.number()))
}
