/** The life of one stack: databases with their own roles, backup, loss, restore, update, stop, start, growth, a sick companion. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { must, run } from "../support.ts";
import { localPorts, type Stack, unpack } from "./engine.ts";

const minutes = 60_000;
const request = { name: "Proof of life", services: ["n8n", "redis", "mariadb", "uptime-kuma"], proxy: "caddy", domain: "life.example.org" };
let stack: Stack;

beforeAll(async () => {
  stack = await unpack(request, { interval: 2 });
  await stack.set(localPorts);
  const { code, stdout, stderr } = await stack.script("start");
  if (code !== 0) throw new Error(`${stdout}\n${stderr}`);
}, 15 * minutes);
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
}, 3 * minutes);

const exec = (container: string, script: string, env: Record<string, string> = {}) =>
  run(
    [
      "docker",
      "compose",
      "exec",
      "-T",
      ...Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]),
      container,
      "sh",
      "-c",
      script,
    ],
    { cwd: stack.folder },
  );
const redis = async (command: string) => (await exec("redis", `redis-cli ${command}`)).stdout.trim();
const sql = async (statement: string, database = "n8n") =>
  (await exec("postgresql", `psql -U postgres -d ${database} -qAtc "${statement}"`)).stdout.trim();

test(".env is its owner's alone", async () => {
  expect((await must(["stat", "-c", "%a", `${stack.folder}/.env`])).trim()).toBe("600");
});

describe("TLS", () => {
  test("the certificate is signed by Caddy's own authority, for the name", async () => {
    await must(["docker", "compose", "cp", "caddy:/data/caddy/pki/authorities/local/root.crt", `${stack.folder}/root.crt`], {
      cwd: stack.folder,
    });
    const body = await must([
      "curl",
      "-s",
      "--cacert",
      `${stack.folder}/root.crt`,
      "--resolve",
      "life.example.org:18443:127.0.0.1",
      "https://life.example.org:18443/healthz",
    ]);
    expect(JSON.parse(body)).toEqual({ ok: true, status: "live" });
  });
});

describe("passwords", () => {
  test("Redis refuses who has none, and takes the stack's", async () => {
    expect((await exec("redis", "redis-cli ping", { REDISCLI_AUTH: "" })).stdout).toContain("NOAUTH");
    expect(await redis("ping")).toBe("PONG");
  });

  test("PostgreSQL refuses who has none or a wrong one, and takes the stack's, over the network", async () => {
    const { N8N_POSTGRESQL_PASSWORD = "" } = await stack.env();
    const connect = (password: string) => exec("postgresql", "psql -wh postgresql -U n8n -d n8n -Atc 'select 1'", { PGPASSWORD: password });
    expect((await connect(N8N_POSTGRESQL_PASSWORD)).stdout.trim()).toBe("1");
    expect((await connect("wrong")).stderr).toContain("authentication failed");
    expect((await connect("")).code).not.toBe(0);
  });

  test("a service's role reaches its own database and no other", async () => {
    const { N8N_POSTGRESQL_PASSWORD = "" } = await stack.env();
    await sql("CREATE DATABASE other", "postgres");
    await sql("REVOKE CONNECT ON DATABASE other FROM PUBLIC", "postgres");
    const { code, stderr } = await exec("postgresql", "psql -wh postgresql -U n8n -d other -Atc 'select 1'", {
      PGPASSWORD: N8N_POSTGRESQL_PASSWORD,
    });
    expect(code).not.toBe(0);
    expect(stderr).toContain("permission denied");
    expect(await sql("select rolsuper from pg_roles where rolname = 'n8n'")).toBe("f");
  });

  test("MariaDB refuses who has none", async () => {
    const { MARIADB_PASSWORD = "" } = await stack.env();
    expect((await exec("mariadb", "mariadb -h 127.0.0.1 -u root -e 'select 1'", { MYSQL_PWD: MARIADB_PASSWORD })).code).toBe(0);
    expect((await exec("mariadb", "mariadb -h 127.0.0.1 -u root -e 'select 1'", { MYSQL_PWD: "wrong" })).code).not.toBe(0);
  });
});

test("a stack without one of its secrets is refused by Compose, which names it", async () => {
  const { code, stderr } = await run(["docker", "compose", "--env-file", "/dev/null", "config", "-q"], { cwd: stack.folder });
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/[A-Z_]+(PASSWORD|TOKEN|KEY).*start\.sh/);
});

describe("data", () => {
  let backup = "";

  test("is written", async () => {
    expect(await redis("set proof redis-data")).toBe("OK");
    await redis("save");
    await sql("CREATE TABLE proof (value text)");
    await sql("INSERT INTO proof VALUES ('postgresql-data')");
    await exec(
      "mariadb",
      "mariadb -u root -e \"CREATE DATABASE proof; CREATE TABLE proof.t (v text); INSERT INTO proof.t VALUES ('mariadb-data')\"",
      { MYSQL_PWD: (await stack.env()).MARIADB_PASSWORD ?? "" },
    );
    await exec("openclaw", "mkdir -p ~/.openclaw/workspace && echo gateway-data > ~/.openclaw/workspace/proof.md");
  });

  const check = async () => {
    expect(await redis("get proof")).toBe("redis-data");
    expect(await sql("SELECT value FROM proof")).toBe("postgresql-data");
    expect(
      (
        await exec("mariadb", "mariadb -u root -Ne 'SELECT v FROM proof.t'", { MYSQL_PWD: (await stack.env()).MARIADB_PASSWORD ?? "" })
      ).stdout.trim(),
    ).toBe("mariadb-data");
    expect((await exec("openclaw", "cat ~/.openclaw/workspace/proof.md")).stdout.trim()).toBe("gateway-data");
    expect((await exec("openclaw", "stat -c %U ~/.openclaw/workspace/proof.md")).stdout.trim()).toBe("node");
    expect((await exec("openclaw", "touch ~/.openclaw/workspace/again")).code).toBe(0);
  };

  test(
    "is backed up, readable by the owner alone, and nothing stays paused",
    async () => {
      const { code, stdout, stderr } = await stack.script("backup");
      expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
      backup = /written to (\S+)/.exec(stdout)?.[1] ?? "";
      expect(await Bun.file(`${stack.folder}/${backup}/dumps/postgresql`).text()).toContain("postgresql-data");
      expect((await must(["stat", "-c", "%a", `${stack.folder}/${backup}`])).trim()).toBe("700");
      expect((await stack.containers()).filter(({ state }) => state === "paused")).toEqual([]);
    },
    3 * minutes,
  );

  test(
    "comes back after every volume was destroyed",
    async () => {
      await stack.down("-v", "-t", "5");
      const { code, stdout, stderr } = await stack.script("restore", backup);
      if (code !== 0) throw new Error(`${stdout}\n${stderr}`);
      await check();
      expect((await stack.script("status")).code).toBe(0);
    },
    6 * minutes,
  );

  test(
    "is there again after restoring over what was changed since",
    async () => {
      await redis("set proof changed");
      await sql("UPDATE proof SET value = 'changed'");
      const { code, stdout, stderr } = await stack.script("restore", backup);
      if (code !== 0) throw new Error(`${stdout}\n${stderr}`);
      await check();
    },
    6 * minutes,
  );

  test(
    "outlives stop and start",
    async () => {
      expect((await stack.script("stop")).code).toBe(0);
      expect(await stack.containers()).toEqual([]);
      expect((await stack.script("start")).code).toBe(0);
      await check();
    },
    6 * minutes,
  );

  test(
    "outlives an update that pulls",
    async () => {
      const registry = Bun.which("docker-registry");
      const pullable = (await run(["docker", "compose", "pull", "-q", "redis"], { cwd: stack.folder })).code === 0;
      if (!pullable && !registry) return console.warn("neither a registry nor docker-registry here: update.sh was not run");
      const local = pullable ? undefined : await mirror(registry as string);
      try {
        const { code, stdout, stderr } = await stack.script("update");
        if (code !== 0) throw new Error(`${stdout}\n${stderr}`);
        await check();
        if (local) expect(await must(["docker", "compose", "images", "redis"], { cwd: stack.folder })).toContain("127.0.0.1:15055");
      } finally {
        local?.kill();
      }
    },
    10 * minutes,
  );
});

/** A registry on loopback that holds the images of the stack, and an override that takes them from there. */
async function mirror(registry: string) {
  const config = `${stack.folder}/registry.yml`;
  await Bun.write(
    config,
    `version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: ${stack.folder}/registry\nhttp:\n  addr: 127.0.0.1:15055\n`,
  );
  const child = Bun.spawn([registry, "serve", config], { stdout: "ignore", stderr: "ignore" });
  for (let tries = 0; tries < 50 && !(await run(["curl", "-s", "http://127.0.0.1:15055/v2/"])).stdout; tries++) await Bun.sleep(100);
  const path = `${stack.folder}/docker-compose.override.yml`;
  const override = (await Bun.file(path).exists())
    ? JSON.parse((await Bun.file(path).text()).replaceAll("!reset null", "null"))
    : { services: {} };
  const { services } = JSON.parse(await must(["docker", "compose", "config", "--format", "json"], { cwd: stack.folder })) as {
    services: Record<string, { image: string }>;
  };
  const copies = new Map<string, string>();
  for (const [name, { image }] of Object.entries(services)) {
    // Some tell as much as all.
    if (!["redis", "caddy", "uptime-kuma"].includes(name)) {
      override.services[name] = { ...override.services[name], pull_policy: "never" };
      continue;
    }
    const copy = `127.0.0.1:15055/${image}`;
    if (!copies.has(image)) {
      await must(["docker", "tag", image, copy]);
      await must(["docker", "push", "-q", copy]);
      await must(["docker", "rmi", copy]);
      copies.set(image, copy);
    }
    override.services[name] = { ...override.services[name], image: copy };
  }
  await Bun.write(path, JSON.stringify(override));
  return child;
}

