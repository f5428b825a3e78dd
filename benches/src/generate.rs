//! Large inputs, generated from a seed: the same seed and size give the same bytes.

use std::fmt::Write;

/// A small generator of numbers; quality does not matter, repeatability does.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below.max(1)
    }
}

/// Kubernetes-like documents of about `bytes` bytes together.
pub(crate) fn manifests(bytes: usize, seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut out = String::with_capacity(bytes + 1_024);
    let mut number = 0;
    while out.len() < bytes {
        manifest(&mut out, number, &mut random);
        number += 1;
    }
    out
}

fn manifest(out: &mut String, number: u64, random: &mut Random) {
    let _ = write!(
        out,
        "---\n# Workload {number}\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web-{number}\n  namespace: team-{}\n  labels:\n    app.kubernetes.io/name: web-{number}\n    app.kubernetes.io/part-of: \"shop\"\nspec:\n  replicas: {}\n  template:\n    spec:\n      containers:\n",
        random.next(40),
        random.next(9)
    );
    for container in 0..=random.next(3) {
        let _ = write!(
            out,
            "        - name: c{container}\n          image: registry.example.com/team/web-{number}:{}.{}.{}\n          args: [\"--port\", '{}', --verbose]\n          env:\n            - name: MODE\n              value: \"production\" # fixed\n            - {{name: LEVEL, value: info}}\n          resources:\n            limits: {{cpu: 500m, memory: 256Mi}}\n",
            random.next(9),
            random.next(30),
            random.next(90),
            8_000 + random.next(1_000)
        );
    }
    out.push_str("          command:\n            - /bin/sh\n            - -c\n            - |\n              set -e\n              exec server\n");
}
