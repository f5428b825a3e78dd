//! Measures what expressions and ensembles cost: `cargo run --release -p purlin-unfurl --example measure`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use purlin_model::project::Request;
use purlin_unfurl::ensemble;
use purlin_unfurl::eval::{Engine, Settings};
use purlin_unfurl::tree::{Attribute, Node, NodeKind, Tree};
use purlin_unfurl::val::Val;
use purlin_value::{MemoryWorld, Session};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

fn main() {
    expressions();
    for nodes in [250, 500, 1_000, 2_000, 4_000] {
        load(nodes);
    }
}

fn expressions() {
    let session = Session::new(Arc::new(MemoryWorld::new()));
    let mut root = Node::new("root", NodeKind::Node);
    root.attributes.insert("v".into(), Attribute::new(Val::int(1)));
    let maps = (0..20).map(|k| Val::record([("k", Val::int(k)), ("v", Val::str(format!("v{k}")))])).collect();
    root.attributes.insert("lm".into(), Attribute::new(Val::list(maps)));
    let tree = Tree::new(root);
    let engine = Engine::new(&tree, &session, Settings::default());
    let cases = [
        ("simple path", Val::record([("eval", Val::str(".::v"))])),
        ("filter over 20 maps", Val::record([("eval", Val::str("::root::lm::[k=5]::v"))])),
        ("template", Val::str("{{ SELF.v }}")),
        ("template with eval", Val::str("{{ '.::v' | eval | string | upper }}")),
    ];
    for (name, raw) in cases {
        let run = |count: u32| {
            let start = Instant::now();
            for _ in 0..count {
                engine.refill();
                let ctx = engine.context(tree.root());
                std::hint::black_box(ctx.map_value(&raw).unwrap());
            }
            start.elapsed().as_secs_f64() / f64::from(count)
        };
        run(1_000);
        let best = (0..5).map(|_| run(100_000)).fold(f64::INFINITY, f64::min);
        println!("{name:24} {:>12.0} per second", 1.0 / best);
    }
}

/// An ensemble of `count` nodes with a literal, a concatenation, a template and a reference to another node each, in
/// a binary tree of requirements.
fn text(count: usize) -> String {
    let mut out = String::from(
        "apiVersion: unfurl/v1alpha1
kind: Ensemble
spec:
  service_template:
    tosca_definitions_version: tosca_simple_unfurl_1_0_0
    node_types:
      T:
        derived_from: tosca.nodes.Root
        properties:
          a: {type: integer}
          b: {type: string}
          c: {type: string}
          d: {type: integer, required: false}
        requirements:
          - parent: {node: T, capability: tosca.capabilities.Node, relationship: tosca.relationships.DependsOn, occurrences: [0, 1]}
    topology_template:
      node_templates:
",
    );
    for n in 0..count {
        writeln!(out, "        n{n}:\n          type: T\n          properties:").unwrap();
        writeln!(out, "            a: {n}\n            b: {{concat: [x, {{eval: .name}}]}}").unwrap();
        writeln!(out, "            c: \"{{{{ SELF.b }}}}-y\"\n            d: {{eval: \"::n{}::a\"}}", n / 2).unwrap();
        if n > 0 {
            writeln!(out, "          requirements:\n            - parent: n{}", (n - 1) / 2).unwrap();
        }
    }
    out
}

fn load(count: usize) {
    let text = text(count);
    let best = (0..5).map(|_| {
        let session = Session::new(Arc::new(MemoryWorld::new().file("ensemble.yaml", &text)));
        let start = Instant::now();
        let ensemble = ensemble::open(&session, &Request::of("."));
        let Some(ensemble) = ensemble else {
            panic!("{:?}", session.sink.take());
        };
        let read = start.elapsed();
        let engine = ensemble.engine(&session);
        let mut values = 0;
        for (_, id) in ensemble.tree.named() {
            values += engine.all_attributes(id).unwrap().as_map().unwrap().len();
        }
        (start.elapsed().as_secs_f64(), read.as_secs_f64(), values)
    });
    let (total, read, values) = best.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    println!("{count:5} nodes: {:.1} ms ({:.1} ms to load), {values} values", total * 1e3, read * 1e3);
}
