// The real server over its real transport, where the program is there: PURLIN names it.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";
import { readSettings, serverArguments, serverOptions } from "../settings";

const program = process.env.PURLIN;

test("diagnostics and completion", { skip: program === undefined ? "PURLIN is not set" : false }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "purlin-"));
  const file = join(folder, "skaffold.yaml");
  writeFileSync(file, "apiVersion: skaffold/v4beta14\nkind: Config\nbild: {}\n");
  const settings = readSettings(() => undefined);
  const child = spawn(program ?? "purlin", serverArguments(settings), { cwd: folder });
  const connection = createMessageConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
  t.after(() => {
    connection.dispose();
    child.kill();
    rmSync(folder, { recursive: true });
  });
  const published = new Promise<{ diagnostics: { code: string }[] }>((resolve) => {
    connection.onNotification("textDocument/publishDiagnostics", resolve);
  });
  connection.listen();
  await connection.sendRequest("initialize", {
    processId: null,
    rootUri: pathToFileURL(folder).toString(),
    capabilities: {},
    initializationOptions: serverOptions(settings),
  });
  await connection.sendNotification("initialized", {});
  assert.equal((await published).diagnostics[0]?.code, "skaffold-unknown-key");
  const uri = pathToFileURL(file).toString();
  const list = await connection.sendRequest<{ items: { label: string }[] }>("textDocument/completion", {
    textDocument: { uri },
    position: { line: 2, character: 2 },
  });
  assert.ok(list.items.some((item) => item.label === "build"));
  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
});
