//! Completion inside embedded languages: lookups of Garden, values and functions of charts, filters of ensembles.

use crate::Ide;
use crate::complete::{ProposalKind, Proposals};
use crate::context::{Context, Language};
use crate::facts::{Facts, Mark, kind};
use crate::functions::functions;
use crate::likely::Surroundings;
use purlin_compiler::SchemaOf;
use purlin_garden::config::ActionKind;
use purlin_garden::phases::KEYS;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Ide {
    /// Proposals in the expression at the cursor.
    pub(crate) fn complete_expression<'c>(&self, context: &'c Context) -> Option<Proposals<'c>> {
        let inside = context.inside.as_ref()?;
        let before = context.text.get(inside.range.start..context.offset)?;
        let after = context.text.get(context.offset..inside.range.end).unwrap_or("");
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let path_start = before
            .rfind(|c: char| !is_part(c) && c != '.' && c != '$')
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let path = &before[path_start..];
        let word_start = path.rfind('.').map_or(path_start, |at| path_start + at + 1);
        let word_end = context.offset + after.find(|c: char| !is_part(c)).unwrap_or(after.len());
        // A name in quotes is replaced as a whole, with its dots.
        let quoted =
            before.rfind('"').filter(|_| inside.language == Language::Go && before.matches('"').count() % 2 == 1);
        let (word_start, word_end) = match quoted {
            Some(quote) => (quote + 1, context.offset + after.find(['"', ' ']).unwrap_or(after.len())),
            None => (word_start, word_end),
        };
        let mut proposals = Proposals::new(context, inside.range.start + word_start..word_end.max(context.offset));
        let parts: Vec<&str> = path.split('.').collect();
        let related = self.related(&context.file);
        match inside.language {
            Language::Garden => self.garden_lookup(&parts, &related, &mut proposals),
            Language::Go => self.go_lookup(before, path, &related, &mut proposals),
            Language::Jinja => jinja(&related, &mut proposals),
        }
        Some(proposals)
    }

    fn garden_lookup(&self, parts: &[&str], related: &[Arc<Facts>], proposals: &mut Proposals<'_>) {
        let (_, above) = parts.split_last().unwrap_or((&"", &[]));
        match above {
            [] => {
                for key in KEYS {
                    let often = often(related, key.name);
                    proposals.add(key.name, ProposalKind::Field, key.phase, &key.sentence(), 100 + often);
                }
                for known in functions(Language::Garden) {
                    proposals.add(known.name, ProposalKind::Function, &known.label, known.doc, 50);
                }
            }
            ["actions"] => {
                for action in ActionKind::ALL {
                    proposals.add(action.lower(), ProposalKind::Field, "kind of action", "", 100);
                }
            }
            ["actions", of] => {
                let prefix = format!("{of}.");
                self.declared(related, kind::ACTION, proposals, |name| name.strip_prefix(&prefix).map(str::to_owned));
            }
            ["actions", of, name] => {
                for (word, doc) in ACTION_FIELDS {
                    proposals.add(word, ProposalKind::Field, &format!("of {of}.{name}"), doc, 100);
                }
            }
            ["actions", of, name, "outputs"] => self.outputs(&format!("{of}.{name}"), proposals),
            ["runtime"] => {
                proposals.add("services", ProposalKind::Field, "", "Outputs of Deploys.", 100);
                proposals.add("tasks", ProposalKind::Field, "", "Outputs of Runs.", 90);
            }
            ["runtime", of] => {
                let prefix = if *of == "services" { "deploy." } else { "run." };
                self.declared(related, kind::ACTION, proposals, |name| name.strip_prefix(prefix).map(str::to_owned));
            }
            ["runtime", of, name] => {
                proposals.add("outputs", ProposalKind::Field, &format!("of {of}.{name}"), "", 100);
            }
            ["runtime", of, name, "outputs"] => {
                let prefix = if *of == "services" { "deploy" } else { "run" };
                self.outputs(&format!("{prefix}.{name}"), proposals);
            }
            ["var" | "variables", rest @ ..] => {
                let prefix = rest.iter().map(|part| format!("{part}.")).collect::<String>();
                self.declared(related, kind::VARIABLE, proposals, |name| {
                    let rest = name.strip_prefix(&prefix)?;
                    (!rest.contains('.')).then(|| rest.to_owned())
                });
            }
            ["inputs"] => self.declared(related, kind::INPUT, proposals, |name| Some(name.to_owned())),
            ["modules"] => self.declared(related, kind::MODULE, proposals, |name| Some(name.to_owned())),
            ["providers"] => self.declared(related, kind::PROVIDER, proposals, |name| Some(name.to_owned())),
            [first] | [first, "value"] => {
                let fields = purlin_garden::phases::fields(first);
                for (index, field) in fields.iter().enumerate() {
                    let score = 100u32.saturating_sub(u32::try_from(index).unwrap_or(0));
                    proposals.add(
                        field,
                        ProposalKind::Field,
                        &format!("of `{first}`"),
                        "",
                        score + often(related, field),
                    );
                }
            }
            ["modules", _] => {
                for word in ["outputs", "var", "version", "path", "name", "buildPath"] {
                    proposals.add(word, ProposalKind::Field, "of a module", "", 100);
                }
            }
            ["providers", _] => {
                proposals.add("config", ProposalKind::Field, "of a provider", "", 100);
                proposals.add("outputs", ProposalKind::Field, "of a provider", "", 100);
            }
            _ => {}
        }
    }

    /// Names of a kind that satisfy a filter.
    fn declared(
        &self,
        related: &[Arc<Facts>],
        of: &str,
        proposals: &mut Proposals<'_>,
        shown: impl Fn(&str) -> Option<String>,
    ) {
        let here = Surroundings::of(proposals.context);
        let used = used(related, of, &proposals.context.file, &here);
        let worth = |text: &str, uses: Option<&Uses>| match uses {
            Some(uses) => uses.often.min(60) * 5 + uses.nearby + here.fits(text),
            None => UNUSED + here.fits(text),
        };
        for facts in related {
            for mark in facts.declared.iter().filter(|mark| mark.kind == of) {
                if let Some(text) = shown(&mark.name) {
                    let score = 1_000 + worth(&text, used.get(mark.name.as_str()));
                    let detail = format!("{of} in {}", facts.source.path());
                    proposals.add(&text, ProposalKind::Name, &detail, "", score);
                }
            }
        }
        // Used names without a declaration may come from a missing chart, or from values files of users.
        if matches!(of, kind::VALUE | kind::NAMED_TEMPLATE) {
            for (name, uses) in &used {
                if let Some(text) = shown(name).filter(|text| !text.is_empty()) {
                    let score = 900 + worth(&text, Some(uses));
                    proposals.add(&text, ProposalKind::Name, "used in this chart", "", score);
                }
            }
        }
    }

    /// Outputs of an action, as far as they are known.
    fn outputs(&self, id: &str, proposals: &mut Proposals<'_>) {
        let picture = self.picture();
        for outcome in &picture.outcomes {
            let node = outcome.good().resolved.as_ref().and_then(|resolved| resolved.node(id));
            let Some(outputs) = node.and_then(|node| node.outputs.as_map()) else { continue };
            for name in outputs.keys() {
                proposals.add(name, ProposalKind::Field, &format!("output of {id}"), "", 500);
            }
        }
        for spec in purlin_garden::entities::SPEC_TYPES {
            for name in spec.static_outputs {
                proposals.add(name, ProposalKind::Field, "output", "", 10);
            }
        }
    }

    fn go_lookup(&self, before: &str, path: &str, related: &[Arc<Facts>], proposals: &mut Proposals<'_>) {
        if let Some(rest) = path.split_once(".Values.").map(|(_, rest)| rest) {
            let prefix = rest.rsplit_once('.').map_or(String::new(), |(above, _)| format!("{above}."));
            return self.declared(related, kind::VALUE, proposals, |name| {
                let rest = name.strip_prefix(&prefix)?;
                (!rest.contains('.')).then(|| rest.to_owned())
            });
        }
        if let Some(rest) = path.strip_prefix('.').or_else(|| path.strip_prefix("$.")) {
            let is_skaffold = matches!(proposals.context.of, Some(SchemaOf::Skaffold(_)));
            let fields: &[&str] = match rest.split_once('.') {
                None if is_skaffold => SKAFFOLD_FIELDS,
                None => &["Values", "Release", "Chart", "Files", "Capabilities", "Template", "Subcharts"],
                Some(("Release", _)) => &["Name", "Namespace", "Revision", "IsUpgrade", "IsInstall", "Service"],
                Some(("Chart", _)) => &["Name", "Version", "AppVersion", "Type", "Description", "Annotations"],
                Some(("Files", _)) => &["Get", "GetBytes", "Glob", "Lines", "AsConfig", "AsSecrets"],
                Some(("Capabilities", _)) => &["KubeVersion", "APIVersions", "HelmVersion"],
                Some(("Template", _)) => &["Name", "BasePath"],
                Some(_) => &[],
            };
            for (index, field) in fields.iter().enumerate() {
                let score = 100u32.saturating_sub(u32::try_from(index).unwrap_or(0));
                proposals.add(field, ProposalKind::Field, "", "", score);
            }
            return;
        }
        let is_name = ["include \"", "template \"", "include ", "template "]
            .iter()
            .any(|word| before.rfind(word).is_some_and(|at| !before[at + word.len()..].contains(['"', ' ', ')'])));
        if is_name {
            return self.declared(related, kind::NAMED_TEMPLATE, proposals, |name| Some(name.to_owned()));
        }
        for word in ["if", "else", "end", "range", "with", "define", "template", "block"] {
            proposals.add(word, ProposalKind::Word, "keyword", "", 60);
        }
        for known in functions(Language::Go) {
            let often =
                if matches!(known.name, "include" | "toYaml" | "nindent" | "quote" | "default") { 50 } else { 0 };
            proposals.add(known.name, ProposalKind::Function, &known.label, known.doc, 20 + often);
        }
    }
}

