// The settings, without an editor.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readSettings, serverArguments, serverOptions, withBundled } from "../settings";

const none = readSettings(() => undefined);

test("defaults", () => {
  assert.deepEqual(none, { path: "purlin", arguments: [], environment: "", profiles: [], inlayHints: false });
  assert.deepEqual(serverArguments(none), ["lsp"]);
});

test("wrong types are passed over", () => {
  const values: Record<string, unknown> = { path: 1, arguments: "x", profiles: ["a", 2], inlayHints: "yes" };
  const read = readSettings((key) => values[key]);
  assert.deepEqual(read, { ...none, profiles: ["a"] });
});

test("the server is told what was chosen", () => {
  const read = readSettings((key) => (key === "environment" ? "prod" : key === "arguments" ? ["--offline"] : undefined));
  assert.deepEqual(serverArguments(read), ["--offline", "lsp"]);
  assert.deepEqual(serverOptions(read), { purlin: { environment: "prod", profiles: [], inlayHints: false } });
});

test("the manifest declares every setting with the same default", () => {
  const manifest = JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8"));
  const declared = manifest.contributes.configuration.properties as Record<string, { default: unknown }>;
  const defaults = Object.fromEntries(Object.entries(declared).map(([key, value]) => [key.replace("purlin.", ""), value.default]));
  assert.deepEqual(defaults, none);
});

test("a program that the user names is preferred to the bundled one", () => {
  assert.equal(withBundled(none, undefined).path, "purlin");
  assert.equal(withBundled(none, "/extension/bin/purlin").path, "/extension/bin/purlin");
  assert.equal(withBundled({ ...none, path: "/own/purlin" }, "/extension/bin/purlin").path, "/own/purlin");
});
