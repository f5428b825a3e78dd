//! `helm install`, `upgrade`, `rollback`, `uninstall` and `test`: the life of a release in a cluster.

use super::super::arguments::{Arguments, Takes};
use super::charted::{self, CHART};
use super::connected::{Connected, arguments, connect, namespace, number, report, timeout};
use super::print::Form;
use super::shown::{Told, form, previous, status_text, values_of};
use super::{fail, print_failure};
use crate::invocation::{Exit, Invocation};
use purlin_charts::edition::Helm;
use purlin_charts::release::{Cluster, Made, Reuse, Terms, definitions_of, make, read};
use purlin_cluster::release::record::Parts;
use purlin_cluster::release::{
    Apply, Engine, Install, Lookups, Record, Rollback, Status, Tests, Trouble, Uninstall, Upgrade, hooks, rfc3339,
};
use purlin_value::{Session, Value};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Flags of all commands that change objects.
#[rustfmt::skip]
const CHANGING: &[(&str, char, Takes)] = &[
    ("force", ' ', Takes::Switch),
    ("force-replace", ' ', Takes::Switch),
    ("force-conflicts", ' ', Takes::Switch),
    ("server-side", ' ', Takes::Bare("true")),
    ("no-hooks", ' ', Takes::Switch),
    ("timeout", ' ', Takes::Text),
    ("wait", ' ', Takes::Bare("watcher")),
    ("wait-for-jobs", ' ', Takes::Switch),
    ("dry-run", ' ', Takes::Bare("unset")),
    ("cleanup-on-fail", ' ', Takes::Switch),
    ("history-max", ' ', Takes::Text),
];

/// Flags of the commands that take a chart.
#[rustfmt::skip]
const MAKING: &[(&str, char, Takes)] = &[
    ("output", 'o', Takes::Text),
    ("atomic", ' ', Takes::Switch),
    ("rollback-on-failure", ' ', Takes::Switch),
    ("create-namespace", ' ', Takes::Switch),
    ("description", ' ', Takes::Text),
    ("labels", 'l', Takes::List),
    ("skip-crds", ' ', Takes::Switch),
    ("take-ownership", ' ', Takes::Switch),
    ("hide-notes", ' ', Takes::Switch),
    ("hide-secret", ' ', Takes::Switch),
    ("disable-openapi-validation", ' ', Takes::Switch),
];

const INSTALL: &[(&str, char, Takes)] =
    &[("replace", ' ', Takes::Switch), ("generate-name", 'g', Takes::Switch), ("name-template", ' ', Takes::Text)];

const UPGRADE: &[(&str, char, Takes)] = &[
    ("install", 'i', Takes::Switch),
    ("reset-values", ' ', Takes::Switch),
    ("reuse-values", ' ', Takes::Switch),
    ("reset-then-reuse-values", ' ', Takes::Switch),
];

/// How far an operation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dry {
    /// All the way.
    No,
    /// It asks the cluster and changes nothing.
    Server,
    /// It asks nothing.
    Client,
}

/// What the flags of an operation say.
struct Wishes {
    form: Form,
    dry: Dry,
    waits: bool,
    rolls_back: bool,
    /// `--server-side`, if it is not left to the release.
    server_side: Option<bool>,
    labels: BTreeMap<String, String>,
    timeout: std::time::Duration,
    history_max: usize,
}

/// `--dry-run`, with warnings about its older forms.
fn dry(invocation: &mut Invocation<'_>, flags: &Arguments) -> Result<Dry, Exit> {
    let mut warn = |text: &str| {
        let _ = writeln!(invocation.stderr, "level=WARN msg={text:?}");
    };
    let (dry, name) = match flags.text("dry-run") {
        None | Some("none") => return Ok(Dry::No),
        Some("client") => return Ok(Dry::Client),
        Some("server") => return Ok(Dry::Server),
        Some("unset") => {
            warn("--dry-run is deprecated and should be replaced with '--dry-run=client'");
            return Ok(Dry::Client);
        }
        Some("true" | "1" | "t" | "T" | "TRUE" | "True") => (Dry::Client, "client"),
        Some("false" | "0" | "f" | "F" | "FALSE" | "False") => (Dry::No, "none"),
        Some(other) => {
            let message = format!("invalid dry-run value ({other:?}). Must be \"none\", \"server\", or \"client\"");
            return Err(fail(invocation, &message));
        }
    };
    let given = flags.text("dry-run").unwrap_or_default();
    warn(&format!("boolean '--dry-run={given}' flag is deprecated and must be replaced with '--dry-run={name}'"));
    Ok(dry)
}

