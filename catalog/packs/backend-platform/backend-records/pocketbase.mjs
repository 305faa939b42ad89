// Calls PocketBase's API as superuser and prints the answer as JSON.
//   node pocketbase.mjs GET "/api/collections/tasks/records?perPage=20"
//   node pocketbase.mjs POST /api/collections/tasks/records - < body.json
import { readFileSync } from "node:fs";

const { POCKETBASE_URL: base, POCKETBASE_USER: identity, POCKETBASE_PASSWORD: password } = process.env;
const [method = "GET", path, body] = process.argv.slice(2);
const fail = (message) => {
  console.error(message);
  process.exit(1);
};
if (!base || !identity || !password) fail("POCKETBASE_URL, POCKETBASE_USER and POCKETBASE_PASSWORD are not set");
if (!path?.startsWith("/api/")) fail("usage: node pocketbase.mjs METHOD /api/... [JSON or -]");

async function call(address, options) {
  const answer = await fetch(base + address, {
    ...options,
    headers: { ...options.headers, ...(options.body ? { "content-type": "application/json" } : {}) },
    signal: AbortSignal.timeout(60_000),
  });
  const text = await answer.text();
  if (!answer.ok) fail(`${address.split("?")[0]}: HTTP ${answer.status} ${text}`);
  return text ? JSON.parse(text) : { status: answer.status };
}

try {
  const { token } = await call("/api/collections/_superusers/auth-with-password", {
    method: "POST",
    body: JSON.stringify({ identity, password }),
  });
  const text = body === "-" ? readFileSync(0, "utf8") : body;
  const result = await call(path, {
    method,
    headers: { authorization: token },
    body: text ? JSON.stringify(JSON.parse(text)) : undefined,
  });
  console.log(JSON.stringify(result, null, 1));
} catch (error) {
  fail(`PocketBase: ${error.cause?.message ?? error.message}`);
}
