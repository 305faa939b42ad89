/** `scripts/start.sh --env-only`: how secrets come to be, with every shell of this machine that people have. */
import { afterAll, describe, expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { root, run } from "../support.ts";

const work = await mkdtemp(`${tmpdir()}/stackwright-env-`);
afterAll(() => rm(work, { recursive: true }));

const example = `# A setting.
TZ=UTC

# A sentence.
QUOTED='two words'

# A password.
# generate: hex 64
PASSWORD=

# generate: hex 33
ODD=

# generate: alnum 32
LETTERS=

# generate: base64 32 base64:
APP_KEY=

# generate: base64 32
KEY=

# generate: uuid 64
ID=
`;

const shells = [["sh"], ["dash"], ["bash"], ["busybox", "sh"], ["zsh", "--emulate", "sh"]].filter(([name]) => Bun.which(name as string));

async function folder(text = example): Promise<string> {
  const path = await mkdtemp(`${work}/stack-`);
  await mkdir(`${path}/scripts`);
  for (const name of ["start.sh", "common.sh"]) {
    await Bun.write(`${path}/scripts/${name}`, Bun.file(`${root}/templates/scripts/${name}`));
    await chmod(`${path}/scripts/${name}`, 0o755);
  }
  await Bun.write(`${path}/.env.example`, text);
  return path;
}

async function environment(path: string): Promise<Record<string, string>> {
  const text = await Bun.file(`${path}/.env`).text();
  return Object.fromEntries(
    text
      .trim()
      .split("\n")
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
}

describe.each(shells)("with %s", (...shell) => {
  const start = (path: string, env: Record<string, string> = {}) =>
    run([...shell, `${path}/scripts/start.sh`, "--env-only"], { cwd: "/", env });

  test("fills in every secret in its format, and keeps settings", async () => {
    const path = await folder();
    expect(await start(path)).toMatchObject({ code: 0, stderr: "" });
    const env = await environment(path);
    expect(env.TZ).toBe("UTC");
    expect(env.QUOTED).toBe("'two words'");
    expect(env.PASSWORD).toMatch(/^[0-9a-f]{64}$/);
    expect(env.ODD).toMatch(/^[0-9a-f]{33}$/);
    expect(env.LETTERS).toMatch(/^[A-Za-z0-9]{32}$/);
    expect(env.APP_KEY).toMatch(/^base64:[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(env.KEY as string, "base64").byteLength).toBe(32);
    expect(env.ID).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test("is readable by its owner alone", async () => {
    const path = await folder();
    await start(path);
    expect((await stat(`${path}/.env`)).mode & 0o777).toBe(0o600);
  });

  test("a second run changes nothing", async () => {
    const path = await folder();
    await start(path);
    const before = await Bun.file(`${path}/.env`).text();
    expect((await start(path)).code).toBe(0);
    expect(await Bun.file(`${path}/.env`).text()).toBe(before);
  });

  test("what the user wrote stays, what is new is added, what is empty is filled in", async () => {
    const path = await folder();
    await Bun.write(`${path}/.env`, "# mine\nTZ=Europe/Berlin\nPASSWORD=own|&\\value$x\nODD=\nEXTRA=1");
    await start(path);
    const text = await Bun.file(`${path}/.env`).text();
    const env = await environment(path);
    expect(text).toStartWith("# mine\nTZ=Europe/Berlin\n");
    expect(env.PASSWORD).toBe("own|&\\value$x");
    expect(env.EXTRA).toBe("1");
    expect(env.ODD).toMatch(/^[0-9a-f]{33}$/);
    expect(text.match(/^ODD=/gm)?.length).toBe(1);
    expect(env.KEY).toBeDefined();
    expect((await stat(`${path}/.env`)).mode & 0o777).toBe(0o600);
  });

  test("two stacks have different secrets", async () => {
    const [a, b] = [await folder(), await folder()];
    await start(a);
    await start(b);
    const [first, second] = [await environment(a), await environment(b)];
    for (const name of ["PASSWORD", "ODD", "LETTERS", "APP_KEY", "KEY", "ID"]) expect(first[name]).not.toBe(second[name]);
  });

  test("openssl is not needed", async () => {
    const path = await folder();
    const bin = await mkdtemp(`${work}/bin-`);
    await Bun.write(`${bin}/openssl`, "#!/bin/sh\nexit 127\n");
    await chmod(`${bin}/openssl`, 0o755);
    expect((await start(path, { PATH: `${bin}:${process.env.PATH}` })).code).toBe(0);
    expect((await environment(path)).PASSWORD).toMatch(/^[0-9a-f]{64}$/);
  });
});

test("characters of every kind occur, each about as often", async () => {
  const names = Array.from({ length: 40 }, (_, index) => `# generate: alnum 256\nSECRET_${index}=`).join("\n");
  const path = await folder(`${names}\n`);
  await run(["sh", `${path}/scripts/start.sh`, "--env-only"]);
  const counts = new Map<string, number>();
  for (const char of Object.values(await environment(path)).join("")) counts.set(char, (counts.get(char) ?? 0) + 1);
  expect(counts.size).toBe(62);
  for (const count of counts.values()) {
    expect(count).toBeGreaterThan(90);
    expect(count).toBeLessThan(260);
  }
});
