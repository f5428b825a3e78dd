//! Unfurl's expressions, and ensembles loaded with all their attributes evaluated.
//!
//! `benches/compare/original_unfurl.py` measures the same with the original: `pip install unfurl==1.2.0` into a
//! separate environment, then `python benches/compare/original_unfurl.py`. Growth of cost is best measured in
//! instructions, which do not depend on the load of the machine: `valgrind --tool=callgrind purlin-bench unfurl-load
//! --size 1`, and 3, and 10.

use crate::Options;
use crate::measure::{Row, ms, shortest};
use purlin_model::project::Request;
use purlin_syntax::Limits;
use purlin_unfurl::ensemble;
use purlin_unfurl::eval::{Engine, Settings};
use purlin_unfurl::tree::{Attribute, Node, NodeKind, Tree};
use purlin_unfurl::val::Val;
use purlin_value::{MemoryWorld, Session};
use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;

const HEAD: &str = "apiVersion: unfurl/v1alpha1
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
";

/// An ensemble of nodes with a literal, a concatenation, a template and a reference to another node each, in a binary
/// tree of requirements.
fn text(count: usize) -> String {
    let mut out = String::from(HEAD);
    for n in 0..count {
        let other = n / 2;
        let _ = write!(
            out,
            "        n{n}:\n          type: T\n          properties:\n            a: {n}\n            b: {{concat: [x, {{eval: .name}}]}}\n            c: \"{{{{ SELF.b }}}}-y\"\n            d: {{eval: \"::n{other}::a\"}}\n"
        );
        if n > 0 {
            let _ = write!(out, "          requirements:\n            - parent: n{}\n", (n - 1) / 2);
        }
    }
    out
}

/// Loads an ensemble and evaluates every attribute; returns their number.
fn load(text: &str) -> usize {
    let session = Session::new(Arc::new(MemoryWorld::new().file("ensemble.yaml", text)));
    let Some(ensemble) = ensemble::open(&session, &Request::of(".")) else { return 0 };
    let engine = ensemble.engine(&session);
    let values = |id| engine.all_attributes(id).ok().and_then(|all| all.as_map().map(|all| all.len()));
    ensemble.tree.named().filter_map(|(_, id)| values(id)).sum()
}

fn expressions(options: &Options) -> Vec<Row> {
    // All rounds count as one run for the meter, and together they exceed the usual limit of steps.
    let limits = Limits { fuel: u64::MAX / 2, ..Limits::default() };
    let session = Session::with_limits(Arc::new(MemoryWorld::new()), limits, 1);
    let mut root = Node::new("root", NodeKind::Node);
    root.attributes.insert("v".into(), Attribute::new(Val::int(1)));
    let maps = (0..20).map(|k| Val::record([("k", Val::int(k)), ("v", Val::str(format!("v{k}")))])).collect();
    root.attributes.insert("lm".into(), Attribute::new(Val::list(maps)));
    let tree = Tree::new(root);
    let engine = Engine::new(&tree, &session, Settings::default());
    let cases = [
        ("`.::v`", Val::record([("eval", Val::str(".::v"))])),
        ("`::root::lm::[k=5]::v` over 20 maps", Val::record([("eval", Val::str("::root::lm::[k=5]::v"))])),
        ("`{{ SELF.v }}`", Val::str("{{ SELF.v }}")),
        ("`{{ '.::v' | eval | string | upper }}`", Val::str("{{ '.::v' | eval | string | upper }}")),
    ];
    let rounds = 50_000 * options.size;
    let row = |(name, raw): (&str, Val)| {
        let best = shortest(5, || {
            for _ in 0..rounds {
                black_box(engine.context(tree.root()).map_value(&raw).ok());
            }
        });
        Row::new(name, rounds as f64 / best.as_secs_f64(), "per s")
    };
    cases.into_iter().map(row).collect()
}

/// Writes an ensemble of `nodes` nodes.
pub(crate) fn write(folder: &std::path::Path, nodes: usize) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("ensemble.yaml"), text(nodes))
}

/// Measures expressions and ensembles.
pub(crate) fn run(options: &Options) -> Vec<Row> {
    let mut rows = expressions(options);
    for nodes in [1_000, 3_000, 10_000] {
        let text = text(nodes);
        let values = load(&text);
        let best = shortest(3, || {
            black_box(load(&text));
        });
        rows.push(
            Row::new(format!("{nodes} nodes loaded, evaluated"), ms(best), "ms").remark(format!("{values} values")),
        );
    }
    rows
}

/// One ensemble of `size` thousand nodes, loaded once.
pub(crate) fn load_once(options: &Options) -> Vec<Row> {
    let nodes = 1_000 * options.size;
    let text = text(nodes);
    let mut values = 0;
    let time = shortest(1, || values = load(&text));
    vec![Row::new(format!("{nodes} nodes loaded, evaluated"), ms(time), "ms").remark(format!("{values} values"))]
}
