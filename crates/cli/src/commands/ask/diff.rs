//! `purlin diff`: compares two sides of a project and shows the cause of each difference.

use crate::args::{DiffOutput, Target};
use crate::commands::Context;
use crate::commands::check::worse;
use crate::commands::files::difference;
use crate::commands::resolve::{Side, compile_rendered, resolve_all};
use crate::invocation::Exit;
use crate::paint::Answer;
use purlin_compiler::{Difference, cause_text, compared, diff, differences_value, hidden_alike, in_variants, wholes};
use purlin_host::named;
use purlin_model::Resolved;
use purlin_run::mask::Mask;
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::{to_json, to_yaml};
use purlin_value::{Secrets, Value};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The options of the other side.
pub(in crate::commands) struct Other {
    pub to_path: Option<PathBuf>,
    pub to_rev: Option<String>,
    pub to_env: Option<String>,
    pub to_profile: Vec<String>,
    pub to_var: Vec<String>,
    pub to_values: Vec<String>,
    pub to_set: Vec<String>,
    pub to_input: Vec<String>,
}

impl Other {
    /// Whether the other side is another state of the files: a revision, or another folder.
    fn is_another_state(&self, target: &Target) -> bool {
        self.to_path.is_some() || self.to_rev.is_some() || target.rev.is_some()
    }

    /// Whether an environment, a profile or a values file is named, on either side.
    fn names_variant(&self, target: &Target) -> bool {
        let lists = [&self.to_profile, &self.to_values, &target.profile, &target.values];
        self.to_env.is_some() || target.env.is_some() || lists.iter().any(|list| !list.is_empty())
    }

    /// Whether any option selects another side.
    fn is_another(&self, target: &Target) -> bool {
        let lists = [&self.to_profile, &self.to_var, &self.to_values, &self.to_set, &self.to_input];
        self.to_path.is_some()
            || self.to_env.is_some()
            || self.to_rev.is_some()
            || target.rev.is_some()
            || lists.iter().any(|list| !list.is_empty())
    }
}

/// Prints the differences; 1 means that there are some.
pub(in crate::commands) fn run(
    cx: &mut Context<'_, '_>,
    path: &Path,
    other: &Other,
    target: &Target,
    output: DiffOutput,
) -> Result<Exit, Exit> {
    if let Some(hint) = meant_as_names(cx, path, other, target) {
        return Err(cx.usage(&hint));
    }
    if !other.is_another(target) {
        return Err(cx.usage(
            "name the other side: `--to-env`, `--to-profile`, `--to-var`, `--to-values`, `--to-set`, `--to-input`, \
             `--to-path`, or a revision with `--rev` or `--to-rev`",
        ));
    }
    let all = other.is_another_state(target) && !other.names_variant(target);
    let before = State::at(cx, path, target, all).map_err(as_error)?;
    cx.prefix = "to-";
    let other_path = other.to_path.as_deref().unwrap_or(path);
    let after = State::at(cx, other_path, &other_target(target, other), all).map_err(as_error)?;
    let compared = Compared::of(&before, &after);
    let text = match output {
        DiffOutput::Json => cx.json(&compared.value())?,
        DiffOutput::Text => compared.text(),
        DiffOutput::Yaml => compared.unified(),
        DiffOutput::Markdown => compared.markdown(),
    };
    let printed = cx.print_answer(&text, (output == DiffOutput::Text).then_some(Answer::Diff));
    let broken: Vec<&str> = before.broken.iter().chain(&after.broken).map(String::as_str).collect();
    if !broken.is_empty() {
        let names = variant_names(broken.into_iter());
        let _ = writeln!(cx.invocation.stderr, "not compared, because of the errors above: {names}");
        return Ok(as_error(worse(before.exit, after.exit)));
    }
    match printed {
        Exit::Ok if !compared.is_empty() => Ok(Exit::Invalid),
        exit => Ok(exit),
    }
}

/// Errors exit with 2 here.
fn as_error(exit: Exit) -> Exit {
    if exit == Exit::Invalid { Exit::Other(2) } else { exit }
}

/// One side of the comparison.
struct State {
    /// The variants that could be resolved: all if two states of the files are compared, otherwise the requested one.
    sides: Vec<Side>,
    /// The names of the other variants.
    broken: Vec<String>,
    /// The exit code of the reported problems.
    exit: Exit,
}

