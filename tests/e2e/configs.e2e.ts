/** Generated files before the real programs that read them: Compose, Caddy, nginx, Traefik's schema, ShellCheck, tar. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { packBundle } from "../../lib/archive/bundle.ts";
import { renderCompose } from "../../lib/render/compose.ts";
import { renderBundle } from "../../lib/render/index.ts";
import { planStack } from "../../lib/stack/plan.ts";
import { proxies, type StackRequest } from "../../lib/stack/request.ts";
import { resolve } from "../../lib/stack/resolve.ts";
import { catalog, payload, run, start } from "../support.ts";

const minutes = 60_000;
const work = await mkdtemp(`${tmpdir()}/stackwright-configs-`);
afterAll(() => rm(work, { recursive: true, force: true }));

/** A certificate as `certificates.sh` makes one, for `nginx -t`. */
const certificate = run(
  "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=x -keyout".split(" ").concat(`${work}/privkey.pem`, "-out", `${work}/fullchain.pem`),
);

/** Unpacks the archive of a request into a new folder and writes its `.env` with its own script. */
async function unpack(request: StackRequest): Promise<string | undefined> {
  const resolution = resolve(catalog, request);
  if (resolution.problems.length > 0) return undefined;
  const files = renderBundle(planStack(catalog, { ...request, name: "proof" }, resolution), catalog);
  const folder = await mkdtemp(`${work}/stack-`);
  const { code } = await run(["tar", "-xzf", "-", "-C", folder, "--strip-components", "1"], { stdin: packBundle("proof", files) });
  expect(code).toBe(0);
  expect(await run(["sh", `${folder}/scripts/start.sh`, "--env-only"])).toMatchObject({ code: 0, stderr: "" });
  return folder;
}

const accepted = async (folder: string) => run(["docker", "compose", "config", "--quiet"], { cwd: folder });

/** Runs tasks on both cores. */
async function each<T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  await Promise.all(
    [0, 1, 2].map(async () => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await task(item);
    }),
  );
}

async function checkProxy(folder: string, request: StackRequest): Promise<void> {
  if (request.proxy === "caddy" && Bun.which("caddy")) {
    const { code, stderr } = await run(["caddy", "validate", "--config", `${folder}/Caddyfile`, "--adapter", "caddyfile"], {
      env: { CADDY_GLOBAL_OPTIONS: "" },
    });
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  }
  if (request.proxy === "nginx" && Bun.which("nginx")) {
    // The paths of the container, moved below a prefix.
    const prefix = `${folder}/.nginx`;
    await mkdir(prefix, { recursive: true });
    await certificate;
    const text = (await Bun.file(`${folder}/nginx.conf`).text())
      .replace("user nginx;", "user www-data;")
      .replaceAll("/etc/letsencrypt/live/stack/", `${work}/`)
      .replace("access_log /dev/stdout;", "access_log off;")
      .replace("/var/run/nginx.pid", `${prefix}/pid`);
    await Bun.write(`${prefix}/nginx.conf`, text);
    const { code, stderr } = await run(["nginx", "-t", "-q", "-c", `${prefix}/nginx.conf`]);
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  }
}

const proxied = [undefined, ...proxies].map((proxy) => (proxy ? { proxy, domain: "stack.example.org" } : {}));

describe.each([...catalog.presets.keys()])("preset %s", (preset) => {
  test(
    "Compose and the proxies accept it in every variant",
    async () => {
      const variants: StackRequest[] = [];
      for (const proxy of proxied)
        for (const platform of ["linux/amd64", "linux/arm64"] as const)
          for (const gpu of [false, true]) variants.push({ preset, ...proxy, platform, gpu });
      variants.push(
        { preset, proxy: "caddy" },
        { preset, proxy: "nginx" },
        { preset, proxy: "nginx", domain: "a.internal" },
        { preset, proxy: "caddy", deploymentType: "bare-metal" },
      );
      await each(variants, async (request) => {
        const folder = await unpack(request);
        if (!folder) return;
        const { code, stderr } = await accepted(folder);
        expect({ request, code, stderr }).toEqual({ request, code: 0, stderr: "" });
        await checkProxy(folder, request);
        await rm(folder, { recursive: true });
      });
    },
    4 * minutes,
  );
});

