/** `scripts/stop.sh` against an engine that errs: a stand-in for `docker` on the `PATH`. */
import { afterAll, expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { root, run } from "../support.ts";

const work = await mkdtemp(`${tmpdir()}/stackwright-stop-`);
afterAll(() => rm(work, { recursive: true }));

/** Runs `stop.sh` where the first `failures` attempts to take the stack down fail, and `left` is what remains of it. */
async function stop(failures: number, left = "") {
  const folder = await mkdtemp(`${work}/stack-`);
  await mkdir(`${folder}/scripts`);
  await mkdir(`${folder}/bin`);
  for (const name of ["stop.sh", "common.sh"]) {
    await Bun.write(`${folder}/scripts/${name}`, Bun.file(`${root}/templates/scripts/${name}`));
    await chmod(`${folder}/scripts/${name}`, 0o755);
  }
  await Bun.write(`${folder}/.env`, "TZ=UTC\n");
  await Bun.write(
    `${folder}/bin/docker`,
    `#!/bin/sh
[ "$2" != ps ] || { [ "${left}" != "no engine" ] || exit 1; echo "${left}"; }
[ "$2" = down ] || exit 0
echo "$*" >>"${folder}/attempts"
if [ "$(wc -l <"${folder}/attempts")" -le ${failures} ]; then
  echo 'error while removing network: network stack_default has active endpoints' >&2
  exit 1
fi
`,
  );
  await chmod(`${folder}/bin/docker`, 0o755);
  const { code, stdout, stderr } = await run([`${folder}/scripts/stop.sh`], { env: { PATH: `${folder}/bin:${process.env.PATH}` } });
  return { code, stdout, stderr, attempts: (await Bun.file(`${folder}/attempts`).text()).trim().split("\n").length };
}

test("asks again when the engine has not let go of the network yet", async () => {
  expect(await stop(1)).toMatchObject({ code: 0, attempts: 2, stdout: expect.stringContaining("stopped") });
});

test("goes on when nothing but the network is left", async () => {
  const { code, stdout, stderr, attempts } = await stop(9);
  expect({ code, attempts }).toEqual({ code: 0, attempts: 2 });
  expect(stderr).toContain("active endpoints");
  expect(stdout).toContain("stopped");
});

test.each(["0123456789ab", "no engine"])("fails with the engine's own words when what is left is: %s", async (left) => {
  const { code, stdout, stderr, attempts } = await stop(9, left);
  expect({ code: code !== 0, attempts }).toEqual({ code: true, attempts: 2 });
  expect(stderr).toContain("active endpoints");
  expect(stdout).not.toContain("stopped");
});
