//! `purlin check`: read and resolve everything, print all problems.

use crate::args::{AnswerFormat, ClusterTerms, DiagnosticFormat, Target};
use crate::commands::Context;
use crate::commands::environment::Environment;
use crate::invocation::Exit;
use crate::native;
use crate::options;
use crate::paint::{Answer, painted};
use crate::policies;
use crate::report::{document, exit_of, findings, report, settle};
use crate::settings::Settings;
use purlin_compiler::{Checked, DIALECTS, Surveyed, is_kube_version, policy_names, survey_declared, survey_variants};
use purlin_host::named;
use purlin_model::Request;
use purlin_syntax::write::JsonLayout;
use purlin_syntax::{Diagnostic, Severity, Sources, suggest};
use purlin_value::emit::to_json;
use purlin_value::{EcoString, Map, Secrets, Session, Value};
use std::path::{Path, PathBuf};

/// Maximum number of projects listed on one line.
const ON_ONE_LINE: usize = 3;

/// The checked projects and findings of all paths.
#[derive(Default)]
pub(in crate::commands) struct Total {
    pub(in crate::commands) projects: Vec<Checked>,
    /// Folders and files that the settings exclude.
    pub(in crate::commands) excluded: Vec<String>,
    pub(in crate::commands) files: usize,
    pub(in crate::commands) errors: usize,
    pub(in crate::commands) warnings: usize,
    /// The environment variables that the projects read, if wanted.
    environment: Option<Environment>,
}

pub(in crate::commands) fn run(
    cx: &mut Context<'_, '_>,
    paths: &[PathBuf],
    (target, cluster): (&Target, &ClusterTerms),
    (all_envs, show_env): (bool, bool),
    (output, out): (Option<AnswerFormat>, Option<&Path>),
) -> Result<Exit, Exit> {
    if out.is_some() && cx.style.format == DiagnosticFormat::Human {
        return Err(cx.usage("`--out` needs a format for programs: add `--diagnostics sarif`, `json` or `github`"));
    }
    if show_env && cx.style.format != DiagnosticFormat::Human && output.is_none() && out.is_none() {
        return Err(cx.usage("`--show-env` has no place beside these findings: add `-o json` or `--out FILE`"));
    }
    let mut total = Total { environment: show_env.then(Environment::default), ..Total::default() };
    let mut exit = Exit::Ok;
    let named = paths.first().map_or(Path::new("."), PathBuf::as_path);
    let survey = if all_envs { survey_variants } else { survey_declared };
    let mut opened = sessions(cx, paths, target, cluster)?;
    // An option that none of the projects uses is a mistake.
    for Opened { session, request, paths, .. } in &opened {
        total.add(survey(session, request, paths));
    }
    refuse_unused(cx, target, &total.projects)?;
    for Opened { session, settings, .. } in &mut opened {
        cx.settings = std::mem::take(settings);
        cx.refuse_missing(session, named, target)?;
        cx.refuse_undeclared(session, None, &target.var, "")?;
        cx.refuse_pending(session, &target.pending)?;
        settle(session, &cx.settings, cx.style, true);
        total.files += session.sources.paths();
        total.errors += session.sink.count(Severity::Error);
        total.warnings += session.sink.count(Severity::Warning);
        if let Some(environment) = &mut total.environment {
            environment.add(session, &cx.invocation.template_env());
        }
        cx.tell_read(session);
        if cx.style.format == DiagnosticFormat::Human {
            exit = worse(exit, report(cx.invocation, session, cx.style));
        }
    }
    if cx.style.format != DiagnosticFormat::Human {
        exit = worse(exit, print_for_programs(cx, &opened, output, out));
    }
    cx.let_go(opened);
    if output == Some(AnswerFormat::Json) {
        let text = to_json(&total.value(), Secrets::Hide, JsonLayout::Compact).unwrap_or_default();
        cx.print(&format!("{text}\n"), None);
        return Ok(exit);
    }
    // A JSON or SARIF document contains findings only, so the summary is not printed with it.
    if (cx.style.format == DiagnosticFormat::Human || out.is_some()) && !cx.style.quiet {
        let variables = total.environment.as_ref().map(Environment::text).unwrap_or_default();
        let text = total.text() + &variables;
        let text = if cx.style.colour { painted(&text, Answer::Summary) } else { text };
        let _ = write!(cx.invocation.stderr, "{text}");
    }
    Ok(exit)
}

