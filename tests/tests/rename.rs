//! Whatever is renamed, projects come to the same up to the name, in all environments; and renaming back gives the files as
//! they were, so that no place was missed and no other one was touched.
//!
//! `PURLIN_RENAMES` is the number of renames; a few by default.

#![allow(clippy::disallowed_methods, clippy::expect_used, clippy::panic, reason = "a test says what it expects")]

use purlin_compiler::{Named, search};
use purlin_ide::{Buffers, Desk, Ide, Workspace, apply, place_of};
use purlin_model::{Request, Resolved};
use purlin_suite::edits::Dice;
use purlin_syntax::Limits;
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::to_json;
use purlin_value::{MemoryWorld, Secrets, Session, World};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A project: its files by path.
type Files = BTreeMap<String, String>;

const ENVIRONMENTS: [&str; 2] = ["dev", "prod"];
const NAMES: [&str; 4] = ["port", "host", "level", "tag"];

fn pick<'n>(dice: &mut Dice, names: &[&'n str]) -> &'n str {
    dice.one(names)
}

/// A mapping of variables; some refer to others, some hold mappings.
fn variables(dice: &mut Dice, indent: &str, seen: &[&str]) -> String {
    let mut text = String::new();
    for name in NAMES {
        match dice.roll(5) {
            0 | 1 => text += &format!("{indent}{name}: \"{}\"\n", dice.roll(100)),
            2 if !seen.is_empty() => text += &format!("{indent}{name}-of: \"x-${{var.{}}}\"\n", pick(dice, seen)),
            _ => {}
        }
    }
    text += &format!("{indent}db: {{host: \"{}\", port: \"{}\"}}\n", dice.roll(9), dice.roll(9));
    text
}

/// A Garden project with equal names at every level, and two charts with equal values.
fn generated(dice: &mut Dice) -> Files {
    let mut files = Files::new();
    let mut project = "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments:\n  - name: dev\n".to_owned();
    if dice.roll(2) == 0 {
        project += "    variables:\n";
        project += &variables(dice, "      ", &NAMES);
    }
    project += "  - name: prod\n    varfile: prod.yml\nvariables:\n";
    project += &NAMES.map(|name| format!("  {name}: \"{name}-0\"\n")).concat();
    project += "  db: {host: \"h\", port: \"p\", user: \"u\"}\n";
    files.insert("prod.yml".into(), variables(dice, "", &NAMES));
    let kinds = ["Build", "Run", "Test"];
    let actions = ["api", "web", "port"];
    for (kind, name) in kinds.iter().flat_map(|kind| actions.map(|name| (kind, name))) {
        project += &format!("---\nkind: {kind}\ntype: exec\nname: {name}\n");
        let own = dice.roll(2) == 0;
        if own {
            project += "variables:\n";
            project += &variables(dice, "  ", &[]);
        }
        if *kind == "Run" && dice.roll(2) == 0 {
            project += &format!("dependencies: [build.{}]\n", pick(dice, &actions));
        }
        let mut words = vec!["echo".to_owned()];
        for _ in 0..3 {
            let name = pick(dice, &NAMES);
            words.push(match dice.roll(6) {
                0 => format!("\"${{var['{name}']}}\""),
                1 => format!("\"${{false ? var.{name} : 'no'}}\""),
                2 => "\"${var.db.host}\"".to_owned(),
                3 if *kind == "Test" => format!("\"${{actions.run.{}.var.{name}}}\"", pick(dice, &actions)),
                _ => format!("\"a ${{var.{name}}} b\""),
            });
        }
        project += &format!("spec: {{command: [{}]}}\n", words.join(", "));
    }
    project += "---\nkind: Workflow\nname: all\nsteps:\n  - name: api\n    command: [build, api]\n";
    project += "  - script: echo ${steps.api.outputs}\n";
    for chart in ["one", "two"] {
        project += &format!("---\nkind: Deploy\ntype: helm\nname: {chart}\nspec:\n  chart: {{path: {chart}}}\n");
        project += &format!("  values: {{{}: \"${{var.{}}}\"}}\n", pick(dice, &NAMES), pick(dice, &NAMES));
        let mut add = |name: &str, text: String| drop(files.insert(format!("{chart}/{name}"), text));
        add("Chart.yaml", format!("apiVersion: v2\nname: {chart}\nversion: 1.0.0\n"));
        let values = NAMES.map(|name| format!("{name}: \"{name}\"\n")).concat();
        add("values.yaml", format!("{values}db: {{host: h, port: p}}\nsub: {{tag: s}}\n"));
        let read = |dice: &mut Dice| match dice.roll(4) {
            0 => format!("{{{{ index .Values \"{}\" | quote }}}}", pick(dice, &NAMES)),
            1 => format!("{{{{ with .Values.db }}}}{{{{ .{} | quote }}}}{{{{ end }}}}", pick(dice, &["host", "port"])),
            2 => format!("{{{{ include \"show\" (dict \"v\" .Values.db \"x\" .Values.{}) }}}}", pick(dice, &NAMES)),
            _ => format!("{{{{ default 1 $.Values.{} | quote }}}}", pick(dice, &NAMES)),
        };
        let lines: String = (0..4).map(|at| format!("  k{at}: {}\n", read(dice))).collect();
        let hidden = format!("{{{{ if .Values.none }}}}\n  n: {}\n{{{{ end }}}}\n", read(dice));
        let head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n";
        add("templates/cm.yaml", format!("{head}{lines}{hidden}"));
        add("templates/_h.tpl", "{{ define \"show\" }}{{ printf \"%s-%s\" .v.host .x | quote }}{{ end }}\n".into());
        add("charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n".into());
        add("charts/sub/values.yaml", "tag: t\nport: p\n".into());
        let head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\ndata: ";
        add("charts/sub/templates/cm.yaml", format!("{head}{{t: {{{{ .Values.tag }}}}, p: {{{{ .Values.port }}}}}}\n"));
    }
    files.insert("garden.yml".into(), project);
    files
}

