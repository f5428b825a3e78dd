//! Profiles of a Skaffold configuration that are resolved together have the same results as each by itself: the same
//! problems, and the same modules and artifacts with the same values from the same locations.

use purlin_compiler::search;
use purlin_model::Request;
use purlin_suite::edits::{Dice, assert_same, everything, location, rounds, shared_nodes};
use purlin_syntax::Diagnostic;
use purlin_value::{MemoryWorld, Session};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

/// Artifacts; `N` is a number. Some have mistakes, and some of these only with certain profiles.
const ARTIFACTS: &[&str] = &[
    "{image: app-N, context: app-N}",
    "{image: app-N, context: app-N, docker: {dockerfile: Dockerfile}}",
    "{image: app-N, context: app-N, docker: {dockerfile: Dockerfle}}",
    "{image: app-N, context: ap-N, hooks: {before: [{command: [make], os: [linx]}]}}",
    "{image: app-N, context: app-N, kaniko: {cache: {repo: cache}}}",
    "{image: app-N, context: app-N, custom: {buildCommand: make, dependencies: {ignore: [a], command: b}}}",
    "{image: app-N, context: app-N, jib: {type: ant}}",
    "{image: app-N, context: app-N, buildpacks: {builder: b}, sync: {auto: true}}",
    "{image: app-N, context: app-N, requires: [{image: app-0, alias: \"bad alias\"}]}",
    "{image: \"app-N:tag\", context: app-N}",
    "{image: App-N, context: app-N}",
    "{image: app-N, context: app-N, docker: {buildArgs: {tag: \"{{.TAG\"}}}",
    "{image: app-N, context: app-N, docker: {}, kaniko: {}}",
    "{image: app-N, context: app-N, sync: {manual: [{src: \"a/*\", dest: ., strip: b}]}}",
];

/// Patches; `N` is the number of an artifact.
const PATCHES: &[&str] = &[
    "{op: replace, path: /build/artifacts/N/context, value: app-1}",
    "{op: add, path: /build/artifacts/N/docker, value: {dockerfile: Dockerfile.dev}}",
    "{op: add, path: /build/artifacts/N/docker/buildArgs, value: {a: \"{{.B}}\"}}",
    "{op: remove, path: /build/artifacts/N}",
    "{op: add, path: /build/artifacts/-, value: {image: app-9, context: app-0}}",
    "{op: copy, from: /build/artifacts/N, path: /build/artifacts/-}",
    "{op: move, from: /build/artifacts/N, path: /build/artifacts/0}",
    "{op: add, path: /test, value: [{image: app-N}]}",
    "{op: copy, from: /build/artifacts/N, path: /test/0}",
    "{op: copy, from: /build/artifacts/N, path: /portForward/0}",
    "{op: replace, path: /build/artifacts/N/image, value: \"other:tag\"}",
    "{op: add, path: /build/artifacts/N/nonsense, value: 1}",
    "{op: add, path: /build/local, value: {push: false, concurrency: -1}}",
    "{op: add, path: /build/cluster, value: {namespace: builds}}",
];

/// Sections of profiles.
const SECTIONS: &[&str] = &[
    "build: {cluster: {namespace: builds}}",
    "build: {googleCloudBuild: {projectId: p}}",
    "build: {artifacts: [{image: app-0, context: app-0}, {image: new, context: app-1}]}",
    "build: {tagPolicy: {sha256: {}}}",
    "manifests: {rawYaml: [k8s/other.yaml]}",
    "portForward: [{resourceType: service, resourceName: web, port: 99999}]",
    "deploy: {logs: {prefix: none}}",
    "activation: [{command: dev}]",
];

const PROFILES: [&str; 4] = ["dev", "stage", "prod", "test"];

fn profile(name: &str, dice: &mut Dice, artifacts: usize) -> String {
    let mut text = format!("  - name: {name}\n");
    let sections = [dice.one(SECTIONS), dice.one(SECTIONS)];
    let key = |section: &str| section.split(':').next().unwrap_or_default().to_owned();
    for section in sections.iter().take(dice.roll(3)) {
        if !text.contains(&format!("    {}:", key(section))) {
            let _ = writeln!(text, "    {section}");
        }
    }
    let patches = dice.roll(4);
    if patches > 0 {
        text.push_str("    patches:\n");
    }
    for _ in 0..patches {
        let number = dice.roll(artifacts).to_string();
        // Most apply, so that most profiles are resolved completely.
        let of = if dice.roll(5) == 0 { PATCHES } else { &PATCHES[..7] };
        let patch = dice.one(of).replace("/N", &format!("/{number}")).replace("-N", &format!("-{number}"));
        let _ = writeln!(text, "      - {patch}");
    }
    text
}

fn document(name: &str, requires: Option<&str>, dice: &mut Dice) -> String {
    let version = dice.one(&["v4beta11", "v4beta11", "v2beta29", "v4beta14"]);
    let mut text = format!("apiVersion: skaffold/{version}\nkind: Config\nmetadata: {{name: {name}}}\n");
    if let Some(other) = requires {
        let _ = writeln!(
            text,
            "requires: [{{path: ../{other}, activeProfiles: [{{name: prod, activatedBy: [prod, stage]}}]}}]"
        );
    }
    text.push_str("build:\n  artifacts:\n");
    let artifacts = 1 + dice.roll(5);
    for number in 0..artifacts {
        // Most have no mistakes, so that most documents are resolved completely.
        let of = if dice.roll(24) == 0 { ARTIFACTS } else { &ARTIFACTS[..2] };
        let _ = writeln!(text, "    - {}", dice.one(of).replace("-N", &format!("-{name}-{number}")));
    }
    text.push_str("test: [{image: none, structureTests: [a.yaml]}]\nportForward: [{resourceType: service, resourceName: web, port: 80}]\n");
    text.push_str("profiles:\n");
    PROFILES.iter().for_each(|name| text.push_str(&profile(name, dice, artifacts)));
    text
}

