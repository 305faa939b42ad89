// Posts and pages of a Ghost site by its Admin API. Run without arguments for the usage.
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { parseArgs } from "node:util";

const usage = `usage:
  node ghost.mjs list [--status draft|published|scheduled] [--tag SLUG] [--limit N] [--pages]
  node ghost.mjs show ID_OR_SLUG [--pages]
  node ghost.mjs draft FILE.md|FILE.html [--title T] [--pages]        creates a draft; title, slug, excerpt, tags, feature_image from front matter
  node ghost.mjs update ID FILE.md|FILE.html [--pages]                replaces the text and what the front matter names
  node ghost.mjs publish ID [--at 2026-03-10T09:00:00Z] [--pages]     publishes now, or schedules; sends no mail
  node ghost.mjs unpublish ID [--pages]
  node ghost.mjs image FILE                                           uploads, prints the address
  node ghost.mjs tags`;
const fail = (message, code = 1) => {
  console.error(message);
  process.exit(code);
};
const { values: o, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    status: { type: "string" },
    tag: { type: "string" },
    limit: { type: "string", default: "20" },
    title: { type: "string" },
    at: { type: "string" },
    pages: { type: "boolean", default: false },
  },
});
const [command, ...rest] = positionals;
const kind = o.pages ? "pages" : "posts";
const print = (value) => console.log(JSON.stringify(value, null, 2));

/** A token for five minutes, signed with the key (id:secret, the secret in hexadecimal). */
function token() {
  const [id, secret] = (process.env.GHOST_ADMIN_API_KEY ?? "").split(":");
  if (!id || !/^[0-9a-f]+$/i.test(secret ?? "")) fail("GHOST_ADMIN_API_KEY is not set: in Ghost under Settings, Integrations, add a custom integration and put its Admin API key into .env");
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Math.floor(Date.now() / 1000);
  const head = `${part({ alg: "HS256", typ: "JWT", kid: id })}.${part({ iat: now, exp: now + 300, aud: "/admin/" })}`;
  return `${head}.${createHmac("sha256", Buffer.from(secret, "hex")).update(head).digest("base64url")}`;
}

async function call(method, path, body) {
  const form = body instanceof FormData;
  const response = await fetch(`${process.env.GHOST_URL.replace(/\/$/, "")}/ghost/api/admin/${path}`, {
    method,
    // The site may have an https address; without this header Ghost would redirect there.
    headers: { authorization: `Ghost ${token()}`, "x-forwarded-proto": "https", ...(form ? {} : { "content-type": "application/json" }) },
    body: form ? body : body && JSON.stringify(body),
    redirect: "manual",
    signal: AbortSignal.timeout(60_000),
  }).catch((error) => fail(`Ghost does not answer: ${error.cause?.code ?? error.message}`));
  if (response.status >= 300 && response.status < 400) fail(`Ghost redirects to ${response.headers.get("location")}`);
  const text = await response.text();
  const answer = text.startsWith("{") ? JSON.parse(text) : {};
  if (!response.ok) fail(`Ghost answered ${response.status}: ${answer.errors?.map((error) => [error.message, error.context].filter(Boolean).join(" ")).join("; ") ?? text.slice(0, 200)}`);
  return answer;
}

