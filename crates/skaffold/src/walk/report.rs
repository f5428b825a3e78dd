//! Problems reported by the walk: cycles, conflicts of profiles, unresolved names.

use super::{FileFrame, Walk};
use crate::item::Item;
use crate::load::{File, Format};
use crate::profile::Profiles;
use crate::requires::{Edge, Unsupported};
use crate::rules;
use ecow::EcoString;
use purlin_syntax::suggest::did_you_mean;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Severity, Span};
use std::rc::Rc;

impl<'f> Walk<'_, 'f> {
    /// A document that was visited before must be requested with the same profiles.
    pub(super) fn revisit(&mut self, visit: usize, active: &[EcoString], frame: &FileFrame<'f>, index: usize) {
        let Some(first) = self.visits.get(visit) else { return };
        let sorted = sorted(active);
        if sorted != first.profiles {
            let (name, path) = (label(&frame.file, index), frame.file.source.path());
            let span = frame.edge.or_else(|| frame.file.documents.get(index).map(|document| document.span));
            let message = format!(
                "`{name}` in `{path}` is required with profiles [{}] here, and with [{}] before",
                sorted.join(", "),
                first.profiles.join(", ")
            );
            let mut diagnostic = Diagnostic::nowhere(&rules::PROFILE_CONFLICT, message);
            diagnostic.span = span;
            for (edge, text) in self.chain(Some(visit)) {
                diagnostic = diagnostic.label(edge, format!("first: {text}"));
            }
            for (edge, text) in self.chain(frame.from) {
                diagnostic = diagnostic.through(edge, text);
            }
            let hint = "one configuration has one list of profiles per run; make the `activeProfiles` agree";
            self.loader.sink().push(diagnostic.hint(hint));
        } else if first.open {
            self.report_ring(visit, frame, &label(&frame.file, index));
        }
    }

    /// A requirement that leads back to its origin. If it was followed for images, only they can form a cycle, and that
    /// is checked when all of them are known.
    pub(super) fn report_ring(&self, visit: usize, frame: &FileFrame<'f>, name: &str) {
        let mut way: Vec<(Span, String)> = Vec::new();
        let mut at = frame.from;
        let mut for_artifact = frame.for_artifact;
        while let Some(current) = at {
            if current == visit {
                break;
            }
            let Some(step) = self.visits.get(current) else { break };
            for_artifact |= step.for_artifact;
            if let Some(edge) = step.edge {
                way.push((edge, "required here".to_owned()));
            }
            at = step.from;
        }
        if for_artifact {
            return;
        }
        let message = what::cycle([name]).words(format!("circular requirement: `{name}` requires itself"));
        let mut diagnostic = Diagnostic::nowhere(&rules::CYCLE, message);
        diagnostic.span = frame.edge;
        for (span, text) in way.into_iter().take(50) {
            diagnostic = diagnostic.through(span, text);
        }
        self.push_lenient(diagnostic.hint("remove one of the requirements"));
    }

    /// Problems the original passes over in silence: errors in native commands, warnings for it.
    pub(super) fn push_lenient(&self, mut diagnostic: Diagnostic) {
        if self.wanted.format == Format::Shipped {
            diagnostic.severity = Severity::Warning;
        }
        self.loader.sink().push(diagnostic);
    }

    pub(super) fn chain(&self, visit: Option<usize>) -> Vec<(Span, String)> {
        let mut found = Vec::new();
        let mut at = visit;
        while let Some(step) = at.and_then(|at| self.visits.get(at)) {
            if let Some(edge) = step.edge {
                found.push((edge, "required here".to_owned()));
            }
            if found.len() >= 50 {
                break;
            }
            at = step.from;
        }
        found
    }

    /// A profile that the kube-context switched on must not change the kube-context.
    pub(super) fn context_agrees(&self, item: &Item<'f>, profiles: &Profiles, fallback: Span) -> bool {
        if profiles.by_context.is_empty() || self.wanted.context_given {
            return true;
        }
        let Some(wanted) = item.view().at(&["deploy", "kubeContext"]) else { return true };
        let (effective, current) = (wanted.text(), &self.around.kube_context);
        if effective.is_empty() || effective == current.as_str() {
            return true;
        }
        let names: Vec<String> = profiles.by_context.iter().map(|name| format!("`{name}`")).collect();
        let message = format!(
            "profiles {} are active because the kube-context is `{current}`, but the effective kube-context is `{effective}`",
            names.join(", ")
        );
        let hint = "revise `profiles.activation` or `deploy.kubeContext`";
        let span = wanted.span().unwrap_or(fallback);
        self.loader.sink().push(Diagnostic::at(&rules::PROFILE, span, message).hint(hint));
        false
    }

    /// A source that is known but cannot be read.
    pub(super) fn report_unsupported(&self, source: &Unsupported, edge: &Edge) {
        let Unsupported { kind, what, span } = source;
        let message = what::lacking(format!("`{what}` cannot be read: Purlin"), "client for", kind);
        let mut diagnostic = Diagnostic::nowhere(&rules::SOURCE, message);
        diagnostic.span = span.or(edge.span);
        let hint = match *kind {
            "googleCloudStorage" => "copy it into the repository (`gcloud storage cp -r`) and require it by `path`",
            _ => "require the repository it connects to by `git`, or a checkout of it by `path`",
        };
        self.loader.sink().push(diagnostic.hint(hint));
    }

    /// Names that lead nowhere.
    pub(super) fn check_edge(&self, file: &Rc<File<'f>>, edge: &Edge) {
        for name in edge.names.iter().filter(|name| !file.has(name)) {
            let message = what::lacking(format!("`{}`", file.source.path()), "configuration named", name);
            let names = file.documents.iter().map(|document| document.name.as_str());
            let mut diagnostic = Diagnostic::nowhere(&rules::UNKNOWN_MODULE, message);
            diagnostic.span = edge.span;
            self.push_lenient(diagnostic.maybe_hint(did_you_mean(name, names)));
        }
        for name in &edge.profiles {
            let names = file.profile_names();
            if !names.contains(name) {
                let message = what::lacking(format!("`{}`", file.source.path()), "profile named", name);
                let mut diagnostic = Diagnostic::nowhere(&rules::UNKNOWN_PROFILE, message);
                diagnostic.span = edge.span;
                let hint = did_you_mean(name, names.iter().map(EcoString::as_str));
                self.push_lenient(diagnostic.maybe_hint(hint));
            }
        }
    }
}

/// Profiles in an order that does not depend on the request.
pub(super) fn sorted(profiles: &[EcoString]) -> Vec<EcoString> {
    let mut sorted = profiles.to_vec();
    sorted.sort_unstable();
    sorted
}

fn label(file: &File<'_>, index: usize) -> String {
    match file.documents.get(index) {
        Some(document) if !document.name.is_empty() => document.name.to_string(),
        _ => format!("index {index}"),
    }
}