/// Prints the findings of all sessions as one document: to a file, or to standard output unless the summary goes there.
pub(in crate::commands) fn print_for_programs(
    cx: &mut Context<'_, '_>,
    opened: &[Opened],
    output: Option<AnswerFormat>,
    out: Option<&Path>,
) -> Exit {
    let found: Vec<Vec<Diagnostic>> = opened.iter().map(|opened| findings(&opened.session, cx.style)).collect();
    let all: Vec<(&[Diagnostic], &Sources)> =
        found.iter().zip(opened).map(|(found, opened)| (found.as_slice(), &*opened.session.sources)).collect();
    let text = document(&all, cx.style.format);
    let exit = found.iter().fold(Exit::Ok, |exit, found| worse(exit, exit_of(found)));
    let printed = match (output, out) {
        (Some(_), None) => match cx.invocation.stderr.write_all(text.as_bytes()) {
            Ok(()) => Exit::Ok,
            Err(_) => Exit::Io,
        },
        _ => cx.print(&text, out),
    };
    worse(exit, printed)
}

/// A session, its request, and the paths that are checked in it.
pub(in crate::commands) struct Opened {
    pub(in crate::commands) session: Session,
    pub(in crate::commands) request: Request,
    pub(in crate::commands) paths: Vec<String>,
    pub(in crate::commands) settings: Settings,
}

/// Opens the sessions for some paths: those in one repository share one.
pub(in crate::commands) fn sessions(
    cx: &mut Context<'_, '_>,
    paths: &[PathBuf],
    target: &Target,
    cluster: &ClusterTerms,
) -> Result<Vec<Opened>, Exit> {
    refuse_terms(cx, cluster)?;
    // Paths named by the user may be read wherever they are.
    cx.global.allow_path.extend(cluster.schema_dir.iter().cloned());
    let is_path = |text: &&String| policies::is_path(&cx.invocation.cwd, text);
    let named: Vec<PathBuf> = cluster.policies.iter().filter(is_path).map(PathBuf::from).collect();
    cx.global.allow_path.extend(named.into_iter().chain(cluster.policy_data.iter().cloned()));
    let mut opened: Vec<Opened> = Vec::new();
    for path in paths {
        let (session, mut request) = cx.open_any(&chart_of(&cx.invocation.cwd, path), target, &[])?;
        request.chart.ci_values = true;
        request.chart.is_rehearsal = true;
        request.chart.kube_version.clone_from(&cluster.kube_version);
        let folder = |folder: &PathBuf| native::world_text(&native::canonical_or_same(cx.invocation.cwd.join(folder)));
        policies::of_user(cx.invocation, &session, cluster, &mut request);
        request.schema_folders = cluster.schema_dir.iter().map(folder).collect();
        let path = request.path.clone();
        let settings = std::mem::take(&mut cx.settings);
        let shares = |known: &&mut Opened| {
            known.session.world.root() == session.world.root() && known.settings.file == settings.file
        };
        match opened.iter_mut().find(shares) {
            Some(known) => known.paths.push(path),
            None => opened.push(Opened { session, request, paths: vec![path], settings }),
        }
    }
    Ok(opened)
}