/** Enough of Markdown for articles; blocks of HTML pass through. */
function html(markdown) {
  const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const inline = (text) => {
    const kept = [];
    const keep = (value) => `\u0000${kept.push(value) - 1}\u0000`;
    return escape(text.replace(/`([^`]+)`/g, (_, code) => keep(`<code>${escape(code)}</code>`)))
      .replace(/!\[([^\]]*)\]\(([^)\s]+)\)/g, (_, alt, address) => keep(`<img src="${address}" alt="${alt.replace(/"/g, "&quot;")}">`))
      .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_, label, address) => `${keep(`<a href="${address}">`)}${label}${keep("</a>")}`)
      .replace(/\*\*(.+?)\*\*/g, "<strong>$1</strong>")
      .replace(/(^|[^\w*])\*([^*\s][^*]*)\*/g, "$1<em>$2</em>")
      .replace(/(^|\W)_([^_\s][^_]*)_(?=\W|$)/g, "$1<em>$2</em>")
      .replace(/ {2,}\n/g, "<br>")
      .replace(/\u0000(\d+)\u0000/g, (_, at) => kept[at]);
  };
  const result = [];
  const lines = markdown.replace(/\r/g, "").split("\n");
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    const take = (test) => {
      const taken = [];
      while (at < lines.length && test(lines[at])) taken.push(lines[at++]);
      return taken;
    };
    const fence = /^(```+|~~~+)\s*([\w-]*)/.exec(line);
    const heading = /^(#{1,6})\s+(.+?)\s*#*$/.exec(line);
    if (line.trim() === "") at++;
    else if (fence) {
      at++;
      const code = take((one) => !one.startsWith(fence[1]));
      at++;
      result.push(`<pre><code${fence[2] ? ` class="language-${fence[2]}"` : ""}>${escape(code.join("\n"))}</code></pre>`);
    } else if (heading) {
      at++;
      result.push(`<h${heading[1].length}>${inline(heading[2])}</h${heading[1].length}>`);
    } else if (/^(---+|\*\*\*+)\s*$/.test(line)) {
      at++;
      result.push("<hr>");
    } else if (line.startsWith(">")) {
      result.push(`<blockquote>${html(take((one) => one.startsWith(">")).map((one) => one.replace(/^>\s?/, "")).join("\n"))}</blockquote>`);
    } else if (/^\s*([-*+]|\d+[.)])\s+/.test(line)) {
      const ordered = /^\s*\d/.test(line);
      const items = [];
      for (const one of take((next) => /^\s*([-*+]|\d+[.)])\s+/.test(next) || /^\s{2,}\S/.test(next))) {
        const item = /^\s*(?:[-*+]|\d+[.)])\s+(.*)$/.exec(one);
        if (item) items.push(item[1]);
        else items[items.length - 1] += `\n${one.trim()}`;
      }
      result.push(`<${ordered ? "ol" : "ul"}>${items.map((item) => `<li>${inline(item)}</li>`).join("")}</${ordered ? "ol" : "ul"}>`);
    } else if (/^\|.*\|\s*$/.test(line) && /^\|[\s:|-]+\|\s*$/.test(lines[at + 1] ?? "")) {
      const rows = take((one) => /^\|.*\|\s*$/.test(one)).map((one) => one.trim().slice(1, -1).split("|").map((cell) => inline(cell.trim())));
      const row = (cells, tag) => `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join("")}</tr>`;
      result.push(`<table><thead>${row(rows[0], "th")}</thead><tbody>${rows.slice(2).map((cells) => row(cells, "td")).join("")}</tbody></table>`);
    } else if (/^<[a-z!]/i.test(line)) {
      result.push(take((one) => one.trim() !== "").join("\n"));
    } else {
      result.push(`<p>${inline(take((one) => one.trim() !== "" && !/^(#{1,6}\s|```|~~~|>|\s*([-*+]|\d+[.)])\s)/.test(one)).join("\n") || lines[at++])}</p>`);
    }
  }
  return result.join("\n");
}

function article(file) {
  const text = readFileSync(file, "utf8");
  const front = /^---\n([\s\S]*?)\n---\n/.exec(text);
  const fields = {};
  for (const line of front?.[1].split("\n") ?? []) {
    const pair = /^(\w+):\s*(.*)$/.exec(line);
    if (pair) fields[pair[1]] = pair[2].replace(/^(["'])(.*)\1$/, "$2").trim();
  }
  let body = text.slice(front?.[0].length ?? 0);
  const first = /^\s*#\s+(.+)\n/.exec(body);
  if (first && !file.endsWith(".html")) body = body.slice(first[0].length);
  const title = o.title ?? fields.title ?? first?.[1];
  const post = { html: file.endsWith(".html") ? body : html(body) };
  if (title) post.title = title;
  if (fields.slug) post.slug = fields.slug;
  if (fields.excerpt) post.custom_excerpt = fields.excerpt;
  if (fields.feature_image) post.feature_image = fields.feature_image;
  if (fields.tags) post.tags = fields.tags.replace(/^\[|\]$/g, "").split(",").map((name) => ({ name: name.trim() })).filter(({ name }) => name);
  return post;
}

const short = ({ id, title, slug, status, published_at: published, updated_at: updated, url, tags }) => ({ id, title, slug, status, published, updated, url, tags: tags?.map((tag) => tag.name) });
const one = async (id) => (await call("GET", `${kind}/${/^[0-9a-f]{24}$/.test(id) ? id : `slug/${encodeURIComponent(id)}`}/?formats=html&include=tags`))[kind][0];
const change = async (id, fields, query = "") => {
  const { id: real, updated_at } = await one(id);
  return (await call("PUT", `${kind}/${real}/${query}`, { [kind]: [{ ...fields, updated_at }] }))[kind][0];
};

if (command === "list") {
  const filter = [o.status && `status:${o.status}`, o.tag && `tag:${o.tag}`].filter(Boolean).join("+");
  const query = new URLSearchParams({ limit: o.limit, order: "updated_at desc", include: "tags", ...(filter ? { filter } : {}) });
  print((await call("GET", `${kind}/?${query}`))[kind].map(short));
} else if (command === "show" && rest[0]) {
  const post = await one(rest[0]);
  print({ ...short(post), excerpt: post.custom_excerpt, html: post.html });
} else if (command === "draft" && rest[0]) {
  const post = article(rest[0]);
  if (!post.title) fail("no title: give one in the front matter, as first heading or by --title");
  print(short((await call("POST", `${kind}/?source=html`, { [kind]: [{ ...post, status: "draft" }] }))[kind][0]));
} else if (command === "update" && rest[1]) print(short(await change(rest[0], article(rest[1]), "?source=html")));
else if (command === "publish" && rest[0]) {
  if (o.at && !(Date.parse(o.at) > Date.now())) fail("--at must be a time in the future, such as 2026-03-10T09:00:00Z");
  print(short(await change(rest[0], o.at ? { status: "scheduled", published_at: new Date(o.at).toISOString() } : { status: "published" })));
} else if (command === "unpublish" && rest[0]) print(short(await change(rest[0], { status: "draft" })));
else if (command === "image" && rest[0]) {
  const kinds = { png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", webp: "image/webp", gif: "image/gif", svg: "image/svg+xml" };
  const type = kinds[rest[0].split(".").pop().toLowerCase()] ?? fail("png, jpg, webp, gif or svg");
  const form = new FormData();
  form.append("file", new Blob([readFileSync(rest[0])], { type }), basename(rest[0]));
  form.append("purpose", "image");
  print((await call("POST", "images/upload/", form)).images[0]);
} else if (command === "tags") print((await call("GET", "tags/?limit=100&include=count.posts")).tags.map(({ name, slug, count }) => ({ name, slug, posts: count?.posts })));
else fail(usage, 2);
