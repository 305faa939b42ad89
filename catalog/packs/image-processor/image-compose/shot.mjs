// Turns an HTML file into a picture with the stack's browser. Local pictures, fonts and styles are put into the page.
// usage: node shot.mjs PAGE.html OUT.png|.jpg|.webp [--width 1200] [--height 630] [--scale 1] [--full] [--transparent] [--data FILE.json]
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, extname, resolve } from "node:path";
import { parseArgs } from "node:util";

const { values: o, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    width: { type: "string", default: "1200" },
    height: { type: "string", default: "630" },
    scale: { type: "string", default: "1" },
    full: { type: "boolean", default: false },
    transparent: { type: "boolean", default: false },
    data: { type: "string" },
  },
});
const [page, out] = positionals;
const type = { ".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".webp": "webp" }[extname(out ?? "").toLowerCase()];
if (!page || !type) {
  console.error("usage: node shot.mjs PAGE.html OUT.png|.jpg|.webp [--width 1200] [--height 630] [--scale 1] [--full] [--transparent] [--data FILE.json]");
  process.exit(2);
}
const kinds = { ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".gif": "image/gif", ".svg": "image/svg+xml", ".woff2": "font/woff2", ".woff": "font/woff", ".ttf": "font/ttf", ".otf": "font/otf" };
const root = dirname(resolve(page));
const inline = (whole, address) => {
  const kind = kinds[extname(address).toLowerCase()];
  if (!kind || /^([a-z]+:|\/\/|#)/i.test(address)) return undefined;
  return `data:${kind};base64,${readFileSync(resolve(root, address)).toString("base64")}`;
};
const escape = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

try {
  let html = readFileSync(page, "utf8");
  html = html.replace(/<link\b[^>]*rel=["']?stylesheet["']?[^>]*href=["']([^"':]+\.css)["'][^>]*>/gi, (_, file) => `<style>${readFileSync(resolve(root, file), "utf8")}</style>`);
  html = html.replace(/\b(src|href)=["']([^"']+)["']/g, (whole, name, address) => {
    const data = inline(whole, address);
    return data ? `${name}="${data}"` : whole;
  });
  html = html.replace(/url\(["']?([^"')]+)["']?\)/g, (whole, address) => {
    const data = inline(whole, address);
    return data ? `url("${data}")` : whole;
  });
  if (o.data) {
    const data = JSON.parse(readFileSync(o.data, "utf8"));
    html = html.replace(/\[\[(\w+)\]\]/g, (whole, name) => (name in data ? escape(data[name]) : whole));
  }
  const body = {
    html,
    viewport: { width: Number(o.width), height: Number(o.height), deviceScaleFactor: Number(o.scale) },
    gotoOptions: { waitUntil: "networkidle2", timeout: 20_000 },
    options: { type, fullPage: o.full, omitBackground: o.transparent && type !== "jpeg", ...(type === "png" ? {} : { quality: 88 }) },
  };
  const response = await fetch(`${process.env.BROWSERLESS_URL.replace(/\/$/, "")}/screenshot`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${process.env.BROWSERLESS_TOKEN}` },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });
  if (!response.ok) throw new Error(`browser answered ${response.status}: ${(await response.text()).slice(0, 300)}`);
  const picture = Buffer.from(await response.arrayBuffer());
  writeFileSync(out, picture);
  console.log(`${out}: ${picture.length} bytes, ${Number(o.width) * Number(o.scale)} x ${o.full ? "full page" : Number(o.height) * Number(o.scale)}`);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
