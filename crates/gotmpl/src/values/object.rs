//! Values of struct types: times, versions, capabilities, certificates, chart metadata.

use crate::semver::Version;
use crate::time::Time;
use crate::value::{Str, Val};

/// A struct value.
#[derive(Debug)]
pub enum Object {
    /// `time.Time`
    Time(Time),
    /// `*semver.Version`
    Version(Version),
    /// Any other struct: fields by name, and its text if it has one.
    Struct(Struct),
}

/// A struct with named fields.
#[derive(Debug)]
pub struct Struct {
    /// The name Go prints.
    pub name: &'static str,
    /// The fields in order.
    pub fields: Vec<(&'static str, Val)>,
    /// Its printed text, if it has a `String` method.
    pub text: Option<Str>,
}

impl Object {
    /// The contained values.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Val> {
        let fields = match self {
            Self::Struct(object) => object.fields.as_slice(),
            Self::Time(_) | Self::Version(_) => &[],
        };
        fields.iter().map(|(_, value)| value)
    }

    /// The name Go prints.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Time(_) => "time.Time",
            Self::Version(_) => "*semver.Version",
            Self::Struct(known) => known.name,
        }
    }

    /// The text of its `String` method, if it has one.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Time(time) => Some(time.to_string()),
            Self::Version(version) => Some(version.to_string()),
            Self::Struct(known) => known.text.as_ref().map(|text| text.text().into_owned()),
        }
    }

    /// A field by name.
    pub fn field(&self, name: &[u8]) -> Option<&Val> {
        match self {
            Self::Struct(known) => known.fields.iter().find(|(n, _)| n.as_bytes() == name).map(|(_, value)| value),
            _ => None,
        }
    }
}
