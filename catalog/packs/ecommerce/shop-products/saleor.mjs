// Sends a GraphQL request to Saleor as its administrator and prints the data as JSON.
//   node saleor.mjs QUERY [VARIABLES]     QUERY is a file (*.graphql) or "-" for standard input; VARIABLES is JSON
import { readFileSync } from "node:fs";

const { SALEOR_API_URL: url, SALEOR_USER: email, SALEOR_PASSWORD: password } = process.env;
const [source, variables = "{}"] = process.argv.slice(2);
const fail = (text) => {
  console.error(text);
  process.exit(1);
};
if (!url || !email || !password) fail("SALEOR_API_URL, SALEOR_USER and SALEOR_PASSWORD are not set");
if (!source) fail("usage: node saleor.mjs FILE.graphql|- [VARIABLES]");

async function send(query, values, token) {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: JSON.stringify({ query, variables: values }),
    signal: AbortSignal.timeout(60_000),
  }).catch((error) => fail(`Saleor: ${error.cause?.message ?? error.message}`));
  const text = await answer.text();
  let result;
  try {
    result = JSON.parse(text);
  } catch {
    fail(`HTTP ${answer.status} ${text.slice(0, 300)}`);
  }
  if (result.errors) fail(result.errors.map((error) => `${error.message}${error.path ? ` (${error.path.join(".")})` : ""}`).join("\n"));
  return result.data;
}

const login = "mutation($email: String!, $password: String!) { tokenCreate(email: $email, password: $password) { token errors { message } } }";
const { tokenCreate } = await send(login, { email, password });
if (!tokenCreate.token) fail(`login: ${tokenCreate.errors.map((error) => error.message).join(", ")}`);
const data = await send(readFileSync(source === "-" ? 0 : source, "utf8"), JSON.parse(variables), tokenCreate.token);
console.log(JSON.stringify(data, null, 1));
// Mutations report refusals inside the data.
const refused = Object.values(data).flatMap((part) => part?.errors ?? []);
if (refused.length > 0) process.exitCode = 1;
