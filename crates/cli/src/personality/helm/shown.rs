//! `helm list`, `status`, `history` and `get`: what is recorded of releases.

use super::super::arguments::{Arguments, Takes};
use super::connected::{Connected, arguments, connect, number, report};
use super::print::{Form, json, row, server_table, short_time, table, time, yaml};
use super::{fail, followed_session};
use crate::invocation::{Exit, Invocation};
use purlin_charts::edition::Helm;
use purlin_charts::release::{Previous, coalesced, read, written};
use purlin_cluster::release::{Detail, Engine, Record, Section, Shown, Sorted, States, Status, Trouble};
use purlin_value::Value;
use serde_json::{Map, Value as Json, json as object};
use std::fmt::Write;

const OUTPUT: (&str, char, Takes) = ("output", 'o', Takes::Text);
const REVISION: (&str, char, Takes) = ("revision", ' ', Takes::Text);

/// The form that `-o` names.
pub(super) fn form(invocation: &mut Invocation<'_>, flags: &Arguments) -> Result<Form, Exit> {
    Form::of(flags.text("output").unwrap_or("table")).map_err(|message| fail(invocation, &message))
}

/// The only word of a command.
fn only<'f>(invocation: &mut Invocation<'_>, flags: &'f Arguments, command: &str) -> Result<&'f str, Exit> {
    match flags.words.as_slice() {
        [name] => Ok(name),
        _ => {
            let message =
                format!("\"helm {command}\" requires 1 argument\n\nUsage:  helm {command} RELEASE_NAME [flags]");
            Err(fail(invocation, &message))
        }
    }
}

/// `chart-1.2.3`.
fn chart_name(record: &Record) -> String {
    match record.chart().get("metadata") {
        None | Some(Json::Null) => "MISSING".to_owned(),
        Some(_) => format!("{}-{}", record.chart_text("name"), record.chart_text("version")),
    }
}

fn app_version(record: &Record) -> String {
    match record.chart().get("metadata") {
        None | Some(Json::Null) => "MISSING".to_owned(),
        Some(_) => record.chart_text("appVersion").to_owned(),
    }
}

#[rustfmt::skip]
const LIST: &[(&str, char, Takes)] = &[
    OUTPUT,
    ("short", 'q', Takes::Switch),
    ("no-headers", ' ', Takes::Switch),
    ("time-format", ' ', Takes::Text),
    ("date", 'd', Takes::Switch),
    ("reverse", 'r', Takes::Switch),
    ("all", 'a', Takes::Switch),
    ("uninstalled", ' ', Takes::Switch),
    ("superseded", ' ', Takes::Switch),
    ("uninstalling", ' ', Takes::Switch),
    ("deployed", ' ', Takes::Switch),
    ("failed", ' ', Takes::Switch),
    ("pending", ' ', Takes::Switch),
    ("all-namespaces", 'A', Takes::Switch),
    ("max", 'm', Takes::Text),
    ("offset", ' ', Takes::Text),
    ("filter", 'f', Takes::Text),
    ("selector", 'l', Takes::Text),
];

/// The states of each flag of `helm list`.
const STATES: &[(&str, &[Status])] = &[
    ("uninstalled", &[Status::Uninstalled]),
    ("superseded", &[Status::Superseded]),
    ("uninstalling", &[Status::Uninstalling]),
    ("deployed", &[Status::Deployed]),
    ("failed", &[Status::Failed]),
    ("pending", &[Status::PendingInstall, Status::PendingUpgrade, Status::PendingRollback]),
];