/// Fields in Skaffold's templates, besides environment variables.
const SKAFFOLD_FIELDS: &[&str] = &[
    "IMAGE_REPO",
    "IMAGE_TAG",
    "IMAGE_FULLY_QUALIFIED",
    "IMAGE_NAME",
    "IMAGE_DIGEST",
    "IMAGE_DOMAIN",
    "IMAGE_REPO_NO_DOMAIN",
];

/// Fields of every action in a lookup.
const ACTION_FIELDS: &[(&str, &str)] = &[
    ("outputs", "Its outputs."),
    ("var", "Its variables."),
    ("version", "Its version."),
    ("name", "Its name."),
    ("disabled", "Whether it is switched off."),
    ("mode", "The mode it is in."),
    ("buildPath", "The folder it is built in."),
    ("sourcePath", "The folder of its source."),
];

/// A declaration without uses is likely to be used next.
const UNUSED: u32 = 150;

/// The uses of a name.
#[derive(Default)]
struct Uses {
    /// Number of uses; uses in the same file count more.
    often: u32,
    /// Score of the nearest use in the file.
    nearby: u32,
}

/// The uses of names of a kind. A path of values counts for all its prefixes.
fn used<'f>(related: &'f [Arc<Facts>], of: &str, file: &str, here: &Surroundings) -> BTreeMap<&'f str, Uses> {
    /// The weight of uses in the same file.
    const HERE: u32 = 6;
    let mut found: BTreeMap<&str, Uses> = BTreeMap::new();
    for facts in related {
        let is_here = facts.source.path() == file;
        // The text being written does not count as a use.
        let is_other = |mark: &&Mark| !is_here || !here.touches(&mark.bytes);
        for mark in facts.mentioned.iter().filter(|mark| mark.kind == of).filter(is_other) {
            let name = mark.name.as_str();
            let above = name.match_indices('.').filter(|_| of == kind::VALUE).filter_map(|(at, _)| name.get(..at));
            for name in std::iter::once(name).chain(above) {
                let uses = found.entry(name).or_default();
                uses.often += if is_here { HERE } else { 1 };
                if is_here {
                    uses.nearby = uses.nearby.max(here.nearby(&mark.bytes));
                }
            }
        }
    }
    found
}

