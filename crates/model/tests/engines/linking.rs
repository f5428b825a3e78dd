//! Names find what they mean, or what was probably meant.

use crate::dialect::{FIRST, PORT_TYPE, SECOND, TOOL, TOOL_TYPE, WORKSHOP, link, read};
use purlin_model::{EntityId, Found, Links, Namespace, Registry};

#[test]
fn references_find_their_targets() {
    let text = "\
version: 2
tool_types: {base: , drill: {extends: base, fits: [plug], ports: [{mains: plug}]}}
port_types: {plug: }
tools: {mine: {type: drill, links: [{out: mine}, {out: drill}, {out: '${later}'}]}}
";
    let linked = link(SECOND, text);
    let get = |name: &str| linked.registry.get(linked.id(name)).unwrap();
    let target = |name: &str, key: &str, kinds: &[purlin_model::Kind]| {
        let nodes = get(name).values(key);
        linked.links.get(nodes[0], kinds).map(|id| linked.registry.get(id).unwrap().name().to_owned())
    };
    assert_eq!(target("drill", "extends", &[TOOL_TYPE]).as_deref(), Some("base"));
    assert_eq!(target("drill", "fits", &[PORT_TYPE]).as_deref(), Some("plug"));
    assert_eq!(target("mine", "type", &[TOOL_TYPE]).as_deref(), Some("drill"));
    let links: Vec<_> = get("mine").map("links").map(|named| named.instance.clone()).collect();
    let to = |at: usize| linked.links.get(links[at].values("to")[0], &[TOOL, TOOL_TYPE]);
    assert_eq!((to(0), to(1), to(2)), (Some(linked.id("mine")), Some(linked.id("drill")), None));
    assert_eq!(linked.read.problems(), Vec::<String>::new());
}

#[test]
fn unknown_names_get_the_nearest_or_the_other_kind() {
    let text = "\
version: 1
tool_types: {drill: {extends: saw, fitting: [plugg, nothing]}}
port_types: {plug: , saw: }
tools: {mine: {type: drll, steps: []}}
";
    assert_eq!(
        link(FIRST, text).read.problems(),
        [
            "2:31 unknown-name: there is no tool type `saw` (`saw` is a port type)",
            "2:46 unknown-name: there is no port type `plugg` (did you mean `plug`?)",
            "2:53 unknown-name: there is no port type `nothing`",
            "4:22 unknown-name: there is no tool type `drll` (did you mean `drill`?)",
        ]
    );
}

#[test]
fn rivals_are_shown_with_both_places() {
    let read = read(FIRST, "version: 1\ntool_types: {a: , b: , c: {extends: x}}\n");
    let mut registry = Registry::new();
    let ids: Vec<EntityId> = read.file.map("tool_types").map(|named| registry.add(named.instance.clone())).collect();
    let spans: Vec<_> = read.file.map("tool_types").map(|named| named.key.span()).collect();
    let (mut one, mut two) = (Namespace::new(), Namespace::new());
    one.declare(TOOL_TYPE, "x".into(), ids[0], spans[0]);
    two.declare(TOOL_TYPE, "x".into(), ids[1], spans[1]);
    two.declare(TOOL_TYPE, "y".into(), ids[2], spans[2]);
    let mut all = Namespace::new();
    all.import(&one, |_, name| name.into());
    all.import(&two, |_, name| name.into());
    all.import(&one, |_, name| format!("p:{name}").into());
    // The same entity under the same name again is no rival.
    all.import(&two, |_, name| name.into());
    assert_eq!(all.find(&[TOOL_TYPE], "y"), Found::One(ids[2]));
    assert_eq!(all.find(&[TOOL_TYPE], "p:x"), Found::One(ids[0]));
    assert_eq!(all.find(&[PORT_TYPE], "x"), Found::Nothing);
    let child = registry.get(ids[2]).unwrap();
    Links::new().link(&WORKSHOP, child, &all, &read.sink);
    assert_eq!(
        read.problems(),
        [
            "2:37 ambiguous-name: `x` is ambiguous: there are two of tool type `x` (rename one of them, or import one of them under a prefix) [2:14 one is here] [2:19 the other one is here]",
        ]
    );
    all.settle(&WORKSHOP, &read.sink);
    assert_eq!(
        read.problems(),
        ["2:19 ambiguous-name: there is another tool type `x` (rename one of them) [2:14 the first one is here]",]
    );
    assert_eq!(all.find(&[TOOL_TYPE], "x"), Found::One(ids[0]));
}