/// `--wait`: whether objects must be ready. How they are looked at does not differ.
fn waits(invocation: &mut Invocation<'_>, flags: &Arguments) -> Result<bool, Exit> {
    match flags.text("wait") {
        None | Some("hookOnly" | "false") => Ok(false),
        Some("watcher" | "legacy" | "true") => Ok(true),
        Some(other) => {
            let message = format!(
                "invalid argument {other:?} for \"--wait\" flag: invalid wait input {other:?}. Valid inputs are watcher, \
                 hookOnly, and legacy"
            );
            Err(fail(invocation, &message))
        }
    }
}

fn wishes(invocation: &mut Invocation<'_>, flags: &Arguments, helm: &Helm) -> Result<Wishes, Exit> {
    let replaces = flags.switch("force") || flags.switch("force-replace");
    if replaces && flags.switch("force-conflicts") {
        let message = "if any flags in the group [force-replace force-conflicts] are set none of the others can be; \
                       [force-conflicts force-replace] were all set";
        return Err(fail(invocation, message));
    }
    let server_side = match flags.text("server-side") {
        None if helm.applies_on_client => Some(false),
        None | Some("auto") => None,
        Some("true") => Some(true),
        Some("false") => Some(false),
        Some(other) => {
            let message = format!("invalid/unknown release server-side apply method: {other}");
            return Err(fail(invocation, &message));
        }
    };
    let mut labels = BTreeMap::new();
    for pair in flags.list("labels").iter().flat_map(|list| list.split(',')).filter(|pair| !pair.is_empty()) {
        let Some((key, value)) = pair.split_once('=') else {
            let message =
                format!("invalid argument {pair:?} for \"-l, --labels\" flag: {pair} must be formatted as key=value");
            return Err(fail(invocation, &message));
        };
        labels.insert(key.trim().to_owned(), value.to_owned());
    }
    let most = invocation.env.get("HELM_MAX_HISTORY").and_then(|text| text.parse().ok()).unwrap_or(10);
    let dry = dry(invocation, flags)?;
    if flags.switch("hide-secret") && dry == Dry::No {
        return Err(fail(invocation, "hiding Kubernetes secrets requires a dry-run mode"));
    }
    Ok(Wishes {
        form: form(invocation, flags)?,
        dry,
        waits: waits(invocation, flags)?,
        rolls_back: flags.switch("atomic") || flags.switch("rollback-on-failure"),
        server_side,
        labels,
        timeout: timeout(invocation, flags)?,
        history_max: number(invocation, flags, "history-max", most)?,
    })
}

fn apply(flags: &Arguments, server_side: bool) -> Result<Apply, Trouble> {
    let replace = flags.switch("force") || flags.switch("force-replace");
    let force_conflicts = flags.switch("force-conflicts");
    if server_side && replace {
        let why = "invalid operation: cannot use server-side apply and force replace together";
        return Err(Trouble::said(format!("invalid client update option(s): {why}")));
    }
    if !server_side && force_conflicts {
        let why = "forceConflicts enabled when serverSideApply disabled";
        return Err(Trouble::said(format!("invalid client update option(s): {why}")));
    }
    Ok(Apply { server_side, force_conflicts, replace, ..Apply::default() })
}

/// The record of a rendered release.
fn record_of(made: Made, revision: i64, namespace: &str, now: &str, server_side: bool) -> Result<Record, String> {
    let json = |text: &str| serde_json::from_str::<Json>(text).map_err(|error| error.to_string());
    let hooks = made.hooks.iter().map(|document| hooks::hook(&document.path, &document.text, &document.events));
    let parts = Parts {
        name: made.name,
        namespace: namespace.to_owned(),
        revision,
        chart: json(&made.chart)?,
        config: json(&made.config)?,
        manifest: made.manifest,
        hooks: hooks.collect::<Result<Vec<Json>, String>>()?,
        notes: made.notes,
    };
    Ok(Record::new(parts, now, server_side))
}

