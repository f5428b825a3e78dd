//! `diagnose`, `render`, `fix`, `schema`.

use super::{Look, Opened, flags::Flags, open, surroundings::variables, usage};
use crate::border::write_atomically;
use crate::invocation::{Exit, Invocation};
use purlin_host::named;
use purlin_model::Manifest;
use purlin_skaffold::editions::{self, Edition, LATEST};
use purlin_skaffold::emit::{Finish, Template, Written, section_without};
use purlin_skaffold::entities::config::SKAFFOLD_CONFIG;
use purlin_skaffold::fix::{self, Fixed};
use purlin_skaffold::render::{self, Settings};
use purlin_skaffold::setters::Setters;
use purlin_skaffold::validate::{Scope, Tags, validate};
use purlin_skaffold::walk::{Bases, Config};
use purlin_skaffold::{image, json_schema, remote::Sync, rules, tag, unrendered};
use purlin_syntax::Diagnostic;
use purlin_syntax::write::{Emit, JsonFlavor, JsonLayout, JsonWriter, YamlWriter};
use purlin_value::emit::to_yaml;
use purlin_value::{Secrets, Session};
use std::cell::RefCell;

/// `diagnose`: the configurations with all defaults.
pub fn diagnose(invocation: &mut Invocation<'_>, flags: &Flags) -> Result<Exit, Exit> {
    let look =
        Look { command: "diagnose", bases: Bases::All, defaults: true, auto_activation: true, sync: Sync::Missing };
    let opened = open(invocation, flags, &look)?;
    Ok(opened.with_configs(invocation, |invocation, session, configs| {
        let text = if flags.switch("enable-templating", false) {
            let env = invocation.template_env();
            let failed = RefCell::new(None);
            let expand = |text: &str| match purlin_skaffold::template::expand_known(text, &env) {
                Ok(expanded) => Some(expanded),
                Err(why) => {
                    failed.borrow_mut().get_or_insert(why);
                    None
                }
            };
            let text = documents(&configs, HIDDEN, Some(&expand));
            if let Some(why) = failed.into_inner() {
                session.sink.push(Diagnostic::nowhere(&rules::TEMPLATE, why));
            }
            text
        } else {
            documents(&configs, HIDDEN, None)
        };
        match opened.report(invocation) {
            Exit::Ok => output(invocation, flags, &text),
            exit => exit,
        }
    }))
}

/// Keys that a finished configuration no longer contains.
const HIDDEN: &[&str] = &["requires", "profiles"];