/// Number of lookups that contain a word.
fn often(related: &[Arc<Facts>], word: &str) -> u32 {
    related.iter().filter_map(|facts| facts.words.get(word)).sum::<u32>().min(1_000)
}

fn jinja(related: &[Arc<Facts>], proposals: &mut Proposals<'_>) {
    for known in functions(Language::Jinja) {
        proposals.add(known.name, ProposalKind::Function, &known.label, known.doc, 20);
    }
    for test in purlin_unfurl::jinja::TESTS.iter().filter(|test| test.name.starts_with(char::is_alphabetic)) {
        proposals.add(test.name, ProposalKind::Function, &format!("is {}", test.signature()), test.summary, 50);
    }
    for function in purlin_unfurl::functions::FUNCTIONS {
        let takes = purlin_unfurl::functions::takes(function);
        proposals.add(function.name, ProposalKind::Function, &takes, function.summary, 30);
    }
    for word in ["SELF", "HOST", "SOURCE", "TARGET", "ORCHESTRATOR", "ROOT", "inputs", "outputs"] {
        proposals.add(word, ProposalKind::Field, "", "", 100);
    }
    for facts in related {
        for mark in facts.declared.iter().filter(|mark| matches!(mark.kind, "node template" | kind::INPUT)) {
            proposals.add(&mark.name, ProposalKind::Name, mark.kind, "", 60);
        }
    }
}