/// `helm list`
pub(super) fn list(invocation: &mut Invocation<'_>, args: &[String], helm: &'static Helm) -> Result<Exit, Exit> {
    let flags = arguments(invocation, args, &[LIST])?;
    if !flags.words.is_empty() {
        return Err(fail(invocation, "\"helm list\" accepts no arguments\n\nUsage:  helm list [flags]"));
    }
    let form = form(invocation, &flags)?;
    let filter = match flags.text("filter").filter(|text| !text.is_empty()) {
        Some(pattern) => Some(super::pattern(pattern).map_err(|message| fail(invocation, &message))?),
        None => None,
    };
    let is_meant = |name: &str| filter.as_ref().is_none_or(|filter| filter.is_match(name));
    let chosen = STATES.iter().filter(|(flag, _)| flags.switch(flag));
    let mut states: Vec<Status> = chosen.flat_map(|(_, states)| states.iter().copied()).collect();
    // Helm 3 hides what is not deployed and has not failed, unless it is asked for.
    if states.is_empty() && helm.hides_other_releases && !flags.switch("all") {
        states = vec![Status::Deployed, Status::Failed];
    }
    let selector = selector(flags.text("selector").unwrap_or("")).map_err(|message| fail(invocation, &message))?;
    let shown = Shown {
        states: States(states),
        sorted: Sorted { by_date: flags.switch("date"), reverse: flags.switch("reverse") },
        name: Some(&is_meant),
        selector,
        most: number(invocation, &flags, "max", 256)?,
        offset: number(invocation, &flags, "offset", 0)?,
    };
    let connected = connect(invocation, &flags)?;
    let namespace = if flags.switch("all-namespaces") { String::new() } else { connected.namespace.clone() };
    let found = connected.work(invocation, &namespace, |engine| {
        engine.reach()?;
        engine.releases(&shown)
    });
    let found = found.map_err(|trouble| report(invocation, "", &trouble))?;
    if flags.switch("short") {
        let names: Vec<&str> = found.iter().map(Record::name).collect();
        let text = match form {
            Form::Table => names.iter().map(|name| format!("{name}\n")).collect(),
            form => form.text(&object!(names)),
        };
        return Ok(invocation.print(&text));
    }
    let layout = flags.text("time-format").filter(|layout| !layout.is_empty());
    Ok(invocation.print(&list_text(&found, form, layout, flags.switch("no-headers"))))
}

fn list_text(found: &[Record], form: Form, layout: Option<&str>, is_bare: bool) -> String {
    let updated = |record: &Record| match (time(record.last_deployed()), layout) {
        (None, _) => "-".to_owned(),
        (Some(time), Some(layout)) => time.format(layout),
        (Some(time), None) => time.to_string(),
    };
    if form != Form::Table {
        let entries = found.iter().map(|record| {
            object!({
                "name": record.name(), "namespace": record.namespace(), "revision": record.revision().to_string(),
                "updated": updated(record), "status": record.status().name(), "chart": chart_name(record),
                "app_version": app_version(record),
            })
        });
        return form.text(&Json::Array(entries.collect()));
    }
    let mut rows = Vec::new();
    if !is_bare {
        rows.push(row(["NAME", "NAMESPACE", "REVISION", "UPDATED", "STATUS", "CHART", "APP VERSION"]));
    }
    rows.extend(found.iter().map(|record| {
        row([
            record.name(),
            record.namespace(),
            &record.revision().to_string(),
            &updated(record),
            record.status().name(),
            &chart_name(record),
            &app_version(record),
        ])
    }));
    table(&rows)
}

/// `a=b,c!=d`
fn selector(text: &str) -> Result<Vec<(String, bool, String)>, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let found = part.split_once("!=").map(|(key, value)| (key, false, value)).or_else(|| {
                part.split_once("==").or_else(|| part.split_once('=')).map(|(key, value)| (key, true, value))
            });
            let (key, is_equal, value) =
                found.ok_or_else(|| format!("`--selector {part}` is not supported: write KEY=VALUE or KEY!=VALUE"))?;
            Ok((key.trim().to_owned(), is_equal, value.trim().to_owned()))
        })
        .collect()
}

/// `helm history`
pub(super) fn history(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let flags = arguments(invocation, args, &[&[OUTPUT, ("max", ' ', Takes::Text)]])?;
    let name = only(invocation, &flags, "history")?;
    let (form, most) = (form(invocation, &flags)?, number(invocation, &flags, "max", 256usize)?);
    let connected = connect(invocation, &flags)?;
    let namespace = connected.namespace.clone();
    let found = connected.work(invocation, &namespace, |engine| {
        engine.reach()?;
        check_name(name, "getHistory")?;
        engine.history(name)
    });
    let found = found.map_err(|trouble| report(invocation, "", &trouble))?;
    let found = found.get(found.len().saturating_sub(most)..).unwrap_or_default();
    if form == Form::Table {
        let mut rows = vec![row(["REVISION", "UPDATED", "STATUS", "CHART", "APP VERSION", "DESCRIPTION"])];
        rows.extend(found.iter().map(|record| {
            let updated = short_time(record.last_deployed()).unwrap_or_else(|| "Mon Jan  1 00:00:00 0001".to_owned());
            row([
                &record.revision().to_string(),
                &updated,
                record.status().name(),
                &chart_name(record),
                &app_version(record),
                record.description(),
            ])
        }));
        return Ok(invocation.print(&table(&rows)));
    }
    let entries = found.iter().map(|record| {
        let mut entry = Map::new();
        entry.insert("revision".into(), record.revision().into());
        if time(record.last_deployed()).is_some() {
            entry.insert("updated".into(), record.last_deployed().into());
        }
        entry.insert("status".into(), record.status().name().into());
        entry.insert("chart".into(), chart_name(record).into());
        entry.insert("app_version".into(), app_version(record).into());
        entry.insert("description".into(), record.description().into());
        Json::Object(entry)
    });
    Ok(invocation.print(&form.text(&Json::Array(entries.collect()))))
}

