// Serves the page beside a server whose binary has an older one:
// `node dev.mjs PORT SERVICE_PORT`, and `npm run build` after each change.
import { readFile } from "node:fs/promises";
import { createServer, request } from "node:http";

const [port, service] = process.argv.slice(2).map(Number);
const types = { html: "text/html", js: "text/javascript", css: "text/css", svg: "image/svg+xml" };

createServer(async (asked, answer) => {
  const path = asked.url === "/" ? "/index.html" : asked.url;
  if (asked.method === "GET" && /^\/[a-z]+\.(html|js|css|svg)$/.test(path)) {
    const content = await readFile(`assets${path}`);
    answer.writeHead(200, { "content-type": `${types[path.split(".")[1]]}; charset=utf-8` });
    answer.end(content);
    return;
  }
  const headers = { "content-type": "application/json", "offbeat-console": "1" };
  const sent = request(
    { host: "127.0.0.1", port: service, path, method: asked.method, headers },
    (given) => {
      answer.writeHead(given.statusCode, { "content-type": given.headers["content-type"] ?? "" });
      given.pipe(answer);
    },
  );
  asked.pipe(sent);
}).listen(port, "127.0.0.1");
