//! Problems in types that the service does not use.
//!
//! Users of a library cannot correct it, and unused types do no harm: such problems become one warning per imported
//! file. A host that looks only at types of templates gets a warning for each in its own file, too. Must not know what
//! the problems are about.

use crate::edition::Standard;
use crate::entities;
use crate::entity::{Content, Entity};
use crate::model::Model;
use crate::names::DeclId;
use crate::problem::{Problem, Problems};
use crate::quirks;
use crate::read::Role;
use crate::rules;
use crate::val::Text;
use purlin_model::kinds::referred_kinds;
use purlin_model::schema::Kind;
use purlin_syntax::{Diagnostic, FileId, Span};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Replaces the problems of unused types by one warning per imported file.
pub fn collect(model: &Model, problems: &mut Problems) {
    if !model.quirks.allow_everywhere(quirks::UNUSED_PERMISSIVE) && !model.edition().is_extended() {
        return;
    }
    let declared = Declared::of(model);
    if declared.by_file.is_empty() || !problems.list().iter().any(|problem| declared.may_have(problem)) {
        return;
    }
    let used = used(model);
    let aside = problems.set_aside(|problem| {
        // Used or not: types that derive from each other are a mistake.
        let is_loop = problem.diagnostic.rule.name == rules::TYPE_LOOP.name && model.edition().is_extended();
        let mut holders = concerned(problem).filter_map(|span| declared.holder(span)).peekable();
        !is_loop && holders.peek().is_some() && holders.all(|id| !used.contains(&id))
    });
    let mut by_file: Vec<(FileId, Vec<Problem>)> = Vec::new();
    for problem in aside {
        let Some(span) = problem.diagnostic.span else { continue };
        if is_root(model, model.files.of(span.file)) {
            problems.add(Problem { diagnostic: problem.diagnostic.warning(), ..problem });
            continue;
        }
        match by_file.iter_mut().find(|(file, _)| *file == span.file) {
            Some((_, list)) => list.push(problem),
            None => by_file.push((span.file, vec![problem])),
        }
    }
    for (file, list) in by_file {
        let (names, others): (Vec<Problem>, Vec<Problem>) = list.into_iter().partition(is_ambiguous);
        let diagnostics = [summary(model, file, &others), ambiguous_names(model, file, &names)];
        diagnostics.into_iter().flatten().for_each(|diagnostic| problems.push(diagnostic));
    }
}

/// The files of a problem: an ambiguous name concerns both.
fn concerned(problem: &Problem) -> impl Iterator<Item = Span> {
    let diagnostic = &problem.diagnostic;
    let others = diagnostic.labels.iter().filter(|_| is_ambiguous(problem)).map(|label| label.span);
    diagnostic.span.into_iter().chain(others)
}

fn is_ambiguous(problem: &Problem) -> bool {
    problem.diagnostic.rule.name == rules::AMBIGUOUS.name
}

fn is_root(model: &Model, file: Option<usize>) -> bool {
    file.and_then(|file| model.files.list.get(file)).is_some_and(|file| file.role == Role::Root)
}

fn summary(model: &Model, file: FileId, list: &[Problem]) -> Option<Diagnostic> {
    let index = model.files.of(file)?;
    let path = &model.files.list.get(index)?.path;
    let count = if list.len() == 1 { "1 problem".to_owned() } else { format!("{} problems", list.len()) };
    let message = format!("library `{path}`: {count} in types this template does not use");
    Some(at_import(model, index, list, message)?.hint(format!("`purlin check {path}` shows them")))
}

/// Ambiguous names of a file. The file alone does not show them.
fn ambiguous_names(model: &Model, file: FileId, list: &[Problem]) -> Option<Diagnostic> {
    let index = model.files.of(file)?;
    let path = &model.files.list.get(index)?.path;
    let count = if list.len() == 1 { "1 name".to_owned() } else { format!("{} names", list.len()) };
    let message =
        format!("library `{path}`: {count} of types that another file declares, too; this template uses none");
    Some(at_import(model, index, list, message)?.hint("rename one of each, or import a file with a prefix"))
}

