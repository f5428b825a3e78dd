// Bundles the extension into one file, and every test into one of its own.

import { build } from "esbuild";
import { readdirSync } from "node:fs";

const common = { bundle: true, platform: "node", format: "cjs", target: "node20", external: ["vscode"], logLevel: "warning" };
await build({ ...common, entryPoints: ["src/extension.ts"], outfile: "dist/extension.js", minify: true });
const tests = readdirSync("src/test").filter((name) => name.endsWith(".test.ts"));
await build({ ...common, entryPoints: tests.map((name) => `src/test/${name}`), outdir: "dist/test" });
