// Lets a test drive the public MCP client: one JSON command a line on standard input,
// one JSON answer a line on standard output. It adds nothing of its own.
//   node bridge.mjs stdio COMMAND ARG...   |   node bridge.mjs http URL TOKEN
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [kind, ...rest] = process.argv.slice(2);
const transport =
  kind === "stdio"
    ? new StdioClientTransport({ command: rest[0], args: rest.slice(1), env: process.env, stderr: "inherit" })
    : new StreamableHTTPClientTransport(new URL(rest[0]), {
        requestInit: { headers: { Authorization: `Bearer ${rest[1]}` } },
      });
const client = new Client({ name: "openclaw-e2e", version: "1.0.0" });
await client.connect(transport);

async function answer({ op, name, args, cancelAfterMs, progress }) {
  if (op === "list") return await client.listTools();
  let seen = "";
  const abort = new AbortController();
  if (cancelAfterMs) setTimeout(() => abort.abort("cancelled by the test"), cancelAfterMs);
  const options = { signal: abort.signal, timeout: 120000 };
  if (progress) options.onprogress = (p) => (seen += p.message ?? "");
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  return { ...result, progress: seen };
}

for await (const line of createInterface({ input: process.stdin })) {
  let reply;
  try {
    reply = { ok: true, result: await answer(JSON.parse(line)) };
  } catch (err) {
    reply = { ok: false, error: String(err?.message ?? err) };
  }
  process.stdout.write(JSON.stringify(reply) + "\n");
}
await client.close();