/// Configurations as documents, without some keys.
pub(super) fn documents(configs: &[Config<'_>], without: &[&str], template: Option<&Template<'_>>) -> String {
    let mut writer = YamlWriter::new();
    for config in configs {
        let finish = Finish { edition: LATEST, founding: false, base: config.base.as_deref(), template };
        section_without(config.item.view(), &SKAFFOLD_CONFIG, without, &finish, &mut Written(&mut writer));
    }
    writer.finish().unwrap_or_default()
}

/// Writes data to `--output`, or to standard output.
pub(super) fn output(invocation: &mut Invocation<'_>, flags: &Flags, text: &str) -> Exit {
    let Some(file) = flags.text("output") else { return invocation.print(text) };
    match write_atomically(&invocation.cwd.join(file), text.as_bytes()) {
        Ok(()) => Exit::Ok,
        Err(error) => invocation.refuse(&format!("cannot write `{file}`: {error}"), Exit::Io),
    }
}

/// `render`: the manifests of all configurations.
pub fn render(invocation: &mut Invocation<'_>, flags: &Flags) -> Result<Exit, Exit> {
    let look = Look {
        command: "render",
        bases: Bases::Dependencies,
        defaults: true,
        auto_activation: true,
        sync: Sync::Always,
    };
    let opened = open(invocation, flags, &look)?;
    Ok(opened.with_configs(invocation, |invocation, session, configs| {
        if !validate(session, &configs, Scope::Manifests, flags.tags()) {
            return opened.report(invocation);
        }
        if is_building(flags) {
            super::execute::report_contexts(session, &configs, &|_| true);
        }
        let settings = match settings(invocation, flags, session, &configs) {
            Ok(settings) => settings,
            Err(message) => return usage(invocation, &message),
        };
        configs.iter().for_each(|config| unrendered::report(config, &session.sink));
        configs.iter().for_each(|config| unrendered::report_functions(config, true, &session.sink));
        if session.sink.has_errors() {
            return opened.report(invocation);
        }
        let manifests = render::render(session, &configs, &settings, purlin_compiler::ENGINES);
        let text = bodies(&manifests).join("---\n");
        match opened.report(invocation) {
            Exit::Ok => output(invocation, flags, &text),
            exit => exit,
        }
    }))
}

/// Manifests as texts, each ending with a line break.
pub(super) fn bodies(manifests: &[Manifest]) -> Vec<String> {
    let body = |manifest: &Manifest| {
        let text = match manifest.body() {
            Some(written) => written.trim_end().to_owned(),
            None => to_yaml(&manifest.value, Secrets::Reveal).unwrap_or_default(),
        };
        if text.ends_with('\n') { text } else { text + "\n" }
    };
    manifests.iter().map(body).collect()
}

/// Whether `render` would build the images, or tag them: none are given, and manifests are not used as they are.
fn is_building(flags: &Flags) -> bool {
    let given = flags.text("build-artifacts").is_some() || !flags.list("images").is_empty();
    !given && flags.text("digest-source") != Some("none")
}

/// The images and labels for manifests.
pub(super) fn settings(
    invocation: &Invocation<'_>,
    flags: &Flags,
    session: &Session,
    configs: &[Config<'_>],
) -> Result<Settings, String> {
    let mut built: Vec<(String, String)> = Vec::new();
    if let Some(file) = flags.text("build-artifacts") {
        let path = invocation.cwd.join(file);
        let text =
            named::stream_text(&path, named::LARGEST).map_err(|error| format!("cannot read `{file}`: {error}"))?;
        built.extend(render::built(&text, session).ok_or_else(|| format!("`{file}` lists no `builds`"))?);
    }
    for given in flags.list("images") {
        let (name, tag) = match given.split_once('=') {
            Some((name, tag)) => (name.to_owned(), tag.to_owned()),
            None => {
                let parts = image::parse(&given).map_err(|why| format!("`--images {given}`: {why}"))?;
                (parts.name, given)
            }
        };
        let tag = flags.text("default-repo").map_or_else(|| tag.clone(), |registry| image::in_registry(&tag, registry));
        built.push((name, tag));
    }
    if is_building(flags) && flags.text("digest-source") == Some("tag") {
        let named = flags.text("tag").filter(|tag| !tag.is_empty());
        built = tag::tags(session, configs, &invocation.template_env(), flags.text("default-repo"), named)?;
    }
    let label = |text: &String| {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        (name.to_owned(), value.to_owned())
    };
    let namespace = flags.text("namespace").filter(|namespace| !namespace.is_empty()).map(str::to_owned);
    Ok(Settings {
        images: built.iter().cloned().collect(),
        builds: built,
        labels: flags.list("label").iter().map(label).collect(),
        release_namespace: namespace.clone(),
        namespace: namespace.filter(|_| !flags.switch("offline", false)),
        places_releases: false,
        setters: setters(invocation, flags)?,
    })
}

/// Values for fields of manifests: those of the command line override those of a file.
fn setters(invocation: &Invocation<'_>, flags: &Flags) -> Result<Setters, String> {
    let mut found = Setters::new();
    if let Some(file) = flags.text("set-value-file") {
        let path = invocation.cwd.join(file);
        let text = named::stream_text(&path, named::LARGEST);
        let text = text.map_err(|error| format!("could not read `{file}`: {error}"))?;
        found.extend(variables(&text));
    }
    for given in flags.list("set") {
        let (name, value) =
            given.split_once('=').ok_or_else(|| format!("`--set {given}`: expected `NAME=VALUE`, found no `=`"))?;
        found.insert(name.to_owned(), value.to_owned());
    }
    Ok(found)
}

/// `fix`: the file in the newest version.
pub fn fix(invocation: &mut Invocation<'_>, flags: &Flags) -> Result<Exit, Exit> {
    let look =
        Look { command: "fix", bases: Bases::None, defaults: false, auto_activation: false, sync: Sync::Missing };
    let opened = open(invocation, flags, &look)?;
    let wanted = flags.text("version").map_or_else(|| editions::api_version(LATEST), str::to_owned);
    let Some(to) = editions::parse(&wanted) else {
        return Err(usage(invocation, &format!("`{wanted}` is not a known `apiVersion` of Skaffold")));
    };
    Ok(fix_file(invocation, flags, &opened, to))
}

fn fix_file(invocation: &mut Invocation<'_>, flags: &Flags, opened: &Opened, to: Edition) -> Exit {
    let forest = purlin_skaffold::forest::Forest::new();
    let session = &opened.session;
    let loader = purlin_skaffold::load::Loader::new(session, &forest, opened.wanted.format, opened.stdin.clone());
    let given = opened.wanted.file.clone();
    let full = if given == "-" { given.clone() } else { purlin_value::path::join(loader.here(), &given) };
    let file = match loader.file(&full) {
        Ok(Some(file)) => file,
        Ok(None) => return opened.report(invocation),
        Err(reason) => {
            session.sink.push(purlin_skaffold::load::missing(&reason, &given, None, None));
            return opened.report(invocation);
        }
    };
    let Some(tree) = file.documents.first().map(|document| document.root.tree()) else {
        return opened.report(invocation);
    };
    let fixed = fix::fix(tree, to, &session.sink);
    if let Some(Fixed::Text(_)) = &fixed
        && to == LATEST
    {
        let configs = purlin_skaffold::walk::as_written(&file, loader.here());
        validate(session, &configs, Scope::Configuration, Tags::Made);
    }
    match (opened.report(invocation), fixed) {
        (Exit::Ok, Some(Fixed::Already)) => {
            let text = format!("config is already version {}\n", editions::api_version(to));
            output(invocation, &Flags::default(), &text)
        }
        (Exit::Ok, Some(Fixed::Text(text))) if flags.switch("overwrite", false) && given != "-" => {
            overwrite(invocation, &given, file.source.text(), &text)
        }
        (Exit::Ok, Some(Fixed::Text(text))) => output(invocation, flags, &text),
        (Exit::Ok, None) => Exit::Invalid,
        (exit, _) => exit,
    }
}

/// Replaces the file and keeps the old one next to it.
fn overwrite(invocation: &mut Invocation<'_>, given: &str, old: &str, new: &str) -> Exit {
    let path = invocation.cwd.join(given);
    let kept = invocation.cwd.join(format!("{given}.v2"));
    let written = write_atomically(&kept, old.as_bytes()).and_then(|()| write_atomically(&path, new.as_bytes()));
    match written {
        Ok(()) => {
            let _ = writeln!(
                invocation.stdout,
                "New config at version {} generated and written to {given} (old one kept in {given}.v2)",
                editions::api_version(LATEST)
            );
            Exit::Ok
        }
        Err(error) => invocation.refuse(&format!("cannot write `{given}`: {error}"), Exit::Io),
    }
}

/// `schema list` and `schema get`.
pub fn schema(invocation: &mut Invocation<'_>, flags: &Flags) -> Result<Exit, Exit> {
    let text = match flags.word(1) {
        "list" if flags.text("output") == Some("json") => {
            let mut writer = JsonWriter::new(JsonLayout::Compact, JsonFlavor::Plain);
            writer.begin_map(1);
            writer.key("versions");
            writer.begin_list(editions::all().count());
            editions::all().for_each(|edition| writer.string(&editions::api_version(edition)));
            writer.end_list();
            writer.end_map();
            format!("{}\n", writer.finish().unwrap_or_default())
        }
        "list" => editions::all().map(|edition| format!("{}\n", editions::api_version(edition))).collect(),
        "get" => {
            let wanted = flags.word(2);
            let name = if wanted.contains('/') { wanted.to_owned() } else { format!("skaffold/{wanted}") };
            match editions::parse(&name) {
                Some(edition) => json_schema::write(edition),
                None => return Err(usage(invocation, &format!("schema {wanted:?} not found"))),
            }
        }
        other => {
            return Err(usage(invocation, &format!("`schema {other}` is not known; try `list` or `get VERSION`")));
        }
    };
    Ok(invocation.print(&text))
}
