//! Handles to things outside the configuration: files, paths, images. Keys applied to a handle are answered by it.

use crate::error::Result;
use crate::eval::Ctx;
use crate::eval::path;
use crate::functions::files;
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

    /// The value that a key selects; none if the handle has no such key.
    pub fn field(&self, ctx: &Ctx<'_, '_>, name: &str) -> Result<Option<Val>> {
        let value = match (&self.kind, name) {
            (Kind::File { path, .. } | Kind::Temp { path, .. }, "path") => Some(Val::str(path.clone())),
            (Kind::File { path, encoding } | Kind::Temp { path, encoding }, "contents") => {
                Some(files::contents(ctx, path, encoding.as_deref())?)
            }
            (Kind::File { encoding, .. } | Kind::Temp { encoding, .. }, "encoding") => {
                Some(Val::str(encoding.clone().unwrap_or_else(|| "utf-8".into())))
            }
            (Kind::Path, "path") => Some(self.value.clone()),
            // Loaded data is searched.
            _ if !self.select.is_empty() => path::by_name(ctx, &self.value, name)?,
            _ => None,
        };
        Ok(value.map(|value| {
            let mut select = self.select.clone();
            select.push(name.into());
            let tainted = value.is_tainted();
            External { kind: self.kind.clone(), key: self.key.clone(), value, select }.into_val().taint_if(tainted)
        }))
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
