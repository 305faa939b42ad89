import { describe, expect, test } from "bun:test";
import { parse } from "yaml";
import { printMapping } from "../../lib/render/yaml.ts";

const strings = [
  "",
  " ",
  "plain",
  "yes",
  "no",
  "On",
  "off",
  "y",
  "N",
  "true",
  "null",
  "~",
  "NaN",
  ".nan",
  ".inf",
  "0",
  "012",
  "0x1f",
  "0o7",
  "1e3",
  "1_000",
  "12:30:45",
  "3.0",
  "-1",
  "+1",
  "2026-01-01",
  "a: b",
  "a:",
  "key: value #x",
  "# comment",
  "a #b",
  "- item",
  "-",
  "?",
  "? x",
  "!tag",
  "&anchor",
  "*alias",
  "%x",
  "@x",
  "`x`",
  "|",
  ">",
  "[x]",
  "{x}",
  "a, b",
  "'x'",
  '"x"',
  "tab\there",
  "line\nbreak",
  "trailing ",
  " leading",
  "back\\slash",
  "ünï ✓ 😀",
  "\u0000",
  "\u2028",
  "${X:?y}",
  "$$HOME",
  "127.0.0.1:80:80",
  "http://a:1/b",
  "=",
  "<<",
  "...",
  "---",
  "./x",
  "../x",
  "/a b",
];

describe("printMapping", () => {
  test("every string survives, read as YAML 1.1 and 1.2", () => {
    const value = { list: strings, map: Object.fromEntries(strings.map((text, index) => [`k${index}`, text])), test: strings };
    for (const version of ["1.1", "1.2"] as const) expect(parse(printMapping(value, ""), { version })).toEqual(value);
  });

  test("keys are quoted where they must be", () => {
    const value = Object.fromEntries(strings.filter((text) => text !== "<<").map((text, index) => [text, index]));
    expect(parse(printMapping(value, ""))).toEqual(value);
  });

  test("nests mappings and sequences, and leaves out what is undefined", () => {
    const value = { a: { b: [{ c: 1, d: [true, null] }, [], {}, ["x", { y: "z" }]], gone: undefined }, e: {}, f: [] };
    const { gone, ...kept } = value.a;
    expect(gone).toBeUndefined();
    expect(parse(printMapping(value, ""))).toEqual({ ...value, a: kept });
  });
});
