// Calls Keycloak's admin API with a fresh token and prints the answer as JSON.
//   node keycloak.mjs GET /admin/realms/master/users?search=ana
//   node keycloak.mjs POST /admin/realms/master/users - < body.json      ("-" reads the body from standard input)
import { readFileSync } from "node:fs";

const { KEYCLOAK_URL: base, KEYCLOAK_USER: username, KEYCLOAK_PASSWORD: password } = process.env;
const [method = "GET", path, body] = process.argv.slice(2);
const fail = (message) => {
  console.error(message);
  process.exit(1);
};
if (!base || !password) fail("KEYCLOAK_URL and KEYCLOAK_PASSWORD are not set");
if (!path?.startsWith("/admin/")) fail("usage: node keycloak.mjs METHOD /admin/... [JSON or -]");

const signal = () => AbortSignal.timeout(30_000);
try {
  const login = await fetch(`${base}/realms/master/protocol/openid-connect/token`, {
    method: "POST",
    body: new URLSearchParams({ grant_type: "password", client_id: "admin-cli", username, password }),
    signal: signal(),
  });
  if (!login.ok) fail(`login: HTTP ${login.status} ${await login.text()}`);
  const { access_token: token } = await login.json();
  const text = body === "-" ? readFileSync(0, "utf8") : body;
  const answer = await fetch(base + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(text ? { "content-type": "application/json" } : {}) },
    body: text ? JSON.stringify(JSON.parse(text)) : undefined,
    signal: signal(),
  });
  const result = await answer.text();
  if (!answer.ok) fail(`HTTP ${answer.status} ${result}`);
  // Keycloak names what it created in the Location header only.
  const id = answer.headers.get("location")?.split("/").at(-1);
  console.log(result ? JSON.stringify(JSON.parse(result), null, 1) : JSON.stringify({ status: answer.status, ...(id ? { id } : {}) }));
} catch (error) {
  fail(`Keycloak: ${error.cause?.message ?? error.message}`);
}
