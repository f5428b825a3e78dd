//! Garden projects: secrets come from imported variables, from a file named by `--secret-file`, and from the address of
//! the repository. `local.env`, variables and varfiles are not secret in Garden.

use crate::project::Project;
use crate::random::Random;

/// Functions and operators with a text as result.
pub const WRAPPERS: &[&str] = &[
    "base64Encode(@)",
    "base64Decode(base64Encode(@))",
    "camelCase(@)",
    "kebabCase(@)",
    "upper(@)",
    "lower(@)",
    "concat('a-', @)",
    "indent(@, 2)",
    "join([@, 'x'], '-')",
    "join(concat([@], ['y']), ',')",
    "jsonEncode(@)",
    "jsonEncode([@])",
    "jsonDecode(jsonEncode([@]))[0]",
    "yamlEncode([@])",
    "yamlDecode(yamlEncode([@]))[0]",
    "replace(@, 'zz', 'y')",
    "slice(@, 0, 14)",
    "split(@, '#')[0]",
    "string(@)",
    "trim(@)",
    "'x' + @",
    "(@ + 'y')",
    "(@ || 'nothing')",
    "('yes' && @)",
    "(true ? @ : 'no')",
    "(@ == 'x' ? 'no' : @)",
    "[@, 1][0]",
    "sha256(@) + @",
];

/// Expressions with another kind of result.
const LAST: &[&str] = &[
    "split(@, '5')",
    "[@, 'b']",
    "[@, [@]]",
    "isEmpty(@)",
    "(@ == 'x')",
    "(@ != 'x')",
    "(secrets contains 'TOKEN')",
    "concat([@], ['b'])",
    "jsonDecode(jsonEncode([[@]]))",
];

const LEAVES: &[&str] = &["secrets.TOKEN", "secrets.OTHER", "secrets['TOKEN']", "var.header", "var.nested.deep"];

struct Secrets {
    token: String,
    other: String,
    origin: String,
}

