//! Capacity: the allocation of a relationship, and whether the capability has enough left.
//!
//! A requirement's `allocation` lists the amounts it takes of the other capability's properties. All relationships
//! together cannot take more than the capability has.

use super::index::{Amount, Offer, Takes};
use super::{Edge, Resolver, User};
use crate::entities;
use crate::evaluate::{Key, Owner, Scope, Share, amount_of};
use crate::model::Primitive;
use crate::topology::Requirement;
use crate::val::{Data, Text, Val};
use crate::validate::shown;
use std::sync::Arc;

impl Requirement {
    /// Its allocation of the other capability, as written.
    pub fn allocation(&self) -> &[(Text, Val)] {
        self.assignment.as_ref().map(|assignment| assignment.values("allocation")).unwrap_or(&[])
    }
}

impl Resolver<'_> {
    /// The amounts a requirement takes: the same for every candidate, or dependent on the other node. Requirements
    /// with the same amounts can share a list of the offers with enough left.
    pub(super) fn takes(&mut self, user: User, requirement: &Requirement) -> Takes {
        let mut amounts = Vec::new();
        for (name, value) in requirement.allocation() {
            let Some(amount) = self.same_amount(user, requirement, name, value) else {
                self.left.varies = true;
                let assignment = requirement.assignment.as_ref();
                return Takes::Varying(assignment.map_or(0, |assignment| Arc::as_ptr(assignment) as usize));
            };
            amounts.push((name.text.clone(), Amount::new(amount)));
        }
        if amounts.is_empty() { Takes::Nothing } else { Takes::Same(amounts.into()) }
    }

    /// The amount taken of a property, if it is the same for every candidate.
    fn same_amount(&mut self, user: User, requirement: &Requirement, name: &Text, value: &Val) -> Option<f64> {
        let definition = self.model.complete(requirement.capability_type?)?.named("properties", &name.text)?;
        let data_type = self.model.type_of(definition, "type", entities::DATA_TYPE);
        let known = match value.has_call() {
            true => self.evaluator.same_for_all(user.0, user.1, value)?,
            false => value.clone(),
        };
        amount_of(&crate::coerce::coerce(self.model, &known, data_type, Some(definition)))
    }

    /// Whether an offer is worth checking for the requirements of a list: it has enough left, or, where amounts
    /// differ, anything left.
    pub(super) fn may_fit(&mut self, user: User, requirement: &Requirement, takes: &Takes, offer: Offer) -> bool {
        match takes {
            Takes::Nothing => true,
            Takes::Same(_) => self.has_enough(user, requirement, offer),
            Takes::Varying(_) => !self.is_exhausted(requirement, offer) || self.has_enough(user, requirement, offer),
        }
    }

    /// Whether an amount that a requirement takes is used up.
    fn is_exhausted(&mut self, requirement: &Requirement, offer: Offer) -> bool {
        requirement.allocation().iter().any(|(name, _)| {
            let taken = self.evaluator.taken.amount(offer.node, offer.capability, &name.text);
            let owner = Owner::Capability(offer.node, offer.capability);
            let key = Key { owner, attribute: false, name: name.text.clone() };
            taken > 0.0 && amount_of(&self.evaluator.force(key)).is_some_and(|whole| taken >= whole)
        })
    }

    /// Whether enough is left for a relationship.
    pub(super) fn has_enough(&mut self, user: User, requirement: &Requirement, offer: Offer) -> bool {
        self.has_enough_without(user, requirement, offer, &[])
    }

    /// The same without some of the users.
    pub(super) fn has_enough_without(
        &mut self,
        user: User,
        requirement: &Requirement,
        offer: Offer,
        others: &[User],
    ) -> bool {
        if requirement.allocation().is_empty() {
            return true;
        }
        let Ok(shares) = self.shares(user, requirement, offer) else { return false };
        shares.iter().all(|share| {
            let given_back: f64 = others.iter().map(|other| self.amount_taken(*other, &share.name)).sum();
            self.capacity(share, offer).is_none_or(|(whole, taken)| is_enough(&whole, taken - given_back, share))
        })
    }

    /// The same, with the missing amount in the error.
    pub(super) fn check_enough(&mut self, user: User, requirement: &Requirement, offer: Offer) -> Result<(), String> {
        for share in self.shares(user, requirement, offer)? {
            let Some((whole, taken)) = self.capacity(&share, offer) else { continue };
            if is_enough(&whole, taken, &share) {
                continue;
            }
            let left = amount_of(&whole).unwrap_or_default() - taken;
            let name = self.capability(offer).map_or("", |(name, _)| name.as_str());
            return Err(format!(
                "of `{}` of its capability `{name}`, {} of {} is left, but {} is needed",
                share.name,
                shown(&self.evaluator.amount_like(&whole, left)),
                shown(&whole),
                shown(&share.value)
            ));
        }
        Ok(())
    }

    /// The total of a property, and the amount taken; none if it is not known.
    fn capacity(&mut self, share: &Share, offer: Offer) -> Option<(Val, f64)> {
        let owner = Owner::Capability(offer.node, offer.capability);
        let whole = self.evaluator.force(Key { owner, attribute: false, name: share.name.clone() });
        amount_of(&whole)?;
        Some((whole, self.evaluator.taken.amount(offer.node, offer.capability, &share.name)))
    }

    /// The amount that a resolved requirement takes of a property, as far as it is known.
    pub(super) fn amount_taken(&self, user: User, name: &str) -> f64 {
        let shares = self.shares_of.get(&user).map(Vec::as_slice).unwrap_or(&[]);
        shares.iter().find(|share| share.name == name).and_then(|share| share.amount).unwrap_or(0.0)
    }

    /// The amounts a relationship would take, or why it cannot take them.
    pub(super) fn shares(&mut self, user: User, requirement: &Requirement, offer: Offer) -> Result<Vec<Share>, String> {
        let all = requirement.allocation().iter();
        all.filter_map(|(name, value)| self.share(user, offer, name, value).transpose()).collect()
    }

    /// The amount it would take of one property; none if there is no such property, which is already reported.
    fn share(&mut self, user: User, offer: Offer, name: &Text, value: &Val) -> Result<Option<Share>, String> {
        let (Some((_, node)), Some((capability_name, capability))) = (self.node(offer), self.capability(offer)) else {
            return Err(String::new());
        };
        let name = name.text.clone();
        let Some(prop) = capability.properties.get(&name) else {
            let complete = capability.capability_type.and_then(|id| self.model.complete(id));
            if complete.is_none_or(|complete| complete.named("properties", &name).is_none()) {
                return Ok(None);
            }
            // Some values of a node that exists elsewhere are not known.
            if node.template.texts("directives").iter().any(|directive| directive.text == "select") {
                return Ok(Some(Share { name, value: value.clone(), amount: None }));
            }
            return Err(format!("its capability `{capability_name}` has no value for `{name}`"));
        };
        let value = if value.has_call() {
            let edge = Edge { source: user.0, requirement: user.1, target: offer.node, capability: offer.capability };
            self.evaluator.considering(edge, |evaluator, scope| {
                let scope = Scope { expected: prop.data_type, ..scope.clone() };
                evaluator.eval(value, &scope, 0).map_err(|failure| failure.message)
            })?
        } else {
            value.clone()
        };
        if matches!(value.data, Data::Pending(_)) {
            return Ok(Some(Share { name, value, amount: None }));
        }
        let value = crate::coerce::coerce(self.model, &value, prop.data_type, prop.definition.as_deref());
        let whole = prop.data_type.and_then(|id| self.model.primitive(id)) == Some(Primitive::Integer);
        match amount_of(&value) {
            Some(amount) if amount < 0.0 => Err(format!("{} of `{name}` is negative", shown(&value))),
            Some(amount) if whole && amount.fract() != 0.0 => {
                Err(format!("`{name}` is counted in integers, and {} is not an integer", shown(&value)))
            }
            Some(amount) => Ok(Some(Share { name, value, amount: Some(amount) })),
            None => Err(format!("{} is not an amount of `{name}`", shown(&value))),
        }
    }
}

/// Whether an amount fits beside the amounts taken already; unknown ones may fit.
fn is_enough(whole: &Val, taken: f64, share: &Share) -> bool {
    let (Some(capacity), Some(amount)) = (amount_of(whole), share.amount) else { return true };
    taken + amount <= capacity * (1.0 + f64::EPSILON)
}