impl State {
    fn at(cx: &mut Context<'_, '_>, path: &Path, target: &Target, all: bool) -> Result<State, Exit> {
        if !all {
            let (session, compiled) = compile_rendered(cx, path, target)?;
            let side = Side { name: String::new(), session, resolved: compiled.resolved };
            return Ok(State { sides: vec![side], broken: Vec::new(), exit: Exit::Ok });
        }
        let (session, sides) = resolve_all(cx, path, target)?;
        let is_broken = |side: &Option<Side>, name: &String| side.is_none().then(|| name.clone());
        let broken = sides.iter().filter_map(|(name, side)| is_broken(side, name)).collect();
        let exit = cx.report(&session);
        let sides: Vec<Side> = sides.into_iter().filter_map(|(_, side)| side).collect();
        if sides.is_empty() {
            return Err(worse(Exit::Invalid, exit));
        }
        Ok(State { sides, broken, exit })
    }
}

/// The result of comparing two sides.
struct Compared<'s> {
    /// Variants that both sides have, each with its differences.
    pairs: Vec<(&'s Side, &'s Side, Vec<Difference>)>,
    /// All differences, each once.
    found: Vec<Difference>,
    /// Variants that exist only on the other side.
    added: Vec<&'s str>,
    /// Variants that exist only on this side.
    removed: Vec<&'s str>,
}

impl<'s> Compared<'s> {
    fn of(before: &'s State, after: &'s State) -> Self {
        let named = |sides: &'s [Side], name: &str| sides.iter().find(|side| side.name == name);
        let pairs: Vec<(&Side, &Side, Vec<Difference>)> = before
            .sides
            .iter()
            .filter_map(|one| Some((one, named(&after.sides, &one.name)?)))
            .map(|(one, two)| (one, two, diff((&one.session, &one.resolved), (&two.session, &two.resolved))))
            .collect();
        let found = in_variants(pairs.iter().map(|(one, _, found)| (one.name.clone(), found.clone())).collect());
        let only = |one: &'s State, other: &'s State| -> Vec<&'s str> {
            let is_there = |name: &&str| named(&other.sides, name).is_some() || other.broken.iter().any(|n| n == name);
            one.sides.iter().map(|side| side.name.as_str()).filter(|name| !is_there(name)).collect()
        };
        Compared { pairs, found, added: only(after, before), removed: only(before, after) }
    }

    fn is_empty(&self) -> bool {
        self.found.is_empty() && self.added.is_empty() && self.removed.is_empty()
    }

    fn value(&self) -> Value {
        differences_value(&self.found, &self.added, &self.removed)
    }

    /// `+ variant staging`: variants that exist on one side only.
    fn unpaired(&self) -> String {
        let signs = [('+', &self.added), ('-', &self.removed)];
        let line =
            |(sign, name): (char, &&str)| format!("{sign} variant {}\n", if name.is_empty() { "(none)" } else { name });
        signs.into_iter().flat_map(|(sign, names)| names.iter().map(move |name| (sign, name))).map(line).collect()
    }

    fn text(&self) -> String {
        self.unpaired() + &by_cause(&self.found).iter().map(told).collect::<String>()
    }

    fn markdown(&self) -> String {
        let unpaired = self.unpaired();
        let unpaired = if unpaired.is_empty() { unpaired } else { format!("~~~diff\n{unpaired}~~~\n\n") };
        if !unpaired.is_empty() && self.found.is_empty() { unpaired } else { unpaired + &markdown(&self.found) }
    }

    /// The different nodes as YAML, once for all variants with the same differences.
    fn unified(&self) -> String {
        let mut texts: Vec<(String, Vec<&str>)> = Vec::new();
        for (before, after, found) in &self.pairs {
            let text = unified(&before.resolved, &after.resolved, found);
            match texts.iter_mut().find(|(known, _)| *known == text) {
                Some((_, names)) => names.push(&before.name),
                None => texts.push((text, vec![&before.name])),
            }
        }
        let heading = |names: &[&str]| match names.len() == self.pairs.len() {
            true => String::new(),
            false => format!("# {}\n", variant_names(names.iter().copied())),
        };
        let told = texts.iter().filter(|(text, _)| !text.is_empty());
        self.unpaired() + &told.map(|(text, names)| heading(names) + text).collect::<String>()
    }
}

