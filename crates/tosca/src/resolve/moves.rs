//! Making room: earlier choices are moved elsewhere, so that a requirement can be met after all.
//!
//! Where only the number of relationships is limited, each user that leaves makes room for one, and a chain of such
//! moves is found if one exists. Where relationships take amounts, finding room is a packing problem, and only some of
//! its solutions are found: users of an offer are moved away one after another until it has enough, each to an offer
//! with room, and all of them are moved back if it never has. No user is moved to an offer that is just being vacated,
//! so two users that would have to swap do not. The order is fixed and the effort is limited.

use super::index::{Offer, Offers, Takes};
use super::{Fast, Resolver, User};
use crate::evaluate::Share;
use crate::topology::Requirement;
use std::collections::{HashMap, HashSet};

/// Choices are moved along chains of at most this length.
const MAX_CHAIN: u32 = 100;
/// Most offers and users checked in total while moving.
const MAX_LOOKS: u64 = 300_000;

/// A search for room.
#[derive(Default)]
struct Search {
    /// Offers that are being vacated, or that could not be.
    seen: HashSet<Offer, Fast>,
    /// Per list of offers, how many at its start were seen.
    past: HashMap<usize, usize, Fast>,
    /// The moved users, in this order.
    moved: Vec<Moved>,
}

/// A moved user: its previous offer and its allocations there.
struct Moved {
    user: User,
    from: Offer,
    shares: Option<Vec<Share>>,
}

impl Resolver<'_> {
    /// A suitable offer that had too little room, after users of it were moved elsewhere. None if that fails; then no
    /// user was moved.
    pub(super) fn vacate(&mut self, user: User, requirement: &Requirement, offers: &Offers) -> Option<Offer> {
        self.vacated(user, requirement, offers, &mut Search::default(), 0)
    }

    /// Counts the offers checked for users to be moved.
    pub(super) fn count_look(&mut self) {
        if !self.avoided.is_empty() {
            self.looked += 1;
        }
    }

    fn vacated(
        &mut self,
        user: User,
        requirement: &Requirement,
        offers: &Offers,
        search: &mut Search,
        depth: u32,
    ) -> Option<Offer> {
        let list = offers.list();
        let start = list.and_then(|list| search.past.get(&list).copied()).unwrap_or(0);
        let varying = matches!(self.index.takes(offers), Takes::Varying(_));
        let mut all_seen = true;
        for at in start..self.index.len(offers) {
            let Some(offer) = self.index.get(offers, at).filter(|_| self.looked < MAX_LOOKS) else { break };
            self.count_look();
            if !search.seen.contains(&offer) {
                let is_free = self.has_room(user, requirement, offer);
                // Free offers were checked before, unless they were freed since or had too little left for another
                // amount.
                let is_new = !is_free || varying || !search.moved.is_empty();
                if is_new
                    && self.would_suit(user, requirement, offer).is_ok()
                    && (is_free || self.make_room(user, requirement, offer, search, depth))
                {
                    return Some(offer);
                }
            }
            all_seen &= search.seen.contains(&offer);
            if let Some(list) = list.filter(|_| all_seen) {
                search.past.insert(list, at + 1);
            }
        }
        None
    }

    /// Moves users of an offer elsewhere until it has room for another one; no user if that is impossible.
    fn make_room(
        &mut self,
        wanting: User,
        wanted: &Requirement,
        offer: Offer,
        search: &mut Search,
        depth: u32,
    ) -> bool {
        search.seen.insert(offer);
        let before = search.moved.len();
        let mut gone = 0;
        for user in self.movable(wanting, wanted, offer) {
            if !self.move_away(user, offer, search, depth) {
                continue;
            }
            gone += 1;
            if self.has_room(wanting, wanted, offer) {
                if gone > 1 {
                    self.index.renew();
                }
                // Further users may be moved from here, too.
                search.seen.remove(&offer);
                search.past.clear();
                return true;
            }
        }
        self.move_back(before, search);
        false
    }

    fn has_room(&mut self, user: User, requirement: &Requirement, offer: Offer) -> bool {
        self.rank(offer).is_some() && self.has_enough(user, requirement, offer)
    }

    /// The users that may leave an offer so that another one has room: first those whose leaving is enough, then those
    /// that take the most. None if there would not be enough room without all of them.
    fn movable(&mut self, wanting: User, wanted: &Requirement, offer: Offer) -> Vec<User> {
        let mut users = self.users.get(&offer).cloned().unwrap_or_default();
        users.sort_unstable();
        self.looked += users.len() as u64;
        if wanted.allocation().is_empty() {
            return users;
        }
        if !self.has_enough_without(wanting, wanted, offer, &users) {
            return Vec::new();
        }
        let is_full = self.rank(offer).is_none();
        let (mut movable, others): (Vec<User>, Vec<User>) =
            users.into_iter().partition(|user| self.has_enough_without(wanting, wanted, offer, &[*user]));
        let gives = |user: User| {
            wanted.allocation().iter().map(|(name, _)| self.amount_taken(user, &name.text)).collect::<Vec<f64>>()
        };
        let mut others: Vec<(Vec<f64>, User)> = others.into_iter().map(|user| (gives(user), user)).collect();
        others.retain(|(amounts, _)| is_full || amounts.iter().any(|amount| *amount > 0.0));
        others.sort_by(|(some, _), (more, _)| more.partial_cmp(some).unwrap_or(std::cmp::Ordering::Equal));
        movable.extend(others.into_iter().map(|(_, user)| user));
        movable
    }

    /// Moves a user of an offer to another one, moving further users if necessary.
    fn move_away(&mut self, user: User, offer: Offer, search: &mut Search, depth: u32) -> bool {
        let Some(requirement) = self.requirement(user) else { return false };
        // An offer of which only a part is taken may have room for the same one again.
        self.avoided.push(offer);
        let other = match self.offers(user, requirement) {
            Ok(offers) => match self.best(user, requirement, &offers, &mut Vec::new()) {
                Some(other) => Some(other),
                None if depth < MAX_CHAIN => self.vacated(user, requirement, &offers, search, depth + 1),
                None => None,
            },
            Err(_) => None,
        };
        self.avoided.pop();
        let Some(other) = other else { return false };
        let shares = self.leave(user, offer);
        self.take(user, other);
        search.moved.push(Moved { user, from: offer, shares });
        true
    }

    /// Moves back all users moved since.
    fn move_back(&mut self, since: usize, search: &mut Search) {
        while search.moved.len() > since {
            let Some(Moved { user, from, shares }) = search.moved.pop() else { return };
            if let Some(now) = self.chosen.get(&user).copied() {
                self.leave(user, now);
            }
            self.put(user, from, shares);
            self.index.renew();
        }
    }
}