fn world(files: &Files) -> Arc<dyn World> {
    let mut world = MemoryWorld::new();
    for (path, text) in files {
        world = world.file(path, text);
    }
    Arc::new(world)
}

fn opened(files: &Files) -> Ide {
    let buffers = Arc::new(Buffers::default());
    let desk = Arc::new(Desk::new(world(files), buffers.clone()));
    let mut workspace = Workspace::new(desk.clone(), ".", Limits::default());
    let ide = Ide::new(desk, buffers.clone(), Limits::default());
    if let Some(picture) = workspace.refresh(&[], &buffers, &|| false) {
        ide.show(picture);
    }
    ide
}

/// What each action deploys or runs in each environment.
fn results(files: &Files, environments: [&str; 2]) -> Vec<String> {
    let session = Session::new(world(files));
    let claims = search(&session, &Request::default(), &[".".to_owned()]).claims;
    let mut all = Vec::new();
    for environment in environments {
        let request = Request { environment: Some(environment.to_owned()), ..Request::default() };
        let claim = claims.iter().find(|claim| claim.dialect().name == "garden").expect("a project");
        let own = session.sibling();
        let resolved: Resolved = claim.resolve(&own, &request).expect("a result");
        let json = |value| to_json(value, Secrets::Hide, JsonLayout::Compact).expect("json");
        for node in &resolved.nodes {
            let commands = node.resolved.get("spec").and_then(|spec| spec.get("command")).map(json);
            all.push(format!("{environment} {} {commands:?}", node.id));
        }
        all.extend(resolved.manifests.iter().map(|manifest| format!("{environment} {}", json(&manifest.value))));
    }
    all.sort();
    all
}

fn applied(files: &Files, edits: &[purlin_ide::Edit]) -> Files {
    let text = |(path, text): (&String, &String)| (path.clone(), apply(edits, path, text));
    files.iter().map(text).collect()
}

#[test]
fn a_rename_changes_nothing_but_the_name() {
    const NEW: &str = "zq7new";
    let count: usize = std::env::var("PURLIN_RENAMES").ok().and_then(|text| text.parse().ok()).unwrap_or(24);
    let mut dice = Dice(7);
    let (mut made, mut refused): (usize, BTreeMap<String, usize>) = (0, BTreeMap::new());
    while made + refused.values().sum::<usize>() < count {
        let files = generated(&mut dice);
        let ide = opened(&files);
        let projects = ide.all_names();
        let declared: Vec<Named> = projects.table.all().iter().filter(|one| one.is_declaration()).cloned().collect();
        assert!(declared.len() > 20, "{} names", declared.len());
        let before = results(&files, ENVIRONMENTS);
        for _ in 0..8 {
            let named = declared[dice.roll(declared.len())].clone();
            let (kind, old, place) = (named.kind, named.text().to_owned(), place_of(&named));
            if matches!(kind, "provider" | "chart" | "project") {
                continue;
            }
            let renamed = match ide.rename_to(projects.clone(), named, NEW) {
                Ok(renamed) => renamed,
                Err(refusal) => {
                    *refused.entry(format!("{kind}: {}", refusal.message)).or_default() += 1;
                    continue;
                }
            };
            made += 1;
            let after = applied(&files, &renamed.edits);
            let shown = format!("{kind} `{old}` at {place:?}\n{}", files["garden.yml"]);
            let plain =
                |lines: Vec<String>| -> BTreeSet<String> { lines.iter().map(|line| line.replace(NEW, &old)).collect() };
            let is_renamed = |name: &str| kind == "environment" && name == old;
            let environments = ENVIRONMENTS.map(|name| if is_renamed(name) { NEW } else { name });
            assert_eq!(plain(results(&after, environments)), before.iter().cloned().collect(), "{shown}");
            let back = opened(&after);
            let first = renamed.edits.first().expect("an edit");
            let moved = back.names_on_line(&first.place.file, first.place.start.line);
            let moved = moved.iter().find(|place| place.start == first.place.start).unwrap_or(&first.place);
            let again = back.rename(&first.place.file, moved.bytes.0 as usize, &old);
            let again = again.unwrap_or_else(|refusal| panic!("back: {refusal:?}\n{shown}"));
            assert_eq!(applied(&after, &again.edits), files, "{shown}");
        }
    }
    let total: usize = refused.values().sum();
    println!("{made} renames, {total} refused: {refused:#?}");
    assert!(total * 10 <= made, "{made} renames, {total} refused: {refused:#?}");
}