fn check_name(name: &str, what: &str) -> Result<(), Trouble> {
    match purlin_cluster::release::is_release_name(name) {
        true => Ok(()),
        false => Err(Trouble::said(format!("{what}: Release name is invalid: {name}"))),
    }
}

/// `helm status`
pub(super) fn status(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let table = &[OUTPUT, REVISION, ("show-desc", ' ', Takes::Switch), ("show-resources", ' ', Takes::Switch)];
    let flags = arguments(invocation, args, &[table])?;
    let name = only(invocation, &flags, "status")?;
    let (form, revision) = (form(invocation, &flags)?, number(invocation, &flags, "revision", 0)?);
    let connected = connect(invocation, &flags)?;
    let namespace = connected.namespace.clone();
    let found = connected.work(invocation, &namespace, |engine| {
        engine.reach()?;
        let record = engine.get(name, revision)?;
        let detail = if form == Form::Table { Detail::Tables } else { Detail::Objects };
        let sections = engine.resources(record.manifest(), detail)?;
        Ok((record, sections))
    });
    let (mut record, sections) = found.map_err(|trouble| report(invocation, "", &trouble))?;
    if form == Form::Table {
        let told = Told { sections: &sections, ..Told::default() };
        return Ok(invocation.print(&status_text(&record, told)));
    }
    if let Some(body) = record.body.as_object_mut() {
        body.shift_remove("chart");
        let resources: Map<String, Json> =
            sections.into_iter().map(|section| (section.name, ordered(Json::Array(section.items)))).collect();
        if let Some(info) = body.get_mut("info").and_then(Json::as_object_mut) {
            // Helm 3 writes an empty string for a missing time.
            info.retain(|_, value| value.as_str() != Some(""));
            if !resources.is_empty() {
                info.insert("resources".into(), Json::Object(resources));
            }
        }
    }
    Ok(invocation.print(&form.text(&record.body)))
}

/// A value with its keys in order, as Go writes objects of the cluster.
fn ordered(value: Json) -> Json {
    match value {
        Json::Object(map) => {
            let mut entries: Vec<(String, Json)> = map.into_iter().map(|(key, value)| (key, ordered(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Json::Object(entries.into_iter().collect())
        }
        Json::Array(items) => Json::Array(items.into_iter().map(ordered).collect()),
        other => other,
    }
}

/// Parts of a release that are printed besides its state.
#[derive(Clone, Copy, Default)]
pub(super) struct Told<'t> {
    /// Objects of the cluster.
    pub(super) sections: &'t [Section],
    /// The chart, its values, hooks and manifests.
    pub(super) whole: Option<&'t Values>,
    /// Whether hooks and manifests are told.
    pub(super) manifests: bool,
    /// Whether the notes are not.
    pub(super) hide_notes: bool,
}

/// The values of a release.
pub(super) struct Values {
    /// Those of the user.
    pub(super) given: Json,
    /// All.
    pub(super) all: Json,
    /// Whether the chart is printed, too.
    pub(super) chart: bool,
}

/// The state of a release, as `helm status` and `helm install` tell it.
pub(super) fn status_text(record: &Record, told: Told<'_>) -> String {
    let mut out = format!("NAME: {}\n", record.name());
    if let Some(time) = short_time(record.last_deployed()) {
        let _ = writeln!(out, "LAST DEPLOYED: {time}");
    }
    let _ = writeln!(out, "NAMESPACE: {}\nSTATUS: {}", record.namespace(), record.status().name());
    let _ = writeln!(out, "REVISION: {}", record.revision());
    if told.whole.is_some_and(|whole| whole.chart) {
        let texts = ["name", "version", "appVersion"].map(|key| record.chart_text(key));
        let [name, version, app] = texts;
        let _ = writeln!(out, "CHART: {name}\nVERSION: {version}\nAPP_VERSION: {app}");
    }
    let _ = writeln!(out, "DESCRIPTION: {}", record.description());
    if !told.sections.is_empty() {
        let _ = writeln!(out, "RESOURCES:\n{}", sections_text(told.sections));
    }
    out.push_str(&tests_text(record));
    if let Some(values) = told.whole {
        let (given, all) = (yaml(&values.given), yaml(&values.all));
        let _ = writeln!(out, "USER-SUPPLIED VALUES:\n{given}\nCOMPUTED VALUES:\n{all}");
    }
    if told.manifests || told.whole.is_some() || record.description().eq_ignore_ascii_case("Dry run complete") {
        let _ = write!(out, "HOOKS:\n{}MANIFEST:\n{}\n", hooks_text(record), record.manifest());
    }
    if !told.hide_notes && !record.notes().is_empty() {
        let _ = writeln!(out, "NOTES:\n{}", record.notes().trim());
    }
    out
}

fn sections_text(sections: &[Section]) -> String {
    let mut out = String::new();
    let mut last = Json::Null;
    for section in sections {
        let _ = writeln!(out, "==> {}", section.name);
        for item in &section.items {
            let columns = item.get("columnDefinitions").cloned().unwrap_or(Json::Null);
            let is_filled = item.get("rows").and_then(Json::as_array).is_some_and(|rows| !rows.is_empty());
            out.push_str(&server_table(item, is_filled && columns != last));
            if is_filled {
                last = columns;
            }
        }
        out.push('\n');
    }
    out
}

fn hook_text<'j>(hook: &'j Json, pointer: &str) -> &'j str {
    hook.pointer(pointer).and_then(Json::as_str).unwrap_or("")
}