/// Renders a chart as a release, and reports warnings.
fn rendered(
    invocation: &mut Invocation<'_>,
    (session, path): &(Session, String),
    terms: &Terms,
    before: &str,
) -> Result<Made, Exit> {
    let made = make(session, path, terms).map_err(|error| {
        let error = purlin_charts::template::TemplateError { message: format!("{before}{}", error.message), ..error };
        print_failure(invocation, &error, false, terms.options.helm)
    })?;
    for warning in &made.warnings {
        let _ = writeln!(invocation.stderr, "{warning}");
    }
    if made.is_deprecated {
        let _ = writeln!(invocation.stderr, "{}", terms.options.helm.deprecated);
    }
    Ok(made)
}

/// The cluster as templates see it. What `lookup` answers is read when a template asks.
fn view(connected: &Connected, invocation: &mut Invocation<'_>) -> Result<Cluster, Trouble> {
    let namespace = connected.namespace.clone();
    let seen = connected.work(invocation, &namespace, |engine| engine.capabilities())?;
    let lookups = Lookups::new(connected.client());
    let lookup = move |asked: [&str; 4]| match lookups.find(asked)? {
        Some(found) => read(&found.to_string()),
        None => Ok(Value::map(Default::default())),
    };
    Ok(Cluster { version: seen.version, api_versions: seen.api_versions, lookup: Arc::new(lookup) })
}

/// The name and the chart that `helm install` is given.
fn named(invocation: &mut Invocation<'_>, flags: &Arguments) -> Result<(Option<String>, String), Exit> {
    let generates = flags.switch("generate-name");
    let template = flags.text("name-template").filter(|text| !text.is_empty());
    let message = match flags.words.as_slice() {
        [name, chart] if !generates && template.is_none() => return Ok((Some(name.clone()), chart.clone())),
        [_, _] if generates => "cannot set --generate-name and also specify a name".to_owned(),
        [_, _] => "cannot set --name-template and also specify a name".to_owned(),
        [chart] if template.is_some() => return Ok((None, chart.clone())),
        [chart] if generates => {
            let base = chart.rsplit('/').find(|part| !part.is_empty()).unwrap_or("chart");
            let base = base.split('.').next().filter(|base| !base.is_empty()).unwrap_or("chart");
            let now = crate::project::clock(&invocation.env).map_err(|message| fail(invocation, &message))?;
            return Ok((Some(format!("{base}-{}", now.0.div_euclid(1_000_000_000))), chart.clone()));
        }
        [_] => "must either provide a name or specify --generate-name".to_owned(),
        [] => {
            let message =
                "\"helm install\" requires at least 1 argument\n\nUsage:  helm install [NAME] [CHART] [flags]";
            return Err(fail(invocation, message));
        }
        [_, _, more @ ..] => {
            format!("expected at most two arguments, unexpected arguments: {}", more.join(", "))
        }
    };
    Err(fail(invocation, &format!("INSTALLATION FAILED: {message}")))
}

/// `helm install`
pub(super) fn install(invocation: &mut Invocation<'_>, args: &[String], helm: &'static Helm) -> Result<Exit, Exit> {
    let flags = arguments(invocation, args, &[CHART, CHANGING, MAKING, INSTALL])?;
    let wishes = wishes(invocation, &flags, helm)?;
    let (name, chart) = named(invocation, &flags)?;
    let mut terms = charted::terms(&flags, helm);
    terms.options.name_template = flags.text("name-template").map(str::to_owned).filter(|text| !text.is_empty());
    let work = Work { flags: &flags, wishes: &wishes, before: "INSTALLATION FAILED: " };
    work.install(invocation, name.unwrap_or_default(), &chart, terms, None, flags.switch("replace"))
}

/// One run of a command that makes a revision.
struct Work<'w> {
    flags: &'w Arguments,
    wishes: &'w Wishes,
    /// The beginning of its error messages.
    before: &'static str,
}

