// A small S3 client (AWS signature version 4, path style) without dependencies, for MinIO, Garage and SeaweedFS.
// Run without arguments for the usage.
import { createHash, createHmac } from "node:crypto";
import { createReadStream, createWriteStream, statSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

const usage = `usage: node s3.mjs [--on minio|garage|seaweedfs] COMMAND
  buckets | make BUCKET | ls BUCKET [PREFIX] | head BUCKET KEY
  get BUCKET KEY FILE | put FILE BUCKET KEY [CONTENT-TYPE] | rm BUCKET KEY
  link BUCKET KEY [MINUTES] [PUBLIC-ADDRESS]     an address that works without a key, 60 minutes by default`;
const fail = (text) => {
  console.error(text);
  process.exit(1);
};
const args = process.argv.slice(2);
const { env } = process;
const stores = {
  minio: { url: env.MINIO_URL, key: env.MINIO_ACCESS_KEY, secret: env.MINIO_SECRET_KEY, region: "us-east-1" },
  garage: { url: env.GARAGE_URL, key: env.GARAGE_ACCESS_KEY, secret: env.GARAGE_SECRET_KEY, region: env.GARAGE_REGION ?? "garage" },
  seaweedfs: { url: env.SEAWEEDFS_URL, key: env.SEAWEEDFS_ACCESS_KEY, secret: env.SEAWEEDFS_SECRET_KEY, region: "us-east-1" },
};
const named = args[0] === "--on" ? args.splice(0, 2)[1] : undefined;
const name = named ?? Object.keys(stores).find((id) => stores[id].url);
const store = stores[name];
if (!store?.url || !store.key || !store.secret) fail("no object store: MINIO_URL, GARAGE_URL or SEAWEEDFS_URL and its keys must be set");

const hash = (data) => createHash("sha256").update(data).digest("hex");
const hmac = (key, data) => createHmac("sha256", key).update(data).digest();
const escape = (text) => encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
const pathOf = (bucket, key) => `/${[bucket, ...(key ?? "").split("/")].filter((part, at) => at === 0 || key !== undefined).map(escape).join("/")}`;
const queryOf = (query) => Object.entries(query).map(([k, v]) => `${escape(k)}=${escape(v)}`).sort().join("&");

/** Signature version 4, https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
export function signature({ method, path, query, headers, payload, time, key, secret, region }) {
  const names = Object.keys(headers).sort();
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const request = [method, path, queryOf(query), ...names.map((n) => `${n}:${headers[n]}`), "", names.join(";"), payload].join("\n");
  const signing = ["s3", "aws4_request"].reduce((k, part) => hmac(k, part), hmac(hmac(`AWS4${secret}`, time.slice(0, 8)), region));
  return { scope, names: names.join(";"), value: hmac(signing, ["AWS4-HMAC-SHA256", time, scope, hash(request)].join("\n")).toString("hex"), credential: `${key}/${scope}` };
}
const now = () => new Date().toISOString().replace(/[-:]|\.\d{3}/g, "");

async function call(method, path, { query = {}, headers = {}, body, length, allow = [] } = {}) {
  const time = now();
  const payload = body === undefined ? hash("") : "UNSIGNED-PAYLOAD";
  const signed = { host: new URL(store.url).host, "x-amz-content-sha256": payload, "x-amz-date": time };
  const s = signature({ ...store, method, path, query, headers: signed, payload, time });
  const answer = await fetch(`${store.url}${path}${Object.keys(query).length ? `?${queryOf(query)}` : ""}`, {
    method,
    headers: {
      ...signed,
      ...headers,
      ...(length === undefined ? {} : { "content-length": String(length) }),
      authorization: `AWS4-HMAC-SHA256 Credential=${s.credential}, SignedHeaders=${s.names}, Signature=${s.value}`,
    },
    body,
    ...(body ? { duplex: "half" } : {}),
  }).catch((error) => fail(`${name}: ${error.cause?.message ?? error.message}`));
  if (!answer.ok && !allow.includes(answer.status)) {
    const text = await answer.text();
    fail(`HTTP ${answer.status} ${/<Code>(.*?)<\/Code>/.exec(text)?.[1] ?? ""} ${/<Message>(.*?)<\/Message>/s.exec(text)?.[1] ?? text.slice(0, 300)}`);
  }
  return answer;
}
const plain = (text) => text.replace(/&(lt|gt|quot|apos|amp|#(\d+)|#x([\da-f]+));/gi, (_, n, d, x) => (d ? String.fromCodePoint(Number(d)) : x ? String.fromCodePoint(Number.parseInt(x, 16)) : { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" }[n]));
const all = (xml, tag) => [...xml.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, "gs"))].map((m) => m[1]);
const one = (xml, tag) => plain(all(xml, tag)[0] ?? "");

const [command, ...rest] = args;
const need = (count) => rest.length >= count || fail(usage);
if (command === "buckets") {
  for (const b of all(await (await call("GET", "/")).text(), "Bucket")) console.log(one(b, "Name"), one(b, "CreationDate"));
} else if (command === "make" && need(1)) {
  await call("PUT", pathOf(rest[0]));
  console.log(`made ${rest[0]}`);
} else if (command === "ls" && need(1)) {
  let count = 0;
  for (let token; ; ) {
    const query = { "list-type": "2", prefix: rest[1] ?? "", delimiter: "/", ...(token ? { "continuation-token": token } : {}) };
    const xml = await (await call("GET", pathOf(rest[0]), { query })).text();
    for (const p of all(xml, "CommonPrefixes")) console.log(`${"-".padStart(12)} ${"".padEnd(24)} ${one(p, "Prefix")}`);
    for (const c of all(xml, "Contents")) {
      count++;
      console.log(`${one(c, "Size").padStart(12)} ${one(c, "LastModified").padEnd(24)} ${one(c, "Key")}`);
    }
    token = one(xml, "IsTruncated") === "true" ? one(xml, "NextContinuationToken") : undefined;
    if (!token) break;
    if (count >= 10_000) {
      console.log("more: give a longer prefix");
      break;
    }
  }
} else if (command === "head" && need(2)) {
  const answer = await call("HEAD", pathOf(rest[0], rest[1]), { allow: [404, 403] });
  console.log(JSON.stringify({ status: answer.status, size: answer.headers.get("content-length"), type: answer.headers.get("content-type"), modified: answer.headers.get("last-modified"), etag: answer.headers.get("etag") }));
} else if (command === "get" && need(3)) {
  const answer = await call("GET", pathOf(rest[0], rest[1]));
  await pipeline(Readable.fromWeb(answer.body), createWriteStream(rest[2]));
  console.log(`${statSync(rest[2]).size} bytes in ${rest[2]}`);
} else if (command === "put" && need(3)) {
  const { size } = statSync(rest[0]);
  if (size > 5 * 2 ** 30) fail("above 5 GiB a file cannot be sent in one piece");
  await call("PUT", pathOf(rest[1], rest[2]), { body: Readable.toWeb(createReadStream(rest[0])), length: size, headers: { "content-type": rest[3] ?? "application/octet-stream" } });
  console.log(`stored ${rest[1]}/${rest[2]}, ${size} bytes`);
} else if (command === "rm" && need(2)) {
  await call("DELETE", pathOf(rest[0], rest[1]));
  console.log(`removed ${rest[0]}/${rest[1]}`);
} else if (command === "link" && need(2)) {
  const base = (rest[3] ?? store.url).replace(/\/$/, "");
  const time = now();
  const path = pathOf(rest[0], rest[1]);
  const headers = { host: new URL(base).host };
  const query = {
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Credential": `${store.key}/${time.slice(0, 8)}/${store.region}/s3/aws4_request`,
    "X-Amz-Date": time,
    "X-Amz-Expires": String(Math.min(Math.max(Number(rest[2] ?? 60), 1), 10_080) * 60),
    "X-Amz-SignedHeaders": "host",
  };
  const s = signature({ ...store, method: "GET", path, query, headers, payload: "UNSIGNED-PAYLOAD", time });
  console.log(`${base}${path}?${queryOf(query)}&X-Amz-Signature=${s.value}`);
} else {
  fail(usage);
}