fn tests_text(record: &Record) -> String {
    let is_test = |hook: &&Json| purlin_cluster::release::hooks::has(hook, "events", "test");
    let tests: Vec<&Json> = record.hooks().iter().filter(is_test).collect();
    if tests.is_empty() {
        return "TEST SUITE: None\n".to_owned();
    }
    let mut out = String::new();
    for test in tests {
        let Some(started) = short_time(hook_text(test, "/last_run/started_at")) else { continue };
        let completed = short_time(hook_text(test, "/last_run/completed_at"));
        let completed = completed.unwrap_or_else(|| "Mon Jan  1 00:00:00 0001".to_owned());
        let (name, phase) = (hook_text(test, "/name"), hook_text(test, "/last_run/phase"));
        let _ = writeln!(
            out,
            "TEST SUITE:     {name}\nLast Started:   {started}\nLast Completed: {completed}\nPhase:          {phase}"
        );
    }
    out
}

fn hooks_text(record: &Record) -> String {
    let one = |hook: &Json| format!("---\n# Source: {}\n{}\n", hook_text(hook, "/path"), hook_text(hook, "/manifest"));
    record.hooks().iter().map(one).collect()
}

/// The values of a release: the user's, and all.
pub(super) fn values_of(invocation: &mut Invocation<'_>, record: &Record, helm: &'static Helm) -> Result<Values, Exit> {
    let previous = previous(record).map_err(|message| fail(invocation, &message))?;
    let session = followed_session(invocation)?;
    let all = coalesced(&session, &previous, helm).map_err(|error| fail(invocation, &error.message))?;
    let all = written(&all).and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()));
    let all = all.map_err(|message| fail(invocation, &message))?;
    Ok(Values { given: record.config().clone(), all, chart: false })
}

/// The chart's values and the user's, as an upgrade takes them over.
pub(super) fn previous(record: &Record) -> Result<Previous, String> {
    let value = |json: &Json| match json {
        Json::Null => Ok(Value::null()),
        json => read(&json.to_string()),
    };
    Ok(Previous {
        values: value(record.chart().get("values").unwrap_or(&Json::Null))?,
        config: value(record.config())?,
        chart: record.chart_text("name").to_owned(),
    })
}