impl Work<'_> {
    fn failed(&self, invocation: &mut Invocation<'_>, trouble: &Trouble) -> Exit {
        report(invocation, self.before, trouble)
    }

    fn install(
        &self,
        invocation: &mut Invocation<'_>,
        name: String,
        chart: &str,
        mut terms: Terms,
        connected: Option<Connected>,
        replaces: bool,
    ) -> Result<Exit, Exit> {
        let Work { flags, wishes, .. } = *self;
        let opened = charted::open(invocation, flags, (chart, self.before), &mut terms)?;
        terms.options.name = name;
        terms.hide_secret = flags.switch("hide-secret");
        let server_side = wishes.server_side.unwrap_or(true);
        let install = Install {
            create_namespace: flags.switch("create-namespace"),
            replace: replaces,
            no_hooks: flags.switch("no-hooks"),
            wait: wishes.waits || wishes.rolls_back,
            wait_for_jobs: flags.switch("wait-for-jobs"),
            uninstall_on_failure: wishes.rolls_back,
            take_ownership: flags.switch("take-ownership"),
            apply: apply(flags, server_side).map_err(|trouble| self.failed(invocation, &trouble))?,
            timeout: wishes.timeout,
            description: flags.text("description").unwrap_or("").to_owned(),
        };
        if wishes.dry == Dry::Client {
            let space = namespace(invocation, flags).unwrap_or_else(|| "default".to_owned());
            terms.options.namespace.clone_from(&space);
            let made = rendered(invocation, &opened, &terms, self.before)?;
            let record = self.dry_record(invocation, made, 1, &space, server_side, Status::PendingInstall)?;
            return self.answer(invocation, &record, None);
        }
        let connected = match connected {
            Some(connected) => connected,
            None => connect(invocation, flags)?,
        };
        let space = connected.namespace.clone();
        terms.options.namespace.clone_from(&space);
        self.install_in(invocation, &connected, &opened, terms, &install)
    }

    fn install_in(
        &self,
        invocation: &mut Invocation<'_>,
        connected: &Connected,
        opened: &(Session, String),
        mut terms: Terms,
        install: &Install,
    ) -> Result<Exit, Exit> {
        let (space, is_dry) = (connected.namespace.clone(), self.wishes.dry != Dry::No);
        let name = terms.options.name.clone();
        let definitions = match self.flags.switch("skip-crds") {
            true => Vec::new(),
            false => definitions_of(&opened.0, &opened.1, &terms)
                .map_err(|error| print_failure(invocation, &error, false, terms.options.helm))?,
        };
        if is_dry && !definitions.is_empty() {
            let text = "This chart or one of its subcharts contains CRDs. Rendering may fail or contain inaccuracies.";
            let _ = writeln!(invocation.stderr, "level=WARN msg={text:?}");
        }
        let begun = connected.work(invocation, &space, |engine| {
            engine.reach().map_err(|trouble| trouble.within("cluster reachability check failed"))?;
            if !is_dry && !name.is_empty() {
                engine.check_name(&name, install.replace)?;
            }
            if is_dry { Ok(()) } else { engine.install_definitions(&definitions, install.apply) }
        });
        begun.map_err(|trouble| self.failed(invocation, &trouble))?;
        terms.cluster = Some(view(connected, invocation).map_err(|trouble| self.failed(invocation, &trouble))?);
        let made = rendered(invocation, opened, &terms, self.before)?;
        if is_dry {
            let side = install.apply.server_side;
            let record = self.dry_record(invocation, made, 1, &space, side, Status::PendingInstall)?;
            let tried = connected.work(invocation, &space, |engine| engine.try_install(&record, install));
            tried.map_err(|trouble| self.failed(invocation, &trouble))?;
            return self.answer(invocation, &record, None);
        }
        let record = self.record(invocation, made, 1, &space, install.apply.server_side)?;
        let shown = record.name().to_owned();
        let done = connected.work(invocation, &space, |engine| {
            if name.is_empty() {
                engine.check_name(record.name(), install.replace)?;
            }
            engine.install(record, install)
        });
        let record = done.map_err(|trouble| self.ended(invocation, connected, &shown, &trouble))?;
        self.answer(invocation, &record, None)
    }

    /// Reports why an operation ended, first of all if the user stopped it.
    fn ended(&self, invocation: &mut Invocation<'_>, connected: &Connected, name: &str, trouble: &Trouble) -> Exit {
        if connected.is_stopped() {
            invocation.print(&format!("Release {name} has been cancelled.\n"));
        }
        self.failed(invocation, trouble)
    }

    fn record(
        &self,
        invocation: &mut Invocation<'_>,
        made: Made,
        revision: i64,
        namespace: &str,
        server_side: bool,
    ) -> Result<Record, Exit> {
        let now = crate::project::clock(&invocation.env).map_err(|message| fail(invocation, &message))?;
        let record = record_of(made, revision, namespace, &rfc3339(now.0), server_side);
        let mut record = record.map_err(|message| fail(invocation, &format!("{}{message}", self.before)))?;
        record.labels.clone_from(&self.wishes.labels);
        Ok(record)
    }

    fn dry_record(
        &self,
        invocation: &mut Invocation<'_>,
        made: Made,
        revision: i64,
        namespace: &str,
        server_side: bool,
        status: Status,
    ) -> Result<Record, Exit> {
        let mut record = self.record(invocation, made, revision, namespace, server_side)?;
        let description = self.flags.text("description").filter(|text| !text.is_empty() && revision > 1);
        record.set_status(status, description.unwrap_or("Dry run complete"));
        Ok(record)
    }

    /// Prints the state of the new revision.
    fn answer(&self, invocation: &mut Invocation<'_>, record: &Record, said: Option<&str>) -> Result<Exit, Exit> {
        if self.wishes.form != Form::Table {
            return Ok(invocation.print(&self.wishes.form.text(&record.body)));
        }
        let is_dry = self.wishes.dry != Dry::No;
        let mut told = Told { hide_notes: self.flags.switch("hide-notes"), manifests: is_dry, ..Told::default() };
        let values = match self.flags.switch("debug") {
            true => Some(values_of(invocation, record, Default::default())?),
            false => None,
        };
        told.whole = values.as_ref();
        let text = format!("{}{}", said.unwrap_or_default(), status_text(record, told));
        Ok(invocation.print(&text))
    }
}

