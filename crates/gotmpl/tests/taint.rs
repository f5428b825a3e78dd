//! A secret stays secret, piece by piece, through printing and functions that keep the pieces of a text.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use purlin_gotmpl::func::{Func, Ty};
use purlin_gotmpl::funcs::LISTS;
use purlin_gotmpl::{Data, Limits, Machine, Outside, Piece, Rope, Set, Str, Val};

/// Ways to print a text that keep its pieces.
const WAYS: &[&str] =
    &["{{ . }}", "{{ toYaml (list .) }}", "{{ printf \"as %s\" . }}", "{{ trimSuffix \"d\" . }}", "{{ nindent 2 . }}"];

/// The text `ab-cd`, whose halves come from different values.
fn halves(first: bool, second: bool) -> Str {
    let piece = |end: u32, tainted: bool| Piece { end, origin: end, site: 1, call: 0, tainted };
    Str::with_pieces(b"ab-cd".to_vec(), vec![piece(3, first), piece(5, second)])
}

/// The output of a template for a value, if it succeeds.
fn executed(template: &str, value: Val) -> Option<Rope> {
    let mut set = Set::new();
    set.add("main", template).ok()?;
    let (outside, limits) = (Outside { track: true, ..Outside::default() }, Limits::default());
    Machine::new(Arc::new(set).namespace(), &outside, &limits).execute(&"main".into(), value).ok()
}

/// Whether the printed first half is secret, and the second.
fn printed(template: &str, value: Val) -> (bool, bool) {
    let rope = executed(template, value).unwrap();
    let at = |letter: u8| {
        let at = rope.bytes.iter().position(|byte| *byte == letter).unwrap();
        rope.pieces.iter().find(|piece| piece.end as usize > at).unwrap().tainted
    };
    (at(b'b'), at(b'c'))
}

/// A nil list is written as a leaf; its content is looked up in its own heap.
#[test]
fn lists_that_are_nil_are_written() {
    for template in ["{{ toYaml (regexFindAll \"z\" \"a\" -1) }}", "{{ toYaml (dict \"a\" (fromJsonArray \"null\")) }}"]
    {
        let rope = executed(template, Val::NIL).unwrap();
        assert!(rope.bytes.ends_with(b"[]") || rope.bytes.ends_with(b"null"), "{:?}", rope.bytes);
    }
}

#[test]
fn a_text_that_is_secret_as_a_whole_is_so_in_every_piece() {
    for way in WAYS {
        let value = Val::new(Data::Str(halves(false, false)));
        assert_eq!(printed(way, value.clone()), (false, false), "{way}");
        assert_eq!(printed(way, value.taint(true)), (true, true), "{way}");
    }
}

#[test]
fn a_text_with_a_secret_piece_is_secret_there() {
    for way in WAYS {
        let value = Val::new(Data::Str(halves(false, true))).taint(true);
        assert_eq!(printed(way, value), (false, true), "{way}");
    }
}

/// An argument of a type in template syntax; `None` if it cannot be written.
fn written(ty: Ty) -> Option<&'static str> {
    Some(match ty {
        Ty::Any | Ty::Value | Ty::Str => "\"2\"",
        Ty::Int => "2",
        Ty::Float => "2.5",
        Ty::Bool => "true",
        Ty::Map => "(dict \"a\" \"b\")",
        Ty::List => "(list \"a\" \"b\")",
        Ty::Time | Ty::Version | Ty::Certificate => return None,
    })
}

/// Collections that hold the secret, but are not secret as a whole.
const HOLDERS: &str = "{{ $map := dict \"a\" \"b\" }}{{ $_ := set $map \"a\" . }}{{ $list := values $map }}\
    {{ $keyed := set (dict) . \"b\" }}";

/// Calls of a function, each with the secret in another argument, bare or in a collection.
fn calls(func: &Func) -> Vec<String> {
    let params: Vec<Ty> = func.params.iter().copied().chain(func.rest).collect();
    let Some(plain) = params.iter().map(|ty| written(*ty)).collect::<Option<Vec<_>>>() else { return Vec::new() };
    let ways = |ty: Ty| match ty {
        Ty::Str => &["."][..],
        Ty::Any | Ty::Value => &[".", "(list .)", "$map", "$list", "(dict . \"x\")", "$keyed", "(list $keyed)"],
        Ty::List => &["$list", "(keys (dict . \"x\"))", "(keys $keyed)"],
        Ty::Map => &["$map", "(dict . \"x\")", "$keyed"],
        _ => &[],
    };
    let mut calls = Vec::new();
    for (place, ty) in params.iter().enumerate() {
        for way in ways(*ty) {
            let mut args = plain.clone();
            args[place] = way;
            calls.push(format!("{HOLDERS}{{{{ {} {} }}}}", func.name, args.join(" ")));
        }
    }
    calls
}

/// Calls that reveal nothing of the secret among their arguments: they return another argument, or a property of a
/// collection that does not depend on its elements.
const SHOW_NOTHING: &[&str] = &[
    "and",
    "or",
    "default",
    "required",
    "ternary",
    "tpl",
    "unset",
    "trimAll",
    "trimall",
    "trimPrefix",
    "trimSuffix",
    "merge",
    "mustMerge",
    "mergeOverwrite",
    "mustMergeOverwrite",
    "index",
    "rest",
    "mustRest",
    "initial",
    "mustInitial",
    "pick",
    "pluck",
    "keys",
    "hasKey",
    "len",
    "kindOf",
    "kindIs",
    "typeOf",
    "typeIs",
    "typeIsLike",
    "empty",
    "not",
    "without",
    "mustWithout",
    "replace",
];

