//! The 72 versions of the Skaffold format, oldest first.
//!
//! An edition is a place in one chain, so "newer than" is a comparison of numbers. Every phase may use this; it must
//! not know what any edition contains (that is the table's business).

pub use purlin_model::schema::Edition;

/// Prefix of every `apiVersion` of the format.
pub const GROUP: &str = "skaffold/";

/// The newest edition, which every document is brought to.
pub const LATEST: Edition = V4BETA14;

/// Its `apiVersion`.
pub const LATEST_NAME: &str = "skaffold/v4beta14";

/// The edition from which the founding design's `modules:` may be written.
pub const FOUNDING: Edition = V2BETA10;

/// The edition an `apiVersion` names.
pub fn parse(api_version: &str) -> Option<Edition> {
    let name = api_version.strip_prefix(GROUP)?;
    // The newest names are the common ones.
    NAMES.iter().rposition(|known| *known == name).and_then(|index| u16::try_from(index).ok()).map(Edition)
}

/// The name of an edition without its group, such as `v4beta14`.
pub fn name(edition: Edition) -> &'static str {
    NAMES.get(usize::from(edition.0)).copied().unwrap_or_default()
}

/// The text of the `apiVersion` key.
pub fn api_version(edition: Edition) -> String {
    format!("{GROUP}{}", name(edition))
}

/// All editions, oldest first.
pub fn all() -> impl DoubleEndedIterator<Item = Edition> {
    (0..NAMES.len() as u16).map(Edition)
}

/// Their names, oldest first.
pub(crate) const NAMES: &[&str] = &[
    "v1alpha1", "v1alpha2", "v1alpha3", "v1alpha4", "v1alpha5", "v1beta1", "v1beta2", "v1beta3", "v1beta4", "v1beta5",
    "v1beta6", "v1beta7", "v1beta8", "v1beta9", "v1beta10", "v1beta11", "v1beta12", "v1beta13", "v1beta14", "v1beta15",
    "v1beta16", "v1beta17", "v1", "v2alpha1", "v2alpha2", "v2alpha3", "v2alpha4", "v2beta1", "v2beta2", "v2beta3",
    "v2beta4", "v2beta5", "v2beta6", "v2beta7", "v2beta8", "v2beta9", "v2beta10", "v2beta11", "v2beta12", "v2beta13",
    "v2beta14", "v2beta15", "v2beta16", "v2beta17", "v2beta18", "v2beta19", "v2beta20", "v2beta21", "v2beta22",
    "v2beta23", "v2beta24", "v2beta25", "v2beta26", "v2beta27", "v2beta28", "v2beta29", "v3alpha1", "v3", "v4beta1",
    "v4beta2", "v4beta3", "v4beta4", "v4beta5", "v4beta6", "v4beta7", "v4beta8", "v4beta9", "v4beta10", "v4beta11",
    "v4beta12", "v4beta13", "v4beta14",
];

