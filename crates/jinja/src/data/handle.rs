//! Handles to things outside the configuration: files, paths, images. The host answers keys that are applied to them.

use crate::val::{Data, MapKey, Val};
use ecow::EcoString;
use std::rc::Rc;

/// A handle.
#[derive(Debug, Clone)]
pub struct External {
    /// The target of the handle.
    pub kind: Kind,
    /// Its source, as its function's argument.
    pub key: Val,
    /// The plain value behind it.
    pub value: Val,
    /// The keys that were applied to it.
    pub select: Vec<EcoString>,
}

/// The target of a handle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A file, by full path and encoding.
    File {
        /// Full path.
        path: EcoString,
        /// How its bytes are read.
        encoding: Option<EcoString>,
    },
    /// A temporary file.
    Temp {
        /// Full path.
        path: EcoString,
        /// How its bytes are read.
        encoding: Option<EcoString>,
    },
    /// A path.
    Path,
    /// A container image.
    Image,
}

impl Kind {
    /// The function that makes such a handle.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::File { .. } => "file",
            Kind::Temp { .. } => "tempfile",
            Kind::Path => "path",
            Kind::Image => "container_image",
        }
    }
}

impl External {
    /// The handle as a value.
    pub fn into_val(self) -> Val {
        Data::External(Rc::new(self)).into()
    }

    /// The expression that makes this handle again.
    pub fn as_expression(&self) -> Val {
        let call = Val::record([(self.kind.name(), self.key.clone())]);
        let mut entries = vec![("eval", call)];
        if !self.select.is_empty() {
            entries.push(("select", Val::str(format!(".{}", self.select.join("::")))));
        }
        Val::map(entries.into_iter().map(|(key, value)| (MapKey::from(key), value)).collect())
    }
}
