//! The editions of the standard, and the one that a host extends.

use crate::entities::SCHEMA;
pub use purlin_model::schema::Edition;

/// TOSCA Simple Profile in YAML 1.0.
pub const V1_0: Edition = Edition(0);
/// TOSCA Simple Profile in YAML 1.1.
pub const V1_1: Edition = Edition(1);
/// TOSCA Simple Profile in YAML 1.2.
pub const V1_2: Edition = Edition(2);
/// TOSCA Simple Profile in YAML 1.3.
pub const V1_3: Edition = Edition(3);
/// TOSCA 1.3 with the extensions of a host such as `unfurl`. It is ordered after 1.3, so that it includes all of 1.3.
pub const EXTENDED: Edition = Edition(4);
/// TOSCA 2.0.
pub const V2_0: Edition = Edition(5);

/// The names of the editions, the oldest first.
pub(crate) const NAMES: &[&str] = &["1.0", "1.1", "1.2", "1.3", "Unfurl", "2.0"];

/// Predicates on editions of the standard.
pub trait Standard {
    /// The edition of the standard that this one is, or extends.
    fn standard(self) -> Edition;
    /// Its number as people write it.
    fn number(self) -> &'static str;
    /// Whether this is the edition that a host extends.
    fn is_extended(&self) -> bool;
    /// Whether this is TOSCA 2.0, where functions carry a `$`.
    fn is_2(&self) -> bool;
}

impl Standard for Edition {
    fn standard(self) -> Edition {
        if self == EXTENDED { V1_3 } else { self }
    }

    fn number(self) -> &'static str {
        SCHEMA.edition_name(self.standard())
    }

    fn is_extended(&self) -> bool {
        *self == EXTENDED
    }

    fn is_2(&self) -> bool {
        *self == V2_0
    }
}
