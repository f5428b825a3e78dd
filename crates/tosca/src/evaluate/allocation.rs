//! Allocations of capabilities' properties by relationships, and the amounts left.
//!
//! Resolution records the allocations of each relationship when it is made; `$available_allocation` reads them, then
//! and afterwards.

use super::call::{Answer, failure};
use super::walk::{Astray, Kind, Place};
use super::{Evaluator, Failure, Key, Owner, Scope};
use crate::coerce::NUMBER;
use crate::special::tidy;
use crate::val::{Data, Val};
use crate::validate::shown;
use ecow::{EcoString, eco_format};
use purlin_syntax::Message;
use purlin_syntax::what;
use std::collections::HashMap;
use std::sync::Arc;

/// The allocation of one property by a relationship.
#[derive(Clone, Debug)]
pub struct Share {
    /// The property.
    pub name: EcoString,
    /// The allocated amount, in the form of the property's type.
    pub value: Val,
    /// The same as a number; none if it is not known yet.
    pub amount: Option<f64>,
}

impl Share {
    /// The allocated amount, if it is counted in integers.
    fn whole(&self) -> i128 {
        self.value.as_int().map_or_else(|| self.amount.unwrap_or(0.0) as i128, i128::from)
    }
}

/// The allocations of one property by all relationships together.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    amount: f64,
    /// The same for amounts counted in integers: floats cannot hold all of their digits.
    whole: i128,
    /// The number of relationships with an allocation that is not known yet.
    unknown: usize,
}

/// The allocations of capabilities' properties, by node and capability.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    sums: HashMap<(usize, usize), Vec<(EcoString, Sum)>, foldhash::fast::RandomState>,
}

impl Taken {
    /// A relationship to a capability was made.
    pub(crate) fn add(&mut self, node: usize, capability: usize, shares: &[Share]) {
        for share in shares {
            self.change(node, capability, &share.name, |sum| match share.amount {
                Some(amount) => {
                    sum.amount = tidy(sum.amount + amount);
                    sum.whole = sum.whole.saturating_add(share.whole());
                }
                None => sum.unknown += 1,
            });
        }
    }

    /// Returns the allocations of a relationship that was moved to another capability.
    pub(crate) fn remove(&mut self, node: usize, capability: usize, shares: &[Share]) {
        for share in shares {
            self.change(node, capability, &share.name, |sum| match share.amount {
                Some(amount) => {
                    sum.amount = tidy(sum.amount - amount);
                    sum.whole = sum.whole.saturating_sub(share.whole());
                }
                None => sum.unknown = sum.unknown.saturating_sub(1),
            });
        }
    }

    /// The allocated amount of a property, as far as it is known.
    pub(crate) fn amount(&self, node: usize, capability: usize, name: &str) -> f64 {
        self.sum(node, capability, name).amount
    }

    fn sum(&self, node: usize, capability: usize, name: &str) -> Sum {
        let sums = self.sums.get(&(node, capability)).map(Vec::as_slice).unwrap_or(&[]);
        sums.iter().find(|(known, _)| known == name).map(|(_, sum)| *sum).unwrap_or_default()
    }

    fn change(&mut self, node: usize, capability: usize, name: &EcoString, change: impl FnOnce(&mut Sum)) {
        let sums = self.sums.entry((node, capability)).or_default();
        match sums.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => change(sum),
            None => {
                let mut sum = Sum::default();
                change(&mut sum);
                sums.push((name.clone(), sum));
            }
        }
    }
}

/// The number of an integer, a float or a quantity.
pub(super) fn number_of(value: &Val) -> Option<f64> {
    match &value.data {
        Data::Int(number) => Some(*number as f64),
        Data::Float(number) => Some(*number),
        Data::Map(_) => value.get("unit").and(value.get(NUMBER)).and_then(number_of),
        _ => None,
    }
}

/// A value as an amount. Infinite values are rejected: they cannot be allocated.
pub(crate) fn amount_of(value: &Val) -> Option<f64> {
    number_of(value).filter(|number| *number != f64::INFINITY)
}

/// An integer, saturated to 64 bits.
fn exactly(number: i128) -> Data {
    Data::Int(i64::try_from(number).unwrap_or(if number < 0 { i64::MIN } else { i64::MAX }))
}