#[test]
fn no_function_loses_a_secret() {
    let mut lost = Vec::new();
    // Making keys takes long, and involves no secrets.
    let lists = LISTS.iter().filter(|(theme, _)| *theme != "Certificates");
    for func in lists.flat_map(|(_, list)| list.iter()) {
        for call in calls(func) {
            let Some(rope) = executed(&call, Val::str("ab-cd").at(7).taint(true)) else { continue };
            let kept = rope.bytes.is_empty() || rope.pieces.iter().any(|piece| piece.tainted);
            let text = String::from_utf8_lossy(&rope.bytes);
            let shows = text.contains("ab") || !SHOW_NOTHING.contains(&func.name);
            if shows && !kept {
                lost.push(format!("{call} prints {text}"));
            }
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

#[test]
fn what_is_made_of_a_secret_is_one_in_all_its_parts() {
    let mut lost = Vec::new();
    for template in [
        "{{ first (splitList \"-\" .) }}",
        "{{ index (splitList \"-\" .) 1 }}",
        "{{ range splitList \"-\" . }}{{ . }}{{ end }}",
        "{{ (split \"-\" .)._0 }}",
        "{{ index (split \"-\" .) \"_0\" }}",
        "{{ range $key, $value := split \"-\" . }}{{ $value }}{{ end }}",
        "{{ (fromYaml (printf \"a: %s\" .)).a }}",
        "{{ (fromJson (printf \"{\\\"a\\\": \\\"%s\\\"}\" .)).a }}",
        "{{ range regexFindAll \"[a-z]+\" . -1 }}{{ . }}{{ end }}",
        "{{ index (regexSplit \"-\" . -1) 0 }}",
        "{{ first (toStrings (values (dict \"a\" .))) }}",
        "{{ first (sortAlpha (list .)) }}",
        "{{ first (values (deepCopy (dict \"a\" .))) }}",
        "{{ (merge (dict) (dict \"a\" .)).a }}",
        "{{ with split \"-\" . }}{{ ._0 }}{{ end }}",
        "{{ $all := splitList \"-\" . }}{{ slice $all 0 1 | first }}",
        "{{ first (reverse (splitList \"-\" .)) }}",
        "{{ first (uniq (splitList \"-\" .)) }}",
        "{{ last (concat (splitList \"-\" .) (list)) }}",
        "{{ (fromToml (printf \"a = %q\" .)).a }}",
        "{{ first (fromYamlArray (printf \"[%s]\" .)) }}",
        "{{ first (keys (dict . \"x\")) }}",
        "{{ keys (dict . \"x\") | join \"\" }}",
        "{{ range $key, $value := dict . \"x\" }}{{ $key }}{{ end }}",
        "{{ range $key, $value := set (dict) . \"x\" }}{{ $key }}{{ end }}",
        "{{ range $key, $value := set (dict) (print \"x\" .) \"x\" }}{{ $key }}{{ end }}",
        "{{ range $key, $value := merge (dict) (dict . \"x\") }}{{ $key }}{{ end }}",
        "{{ range $key, $value := deepCopy (dict . \"x\") }}{{ $key }}{{ end }}",
        "{{ range $key, $value := omit (dict . \"x\") \"y\" }}{{ $key }}{{ end }}",
        "{{ range $key, $value := pick (dict . \"x\") \"ab-cd\" }}{{ $key }}{{ end }}",
        "{{ range $key, $value := fromYaml (printf \"%s: x\" .) }}{{ $key }}{{ end }}",
        "{{ range $key, $value := fromJson (printf \"{\\\"%s\\\": 1}\" .) }}{{ $key }}{{ end }}",
        "{{ range $key, $value := fromToml (printf \"%s = 1\" .) }}{{ $key }}{{ end }}",
        "{{ toYaml (dict \"a\" (dict . \"x\")) }}",
        "{{ toYaml (list (set (dict) . 1)) }}",
        "{{ toYaml (fromYaml (printf \"%s: %s\" . .)) }}",
        "{{ toJson (dict . \"x\") }}",
        "{{ dict . \"x\" }}",
    ] {
        let rope = executed(template, Val::str("ab-cd").at(7).taint(true)).expect(template);
        let text = String::from_utf8_lossy(&rope.bytes);
        let kept = !text.is_empty() && rope.pieces.iter().all(|piece| piece.tainted);
        if !kept {
            lost.push(format!("{template} prints {text}"));
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

/// The set of keys is public as long as none of them is a secret.
#[test]
fn keys_of_secrets_are_public() {
    for template in [
        "{{ first (keys (dict \"a\" .)) }}",
        "{{ range $key, $value := dict \"a\" . }}{{ $key }}{{ end }}",
        "{{ range $key, $value := fromYaml (printf \"a: %s\" .) }}{{ $key }}{{ end }}",
    ] {
        let rope = executed(template, Val::str("ab-cd").at(7).taint(true)).expect(template);
        assert_eq!(rope.bytes, b"a", "{template}");
        assert!(rope.pieces.iter().all(|piece| !piece.tainted), "{template}");
    }
}
