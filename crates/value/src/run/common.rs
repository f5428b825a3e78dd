//! Findings shared by the variants of a project, so that each is computed once.
//!
//! It lives as long as the variants are resolved. The findings are opaque to it.

use crate::meter::{Meter, Spent};
use foldhash::fast::RandomState;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Findings by their kind, which is a type of its own, and their subject.
#[derive(Default, Debug)]
pub(crate) struct Common {
    found: Mutex<HashMap<(TypeId, String), Finding, RandomState>>,
}

#[derive(Clone, Debug)]
struct Finding {
    value: Arc<dyn Any + Send + Sync>,
    /// Its cost to the run that computed it, which is charged to any other run as well.
    spent: Spent,
}

impl Common {
    /// The known finding, or a new one.
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