/// Options with an unknown version or a missing folder are mistakes.
fn refuse_terms(cx: &mut Context<'_, '_>, cluster: &ClusterTerms) -> Result<(), Exit> {
    if let Some(version) = cluster.kube_version.as_deref().filter(|version| !is_kube_version(version)) {
        return Err(cx.usage(&format!("`--kube-version {version}` is no version such as `1.34`")));
    }
    let known = policy_names();
    let is_unknown = |name: &&String| !known.contains(&name.as_str()) && !policies::is_path(&cx.invocation.cwd, name);
    if let Some(name) = cluster.policies.iter().find(is_unknown) {
        let hint = suggest::did_you_mean(name, known.iter().copied());
        let list =
            || format!("the built-in policies are {}; policies in Rego are a file or folder", known.join(", ")).into();
        return Err(cx.usage(&format!("`--policy {name}`: unknown policy; {}", &*hint.unwrap_or_else(list))));
    }
    let missing = cluster.schema_dir.iter().find(|folder| !named::is_folder(&cx.invocation.cwd.join(folder)));
    match missing {
        Some(folder) => Err(cx.usage(&format!("`--schema-dir {}`: there is no such folder", folder.display()))),
        None => Ok(()),
    }
}

/// A template is part of its chart, and not YAML by itself.
fn chart_of(cwd: &Path, path: &Path) -> PathBuf {
    let holds = |above: &&Path| {
        let is_folder = above.file_name().is_some_and(|name| name == "templates");
        is_folder && named::is_file(&cwd.join(above).with_file_name("Chart.yaml"))
    };
    let templates = path.ancestors().skip(1).find(holds).filter(|_| named::is_file(&cwd.join(path)));
    match templates.and_then(Path::parent) {
        Some(chart) if chart.as_os_str().is_empty() => PathBuf::from("."),
        Some(chart) => chart.to_owned(),
        None => path.to_owned(),
    }
}

/// An option applies to the projects whose dialect uses it; if none does, it is a mistake.
pub(in crate::commands) fn refuse_unused(
    cx: &mut Context<'_, '_>,
    target: &Target,
    projects: &[Checked],
) -> Result<(), Exit> {
    if projects.is_empty() || !options::needs_dialect(target) {
        return Ok(());
    }
    let dialect = |project: &Checked| DIALECTS.iter().find(|dialect| dialect.noun == project.noun).map(|d| d.name);
    let dialects: Vec<&str> = projects.iter().filter_map(dialect).collect();
    let unused = options::unused(target, "", &dialects);
    for unused in &unused {
        let message = match (projects, dialects.as_slice()) {
            ([one], [dialect]) => unused.message(&one.path, dialect),
            _ => unused.message_for_several(),
        };
        cx.usage(&message);
    }
    if unused.is_empty() { Ok(()) } else { Err(Exit::Usage) }
}

/// The more severe of two exit codes.
pub(in crate::commands) fn worse(one: Exit, other: Exit) -> Exit {
    if other.code() > one.code() { other } else { one }
}

impl Total {
    pub(in crate::commands) fn add(&mut self, surveyed: Surveyed) {
        self.projects.extend(surveyed.projects);
        self.excluded.extend(surveyed.excluded);
    }

    /// `2 places excluded in purlin.toml`.
    fn excluded_text(&self) -> Option<String> {
        let count = self.excluded.len();
        (count > 0).then(|| format!("{} excluded in purlin.toml", plural(count, "place")))
    }

    fn nodes(&self) -> usize {
        self.projects.iter().map(|project| project.nodes).sum()
    }

    /// The summary as data. Members are only added, never removed.
    pub(in crate::commands) fn value(&self) -> Value {
        let number = |n: usize| Value::from(i64::try_from(n).unwrap_or(i64::MAX));
        let text = |text: &str| Value::str(EcoString::from(text));
        let project = |project: &Checked| {
            let members = [
                ("path", text(&project.path)),
                ("name", text(&project.name)),
                ("kind", text(project.noun)),
                ("nodes", number(project.nodes)),
                ("errors", number(project.errors)),
            ];
            let outer = project.part_of.as_ref().map(|outer| ("partOf", text(outer)));
            let contained = (project.contained > 0).then(|| ("contains", number(project.contained)));
            let names = |names: &[EcoString]| Value::list(names.iter().map(|name| text(name)).collect::<Vec<_>>());
            let variants = (!project.variants.is_empty())
                .then(|| [("variants", names(&project.variants)), ("variantKind", text(project.variant_noun))]);
            let incomplete = (!project.incomplete.is_empty()).then(|| ("notChecked", names(&project.incomplete)));
            let variants = variants.into_iter().flatten().chain(incomplete);
            let members = members.into_iter().chain(outer).chain(contained).chain(variants);
            Value::map(members.map(|(key, value)| (EcoString::from(key), value)).collect::<Map>())
        };
        let counts =
            [("files", self.files), ("nodes", self.nodes()), ("errors", self.errors), ("warnings", self.warnings)];
        let mut map: Map = counts.into_iter().map(|(key, n)| (EcoString::from(key), number(n))).collect();
        map.insert("projects".into(), Value::list(self.projects.iter().map(project).collect::<Vec<_>>()));
        if let Some(environment) = &self.environment {
            map.insert("environment".into(), environment.value());
        }
        if !self.excluded.is_empty() {
            map.insert(
                "excluded".into(),
                Value::list(self.excluded.iter().map(|place| text(place)).collect::<Vec<_>>()),
            );
        }
        Value::map(map)
    }

