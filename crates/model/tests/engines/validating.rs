//! JSON Schemas of projects: values match as with another validator, and defaults are placed as in AJV.

use boon::{Compiler, Schemas};
use proptest::prelude::*;
use purlin_model::validate::{Problem, Stopped, Validator};
use purlin_syntax::Limits;
use purlin_value::{Data, Map, Meter, Origin, Value};
use serde_json::{Value as Json, json};

fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::null(),
        Json::Bool(truth) => Value::from(*truth),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::from(number),
            None => Value::from(number.as_f64().unwrap()),
        },
        Json::String(text) => Value::str(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(value).collect()),
        Json::Object(entries) => {
            Value::map(entries.iter().map(|(key, item)| (key.as_str().into(), value(item))).collect::<Map>())
        }
    }
}

fn validator(schema: &Json) -> Validator {
    Validator::new(value(schema)).unwrap()
}

/// A meter with all steps and bytes of a run.
fn meter() -> Meter {
    Meter::new(&Limits::default())
}

fn checked(schema: &Validator, value: &Value) -> Vec<Problem> {
    schema.check(value, &meter()).unwrap()
}

fn boon_says(schema: &Json, instance: &Json) -> Option<bool> {
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.add_resource("http://localhost/s.json", schema.clone()).ok()?;
    let index = compiler.compile("http://localhost/s.json", &mut schemas).ok()?;
    Some(schemas.validate(instance, index).is_ok())
}

fn instance() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (-3i64..6).prop_map(Json::from),
        prop::sample::select(vec![0.5, 1.0, 2.5]).prop_map(Json::from),
        prop::sample::select(vec!["", "a", "ab", "a-1", "é"]).prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::btree_map(prop::sample::select(vec!["a", "b", "c1"]), inner, 0..4)
                .prop_map(|map| Json::Object(map.into_iter().map(|(key, item)| (key.to_owned(), item)).collect())),
        ]
    })
}

fn schema() -> impl Strategy<Value = Json> {
    let types = ["null", "boolean", "integer", "number", "string", "array", "object"];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Json::from),
        prop::sample::subsequence(types.to_vec(), 1..4).prop_map(|types| json!({ "type": types })),
        prop::collection::vec(instance(), 1..3).prop_map(|words| json!({ "enum": words })),
        instance().prop_map(|word| json!({ "const": word })),
        (
            0i64..3,
            prop::sample::select(vec![
                "minimum",
                "exclusiveMaximum",
                "minLength",
                "maxLength",
                "minItems",
                "maxItems",
                "minProperties",
                "maxProperties"
            ])
        )
            .prop_map(|(number, rule)| json!({ rule: number })),
        (1i64..3).prop_map(|number| json!({ "multipleOf": number })),
        prop::sample::select(vec!["^a", "[0-9]$", "^\\w+$"]).prop_map(|pattern| json!({ "pattern": pattern })),
        prop::sample::subsequence(vec!["a", "b", "c1"], 1..3).prop_map(|keys| json!({ "required": keys })),
        Just(json!({ "uniqueItems": true })),
        Just(json!({ "dependentRequired": { "a": ["b"] } })),
        Just(json!({ "propertyNames": { "maxLength": 1 } })),
        Just(json!({ "$ref": "#/$defs/small" })),
    ];
    leaf.prop_recursive(3, 20, 3, |inner| {
        let list = || prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({ "properties": { "a": a, "b": b } })),
            (inner.clone(), inner.clone())
                .prop_map(|(a, rest)| json!({ "properties": { "a": a }, "additionalProperties": rest })),
            inner.clone().prop_map(|rest| json!({ "patternProperties": { "[0-9]": rest } })),
            inner.clone().prop_map(|items| json!({ "items": items })),
            (list(), inner.clone()).prop_map(|(first, rest)| json!({ "prefixItems": first, "items": rest })),
            (inner.clone(), 0..3).prop_map(|(item, least)| json!({ "contains": item, "minContains": least })),
            (inner.clone(), 0..3).prop_map(|(item, most)| json!({ "contains": item, "maxContains": most })),
            list().prop_map(|all| json!({ "allOf": all })),
            list().prop_map(|all| json!({ "anyOf": all })),
            list().prop_map(|all| json!({ "oneOf": all })),
            inner.clone().prop_map(|not| json!({ "not": not })),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| json!({ "if": a, "then": b, "else": c })),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn verdicts_are_the_same(schema in schema(), instance in instance()) {
        let schema = json!({ "allOf": [schema], "$defs": { "small": { "type": "integer", "maximum": 2 } } });
        let problems = checked(&validator(&schema), &value(&instance));
        prop_assert_eq!(Some(problems.is_empty()), boon_says(&schema, &instance), "{} {} {:?}", schema, instance, problems);
    }
}

