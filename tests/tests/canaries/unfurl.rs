//! Ensembles: vault data and `!sensitive` in the manifest and in the service template, secrets of the environment,
//! sensitive inputs, properties, parts of data types, inherited or not, the filter and the function `sensitive`.

use crate::project::Project;
use crate::random::Random;

/// The content of the two vaults; the password is `pw`.
const IN_VAULT: &str = "VKx7Qm3ZtP9wLd4Rb2";
const IN_JSON_VAULT: &str = "JWk5Xn8TqB3vYh6Gc4";

const VAULT: &str = "|
SPACES$ANSIBLE_VAULT;1.1;AES256
SPACES35356164313939393863336363336266613665653865633263633864386435316135316235656666
SPACES3466343731313261393336326531663265336339653936320a306130383634643631366335663630
SPACES31626638623036333337333035313339356165643730306531366663373134343430303037613264
SPACES3934643365383534630a616533653232656333366262656561636664336462376434336664376264
SPACES39353764393263343239363531353036653337336233623532323039386139616432
";

const JSON_VAULT: &str = "|
SPACES$ANSIBLE_VAULT;1.1;AES256
SPACES30393237366138393965643961313861656436363838613764323061363366316439303664333562
SPACES3434653730363665666664346361333431653165646330650a356536313335393337383766643565
SPACES66626164613934333862313566613762336338326531353034323638396131616563633236323531
SPACES3562326564303763610a663435393864303734313334346336653634376462353236326636643764
SPACES32663836323030396331386666353764333061306237383764626466333334316639383931333166
SPACES6664626632646233303430313063303265646164663236343864
";

/// Filters with a text as result.
const FILTERS: &[&str] = &[
    "@ | upper",
    "@ | lower",
    "@ | title",
    "@ | capitalize",
    "@ | reverse",
    "@ | b64encode",
    "@ | b64encode | b64decode",
    "@ | urlencode",
    "@ | quote",
    "@ | trim",
    "@ | string",
    "@ | center(40)",
    "@ | truncate(14)",
    "@ | indent(2)",
    "@ | wordwrap(9)",
    "@ | escape",
    "@ | replace('zz', 'y')",
    "@ | regex_replace('^(.)', 'x\\\\1')",
    "@ | regex_search('[A-Za-z0-9]+')",
    "@ | to_json",
    "@ | to_json | from_json",
    "@ | to_yaml",
    "@ | default('x')",
    "@ | list | join('')",
    "@ | split('#') | first",
    "[@, 'x'] | join('-')",
    "[@] | last",
    "{'a': @}.a",
    "'%s!' | format(@)",
    "@ ~ '-x'",
    "(@ if true else 'n')",
    "(true | ternary(@, 'x'))",
    "(@ | comment)",
    "(@ | sha1) ~ @",
    "(@ | to_uuid) ~ @",
    "([@] | product(['a']) | list | to_json)",
    "({'k': @} | dict2items | to_json)",
    "(@ | batch(4) | list | to_json)",
    "(@ | regex_escape)",
    "(@ | string | basename)",
    "([@] | map('upper') | join)",
    "([@, @] | unique | join)",
];

/// Calls; `@` is the placeholder for a value.
const CALLS: &[&str] = &[
    "{concat: [a-, @]}",
    "{eval: {concat: [@, b]}}",
    "{eval: {join: [[@, c], '#']}}",
    "{token: [@, '#', 0]}",
    "{eval: {if: true, then: @, else: n}}",
    "{eval: {if: @, then: @, else: n}}",
    "{eval: {template: '{{ v }}'}, vars: {v: @}}",
    "{eval: $x, vars: {x: @}}",
    "{eval: {to_label: @}}",
    "[@, plain]",
    "{k: @, l: [@]}",
];

struct Ways {
    /// Values, and expressions of templates.
    values: Vec<String>,
    templates: Vec<String>,
}

fn vault(text: &str, depth: usize) -> String {
    text.replace("SPACES", &" ".repeat(depth))
}

