//! The flagship example as a whole: built by a stand-in, deployed, tested and taken down.

use crate::Bench;
use purlin_suite::top;
use std::path::Path;

/// Reports the requested build as done, and records it.
const BUILDER: &str = r#"#!/bin/sh
for word in "$@"; do
  case "$before" in
    --iidfile) echo sha256:1d > "$word" ;;
    --tag) echo "$word" >> "$TOP/images" ;;
  esac
  before="$word"; last="$word"
done
case "$*" in
  *inspect*|*exists*) grep -qx "$last" "$TOP/images" ;;
esac
"#;

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

#[cfg(unix)]
#[test]
fn storefront_is_deployed_tested_and_taken_down() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new("storefront");
    copy(&top().join("examples/storefront"), bench.scratch.path());
    let tools = bench.scratch.path().join("home/tools");
    bench.write("home/tools/buildah", BUILDER);
    std::fs::set_permissions(tools.join("buildah"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", tools.display());
    let home = bench.scratch.path().join("home").display().to_string();
    let more = [("PATH", path.as_str()), ("TOP", home.as_str()), ("PURLIN_BUILDER", "buildah")];
    let good = |args: &[&str]| {
        let ran = bench.purlin_with(args, &more);
        assert_eq!(ran.code, 0, "{args:?}\n{}\n{}", ran.stdout, ran.stderr);
        ran
    };

    good(&["deploy"]);
    let settings = bench.fake.object("v1", "ConfigMap", "storefront", "api-settings").unwrap();
    assert_eq!(settings["data"]["SCHEMA"], "schema-42", "what a Run printed");
    let database = settings["data"]["DATABASE_URL"].as_str().unwrap();
    assert!(database.starts_with("postgres://"), "an output of the TOSCA service: {database}");
    let api = bench.fake.object("apps/v1", "Deployment", "storefront", "api-api").unwrap();
    assert_eq!(api["spec"]["replicas"], 2);
    assert!(bench.fake.names("Deployment").contains(&"worker".to_owned()));

    let tested = good(&["test"]);
    assert!(tested.stderr.contains("storefront.localhost/health"), "{}", tested.stderr);

    good(&["cleanup", "--yes"]);
    assert!(bench.fake.names("Deployment").is_empty());
}