#[test]
fn references_lead_to_pointers_anchors_and_identifiers() {
    let schema = json!({
        "$id": "http://localhost/root.json",
        "$defs": {
            "a/b": { "type": "string" },
            "named": { "$anchor": "here", "type": "integer" },
            "other": { "$id": "other.json", "$defs": { "x": { "type": "boolean" } } },
            "list": { "items": { "$ref": "#/$defs/list" }, "type": "array" },
        },
        "properties": {
            "pointer": { "$ref": "#/$defs/a~1b" },
            "anchor": { "$ref": "#here" },
            "inside": { "$ref": "other.json#/$defs/x" },
            "whole": { "$ref": "http://localhost/root.json#/$defs/named" },
            "list": { "$ref": "#/$defs/list" },
        },
    });
    let fits = |instance: Json| checked(&validator(&schema), &value(&instance)).is_empty();
    assert!(fits(json!({ "pointer": "x", "anchor": 1, "inside": true, "whole": 2, "list": [[], [[]]] })));
    for wrong in [json!({ "pointer": 1 }), json!({ "anchor": "x" }), json!({ "inside": 1 }), json!({ "list": [[1]] })] {
        assert!(!fits(wrong.clone()), "{wrong}");
    }
}

#[test]
fn nothing_is_fetched_and_everything_ends() {
    for reference in ["http://example.com/s.json", "https://example.com/s.json#/a", "file:///etc/s.json", "s.json"] {
        let found = Validator::new(value(&json!({ "properties": { "a": { "$ref": reference } } }))).unwrap_err();
        assert!(found.contains("not fetched or read from elsewhere"), "{found}");
    }
    let loops = validator(&json!({ "$ref": "#" })).check(&Value::null(), &meter());
    assert_eq!(loops.err(), Some(Stopped::TooDeep));
    let doubling = json!({ "$defs": { "a": { "allOf": [{ "$ref": "#/$defs/a" }, { "$ref": "#/$defs/a" }] } },
        "$ref": "#/$defs/a" });
    assert!(validator(&doubling).check(&Value::null(), &meter()).is_err());
}

#[test]
fn what_is_not_known_is_not_judged() {
    let schema = validator(&json!({ "properties": { "a": { "type": "string" } }, "required": ["a"] }));
    for unknown in [Value::pending("build.a", "outputs"), Value::poison()] {
        assert!(checked(&schema, &Value::map(Map::from_iter([("a".into(), unknown)]))).is_empty());
    }
}

#[test]
fn defaults_are_filled_in_at_every_depth() {
    let schema = validator(&json!({
        "properties": {
            "port": { "type": "integer", "default": 80 },
            "probe": {
                "properties": { "path": { "default": "/" }, "wait": { "default": 5 } },
                "default": { "wait": 9 },
            },
            "hosts": { "items": { "properties": { "tls": { "default": true } } } },
            "pair": { "prefixItems": [{ "default": 1 }, { "default": 2 }] },
            "kind": { "anyOf": [{ "properties": { "x": { "default": 1 } } }] },
            "mode": { "$ref": "#/$defs/mode" },
        },
        "allOf": [{ "properties": { "also": { "default": "here" } } }],
        "if": { "required": ["hosts"] },
        "then": { "properties": { "many": { "default": true } } },
        "else": { "properties": { "few": { "default": true } } },
        "$defs": { "mode": { "properties": { "fast": { "default": false } } } },
    }));
    let filled = |instance: Json| schema.with_defaults(&value(&instance), &|_| Origin::NONE, &meter()).unwrap();
    let expected = json!({ "port": 80, "probe": { "wait": 9, "path": "/" }, "also": "here", "few": true });
    assert_eq!(filled(json!({})), value(&expected));
    let given = json!({ "port": 1, "probe": { "path": "/x" }, "hosts": [{}, { "tls": false }], "pair": [7],
        "kind": {}, "mode": {} });
    let expected = json!({ "port": 1, "probe": { "path": "/x", "wait": 5 },
        "hosts": [{ "tls": true }, { "tls": false }], "pair": [7, 2], "kind": {}, "mode": { "fast": false },
        "also": "here", "many": true });
    assert_eq!(filled(given), value(&expected));
    let secret = value(&json!({ "probe": {} })).tainted_if(true);
    let kept = schema.with_defaults(&secret, &|_| Origin::NONE, &meter()).unwrap();
    assert!(kept.is_tainted() && matches!(kept.data, Data::Map(_)));
}
