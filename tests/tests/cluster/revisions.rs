//! Histories of releases: taken over from Helm 3, bounded, continued after an interruption, and driven by random steps.

use crate::{Bench, object};
use purlin_suite::Ran;
use purlin_value::encoding::base64;
use serde_json::{Value as Json, json};

fn ready(name: &str) -> Bench {
    let bench = Bench::new(name);
    bench.write("web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n");
    bench.write("web/values.yaml", "color: blue\nextra: false\nkept: false\n");
    let settings = object("v1", "ConfigMap", "settings", "data: { color: {{ .Values.color }} }\n");
    bench.write("web/templates/a.yaml", &settings);
    let extra = object("v1", "ConfigMap", "extra", "data: { a: b }\n");
    bench.write("web/templates/b.yaml", &format!("{{{{ if .Values.extra }}}}\n{extra}{{{{ end }}}}\n"));
    let kept = object("v1", "ConfigMap", "kept", "  annotations: { helm.sh/resource-policy: keep }\ndata: { a: b }\n");
    bench.write("web/templates/c.yaml", &format!("{{{{ if .Values.kept }}}}\n{kept}{{{{ end }}}}\n"));
    bench
}

fn helm(bench: &Bench, args: &[&str]) -> Ran {
    let all: Vec<&str> = ["helm"].into_iter().chain(args.iter().copied()).collect();
    bench.purlin(&all)
}

fn done(bench: &Bench, args: &[&str]) -> String {
    let ran = helm(bench, args);
    assert_eq!(ran.code, 0, "{args:?}\n{}\n{}", ran.stdout, ran.stderr);
    ran.stdout
}

fn states(bench: &Bench) -> Vec<String> {
    let all: Json = serde_json::from_str(&done(bench, &["history", "shop", "-o", "json"])).unwrap();
    let all = all.as_array().unwrap().iter();
    all.map(|one| format!("{} {}", one["revision"], one["status"].as_str().unwrap())).collect()
}

/// Puts a record as Helm 3 writes it.
fn record_of_helm_3(bench: &Bench, revision: i64, status: &str, manifest: &str) {
    let record = json!({
        "name": "shop", "namespace": "default", "version": revision, "manifest": manifest,
        "info": { "first_deployed": "2025-01-02T03:04:05.678+02:00", "last_deployed": "2025-01-02T03:04:05.678+02:00",
            "deleted": "", "description": "Install complete", "status": status },
        "chart": { "metadata": { "name": "web", "version": "0.9.0", "apiVersion": "v2" }, "lock": null, "templates": [],
            "values": { "color": "blue" }, "schema": null, "files": null },
        "config": { "color": "green" }, "unknown": { "to": "us" },
    });
    let packed = purlin_value::archive::gzip(record.to_string().as_bytes()).unwrap();
    let data = base64(base64(&packed).as_bytes());
    let labels =
        json!({ "name": "shop", "owner": "helm", "status": status, "version": revision.to_string(), "createdAt": "1" });
    let name = format!("sh.helm.release.v1.shop.v{revision}");
    let rest = json!({ "metadata": { "labels": labels }, "type": "helm.sh/release.v1", "data": { "release": data } });
    bench.fake.put("v1", "Secret", "default", &name, rest);
}

const OLD: &str = "---\n# Source: web/templates/a.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata: { color: green, old: x }\n";