/// `dev, prod`; the project by itself has no name.
fn variant_names<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let shown: Vec<&str> = names.map(|name| if name.is_empty() { "by itself" } else { name }).collect();
    shown.join(", ")
}

/// A hint if a word in the place of a path does not exist on disk: most likely it is an environment.
fn meant_as_names(cx: &Context<'_, '_>, path: &Path, other: &Other, target: &Target) -> Option<String> {
    let there = other.to_path.as_deref();
    let is_missing = |path: &Path| !named::exists(&cx.invocation.cwd.join(path));
    // A revision may contain deleted files; and if an option selects the other side, the word is a path.
    let is_path = target.rev.is_some() || other.to_rev.is_some() || (there.is_none() && other.is_another(target));
    if is_path || !(is_missing(path) || there.is_some_and(is_missing)) {
        return None;
    }
    let (one, two) = (path.display().to_string(), there.map(|path| path.display().to_string()));
    let (missing, one, two) = match two {
        Some(two) if is_missing(path) => (one.clone(), one, two),
        Some(two) => (two.clone(), one, two),
        None => (one.clone(), "A".to_owned(), one),
    };
    Some(format!(
        "`{missing}` is not a file or folder\n = hint: use `--env {one} --to-env {two}` to compare environments, \
         `--profile {one} --to-profile {two}` for profiles, `--rev {one} --to-rev {two}` for git revisions"
    ))
}

fn other_target(target: &Target, other: &Other) -> Target {
    let mut there = target.clone();
    there.rev.clone_from(&other.to_rev);
    if other.to_env.is_some() {
        there.env.clone_from(&other.to_env);
    }
    there.profile.extend(other.to_profile.iter().cloned());
    there.var.extend(other.to_var.iter().cloned());
    there.values.extend(other.to_values.iter().cloned());
    there.set.extend(other.to_set.iter().cloned());
    there.input.extend(other.to_input.iter().cloned());
    there
}

/// Parts of a project that are compared and are not nodes.
const OF_PROJECT: &[&str] = &["variables", "outputs"];

/// Differences with the same cause.
struct Group<'d> {
    /// The location of the cause, on both sides.
    cause: String,
    places: Vec<&'d Difference>,
}

/// The cause of differences that come from no line of a file, no option and no variable.
const NO_CAUSE: &str = "(computed)";

/// Groups differences by cause, in order of appearance.
fn by_cause(found: &[Difference]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut known = std::collections::HashMap::new();
    for difference in found {
        let cause = cause_text(difference);
        let at = *known.entry(cause.clone()).or_insert_with(|| {
            groups.push(Group { cause, places: Vec::new() });
            groups.len() - 1
        });
        groups[at].places.push(difference);
    }
    groups
}

/// The node and field, and the variants that have the difference if not all do.
fn place_of(difference: &Difference) -> String {
    let place = format!("{} {}", difference.node, difference.field).trim_end().to_owned();
    match difference.variants.as_slice() {
        [] => place,
        names => format!("{place} ({})", variant_names(names.iter().map(String::as_str))),
    }
}

/// The old and the new value, each with its sign. A whole node is not printed.
fn sides(difference: &Difference) -> Vec<(char, String)> {
    if let Some(old) = &difference.renamed_from {
        return vec![('-', old.clone()), ('+', difference.node.clone())];
    }
    let is_whole = difference.field.is_empty() && !OF_PROJECT.contains(&difference.node.as_str());
    let show = |value: &Value| match is_whole {
        true => "the whole node".to_owned(),
        false => to_json(value, Secrets::Hide, JsonLayout::Compact).unwrap_or_default(),
    };
    if let Some(lines) = difference.before.as_ref().zip(difference.after.as_ref()).and_then(changed_lines) {
        return lines;
    }
    let sides = [('-', &difference.before), ('+', &difference.after)];
    sides.into_iter().filter_map(|(sign, side)| Some((sign, show(side.as_ref()?)))).collect()
}

/// Lines shown around a changed line of a text.
const AROUND: usize = 1;

