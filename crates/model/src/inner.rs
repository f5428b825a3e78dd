//! What one dialect may ask of another: the manifests of a chart or a kustomization inside a project.
//!
//! Dialects do not know each other. The façade has the list of engines and hands it in with the request; a dialect asks
//! by name. An inner project grows from here.

use crate::project::{Manifest, Request};
use purlin_syntax::Span;
use purlin_value::{Session, Value};

/// What is asked of an engine.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    /// The folder of what is rendered, as the world reads it.
    pub folder: &'a str,
    /// Names, files and flags, as a user would give them.
    pub request: Request,
    /// Values over those of files and under those of flags.
    pub values: Value,
    /// Where the asking dialect was told to.
    pub span: Option<Span>,
}

/// Renders what is asked. `None` if that fails, which is reported.
pub type Render = fn(&Session, &Ask<'_>) -> Option<Vec<Manifest>>;

/// An engine: a name that a dialect asks for, and what answers.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    /// Its name: `chart`, `kustomization`.
    pub name: &'static str,
    /// What it does.
    pub render: Render,
}

/// The engines of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Engines(pub &'static [Engine]);

impl Engines {
    /// The engine of a name, if this run has it.
    pub fn get(self, name: &str) -> Option<Render> {
        self.0.iter().find(|engine| engine.name == name).map(|engine| engine.render)
    }
}
