//! Finds the resources that an item of a step concerns, without checking all of them for every item.
//!
//! An index serves the items of one step. Each part of it is computed on first use, and dropped when names may have
//! changed.

use crate::kustomization::{Problem, spend};
use crate::resource::Resource;
use ecow::EcoString;
use purlin_value::weight::weight;
use purlin_value::{FastMap, Session, Value};

/// Number of bytes of resources that a transformer processes in one step.
const BYTES_CHANGED: u64 = 16;

/// Steps for checking an earlier name of a resource.
const STEPS_PER_NAME: u64 = 16;

/// Steps for finding the images of a resource, besides its bytes: there are many possible locations.
pub const STEPS_PER_IMAGES: u64 = 12;

/// Steps for comparing a resource with a selector, besides its bytes.
const STEPS_PER_FIT: u64 = 12;

/// Number of configured fields that are compared with a resource in one step.
pub const SPECS_PER_STEP: u64 = 2;

/// Resources by a string property.
pub type Places = FastMap<EcoString, Vec<usize>>;

/// Resources by name or image.
#[derive(Default)]
pub struct Index {
    names: Option<Places>,
    images: Option<Places>,
}

impl Index {
    /// The resources that have or had a name, in their order.
    pub fn named(
        &mut self,
        session: &Session,
        item: &Value,
        name: &str,
        resources: &[Resource],
    ) -> Result<Vec<usize>, Problem> {
        if self.names.is_none() {
            spend(session, item, work_of_all(resources, 1), 0)?;
        }
        let names = self.names.get_or_insert_with(|| names(resources));
        let found = names.get(name).cloned().unwrap_or_default();
        spend(session, item, 1 + work_of(&found, resources, 1), 0)?;
        Ok(found)
    }

    /// The resources of a name, or all of them if none is given.
    pub fn named_or_all(
        &mut self,
        session: &Session,
        item: &Value,
        name: &str,
        resources: &[Resource],
    ) -> Result<Vec<usize>, Problem> {
        if !name.is_empty() {
            return self.named(session, item, name, resources);
        }
        spend(session, item, work_of_all(resources, STEPS_PER_FIT), 0)?;
        Ok((0..resources.len()).collect())
    }

    /// Drops the parts invalidated by a change of names or the removal of a resource.
    pub fn forget(&mut self) {
        *self = Index::default();
    }

    /// The resources with an image that is meant, in their order. They are not known for that any more until what they
    /// hold by then is [noted](Index::note_images).
    pub fn take_imaged(
        &mut self,
        session: &Session,
        item: &Value,
        resources: &[Resource],
        is_meant: impl Fn(&str) -> bool,
    ) -> Result<Vec<usize>, Problem> {
        let images = self.images.get_or_insert_default();
        spend(session, item, 1 + images.len() as u64, 0)?;
        let mut found: Vec<usize> = images.extract_if(|image, _| is_meant(image)).flat_map(|(_, at)| at).collect();
        found.sort_unstable();
        found.dedup();
        spend(session, item, work_of(&found, resources, STEPS_PER_IMAGES), 0)?;
        Ok(found)
    }

    /// Whether images were indexed.
    pub fn knows_images(&self) -> bool {
        self.images.is_some()
    }

    /// Notes the images of a resource.
    pub fn note_images(&mut self, at: usize, held: Vec<EcoString>) {
        let images = self.images.get_or_insert_default();
        for image in held {
            let places = images.entry(image).or_default();
            if places.last() != Some(&at) {
                places.push(at);
            }
        }
    }
}

/// The steps to go through all resources, with `looks` additional steps for each.
pub fn work_of_all(resources: &[Resource], looks: u64) -> u64 {
    resources.iter().map(|resource| looks + work(resource)).sum()
}

fn work_of(found: &[usize], resources: &[Resource], looks: u64) -> u64 {
    found.iter().filter_map(|at| resources.get(*at)).map(|resource| looks + work(resource)).sum()
}

/// The steps to go through a resource.
pub fn work(resource: &Resource) -> u64 {
    weight(&resource.value) / BYTES_CHANGED + resource.before.len() as u64 * STEPS_PER_NAME
}

/// Which resources have or had a name.
pub fn names(resources: &[Resource]) -> Places {
    let mut places = Places::default();
    for (at, resource) in resources.iter().enumerate() {
        let before = resource.before.iter().map(|id| id.name.clone());
        for name in before.chain([resource.name().into()]) {
            let known = places.entry(name).or_default();
            if known.last() != Some(&at) {
                known.push(at);
            }
        }
    }
    places
}