/// `helm upgrade`
pub(super) fn upgrade(invocation: &mut Invocation<'_>, args: &[String], helm: &'static Helm) -> Result<Exit, Exit> {
    let flags = arguments(invocation, args, &[CHART, CHANGING, MAKING, UPGRADE])?;
    let wishes = wishes(invocation, &flags, helm)?;
    let [name, chart] = flags.words.as_slice() else {
        let message = "\"helm upgrade\" requires 2 arguments\n\nUsage:  helm upgrade [RELEASE] [CHART] [flags]";
        return Err(fail(invocation, message));
    };
    charted::refuse(invocation, &flags)?;
    let terms = charted::terms(&flags, helm);
    let connected = connect(invocation, &flags)?;
    let space = connected.namespace.clone();
    if flags.switch("install") {
        let newest = connected.work(invocation, &space, |engine| {
            engine.reach()?;
            match engine.last(name) {
                Err(Trouble::NotFound) => Ok(None),
                found => found.map(Some),
            }
        });
        let newest = newest.map_err(|trouble| report(invocation, "", &trouble))?;
        let is_uninstalled = newest.as_ref().is_some_and(|record| record.status() == Status::Uninstalled);
        if newest.is_none() || is_uninstalled {
            if wishes.form == Form::Table {
                invocation.print(&format!("Release {name:?} does not exist. Installing it now.\n"));
            }
            let work = Work { flags: &flags, wishes: &wishes, before: "" };
            return work.install(invocation, name.clone(), chart, terms, Some(connected), is_uninstalled);
        }
    }
    let work = Work { flags: &flags, wishes: &wishes, before: "UPGRADE FAILED: " };
    work.upgrade(invocation, name, chart, terms, &connected)
}

