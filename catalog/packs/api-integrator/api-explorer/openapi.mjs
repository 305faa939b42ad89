// Reads an OpenAPI or Swagger description (JSON). Run without arguments for the usage.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

const usage = `usage:
  node openapi.mjs FILE_OR_ADDRESS                          title, servers, ways to log in, operations by tag
  node openapi.mjs FILE_OR_ADDRESS --find WORDS             operations that mention all words
  node openapi.mjs FILE_OR_ADDRESS --show "POST /pets"      parameters, body and answers of one operation
  node openapi.mjs FILE_OR_ADDRESS --schema Pet             one data type`;
const fail = (message, code = 1) => {
  console.error(message);
  process.exit(code);
};
const { values: o, positionals } = parseArgs({ allowPositionals: true, options: { find: { type: "string" }, show: { type: "string" }, schema: { type: "string" } } });
const [source] = positionals;
if (!source) fail(usage, 2);
let text;
if (/^https?:/.test(source)) {
  const response = await fetch(source, { headers: { accept: "application/json" }, signal: AbortSignal.timeout(60_000) }).catch((error) => fail(`${source}: ${error.cause?.code ?? error.message}`));
  if (!response.ok) fail(`${source} answered ${response.status}`);
  text = await response.text();
} else text = readFileSync(source, "utf8");
let api;
try {
  api = JSON.parse(text);
} catch {
  fail("the description is not JSON; if it is YAML, ask for the JSON form (often the same address ending in .json)");
}
if (!api.paths) fail("no OpenAPI description: it has no paths");

const methods = ["get", "post", "put", "patch", "delete", "head", "options"];
const resolve = (value) => {
  let current = value;
  for (let steps = 0; current?.$ref && steps < 20; steps++) current = current.$ref.split("/").slice(1).reduce((part, key) => part?.[key.replace(/~1/g, "/").replace(/~0/g, "~")], api);
  return current ?? {};
};
const operations = Object.entries(api.paths).flatMap(([path, item]) => methods.filter((method) => item[method]).map((method) => ({ method: method.toUpperCase(), path, shared: item.parameters ?? [], ...item[method] })));

/** A type in one line, its fields below, to a certain depth. */
function outline(raw, depth = 3, indent = "  ") {
  const name = raw?.$ref?.split("/").at(-1);
  const schema = resolve(raw);
  const merged = [schema, ...(schema.allOf ?? []).map(resolve)];
  const fields = Object.assign({}, ...merged.map((one) => one.properties ?? {}));
  const required = new Set(merged.flatMap((one) => one.required ?? []));
  const choice = schema.oneOf ?? schema.anyOf;
  const kind = schema.enum ? `one of ${schema.enum.slice(0, 12).map((value) => JSON.stringify(value)).join(", ")}` : choice ? `${schema.oneOf ? "one" : "any"} of ${choice.map((one) => one.$ref?.split("/").at(-1) ?? resolve(one).type).join(", ")}` : [schema.type].flat().filter(Boolean).join(" or ") || (Object.keys(fields).length > 0 ? "object" : "anything");
  const limits = ["format", "minimum", "maximum", "minLength", "maxLength", "maxItems", "pattern", "default"].filter((key) => schema[key] !== undefined).map((key) => `${key} ${schema[key]}`);
  let line = [name, kind, ...limits, schema.nullable && "or null"].filter(Boolean).join(", ");
  if (schema.description) line += ` -- ${schema.description.split("\n")[0].slice(0, 140)}`;
  if (depth === 0) return line;
  if (schema.items) line += `\n${indent}[] ${outline(schema.items, depth - 1, `${indent}  `)}`;
  for (const [field, value] of Object.entries(fields)) line += `\n${indent}${field}${required.has(field) ? " (required)" : ""}: ${outline(value, depth - 1, `${indent}  `)}`;
  return line;
}
const first = (content) => Object.entries(content ?? {})[0] ?? [];
const summary = ({ method, path, summary: title, operationId, deprecated, description }) => `${method.padEnd(6)} ${path}  ${title ?? operationId ?? (description ?? "").split("\n")[0].slice(0, 80)}${deprecated ? " (deprecated)" : ""}`;

if (o.show) {
  const [method, path] = o.show.trim().split(/\s+/);
  const operation = operations.find((one) => one.method === method?.toUpperCase() && one.path === path) ?? fail(`no operation "${o.show}"`);
  console.log(summary(operation));
  if (operation.description) console.log(operation.description.slice(0, 1500));
  const needs = operation.security ?? api.security ?? [];
  console.log("login:", needs.length === 0 ? "none" : needs.map((one) => Object.keys(one).join(" + ") || "optional").join(" or "));
  for (const parameter of [...operation.shared, ...(operation.parameters ?? [])].map(resolve)) {
    if (parameter.in === "body") console.log(`body: ${outline(parameter.schema)}`);
    else console.log(`${parameter.in} ${parameter.name}${parameter.required ? " (required)" : ""}: ${outline(parameter.schema ?? parameter, 1)}${parameter.description ? ` -- ${parameter.description.split("\n")[0].slice(0, 160)}` : ""}`);
  }
  const [kind, media] = first(resolve(operation.requestBody).content);
  if (media) console.log(`body (${kind}): ${outline(media.schema)}${media.example ? `\nexample: ${JSON.stringify(media.example).slice(0, 800)}` : ""}`);
  for (const [status, raw] of Object.entries(operation.responses ?? {})) {
    const response = resolve(raw);
    const [, content] = first(response.content);
    const schema = content?.schema ?? response.schema;
    console.log(`${status}: ${response.description ?? ""}${schema && /^2/.test(status) ? `\n  ${outline(schema)}` : ""}`);
  }
} else if (o.schema) {
  const all = api.components?.schemas ?? api.definitions ?? {};
  console.log(all[o.schema] ? outline(all[o.schema]) : fail(`no type ${o.schema}; there are: ${Object.keys(all).join(", ")}`));
} else if (o.find) {
  const words = o.find.toLowerCase().split(/\s+/);
  const hits = operations.filter((one) => words.every((word) => JSON.stringify([one.path, one.summary, one.description, one.operationId, one.tags]).toLowerCase().includes(word)));
  console.log(hits.map(summary).join("\n") || "nothing found");
} else {
  console.log(`${api.info?.title} ${api.info?.version} (${api.openapi ? `OpenAPI ${api.openapi}` : `Swagger ${api.swagger}`})`);
  const servers = api.servers?.map(({ url }) => url) ?? (api.host ? [`${api.schemes?.[0] ?? "https"}://${api.host}${api.basePath ?? ""}`] : []);
  console.log(`servers: ${servers.join(", ") || "the address of the description"}`);
  for (const [name, scheme] of Object.entries(api.components?.securitySchemes ?? api.securityDefinitions ?? {})) console.log(`login ${name}: ${[scheme.type, scheme.scheme, scheme.in && `${scheme.in} ${scheme.name}`, scheme.description?.split("\n")[0].slice(0, 100)].filter(Boolean).join(", ")}`);
  const tags = new Map();
  for (const one of operations) for (const tag of one.tags ?? ["(no tag)"]) tags.set(tag, [...(tags.get(tag) ?? []), one]);
  console.log(`${operations.length} operations`);
  for (const [tag, list] of tags) console.log(`\n# ${tag}\n${operations.length > 150 ? `${list.length} operations (--find)` : list.map(summary).join("\n")}`);
}
