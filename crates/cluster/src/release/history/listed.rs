//! The releases of a namespace or of all: the newest revision of each, selected and sorted.

use crate::release::record::{Record, Status};
use crate::release::store::Tag;
use crate::release::{Engine, Trouble};
use std::cmp::Ordering;

/// Selected states; all if none is.
#[derive(Clone, Debug, Default)]
pub struct States(pub Vec<Status>);

impl States {
    fn hold(&self, status: Status) -> bool {
        // A state that is not known is shown by no filter, as in Helm.
        status != Status::Unknown && (self.0.is_empty() || self.0.contains(&status))
    }
}

/// The order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sorted {
    /// By the time of the last deploy instead of the name.
    pub by_date: bool,
    /// The other way round.
    pub reverse: bool,
}

/// What is shown of all releases.
#[derive(Default)]
pub struct Shown<'s> {
    /// The states.
    pub states: States,
    /// The order.
    pub sorted: Sorted,
    /// Whether a name is shown; all if not set.
    pub name: Option<&'s dyn Fn(&str) -> bool>,
    /// Requirements of labels: key, and whether it must or must not have the value.
    pub selector: Vec<(String, bool, String)>,
    /// Releases that are shown at most; all if 0.
    pub most: usize,
    /// The first ones that are left out.
    pub offset: usize,
}

impl Engine<'_> {
    /// The newest revisions of releases.
    pub fn releases(&self, shown: &Shown<'_>) -> Result<Vec<Record>, Trouble> {
        let mut tags = self.all_tags("owner=helm")?;
        if let Some(is_meant) = shown.name {
            tags.retain(|tag| is_meant(&tag.name));
        }
        // Only the newest revisions are shown, unless superseded ones are asked for, which never are the newest.
        if shown.states.0 != [Status::Superseded] {
            tags = newest(tags);
        }
        tags.retain(|tag| shown.states.hold(tag.status) && is_selected(tag, &shown.selector));
        tags.sort_by(|a, b| (&a.name, &a.namespace, a.revision).cmp(&(&b.name, &b.namespace, b.revision)));
        if shown.sorted.by_date {
            let mut records = self.records(&tags)?;
            records.sort_by(|a, b| by_time(a.last_deployed(), b.last_deployed()));
            if shown.sorted.reverse {
                records.reverse();
            }
            return Ok(page(records, shown));
        }
        if shown.sorted.reverse {
            tags.reverse();
        }
        self.records(&page(tags, shown))
    }
}

fn page<T>(items: Vec<T>, shown: &Shown<'_>) -> Vec<T> {
    let most = if shown.most == 0 { usize::MAX } else { shown.most };
    items.into_iter().skip(shown.offset).take(most).collect()
}

fn newest(tags: Vec<Tag>) -> Vec<Tag> {
    let mut tags = tags;
    tags.sort_by(|a, b| (&a.namespace, &a.name, b.revision).cmp(&(&b.namespace, &b.name, a.revision)));
    tags.dedup_by(|next, kept| next.namespace == kept.namespace && next.name == kept.name);
    tags
}

fn is_selected(tag: &Tag, selector: &[(String, bool, String)]) -> bool {
    selector.iter().all(|(key, is_equal, value)| (tag.labels.get(key) == Some(value)) == *is_equal)
}

/// Compares times of records. Those of one cluster mostly have one zone; else their text decides.
fn by_time(a: &str, b: &str) -> Ordering {
    a.cmp(b)
}