test(
  "Compose accepts every service alone, with each proxy, on both architectures, and refuses it without one of its secrets, by name",
  async () => {
    await each([...catalog.services.values()], async (service) => {
      const folder = await unpack({ services: [service.id], proxy: "caddy", domain: "stack.example.org" });
      if (!folder) throw new Error(`${service.id} is not accepted alone`);
      for (const proxy of proxied) {
        for (const platform of ["linux/amd64", "linux/arm64"] as const) {
          const request = { name: "proof", services: [service.id], ...proxy, platform };
          const resolution = resolve(catalog, request);
          // A service without images for an architecture is refused for it.
          if (resolution.problems.length > 0) continue;
          const [compose] = renderCompose(planStack(catalog, request, resolution));
          await Bun.write(`${folder}/docker-compose.yml`, compose?.content ?? "");
          const { code, stderr } = await accepted(folder);
          expect({ request, code, stderr }).toEqual({ request, code: 0, stderr: "" });
        }
      }
      const env = await Bun.file(`${folder}/.env`).text();
      const secret = Object.keys(service.secrets)[0];
      if (secret) {
        await Bun.write(`${folder}/.env`, env.replace(new RegExp(`^${secret}=.*$`, "m"), `${secret}=`));
        const refused = await accepted(folder);
        expect({ id: service.id, refused: refused.code !== 0, named: refused.stderr.includes(secret) }).toEqual({
          id: service.id,
          refused: true,
          named: true,
        });
      }
      await rm(folder, { recursive: true });
    });
  },
  8 * minutes,
);

test(
  "ShellCheck finds nothing in any script, the installers among them",
  async () => {
    const folder = (await unpack({
      preset: "full",
      proxy: "nginx",
      domain: "a.example.org",
      deploymentType: "bare-metal",
      platform: "linux/amd64",
    })) as string;
    const scripts = (await Array.fromAsync(new Bun.Glob("**/*.sh").scan(folder))).sort();
    expect(scripts.length).toBeGreaterThan(10);
    for (const script of scripts) {
      const { stdout, code } = await run(["shellcheck", script], { cwd: folder });
      expect({ script, stdout, code }).toEqual({ script, stdout: "", code: 0 });
    }
  },
  minutes,
);

describe("the archive and the JSON answer", () => {
  test(
    "hold the same files, scripts with mode 0755 and the rest with 0644",
    async () => {
      await using client = start();
      for (const preset of catalog.presets.keys()) {
        const request = { name: "Same Files", preset, proxy: "caddy", domain: "a.example.org", deploymentType: "bare-metal" };
        const { files } = await payload(await client.post("/api/v1/generate", request));
        const tar = await (await client.post("/api/v1/generate", { ...request, format: "tar" })).bytes();
        const folder = await mkdtemp(`${work}/tar-`);
        expect((await run(["tar", "-xzpf", "-", "-C", folder], { stdin: tar })).code).toBe(0);
        const listed = await run(["find", ".", "-type", "f", "-printf", "%P %m\n"], { cwd: `${folder}/same-files` });
        const modes = new Map(
          listed.stdout
            .trim()
            .split("\n")
            .map((line) => line.split(" ") as [string, string]),
        );
        expect([...modes.keys()].sort()).toEqual(Object.keys(files).sort());
        for (const [path, mode] of modes) {
          expect({ path, same: (await Bun.file(`${folder}/same-files/${path}`).text()) === files[path] }).toEqual({ path, same: true });
          expect({ path, mode }).toEqual({ path, mode: /\.(sh|ps1)$/.test(path) && !path.startsWith("configs/") ? "755" : mode });
        }
        await rm(folder, { recursive: true });
      }
    },
    2 * minutes,
  );
});
