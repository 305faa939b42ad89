// Reads CSV files (comma, semicolon or tab; quotes; UTF-8) and answers questions about them.
//   node table.mjs look FILE                                   columns, types, gaps, extremes
//   node table.mjs rows FILE [--where "total>100"] [--columns a,b] [--sort=-total] [--limit 20] [--out FILE.csv]
//   node table.mjs group FILE --by region[,month] --sum total [--where ...]      also --avg, --min, --max
//   node table.mjs join FILE OTHER --on id [--out FILE.csv]    left join; tells what has no partner
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

const option = { type: "string" };
const { values: o, positionals } = parseArgs({
  allowPositionals: true,
  options: { where: { type: "string", multiple: true }, columns: option, sort: option, limit: option, out: option, by: option, sum: option, avg: option, min: option, max: option, on: option, decimal: option },
});
const [command, file, other] = positionals;
const fail = (text) => {
  console.error(text);
  process.exit(2);
};
if (!["look", "rows", "group", "join"].includes(command) || !file) fail("usage: node table.mjs look|rows|group|join FILE ... (see the head of the program)");

function read(path) {
  const text = readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  const first = text.slice(0, text.indexOf("\n") >>> 0);
  const separator = [";", "\t", ","].map((s) => [s, first.split(s).length]).sort((a, b) => b[1] - a[1])[0][0];
  const rows = [];
  let row = [];
  let cell = "";
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const c = text[at];
    if (quoted) {
      if (c === '"' && text[at + 1] === '"') {
        cell += '"';
        at++;
      } else if (c === '"') quoted = false;
      else cell += c;
    } else if (c === '"' && cell === "") quoted = true;
    else if (c === separator) {
      row.push(cell);
      cell = "";
    } else if (c === "\n") {
      rows.push([...row, cell.replace(/\r$/, "")]);
      row = [];
      cell = "";
    } else cell += c;
  }
  if (quoted) fail(`${path}: a quoted value does not end`);
  if (cell !== "" || row.length > 0) rows.push([...row, cell]);
  const columns = (rows.shift() ?? fail(`${path} is empty`)).map((name) => name.trim());
  const twice = columns.filter((name, at) => columns.indexOf(name) !== at);
  if (twice.length > 0) fail(`${path}: column ${twice.join(", ")} occurs twice`);
  const filled = rows.filter((r) => r.some((value) => value.trim() !== ""));
  const odd = filled.filter((r) => r.length !== columns.length).length;
  return { columns, odd, rows: filled.map((r) => Object.fromEntries(columns.map((name, at) => [name, (r[at] ?? "").trim()]))) };
}
/** A number as written in tables: 1234.5, 1,234.5 or, with --decimal ",", 1.234,5; NaN for anything else. */
function number(text) {
  const plain = o.decimal === "," ? text.replace(/[.'’\s]/g, "").replace(",", ".") : text.replace(/[,'’\s]/g, "");
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain) ? Number(plain) : Number.NaN;
}
const compare = (a, b) => {
  const [x, y] = [number(a), number(b)];
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
};
const table = read(file);
const known = (name) => table.columns.includes(name) || fail(`no column "${name}"; there are: ${table.columns.join(", ")}`);
const tests = (o.where ?? []).map((text) => {
  const match = /^(.+?)\s*(!=|>=|<=|=|>|<|~)\s*(.*)$/.exec(text) ?? fail(`--where "${text}" is not COLUMN OPERATOR VALUE`);
  const [, column, operator, value] = match;
  known(column);
  return (row) => {
    if (operator === "~") return row[column].toLowerCase().includes(value.toLowerCase());
    if (operator === "=" || operator === "!=") return (compare(row[column], value) === 0) === (operator === "=");
    if (row[column] === "" || Number.isNaN(number(value)) !== Number.isNaN(number(row[column]))) return false;
    const d = compare(row[column], value);
    return operator === ">" ? d > 0 : operator === ">=" ? d >= 0 : operator === "<" ? d < 0 : d <= 0;
  };
});
let rows = table.rows.filter((row) => tests.every((test) => test(row)));
const round = (value) => Math.round(value * 1e6) / 1e6;
const sorted = (list) => {
  if (!o.sort) return list;
  const down = o.sort.startsWith("-");
  const name = o.sort.replace(/^-/, "");
  return list.toSorted((a, b) => (down ? -1 : 1) * compare(String(a[name] ?? ""), String(b[name] ?? "")));
};
function output(list, columns) {
  if (o.out) {
    const cell = (value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
    writeFileSync(o.out, `${[columns, ...list.map((row) => columns.map((name) => String(row[name] ?? "")))].map((r) => r.map(cell).join(",")).join("\n")}\n`);
    console.log(`${list.length} rows in ${o.out}`);
  } else {
    const shown = list.slice(0, Number(o.limit ?? 50));
    console.log(JSON.stringify(shown, null, 1));
    if (shown.length < list.length) console.error(`${shown.length} of ${list.length} rows shown (--limit)`);
  }
}

if (command === "look") {
  console.log(`${table.rows.length} rows, ${table.columns.length} columns${table.odd > 0 ? `, ${table.odd} rows with too many or too few values` : ""}`);
  for (const name of table.columns) {
    const all = table.rows.map((row) => row[name]);
    const some = all.filter((value) => value !== "");
    const numbers = some.map(number).filter((value) => !Number.isNaN(value));
    const distinct = new Set(some);
    const kind = some.length > 0 && numbers.length === some.length ? "number" : some.length > 0 && some.every((value) => /^\d{4}-\d\d-\d\d/.test(value)) ? "date" : numbers.length > some.length / 2 ? `number, ${some.length - numbers.length} are not (such as "${some.find((value) => Number.isNaN(number(value)))}")` : "text";
    const facts = kind === "number" ? `min ${numbers.reduce((a, b) => Math.min(a, b))} max ${numbers.reduce((a, b) => Math.max(a, b))} sum ${round(numbers.reduce((a, b) => a + b, 0))}` : kind === "date" ? `${some.reduce((a, b) => (a < b ? a : b))} to ${some.reduce((a, b) => (a > b ? a : b))}` : [...distinct].slice(0, 4).join(" | ").slice(0, 120);
    console.log(`${name}: ${kind}; ${all.length - some.length} empty; ${distinct.size} different; ${facts}`);
  }
} else if (command === "rows") {
  const columns = o.columns ? o.columns.split(",") : table.columns;
  columns.forEach(known);
  if (o.sort) known(o.sort.replace(/^-/, ""));
  output(sorted(rows).map((row) => Object.fromEntries(columns.map((name) => [name, row[name]]))), columns);
} else if (command === "group") {
  const by = (o.by ?? fail("--by is missing")).split(",");
  by.forEach(known);
  const measures = ["sum", "avg", "min", "max"].flatMap((kind) => (o[kind] ? o[kind].split(",").map((name) => ({ kind, name })) : []));
  for (const { name } of measures) known(name);
  const groups = new Map();
  for (const row of rows) {
    const key = JSON.stringify(by.map((name) => row[name]));
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  let skipped = 0;
  const list = [...groups].map(([key, members]) => {
    const result = Object.fromEntries(JSON.parse(key).map((value, at) => [by[at], value]));
    result.rows = members.length;
    for (const { kind, name } of measures) {
      const numbers = members.map((row) => number(row[name])).filter((value) => !Number.isNaN(value));
      skipped += members.length - numbers.length;
      const sum = numbers.reduce((a, b) => a + b, 0);
      result[`${kind} ${name}`] = numbers.length === 0 ? null : round(kind === "sum" ? sum : kind === "avg" ? sum / numbers.length : numbers.reduce((a, b) => (kind === "min" ? Math.min(a, b) : Math.max(a, b))));
    }
    return result;
  });
  output(sorted(list), [...by, "rows", ...measures.map(({ kind, name }) => `${kind} ${name}`)]);
  if (skipped > 0) console.error(`${skipped} values were no numbers and were left out`);
} else {
  const on = o.on ?? fail("--on is missing");
  known(on);
  const right = read(other ?? fail("the other file is missing"));
  if (!right.columns.includes(on)) fail(`${other} has no column "${on}"`);
  const partners = Map.groupBy(right.rows, (row) => row[on]);
  const twice = [...partners.values()].filter((list) => list.length > 1).length;
  const name = (column) => (column === on || !table.columns.includes(column) ? column : `${column} (${other})`);
  let alone = 0;
  rows = rows.flatMap((row) => {
    const found = partners.get(row[on]);
    if (!found) alone++;
    return (found ?? [{}]).map((partner) => ({ ...row, ...Object.fromEntries(right.columns.filter((column) => column !== on).map((column) => [name(column), partner[column] ?? ""])) }));
  });
  const keys = new Set(table.rows.map((row) => row[on]));
  console.error(`${alone} rows without a partner, ${right.rows.filter((row) => !keys.has(row[on])).length} rows of ${other} unused, ${twice} keys of ${other} occur more than once`);
  output(sorted(rows), [...table.columns, ...right.columns.filter((column) => column !== on).map(name)]);
}
