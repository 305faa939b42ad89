// Works on subtitles (SRT and WebVTT).
//   node subs.mjs split FILE > texts.json          numbered texts for translation
//   node subs.mjs join FILE TEXTS.json > NEW       the times of FILE with other texts; the format follows FILE
//   node subs.mjs check FILE [MAX-PER-LINE]        reading speed, line length, overlaps
//   node subs.mjs shift FILE SECONDS > NEW         all times later (or earlier: negative)
import { readFileSync } from "node:fs";

const [command, file, extra] = process.argv.slice(2);
const fail = (text) => {
  console.error(text);
  process.exit(2);
};
if (!["split", "join", "check", "shift"].includes(command) || !file) fail("usage: node subs.mjs split FILE | join FILE TEXTS.json | check FILE [MAX] | shift FILE SECONDS");

const text = readFileSync(file, "utf8").replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
const vtt = text.startsWith("WEBVTT");
const seconds = (time) => time.replace(",", ".").split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
function stamp(value) {
  const ms = Math.max(0, Math.round(value * 1000));
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}${vtt ? "." : ","}${String(ms % 1000).padStart(3, "0")}`;
}
const head = [];
const cues = [];
for (const block of text.split(/\n{2,}/)) {
  const lines = block.replace(/^\n+/, "").split("\n");
  const at = lines.findIndex((line) => line.includes("-->"));
  if (at < 0) {
    if (cues.length === 0 && vtt && block.trim()) head.push(block);
    continue;
  }
  const match = /([\d:.,]+)\s*-->\s*([\d:.,]+)(.*)/.exec(lines[at]);
  cues.push({ from: seconds(match[1]), to: seconds(match[2]), settings: match[3], text: lines.slice(at + 1).join("\n").trim() });
}
if (cues.length === 0) fail(`${file}: no subtitles found`);
const print = () => {
  const blocks = cues.map((cue, at) => `${vtt ? "" : `${at + 1}\n`}${stamp(cue.from)} --> ${stamp(cue.to)}${cue.settings}\n${cue.text}`);
  console.log([...(vtt ? (head.length > 0 ? head : ["WEBVTT"]) : []), ...blocks].join("\n\n"));
};

if (command === "split") {
  console.log(JSON.stringify(Object.fromEntries(cues.map((cue, at) => [at + 1, cue.text])), null, 1));
} else if (command === "join") {
  const texts = JSON.parse(readFileSync(extra ?? fail("TEXTS.json is missing"), "utf8"));
  const gaps = cues.map((_, at) => at + 1).filter((n) => typeof texts[n] !== "string" || texts[n].trim() === "");
  if (gaps.length > 0) fail(`no text for ${gaps.join(", ")}`);
  const surplus = Object.keys(texts).filter((n) => !(Number(n) >= 1 && Number(n) <= cues.length));
  if (surplus.length > 0) fail(`no subtitle for ${surplus.join(", ")}`);
  cues.forEach((cue, at) => (cue.text = texts[at + 1].trim()));
  print();
} else if (command === "shift") {
  const by = Number(extra);
  if (!Number.isFinite(by)) fail("SECONDS is missing");
  for (const cue of cues) {
    cue.from += by;
    cue.to += by;
  }
  print();
} else {
  const max = Number(extra ?? 42);
  let remarks = 0;
  const say = (at, what) => {
    remarks++;
    console.log(`${at + 1} ${stamp(cues[at].from)}: ${what}`);
  };
  cues.forEach((cue, at) => {
    const plain = cue.text.replace(/<[^>]+>|\{\\[^}]*\}/g, "");
    const lines = plain.split("\n");
    const duration = cue.to - cue.from;
    const speed = plain.replace(/\n/g, "").length / duration;
    if (duration <= 0) say(at, "ends before it begins");
    else if (speed > 20) say(at, `${speed.toFixed(0)} characters a second (at most about 17 to 20)`);
    if (lines.length > 2) say(at, `${lines.length} lines`);
    const longest = Math.max(...lines.map((line) => line.length));
    if (longest > max) say(at, `a line of ${longest} characters (at most ${max})`);
    if (at > 0 && cue.from < cues[at - 1].to - 0.001) say(at, "overlaps the one before");
    if (duration > 7) say(at, `${duration.toFixed(1)} s long`);
  });
  console.log(`${cues.length} subtitles, ${remarks} remarks`);
  process.exitCode = remarks > 0 ? 1 : 0;
}