    /// The summary as text: the projects if there are no problems, numbers otherwise.
    pub(in crate::commands) fn text(&self) -> String {
        let warnings = if self.warnings > 0 { vec![plural(self.warnings, "warning")] } else { Vec::new() };
        if self.errors > 0 {
            let mut parts = vec![plural(self.files, "file")];
            if self.nodes() > 0 {
                parts.push(plural(self.nodes(), "node"));
            }
            parts.push(plural(self.errors, "error"));
            parts.extend(warnings);
            parts.extend(self.projects.iter().filter_map(not_checked));
            parts.extend(self.excluded_text());
            return format!("checked {}\n", parts.join(", "));
        }
        let mut parts: Vec<String> = self.projects.iter().map(project_text).collect();
        let verdict: Vec<String> =
            std::iter::once("no errors".to_owned()).chain(warnings).chain(self.excluded_text()).collect();
        if parts.len() <= ON_ONE_LINE {
            parts.extend(verdict);
            return format!("{}\n", parts.join(" · "));
        }
        let all = format!("{} · {}", plural(self.projects.len(), "project"), verdict.join(" · "));
        parts.push(all);
        parts.join("\n") + "\n"
    }
}

fn project_text(project: &Checked) -> String {
    if let Some(outer) = &project.part_of {
        return format!("{} ({}) in {outer}", project.label, project.noun);
    }
    let nodes = plural(project.nodes, project.unit);
    let inside = match project.contained {
        0 => String::new(),
        contained => format!(", {} inside", plural(contained, project.noun)),
    };
    let missing = not_checked(project).map(|missing| format!(", {missing}")).unwrap_or_default();
    format!("{} ({}) {nodes}{inside}{}{missing}", project.label, project.noun, variants_text(project))
}

/// Up to this many variants of a project are named.
const NAMED_VARIANTS: usize = 6;

/// ` in 3 environments (dev, stage, prod)`: the checked variants of a project.
fn variants_text(project: &Checked) -> String {
    let (noun, names) = (project.variant_noun, &project.variants);
    let named: Vec<&str> = names.iter().filter(|name| !name.is_empty()).map(EcoString::as_str).collect();
    if named.is_empty() {
        return String::new();
    }
    let mut shown = named.iter().take(NAMED_VARIANTS).copied().collect::<Vec<_>>().join(", ");
    if named.len() > NAMED_VARIANTS {
        shown.push_str(", …");
    }
    let preposition = if noun == "environment" { "in" } else { "with" };
    // The project by itself is checked in addition to its profiles or values files.
    let plain = if named.len() < names.len() { "by itself and " } else { "" };
    format!(" {plain}{preposition} {} ({shown})", plural(named.len(), noun))
}

/// The variants that were only partly checked.
fn not_checked(project: &Checked) -> Option<String> {
    if project.incomplete.is_empty() {
        return None;
    }
    let name = |name: &EcoString| match name.as_str() {
        "" => project.label.clone(),
        name => name.to_owned(),
    };
    let names: Vec<String> = project.incomplete.iter().map(name).collect();
    Some(format!("not checked completely: {}", names.join(", ")))
}

pub(in crate::commands) fn plural(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}
