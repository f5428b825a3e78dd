//! Keys, certificates, passwords and random values.

pub(crate) mod certificate_profile;
pub mod certificates;
pub mod crypto;
