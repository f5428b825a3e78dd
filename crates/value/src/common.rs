//! What the variants of a project have in common, so that it is found out once.
//!
//! It lives as long as the variants are resolved. It knows nothing of what is found.

use crate::meter::{Meter, Spent};
use foldhash::fast::RandomState;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Findings by their kind, which is a type of its own, and what they are about.
#[derive(Default, Debug)]
pub(crate) struct Common {
    found: Mutex<HashMap<(TypeId, String), Finding, RandomState>>,
}

#[derive(Clone, Debug)]
struct Finding {
    value: Arc<dyn Any + Send + Sync>,
    /// What it has cost the run that found it, and so costs any other.
    spent: Spent,
}

impl Common {
    /// What is known, or is found now.
    pub(crate) fn finding<T: Any + Send + Sync>(&self, about: &str, meter: &Meter, find: impl FnOnce() -> T) -> Arc<T> {
        let key = (TypeId::of::<T>(), about.to_owned());
        let known = self.found.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some((value, spent)) = known.and_then(|known| Some((known.value.downcast::<T>().ok()?, known.spent))) {
            meter.take_over(spent);
            return value;
        }
        let before = meter.spent();
        let value = Arc::new(find());
        let finding = Finding { value: value.clone(), spent: meter.spent().since(before) };
        self.found.lock().unwrap_or_else(PoisonError::into_inner).insert(key, finding);
        value
    }
}
