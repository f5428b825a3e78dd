//! Laws of capacity: no more is taken than a capability has, no requirement that still fits is refused, and results
//! are reproducible.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use purlin_syntax::Severity;
use purlin_tosca::compile::{Compiled, Settings, compile};
use purlin_value::{MemoryWorld, Session};
use std::fmt::Write;
use std::sync::Arc;

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

struct Case {
    capacities: Vec<u64>,
    amounts: Vec<u64>,
}

impl Case {
    fn new(dice: &mut Dice) -> Self {
        let machines = 1 + dice.roll(5);
        let apps = 1 + dice.roll(12);
        Case {
            capacities: (0..machines).map(|_| dice.roll(9)).collect(),
            amounts: (0..apps).map(|_| 1 + dice.roll(4)).collect(),
        }
    }

    fn compile(&self) -> Compiled {
        let mut text = "\
tosca_definitions_version: tosca_2_0
capability_types: { Host: { properties: { cpus: { type: integer } } } }
node_types:
  Machine: { capabilities: { host: Host } }
  App: { requirements: [ host: { capability: Host, count_range: [ 1, 1 ] } ] }
service_template:
  node_templates:
"
        .to_owned();
        for (at, cpus) in self.capacities.iter().enumerate() {
            let host = format!("{{ host: {{ properties: {{ cpus: {cpus} }} }} }}");
            writeln!(text, "    m{at}: {{ type: Machine, capabilities: {host} }}").unwrap();
        }
        for (at, cpus) in self.amounts.iter().enumerate() {
            let host = format!("host: {{ allocation: {{ cpus: {cpus} }} }}");
            writeln!(text, "    a{at}: {{ type: App, requirements: [ {host} ] }}").unwrap();
        }
        let session = Session::new(Arc::new(MemoryWorld::new().file("a.yaml", &text)));
        compile(&session, "a.yaml", &Settings::default())
    }

    /// Per app, the machine it was given.
    fn hosts(&self) -> Vec<Option<usize>> {
        let compiled = self.compile();
        let machines = self.capacities.len();
        let host = |app| compiled.resolution.edge(machines + app, 0).map(|edge| edge.target);
        let hosts: Vec<Option<usize>> = (0..self.amounts.len()).map(host).collect();
        let problems = compiled.problems.list();
        let warnings = problems.iter().filter(|problem| problem.diagnostic.severity == Severity::Warning).count();
        assert_eq!(warnings, problems.len(), "what is not met may be met elsewhere");
        assert_eq!(warnings, hosts.iter().filter(|host| host.is_none()).count(), "but it is said");
        hosts
    }
}

#[test]
fn capacity_is_kept_and_nobody_who_fits_is_refused() {
    let mut dice = Dice(7);
    for round in 0..300 {
        let case = Case::new(&mut dice);
        let hosts = case.hosts();
        let mut left: Vec<i64> = case.capacities.iter().map(|cpus| i64::try_from(*cpus).unwrap()).collect();
        for (amount, host) in case.amounts.iter().zip(&hosts) {
            if let Some(host) = host {
                left[*host] -= i64::try_from(*amount).unwrap();
            }
        }
        assert!(left.iter().all(|left| *left >= 0), "round {round}: {:?} {:?}", case.capacities, case.amounts);
        for (amount, host) in case.amounts.iter().zip(&hosts) {
            let would_fit = left.iter().any(|left| *left >= i64::try_from(*amount).unwrap());
            assert!(host.is_some() || !would_fit, "round {round}: {:?} {:?}", case.capacities, case.amounts);
        }
        assert_eq!(hosts, case.hosts(), "round {round}");
    }
}
