// Compares translation files and tells what is missing or broken.
//   node i18n.mjs check SOURCE TARGET      JSON (nested), YAML is not read; .po and .properties work too
//   node i18n.mjs missing SOURCE TARGET    prints what is to be translated, as flat JSON
//   node i18n.mjs merge SOURCE TARGET NEW.json    prints the target with the new texts, in the order of the source (JSON only)
import { readFileSync } from "node:fs";

const [command, sourceFile, targetFile, newFile] = process.argv.slice(2);
const fail = (text) => {
  console.error(text);
  process.exit(2);
};
if (!["check", "missing", "merge"].includes(command) || !sourceFile || !targetFile || (command === "merge" && !newFile)) {
  fail("usage: node i18n.mjs check SOURCE TARGET | missing SOURCE TARGET | merge SOURCE TARGET NEW.json");
}

function flat(value, path = "", into = {}) {
  if (typeof value === "string") into[path] = value;
  else if (value && typeof value === "object") for (const [key, inner] of Object.entries(value)) flat(inner, path ? `${path}\u0000${key}` : key, into);
  return into;
}
const show = (key) => key.replaceAll("\u0000", ".");
const unquote = (text) => (text.match(/"((?:[^"\\]|\\.)*)"/g) ?? []).map((part) => JSON.parse(part)).join("");

function read(file) {
  const text = readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  if (file.endsWith(".json")) return flat(JSON.parse(text));
  if (/\.pot?$/.test(file)) {
    const into = {};
    for (const entry of text.split(/\r?\n\s*\r?\n/)) {
      const clean = entry.split(/\r?\n/).filter((line) => !line.startsWith("#")).join("\n");
      const id = unquote(/^msgid\s+((?:"[^\n]*"\s*)+)/m.exec(clean)?.[1] ?? "");
      const context = unquote(/^msgctxt\s+((?:"[^\n]*"\s*)+)/m.exec(clean)?.[1] ?? "");
      if (id === "") continue;
      const strings = [...clean.matchAll(/^msgstr(?:\[\d+\])?\s+((?:"[^\n]*"\s*)+)/gm)].map((match) => unquote(match[1]));
      const fuzzy = /^#,.*fuzzy/m.test(entry);
      into[context ? `${context}\u0000${id}` : id] = file === sourceFile ? id : fuzzy ? "" : (strings.find((s) => s === "") ?? strings[0] ?? "");
    }
    return into;
  }
  if (file.endsWith(".properties")) {
    const into = {};
    for (const line of text.replace(/\\\r?\n\s*/g, "").split(/\r?\n/)) {
      const match = /^\s*([^#!=:\s][^=:]*?)\s*[=:]\s*(.*)$/.exec(line);
      if (match) into[match[1]] = match[2];
    }
    return into;
  }
  return fail(`${file}: only .json, .po and .properties are read`);
}

const source = read(sourceFile);
const target = read(targetFile);
/** Everything that a program fills in or interprets, and that must survive translation. */
const marks = (text) =>
  (text.match(/\{\{\s*[\w.-]+\s*\}\}|\{[\w.]+(?=[,}])|%\(\w+\)[sd]|%[-+0-9.]*[sdifux@]|%\d\$[sd]|\$\{\w+\}|:\w+(?=\W|$)(?<=\s:\w+)|<\/?[a-zA-Z][\w-]*|&\w+;/g) ?? []).map((mark) => mark.replace(/\s/g, "")).map((mark) => (/^\{[^{].*[^}]$/.test(mark) ? `${mark}}` : mark)).sort().join(" ");
const missing = Object.keys(source).filter((key) => source[key] !== "" && !target[key]);

if (command === "missing") {
  console.log(JSON.stringify(Object.fromEntries(missing.map((key) => [show(key), source[key]])), null, 2));
} else if (command === "merge") {
  const added = JSON.parse(readFileSync(newFile, "utf8"));
  const fill = (value, path) =>
    typeof value === "string"
      ? (added[show(path)] ?? target[path] ?? "")
      : Array.isArray(value)
        ? value.map((inner, at) => fill(inner, `${path}\u0000${at}`))
        : value && typeof value === "object"
          ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fill(inner, path ? `${path}\u0000${key}` : key)]))
          : value;
  console.log(JSON.stringify(fill(JSON.parse(readFileSync(sourceFile, "utf8")), ""), null, 2));
} else {
  const problems = missing.map((key) => `missing: ${show(key)}`);
  for (const key of Object.keys(target)) if (!(key in source)) problems.push(`not in the source: ${show(key)}`);
  for (const [key, text] of Object.entries(source)) {
    const other = target[key];
    if (!other) continue;
    if (marks(text) !== marks(other)) problems.push(`placeholders differ: ${show(key)}: "${marks(text)}" became "${marks(other)}"`);
    if (/^\s|\s$/.test(text) !== /^\s|\s$/.test(other)) problems.push(`space at the edge differs: ${show(key)}`);
    if (text === other && text.length > 12 && /\p{L}{4}/u.test(text)) problems.push(`same as the source: ${show(key)}`);
    if (text.length > 10 && other.length > text.length * 2.2) problems.push(`much longer (${text.length} to ${other.length}): ${show(key)}`);
  }
  for (const problem of problems) console.log(problem);
  console.log(`${Object.keys(source).length} texts, ${missing.length} missing, ${problems.length} remarks`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
