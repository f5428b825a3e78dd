//! Names beside origins: where a name is declared, where it is used, and which places mean the same declaration.
//!
//! An append-only table that dialects write where they look names up. It is off unless somebody asks for it, since
//! only editors and renaming read it: a run that resolves or deploys pays one check of an empty option. It knows no
//! dialect: kinds are words, and what a name belongs to is a text or a place.

use ecow::EcoString;
use purlin_syntax::{Node, Sources, Span, Style};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Kinds of names that several crates speak of; tables of types have labels of their own.
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
}

/// What a name stands for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NameId {
    /// The declaration whose key is written here.
    Place(Span),
    /// What has this name in a space of names: the actions of a project, the inputs of one template.
    Named {
        /// Its kind.
        kind: &'static str,
        /// The space of names; empty if the project has only one of the kind.
        space: EcoString,
        /// The whole name.
        name: EcoString,
    },
}

impl NameId {
    /// What has a name in a space of names.
    pub fn named(kind: &'static str, space: impl Into<EcoString>, name: impl Into<EcoString>) -> Self {
        NameId::Named { kind, space: space.into(), name: name.into() }
    }
}

/// The bytes of what a scalar says, without its quotes.
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

/// Why a place that depends on a name cannot be edited.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Bound {
    /// The name is computed here.
    Computed,
    /// The whole mapping with the name as a key is read here.
    Whole,
    /// The name is part of a text that means something else as well, such as the name of a file.
    Text,
}

/// What a place does with a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NameRole {
    /// Declares it; the whole declaration.
    Declares(Span),
    /// Uses it.
    Uses,
    /// Depends on it, but cannot be edited.
    Bound(Bound),
}

/// A name at a place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NameMark {
    /// The bytes of its last part, which renaming replaces.
    pub span: Span,
    /// What it stands for.
    pub id: NameId,
    /// What kind of thing that is.
    pub kind: &'static str,
    /// The whole name, as users speak of it (`build.api`, `image.tag`).
    pub name: EcoString,
    /// What the place does with it.
    pub role: NameRole,
}

/// Everything that was noted.
#[derive(Clone, Default, Debug)]
pub struct NoteBook {
    /// The names at their places.
    pub marks: BTreeSet<NameMark>,
    /// Declarations that are one name: a variable of the project and the same one of an environment.
    pub same: BTreeSet<(NameId, NameId)>,
}

/// The table of names of a run. A copy is the same table.
#[derive(Clone, Default, Debug)]
pub struct Names(Option<Arc<Mutex<NoteBook>>>);

impl Names {
    /// A table that is written.
    pub fn on() -> Self {
        Names(Some(Arc::default()))
    }

    /// Whether names are noted.
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

    /// Notes a declaration: the bytes of its name, and the whole of it.
    pub fn declare(&self, id: NameId, kind: &'static str, name: impl Into<EcoString>, span: Span, whole: Span) {
        self.mark(id, kind, name, span, NameRole::Declares(whole));
    }

    /// Notes a use.
    pub fn uses(&self, id: NameId, kind: &'static str, name: impl Into<EcoString>, span: Span) {
        self.mark(id, kind, name, span, NameRole::Uses);
    }

    /// Notes a place that depends on a name and cannot be edited.
    pub fn bound(&self, id: NameId, kind: &'static str, name: impl Into<EcoString>, span: Span, why: Bound) {
        self.mark(id, kind, name, span, NameRole::Bound(why));
    }

    /// Notes that two declarations are one name.
    pub fn same(&self, one: NameId, other: NameId) {
        if one != other
            && let Some(mut book) = self.book()
        {
            book.same.insert((one, other));
        }
    }

    /// Takes everything that was noted so far.
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