fn base(random: &mut Random) -> (Project, Secrets) {
    let secrets = Secrets { token: random.canary(), other: random.canary(), origin: random.canary() };
    let mut project = Project::default();
    project.file(
        "project.garden.yml",
        "apiVersion: garden.io/v2
kind: Project
name: p
environments: [{name: dev}]
providers: [{name: local-kubernetes}]
importVariables: [{from: file, path: secret.env, format: dotenv}]
variables:
  header: \"Bearer ${secrets.TOKEN}\"
  nested: {deep: \"${secrets.OTHER}\"}
outputs:
  - {name: token, value: \"${secrets.OTHER}\"}
  - {name: image, value: \"${actions.build.img.outputs.deploymentImageId}\"}
",
    );
    project.file("secret.env", format!("TOKEN={}\n", secrets.token));
    project.file("more.env", format!("OTHER={}\n", secrets.other));
    project.file(".git/HEAD", "ref: refs/heads/main\n");
    project.file(
        ".git/config",
        format!("[remote \"origin\"]\n\turl = https://user:{}@example.com/r.git\n", secrets.origin),
    );
    project.file(
        "img.garden.yml",
        "kind: Build
type: container
name: img
spec: {localId: \"${secrets.TOKEN}\"}
---
kind: Deploy
type: container
name: web
build: img
spec: {image: \"${actions.build.img.outputs.deploymentImageId}\"}
---
kind: Deploy
type: helm
name: release
spec: {releaseName: \"${lower(secrets.OTHER)}\"}
",
    );
    project.file("Dockerfile", "FROM scratch\n");
    project.options = vec!["--secret-file".into(), "more.env".into()];
    project.canaries = vec![secrets.token.clone(), secrets.other.clone(), secrets.origin.clone()];
    (project, secrets)
}

fn text(random: &mut Random) -> String {
    let leaf = *random.pick(LEAVES);
    random.wrapped(leaf, WRAPPERS)
}

fn expression(random: &mut Random) -> String {
    let text = text(random);
    if random.below(2) == 0 { random.pick(LAST).replace('@', &text) } else { text }
}

pub fn sound(random: &mut Random) -> Project {
    let (mut project, _) = base(random);
    let mut file = String::from("kind: Run\ntype: exec\nname: a\nvariables:\n");
    for at in 0..8 {
        file += &format!("  v{at}: \"${{{}}}\"\n", expression(random));
    }
    file += "spec:\n  command:\n    - \"${git.originUrl}\"\n    - \"${upper(git.originUrl)}\"\n";
    for at in 0..24 {
        let inner = text(random);
        let written = match random.below(4) {
            0 => format!("in a text: ${{{inner}}} and on"),
            _ => format!("${{{inner}}}"),
        };
        file += &format!("    - \"{written}\"\n");
        if at % 4 == 0 {
            project.fields.push(("run.a".into(), format!("spec.command.{}", at + 2)));
        }
    }
    for name in ["localImageName", "localImageId", "deploymentImageName", "deploymentImageId", "local-image-id"] {
        file += &format!("    - \"x ${{actions.build.img.outputs.{name}}}\"\n");
    }
    file += "    - \"${actions.deploy.web.outputs.deployedImageId}\"\n";
    file += "    - \"${actions.deploy.release.outputs.release-name}\"\n";
    file += "    - $concat: [\"${secrets.TOKEN}\", b]\n    - $concat: \"${split(secrets.OTHER, '4')}\"\n";
    file +=
        "    - $concat:\n        $forEach: {k: \"${secrets.TOKEN}\"}\n        $return: \"${item.key}${item.value}\"\n";
    file += "  env:\n    $merge: ${secrets}\n    A: {$if: \"${secrets.TOKEN == 'x'}\", $then: a, $else: \"${var.header}\"}\n";
    project.file("a.garden.yml", file);
    for _ in 0..10 {
        project.expressions.push((Some("run.a".into()), format!("${{{}}}", expression(random))));
    }
    project.fields.push(("build.img".into(), "spec.localId".into()));
    project.values = 24 + 8 + 12 + 10;
    for line in ["garden get variables -o json", "garden get config -o json", "garden get actions -o json"] {
        project.originals.push(line.split(' ').map(str::to_owned).collect());
    }
    project
}

/// Secrets in invalid places: each causes a message.
pub fn broken(random: &mut Random) -> Project {
    let (mut project, _) = base(random);
    let mut text = String::from(
        "kind: Run
type: exec
name: a
timeout: \"${secrets.TOKEN}\"
varfiles: [\"${secrets.OTHER}.yml\"]
source: {path: \"../../${secrets.TOKEN}\"}
dependencies: [\"build.${secrets.TOKEN}\", \"${secrets.OTHER}\", {kind: Build, name: \"${secrets.TOKEN}\"}]
spec:
  shell: \"${secrets.OTHER}\"
  command:
",
    );
    const WRONG: &[&str] = &[
        "jsonDecode(@)",
        "yamlDecode('[' + @)",
        "range(@, 2)",
        "formatDateUtc(@, 'yyyy')",
        "shiftDateUtc(@, 1, 'days')",
        "1 + @",
        "@ - 1",
        "@ < 1",
        "slice('abc', @)",
        "join(@, ',')",
        "5 contains @",
        "local.env[@]",
        "var[@]",
        "secrets[@]",
        "actions.build[@].outputs.x",
        "actions.deploy.web.outputs[@]",
        "unknown(@)",
        "@.x.y",
        "[1, 2][@]",
        "replace(@, 1, 2)",
        "indent(@, @)",
        "base64Decode(@)",
        "uuidv4(@)",
        "isEmpty(5 - @)",
    ];
    for wrong in WRONG {
        let leaf = *random.pick(LEAVES);
        let inner = random.wrapped(leaf, WRAPPERS);
        text += &format!("    - \"${{{}}}\"\n", wrong.replace('@', &inner));
        project.expressions.push((None, format!("${{{}}}", wrong.replace('@', leaf))));
    }
    text += "    - $concat: \"${secrets.TOKEN}\"\n  env:\n    A: {$if: \"${secrets.TOKEN}\", $then: 1}\n";
    text += "    B: {$forEach: \"${secrets.TOKEN}\", $return: 1}\n    C: {$merge: \"${secrets.OTHER}\"}\n";
    project.file("a.garden.yml", text);
    project.values = WRONG.len() + 12;
    project.broken = true;
    project
}