/// The lines that differ between two texts of several lines, such as files in a ConfigMap. Texts that differ in nothing
/// but line breaks are shown whole.
fn changed_lines((before, after): (&Value, &Value)) -> Option<Vec<(char, String)>> {
    if before.is_tainted() || after.is_tainted() {
        return None;
    }
    let (before, after) = (before.as_str()?, after.as_str()?);
    if !(before.trim_end().contains('\n') || after.trim_end().contains('\n')) || before.lines().eq(after.lines()) {
        return None;
    }
    let diff = similar::TextDiff::from_lines(before, after);
    let groups = diff.grouped_ops(AROUND);
    let mut lines = Vec::new();
    for group in &groups {
        if groups.len() > 1 || group.first().is_some_and(|op| op.new_range().start > 0) {
            let first = group.first().map_or(0, |op| op.new_range().start);
            lines.push(('@', format!("line {}", first + 1)));
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                similar::ChangeTag::Equal => ' ',
                similar::ChangeTag::Delete => '-',
                similar::ChangeTag::Insert => '+',
            };
            lines.push((sign, change.value().trim_end_matches(['\r', '\n']).to_owned()));
        }
    }
    Some(lines)
}

fn told(group: &Group<'_>) -> String {
    let mut out = String::new();
    let count = group.places.len();
    let times = if count == 1 { String::new() } else { format!(" ({count} places)") };
    let cause = if group.cause.is_empty() { NO_CAUSE } else { &group.cause };
    let _ = writeln!(out, "{cause}{times}");
    for difference in &group.places {
        let _ = writeln!(out, "  {}", place_of(difference));
        for (sign, text) in sides(difference) {
            let _ = writeln!(out, "    {sign} {text}");
        }
    }
    out
}

/// The different nodes as YAML, line by line.
fn unified(before: &Resolved, after: &Resolved, found: &[Difference]) -> String {
    let mut out = String::new();
    let sides = found.iter().flat_map(|difference| [&difference.before, &difference.after]).flatten();
    let hidden = Mask::new(sides.filter(|side| side.is_tainted()).filter_map(Value::as_str));
    let mut done: Vec<(&str, &str)> = Vec::new();
    for difference in found {
        let new = difference.node.as_str();
        let renamed = found.iter().find(|other| other.node == new && other.renamed_from.is_some());
        let old = renamed.and_then(|other| other.renamed_from.as_deref()).unwrap_or(new);
        if done.contains(&(old, new)) {
            continue;
        }
        done.push((old, new));
        let whole = |side: &Resolved, id: &str| {
            let value = side.node(id).map(compared);
            value.or_else(|| wholes(side).find(|(known, _)| *known == id).map(|(_, value)| value))
        };
        let sides = match (whole(before, old), whole(after, new)) {
            (Some(before), Some(after)) => {
                let (before, after) = hidden_alike(&before, &after);
                (Some(before), Some(after))
            }
            sides => sides,
        };
        let text = |value: Option<Value>| {
            value
                .and_then(|value| to_yaml(&value, Secrets::Hide).ok())
                .map(|text| hidden.text(&text))
                .unwrap_or_default()
        };
        out.push_str(&difference_of(new, &text(sides.0), &text(sides.1)));
    }
    out
}

/// Different secrets look the same when hidden; the difference is reported anyway.
fn difference_of(name: &str, old: &str, new: &str) -> String {
    let text = difference(name, old, new);
    if text.is_empty() { format!("--- {name}\n+++ {name}\n# a secret differs\n") } else { text }
}

/// A comment for the review of a change: a sentence, then the differences of each cause.
fn markdown(found: &[Difference]) -> String {
    let groups = by_cause(found);
    let count = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    if found.is_empty() {
        return "Nothing that is deployed changes.\n".to_owned();
    }
    let verb = if found.len() == 1 { "differs" } else { "differ" };
    let mut out = format!("**{} {verb}, by {}.**\n", count(found.len(), "place"), count(groups.len(), "cause"));
    for group in &groups {
        let places = count(group.places.len(), "place");
        let cause = if group.cause.is_empty() { NO_CAUSE } else { &group.cause };
        let _ = write!(out, "\n<details><summary><code>{}</code>: {places}</summary>\n\n~~~diff\n", escaped(cause));
        for difference in &group.places {
            let _ = writeln!(out, "  {}", place_of(difference).replace("~~~", "~ ~ ~"));
            for (sign, text) in sides(difference) {
                let _ = writeln!(out, "{sign} {}", text.replace("~~~", "~ ~ ~"));
            }
        }
        out.push_str("~~~\n\n</details>\n");
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