impl Work<'_> {
    fn upgrade(
        &self,
        invocation: &mut Invocation<'_>,
        name: &str,
        chart: &str,
        mut terms: Terms,
        connected: &Connected,
    ) -> Result<Exit, Exit> {
        let Work { flags, wishes, .. } = *self;
        let opened = charted::open(invocation, flags, (chart, ""), &mut terms)?;
        let space = connected.namespace.clone();
        let begun = connected.work(invocation, &space, |engine| {
            engine.reach()?;
            engine.before_upgrade(name)
        });
        let before = begun.map_err(|trouble| self.failed(invocation, &trouble))?;
        terms.options.name = name.to_owned();
        terms.options.namespace = before.current.namespace().to_owned();
        terms.options.is_upgrade = true;
        terms.revision = before.last.revision() + 1;
        terms.hide_secret = flags.switch("hide-secret");
        terms.previous = Some(previous(&before.current).map_err(|message| fail(invocation, &message))?);
        terms.reuse = match () {
            () if flags.switch("reset-values") => Reuse::Nothing,
            () if flags.switch("reuse-values") => Reuse::All,
            () if flags.switch("reset-then-reuse-values") => Reuse::Given,
            () => Reuse::Usual,
        };
        let seen = view(connected, invocation);
        let mut seen = seen.map_err(|trouble| self.failed(invocation, &trouble))?;
        if wishes.dry == Dry::Client {
            seen.lookup = Arc::new(|_| Ok(Value::map(Default::default())));
        }
        terms.cluster = Some(seen);
        let made = rendered(invocation, &opened, &terms, self.before)?;
        let server_side = wishes.server_side.unwrap_or(before.last.is_server_side());
        let upgrade = Upgrade {
            no_hooks: flags.switch("no-hooks"),
            wait: wishes.waits || wishes.rolls_back,
            wait_for_jobs: flags.switch("wait-for-jobs"),
            rollback_on_failure: wishes.rolls_back,
            cleanup_on_fail: flags.switch("cleanup-on-fail"),
            take_ownership: flags.switch("take-ownership"),
            history_max: wishes.history_max,
            apply: apply(flags, server_side).map_err(|trouble| self.failed(invocation, &trouble))?,
            server_side: wishes.server_side,
            timeout: wishes.timeout,
            description: flags.text("description").unwrap_or("").to_owned(),
        };
        let record = match wishes.dry {
            Dry::No => self.record(invocation, made, terms.revision, before.current.namespace(), server_side)?,
            _ => {
                let space = before.current.namespace();
                self.dry_record(invocation, made, terms.revision, space, server_side, Status::PendingUpgrade)?
            }
        };
        let mut record = record;
        record.set_info("first_deployed", before.current.first_deployed());
        let mut labels = before.last.labels.clone();
        labels.extend(std::mem::take(&mut record.labels));
        labels.retain(|_, value| value != "null");
        record.labels = labels;
        let done = connected.work(invocation, &space, |engine| match wishes.dry {
            Dry::No => engine.upgrade(before, record, &upgrade),
            _ => engine.try_upgrade(&before, &record, &upgrade).map(|()| record),
        });
        let record = done.map_err(|trouble| self.ended(invocation, connected, name, &trouble))?;
        let said = format!("Release {name:?} has been upgraded. Happy Helming!\n");
        self.answer(invocation, &record, Some(&said))
    }
}

/// `helm rollback`
pub(super) fn rollback(invocation: &mut Invocation<'_>, args: &[String], helm: &'static Helm) -> Result<Exit, Exit> {
    let flags = arguments(invocation, args, &[CHANGING])?;
    let wishes = wishes(invocation, &flags, helm)?;
    let (name, revision) = match flags.words.as_slice() {
        [name] => (name, 0),
        [name, revision, ..] => match revision.parse() {
            Ok(revision) => (name, revision),
            Err(_) => {
                let why = format!("strconv.Atoi: parsing {revision:?}: invalid syntax");
                return Err(fail(invocation, &format!("could not convert revision to a number: {why}")));
            }
        },
        [] => {
            let message =
                "\"helm rollback\" requires at least 1 argument\n\nUsage:  helm rollback <RELEASE> [REVISION] [flags]";
            return Err(fail(invocation, message));
        }
    };
    let connected = connect(invocation, &flags)?;
    let space = connected.namespace.clone();
    let done = connected.work(invocation, &space, |engine| {
        engine.reach()?;
        let rollback = Rollback {
            revision,
            no_hooks: flags.switch("no-hooks"),
            wait: wishes.waits,
            wait_for_jobs: flags.switch("wait-for-jobs"),
            cleanup_on_fail: flags.switch("cleanup-on-fail"),
            history_max: wishes.history_max,
            apply: rollback_apply(&flags, engine, name, revision, &wishes)?,
            server_side: wishes.server_side,
            timeout: wishes.timeout,
            is_dry: wishes.dry != Dry::No,
        };
        engine.rollback(name, &rollback)
    });
    done.map_err(|trouble| report(invocation, "", &trouble))?;
    Ok(invocation.print("Rollback was a success! Happy Helming!\n"))
}

/// The way of applying is that of the earlier revision unless the user chose one.
fn rollback_apply(
    flags: &Arguments,
    engine: &Engine<'_>,
    name: &str,
    revision: i64,
    wishes: &Wishes,
) -> Result<Apply, Trouble> {
    let server_side = match wishes.server_side {
        Some(side) => side,
        None if revision > 0 => engine.revision(name, revision).is_ok_and(|record| record.is_server_side()),
        None => engine.last(name).is_ok_and(|record| record.is_server_side()),
    };
    apply(flags, server_side)
}

