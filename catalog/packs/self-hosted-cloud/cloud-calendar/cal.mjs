// Calendars and contacts of a Nextcloud user over CalDAV and CardDAV. Run without arguments for the usage.
import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";

const usage = `usage:
  node cal.mjs calendars
  node cal.mjs events [--from YYYY-MM-DD] [--days 7] [--calendar NAME]
  node cal.mjs tasks [--calendar NAME]
  node cal.mjs add --calendar NAME --title TEXT --start "2026-03-10 14:00" [--end "2026-03-10 15:00" | --minutes 60] [--place TEXT] [--text TEXT] [--remind MINUTES]
  node cal.mjs add --calendar NAME --title TEXT --start 2026-03-10 [--end 2026-03-12]      whole days, the end is included
  node cal.mjs delete HREF --yes
  node cal.mjs contacts WORDS
Times are in the zone of --zone (default: TZ, else UTC).`;
const fail = (message, code = 1) => {
  console.error(message);
  process.exit(code);
};
const { values: o, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    from: { type: "string" },
    days: { type: "string", default: "7" },
    calendar: { type: "string" },
    title: { type: "string" },
    start: { type: "string" },
    end: { type: "string" },
    minutes: { type: "string", default: "60" },
    place: { type: "string" },
    text: { type: "string" },
    remind: { type: "string" },
    zone: { type: "string", default: process.env.TZ || "UTC" },
    yes: { type: "boolean", default: false },
  },
});
const [command, ...rest] = positionals;
if (!["calendars", "events", "tasks", "add", "delete", "contacts"].includes(command)) fail(usage, 2);
const base = (process.env.NEXTCLOUD_URL ?? fail("NEXTCLOUD_URL is not set")).replace(/\/$/, "");
const user = process.env.NEXTCLOUD_USER ?? "admin";
const authorization = `Basic ${Buffer.from(`${user}:${process.env.NEXTCLOUD_PASSWORD}`).toString("base64")}`;
async function dav(method, path, { headers = {}, body } = {}) {
  const response = await fetch(base + path, { method, headers: { authorization, "content-type": "application/xml; charset=utf-8", ...headers }, body, redirect: "manual", signal: AbortSignal.timeout(60_000) }).catch((error) => fail(`Nextcloud does not answer: ${error.cause?.code ?? error.message}`));
  const text = await response.text();
  return response.ok ? text : fail(`Nextcloud answered ${response.status}: ${/<s:message>([^<]*)/.exec(text)?.[1] ?? response.statusText}`);
}
const unescape = (text) => text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&quot;/g, '"').replace(/&#(x?)([0-9a-f]+);/gi, (_, hex, code) => String.fromCodePoint(parseInt(code, hex ? 16 : 10))).replace(/&amp;/g, "&");
const responses = (xml) => [...xml.matchAll(/<d:response>([\s\S]*?)<\/d:response>/g)].map(([, part]) => ({ part, href: unescape(/<d:href>([^<]*)/.exec(part)[1]) }));
const spaces = 'xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav" xmlns:card="urn:ietf:params:xml:ns:carddav"';

/** Wall clock of a zone to UTC and back. */
function offset(at, zone) {
  const parts = Object.fromEntries(new Intl.DateTimeFormat("en-GB", { timeZone: zone, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" }).formatToParts(at).map(({ type, value }) => [type, value]));
  return Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second) - at;
}
function instant(wall, zone) {
  const naive = Date.parse(`${wall.replace(" ", "T")}Z`);
  if (Number.isNaN(naive)) fail(`"${wall}" is no time such as 2026-03-10 14:00`);
  const guess = naive - offset(naive, zone);
  return naive - offset(guess, zone);
}
const wall = (at, zone = o.zone) => new Date(at + offset(at, zone)).toISOString().slice(0, 16).replace("T", " ");
const stamp = (at) => `${new Date(at).toISOString().replace(/[-:]/g, "").slice(0, 15)}Z`;
const nextDay = (day, days = 1) => new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);

async function calendars() {
  const text = await dav("PROPFIND", `/remote.php/dav/calendars/${encodeURIComponent(user)}/`, { headers: { depth: "1" }, body: `<?xml version="1.0"?><d:propfind ${spaces}><d:prop><d:displayname/><d:resourcetype/><c:supported-calendar-component-set/><d:current-user-privilege-set/></d:prop></d:propfind>` });
  return responses(text)
    .filter(({ part }) => /<cal:calendar\s*\/>|<c:calendar\s*\/>/.test(part))
    .map(({ part, href }) => ({ name: unescape(/<d:displayname>([^<]*)/.exec(part)?.[1] ?? href), href, kinds: [...part.matchAll(/comp name="(\w+)"/g)].map(([, kind]) => kind), writable: /<d:write(-content)?\s*\/>/.test(part) }));
}
async function chosen(kind) {
  const all = (await calendars()).filter(({ kinds }) => kinds.length === 0 || kinds.includes(kind));
  if (!o.calendar) return all;
  const found = all.filter(({ name, href }) => name.toLowerCase() === o.calendar.toLowerCase() || href.split("/").at(-2) === o.calendar);
  return found.length > 0 ? found : fail(`no calendar "${o.calendar}"; there are: ${all.map(({ name }) => name).join(", ")}`);
}

/** Components of an iCalendar text as lists of [name, parameters, value]. */
function components(text, kind) {
  const lines = text.replace(/\r/g, "").replace(/\n[ \t]/g, "").split("\n");
  const found = [];
  let current;
  let depth = 0;
  for (const line of lines) {
    if (line === `BEGIN:${kind}`) current = [];
    else if (line === `END:${kind}`) found.push(current), (current = undefined);
    else if (current && line.startsWith("BEGIN:")) depth++;
    else if (current && line.startsWith("END:")) depth--;
    else if (current && depth === 0) {
      const [, name, parameters, value] = /^([\w-]+)((?:;(?:"[^"]*"|[^":])*)*):(.*)$/.exec(line) ?? [];
      if (name) current.push([name, parameters, value]);
    }
  }
  return found.map((fields) => {
    const get = (name) => fields.find(([one]) => one === name);
    const plain = (name) => get(name)?.[2].replace(/\\n/gi, "\n").replace(/\\([,;\\])/g, "$1");
    const time = (name) => {
      const field = get(name);
      if (!field) return undefined;
      const [, y, m, d, hh, mm, , z] = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?/.exec(field[2]) ?? [];
      if (hh === undefined) return { day: `${y}-${m}-${d}` };
      const zone = z ? "UTC" : (/TZID="?([^";:]+)/.exec(field[1])?.[1] ?? o.zone);
      try {
        return { at: instant(`${y}-${m}-${d} ${hh}:${mm}`, zone) };
      } catch {
        return { at: instant(`${y}-${m}-${d} ${hh}:${mm}`, o.zone) };
      }
    };
    return { plain, time, repeats: get("RRULE") !== undefined || get("RECURRENCE-ID") !== undefined };
  });
}
const report = (href, filter, expand = "") =>
  dav("REPORT", href, { headers: { depth: "1" }, body: `<?xml version="1.0"?><c:calendar-query ${spaces}><d:prop><c:calendar-data>${expand}</c:calendar-data></d:prop><c:filter><c:comp-filter name="VCALENDAR">${filter}</c:comp-filter></c:filter></c:calendar-query>` });
