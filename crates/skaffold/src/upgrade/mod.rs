//! Brings older documents up to date: one small rule per step of the chain that changes anything.
//!
//! A rule works on one pipeline (the document's own, a profile's, a module's) and is written in the words of the
//! edition it starts from. Keys that the next edition simply dropped need no rule: they are not written out. It must
//! not know files or profiles' conditions.

mod alpha;
mod beta;
mod split;

use crate::editions;
use crate::editions::*;
use crate::item::{Form, Item, View};
use crate::rules;
use purlin_syntax::{Diagnostic, Sink, Span};

/// Context of a rule.
pub struct Step<'s> {
    /// Receives the parts that cannot be kept.
    sink: &'s Sink,
    /// Place of the document.
    place: Span,
    /// Name of the profile the pipeline belongs to, if it does.
    profile: Option<String>,
    failed: bool,
}

type Rule = for<'f> fn(&mut Item<'f>, &mut Step<'_>);

/// The steps that change pipelines, in order; each runs for documents of its edition or older.
const RULES: &[(Edition, Rule)] = &[
    (V1ALPHA1, alpha::sections),
    (V1ALPHA2, alpha::kaniko_bucket),
    (V1ALPHA2, alpha::values_files),
    (V1ALPHA3, alpha::names),
    (V1ALPHA5, alpha::azure),
    (V1BETA4, beta::buildkit),
    (V1BETA6, beta::kaniko),
    (V1BETA8, beta::plugins),
    (V1BETA9, beta::sync),
    (V1BETA13, beta::jib),
    (V2ALPHA1, beta::init_image),
    (V2ALPHA2, beta::kustomize_paths),
    (V2BETA3, beta::artifact_overrides),
    (V2BETA4, beta::renames),
    (V2BETA8, beta::auto_sync),
    (V2BETA12, beta::remote_charts),
    (V2BETA16, beta::secret_targets),
    (V2BETA22, beta::secrets),
    (V2BETA27, beta::ko_platforms),
    (V2BETA29, split::pipeline),
    (V3, beta::remote_manifests),
];

/// Brings a document from one edition to a newer one. False if it cannot be done, which is reported.
pub fn upgrade(config: &mut Item<'_>, from: Edition, to: Edition, sink: &Sink, place: Span) -> bool {
    let mut step = Step { sink, place, profile: None, failed: false };
    for (edition, rule) in RULES.iter().filter(|(edition, _)| from <= *edition && *edition < to) {
        // The paths of patches are written for the pipeline before it changes shape.
        if *edition == V2BETA29 {
            split::patches(config);
        }
        each_pipeline(config, &mut step, *rule);
    }
    config.set("apiVersion", Item::text(editions::api_version(to)));
    !step.failed
}

/// Runs a rule on the document itself, on each of its profiles and on each module written in it.
fn each_pipeline(config: &mut Item<'_>, step: &mut Step<'_>, rule: Rule) {
    step.profile = None;
    rule(config, step);
    for key in ["profiles", "modules"] {
        let Some(list) = config.get_mut(key).filter(|list| list.view().form() == Form::List) else { continue };
        for item in list.list().iter_mut().filter(|item| item.view().form() == Form::Map) {
            step.profile = (key == "profiles").then(|| item.view().text_of("name").into_owned());
            rule(item, step);
        }
    }
}

impl Step<'_> {
    fn fail(&mut self, at: View<'_, '_>, message: &str, hint: &str) {
        self.failed = true;
        let span = at.span().unwrap_or(self.place);
        self.sink.push(Diagnostic::at(&rules::UPGRADE, span, message).hint(hint));
    }

    fn warn(&self, at: Option<Span>, message: &str) {
        self.sink.push(Diagnostic::at(&rules::UPGRADE_LOSS, at.unwrap_or(self.place), message));
    }
}

/// Runs on each map of a list under a path of keys.
fn each<'f>(item: &mut Item<'f>, path: &[&str], run: &mut dyn FnMut(&mut Item<'f>)) {
    match path.split_first() {
        Some((key, rest)) => {
            if let Some(next) = item.get_mut(key) {
                each(next, rest, run);
            }
        }
        None if item.view().form() == Form::List => {
            item.list().iter_mut().filter(|item| item.view().form() == Form::Map).for_each(run);
        }
        None => {}
    }
}

fn each_artifact<'f>(pipeline: &mut Item<'f>, run: &mut dyn FnMut(&mut Item<'f>)) {
    each(pipeline, &["build", "artifacts"], run);
}

fn each_release<'f>(pipeline: &mut Item<'f>, run: &mut dyn FnMut(&mut Item<'f>)) {
    each(pipeline, &["deploy", "helm", "releases"], run);
}
