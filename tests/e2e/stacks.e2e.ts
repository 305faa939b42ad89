/**
 * Stacks on a real engine: unpacked, started with their own script, asked, broken, backed up, restored. `bun run proofs`.
 * Real images where they can be pulled; else images of the same names, made of Debian and npm packages (see `engine.ts`).
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { indexCatalog } from "../../lib/catalog/index.ts";
import type { StackRequest } from "../../lib/stack/request.ts";
import { resolve } from "../../lib/stack/resolve.ts";
import { planAddresses, planProxy } from "../../lib/stack/routes.ts";
import { catalog, must, run } from "../support.ts";
import { ask, askRouted, exposesNoMore, httpPort, httpsPort, localPorts, type Stack, startedWell, unpack, upgrade } from "./engine.ts";

const minutes = 60_000;

interface Row {
  stack: string;
  proxy: string;
  containers: number;
  seconds: number;
  answered: number;
  refused: number;
  backup: string;
}
const table: Row[] = [];
const waited = new Set<string>();
afterAll(() => console.table(table));

const stacks: { title: string; request: StackRequest & { name: string } }[] = [
  { title: "minimal", request: { name: "Proof minimal", preset: "minimal" } },
  { title: "researcher", request: { name: "proof-researcher", preset: "researcher", proxy: "caddy" } },
  { title: "devops", request: { name: "proof-devops", preset: "devops", proxy: "nginx", domain: "devops.example.org" } },
  {
    title: "ai-playground",
    request: { name: "proof-ai", preset: "ai-playground", proxy: Bun.which("traefik") ? "traefik" : "nginx", domain: "ai.example.org" },
  },
  { title: "coding-team", request: { name: "proof-code", preset: "coding-team", proxy: "caddy", domain: "code.internal" } },
  { title: "creator", request: { name: "proof-creator", preset: "creator", proxy: "nginx" } },
];

describe.each(stacks)("$title", ({ title, request }) => {
  let stack: Stack;
  const resolution = resolve(indexCatalog(catalog.catalog), request);
  const proxy = planProxy(request);
  const addresses = planAddresses(resolution, proxy);
  const row: Row = { stack: title, proxy: request.proxy ?? "none", containers: 0, seconds: 0, answered: 0, refused: 0, backup: "-" };

  /** An answer that takes over a minute, asked for once of each proxy while the other tests run. */
  let slow: ReturnType<typeof run> | undefined;

  /** A routed stand-in, and how to ask it. */
  function standinTarget() {
    const route = addresses.routes.find((entry) => stack.standins.includes(entry.container));
    if (!proxy || !route) return undefined;
    const port = proxy.scheme === "https" ? httpsPort : httpPort;
    return {
      host: route.host,
      target: `${proxy.scheme}://${route.host}:${port}`,
      curl: ["curl", "-skN", "--resolve", `${route.host}:${port}:127.0.0.1`],
    };
  }

  beforeAll(async () => {
    stack = await unpack(request, { interval: 3 });
    await stack.set(localPorts);
    row.seconds = Math.round(await startedWell(stack));
    row.containers = (await stack.containers()).length;
    table.push(row);
    const aim = standinTarget();
    if (!aim || !proxy || waited.has(proxy.id)) return;
    waited.add(proxy.id);
    await askRouted(proxy.scheme, aim.host);
    slow = run([...aim.curl, "--max-time", "90", "-o", "/dev/null", "-w", "%{http_code}", `${aim.target}/proof/slow?seconds=65`]);
  }, 15 * minutes);
  afterAll(async () => {
    await stack?.[Symbol.asyncDispose]();
  }, 3 * minutes);

  test("the gateway answers, through the proxy where there is one", async () => {
    const response = proxy
      ? await askRouted(proxy.scheme, proxy.domain, "/healthz")
      : { status: (await fetch("http://127.0.0.1:18789/healthz")).status };
    expect(response.status).toBe(200);
    const opened = proxy ? await ask(proxy.scheme, proxy.domain, "/", ...upgrade) : undefined;
    if (opened) expect(opened.status).toBe(101);
  });

  test(
    "each routed service answers at its name, over WebSocket too, and each unrouted one does not",
    async () => {
      if (!proxy) return;
      await Promise.all(
        addresses.routes
          .filter((entry) => entry.service !== "openclaw")
          .map(async (route) => {
            const response = await askRouted(proxy.scheme, route.host);
            if (stack.standins.includes(route.container)) {
              expect({ host: route.host, status: response.status }).toEqual({ host: route.host, status: 200 });
              const { standin, headers } = JSON.parse(response.body) as { standin: string; headers: Record<string, string> };
              expect(standin).toBe(route.container);
              expect(headers["x-forwarded-proto"]).toBe(proxy.scheme);
              expect(headers["x-forwarded-for"]).toBeTruthy();
              expect((await ask(proxy.scheme, route.host, "/", ...upgrade)).status).toBe(101);
            } else expect(response.status).toBeGreaterThanOrEqual(200);
            row.answered++;
          }),
      );
      const routed = new Set(addresses.routes.map((route) => route.service));
      await Promise.all(
        resolution.services
          .filter(({ id }) => !routed.has(id))
          .map(async ({ id }) => {
            const { status, body } = await ask(proxy.scheme, `${id}.${proxy.domain}`);
            expect(body).not.toContain("standin");
            expect([0, 404]).toContain(status);
            row.refused++;
          }),
      );
    },
    2 * minutes,
  );

  test(
    "streams arrive as they are sent, and large uploads whole",
    async () => {
      const aim = standinTarget();
      if (!aim) return;
      const { curl, target } = aim;
      const stream = Bun.spawn([...curl, `${target}/proof/stream`], { stdout: "pipe", stderr: "ignore" });
      const arrivals: number[] = [];
      for await (const chunk of stream.stdout)
        for (const _ of new TextDecoder().decode(chunk).matchAll(/part/g)) arrivals.push(performance.now());
      expect(arrivals.length).toBe(3);
      expect((arrivals[2] as number) - (arrivals[0] as number)).toBeGreaterThan(1000);
      const size = 100 * 1024 * 1024;
      const uploaded = await must([
        "bash",
        "-c",
        `head -c ${size} /dev/zero | ${curl.join(" ")} --data-binary @- -H 'Expect:' ${target}/proof/upload`,
      ]);
      expect(JSON.parse(uploaded)).toEqual({ bytes: size });
    },
    3 * minutes,
  );

  test("plain HTTP leads to HTTPS where the name is not local", async () => {
    if (!proxy || proxy.scheme === "http") return;
    const { status } = await ask("http", proxy.domain);
    expect([301, 302, 307, 308]).toContain(status);
  });

  test(
    "published ports answer on loopback, and from another address nothing does but the proxy",
    () => exposesNoMore(addresses, proxy),
    2 * minutes,
  );

  test(
    "the gateway's configuration is valid, its origin allowed, and its skills found where they are mounted",
    async () => {
      await stack.compose("exec", "-T", "openclaw", "node", "openclaw.mjs", "config", "validate");
      const config = JSON.parse(await Bun.file(`${stack.folder}/configs/openclaw/config.yaml`).text());
      expect(config.gateway.controlUi.allowedOrigins).toContain(addresses.urls.get("openclaw"));
      const listed = JSON.parse(await stack.compose("exec", "-T", "openclaw", "node", "openclaw.mjs", "skills", "list", "--json")) as {
        skills: { name: string; eligible: boolean; missing?: { env: string[] } }[];
      };
      for (const pack of resolution.packs) {
        for (const name of pack.skills) {
          const skill = listed.skills.find((entry) => entry.name === name);
          expect({ name, found: skill !== undefined }).toEqual({ name, found: true });
          const required = new Set(pack.requiredServices.flatMap((id) => Object.keys(catalog.services.get(id)?.agent?.environment ?? {})));
          expect({
            name,
            missing: (skill?.missing?.env ?? []).filter((variable) => required.has(variable) && !/_(API_KEY|TOKEN)$/.test(variable)),
          }).toEqual({ name, missing: [] });
        }
      }
    },
    2 * minutes,
  );

  test(
    "no secret stands in a label, a command line or a generated file",
    async () => {
      const env = await stack.env();
      const secrets = Object.entries(env)
        .filter(([, value]) => /^[A-Za-z0-9+/=:-]{32,}$/.test(value))
        .map(([, value]) => value);
      expect(secrets.length).toBeGreaterThan(0);
      const ids = (await stack.compose("ps", "-aq")).split("\n").filter(Boolean);
      const details = JSON.parse(await must(["docker", "inspect", ...ids])) as {
        Config: { Labels: object; Cmd: unknown; Entrypoint: unknown };
        Args: unknown;
      }[];
      const visible = JSON.stringify(details.map(({ Config, Args }) => [Config.Labels, Config.Cmd, Config.Entrypoint, Args]));
      const files = await must(
        ["bash", "-c", "cat docker-compose.yml .env.example README.md; cat $(find configs skills -type f 2>/dev/null)"],
        { cwd: stack.folder },
      );
      for (const secret of secrets) {
        expect(visible.includes(secret)).toBe(false);
        expect(files.includes(secret)).toBe(false);
      }
    },
    minutes,
  );

  test(
    "status.sh says that all is well, and a second start changes nothing",
    async () => {
      expect((await stack.script("status")).code).toBe(0);
      const before = await Bun.file(`${stack.folder}/.env`).text();
      const ids = await stack.compose("ps", "-q");
      expect((await stack.script("start")).code).toBe(0);
      expect(await Bun.file(`${stack.folder}/.env`).text()).toBe(before);
      expect((await stack.compose("ps", "-q")).split("\n").sort()).toEqual(ids.split("\n").sort());
    },
    3 * minutes,
  );

  test(
    "an answer that takes over a minute arrives",
    async () => {
      if (slow) expect((await slow).stdout).toBe("200");
    },
    2 * minutes,
  );

  test(
    "what was written is there again after the volumes were lost and a backup restored",
    async () => {
      const gateway = (script: string) => stack.compose("exec", "-T", "openclaw", "sh", "-c", script);
      await gateway("mkdir -p ~/.openclaw/workspace && echo kept > ~/.openclaw/workspace/proof.md");
      const saved = await stack.script("backup");
      expect({ code: saved.code, stderr: saved.stderr }).toEqual({ code: 0, stderr: "" });
      await stack.down("-v", "-t", "3");
      const restored = await stack.script("restore", /written to (\S+)/.exec(saved.stdout)?.[1] ?? "");
      if (restored.code !== 0) throw new Error(`${restored.stdout}\n${restored.stderr}`);
      expect((await gateway("cat ~/.openclaw/workspace/proof.md")).trim()).toBe("kept");
      expect((await stack.script("status")).code).toBe(0);
      row.backup = "restored";
    },
    8 * minutes,
  );
});