#[rustfmt::skip]
const UNINSTALL: &[(&str, char, Takes)] = &[
    ("dry-run", ' ', Takes::Switch),
    ("no-hooks", ' ', Takes::Switch),
    ("ignore-not-found", ' ', Takes::Switch),
    ("keep-history", ' ', Takes::Switch),
    ("cascade", ' ', Takes::Text),
    ("timeout", ' ', Takes::Text),
    ("description", ' ', Takes::Text),
    ("wait", ' ', Takes::Bare("watcher")),
];

/// `helm uninstall`
pub(super) fn uninstall(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let flags = arguments(invocation, args, &[UNINSTALL])?;
    if flags.words.is_empty() {
        let message =
            "\"helm uninstall\" requires at least 1 argument\n\nUsage:  helm uninstall RELEASE_NAME [...] [flags]";
        return Err(fail(invocation, message));
    }
    let cascade = flags.text("cascade").unwrap_or("background").to_owned();
    if !["background", "foreground", "orphan"].contains(&cascade.as_str()) {
        let message =
            format!("invalid cascade value ({cascade}). Must be \"background\", \"foreground\", or \"orphan\"");
        return Err(fail(invocation, &message));
    }
    let uninstall = Uninstall {
        no_hooks: flags.switch("no-hooks"),
        keep_history: flags.switch("keep-history"),
        ignore_not_found: flags.switch("ignore-not-found"),
        wait: waits(invocation, &flags)?,
        cascade,
        timeout: timeout(invocation, &flags)?,
        description: flags.text("description").unwrap_or("").to_owned(),
        is_dry: flags.switch("dry-run"),
    };
    let connected = connect(invocation, &flags)?;
    let space = connected.namespace.clone();
    for name in &flags.words {
        let removed = connected.work(invocation, &space, |engine| {
            engine.reach()?;
            engine.uninstall(name, &uninstall)
        });
        let removed = removed.map_err(|trouble| report(invocation, "", &trouble))?;
        if !removed.info.is_empty() {
            invocation.print(&format!("{}\n", removed.info));
        }
        invocation.print(&format!("release \"{name}\" uninstalled\n"));
    }
    Ok(Exit::Ok)
}

const TEST: &[(&str, char, Takes)] = &[
    ("timeout", ' ', Takes::Text),
    ("logs", ' ', Takes::Switch),
    ("filter", ' ', Takes::List),
    ("hide-notes", ' ', Takes::Switch),
];

/// `helm test`
pub(super) fn test(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let flags = arguments(invocation, args, &[TEST])?;
    let [name] = flags.words.as_slice() else {
        return Err(fail(invocation, "\"helm test\" requires 1 argument\n\nUsage:  helm test [RELEASE] [flags]"));
    };
    let mut tests = Tests { timeout: timeout(invocation, &flags)?, ..Tests::default() };
    for filter in flags.list("filter").iter().flat_map(|list| list.split(',')) {
        if let Some(name) = filter.strip_prefix("name=") {
            tests.only.push(name.to_owned());
        } else if let Some(name) = filter.strip_prefix('!').and_then(|rest| rest.trim_start().strip_prefix("name=")) {
            tests.without.push(name.to_owned());
        } else {
            return Err(fail(invocation, &format!("unknown filter {filter:?}: expected name=TEST or !name=TEST")));
        }
    }
    let connected = connect(invocation, &flags)?;
    let space = connected.namespace.clone();
    let ran = connected.work(invocation, &space, |engine| {
        engine.reach()?;
        engine.test(name, &tests)
    });
    let ran = ran.map_err(|trouble| report(invocation, "", &trouble))?;
    invocation.print(&status_text(&ran.record, Told { hide_notes: true, ..Told::default() }));
    let mut failure = ran.trouble.clone();
    if flags.switch("logs") {
        let logs = connected.work(invocation, &space, |engine| engine.test_logs(&ran.record, &tests));
        match logs {
            Ok(logs) => {
                let one = |(name, text): &(String, String)| format!("POD LOGS: {name}\n{text}\n");
                invocation.print(&format!("\n{}", logs.iter().map(one).collect::<String>()));
            }
            Err(trouble) => failure = failure.or(Some(trouble)),
        }
    }
    let ended = connected.work(invocation, &space, |engine| engine.end_tests(&ran, &tests));
    match failure.or(ended.err()) {
        Some(trouble) => Err(report(invocation, "", &trouble)),
        None => Ok(Exit::Ok),
    }
}
