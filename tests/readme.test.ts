/** The README's curl lines, as they stand there, against a started server. */
import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { root, run, start } from "./support.ts";

const client = start();
const folder = await mkdtemp(`${tmpdir()}/stackwright-readme-`);
afterAll(async () => {
  await client.server.stop();
  await rm(folder, { recursive: true, force: true });
});

const readme = await Bun.file(`${root}/README.md`).text();
const lines = Array.from(readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm), (match) => (match[1] as string).split("\n"))
  .flat()
  .filter((line) => line.startsWith("curl "));

test("there are some, and the last makes a stack", () => {
  expect(lines.length).toBeGreaterThan(2);
  expect(lines.at(-1)).toContain("| tar -xz");
});

test.each(lines)("%s", async (line) => {
  const { code, stdout, stderr } = await run(["bash", "-o", "pipefail", "-c", line.replace("http://localhost:3000", client.url)], {
    cwd: folder,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  if (line.includes("| tar")) expect((await stat(`${folder}/my-stack/scripts/start.sh`)).mode & 0o777).toBe(0o755);
  else expect(JSON.parse(stdout).ok).toBe(true);
});
