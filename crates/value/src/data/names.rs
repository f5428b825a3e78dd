//! Names beside origins: locations of declarations and uses, and which locations refer to the same declaration.
//!
//! An append-only table that dialects write during name lookup. It is off by default, since only editors and renaming
//! read it: a run that resolves or deploys pays one check of an empty option. It knows no dialect: kinds are words,
//! and the owner of a name is a text or a location.

use ecow::EcoString;
use purlin_syntax::{Node, Sources, Span, Style};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Kinds of names that several crates use; tables of types have labels of their own.
pub mod kind {
    /// An action of Garden, named `build.api`.
    pub const ACTION: &str = "action";
    /// A module of Garden.
    pub const MODULE: &str = "module";
    /// A variable of Garden.
    pub const VARIABLE: &str = "variable";
    /// A template of Garden.
    pub const TEMPLATE: &str = "template";
    /// An input of a template, or of a TOSCA service.
    pub const INPUT: &str = "input";
    /// An environment.
    pub const ENVIRONMENT: &str = "environment";
    /// A provider of Garden.
    pub const PROVIDER: &str = "provider";
    /// A project.
    pub const PROJECT: &str = "project";
    /// A step of a workflow.
    pub const STEP: &str = "step";
    /// A configuration of Skaffold.
    pub const CONFIG: &str = "configuration";
    /// A profile of Skaffold.
    pub const PROFILE: &str = "profile";
    /// An image that Skaffold builds.
    pub const IMAGE: &str = "image";
    /// A value of a chart, named by its dotted path.
    pub const VALUE: &str = "value";
    /// A template that a chart defines.
    pub const NAMED_TEMPLATE: &str = "named template";
    /// A chart.
    pub const CHART: &str = "chart";
    /// A resource of a kustomization.
    pub const RESOURCE: &str = "resource";
}

/// The declaration that a name refers to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NameId {
    /// The declaration whose key is written here.
    Place(Span),
    /// The declaration with this name in a namespace: the actions of a project, the inputs of one template.
    Named {
        /// Its kind.
        kind: &'static str,
        /// The namespace; empty if the project has only one of the kind.
        space: EcoString,
        /// The whole name.
        name: EcoString,
    },
}

impl NameId {
    /// The declaration with a name in a namespace.
    pub fn named(kind: &'static str, space: impl Into<EcoString>, name: impl Into<EcoString>) -> Self {
        NameId::Named { kind, space: space.into(), name: name.into() }
    }
}

/// The bytes of a scalar's text, without its quotes.
pub fn written(scalar: Node<'_>) -> Span {
    let span = scalar.span();
    let is_quoted = scalar.is_scalar() && matches!(scalar.style(), Style::Single | Style::Double);
    let inset = u32::from(is_quoted && span.end >= span.start + 2);
    Span::new(span.file, span.start + inset, span.end - inset)
}

/// The bytes of a key or a word without the quotes around it.
pub fn unquoted(span: Span, sources: &Sources) -> Span {
    let source = sources.get(span.file);
    let text = source.as_ref().and_then(|source| source.text().get(span.start as usize..span.end as usize));
    let is_quoted = text.is_some_and(|text| {
        text.len() >= 2 && ['"', '\''].iter().any(|quote| text.starts_with(*quote) && text.ends_with(*quote))
    });
    let inset = u32::from(is_quoted);
    Span::new(span.file, span.start + inset, span.end - inset)
}

/// Why a location that depends on a name cannot be edited.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Bound {
    /// The name is computed here.
    Computed,
    /// The whole mapping with the name as a key is read here.
    Whole,
    /// The name is part of a text that has another meaning as well, such as the name of a file.
    Text,
}

/// The role of a location for a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NameRole {
    /// A declaration; the span of the whole of it.
    Declares(Span),
    /// A use.
    Uses,
    /// A dependency that cannot be edited.
    Bound(Bound),
}

/// A name at a location.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NameMark {
    /// The bytes of its last part, which renaming replaces.
    pub span: Span,
    /// The declaration it refers to.
    pub id: NameId,
    /// The kind of the declaration.
    pub kind: &'static str,
    /// The whole name, as users write it (`build.api`, `image.tag`).
    pub name: EcoString,
    /// The role of the location.
    pub role: NameRole,
}

/// Everything recorded.
#[derive(Clone, Default, Debug)]
pub struct NoteBook {
    /// The names at their locations.
    pub marks: BTreeSet<NameMark>,
    /// Declarations that are one name: a variable of the project and the same one of an environment.
    pub same: BTreeSet<(NameId, NameId)>,
}

/// The table of names of a run. A copy refers to the same table.
#[derive(Clone, Default, Debug)]
pub struct Names(Option<Arc<Mutex<NoteBook>>>);

impl Names {
    /// A table that records names.
    pub fn on() -> Self {
        Names(Some(Arc::default()))
    }

    /// Whether names are recorded.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    fn book(&self) -> Option<MutexGuard<'_, NoteBook>> {
        Some(self.0.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn mark(&self, id: NameId, kind: &'static str, name: impl Into<EcoString>, span: Span, role: NameRole) {
        if let Some(mut book) = self.book() {
            book.marks.insert(NameMark { span, id, kind, name: name.into(), role });
        }
    }

    /// Records a declaration: the bytes of its name, and the whole of it.
    pub fn declare(&self, id: NameId, kind: &'static str, name: impl Into<EcoString>, span: Span, whole: Span) {
        self.mark(id, kind, name, span, NameRole::Declares(whole));
    }

    /// Records a use.
    pub fn uses(&self, id: NameId, kind: &'static str, name: impl Into<EcoString>, span: Span) {
        self.mark(id, kind, name, span, NameRole::Uses);
    }

    /// Records a location that depends on a name and cannot be edited.
    pub fn bound(&self, id: NameId, kind: &'static str, name: impl Into<EcoString>, span: Span, why: Bound) {
        self.mark(id, kind, name, span, NameRole::Bound(why));
    }

    /// Records that two declarations are one name.
    pub fn same(&self, one: NameId, other: NameId) {
        if one != other
            && let Some(mut book) = self.book()
        {
            book.same.insert((one, other));
        }
    }

    /// Takes everything recorded so far.
    pub fn take(&self) -> NoteBook {
        self.book().map(|mut book| std::mem::take(&mut *book)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use purlin_syntax::FileId;

    #[test]
    fn nothing_is_noted_unless_asked_for() {
        let span = Span::new(FileId(0), 0, 1);
        let note = |names: &Names| {
            names.declare(NameId::Place(span), kind::VARIABLE, "a", span, span);
            names.uses(NameId::Place(span), kind::VARIABLE, "a", span);
            names.uses(NameId::Place(span), kind::VARIABLE, "a", span);
            names.take().marks.len()
        };
        assert_eq!((note(&Names::default()), note(&Names::on())), (0, 2));
    }
}
