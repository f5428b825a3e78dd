//! What an entity may not do to what it inherits.

use crate::check::UNBOUNDED;
use crate::handle::NodeRef;
use crate::hierarchy::Hierarchy;
use crate::instance::{Content, Instance, Slot};
use crate::link::{Links, referred_kinds};
use crate::read::Place;
use crate::rules;
use crate::schema::{Field, Kind, Schema, Shape};
use purlin_syntax::{Diagnostic, Node, Sink};

/// Checks what is overridden against what is inherited. Expressions and names that were not found say nothing.
pub(crate) struct Contract<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) links: &'a Links,
    pub(crate) hierarchy: &'a Hierarchy,
    pub(crate) sink: &'a Sink,
}

impl Contract<'_> {
    /// Reports a violation.
    pub(crate) fn report(
        &self,
        place: Place<'_>,
        owner: &Instance,
        mine: &Slot,
        theirs: &Slot,
        from: &str,
        problem: &str,
    ) {
        let owner_name = match owner.name() {
            "" => place.subject(),
            name => format!("{} `{name}`", place.entity.label),
        };
        let source = theirs.inherited.as_deref().unwrap_or(from);
        let key = mine.field.key;
        let message = format!("`{key}` of {owner_name} breaks what it inherits from {source}: {problem}");
        let span = mine.span().unwrap_or_else(|| owner.span());
        let mut diagnostic = Diagnostic::at(&rules::INHERITED_CONTRACT, span, message);
        if let Some(span) = theirs.span() {
            diagnostic = diagnostic.label(span, "inherited from here");
        }
        self.sink.push(diagnostic);
    }

    /// One's own may only be narrower.
    pub(crate) fn check_narrow(
        &self,
        place: Place<'_>,
        owner: &Instance,
        field: &Field,
        mine: &Slot,
        theirs: &Slot,
        from: &str,
    ) {
        let own_kind = [owner.kind];
        let kinds = referred_kinds(&field.shape, &own_kind);
        let problem = match (&mine.content, &theirs.content) {
            (Content::Values(mine), Content::Values(theirs)) => self.widened(mine, theirs, kinds),
            (Content::Value(mine), Content::Value(theirs)) => match kinds {
                Some(kinds) => self.not_derived(mine, theirs, kinds),
                None => self.wider_value(field, mine, theirs),
            },
            _ => None,
        };
        if let Some(problem) = problem {
            self.report(place, owner, mine, theirs, from, &problem);
        }
    }

    /// What the parent says cannot be changed.
    pub(crate) fn check_fixed(
        &self,
        place: Place<'_>,
        owner: &Instance,
        field: &Field,
        mine: &Slot,
        theirs: &Slot,
        from: &str,
    ) {
        let (Content::Value(own), Content::Value(inherited)) = (&mine.content, &theirs.content) else { return };
        let merge_keys = self.schema.merge_keys;
        if own.value(merge_keys) != inherited.value(merge_keys) {
            let problem = format!("`{}` cannot be changed once it is given", field.key);
            self.report(place, owner, mine, theirs, from, &problem);
        }
    }

    /// A name in a list that is neither in the parent's list nor derived from something there.
    fn widened(&self, mine: &[NodeRef], theirs: &[NodeRef], kinds: Option<&[Kind]>) -> Option<String> {
        let allowed = |name: &&NodeRef| {
            theirs.iter().any(|inherited| match kinds {
                Some(kinds) => self.is_a(name, inherited, kinds).unwrap_or(true),
                None => name.text() == inherited.text(),
            })
        };
        let extra = mine.iter().find(|name| !allowed(name))?;
        let names: Vec<String> = theirs.iter().map(|name| format!("`{}`", name.text())).collect();
        Some(match names.as_slice() {
            [] => format!("`{}` is added where nothing is allowed", extra.text()),
            _ => format!("`{}` is not among {}", extra.text(), names.join(", ")),
        })
    }

    fn not_derived(&self, mine: &NodeRef, theirs: &NodeRef, kinds: &[Kind]) -> Option<String> {
        let problem = || format!("`{}` is not derived from `{}`", mine.text(), theirs.text());
        (self.is_a(mine, theirs, kinds) == Some(false)).then(problem)
    }

    /// Whether what one name refers to is, or extends, what another refers to; `None` if that is not known.
    fn is_a(&self, mine: &NodeRef, theirs: &NodeRef, kinds: &[Kind]) -> Option<bool> {
        let (mine, theirs) = (self.links.get(mine, kinds)?, self.links.get(theirs, kinds)?);
        Some(self.hierarchy.is_a(mine, theirs))
    }

    fn wider_value(&self, field: &Field, mine: &NodeRef, theirs: &NodeRef) -> Option<String> {
        let (mine, theirs) = (mine.node()?, theirs.node()?);
        match field.shape {
            Shape::Bool if theirs.as_bool()? && !mine.as_bool()? => {
                Some("`true` cannot become `false` again".to_owned())
            }
            Shape::Range => {
                let ((low, high), (least, most)) = (bounds(mine)?, bounds(theirs)?);
                let outside = low < least || high.unwrap_or(i64::MAX) > most.unwrap_or(i64::MAX);
                let top = most.map_or(UNBOUNDED.to_owned(), |most| most.to_string());
                outside.then(|| format!("the range is not within [{least}, {top}]"))
            }
            _ => None,
        }
    }
}

/// The bounds of a range, the upper one open where there is none.
fn bounds(node: Node<'_>) -> Option<(i64, Option<i64>)> {
    let mut items = node.items();
    let (low, high) = (items.next()?, items.next()?);
    let high = if high.text() == UNBOUNDED { None } else { Some(high.as_int()?) };
    Some((low.as_int()?, high))
}
