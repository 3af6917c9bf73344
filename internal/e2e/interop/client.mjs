// Drives the public gateway client: pairs a device, sees a request, answers it, and
// comes back with its device token. Prints one JSON object.
import { GatewayClient } from "@openclaw/gateway-client";
import crypto from "node:crypto";

const [url, token, again] = process.argv.slice(2);
const seed = Buffer.alloc(32, 7); // the same device each time
const privateKey = crypto.createPrivateKey({ key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]), format: "der", type: "pkcs8" });
const publicKey = crypto.createPublicKey(privateKey);
const raw = publicKey.export({ type: "spki", format: "der" }).subarray(-32);
const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
const b64u = (b) => Buffer.from(b).toString("base64url");
const deviceId = crypto.createHash("sha256").update(raw).digest("hex");
const events = [];
const out = { events };

const client = await new Promise((resolve, reject) => {
  const c = new GatewayClient({
    url, token, minProtocol: 4, maxProtocol: 4, role: "operator",
    scopes: ["operator.approvals", "operator.read", "operator.pairing"], caps: ["approvals"],
    clientName: "openclaw-tui", mode: "ui", clientVersion: "1.0.0", platform: "linux",
    deviceIdentity: { deviceId, publicKeyPem: pem, privateKeyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString() },
    hostDeps: {
      signDevicePayload: (_key, payload) => b64u(crypto.sign(null, Buffer.from(payload), privateKey)),
      publicKeyRawBase64UrlFromPem: () => b64u(raw),
      loadDeviceAuthToken: () => null, storeDeviceAuthToken: () => {}, clearDeviceAuthToken: () => {},
    },
    onHelloOk: (hello) => { out.auth = hello.auth; resolve(c); },
    onConnectError: reject,
    onEvent: (e) => { if (e.event !== "tick") events.push(e.event); },
  });
  c.start();
});
out.devices = (await client.request("device.pair.list", {})).paired.length;
if (!again) {
  for (let i = 0; i < 500 && !events.includes("exec.approval.requested"); i++) await new Promise((r) => setTimeout(r, 20));
  const [one] = await client.request("exec.approval.list", {});
  out.command = one.request.command;
  out.resolved = await client.request("exec.approval.resolve", { id: one.id, decision: "allow-once" });
  for (let i = 0; i < 500 && !events.includes("exec.approval.resolved"); i++) await new Promise((r) => setTimeout(r, 20));
}
client.stop();
console.log(JSON.stringify(out));
setTimeout(() => process.exit(0), 100);
