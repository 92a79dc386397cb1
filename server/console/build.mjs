// Builds the files that the server carries: `node build.mjs [FOLDER]`, by default `assets`.
// The same sources give the same bytes; the tests compare.
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { buildReport } from "./report.mjs";

const folder = process.argv[2] ?? "assets";
await mkdir(folder, { recursive: true });
await build({
  entryPoints: { console: "src/main.tsx" },
  outdir: folder,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  legalComments: "inline",
});
for (const file of ["index.html", "icon.svg"]) {
  await copyFile(join("src", file), join(folder, file));
}
await buildReport(folder);
