// Calls Navidrome's Subsonic API and prints the answer as JSON.
//   node subsonic.mjs search3 query=miles artistCount=5
//   node subsonic.mjs createPlaylist name=Evening songId=a songId=b
import { createHash, randomBytes } from "node:crypto";

const { NAVIDROME_URL: base, NAVIDROME_USER: user, NAVIDROME_PASSWORD: password } = process.env;
const [method, ...pairs] = process.argv.slice(2);
const fail = (text) => {
  console.error(text);
  process.exit(1);
};
if (!base || !user || !password) fail("NAVIDROME_URL, NAVIDROME_USER and NAVIDROME_PASSWORD are not set");
if (!/^[A-Za-z0-9]+$/.test(method ?? "")) fail("usage: node subsonic.mjs METHOD [name=value ...]");

const salt = randomBytes(8).toString("hex");
const body = new URLSearchParams({ u: user, t: createHash("md5").update(password + salt).digest("hex"), s: salt, v: "1.16.1", c: "agent", f: "json" });
for (const pair of pairs) {
  const at = pair.indexOf("=");
  if (at < 1) fail(`"${pair}" is not name=value`);
  body.append(pair.slice(0, at), pair.slice(at + 1));
}
const answer = await fetch(`${base}/rest/${method}`, { method: "POST", body, signal: AbortSignal.timeout(60_000) }).catch((error) => fail(`Navidrome: ${error.cause?.message ?? error.message}`));
const text = await answer.text();
let result;
try {
  result = JSON.parse(text)["subsonic-response"];
} catch {
  fail(`HTTP ${answer.status} ${text.slice(0, 200)}`);
}
if (result.status !== "ok") fail(`error ${result.error?.code}: ${result.error?.message}`);
const { status, version, type, serverVersion, openSubsonic, ...rest } = result;
console.log(JSON.stringify(Object.keys(rest).length > 0 ? rest : { status }, null, 1));
