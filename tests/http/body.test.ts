import { expect, test } from "bun:test";
import { jsonErrorPosition } from "../../lib/http/body.ts";

test.each([
  ["{", 1, 2],
  ['{"a" 1}', 1, 6],
  ['{"a":1,}', 1, 8],
  ["[1,\n 2,\n x]", 3, 2],
  ['{"a":"b\nc"}', 1, 8],
  ['{"a":"\\x"}', 1, 8],
  ["[01]", 1, 3],
  ["tru", 1, 4],
  ["{} x", 1, 4],
  ['{"a":-}', 1, 7],
  ["{a:1}", 1, 2],
])("%j stops being JSON at line %d, column %d", (text, line, column) => {
  expect(() => JSON.parse(text)).toThrow();
  expect(jsonErrorPosition(text)).toEqual({ line, column });
});

test("nesting of any depth is measured", () => {
  expect(jsonErrorPosition("[".repeat(60_000))).toEqual({ line: 1, column: 60_001 });
});
