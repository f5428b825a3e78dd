//! Building images: with a stand-in for each builder that records its arguments, and with buildah and a registry where
//! they are installed.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, clippy::print_stderr)]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

const HEAD: &str = "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments: [{name: local}]\n";

/// A builder that records its arguments, and knows an image once it has built it.
const STAND_IN: &str = r#"#!/bin/sh
echo "$(basename "$0") $*" | sed "s#$TOP/project#PROJECT#g; s#[^ =]*/\.purlin/tmp/[^/]*/#TMP/#g" >> "$TOP/told"
last=""
for word in "$@"; do
  case "$before" in
    --iidfile) echo sha256:1d > "$word" ;;
    --digestfile) echo sha256:d1935 > "$word" ;;
    --tag) echo "$word" >> "$TOP/images" ;;
    --secret) cat "$(echo "$word" | sed 's/.*src=//')" >> "$TOP/secrets" 2>/dev/null; echo >> "$TOP/secrets" ;;
  esac
  before="$word"; last="$word"
done
case "$*" in
  *"push "*) echo "v1: digest: sha256:d1935 size: 1" ;;
  *inspect*|*exists*) grep -qx "$last" "$TOP/images" ;;
  "build "*|"buildx build "*) echo "building with $TOKEN" ;;
esac
"#;

struct Shop {
    top: PathBuf,
    folder: PathBuf,
}