/// `v1alpha1`.
pub const V1ALPHA1: Edition = Edition(0);
/// `v1alpha2`.
pub const V1ALPHA2: Edition = Edition(1);
/// `v1alpha3`.
pub const V1ALPHA3: Edition = Edition(2);
/// `v1alpha4`.
pub const V1ALPHA4: Edition = Edition(3);
/// `v1alpha5`.
pub const V1ALPHA5: Edition = Edition(4);
/// `v1beta1`.
pub const V1BETA1: Edition = Edition(5);
/// `v1beta2`.
pub const V1BETA2: Edition = Edition(6);
/// `v1beta3`.
pub const V1BETA3: Edition = Edition(7);
/// `v1beta4`.
pub const V1BETA4: Edition = Edition(8);
/// `v1beta5`.
pub const V1BETA5: Edition = Edition(9);
/// `v1beta6`.
pub const V1BETA6: Edition = Edition(10);
/// `v1beta7`.
pub const V1BETA7: Edition = Edition(11);
/// `v1beta8`.
pub const V1BETA8: Edition = Edition(12);
/// `v1beta9`.
pub const V1BETA9: Edition = Edition(13);
/// `v1beta10`.
pub const V1BETA10: Edition = Edition(14);
/// `v1beta11`.
pub const V1BETA11: Edition = Edition(15);
/// `v1beta12`.
pub const V1BETA12: Edition = Edition(16);
/// `v1beta13`.
pub const V1BETA13: Edition = Edition(17);
/// `v1beta14`.
pub const V1BETA14: Edition = Edition(18);
/// `v1beta15`.
pub const V1BETA15: Edition = Edition(19);
/// `v1beta16`.
pub const V1BETA16: Edition = Edition(20);
/// `v1beta17`.
pub const V1BETA17: Edition = Edition(21);
/// `v1`.
pub const V1: Edition = Edition(22);
/// `v2alpha1`.
pub const V2ALPHA1: Edition = Edition(23);
/// `v2alpha2`.
pub const V2ALPHA2: Edition = Edition(24);
/// `v2alpha3`.
pub const V2ALPHA3: Edition = Edition(25);
/// `v2alpha4`.
pub const V2ALPHA4: Edition = Edition(26);
/// `v2beta1`.
pub const V2BETA1: Edition = Edition(27);
/// `v2beta2`.
pub const V2BETA2: Edition = Edition(28);
/// `v2beta3`.
pub const V2BETA3: Edition = Edition(29);
/// `v2beta4`.
pub const V2BETA4: Edition = Edition(30);
/// `v2beta5`.
pub const V2BETA5: Edition = Edition(31);
/// `v2beta6`.
pub const V2BETA6: Edition = Edition(32);
/// `v2beta7`.
pub const V2BETA7: Edition = Edition(33);
/// `v2beta8`.
pub const V2BETA8: Edition = Edition(34);
/// `v2beta9`.
pub const V2BETA9: Edition = Edition(35);
/// `v2beta10`.
pub const V2BETA10: Edition = Edition(36);
/// `v2beta11`.
pub const V2BETA11: Edition = Edition(37);
/// `v2beta12`.
pub const V2BETA12: Edition = Edition(38);
/// `v2beta13`.
pub const V2BETA13: Edition = Edition(39);
/// `v2beta14`.
pub const V2BETA14: Edition = Edition(40);
/// `v2beta15`.
pub const V2BETA15: Edition = Edition(41);
/// `v2beta16`.
pub const V2BETA16: Edition = Edition(42);
/// `v2beta17`.
pub const V2BETA17: Edition = Edition(43);
/// `v2beta18`.
pub const V2BETA18: Edition = Edition(44);
/// `v2beta19`.
pub const V2BETA19: Edition = Edition(45);
/// `v2beta20`.
pub const V2BETA20: Edition = Edition(46);
/// `v2beta21`.
pub const V2BETA21: Edition = Edition(47);
/// `v2beta22`.
pub const V2BETA22: Edition = Edition(48);
/// `v2beta23`.
pub const V2BETA23: Edition = Edition(49);
/// `v2beta24`.
pub const V2BETA24: Edition = Edition(50);
/// `v2beta25`.
pub const V2BETA25: Edition = Edition(51);
/// `v2beta26`.
pub const V2BETA26: Edition = Edition(52);
/// `v2beta27`.
pub const V2BETA27: Edition = Edition(53);
/// `v2beta28`.
pub const V2BETA28: Edition = Edition(54);
/// `v2beta29`.
pub const V2BETA29: Edition = Edition(55);
/// `v3alpha1`.
pub const V3ALPHA1: Edition = Edition(56);
/// `v3`.
pub const V3: Edition = Edition(57);
/// `v4beta1`.
pub const V4BETA1: Edition = Edition(58);
/// `v4beta2`.
pub const V4BETA2: Edition = Edition(59);
/// `v4beta3`.
pub const V4BETA3: Edition = Edition(60);
/// `v4beta4`.
pub const V4BETA4: Edition = Edition(61);
/// `v4beta5`.
pub const V4BETA5: Edition = Edition(62);
/// `v4beta6`.
pub const V4BETA6: Edition = Edition(63);
/// `v4beta7`.
pub const V4BETA7: Edition = Edition(64);
/// `v4beta8`.
pub const V4BETA8: Edition = Edition(65);
/// `v4beta9`.
pub const V4BETA9: Edition = Edition(66);
/// `v4beta10`.
pub const V4BETA10: Edition = Edition(67);
/// `v4beta11`.
pub const V4BETA11: Edition = Edition(68);
/// `v4beta12`.
pub const V4BETA12: Edition = Edition(69);
/// `v4beta13`.
pub const V4BETA13: Edition = Edition(70);
/// `v4beta14`.
pub const V4BETA14: Edition = Edition(71);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_edition_is_named_once_more() {
        assert_eq!(api_version(LATEST), LATEST_NAME);
        assert_eq!(all().last(), Some(LATEST));
    }
}