describe("growth", () => {
  test(
    "a service that is added to a running stack gets its database, and nothing else is touched",
    async () => {
      const before = await stack.env();
      const ids = new Map((await stack.containers()).map(({ name }) => [name, ""]));
      expect(ids.has("miniflux")).toBe(false);
      const added = await unpack({ ...request, services: [...request.services, "umami"] }, { into: stack.folder, interval: 2 });
      const { code, stdout, stderr } = await added.script("start");
      if (code !== 0) throw new Error(`${stdout}\n${stderr}`);
      const after = await stack.env();
      for (const [name, value] of Object.entries(before)) expect({ name, value: after[name] }).toEqual({ name, value });
      const connect = await exec("postgresql", "psql -wh postgresql -U umami -d umami -Atc 'select 1'", {
        PGPASSWORD: after.UMAMI_POSTGRESQL_PASSWORD ?? "",
      });
      expect(connect.stdout.trim()).toBe("1");
      expect(await sql("SELECT value FROM proof")).toBe("postgresql-data");
    },
    10 * minutes,
  );
});

describe("a companion that dies", () => {
  test(
    "is reported by status.sh, and the gateway lives on",
    async () => {
      await stack.compose("stop", "-t", "1", "uptime-kuma");
      const { code, stdout, stderr } = await stack.script("status");
      expect(code).not.toBe(0);
      expect(stderr).toContain("uptime-kuma");
      expect(stdout).toMatch(/uptime-kuma +exited/);
      expect(
        (await run(["curl", "-sk", "--resolve", "life.example.org:18443:127.0.0.1", "https://life.example.org:18443/healthz"])).stdout,
      ).toContain("live");
    },
    minutes,
  );

  test(
    "even from the start: a sick database keeps no gateway down",
    async () => {
      await stack.down("-t", "3");
      const path = `${stack.folder}/docker-compose.override.yml`;
      const text = (await Bun.file(path).exists()) ? await Bun.file(path).text() : '{"services":{}}';
      const override = JSON.parse(text);
      override.services.postgresql = { ...override.services.postgresql, entrypoint: ["sh", "-c", "exit 1"] };
      await Bun.write(path, JSON.stringify(override));
      const { code, stdout } = await run([`${stack.folder}/scripts/start.sh`], { env: { START_TIMEOUT: "30" } });
      expect(code).not.toBe(0);
      expect(stdout).toContain("postgresql");
      const gateway = (await stack.containers()).find(({ name }) => name === "openclaw");
      expect(gateway).toMatchObject({ state: "running", health: "healthy" });
      await Bun.write(path, text);
    },
    5 * minutes,
  );
});
