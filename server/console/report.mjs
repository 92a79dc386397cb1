// The simulator's page as files that the console frames. `offbeat simulate --report` writes it as one file,
// with inline scripts, which the policy of the console forbids.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { transform } from "esbuild";

const SOURCES = "../simulate/assets";

/** The results come from the page around it, by an attribute of the frame. */
const TAKE_RESULTS = `document.getElementById("results").textContent = frameElement.dataset.results;`;

async function filled(text) {
  const names = [...text.matchAll(/\/\*OFFBEAT:(.+?)\*\//g)].map(([, name]) => name);
  for (const name of names) {
    if (name === "RESULTS") continue;
    const file = await readFile(join(SOURCES, name), "utf8");
    text = text.replace(`/*OFFBEAT:${name}*/`, () => file);
  }
  return text;
}

export async function buildReport(folder) {
  const template = await readFile(join(SOURCES, "template.html"), "utf8");
  const [, style] = /<style>\n(.*?)<\/style>/s.exec(template);
  const scripts = [...template.matchAll(/<script>\n(.*?)<\/script>/gs)].map(([, script]) => script);
  const css = await transform(await filled(style), { loader: "css", minify: true, charset: "utf8" });
  const js = await transform([TAKE_RESULTS, ...(await Promise.all(scripts.map(filled)))].join("\n"), {
    minify: true,
    charset: "utf8",
    target: "es2022",
  });
  const page = template
    .replace(/<!--\n  The page of a simulation.*?-->\n/s, "")
    .replace(/<meta http-equiv="Content-Security-Policy".*?>\n/, "")
    .replace(/<style>.*?<\/style>/s, '<link rel="stylesheet" href="report.css">')
    .replace("\n/*OFFBEAT:RESULTS*/\n", "")
    .replace(/<script>.*<\/script>/s, '<script src="report.js"></script>');
  await writeFile(join(folder, "report.css"), css.code);
  await writeFile(join(folder, "report.js"), js.code);
  await writeFile(join(folder, "report.html"), page);
}