fn base(random: &mut Random, project: &mut Project) -> (String, Ways) {
    let mut secret = || {
        let canary = random.canary();
        project.canaries.push(canary.clone());
        canary
    };
    let (environment, local) = (secret(), secret());
    let (tagged_input, typed_input, preset) = (secret(), secret(), secret());
    let (own, default, inherited, part, tagged, deep, of_environment) =
        (secret(), secret(), secret(), secret(), secret(), secret(), secret());
    project.options = vec!["--input".into(), format!("given={}", secret())];
    // Opening a vault takes ten thousand rounds of a hash, in every command.
    let vaults = random.below(3) == 0;
    if vaults {
        project.canaries.extend([IN_VAULT.to_owned(), IN_JSON_VAULT.to_owned()]);
    }
    project.file(
        "unfurl.yaml",
        format!(
            "apiVersion: unfurl/v1alpha1
kind: Project
environments:
  defaults:
    secrets:
      vault_secrets: {{default: pw}}
      key: {environment}
    inputs: {{of_environment: !sensitive {of_environment}}}
    locals: {{lock: !sensitive {local}}}
ensembles: [{{file: ensemble.yaml, default: true}}]
"
        ),
    );
    let text = format!(
        "apiVersion: unfurl/v1alpha1
kind: Ensemble
spec:
  inputs:
    tagged: !sensitive {tagged_input}
    typed: {typed_input}
    vaulted: {}
  service_template:
    tosca_definitions_version: tosca_simple_unfurl_1_0_0
    data_types:
      Login:
        properties:
          user: {{type: string, default: ann}}
          pass: {{type: string, metadata: {{sensitive: true}}}}
    node_types:
      Open: {{derived_from: tosca.nodes.Root, metadata: {{additionalProperties: true}}}}
      Base:
        derived_from: tosca.nodes.Root
        properties:
          own: {{type: string, metadata: {{sensitive: true}}}}
          default: {{type: string, metadata: {{sensitive: true}}, default: {default}}}
          inherited: {{type: string, metadata: {{sensitive: true}}}}
      Derived:
        derived_from: Base
        properties:
          inherited: {{type: string, description: said again}}
          login: {{type: Login}}
          tagged: {{type: string}}
          deep: {{type: map}}
          vaulted: {{type: map}}
CLAUSES
    topology_template:
      inputs:
        tagged: {{type: string}}
        typed: {{type: string, metadata: {{sensitive: true}}}}
        vaulted: {{type: string}}
        of_environment: {{type: string}}
        given: {{type: string, metadata: {{sensitive: true}}}}
        preset: {{type: string, metadata: {{sensitive: true}}, default: {preset}}}
      outputs:
        key: {{value: {{eval: {{secret: key}}}}}}
        input: {{value: {{get_input: tagged}}}}
      node_templates:
        s:
          type: Derived
          properties:
            own: {own}
            inherited: {inherited}
            login: {{pass: {part}}}
            tagged: !sensitive {tagged}
            deep: {{a: {{b: !sensitive {deep}}}}}
            vaulted: {}",
        if vaults { "!vault ".to_owned() + vault(VAULT, 6).trim_end() } else { "!sensitive none".to_owned() },
        if vaults {
            "!vault-json ".to_owned() + &vault(JSON_VAULT, 14)
        } else {
            "!sensitive {pass: none}\n".to_owned()
        },
    );
    let mut ways = Ways { values: Vec::new(), templates: Vec::new() };
    for name in ["tagged", "typed", "vaulted", "of_environment", "given", "preset"] {
        ways.values.push(format!("{{get_input: {name}}}"));
        ways.templates.push(format!("({{'get_input': '{name}'}} | eval)"));
    }
    for path in ["own", "default", "inherited", "login::pass", "tagged", "deep::a::b", "vaulted::pass"] {
        ways.values.push(format!("{{eval: '::s::{path}'}}"));
        ways.templates.push(format!("('::s::{path}' | eval)"));
    }
    for (kind, name) in [("secret", "key"), ("local", "lock")] {
        ways.values.push(format!("{{eval: {{{kind}: {name}}}}}"));
        ways.templates.push(format!("({{'{kind}': '{name}'}} | eval)"));
    }
    (text, ways)
}

fn value(random: &mut Random, ways: &Ways) -> String {
    match random.below(3) {
        0 => {
            let leaf = random.pick(&ways.values).clone();
            random.pick(CALLS).replace('@', &leaf)
        }
        1 => {
            let leaf = random.pick(&ways.templates).clone();
            let text = random.wrapped(&leaf, FILTERS);
            let call = *random.pick(&CALLS[..4]);
            call.replace('@', &format!("\"{{{{ {text} }}}}\""))
        }
        _ => format!("\"{{{{ {} }}}}\"", template(random, ways)),
    }
}

