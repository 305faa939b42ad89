import { afterAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { packBundle } from "../../lib/archive/bundle.ts";
import { encodeTar, entryTime, splitPath } from "../../lib/archive/tar.ts";
import { run } from "../support.ts";

const work = await mkdtemp(`${tmpdir()}/stackwright-tar-`);
afterAll(() => rm(work, { recursive: true }));

const long = `${"folder/".repeat(20)}${"n".repeat(95)}.md`;
const entries = [
  { path: "stack/README.md", content: "hello\n", mode: 0o644 },
  { path: "stack/scripts/start.sh", content: "#!/bin/sh\n", mode: 0o755 },
  { path: "stack/empty", content: "", mode: 0o644 },
  { path: "stack/block", content: "x".repeat(512), mode: 0o644 },
  { path: "stack/ümläut — 漢字.txt", content: "ünïcode ✓\n", mode: 0o644 },
  { path: "stack/bytes", content: new Uint8Array([0, 255, 10]), mode: 0o600 },
  { path: `stack/${long}`, content: "deep\n", mode: 0o644 },
];
const archive = encodeTar(entries);
await Bun.write(`${work}/a.tar`, archive);

/** Tar programs of this machine; GNU tar is everywhere, the others where they are installed. */
const programs = [["tar"], ["bsdtar"], ["busybox", "tar"]].filter(([name]) => Bun.which(name as string));

describe.each(programs)("%s", (...program) => {
  test("extracts every file with its content and mode", async () => {
    const target = await mkdtemp(`${work}/out-`);
    const { code, stderr } = await run([...program, "-xpf", `${work}/a.tar`, "-C", target]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const { path, content, mode } of entries) {
      const file = Bun.file(`${target}/${path}`);
      expect(await file.bytes()).toEqual(typeof content === "string" ? new TextEncoder().encode(content) : content);
      expect((await stat(`${target}/${path}`)).mode & 0o777).toBe(mode);
    }
  });

  test("lists the paths in order", async () => {
    const { stdout } = await run([...program, "-tf", `${work}/a.tar`], { env: { LC_ALL: "C.UTF-8" } });
    const listed = stdout.trim().split("\n");
    expect(listed.length).toBe(entries.length);
    expect(listed.at(-1)).toBe(`stack/${long}`);
  });
});

describe("an archive", () => {
  test("is whole blocks, ends with two empty ones, and has a fixed owner and time", async () => {
    expect(archive.byteLength % 512).toBe(0);
    expect(archive.subarray(-1024).every((byte) => byte === 0)).toBe(true);
    const { stdout } = await run(["tar", "--numeric-owner", "--utc", "--full-time", "-tvf", `${work}/a.tar`]);
    for (const line of stdout.trim().split("\n")) expect(line).toContain(`0/0`);
    expect(stdout).toContain(new Date(entryTime * 1000).toISOString().slice(0, 10));
  });

  test("of no files is two empty blocks", () => {
    expect(encodeTar([])).toEqual(new Uint8Array(1024));
  });

  test("of the same files has the same bytes, gzipped too", () => {
    const files = [
      { path: "a", content: "text" },
      { path: "b.sh", content: "#!/bin/sh\n", executable: true },
    ];
    expect(packBundle("stack", files)).toEqual(packBundle("stack", files));
  });
});

describe("paths", () => {
  test("of up to 100 bytes stand in the name alone", () => {
    expect(splitPath("a".repeat(100))).toEqual({ prefix: "", name: "a".repeat(100) });
  });
  test("longer ones are split at a slash", () => {
    const path = `${"d".repeat(155)}/${"n".repeat(100)}`;
    expect(splitPath(path)).toEqual({ prefix: "d".repeat(155), name: "n".repeat(100) });
  });
  test("that no split can hold are refused, naming the path", () => {
    for (const path of ["n".repeat(101), `${"d".repeat(156)}/n`, `a/${"ü".repeat(51)}`]) expect(() => splitPath(path)).toThrow(`"${path}"`);
  });
  test("that leave the root are refused", () => {
    for (const path of ["", "/etc/passwd", "a/../../b"]) expect(() => splitPath(path)).toThrow(RangeError);
  });
});
