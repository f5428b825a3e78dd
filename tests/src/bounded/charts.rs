//! Charts: Go templates with Sprig's functions, subcharts, schemas, Metachart.

use super::{Ends, Input};

const CHART: &str = "apiVersion: v2\nname: web\nversion: 1.0.0\n";

fn chart(class: &str, template: &str, ends: Ends) -> Input {
    Input::new(format!("charts/{class}"), "render", ends)
        .file("Chart.yaml", CHART)
        .file("values.yaml", format!("n: 1\ntext: {}\n", "x".repeat(1_000)))
        .file("templates/a.yaml", template)
}

/// A template that changes one variable repeatedly.
fn grown(start: &str, pipeline: &str, rounds: usize) -> String {
    let pipeline = pipeline.replace("IT", "$t");
    format!(
        "{{{{- $t := {start} }}}}{{{{ range until {rounds} }}}}{{{{ $t = {pipeline} }}}}{{{{ end }}}}\na: {{{{ kindOf $t }}}}\n"
    )
}

/// The same with output in each round.
fn printed(call: &str, rounds: usize) -> String {
    format!("a:\n{{{{- range until {rounds} }}}}\n- {{{{ {call} }}}}\n{{{{- end }}}}\n")
}

/// All inputs of charts.
pub fn inputs() -> Vec<Input> {
    let mut all = Vec::new();
    let doubled =
        "{{- $a := list 1 }}{{ $b := list 1 }}{{ range until 60 }}{{ $a = list $a $a }}{{ $b = list $b $b }}{{ end }}";
    let maps = "{{- $a := dict \"k\" 1 }}{{ $b := dict \"k\" 1 }}{{ range until 60 }}{{ $a = dict \"x\" $a \"y\" $a }}{{ $b = dict \"x\" $b \"y\" $b }}{{ end }}";
    let uses = [
        ("print", "{{ $a }}"),
        ("json", "{{ toJson $a }}"),
        ("yaml", "{{ toYaml $a }}"),
        ("pretty", "{{ toPrettyJson $a }}"),
        ("toml", "{{ toToml (dict \"a\" $a) }}"),
        ("string", "{{ toString $a }}"),
        ("quote", "{{ quote $a }}"),
        ("printf", "{{ printf \"%v %#v %d %s\" $a $a $a $a }}"),
        ("equal", "{{ deepEqual $a $b }}"),
        ("copy", "{{ deepCopy $a | kindOf }}"),
        ("uniq", "{{ uniq (list $a $b) | len }}"),
        ("has", "{{ has $a (list $b) }}"),
        ("without", "{{ without (list $b) $a | len }}"),
        ("join", "{{ join \",\" (list $a) }}"),
        ("cat", "{{ cat $a $b }}"),
        ("sort", "{{ sortAlpha (list $a $b) }}"),
        ("fail", "{{ fail (toString $a) }}"),
        ("derive", "{{ sha256sum (toJson $a) }}"),
    ];
    for (shape, start) in [("list", doubled), ("map", maps)] {
        for (used, text) in uses {
            all.push(chart(&format!("doubling/{shape}-{used}"), &format!("{start}\na: {text}\n"), Ends::Limit));
        }
    }
    let merges = "{{ $_ := mustMergeOverwrite (dict) $a $b }}{{ $_ := merge (dict) $a $b }}";
    all.push(chart("doubling/map-merge", &format!("{maps}{merges}\na: b\n"), Ends::Limit));
    let texts: &[(&str, &str, &str, usize)] = &[
        ("cat", "\"x\"", "cat IT IT", 100),
        ("printf", "\"x\"", "printf \"%s%s\" IT IT", 100),
        ("print", "\"x\"", "print IT IT", 100),
        ("join", "\"x\"", "join IT (list IT IT)", 100),
        ("b64", "\"x\"", "b64enc IT", 1_000),
        ("b32", "\"x\"", "b32enc IT", 1_000),
        ("quote", "\"x\"", "quote (quote IT IT)", 1_000),
        ("squote", "\"x\"", "squote IT IT", 1_000),
        ("replace", "\"x\"", "replace \"x\" \"xxxx\" IT", 1_000),
        ("regex-replace", "\"x\"", "regexReplaceAll \"x\" IT \"xx$0\"", 1_000),
        ("regex-literal", "\"x\"", "regexReplaceAllLiteral \"\" IT \"xxxx\"", 1_000),
        ("indent", "\"x\"", "indent 10000 IT", 100_000),
        ("nindent", "\"x\"", "nindent 1000000 IT", 100_000),
        ("repeat", "\"xx\"", "repeat 1000 IT", 100_000),
        ("json", "\"\\\"\"", "toJson IT", 1_000),
        ("raw-json", "\"\\\"\"", "toRawJson (list IT IT)", 1_000),
        ("yaml", "\"x\"", "toYaml (list IT IT)", 1_000),
        ("toml", "\"x\"", "toToml (dict \"a\" (list IT IT))", 1_000),
        ("url", "\"%\"", "urlquery IT IT", 1_000),
        ("html", "\"&\"", "html IT IT", 1_000),
        ("wrap", "\"x y\"", "wrapWith 1 IT IT", 1_000),
        ("snake", "\"AbAb\"", "snakecase (print IT IT)", 100),
        ("title", "\"x\"", "title (print IT IT)", 100),
        ("plural", "\"x\"", "plural IT (print IT IT) 2", 100),
        ("list-append", "list 1", "append IT IT", 1_000_000),
        ("list-concat", "list 1", "concat IT IT", 100),
        ("list-append-long", "until 100000", "append IT 1", 1_000_000),
        ("list-prepend", "until 100000", "prepend IT 1", 1_000_000),
        ("chunk", "until 100000", "chunk 1 IT", 1_000_000),
        ("reverse", "until 100000", "reverse IT", 1_000_000),
        ("uniq", "until 100000", "uniq IT", 1_000),
        ("sort", "splitList \"\" (repeat 100000 \"ba\")", "sortAlpha IT", 1_000),
        ("from-yaml", "\"[x]\"", "toYaml (list (fromYamlArray IT) (fromYamlArray IT))", 100),
        ("from-json", "\"[1]\"", "toJson (list (fromJsonArray IT) (fromJsonArray IT))", 100),
        ("split", "\"xx\"", "join \",\" (splitList \"\" IT)", 1_000),
        ("upper", "repeat 1000000 \"x\"", "upper IT", 1_000_000),
        ("trim", "repeat 1000000 \"x\"", "trim IT", 1_000_000),
        ("sha", "repeat 1000000 \"x\"", "repeat 15000 (sha512sum IT)", 1_000_000),
        ("adler", "repeat 1000000 \"x\"", "repeat 100000 (adler32sum IT)", 1_000_000),
        ("contains", "repeat 1000000 \"x\"", "ternary IT IT (contains \"y\" IT)", 1_000_000),
        ("regex-match", "repeat 1000000 \"x\"", "ternary IT IT (regexMatch \"(x+)+y\" IT)", 1_000_000),
        ("date", "\"x\"", "date (repeat 1000000 \"2006\") now", 100_000),
        ("set", "dict", "set IT (randAlphaNum 20) (repeat 100000 \"x\")", 1_000_000),
        ("kinds", "list 1", "list IT (dict \"a\" IT) (printf \"%v\" IT)", 1_000),
        ("shuffle", "repeat 1000000 \"x\"", "shuffle IT", 1_000_000),
        ("tpl", "\"x\"", "tpl (print IT IT) $", 100),
        ("swapcase", "repeat 1000000 \"x\"", "swapcase IT", 1_000_000),
        ("aes", "\"x\"", "encryptAES \"k\" IT", 1_000_000),
    ];
    for (name, start, pipeline, rounds) in texts {
        all.push(chart(&format!("text/{name}"), &grown(start, pipeline, *rounds), Ends::Limit));
    }
    // A long text, list or dictionary that is read repeatedly.
    for call in [
        "slice $l 5 6",
        "first $l",
        "last $l",
        "index $l 5",
        "rest $l",
        "initial $l",
        "has 5 $l",
        "without $l 5",
        "len $l",
        "join \",\" $l",
        "toYaml $l",
        "toJson $l",
        "compact $l",
        "set $d $s 1",
        "get $d $s",
        "hasKey $d $s",
        "pluck $s $d",
        "dict $s 1",
        "unset $d $s",
        "b64dec $s",
        "b32dec $s",
        "b64enc $s",
        "decryptAES \"a\" $s",
        "urlParse $s",
        "trimAll \"b\" $s",
        "quote $s",
        "squote $s",
        "printf \"%q\" $s",
        "printf \"%s\" $s",
        "trim $s",
        "upper $s",
        "contains \"b\" $s",
        "hasPrefix \"b\" $s",
        "substr 1 2 $s",
        "trunc 3 $s",
        "regexMatch \"b\" $s",
        "splitList \"b\" $s",
        "replace \"b\" \"c\" $s",
        "sha256sum $s",
        "eq $s $s",
        "nospace $s",
        "initials $s",
        "title $s",
        "kebabcase $s",
        "atoi $s",
        "fromJson $s",
        "fromYaml $s",
        "semver $s",
        "buildCustomCert $s $s",
        "int $s",
        "float64 $s",
        "toString $s",
        "len $s",
        "abbrev 5 $s",
        "untitle $s",
        "wrap 5 $s",
        "plural $s $s 1",
        "hasSuffix \"b\" $s",
        "osBase $s",
        "toDate \"x\" $s",
    ] {
        let name: String = call.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        let setup = "{{- $l := until 100000 }}{{ $s := repeat 4000000 \"a\" }}{{ $d := dict }}";
        let template = format!("{setup}{{{{ range until 1000000 }}}}{{{{ $x := {call} }}}}{{{{ end }}}}\n");
        all.push(chart(&format!("long/{name}"), &template, Ends::Answered));
    }
    let loops: &[(&str, &str)] = &[
        ("printf-wide", "printf \"%999999d\" 1"),
        (
            "printf-wide-many",
            "printf \"%999999d%999999d%999999d%999999d%999999d%999999d%999999d%999999d\" 1 1 1 1 1 1 1 1",
        ),
        ("printf-star", "printf \"%*d\" 999999 1"),
        ("printf-precise", "printf \"%.999999f\" 1.5"),
        ("derive-password", "derivePassword 1 \"long\" \"p\" \"u\" \"s\""),
        ("bcrypt", "bcrypt \"x\""),
        ("htpasswd", "htpasswd \"u\" \"x\""),
        ("gen-ca", "genCA \"x\" 365"),
        ("gen-key", "genPrivateKey \"rsa\""),
        ("gen-ec", "genPrivateKey \"ecdsa\""),
        ("gen-signed", "genSelfSignedCert \"x\" nil nil 365"),
        ("rand-bytes", "randBytes 1000000"),
        ("rand-text", "randAlphaNum 1000000"),
        ("env", "repeat 1000000 \"x\""),
        ("until", "until 1000000"),
        ("seq", "seq 1 1000000"),
        ("semver", "semverCompare (repeat 10000 \">=1 \") \"1.2.3\""),
        ("regex-big", "regexMatch \"(\\\\pL{1,30}){1,30}\" \"a\""),
        ("regex-wide", "regexMatch \"\\\\pL{1000}\" \"a\""),
        ("regex-many", "regexMatch (print (randAlphaNum 20) \"[a-z]{500}\") \"a\""),
        ("find-all", "regexFindAll \".\" (repeat 1000000 \"x\") -1"),
    ];
    for (name, call) in loops {
        all.push(chart(&format!("loops/{name}"), &printed(call, 100_000), Ends::Limit));
    }
    // Many parts of one text, in one call.
    for (name, call) in [
        ("characters", "splitList \"\" (repeat 16000000 \"a\") | len"),
        ("parts", "splitList \"a\" (repeat 16000000 \"a\") | len"),
        ("named", "split \"\" (repeat 16000000 \"a\") | len"),
        ("named-some", "splitn \"a\" 16000000 (repeat 16000000 \"a\") | len"),
        ("long-parts", "splitList \"b\" (repeat 4000000 \"a\") | len"),
    ] {
        let ends = if name == "long-parts" { Ends::Answered } else { Ends::Limit };
        all.push(chart(&format!("split/{name}"), &format!("a: {{{{ {call} }}}}\n"), ends));
    }
    // Patterns that scan the whole text for every match, or many of their parts for every byte.
    for (name, call) in [
        ("far-all", "regexFindAll \"[^b]*b|a\" (repeat 300000 \"a\") -1 | len"),
        ("far-replace", "regexReplaceAll \"a([^b]*b)?\" (repeat 300000 \"a\") \"\" | len"),
        ("far-literal", "regexReplaceAllLiteral \"(a+b)*\" (repeat 300000 \"a\") \"\" | len"),
        ("far-split", "regexSplit \"a.*b|a\" (repeat 300000 \"a\") -1 | len"),
        ("wide", "regexMatch \"(\\\\pL{1,30}){1,30}x\" (repeat 3000000 \"é\")"),
        ("optional", "regexMatch (repeat 900 \"a?\") (repeat 3000000 \"a\")"),
        ("states", "regexMatch \"[ab]*a[ab]{200}c\" (repeat 100000 (randAlphaNum 30))"),
    ] {
        all.push(chart(&format!("regex/{name}"), &format!("a: {{{{ {call} }}}}\n"), Ends::Limit));
    }
    all.push(chart(
        "loops/range",
        "{{ range until 1000000 }}{{ range until 1000000 }}x{{ end }}{{ end }}",
        Ends::Limit,
    ));
    all.push(chart(
        "loops/include",
        "{{ define \"a\" }}{{ include \"a\" . }}{{ end }}{{ include \"a\" . }}",
        Ends::Limit,
    ));
    all.push(chart(
        "loops/template",
        "{{ define \"a\" }}{{ template \"a\" . }}{{ end }}{{ template \"a\" . }}",
        Ends::Limit,
    ));
    let fan = (0..60)
        .map(|at| {
            format!(
                "{{{{ define \"t{at}\" }}}}{{{{ include \"t{0}\" . }}}}{{{{ include \"t{0}\" . }}}}{{{{ end }}}}",
                at + 1
            )
        })
        .collect::<String>();
    all.push(chart(
        "loops/include-fan",
        &format!("{fan}{{{{ define \"t60\" }}}}x{{{{ end }}}}{{{{ include \"t0\" . }}}}"),
        Ends::Limit,
    ));
    all.push(chart("text/large-output", "{{ range until 1000 }}{{ repeat 1000000 \"x\" }}{{ end }}", Ends::Limit));
    let mut many = chart("text/many-outputs", "a: b\n", Ends::Limit);
    for at in 0..300 {
        many = many.file(&format!("templates/t{at}.yaml"), "{{ repeat 16000000 \"x\" }}");
    }
    all.push(many);
    let mut lists = chart(
        "text/many-large",
        "{{ $l := list }}{{ range until 1000 }}{{ $l = append $l (repeat 16000000 (toString .)) }}{{ end }}",
        Ends::Limit,
    );
    lists.name = "charts/text/many-large".to_owned();
    all.push(lists);
    let schema = "{\"$ref\":\"#/definitions/a\",\"definitions\":{\"a\":{\"anyOf\":[{\"$ref\":\"#/definitions/b\"},{\"$ref\":\"#/definitions/b\"}]},\"b\":{\"anyOf\":[{\"$ref\":\"#/definitions/a\"},{\"$ref\":\"#/definitions/a\"}]}}}";
    all.push(chart("schema/any-of", "a: b\n", Ends::Answered).file("values.schema.json", schema));
    let fan: String = (0..60)
        .map(|at| {
            format!(
                "\"a{at}\":{{\"anyOf\":[{{\"$ref\":\"#/definitions/a{0}\"}},{{\"$ref\":\"#/definitions/a{0}\"}}]}},",
                at + 1
            )
        })
        .collect();
    let schema = format!("{{\"$ref\":\"#/definitions/a0\",\"definitions\":{{{fan}\"a60\":{{\"type\":\"string\"}}}}}}");
    all.push(chart("schema/fan", "a: b\n", Ends::Limit).file("values.schema.json", schema));
    let schema = "{\"properties\":{\"text\":{\"pattern\":\"((a{1,100}){1,100}){1,100}\"}}}";
    all.push(chart("schema/pattern", "a: b\n", Ends::Answered).file("values.schema.json", schema));
    all.push(archives());
    all.push(ring());
    all.extend(metachart());
    all
}

