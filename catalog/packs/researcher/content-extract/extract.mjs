// Reads web pages in the stack's browser and prints their text as Markdown.
// usage: node extract.mjs URL [--selector CSS] [--wait CSS] [--max CHARACTERS] [--links]
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    selector: { type: "string" },
    wait: { type: "string" },
    max: { type: "string", default: "20000" },
    links: { type: "boolean", default: false },
  },
});
const [url] = positionals;
if (!url || !/^https?:\/\//.test(url)) {
  console.error("usage: node extract.mjs https://... [--selector CSS] [--wait CSS] [--max CHARACTERS] [--links]");
  process.exit(2);
}

// Runs in the browser: everything it needs comes through `context`.
const code = `export default async function ({ page, context }) {
  const response = await page.goto(context.url, { waitUntil: "domcontentloaded", timeout: 25000 });
  if (context.wait) await page.waitForSelector(context.wait, { timeout: 15000 });
  else await new Promise((done) => setTimeout(done, 1500));
  const found = await page.evaluate((selector) => {
    const meta = (...names) => {
      for (const name of names) {
        const tag = document.querySelector('meta[name="' + name + '"], meta[property="' + name + '"]');
        if (tag && tag.content) return tag.content.trim();
      }
      return null;
    };
    const linked = [];
    for (const script of document.querySelectorAll('script[type="application/ld+json"]')) {
      try { linked.push(...[JSON.parse(script.textContent)].flat().flatMap((one) => one["@graph"] || one)); } catch {}
    }
    const article = linked.find((one) => one && one.datePublished) || {};
    const name = (who) => [who].flat().map((one) => (one && one.name) || (typeof one === "string" ? one : "")).filter(Boolean).join("; ") || null;
    const pick = () => {
      if (selector) return document.querySelector(selector);
      const choices = [...document.querySelectorAll("article, main, [role=main], #content, .content")];
      choices.sort((a, b) => b.innerText.length - a.innerText.length);
      return choices[0] && choices[0].innerText.length > 400 ? choices[0] : document.body;
    };
    const root = pick();
    const skip = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "SVG", "NAV", "FOOTER", "ASIDE", "FORM", "BUTTON", "IFRAME"]);
    const inline = (node) => {
      if (node.nodeType === 3) return node.data.replace(/\\s+/g, " ");
      if (node.nodeType !== 1 || skip.has(node.tagName.toUpperCase())) return "";
      if (node.tagName === "BR") return "\\n";
      const text = [...node.childNodes].map(inline).join("");
      if (node.tagName === "A" && node.href && text.trim()) return "[" + text.trim() + "](" + node.href + ")";
      if (node.tagName === "CODE") return "\`" + text + "\`";
      return text;
    };
    const lines = [];
    const blocks = /^(P|H[1-6]|LI|PRE|BLOCKQUOTE|TR|FIGCAPTION|DT|DD)$/;
    const walk = (node) => {
      if (node.nodeType === 3) { const text = node.data.trim(); if (text) lines.push(text.replace(/\\s+/g, " ")); return; }
      if (node.nodeType !== 1 || skip.has(node.tagName.toUpperCase())) return;
      const style = getComputedStyle(node);
      if (style.display === "none" || style.visibility === "hidden") return;
      const tag = node.tagName;
      if (blocks.test(tag)) {
        if (tag === "PRE") return void lines.push("\`\`\`\\n" + node.innerText + "\\n\`\`\`");
        if (tag === "TR") return void lines.push("| " + [...node.cells].map((cell) => inline(cell).trim()).join(" | ") + " |");
        const text = inline(node).trim();
        if (!text) return;
        if (/^H/.test(tag)) return void lines.push("#".repeat(Number(tag[1])) + " " + text);
        if (tag === "LI") return void lines.push("- " + text);
        if (tag === "BLOCKQUOTE") return void lines.push("> " + text);
        return void lines.push(text);
      }
      for (const child of node.childNodes) walk(child);
    };
    if (root) walk(root);
    return {
      found: Boolean(root),
      title: meta("og:title", "citation_title") || document.title,
      site: meta("og:site_name", "citation_journal_title"),
      author: [...document.querySelectorAll('meta[name="citation_author"]')].map((tag) => tag.content).join("; ") || meta("author", "article:author") || name(article.author),
      published: meta("article:published_time", "citation_publication_date", "citation_date", "date", "dc.date") || article.datePublished || null,
      modified: meta("article:modified_time", "og:updated_time") || article.dateModified || null,
      doi: meta("citation_doi", "dc.identifier"),
      canonical: (document.querySelector('link[rel="canonical"]') || {}).href || null,
      language: document.documentElement.lang || null,
      text: lines.join("\\n\\n"),
      links: [...(root || document).querySelectorAll("a[href^=http]")].map((a) => ({ text: a.innerText.trim().slice(0, 120), url: a.href })),
    };
  }, context.selector || null);
  return { status: response ? response.status() : null, url: page.url(), ...found };
}`;

const headers = { "content-type": "application/json" };
if (process.env.BROWSERLESS_TOKEN) headers.authorization = `Bearer ${process.env.BROWSERLESS_TOKEN}`;
const base = process.env.BROWSERLESS_URL.replace(/\/$/, "");
try {
  const response = await fetch(`${base}/function?timeout=60000`, {
    method: "POST",
    headers,
    body: JSON.stringify({ code, context: { url, selector: values.selector ?? null, wait: values.wait ?? null } }),
    signal: AbortSignal.timeout(70_000),
  });
  const body = await response.text();
  if (!response.ok) throw new Error(`browser answered ${response.status}: ${body.slice(0, 400)}`);
  const { text, links, ...page } = JSON.parse(body);
  const max = Number(values.max) || 20_000;
  for (const [name, value] of Object.entries({ ...page, retrieved: new Date().toISOString() })) if (value !== null) console.log(`${name}: ${value}`);
  console.log(`\n${text.slice(0, max)}`);
  if (text.length > max) console.log(`\n[cut: ${text.length - max} of ${text.length} characters left; use --selector or a larger --max]`);
  if (values.links) for (const link of links) console.log(`- ${link.text}: ${link.url}`);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