#[test]
fn a_release_of_helm_3_is_continued() {
    let bench = ready("helm-3");
    record_of_helm_3(&bench, 1, "deployed", OLD);
    let owned = json!({ "metadata": { "labels": { "app.kubernetes.io/managed-by": "Helm" } },
        "data": { "color": "green", "old": "x", "others": "y" } });
    bench.fake.put("v1", "ConfigMap", "default", "settings", owned);
    let list = done(&bench, &["list"]);
    assert!(list.contains("2025-01-02 03:04:05.678 +0200 +0200\tdeployed\tweb-0.9.0\t"), "{list}");
    bench.fake.changes();
    done(&bench, &["upgrade", "shop", "web"]);
    let live = bench.fake.object("v1", "ConfigMap", "default", "settings").unwrap();
    assert_eq!(live["data"], json!({ "color": "green", "others": "y" }), "what Helm 3 applied and is not wanted goes");
    assert_eq!(states(&bench), ["1 superseded", "2 deployed"]);
    let all: Json = serde_json::from_str(&done(&bench, &["get", "metadata", "shop", "-o", "json"])).unwrap();
    assert_eq!(all["applyMethod"], "csa");
    assert_eq!(all["deployedAt"].as_str().map(|time| time.starts_with("2025")), Some(false));
    done(&bench, &["upgrade", "shop", "web", "--server-side=true", "--force-conflicts"]);
    done(&bench, &["rollback", "shop", "1"]);
    let live = bench.fake.object("v1", "ConfigMap", "default", "settings").unwrap();
    assert_eq!(live["data"], json!({ "color": "green", "old": "x", "others": "y" }));
}

#[test]
fn interrupted_operations_are_continued_as_in_helm() {
    let bench = ready("pending");
    record_of_helm_3(&bench, 1, "deployed", OLD);
    record_of_helm_3(&bench, 2, "pending-upgrade", OLD);
    let ran = helm(&bench, &["upgrade", "shop", "web"]);
    let expected = "Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (1, expected));
    assert_eq!(done(&bench, &["list", "-q", "--pending"]), "shop\n");
    done(&bench, &["rollback", "shop", "1"]);
    assert_eq!(states(&bench), ["1 superseded", "2 pending-upgrade", "3 deployed"]);
    done(&bench, &["upgrade", "shop", "web"]);
    done(&bench, &["uninstall", "shop"]);
    record_of_helm_3(&bench, 1, "pending-install", OLD);
    let ran = helm(&bench, &["upgrade", "--install", "shop", "web"]);
    assert_eq!(ran.stderr, expected);
    done(&bench, &["uninstall", "shop"]);
    assert_eq!(bench.fake.names("Secret").len(), 0);
}

#[test]
fn histories_are_bounded() {
    let bench = ready("history-max");
    done(&bench, &["install", "shop", "web"]);
    for color in ["a", "b", "c", "d"] {
        done(&bench, &["upgrade", "shop", "web", "--set", &format!("color={color}"), "--history-max", "3"]);
    }
    assert_eq!(states(&bench), ["3 superseded", "4 superseded", "5 deployed"]);
    assert_eq!(done(&bench, &["history", "shop", "--max", "1"]).lines().count(), 2);
    let ran = helm(&bench, &["rollback", "shop", "1"]);
    assert_eq!(ran.stderr, "Error: release has no 1 version\n");
}

#[test]
fn objects_that_are_no_longer_wanted_go_unless_they_are_kept() {
    let bench = ready("prune");
    done(&bench, &["install", "shop", "web", "--set", "extra=true,kept=true"]);
    assert_eq!(bench.fake.names("ConfigMap"), ["extra", "kept", "settings"]);
    done(&bench, &["upgrade", "shop", "web", "--set", "color=red"]);
    assert_eq!(bench.fake.names("ConfigMap"), ["kept", "settings"]);
    done(&bench, &["upgrade", "shop", "web", "--set", "kept=true"]);
    let out = done(&bench, &["uninstall", "shop"]);
    assert_eq!(
        out,
        "These resources were kept due to the resource policy:\n[ConfigMap] kept\n\nrelease \"shop\" uninstalled\n"
    );
}

#[test]
fn a_kept_history_can_be_installed_again() {
    let bench = ready("keep-history");
    done(&bench, &["install", "shop", "web"]);
    done(&bench, &["uninstall", "shop", "--keep-history", "--description", "gone", "--cascade", "orphan", "--wait"]);
    assert_eq!(states(&bench), ["1 uninstalled"]);
    assert!(bench.fake.changes().iter().any(|line| line.contains("propagationPolicy=Orphan")));
    let ran = helm(&bench, &["uninstall", "shop", "--keep-history"]);
    assert_eq!(ran.stderr, "Error: the release named \"shop\" is already deleted\n");
    let out = done(&bench, &["upgrade", "-i", "shop", "web"]);
    assert!(out.starts_with("Release \"shop\" does not exist. Installing it now.\nNAME: shop\n"), "{out}");
    assert_eq!(states(&bench), ["1 superseded", "2 deployed"]);
}