/// A configuration that requires another.
fn files(dice: &mut Dice) -> Vec<(String, String)> {
    let mut files = vec![
        ("one/skaffold.yaml".to_owned(), document("one", Some("two"), dice)),
        ("two/skaffold.yaml".to_owned(), document("two", None, dice)),
    ];
    for name in ["one", "two"] {
        for number in 0..5 {
            if dice.roll(4) > 0 {
                files.push((format!("{name}/app-{name}-{number}/Dockerfile"), "FROM scratch\n".to_owned()));
            }
        }
        files.push((format!("{name}/app-0/Dockerfile.dev"), "FROM scratch\n".to_owned()));
    }
    files
}

fn session(files: &[(String, String)]) -> Session {
    let world = files.iter().fold(MemoryWorld::new(), |world, (path, text)| world.file(path, text));
    Session::new(Arc::new(world))
}

fn problems(session: &Session, found: &[Diagnostic]) -> BTreeSet<String> {
    let shown = |problem: &Diagnostic| {
        let labels: Vec<String> = problem.labels.iter().map(|label| location(session, Some(label.span))).collect();
        let place = location(session, problem.span);
        format!("{} {place} {} {:?} {labels:?}", problem.rule.name, problem.message, problem.hints)
    };
    found.iter().map(shown).collect()
}

/// Compares both ways, and counts the nodes that two profiles share.
fn compare(files: &[(String, String)], modules: &[String]) -> usize {
    let show = || files.iter().map(|(path, text)| format!("=== {path}\n{text}\n")).collect::<String>();
    let request = |profiles: &[&str]| Request {
        profiles: profiles.iter().map(|name| (*name).to_owned()).collect(),
        modules: modules.to_vec(),
        ..Request::default()
    };
    let mut requests = vec![request(&[])];
    requests.extend(PROFILES.iter().map(|name| request(&[name])));
    requests.push(request(&["prod", "dev"]));
    let all_session = session(files);
    let found = search(&all_session, &Request::default(), &["one".to_owned()]);
    let Some(claim) = found.claims.into_iter().next() else { return 0 };
    let together = claim.resolve_all(&all_session, &requests.iter().collect::<Vec<_>>());
    let mut shared = 0;
    for (request, (resolved, found)) in requests.iter().zip(&together) {
        let own = session(files);
        let alone = claim.resolve(&own, request);
        let expected = problems(&own, &own.sink.take());
        assert_eq!(problems(&all_session, found), expected, "problems with {:?} of\n{}", request.profiles, show());
        let expected = alone.map(|alone| everything(&own, &alone)).unwrap_or_default();
        let found = resolved.as_ref().map(|resolved| everything(&all_session, resolved)).unwrap_or_default();
        assert_same(&found, &expected, &format!("with {:?} of\n{}", request.profiles, show()));
    }
    for ((one, _), (other, _)) in together.iter().zip(together.iter().skip(1)) {
        shared += one.as_ref().zip(other.as_ref()).map_or(0, |(one, other)| shared_nodes(one, other));
    }
    shared
}

#[test]
fn profiles_together_are_what_they_are_alone() {
    let count = rounds(150);
    let mut dice = Dice(11);
    let mut shared = 0;
    for round in 0..count {
        let modules: &[String] = if round % 5 == 0 { &["two".to_owned()] } else { &[] };
        shared += compare(&files(&mut dice), modules);
    }
    assert!(shared > count, "only {shared} nodes are shared in {count} rounds");
    println!("{shared} nodes shared in {count} rounds");
}

/// An artifact that a patch copies elsewhere is judged there by other rows, and one that is built elsewhere by other
/// rules.
#[test]
fn what_surrounds_a_part_decides_too() {
    let base = "apiVersion: skaffold/v4beta11\nkind: Config\nbuild:\n  artifacts:\n    - {image: a, context: a, kaniko: {}}\n    \
                - {image: b, context: b}\nportForward: [{resourceType: service, resourceName: web, port: 80}]\nprofiles:\n";
    let cases = [
        "  - {name: dev, build: {cluster: {}}}\n  - {name: prod, build: {local: {}}}\n",
        "  - {name: dev, patches: [{op: copy, from: /build/artifacts/0, path: /portForward/0}]}\n  - {name: prod}\n",
        "  - {name: dev, patches: [{op: test, path: /build/artifacts/1/image, value: b}]}\n  \
         - {name: prod, patches: [{op: copy, from: /build/artifacts/1, path: /portForward/0}]}\n",
        "  - {name: dev, patches: [{op: remove, path: /build/artifacts/1}]}\n  \
         - {name: prod, patches: [{op: replace, path: /build/artifacts/1/context, value: a}]}\n",
    ];
    for case in cases {
        compare(&[("one/skaffold.yaml".to_owned(), format!("{base}{case}"))], &[]);
    }
}
