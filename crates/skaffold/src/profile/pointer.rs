//! Paths of patches: JSON pointers with one addition, `key=value` segments that select by content.
//!
//! It must not know operations.

use crate::item::{Form, Item, View};
use ecow::EcoString;
use purlin_syntax::suggest;

/// A path, split into its segments.
#[derive(Clone, Debug)]
pub struct Pointer {
    segments: Vec<EcoString>,
}

/// The segment that names the end of a list.
pub const END: &str = "-";

impl Pointer {
    /// Reads a path. It starts with `/` and names at least one segment.
    pub fn parse(text: &str) -> Result<Pointer, String> {
        let Some(rest) = text.strip_prefix('/') else {
            return Err(if text.is_empty() {
                "the patch has no `path`".to_owned()
            } else {
                format!("the path `{text}` does not start with `/`")
            });
        };
        if rest.is_empty() {
            return Err(format!("the path `{text}` names the whole configuration, which cannot be replaced"));
        }
        let unescape = |part: &str| match part.contains('~') {
            true => part.replace("~1", "/").replace("~0", "~").into(),
            false => EcoString::from(part),
        };
        Ok(Pointer { segments: rest.split('/').map(unescape).collect() })
    }

    /// The last segment.
    pub fn last(&self) -> &str {
        self.segments.last().map_or("", EcoString::as_str)
    }

    /// Every target of the path's parent, as plain segments; `key=value` may select several.
    pub fn parents(&self, root: View<'_, '_>) -> Vec<Vec<EcoString>> {
        let mut places: Vec<Vec<EcoString>> = vec![Vec::new()];
        let Some((_, parents)) = self.segments.split_last() else { return places };
        for segment in parents {
            let mut next = Vec::new();
            for place in places {
                let Some(view) = at(root, &place) else { continue };
                if child(view, segment).is_some() {
                    let mut place = place;
                    place.push(segment.clone());
                    next.push(place);
                } else if let Some((key, value)) = segment.split_once('=') {
                    select(view, key, value, &mut place.clone(), &mut next);
                }
            }
            places = next;
        }
        places
    }

    /// The path with its first unknown segment corrected, if it resembles an existing key.
    pub fn near(&self, root: View<'_, '_>) -> Option<String> {
        let mut view = root;
        for (at, segment) in self.segments.iter().enumerate() {
            if let Some(next) = child(view, segment) {
                view = next;
                continue;
            }
            let near = suggest::nearest(segment, view.entries().map(|pair| pair.key))?;
            let escape = |part: &str| part.replace('~', "~0").replace('/', "~1");
            let parts = self.segments.iter().enumerate();
            return Some(
                parts.map(|(other, part)| format!("/{}", escape(if other == at { near } else { part }))).collect(),
            );
        }
        None
    }

    /// The existing part of the path, for messages.
    pub fn existing(&self, root: View<'_, '_>) -> String {
        let mut text = String::new();
        let mut view = root;
        for segment in &self.segments {
            let Some(next) = child(view, segment) else { break };
            text.push('/');
            text.push_str(segment);
            view = next;
        }
        text
    }
}

/// All containers below a place that have a key with a text, with the way to them.
fn select(view: View<'_, '_>, key: &str, value: &str, way: &mut Vec<EcoString>, found: &mut Vec<Vec<EcoString>>) {
    if view.form() == Form::Map && view.get(key).is_some_and(|v| v.form() == Form::Scalar && v.text() == value) {
        return found.push(way.clone());
    }
    for pair in view.entries() {
        way.push(pair.key.into());
        select(pair.value, key, value, way, found);
        way.pop();
    }
    for (index, item) in view.items().enumerate() {
        way.push(EcoString::from(index.to_string()));
        select(item, key, value, way, found);
        way.pop();
    }
}

/// The child of a container with this segment.
pub fn child<'a, 'f: 'a>(view: View<'a, 'f>, segment: &str) -> Option<View<'a, 'f>> {
    match view.form() {
        Form::Map => view.raw(segment),
        Form::List => view.all_items().nth(index(segment)?),
        _ => None,
    }
}

/// The value at plain segments.
pub fn at<'a, 'f: 'a>(root: View<'a, 'f>, way: &[EcoString]) -> Option<View<'a, 'f>> {
    way.iter().try_fold(root, |view, segment| child(view, segment))
}

/// The value at plain segments, opened for changes.
pub(crate) fn at_mut<'a, 'f>(root: &'a mut Item<'f>, way: &[EcoString]) -> Option<&'a mut Item<'f>> {
    way.iter().try_fold(root, |item, segment| match item.view().form() {
        Form::Map => item.map().iter_mut().find(|entry| entry.key == *segment).map(|entry| &mut entry.value),
        Form::List => item.list().get_mut(index(segment)?),
        _ => None,
    })
}

/// A place in a list.
pub fn index(segment: &str) -> Option<usize> {
    segment.parse().ok()
}