impl Evaluator<'_> {
    /// A value in a requirement, if it is the same for every candidate and independent of other allocations.
    pub(crate) fn same_for_all(&mut self, source: usize, requirement: usize, value: &Val) -> Option<Val> {
        self.tentative.set(false);
        let found = self.in_relationship(source, requirement, value)?;
        (!self.tentative.get() && !super::has_opaque(&found)).then_some(found)
    }

    /// An amount as a value of the same kind as another one.
    pub(crate) fn amount_like(&self, like: &Val, amount: f64) -> Val {
        let amount = tidy(amount);
        like.with(match like.data {
            Data::Int(_) => Data::Int(amount as i64),
            Data::Float(_) => Data::Float(amount),
            _ => super::typed::quantity(like, amount),
        })
    }

    /// The amount left of a property of a capability.
    pub(super) fn available(&mut self, value: &Val, args: &[Val], scope: &Scope) -> Answer {
        let fail = |message: Message| failure("available_allocation", value, message);
        let walk = match self.walk(args, scope) {
            Ok(walk) => walk,
            Err(Astray::Never(message)) => return Err(Failure { astray: true, ..fail(message) }),
            Err(Astray::NotYet(message)) => return Ok(value.with(Data::Pending(message.to_string().into()))),
        };
        let Some(name) = args.get(walk.used).and_then(Val::as_str).filter(|_| walk.kind == Kind::Capability) else {
            return Err(fail("its path must lead to a capability, with the name of a property after it".into()));
        };
        if args.len() > walk.used + 1 {
            return Err(fail(format!("nothing can follow the name of the property `{name}`").into()));
        }
        let mut left = Vec::with_capacity(walk.places.len());
        for place in &walk.places {
            if let Place::Capability(node, capability) = place {
                left.push(self.left(value, *node, *capability, name).map_err(fail)?);
            }
        }
        match (walk.listed, left.pop()) {
            (false, Some(left)) => Ok(left),
            (_, last) => {
                left.extend(last);
                Ok(value.with(Data::List(Arc::new(left))))
            }
        }
    }

    fn left(&mut self, value: &Val, node: usize, capability: usize, name: &str) -> Result<Val, Message> {
        let key = Key { owner: Owner::Capability(node, capability), attribute: false, name: name.into() };
        if !self.exists(&key) {
            return Err(
                what::unknown("property", name).and(format!(" in `{}`", self.capability_name(node, capability)))
            );
        }
        let whole = self.force(key);
        if whole.is_opaque() {
            return Ok(whole.at(value.span));
        }
        let amount = match number_of(&whole) {
            Some(f64::INFINITY) => return Ok(whole.at(value.span)), // as much is left as there was
            Some(number) if !number.is_nan() => number,
            _ => return Err(format!("`{name}` is {}, of which nothing can be taken", shown(&whole)).into()),
        };
        let sum = match self.resolution {
            Some(resolution) if !self.resolving => resolution.taken.sum(node, capability, name),
            _ => {
                self.tentative.set(true);
                self.taken.sum(node, capability, name)
            }
        };
        if sum.unknown > 0 {
            let what = eco_format!("what is taken of `{name}` in `{}`", self.capability_name(node, capability));
            return Ok(value.with(Data::Pending(what)));
        }
        let left = match whole.as_int() {
            Some(all) => whole.with(exactly(i128::from(all).saturating_sub(sum.whole))),
            None => self.amount_like(&whole, amount - sum.amount),
        };
        Ok(left.at(value.span))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use purlin_syntax::{FileId, Span};

    fn share(amount: Option<f64>) -> Share {
        Share { name: "cpus".into(), value: Val::new(Data::Null, Span::new(FileId(0), 0, 0)), amount }
    }

    #[test]
    fn integers_keep_all_their_digits() {
        let mut taken = Taken::default();
        let large = (1i64 << 53) + 1;
        let value = Val::new(Data::Int(large), Span::new(FileId(0), 0, 0));
        let share = Share { name: "cpus".into(), value, amount: Some(large as f64) };
        taken.add(1, 0, &[share.clone(), share.clone()]);
        assert_eq!(taken.sum(1, 0, "cpus").whole, 2 * i128::from(large));
        taken.remove(1, 0, &[share]);
        assert_eq!(taken.sum(1, 0, "cpus").whole, i128::from(large));
    }

    #[test]
    fn what_is_infinite_is_no_amount() {
        let amount = |number: f64| amount_of(&Val::new(Data::Float(number), Span::new(FileId(0), 0, 0)));
        assert_eq!(amount(1.5), Some(1.5));
        assert_eq!(amount(f64::INFINITY), None);
    }

    #[test]
    fn what_is_taken_adds_up_and_is_given_back() {
        let mut taken = Taken::default();
        taken.add(1, 0, &[share(Some(0.1))]);
        taken.add(1, 0, &[share(Some(0.2))]);
        assert_eq!(taken.amount(1, 0, "cpus"), 0.3);
        assert_eq!(taken.amount(0, 0, "cpus"), 0.0);
        taken.remove(1, 0, &[share(Some(0.1))]);
        assert_eq!(taken.amount(1, 0, "cpus"), 0.2);
        taken.add(1, 0, &[share(None)]);
        assert_eq!(taken.sum(1, 0, "cpus").unknown, 1);
        taken.remove(1, 0, &[share(None)]);
        assert_eq!(taken.sum(1, 0, "cpus").unknown, 0);
    }
}
