//! Replaces the network in a build without the feature `net`: every request fails with the reason.

use super::address::Allowed;
use super::https::{Answer, Ask, Web, failed};
use purlin_value::world::WorldError;
use std::time::Duration;

/// No network.
pub(super) struct Internet;

impl Internet {
    pub(super) fn new(_allowed: Allowed) -> Self {
        Internet
    }
}

impl Web for Internet {
    fn send(&self, _ask: Ask<'_>, _most: u64, _time: Duration) -> Result<Answer, WorldError> {
        Err(failed("this build has no network support; build it with the feature `net`"))
    }
}
