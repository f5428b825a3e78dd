// The extension: starts `purlin lsp`, hands settings over, and shows what the server answers to its own commands.

import { chmodSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { LanguageClient, type Location, type Position, TransportKind } from "vscode-languageclient/node";
import { DOCUMENTS, readSettings, serverArguments, serverOptions, type Settings, withBundled } from "./settings";

let client: LanguageClient | undefined;

/** The program that a package for one platform brings along, if it does. */
let bundled: string | undefined;

function findBundled(extension: string): string | undefined {
  const program = join(extension, "bin", process.platform === "win32" ? "purlin.exe" : "purlin");
  try {
    // An editor may unpack files without their permissions.
    chmodSync(program, 0o755);
    return program;
  } catch {
    return undefined;
  }
}

function settings(): Settings {
  const configuration = vscode.workspace.getConfiguration("purlin");
  return withBundled(readSettings((key) => configuration.get(key)), bundled);
}

async function start(): Promise<void> {
  const now = settings();
  const run = { command: now.path, args: serverArguments(now), transport: TransportKind.stdio };
  client = new LanguageClient("purlin", "Purlin", run, {
    documentSelector: DOCUMENTS,
    initializationOptions: serverOptions(now),
  });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const message = `Purlin could not be started (\`${now.path} lsp\`): ${String(error)}`;
    const choice = await vscode.window.showErrorMessage(message, "Open settings");
    if (choice !== undefined) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "purlin.path");
    }
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function showManifest(uri?: string): Promise<void> {
  const named = uri ?? vscode.window.activeTextEditor?.document.uri.toString();
  if (client === undefined || named === undefined) {
    return;
  }
  const text = await client.sendRequest<string | null>("purlin/manifest", { textDocument: { uri: named } });
  if (text === null) {
    void vscode.window.showInformationMessage("Purlin: this file renders no manifest.");
    return;
  }
  const document = await vscode.workspace.openTextDocument({ language: "yaml", content: text });
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
}

async function showReferences(uri: string, position: Position): Promise<void> {
  if (client === undefined) {
    return;
  }
  const params = { textDocument: { uri }, position, context: { includeDeclaration: false } };
  const found = await client.sendRequest<Location[]>("textDocument/references", params);
  const convert = client.protocol2CodeConverter;
  const locations = found.map((location) => convert.asLocation(location));
  const at = convert.asPosition(position);
  await vscode.commands.executeCommand("editor.action.showReferences", vscode.Uri.parse(uri), at, locations);
}

/** Called by the editor when a file that the extension knows is opened. */
export async function activate(context: vscode.ExtensionContext): Promise<void> {
  bundled = findBundled(context.extensionPath);
  context.subscriptions.push(
    vscode.commands.registerCommand("purlin.restart", async () => {
      await stop();
      await start();
    }),
    vscode.commands.registerCommand("purlin.showManifest", () => showManifest()),
    vscode.commands.registerCommand("purlin.manifest", showManifest),
    vscode.commands.registerCommand("purlin.references", showReferences),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("purlin.path") || event.affectsConfiguration("purlin.arguments")) {
        await stop();
        await start();
      } else if (event.affectsConfiguration("purlin")) {
        await client?.sendNotification("workspace/didChangeConfiguration", { settings: serverOptions(settings()) });
      }
    }),
  );
  await start();
}

/** Called by the editor when it ends. */
export async function deactivate(): Promise<void> {
  await stop();
}
