// Files of a Nextcloud user over WebDAV. Run without arguments for the usage.
import { createReadStream, createWriteStream, statSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";

const usage = `usage:
  node cloud.mjs list PATH [--deep LEVELS]      find PATTERN (% is a wildcard)      recent [--days 7]      space
  node cloud.mjs get PATH LOCAL                 put LOCAL PATH [--replace]          mkdir PATH
  node cloud.mjs move FROM TO [--replace]       copy FROM TO [--replace]            delete PATH --yes`;
const fail = (message, code = 1) => {
  console.error(message);
  process.exit(code);
};
const { values: o, positionals } = parseArgs({
  allowPositionals: true,
  options: { deep: { type: "string", default: "1" }, days: { type: "string", default: "7" }, replace: { type: "boolean", default: false }, yes: { type: "boolean", default: false } },
});
const [command, first, second] = positionals;
const needed = { list: 1, find: 1, recent: 0, space: 0, get: 2, put: 2, mkdir: 1, move: 2, copy: 2, delete: 1 }[command];
if (needed === undefined || positionals.length - 1 < needed) fail(usage, 2);
const base = (process.env.NEXTCLOUD_URL ?? fail("NEXTCLOUD_URL is not set")).replace(/\/$/, "");
const user = process.env.NEXTCLOUD_USER ?? "admin";
const root = `/remote.php/dav/files/${encodeURIComponent(user)}`;
const clean = (path) => `/${path.split("/").filter(Boolean).join("/")}`;
const address = (path) => root + clean(path).split("/").map(encodeURIComponent).join("/");
const authorization = `Basic ${Buffer.from(`${user}:${process.env.NEXTCLOUD_PASSWORD}`).toString("base64")}`;

async function dav(method, path, { headers = {}, body, accept = [] } = {}) {
  const response = await fetch(base + path, { method, headers: { authorization, ...headers }, body, duplex: "half", redirect: "manual" }).catch((error) => fail(`Nextcloud does not answer: ${error.cause?.code ?? error.message}`));
  if (response.ok || accept.includes(response.status)) return response;
  const text = await response.text();
  return fail(`Nextcloud answered ${response.status}: ${/<s:message>([^<]*)/.exec(text)?.[1] ?? (text.includes("untrusted domain") ? "untrusted domain" : response.statusText)}`);
}
const unescape = (text) => text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&quot;/g, '"').replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code))).replace(/&amp;/g, "&");
function entries(xml) {
  return [...xml.matchAll(/<d:response>([\s\S]*?)<\/d:response>/g)].map(([, part]) => {
    const value = (name) => {
      const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(part)?.[1];
      return found === undefined ? undefined : unescape(found);
    };
    const folder = /<d:collection\s*\/>/.test(part);
    const path = decodeURIComponent(value("d:href").slice(root.length)) || "/";
    return { path: folder && !path.endsWith("/") ? `${path}/` : path, folder, size: Number(value("oc:size") ?? value("d:getcontentlength") ?? 0), changed: new Date(value("d:getlastmodified") ?? 0) };
  });
}
const properties = "<d:prop><d:resourcetype/><d:getlastmodified/><d:getcontentlength/><oc:size/></d:prop>";
const spaces = 'xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"';
const xml = { "content-type": "application/xml; charset=utf-8" };
const size = (bytes) => (bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : bytes >= 1e3 ? `${(bytes / 1e3).toFixed(1)} kB` : `${bytes} B`);
const show = (list) => {
  for (const { path, folder, size: bytes, changed } of list) console.log(`${(folder ? "folder" : size(bytes)).padStart(10)}  ${changed.toISOString().slice(0, 16).replace("T", " ")}  ${path}`);
  if (list.length === 0) console.log("nothing found");
};
const propfind = async (path) => entries(await (await dav("PROPFIND", address(path), { headers: { ...xml, depth: "1" }, body: `<?xml version="1.0"?><d:propfind ${spaces}>${properties}</d:propfind>` })).text());
async function list(path, levels) {
  const [, ...inside] = await propfind(path);
  const result = [];
  for (const entry of inside) {
    result.push(entry);
    if (entry.folder && levels > 1) result.push(...(await list(entry.path, levels - 1)));
  }
  return result;
}
async function search(condition) {
  const body = `<?xml version="1.0"?><d:searchrequest ${spaces}><d:basicsearch><d:select>${properties}</d:select><d:from><d:scope><d:href>/files/${encodeURIComponent(user)}</d:href><d:depth>infinity</d:depth></d:scope></d:from><d:where>${condition}</d:where><d:orderby><d:order><d:prop><d:getlastmodified/></d:prop><d:descending/></d:order></d:orderby><d:limit><d:nresults>200</d:nresults></d:limit></d:basicsearch></d:searchrequest>`;
  return entries(await (await dav("SEARCH", "/remote.php/dav/", { headers: xml, body })).text());
}
const literal = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const overwrite = { overwrite: o.replace ? "T" : "F" };

if (command === "list") show(await list(first, Number(o.deep)));
else if (command === "find") show(await search(`<d:like><d:prop><d:displayname/></d:prop><d:literal>${literal(first)}</d:literal></d:like>`));
else if (command === "recent") show(await search(`<d:gte><d:prop><d:getlastmodified/></d:prop><d:literal>${new Date(Date.now() - Number(o.days) * 86_400_000).toISOString().slice(0, 19)}Z</d:literal></d:gte>`));
else if (command === "space") {
  const text = await (await dav("PROPFIND", address("/"), { headers: { ...xml, depth: "0" }, body: '<?xml version="1.0"?><d:propfind xmlns:d="DAV:"><d:prop><d:quota-used-bytes/><d:quota-available-bytes/></d:prop></d:propfind>' })).text();
  const value = (name) => Number(new RegExp(`<d:${name}>(-?\\d+)`).exec(text)?.[1] ?? 0);
  console.log(`used ${size(value("quota-used-bytes"))}, free ${value("quota-available-bytes") < 0 ? "without limit" : size(value("quota-available-bytes"))}`);
} else if (command === "get") {
  const response = await dav("GET", address(first));
  await pipeline(Readable.fromWeb(response.body), createWriteStream(second));
  console.log(`${second}: ${size(statSync(second).size)}`);
} else if (command === "put") {
  const bytes = statSync(first).size;
  await dav("PUT", address(second), { headers: { "content-length": String(bytes), ...(o.replace ? {} : { "if-none-match": "*" }) }, body: createReadStream(first) });
  console.log(`${clean(second)}: ${size(bytes)}`);
} else if (command === "mkdir") {
  const parts = clean(first).split("/").filter(Boolean);
  for (let at = 1; at <= parts.length; at++) await dav("MKCOL", address(parts.slice(0, at).join("/")), { accept: [405] });
  console.log(`${clean(first)}/`);
} else if (command === "move" || command === "copy") {
  await dav(command.toUpperCase(), address(first), { headers: { destination: base + address(second), ...overwrite } });
  console.log(`${clean(first)} -> ${clean(second)}`);
} else {
  const [entry] = await propfind(first);
  if (!o.yes) fail(`would delete ${entry.path}${entry.folder ? ` with its contents (${size(entry.size)})` : ""}; add --yes after the user has agreed`);
  if (entry.path === "/") fail("the root is not deleted");
  await dav("DELETE", address(first));
  console.log(`deleted ${entry.path} (it is in the bin)`);
}