/// A warning at the import of a file, with the first of its problems.
fn at_import(model: &Model, index: usize, list: &[Problem], message: String) -> Option<Diagnostic> {
    let imports = model.files.list.iter().flat_map(|file| &file.imports);
    let at = imports.filter(|import| import.file == index).map(|import| import.at).next()?;
    let first = list.first()?;
    let diagnostic = Diagnostic::at(&rules::LIBRARY, at, message);
    Some(match first.diagnostic.span {
        Some(span) => diagnostic.label(span, first.diagnostic.message.clone()),
        None => diagnostic,
    })
}

/// The spans of types in imported files, and in a host's own file.
struct Declared {
    by_file: HashMap<FileId, Vec<(u32, u32, DeclId)>>,
}

impl Declared {
    fn of(model: &Model) -> Self {
        let mut by_file: HashMap<FileId, Vec<(u32, u32, DeclId)>> = HashMap::new();
        for (id, decl) in (0..).map(DeclId).zip(&model.names.decls) {
            let imported = model.files.list.get(decl.file).is_some_and(|file| file.role == Role::Imported);
            let own = model.edition().is_extended() && is_root(model, Some(decl.file));
            if (imported || own) && entities::is_type(decl.kind) {
                let (at, span) = (decl.entity.at, decl.entity.span);
                by_file.entry(at.file).or_default().push((at.start, span.end.max(at.end), id));
            }
        }
        by_file.values_mut().for_each(|list| list.sort_unstable());
        Declared { by_file }
    }

    fn may_have(&self, problem: &Problem) -> bool {
        problem.diagnostic.span.is_some_and(|span| self.by_file.contains_key(&span.file))
    }

    /// The type declared at a location.
    fn holder(&self, span: Span) -> Option<DeclId> {
        let list = self.by_file.get(&span.file)?;
        let before = list.partition_point(|(start, _, _)| *start <= span.start);
        let (_, end, id) = list.get(before.checked_sub(1)?)?;
        (span.end <= *end).then_some(*id)
    }
}

/// All declarations that the root files name, directly or indirectly. Of a host's files only templates count.
fn used(model: &Model) -> HashSet<DeclId> {
    let mut used = HashSet::new();
    let mut waiting: Vec<Arc<Entity>> = Vec::new();
    if model.edition().is_extended() {
        let files = model.files.list.iter().filter(|file| file.role != Role::Profile);
        waiting.extend(files.filter_map(|file| file.entity.one("service_template")).cloned());
        while let Some(entity) = waiting.pop() {
            named_in(model, &entity, &mut used, &mut waiting);
        }
        return used;
    }
    for root in model.files.list.iter().filter(|file| file.role == Role::Root) {
        named_in(model, &root.entity, &mut used, &mut waiting);
    }
    while let Some(entity) = waiting.pop() {
        named_in(model, &entity, &mut used, &mut waiting);
    }
    used
}

/// The declarations that an entity names. The table bounds the nesting to a few levels.
fn named_in(model: &Model, entity: &Entity, used: &mut HashSet<DeclId>, waiting: &mut Vec<Arc<Entity>>) {
    let row = entities::row(entity.kind);
    let own = [entity.kind];
    // A host checks the type that a requirement asks for only where a template has it.
    let is_asked = entity.edition.is_extended() && entity.kind == entities::REQUIREMENT_DEFINITION;
    for slot in entity.slots.iter().filter(|slot| !is_asked || slot.name != "node") {
        let mut mention = |text: &Text| {
            let field = row.field_of(slot.name, entity.edition);
            let kinds: &[Kind] = field.and_then(|field| referred_kinds(&field.shape, &own)).unwrap_or(&own);
            for id in kinds.iter().filter_map(|kind| model.find(*kind, text)) {
                if let Some(decl) = model.names.decl(id).filter(|_| used.insert(id)) {
                    waiting.push(decl.entity.clone());
                }
            }
        };
        match &slot.content {
            Content::Text(text) => mention(text),
            Content::Texts(texts) => texts.iter().for_each(mention),
            Content::One(inner) => named_in(model, inner, used, waiting),
            Content::Map(defs) => defs.own().values().for_each(|inner| named_in(model, inner, used, waiting)),
            Content::List(list) => list.iter().for_each(|inner| named_in(model, inner, used, waiting)),
            _ => {}
        }
    }
}
