//! Schedules that callers name; they may be replaced while the server runs.

use std::sync::{Arc, PoisonError, RwLock};

use offbeat_core::Catalog;

/// The schedules that a server has loaded. Requests take a snapshot and keep it to their end: the
/// lock is held only while a pointer is copied.
#[derive(Debug, Clone, Default)]
pub struct LoadedSchedules(Arc<RwLock<Arc<Catalog>>>);

impl LoadedSchedules {
    /// Starts with the schedules of `catalog`.
    #[must_use]
    pub fn new(catalog: Catalog) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(catalog))))
    }

    /// The schedules at this moment; later reloads do not change them.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Catalog> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the schedules; returns the previous ones.
    pub fn exchange(&self, catalog: Catalog) -> Arc<Catalog> {
        let mut held = self.0.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *held, Arc::new(catalog))
    }
}
