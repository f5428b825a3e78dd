"""The measurements of `purlin-bench unfurl` with the original: pip install unfurl==1.2.0, then run this file.

CPU seconds of this process, the best of three rounds; loading imports nothing twice.
"""

import io
import os
import sys
import time

os.environ.setdefault("UNFURL_LOGGING", "critical")
os.environ.setdefault("UNFURL_HOME", "")
os.environ.setdefault("UNFURL_NORUNTIME", "1")

import logging

from unfurl.eval import RefContext, map_value
from unfurl.runtime import NodeInstance
from unfurl.support import AttributeManager
from unfurl.yamlloader import cleartext_yaml

logging.disable(logging.CRITICAL)

HEAD = """apiVersion: unfurl/v1alpha1
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
"""


def ensemble(count):
    out = io.StringIO()
    out.write(HEAD)
    for n in range(count):
        out.write(f"        n{n}:\n          type: T\n          properties:\n            a: {n}\n")
        out.write("            b: {concat: [x, {eval: .name}]}\n            c: \"{{ SELF.b }}-y\"\n")
        out.write(f'            d: {{eval: "::n{n // 2}::a"}}\n')
        if n:
            out.write(f"          requirements:\n            - parent: n{(n - 1) // 2}\n")
    return out.getvalue()


def best(work, rounds=3):
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def expressions():
    maps = [{"k": k, "v": f"v{k}"} for k in range(20)]
    root = NodeInstance("root", {"v": 1, "lm": maps}, None)
    root.attributeManager = AttributeManager(cleartext_yaml)
    cases = [
        ("`.::v`", {"eval": ".::v"}, 3000),
        ("`::root::lm::[k=5]::v` over 20 maps", {"eval": "::root::lm::[k=5]::v"}, 300),
        ("`{{ SELF.v }}`", "{{ SELF.v }}", 500),
        ("`{{ '.::v' | eval | string | upper }}`", "{{ '.::v' | eval | string | upper }}", 300),
    ]
    for name, expression, count in cases:
        def work():
            for _ in range(count):
                map_value(expression, RefContext(root))

        print(f"{name:<44} {count / best(work):>14.3f}      per s", flush=True)


def load(count):
    from unfurl.job import JobOptions, Runner
    from unfurl.yamlmanifest import YamlManifest

    text = ensemble(count)

    def work():
        manifest = YamlManifest(text)
        Runner(manifest).run(JobOptions(skip_save=True, startTime=1, dryrun=True))
        root = manifest.rootResource
        root.set_attribute_manager(AttributeManager(manifest.yaml))
        for node in root.instances:
            for name in list(node.attributes):
                node.attributes[name]

    print(f"{f'{count} nodes loaded, evaluated':<44} {best(work, 1) * 1e3:>14.3f}         ms", flush=True)


if __name__ == "__main__":
    expressions()
    for count in [int(arg) for arg in sys.argv[1:]] or [1000]:
        load(count)
