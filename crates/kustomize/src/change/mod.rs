//! Changes of resources: names, labels, images, patches, replacements.

pub(crate) mod edit;
pub(crate) mod images;
pub(crate) mod labels;
pub(crate) mod names;
pub(crate) mod noted;
pub(crate) mod patch;
pub(crate) mod references;
pub(crate) mod repeated;
pub(crate) mod replacements;
pub(crate) mod strategic;
pub(crate) mod transform;
pub(crate) mod value_add;
pub(crate) mod vars;