impl Shop {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let top = std::env::temp_dir().join(format!("purlin-images-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&top);
        let folder = top.join("project");
        for (file, text) in files {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Shop { top, folder }
    }

    /// Puts stand-ins for tools first on `PATH`.
    fn install(&self, tools: &[&str]) {
        let bin = self.top.join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        for tool in tools {
            std::fs::write(bin.join(tool), STAND_IN).unwrap();
            std::fs::set_permissions(bin.join(tool), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        for tool in ["sh", "sed", "basename", "cat", "grep", "echo", "env", "git", "true", "test", "sort"] {
            let found = ["/bin", "/usr/bin"].map(|folder| Path::new(folder).join(tool));
            let Some(found) = found.iter().find(|path| path.exists()) else { continue };
            let _ = std::os::unix::fs::symlink(found, bin.join(tool));
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_purlin"));
        command.args(args).current_dir(&self.folder).env("CI", "1").env("TOP", &self.top);
        command.env("SOURCE_DATE_EPOCH", "0").env_remove("PURLIN_BUILDER").env("HOME", &self.top);
        command
    }

    /// Runs with nothing on `PATH` but the stand-ins.
    fn alone(&self, args: &[&str]) -> Output {
        self.command(args).env("PATH", self.top.join("bin")).output().unwrap()
    }

    /// The recorded arguments since the last call.
    fn told(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.top.join("told")).unwrap_or_default();
        let _ = std::fs::remove_file(self.top.join("told"));
        text.lines().map(str::to_owned).collect()
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.top);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn all(output: &Output) -> String {
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

fn build(extra: &str) -> String {
    format!(
        "{HEAD}providers: [{{name: container}}]\nvariables: {{token: hunter2}}\n---\nkind: Build\ntype: container\nname: api\n\
         include: [Dockerfile, src/**]\nspec:\n  localId: acme/api\n  buildArgs: {{A: one, GONE: ''}}\n  {extra}\n"
    )
}

/// The tag that an image was built with.
fn version(told: &str) -> String {
    let at = told.find(":v-").unwrap_or_else(|| panic!("{told}")) + 1;
    told[at..].split_whitespace().next().unwrap().to_owned()
}

#[test]
fn a_garden_build_tells_the_builder_everything_and_asks_before_it_builds_again() {
    let more = "targetStage: prod\n  platforms: [linux/amd64]\n  extraFlags: [--no-cache]\n  secrets: {key: hunter2}";
    let files = [("garden.yml", build(more)), ("Dockerfile", "FROM scratch\n".into()), ("src/a", "a".into())];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let shop = Shop::new("garden", &files);
    shop.install(&["buildah"]);
    let first = shop.alone(&["build"]);
    assert!(first.status.success(), "{}", all(&first));
    let told = shop.told();
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(told[0], told[2], "what was built is asked for its id");
    let tag = version(&told[1]);
    assert!(told[0].starts_with("buildah inspect --type image") && told[0].ends_with(&format!(" acme/api:{tag}")));
    assert_eq!(
        told[1],
        format!(
            "buildah build --layers --file PROJECT/.garden/build/api/Dockerfile --tag acme/api:{tag} --iidfile TMP/.image-id \
             --build-arg GARDEN_MODULE_VERSION={tag} --build-arg GARDEN_ACTION_VERSION={tag} --build-arg A=one --target prod \
             --secret id=key,src=TMP/.secret-0 --platform linux/amd64 --pull=false --no-cache PROJECT/.garden/build/api"
        )
    );
    assert_eq!(std::fs::read_to_string(shop.top.join("secrets")).unwrap(), "hunter2\n");
    let second = shop.alone(&["build"]);
    assert!(all(&second).contains("build.api: cached"), "{}", all(&second));
    assert_eq!(shop.told().len(), 1);
    // A removed image is built again, whatever the journal says.
    std::fs::write(shop.top.join("images"), "").unwrap();
    assert!(all(&shop.alone(&["build"])).contains("build.api: built"));
    assert!(shop.folder.join(".garden/build/api/src/a").is_file());
}

#[test]
fn images_are_pushed_to_the_registry_that_deploys_read() {
    let text = build("").replace(
        "[{name: container}]",
        "[{name: kubernetes, context: c, defaultHostname: d, deploymentRegistry: {hostname: reg.example, port: 5000, namespace: team}}]",
    );
    let files = [("garden.yml", text.as_str()), ("Dockerfile", "FROM scratch\n")];
    let shop = Shop::new("push", &files);
    shop.install(&["docker"]);
    let run = shop.alone(&["build", "-o", "json"]);
    assert!(run.status.success(), "{}", all(&run));
    let told = shop.told();
    let tag = version(&told.join(" "));
    assert!(
        told.iter().any(|line| line.contains(&format!("--tag acme/api:{tag} --tag reg.example:5000/team/api:{tag}"))),
        "{told:?}"
    );
    let pushed: Vec<&String> = told.iter().filter(|line| line.starts_with("docker push")).collect();
    assert_eq!(pushed, [&format!("docker push reg.example:5000/team/api:{tag}")]);
    let outputs = shop.alone(&["eval", "actions.build.api.outputs.deploymentImageId"]);
    assert!(all(&outputs).contains(&format!("reg.example:5000/team/api:{tag}")), "{}", all(&outputs));
    let journal = std::fs::read_to_string(shop.folder.join(".purlin/journal")).unwrap();
    assert!(
        journal.contains(r#""digest":"sha256:d1935""#) && journal.contains(r#""imageId":"sha256:1d""#),
        "{journal}"
    );
}

#[test]
fn without_a_builder_the_message_says_what_to_install() {
    let files = [("garden.yml", build("")), ("Dockerfile", "FROM scratch\n".to_owned())];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let shop = Shop::new("none", &files);
    shop.install(&[]);
    let run = shop.alone(&["build"]);
    assert_eq!(run.status.code(), Some(6), "{}", all(&run));
    assert!(
        all(&run).contains("no container builder is installed; install docker, podman or buildah"),
        "{}",
        all(&run)
    );
    let chosen = shop.alone(&["build", "--builder", "podman"]);
    assert!(all(&chosen).contains("container builder `podman` is not installed"), "{}", all(&chosen));
}

#[test]
fn a_secret_argument_is_not_an_argument_of_the_command() {
    let text = build("").replace("A: one", "TOKEN: '${secrets.t}'");
    let files = [("garden.yml", text.as_str()), ("Dockerfile", "FROM scratch\n"), ("s", "t=hunter2\n")];
    let shop = Shop::new("secret", &files);
    shop.install(&["podman"]);
    let run = shop.alone(&["build", "--secret-file", "s"]);
    assert!(run.status.success(), "{}", all(&run));
    let told = shop.told().join("\n");
    assert!(told.contains("--build-arg TOKEN ") && !told.contains("hunter2"), "{told}");
    assert!(all(&run).contains("building with (secret)"), "{}", all(&run));
}

/// A registry on this machine, ended with the test.
struct Registry(Child, u16);

impl Registry {
    fn start(top: &Path) -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = format!(
            "version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp: {{addr: 127.0.0.1:{port}}}\n",
            top.join("registry").display()
        );
        std::fs::write(top.join("registry.yml"), config).unwrap();
        let child = Command::new("docker-registry")
            .args(["serve", &top.join("registry.yml").to_string_lossy()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        for _ in 0..500 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        Registry(child, port)
    }

    /// The digest that the registry gives a tag.
    fn digest(&self, name: &str, tag: &str) -> Option<String> {
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", self.1)).unwrap();
        let accept = "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json";
        write!(stream, "HEAD /v2/{name}/manifests/{tag} HTTP/1.0\r\nAccept: {accept}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let line = answer.lines().find(|line| line.to_ascii_lowercase().starts_with("docker-content-digest:"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn is_installed(program: &str) -> bool {
    ["/bin", "/usr/bin", "/usr/local/bin"].iter().any(|folder| Path::new(folder).join(program).exists())
}

/// Whether images can really be built here; if not, the test reports that it is skipped.
fn can_build() -> bool {
    let has_tools = ["buildah", "docker-registry"].into_iter().all(is_installed);
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|found| std::os::unix::fs::MetadataExt::uid(&found) == 0);
    if !has_tools || !is_root {
        purlin_skipped::skipped("image builds");
        return false;
    }
    true
}

impl Shop {
    /// Runs with buildah in a store of its own.
    fn really(&self, args: &[&str]) -> Output {
        let storage = format!(
            "[storage]\ndriver = \"vfs\"\ngraphroot = \"{0}/graph\"\nrunroot = \"{0}/run\"\n",
            self.top.display()
        );
        std::fs::write(self.top.join("storage.conf"), storage).unwrap();
        self.command(args)
            .env("PURLIN_BUILDER", "buildah")
            .env("BUILDAH_ISOLATION", "chroot")
            .env("STORAGE_DRIVER", "vfs")
            .env("CONTAINERS_STORAGE_CONF", self.top.join("storage.conf"))
            .output()
            .unwrap()
    }
}

#[test]
fn buildah_builds_what_depends_on_what_and_a_registry_receives_it() {
    if !can_build() {
        return;
    }
    let shop = Shop::new("buildah", &[("base/Dockerfile", "FROM scratch\nCOPY one /one\n"), ("base/one", "1")]);
    let registry = Registry::start(&shop.top);
    let project = format!(
        "{HEAD}providers: [{{name: kubernetes, context: c, defaultHostname: d, deploymentRegistry: {{hostname: 127.0.0.1, port: {}}}}}]\n\
         ---\nkind: Build\ntype: container\nname: base\nsource: {{path: base}}\n\
         ---\nkind: Build\ntype: container\nname: app\nsource: {{path: app}}\ndependencies: [build.base]\n\
         spec: {{buildArgs: {{BASE: '${{actions.build.base.outputs.deploymentImageId}}'}}}}\n",
        registry.1
    );
    std::fs::create_dir_all(shop.folder.join("app")).unwrap();
    std::fs::write(shop.folder.join("garden.yml"), project).unwrap();
    std::fs::write(shop.folder.join("app/Dockerfile"), "ARG BASE\nFROM $BASE\nCOPY two /two\n").unwrap();
    std::fs::write(shop.folder.join("app/two"), "2").unwrap();
    let run = shop.really(&["build", "-j", "2"]);
    assert!(run.status.success(), "{}", all(&run));
    let journal = std::fs::read_to_string(shop.folder.join(".purlin/journal")).unwrap();
    for name in ["base", "app"] {
        let line = journal.lines().find(|line| line.contains(&format!("build.{name}"))).unwrap();
        let record: serde_json::Value = serde_json::from_str(line.split_once(' ').unwrap().1).unwrap();
        let tag = record["outputs"]["deploymentImageTag"].as_str().unwrap();
        assert_eq!(record["outputs"]["digest"].as_str(), registry.digest(name, tag).as_deref(), "{record}");
    }
    let again = shop.really(&["build"]);
    assert!(all(&again).contains("2 cached"), "{}", all(&again));
}

const SKAFFOLD: &str = "\
apiVersion: skaffold/v4beta11
kind: Config
build:
  artifacts:
    - image: base
      context: base
      hooks:
        before: [{command: [sh, -c, 'echo before $SKAFFOLD_IMAGE in $SKAFFOLD_IMAGE_REPO at $SKAFFOLD_IMAGE_TAG, push $SKAFFOLD_PUSH_IMAGE']}]
        after: [{command: [sh, -c, 'echo after']}]
      docker:
        target: prod
        buildArgs: {WHO: '{{.WHO}}', HOME: null}
        cacheFrom: [base, other:1]
        network: None
        addHost: ['a:1.2.3.4']
        noCache: true
        pullParent: true
        secrets: [{id: key, env: KEY}]
        ssh: default
        cliFlags: [--quiet]
    - image: app
      context: app
      requires: [{image: base, alias: BASE}]
      docker: {}
  tagPolicy: {envTemplate: {template: '{{.WHO}}-1'}}
test:
  - image: app
    context: app
    custom: [{command: 'echo testing $IMAGE from $TEST_CONTEXT'}]
";

fn skaffold(name: &str) -> Shop {
    let files = [
        ("skaffold.yaml", SKAFFOLD),
        ("base/Dockerfile", "FROM scratch AS prod\nARG WHO\nCOPY one /one\n"),
        ("base/one", "1"),
        ("app/Dockerfile", "ARG BASE\nARG SKAFFOLD_RUN_MODE\nFROM $BASE\nCOPY two /two\n"),
        ("app/two", "2"),
    ];
    let shop = Shop::new(name, &files);
    std::fs::write(shop.folder.join("skaffold.env"), "WHO=me\n").unwrap();
    shop
}

#[test]
fn skaffold_artifacts_are_built_in_order_and_know_what_they_require() {
    let shop = skaffold("artifacts");
    shop.install(&["buildah"]);
    let args = ["skaffold", "build", "--default-repo", "reg.example/t", "--file-output", "out.json"];
    let first = shop.alone(&args);
    assert!(first.status.success(), "{}", all(&first));
    let told: Vec<String> = shop.told().into_iter().filter(|line| !line.contains(" inspect ")).collect();
    let base = "reg.example/t/base:me-1";
    assert_eq!(
        told[0],
        format!(
            "buildah build --layers --file PROJECT/base/Dockerfile --tag {base} --iidfile TMP/.image-id --build-arg HOME \
             --build-arg WHO=me --target prod --cache-from reg.example/t/base --cache-from other --secret id=key,env=KEY \
             --ssh default --network none --add-host a:1.2.3.4 --no-cache --pull=always --quiet PROJECT/base"
        )
    );
    assert_eq!(told[1], format!("buildah push --digestfile TMP/.digest {base} docker://{base}"));
    assert!(
        told[2].contains(&format!("--build-arg BASE={base}@sha256:d1935 --build-arg SKAFFOLD_RUN_MODE=build ")),
        "{told:?}"
    );
    let lines = text(&first.stdout);
    let expected = "\
Generating tags...
 - base -> reg.example/t/base:me-1
 - app -> reg.example/t/app:me-1
Checking cache...
 - base: Not found. Building
 - app: Not found. Building
Starting build...
Building [base]...
Starting pre-build hooks...
before reg.example/t/base:me-1 in reg.example/t at me-1, push true
Completed pre-build hooks
building with \n\
v1: digest: sha256:d1935 size: 1
Starting post-build hooks...
after
Completed post-build hooks
Build [base] succeeded
Building [app]...
building with \n\
v1: digest: sha256:d1935 size: 1
Build [app] succeeded
";
    assert_eq!(lines, expected);
    let out = std::fs::read_to_string(shop.folder.join("out.json")).unwrap();
    let of = |image: &str| format!(r#"{{"imageName":"{image}","tag":"reg.example/t/{image}:me-1@sha256:d1935"}}"#);
    assert_eq!(out, format!(r#"{{"builds":[{},{}]}}"#, of("base"), of("app")));
    let second = shop.alone(&[
        "skaffold",
        "build",
        "--default-repo",
        "reg.example/t",
        "-q",
        "-o",
        "{{range .Builds}}{{.Tag}} {{end}}",
    ]);
    assert_eq!(text(&second.stdout), "reg.example/t/base:me-1@sha256:d1935 reg.example/t/app:me-1@sha256:d1935 ");
    assert!(shop.told().iter().all(|line| line.contains(" inspect ")));
    // Another tag of the same sources is a name, not a build.
    let third = shop.alone(&["skaffold", "build", "--default-repo", "reg.example/t", "--tag", "v9"]);
    assert!(third.status.success(), "{}", all(&third));
    let told = shop.told();
    assert!(told.iter().any(|line| line == &format!("buildah tag {base} reg.example/t/base:v9")), "{told:?}");
    assert!(!told.iter().any(|line| line.contains(" build ")), "{told:?}");
    // A change affects the images built from it.
    std::fs::write(shop.folder.join("app/two"), "3").unwrap();
    shop.alone(&args);
    let told = shop.told();
    assert!(
        told.iter().any(|line| line.contains("app/Dockerfile"))
            && !told.iter().any(|line| line.contains("base/Dockerfile"))
    );
    let test = shop.alone(&["skaffold", "test", "-a", "out.json"]);
    assert!(test.status.success(), "{}", all(&test));
    let folder = shop.folder.join("app");
    let said = format!(
        "Starting test...\nTesting images...\ntesting reg.example/t/app:me-1@sha256:d1935 from {}\nCommand finished successfully.\n",
        folder.display()
    );
    assert_eq!(text(&test.stdout), said);
}

#[test]
fn skaffold_says_what_it_lacks() {
    let shop = skaffold("lacks");
    shop.install(&["buildah"]);
    let dry = shop.alone(&["skaffold", "build", "--dry-run", "-q", "-b", "app"]);
    assert_eq!(text(&dry.stdout), r#"{"builds":[{"imageName":"app","tag":"app:me-1"}]}"#);
    let test = shop.alone(&["skaffold", "test"]);
    assert_eq!(test.status.code(), Some(1));
    assert!(all(&test).contains("no tag provided for image [base]"), "{}", all(&test));
    let text = SKAFFOLD.replace("docker: {}", "custom: {buildCommand: exit 3}");
    std::fs::write(shop.folder.join("skaffold.yaml"), text).unwrap();
    let failed = shop.alone(&["skaffold", "build"]);
    assert_eq!(failed.status.code(), Some(3), "{}", all(&failed));
    let text = SKAFFOLD.replace("docker: {}", "buildpacks: {builder: b}");
    std::fs::write(shop.folder.join("skaffold.yaml"), text).unwrap();
    let refused = shop.alone(&["skaffold", "build"]);
    assert!(all(&refused).contains("building with `buildpacks` is not supported"), "{}", all(&refused));
}

#[test]
fn native_commands_build_and_test_skaffold_projects() {
    let shop = skaffold("native");
    shop.install(&["podman"]);
    let run = shop.command(&["test", "-j", "1"]).env("PATH", shop.top.join("bin")).env("WHO", "me").output().unwrap();
    assert!(run.status.success(), "{}", all(&run));
    assert!(all(&run).contains("test.app | testing app:1d from"), "{}", all(&run));
    let told = shop.told();
    assert!(told.iter().any(|line| line == "podman tag app:me-1 app:1d"), "{told:?}");
    assert!(!told.iter().any(|line| line.contains(" push ")), "{told:?}");
}

#[test]
fn a_command_of_the_users_own_builds_and_its_digest_is_the_registrys() {
    if !can_build() {
        return;
    }
    let build = "sh -c 'buildah build -t $IMAGE . && test $PUSH_IMAGE = true && buildah push --tls-verify=false $IMAGE && env | grep ^BASE= || true'";
    let text = format!(
        "apiVersion: skaffold/v4beta11\nkind: Config\nbuild:\n  local: {{push: true}}\n  tagPolicy: {{sha256: {{}}}}\n  artifacts:\n\
         \x20   - {{image: one, context: one, custom: {{buildCommand: \"{build}\"}}}}\n\
         \x20   - {{image: two, context: one, requires: [{{image: one, alias: BASE}}], custom: {{buildCommand: \"{build}\"}}}}\n"
    );
    let shop = Shop::new(
        "own",
        &[("skaffold.yaml", &text), ("one/Dockerfile", "FROM scratch\nCOPY one /one\n"), ("one/one", "1")],
    );
    let registry = Registry::start(&shop.top);
    let repo = format!("127.0.0.1:{}/t", registry.1);
    let run = shop.really(&["skaffold", "build", "--default-repo", &repo, "--file-output", "out.json"]);
    assert!(run.status.success(), "{}", all(&run));
    let out: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(shop.folder.join("out.json")).unwrap()).unwrap();
    for (at, name) in ["one", "two"].into_iter().enumerate() {
        let digest = registry.digest(&format!("t/{name}"), "latest").unwrap();
        assert_eq!(out["builds"][at]["tag"], format!("{repo}/{name}:latest@{digest}"), "{}", all(&run));
    }
    let one = registry.digest("t/one", "latest").unwrap();
    assert!(text_of(&run).contains(&format!("BASE={repo}/one:latest@{one}")), "{}", all(&run));
}

fn text_of(output: &Output) -> String {
    text(&output.stdout)
}

#[test]
fn a_garden_build_of_type_skaffold_builds_each_artifact() {
    let shop = skaffold("inside");
    let garden = format!("{HEAD}---\nkind: Build\ntype: skaffold\nname: images\n");
    std::fs::write(shop.folder.join("garden.yml"), garden).unwrap();
    shop.install(&["podman"]);
    let run = |args: &[&str]| shop.command(args).env("PATH", shop.top.join("bin")).env("WHO", "me").output().unwrap();
    let first = run(&["build", "-j", "1"]);
    assert!(first.status.success(), "{}", all(&first));
    let told = shop.told();
    let tag = version(&told[0]);
    assert!(told[0].contains(&format!("--tag base:{tag} ")), "{told:?}");
    assert!(
        told.iter()
            .any(|line| line.contains("--build-arg BASE=base:1d ") && line.contains(&format!("--tag app:{tag} "))),
        "{told:?}"
    );
    let second = run(&["build", "-j", "1"]);
    assert!(all(&second).contains("build.images/app: cached"), "{}", all(&second));
    assert!(!shop.told().iter().any(|line| line.contains(" build ")));
}
