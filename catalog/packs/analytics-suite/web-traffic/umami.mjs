// Reads statistics from Umami 3. Run without arguments for the usage.
import { parseArgs } from "node:util";

const usage = `usage:
  node umami.mjs sites
  node umami.mjs stats SITE    [--days 7] [--from YYYY-MM-DD --to YYYY-MM-DD] [--path /x] [--country CH] ...
  node umami.mjs days SITE     views and visits per day (or per hour for up to 2 days)
  node umami.mjs top SITE KIND [--limit 15]    path entry exit referrer domain title query event channel browser os device country city utmSource utmMedium utmCampaign
  node umami.mjs now SITE      visitors of the last minutes
SITE is a name, a domain or an id. Days are counted in the zone of --zone (default: TZ, else UTC).`;
const fail = (message, code = 1) => {
  console.error(message);
  process.exit(code);
};
const filters = ["path", "referrer", "title", "hostname", "country", "city", "browser", "os", "device", "event"];
const { values: o, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    days: { type: "string", default: "7" },
    from: { type: "string" },
    to: { type: "string" },
    limit: { type: "string", default: "15" },
    zone: { type: "string", default: process.env.TZ || "UTC" },
    ...Object.fromEntries(filters.map((name) => [name, { type: "string" }])),
  },
});
const [command, site, kind] = positionals;
if (!["sites", "stats", "days", "top", "now"].includes(command) || (command !== "sites" && !site) || (command === "top" && !kind)) fail(usage, 2);
const base = `${(process.env.UMAMI_URL ?? fail("UMAMI_URL is not set")).replace(/\/$/, "")}/api`;
let token;
async function call(path, query, body) {
  const address = new URL(base + path);
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) address.searchParams.set(name, value);
  const response = await fetch(address, {
    method: body ? "POST" : "GET",
    headers: { "content-type": "application/json", accept: "application/json", ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  }).catch((error) => fail(`Umami does not answer: ${error.cause?.code ?? error.message}`));
  if (response.ok) return response.json();
  const text = await response.text();
  return fail(response.status === 401 && !token ? "login refused: the password in .env counts for the first start; if it was changed in Umami, change it there" : `Umami answered ${response.status}: ${text.slice(0, 300)}`);
}

/** Midnight of a day in a time zone, in milliseconds. */
function midnight(day, zone) {
  const guess = Date.parse(`${day}T00:00:00Z`);
  const parts = Object.fromEntries(new Intl.DateTimeFormat("en-GB", { timeZone: zone, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" }).formatToParts(guess).map(({ type, value }) => [type, value]));
  return guess - (Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second) - guess);
}
const today = new Intl.DateTimeFormat("en-CA", { timeZone: o.zone }).format(Date.now());
const shift = (day, days) => new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
const from = o.from ?? shift(o.to ?? today, -Number(o.days) + (o.to ? 1 : 0));
const to = o.to ?? (o.from ? today : shift(today, -1));
if (![from, to].every((day) => /^\d{4}-\d\d-\d\d$/.test(day)) || from > to) fail("--from and --to are days such as 2026-03-01");
const span = { startAt: midnight(from, o.zone), endAt: midnight(shift(to, 1), o.zone) - 1 };
const chosen = Object.fromEntries(filters.map((name) => [name, o[name]]));

({ token } = await call("/auth/login", {}, { username: process.env.UMAMI_USER ?? "admin", password: process.env.UMAMI_PASSWORD }));
const sites = (await call("/websites", { pageSize: 200, includeTeams: true })).data;
if (command === "sites") {
  for (const { id, name, domain } of sites) console.log([id, name, domain].join(" | "));
  if (sites.length === 0) console.log("no website yet: add one in Umami and put its script into the pages");
} else {
  const found = sites.filter(({ id, name, domain }) => [id, name, domain].some((text) => text?.toLowerCase() === site.toLowerCase()));
  const { id, name } = found.length === 1 ? found[0] : fail(`${found.length === 0 ? "no" : "more than one"} website "${site}"; there are: ${sites.map((one) => `${one.name} (${one.domain})`).join(", ")}`);
  const head = `${name}, ${from} to ${to} (${o.zone})${Object.entries(chosen).filter(([, value]) => value).map(([key, value]) => `, ${key}=${value}`).join("")}`;
  if (command === "now") console.log((await call(`/websites/${id}/active`)).visitors, "visitors in the last minutes");
  else if (command === "stats") {
    const now = await call(`/websites/${id}/stats`, { ...span, ...chosen });
    const before = now.comparison ?? {};
    const of = (stats, field) => Number(stats[field]?.value ?? stats[field] ?? 0);
    const derived = (stats) => ({
      visitors: of(stats, "visitors"),
      visits: of(stats, "visits"),
      views: of(stats, "pageviews"),
      viewsPerVisit: of(stats, "visits") ? Math.round((of(stats, "pageviews") / of(stats, "visits")) * 100) / 100 : 0,
      bouncePercent: of(stats, "visits") ? Math.round((of(stats, "bounces") / of(stats, "visits")) * 100) : 0,
      secondsPerVisit: of(stats, "visits") ? Math.round(of(stats, "totaltime") / of(stats, "visits")) : 0,
    });
    const [a, b] = [derived(now), derived(before)];
    console.log(head);
    console.table(Object.keys(a).map((field) => ({ figure: field, now: a[field], before: b[field], changePercent: b[field] ? Math.round((a[field] / b[field] - 1) * 100) : null })));
  } else if (command === "days") {
    const unit = span.endAt - span.startAt <= 2 * 86_400_000 ? "hour" : "day";
    const { pageviews, sessions } = await call(`/websites/${id}/pageviews`, { ...span, ...chosen, unit, timezone: o.zone });
    const visits = new Map(sessions.map(({ x, y }) => [x, y]));
    console.log(head);
    for (const { x, y } of pageviews) console.log([String(x).slice(0, unit === "day" ? 10 : 16), `views ${y}`, `visitors ${visits.get(x) ?? 0}`].join(" | "));
  } else {
    const rows = await call(`/websites/${id}/metrics`, { ...span, ...chosen, type: kind, limit: o.limit });
    const sum = rows.reduce((total, { y }) => total + Number(y), 0);
    console.log(`${head}, ${kind}`);
    for (const { x, y } of rows) console.log(`${String(y).padStart(7)}  ${sum ? Math.round((y / sum) * 100) : 0} %  ${x || "(none)"}`);
  }
}