const dataOf = (part) => unescape(/<(?:cal|c):calendar-data[^>]*>([\s\S]*?)<\/(?:cal|c):calendar-data>/.exec(part)?.[1] ?? "");

if (command === "calendars") for (const { name, kinds, writable } of await calendars()) console.log([name, kinds.join("+"), writable ? "" : "read-only"].filter(Boolean).join(" | "));
else if (command === "events") {
  const from = o.from ?? wall(Date.now()).slice(0, 10);
  const [start, end] = [instant(`${from} 00:00`, o.zone), instant(`${nextDay(from, Number(o.days))} 00:00`, o.zone)];
  const range = `start="${stamp(start)}" end="${stamp(end)}"`;
  const rows = [];
  for (const { name, href } of await chosen("VEVENT"))
    for (const { part, href: event } of responses(await report(href, `<c:comp-filter name="VEVENT"><c:time-range ${range}/></c:comp-filter>`, `<c:expand ${range}/>`)))
      for (const one of components(dataOf(part), "VEVENT")) {
        const [begin, finish] = [one.time("DTSTART"), one.time("DTEND")];
        if (!begin) continue;
        const last = finish?.day && nextDay(finish.day, -1);
        rows.push({ sort: begin.day ?? wall(begin.at), line: [begin.day ? `${begin.day}${last && last !== begin.day ? ` to ${last}` : ""} (whole day)` : `${wall(begin.at)}${finish?.at ? ` to ${wall(finish.at).slice(wall(finish.at).slice(0, 10) === wall(begin.at).slice(0, 10) ? 11 : 0)}` : ""}`, one.plain("SUMMARY") ?? "(no title)", one.plain("LOCATION"), one.plain("STATUS") === "CANCELLED" && "CANCELLED", one.repeats && "repeats", name].filter(Boolean).join(" | "), href: event });
      }
  for (const { line, href } of rows.sort((a, b) => a.sort.localeCompare(b.sort))) console.log(`${line}\n    ${href}`);
  if (rows.length === 0) console.log("no events");
} else if (command === "tasks") {
  for (const { name, href } of await chosen("VTODO"))
    for (const { part, href: task } of responses(await report(href, '<c:comp-filter name="VTODO"/>')))
      for (const one of components(dataOf(part), "VTODO")) {
        if (["COMPLETED", "CANCELLED"].includes(one.plain("STATUS"))) continue;
        const due = one.time("DUE");
        console.log(`${[one.plain("SUMMARY"), due && `due ${due.day ?? wall(due.at)}`, name].filter(Boolean).join(" | ")}\n    ${task}`);
      }
} else if (command === "add") {
  if (!o.title || !o.start || !o.calendar) fail(usage, 2);
  const [calendar] = await chosen("VEVENT");
  const whole = /^\d{4}-\d\d-\d\d$/.test(o.start);
  const escape = (text) => text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n").replace(/([,;])/g, "\\$1");
  const start = whole ? o.start : instant(o.start, o.zone);
  const end = whole ? nextDay(o.end ?? o.start) : o.end ? instant(o.end, o.zone) : start + Number(o.minutes) * 60_000;
  if (!(end > start)) fail("the end must come after the start");
  const uid = randomUUID();
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//stack//agent//EN",
    "BEGIN:VEVENT",
    `UID:${uid}`,
    `DTSTAMP:${stamp(Date.now())}`,
    whole ? `DTSTART;VALUE=DATE:${start.replaceAll("-", "")}` : `DTSTART:${stamp(start)}`,
    whole ? `DTEND;VALUE=DATE:${end.replaceAll("-", "")}` : `DTEND:${stamp(end)}`,
    `SUMMARY:${escape(o.title)}`,
    ...(o.place ? [`LOCATION:${escape(o.place)}`] : []),
    ...(o.text ? [`DESCRIPTION:${escape(o.text)}`] : []),
    ...(o.remind ? ["BEGIN:VALARM", "ACTION:DISPLAY", `DESCRIPTION:${escape(o.title)}`, `TRIGGER:-PT${Number(o.remind)}M`, "END:VALARM"] : []),
    "END:VEVENT",
    "END:VCALENDAR",
  ];
  // RFC 5545: lines of at most 75 bytes; the continuation begins with a space.
  const folded = lines.map((line) => [...line].reduce((text, c) => (Buffer.byteLength(text.slice(text.lastIndexOf("\n") + 1) + c) > 74 ? `${text}\r\n ${c}` : text + c), "")).join("\r\n");
  await dav("PUT", `${calendar.href}${uid}.ics`, { headers: { "content-type": "text/calendar; charset=utf-8", "if-none-match": "*" }, body: `${folded}\r\n` });
  console.log(`${calendar.name}: ${o.title}, ${whole ? `${o.start} to ${o.end ?? o.start}` : `${wall(start)} to ${wall(end)} (${o.zone})`}\n    ${calendar.href}${uid}.ics`);
} else if (command === "delete") {
  const href = rest[0] ?? fail(usage, 2);
  if (!/^\/remote\.php\/dav\/calendars\/.+\.ics$/.test(href)) fail("HREF is the path that events or tasks print below an entry");
  if (!o.yes) fail("add --yes after the user has agreed; a repeating event goes as a whole");
  await dav("DELETE", href);
  console.log(`deleted ${href}`);
} else {
  if (rest.length === 0) fail(usage, 2);
  const words = rest.join(" ").replace(/&/g, "&amp;").replace(/</g, "&lt;");
  const books = responses(await dav("PROPFIND", `/remote.php/dav/addressbooks/users/${encodeURIComponent(user)}/`, { headers: { depth: "1" }, body: `<?xml version="1.0"?><d:propfind ${spaces}><d:prop><d:resourcetype/></d:prop></d:propfind>` })).filter(({ part }) => /<card:addressbook\s*\/>/.test(part));
  const match = (name) => `<card:prop-filter name="${name}"><card:text-match collation="i;unicode-casemap" match-type="contains">${words}</card:text-match></card:prop-filter>`;
  for (const { href } of books)
    for (const { part } of responses(await dav("REPORT", href, { headers: { depth: "1" }, body: `<?xml version="1.0"?><card:addressbook-query ${spaces}><d:prop><card:address-data/></d:prop><card:filter test="anyof">${match("FN")}${match("EMAIL")}${match("ORG")}</card:filter></card:addressbook-query>` }))) {
      const card = unescape(/<card:address-data[^>]*>([\s\S]*?)<\/card:address-data>/.exec(part)?.[1] ?? "").replace(/\r/g, "").replace(/\n[ \t]/g, "");
      const values = (name) => [...card.matchAll(new RegExp(`^(?:[\\w-]+\\.)?${name}(?:;[^:\\n]*)?:(.*)$`, "gim"))].map(([, value]) => value.replace(/\\([,;\\])/g, "$1").replace(/;+$/, ""));
      console.log([values("FN")[0], values("ORG")[0], ...values("EMAIL"), ...values("TEL")].filter(Boolean).join(" | "));
    }
}