fn template(random: &mut Random, ways: &Ways) -> String {
    let leaf = random.pick(&ways.templates).clone();
    random.wrapped(&leaf, FILTERS)
}

pub fn sound(random: &mut Random) -> Project {
    let mut project = Project::default();
    let (head, ways) = base(random, &mut project);
    let mut text = head.replace("CLAUSES\n", "") + "        a:\n          type: Open\n          properties:\n";
    for (at, leaf) in ways.values.iter().enumerate() {
        text += &format!("            w{at}: {leaf}\n");
    }
    for at in 0..24 {
        text += &format!("            p{at}: {}\n", value(random, &ways));
        if at % 6 == 0 {
            project.fields.push(("a".into(), format!("attributes.p{at}")));
        }
    }
    project.fields.push(("s".into(), "attributes.inherited".into()));
    project.file("ensemble.yaml", text);
    for _ in 0..3 {
        project.expressions.push((Some("a".into()), format!("{{{{ {} }}}}", template(random, &ways))));
        project.expressions.push((Some("a".into()), value(random, &ways)));
    }
    project.values = 24 + ways.values.len();
    project
}

/// Values that violate a constraint or a type, and expressions that fail.
pub fn broken(random: &mut Random) -> Project {
    const WRONG: &[&str] = &[
        "\"{{ @ | from_json }}\"",
        "\"{{ @ + 1 }}\"",
        "\"{{ @.x.y }}\"",
        "\"{{ {'a': 1}[@] }}\"",
        "\"{{ @ | int / 0 }}\"",
        "\"{{ @ | nofilter }}\"",
        "\"{{ [1][@] }}\"",
        "\"{{ @ | to_datetime }}\"",
        "\"{{ @ | hash('nohash') }}\"",
        "\"{{ 'x' | regex_search('(' ~ @) }}\"",
        "\"{{ lookup('file', @) }}\"",
        "\"{{ lookup(@) }}\"",
        "\"{{ @ | mandatory }} {{ nothing[@] }}\"",
        "\"{{ @ | b64decode | from_yaml }}\"",
        "\"{{ ('::' ~ @) | eval }}\"",
        "\"{{ ('[' ~ @) | eval }}\"",
        "\"{{ @ | human_to_bytes }}\"",
        "\"{{ raise(@) }}\"",
    ];
    let mut project = Project::default();
    let (head, ways) = base(random, &mut project);
    let clauses = ["{max_length: 3}", "{length: 3}", "{pattern: 'x+'}", "{equal: abc}", "{valid_values: [a, b]}"];
    let mut declared = String::from("      Strict:\n        derived_from: tosca.nodes.Root\n        properties:\n");
    let mut text = String::from("        b:\n          type: Strict\n          properties:\n");
    for (at, clause) in clauses.iter().enumerate() {
        let literal = random.canary();
        project.canaries.push(literal.clone());
        declared += &format!(
            "          l{at}: {{type: string, metadata: {{sensitive: true}}, constraints: [{clause}]}}\n          c{at}: {{type: string, constraints: [{clause}]}}\n"
        );
        text += &format!("            l{at}: {literal}\n            c{at}: {}\n", random.pick(&ways.values));
    }
    for (at, name) in ["integer", "boolean", "float", "list", "Login"].iter().enumerate() {
        declared += &format!("          t{at}: {{type: {name}}}\n");
        text += &format!("            t{at}: {}\n", random.pick(&ways.values));
    }
    text += "        a:\n          type: Open\n          properties:\n";
    for (at, wrong) in WRONG.iter().enumerate() {
        let leaf = random.pick(&ways.templates).clone();
        text += &format!("            p{at}: {}\n", wrong.replace('@', &leaf));
        project.expressions.push((Some("a".into()), wrong.trim_matches('"').replace('@', &leaf)));
    }
    project.file("ensemble.yaml", head.replace("CLAUSES\n", &declared) + &text);
    project.values = WRONG.len() + 15;
    project.broken = true;
    project
}