/// `helm get`
pub(super) fn get(invocation: &mut Invocation<'_>, args: &[String], helm: &'static Helm) -> Result<Exit, Exit> {
    let known = ["all", "hooks", "manifest", "metadata", "notes", "values"];
    let Some((what, rest)) = args.split_first().filter(|(what, _)| known.contains(&what.as_str())) else {
        return Err(super::super::usage(
            invocation,
            "expected `helm get all|hooks|manifest|metadata|notes|values RELEASE`",
        ));
    };
    let more: &[(&'static str, char, Takes)] = match what.as_str() {
        "values" => &[REVISION, OUTPUT, ("all", 'a', Takes::Switch)],
        "metadata" => &[REVISION, OUTPUT],
        "all" => &[REVISION, ("template", ' ', Takes::Text)],
        _ => &[REVISION],
    };
    let flags = arguments(invocation, rest, &[more])?;
    let name = only(invocation, &flags, &format!("get {what}"))?;
    if flags.has("template") {
        return Err(fail(invocation, "`--template` is not supported: use `helm get values|metadata|manifest -o json`"));
    }
    let (form, revision) = (form(invocation, &flags)?, number(invocation, &flags, "revision", 0)?);
    let connected = connect(invocation, &flags)?;
    let record = read_one(&connected, invocation, name, revision)?;
    let text = match what.as_str() {
        "hooks" => hooks_text(&record),
        "manifest" => format!("{}\n", record.manifest()),
        "notes" if record.notes().is_empty() => String::new(),
        "notes" => format!("NOTES:\n{}\n", record.notes()),
        "metadata" => metadata_text(&record, form),
        "values" => {
            let values = values_of(invocation, &record, helm)?;
            let (title, values) = match flags.switch("all") {
                true => ("COMPUTED VALUES:", values.all),
                false => ("USER-SUPPLIED VALUES:", values.given),
            };
            match form {
                Form::Table => format!("{title}\n{}", yaml(&values)),
                Form::Json => json(&values),
                Form::Yaml => yaml(&values),
            }
        }
        _ => {
            let values = Values { chart: true, ..values_of(invocation, &record, helm)? };
            status_text(&record, Told { whole: Some(&values), ..Told::default() })
        }
    };
    Ok(invocation.print(&text))
}

fn read_one(connected: &Connected, invocation: &mut Invocation<'_>, name: &str, revision: i64) -> Result<Record, Exit> {
    let namespace = connected.namespace.clone();
    let read = |engine: &Engine<'_>| {
        engine.reach()?;
        engine.get(name, revision)
    };
    connected.work(invocation, &namespace, read).map_err(|trouble| report(invocation, "", &trouble))
}

fn metadata_text(record: &Record, form: Form) -> String {
    let data = record.chart().get("metadata").cloned().unwrap_or(Json::Null);
    let deployed = time(record.last_deployed()).map(|time| time.format("2006-01-02T15:04:05Z07:00"));
    let deployed = deployed.unwrap_or_else(|| "0001-01-01T00:00:00Z".to_owned());
    let dependencies = data.get("dependencies").and_then(Json::as_array).cloned().unwrap_or_default();
    if form != Form::Table {
        let mut entry = Map::new();
        entry.insert("name".into(), record.name().into());
        entry.insert("chart".into(), record.chart_text("name").into());
        entry.insert("version".into(), record.chart_text("version").into());
        entry.insert("appVersion".into(), record.chart_text("appVersion").into());
        if let Some(annotations) = data.get("annotations") {
            entry.insert("annotations".into(), annotations.clone());
        }
        if !record.labels.is_empty() {
            entry.insert("labels".into(), object!(record.labels));
        }
        if !dependencies.is_empty() {
            entry.insert("dependencies".into(), Json::Array(dependencies));
        }
        entry.insert("namespace".into(), record.namespace().into());
        entry.insert("revision".into(), record.revision().into());
        entry.insert("status".into(), record.status().name().into());
        entry.insert("deployedAt".into(), deployed.into());
        if !record.apply_method().is_empty() {
            entry.insert("applyMethod".into(), record.apply_method().into());
        }
        return form.text(&Json::Object(entry));
    }
    let annotations = data.get("annotations").and_then(Json::as_object).into_iter().flatten();
    let mut annotations: Vec<String> =
        annotations.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or(""))).collect();
    annotations.sort();
    let labels: Vec<String> = record.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let mut names: Vec<&str> = dependencies.iter().filter_map(|one| one.get("name")?.as_str()).collect();
    names.sort_unstable();
    let method = match record.apply_method() {
        "" => "client-side apply (defaulted)".to_owned(),
        "csa" => "client-side apply".to_owned(),
        "ssa" => "server-side apply".to_owned(),
        other => format!("unknown ({other:?})"),
    };
    let lines = [
        ("NAME", record.name().to_owned()),
        ("CHART", record.chart_text("name").to_owned()),
        ("VERSION", record.chart_text("version").to_owned()),
        ("APP_VERSION", record.chart_text("appVersion").to_owned()),
        ("ANNOTATIONS", annotations.join(",")),
        ("LABELS", labels.join(",")),
        ("DEPENDENCIES", names.join(",")),
        ("NAMESPACE", record.namespace().to_owned()),
        ("REVISION", record.revision().to_string()),
        ("STATUS", record.status().name().to_owned()),
        ("DEPLOYED_AT", deployed),
        ("APPLY_METHOD", method),
    ];
    lines.iter().map(|(name, value)| format!("{name}: {value}\n")).collect()
}
