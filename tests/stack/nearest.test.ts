import { expect, test } from "bun:test";
import { nearest } from "../../lib/stack/nearest.ts";

const known = ["redis", "postgresql", "qdrant", "n8n", "open-webui", "home-assistant"];

test.each([
  ["redsi", "redis"],
  ["Redis", "redis"],
  ["postgres", "postgresql"],
  ["quadrant", "qdrant"],
  ["openwebui", "open-webui"],
  ["assistant", "home-assistant"],
])("%s was meant to be %s", (word, meant) => expect(nearest(word, known)).toBe(meant));

test.each(["zzz", "", "__proto__", "x".repeat(5000)])("nothing is near %s", (word) => expect(nearest(word, known)).toBeUndefined());