/// Nested charts: each archive is small, all together are not.
fn archives() -> Input {
    let filling = vec![b' '; 2_000_000];
    let mut inner = tar(&[("web/Chart.yaml", CHART.as_bytes()), ("web/filling.txt", &filling)]);
    for _ in 0..12 {
        let chart: &[(&str, &[u8])] = &[
            ("web/Chart.yaml", CHART.as_bytes()),
            ("web/charts/a.tgz", &inner),
            ("web/charts/b.tgz", &inner),
            ("web/charts/c.tgz", &inner),
        ];
        inner = tar(chart);
    }
    Input::new("charts/archive/nested", "render", Ends::Limit)
        .file("Chart.yaml", CHART)
        .file("charts/a.tgz", inner)
        .file("templates/a.yaml", "a: b\n")
}

/// Sibling charts that all include each other: the number of paths is the number of their permutations.
fn ring() -> Input {
    const CHARTS: usize = 10;
    let mut input = Input::new("charts/dependencies/ring", "check", Ends::Answered);
    for own in 0..CHARTS {
        let others = (0..CHARTS).filter(|other| *other != own);
        let dependencies: String = others
            .map(|other| format!("- {{name: c{other}, version: 0.1.0, repository: \"file://../c{other}\"}}\n"))
            .collect();
        let chart = format!("apiVersion: v2\nname: c{own}\nversion: 0.1.0\ndependencies:\n{dependencies}");
        input = input.file(&format!("c{own}/Chart.yaml"), chart);
        input = input.file(&format!("c{own}/templates/a.yaml"), "a: {{ .Chart.Name }}\n");
    }
    input
}