#[test]
fn fields_of_others_are_taken_on_request_only() {
    let bench = ready("conflicts");
    done(&bench, &["install", "shop", "web"]);
    bench.fake.put("v1", "ConfigMap", "default", "settings", json!({ "data": { "color": "theirs" } }));
    let ran = helm(&bench, &["upgrade", "shop", "web", "--set", "color=red"]);
    assert!(
        ran.stderr.contains("conflict occurred while applying object default/settings v1, Kind=ConfigMap"),
        "{}",
        ran.stderr
    );
    assert_eq!(states(&bench), ["1 deployed", "2 failed"]);
    done(&bench, &["upgrade", "shop", "web", "--set", "color=red", "--force-conflicts"]);
    assert_eq!(states(&bench), ["1 superseded", "2 failed", "3 deployed"]);
    bench.fake.changes();
    done(&bench, &["upgrade", "shop", "web", "--server-side=false", "--force-replace"]);
    assert!(bench.fake.changes().iter().any(|line| line.starts_with("PUT") && line.contains("/configmaps/settings")));
    let ran = helm(&bench, &["upgrade", "shop", "web", "--force", "--force-conflicts"]);
    assert_eq!(ran.code, 1);
}

/// A sequence of numbers that looks random and is the same in every run.
fn numbers(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    }
}

/// The law: after any steps, at most one revision is deployed, the numbers rise by one, and the objects of the cluster are
/// those of the newest revision that succeeded.
#[test]
fn random_steps_leave_a_readable_history() {
    let bench = ready("random");
    let mut pick = numbers(20_261_119);
    let (mut expected, mut newest, mut is_there): (Vec<(String, bool)>, usize, bool) = (Vec::new(), 0, false);
    for step in 0..60 {
        let (color, extra) = (["red", "green", "blue"][pick(3)], pick(2) == 0);
        let set = format!("color={color},extra={extra}");
        let side = ["--server-side=true", "--server-side=false"][pick(2)];
        match pick(5) {
            0 if is_there => {
                done(&bench, &["uninstall", "shop"]);
                (is_there, newest) = (false, 0);
                expected.clear();
            }
            1 if newest > 1 => {
                let target = 1 + pick(newest);
                done(&bench, &["rollback", "shop", &target.to_string(), "--history-max", "0"]);
                expected.push(expected[target - 1].clone());
                newest += 1;
            }
            _ if !is_there => {
                done(&bench, &["install", "shop", "web", "--set", &set, side]);
                expected.push((color.to_owned(), extra));
                (is_there, newest) = (true, 1);
            }
            _ => {
                done(
                    &bench,
                    &["upgrade", "shop", "web", "--set", &set, side, "--force-conflicts=false", "--history-max", "0"],
                );
                expected.push((color.to_owned(), extra));
                newest += 1;
            }
        }
        let names = bench.fake.names("ConfigMap");
        if !is_there {
            assert_eq!((names.len(), bench.fake.names("Secret").len()), (0, 0), "step {step}");
            continue;
        }
        let (color, extra) = expected.last().unwrap();
        let live = bench.fake.object("v1", "ConfigMap", "default", "settings").unwrap();
        assert_eq!(live["data"]["color"], color.as_str(), "step {step}");
        assert_eq!(names.contains(&"extra".to_owned()), *extra, "step {step}");
        let mut wanted: Vec<String> = (1..newest).map(|number| format!("{number} superseded")).collect();
        wanted.push(format!("{newest} deployed"));
        assert_eq!(states(&bench), wanted, "step {step}");
    }
}