/// A gzipped tar archive.
fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, content) in files {
        let mut header = [0u8; 512];
        let mut put = |at: usize, bytes: &[u8]| {
            if let Some(place) = header.get_mut(at..at + bytes.len()) {
                place.copy_from_slice(bytes);
            }
        };
        put(0, name.as_bytes());
        put(100, b"0000644\0");
        put(108, b"0000000\0");
        put(116, b"0000000\0");
        put(124, format!("{:011o}\0", content.len()).as_bytes());
        put(136, b"00000000000\0");
        put(148, b"        ");
        put(156, b"0");
        put(257, b"ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        if let Some(place) = header.get_mut(148..156) {
            place.copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        }
        out.extend_from_slice(&header);
        out.extend_from_slice(content);
        out.resize(out.len().div_ceil(512) * 512, 0);
    }
    out.resize(out.len() + 1024, 0);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    // Writing to memory does not fail.
    let _ = std::io::Write::write_all(&mut encoder, &out);
    encoder.finish().unwrap_or_default()
}

fn metachart() -> Vec<Input> {
    let resources = "resources:\n  configmaps: {apiVersion: v1, kind: ConfigMap}\n";
    let base = |class: &str, values: &str, ends| {
        Input::new(format!("metachart/{class}"), "render", ends)
            .file("Chart.yaml", CHART)
            .file("config/resources.yaml", resources)
            .file("values.yaml", values)
    };
    let grown = "{{ $t := \"x\" }}{{ range until 1000 }}{{ $t = print $t $t }}{{ end }}";
    let nested = "{{ $a := list 1 }}{{ range until 60 }}{{ $a = list $a $a }}{{ end }}{{ toJson $a }}";
    let many: String =
        (0..300).map(|at| format!("  c{at}: {{data: {{a: '{{{{ repeat 16000000 \"x\" }}}}'}}}}\n")).collect();
    vec![
        base("text/print", &format!("configmaps:\n  c: {{data: {{a: '{grown}'}}}}\n"), Ends::Limit),
        base("doubling/json", &format!("configmaps:\n  c: {{data: {{a: '{nested}'}}}}\n"), Ends::Limit),
        base("text/many", &format!("configmaps:\n{many}"), Ends::Limit),
        base("loops/itself", "configmaps:\n  c: {data: {a: '{{ tpl .Values.configmaps.c.data.a . }}'}}\n", Ends::Limit),
    ]
}
