/** The compiled binary, alone: in an empty directory, and in the final image of the Dockerfile where there is an engine. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { version } from "../../lib/version.ts";
import { catalog, freePort, payload, root, run, startProcess } from "../support.ts";

const base = "debian:bookworm-slim";
const tag = "stackwright-binary-proof";
const engine = (await run(["docker", "image", "inspect", base]).catch(() => ({ code: 1 }))).code === 0;
if (!engine) console.warn(`SKIPPED: the binary in a container, since there is no Docker engine with ${base}`);

let folder: string;
let binary: string;

beforeAll(async () => {
  folder = await mkdtemp(`${tmpdir()}/stackwright-binary-`);
  const { code, stderr } = await run(["bun", "run", "build"]);
  if (code !== 0) throw new Error(`the build failed: ${stderr}`);
  binary = `${folder}/stackwright`;
  await run(["cp", `${root}/dist/stackwright`, binary]);
}, 120_000);

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  if (engine) await run(["docker", "image", "rm", "-f", tag]);
});

const key = "a-key-for-the-proof";
const headers = { "Content-Type": "application/json", Authorization: `Bearer ${key}` };

/** A body whose second half is kept back until `release` is called. */
function slowBody(text: string) {
  const gate = Promise.withResolvers<void>();
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode(text.slice(0, 10)));
      await gate.promise;
      controller.enqueue(new TextEncoder().encode(text.slice(10)));
      controller.close();
    },
  });
  return { body, release: () => gate.resolve() };
}

/** What a server must do wherever the binary runs; `terminate` sends it SIGTERM. */
async function proveService(url: string, terminate: () => void | Promise<void>): Promise<void> {
  const health = await payload(await fetch(`${url}/api/v1/health`));
  expect(health).toMatchObject({ status: "healthy", version, services: catalog.services.size, presets: catalog.presets.size });
  const { total } = await payload(await fetch(`${url}/api/v1/services`));
  expect(total).toBe(catalog.services.size);
  expect((await fetch(`${url}/api/v1/generate`, { method: "POST", body: "{}" })).status).toBe(401);

  const request = { name: "From the binary", preset: "ai-powerhouse", proxy: "caddy", domain: "stack.example.com" };
  if (!catalog.presets.has(request.preset)) request.preset = [...catalog.presets.keys()].at(-1) ?? "";
  const ask = (body: object) => fetch(`${url}/api/v1/generate`, { method: "POST", headers, body: JSON.stringify(body) });
  const { files, summary } = await payload(await ask(request));
  expect(summary.proxy).toBe("caddy");
  for (const path of ["docker-compose.yml", ".env.example", "README.md", "Caddyfile", "scripts/start.sh"])
    expect(files[path].length).toBeGreaterThan(50);

  const archive = await ask({ ...request, format: "tar" });
  expect(archive.headers.get("content-type")).toBe("application/gzip");
  const listed = await run(["tar", "-tzf", "-"], { stdin: await archive.bytes() });
  expect(listed.stdout.trim().split("\n").sort()).toEqual(
    Object.keys(files)
      .map((path) => `from-the-binary/${path}`)
      .sort(),
  );

  const slow = slowBody(JSON.stringify(request));
  const answer = fetch(`${url}/api/v1/generate`, { method: "POST", headers, body: slow.body, duplex: "half" } as RequestInit);
  await Bun.sleep(300);
  await terminate();
  await Bun.sleep(300);
  await expect(fetch(`${url}/api/v1/health`, { keepalive: false })).rejects.toThrow();
  slow.release();
  expect((await payload(await answer)).name).toBe(request.name);
}

describe("in an empty directory", () => {
  test("prints its version", async () => {
    expect(await run([binary, "--version"], { cwd: folder })).toMatchObject({ code: 0, stdout: `${version}\n` });
  });

  test("serves, and lets a request in flight finish", async () => {
    await using server = await startProcess({ STACK_API_KEY: key }, [binary], folder);
    const { port } = new URL(server.url);
    expect((await run([binary, "--healthcheck"], { cwd: folder, env: { PORT: port } })).code).toBe(0);
    await proveService(server.url, () => server.process.kill("SIGTERM"));
    expect(await server.process.exited).toBe(0);
    expect((await run([binary, "--healthcheck"], { cwd: folder, env: { PORT: port } })).code).toBe(1);
  }, 30_000);

  test("takes nothing from the directory that it is started in", async () => {
    await Bun.write(`${folder}/foreign/.env`, "PORT=1\nSTACK_API_KEY=\n");
    await Bun.write(`${folder}/foreign/bunfig.toml`, 'preload = ["./evil.ts"]\n');
    await Bun.write(`${folder}/foreign/evil.ts`, 'console.error("evil"); process.exit(9);\n');
    await using server = await startProcess({}, [binary], `${folder}/foreign`);
    expect((await fetch(`${server.url}/api/v1/health`)).status).toBe(200);
    expect(server.errors()).not.toContain("evil");
  });
});

describe.skipIf(!engine)("in the final image of the Dockerfile", () => {
  /** The last stage, with the binary from the context instead of the build stage, which needs a registry. */
  async function buildImage(): Promise<void> {
    const dockerfile = await Bun.file(`${root}/Dockerfile`).text();
    const final = dockerfile
      .slice(dockerfile.lastIndexOf("FROM "))
      .replace("FROM ${RUNTIME}", `FROM ${base}`)
      .replace("--from=build /src/dist/", "");
    await Bun.write(`${folder}/context/Dockerfile`, final);
    await run(["cp", binary, `${folder}/context/stackwright`]);
    const { code, stdout, stderr } = await run(["docker", "build", "-q", "-t", tag, `${folder}/context`], {
      env: { DOCKER_BUILDKIT: "0" },
    });
    if (code !== 0) throw new Error(`docker build: ${stdout}${stderr}`);
  }

  test("runs without root, with nothing but the binary, and is healthy", async () => {
    await buildImage();
    const refused = await run(["docker", "run", "--rm", tag]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("STACK_API_KEY");

    const port = freePort();
    const options = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--health-interval=1s"];
    const started = await run(["docker", "run", "-d", ...options, "-e", `STACK_API_KEY=${key}`, "-p", `127.0.0.1:${port}:3000`, tag]);
    expect(started.stderr).toBe("");
    const id = started.stdout.trim();
    const inspect = async (field: string) => (await run(["docker", "inspect", "-f", `{{${field}}}`, id])).stdout.trim();
    try {
      for (let count = 0; (await inspect(".State.Health.Status")) !== "healthy"; count++) {
        if (count > 60) throw new Error(`never healthy: ${(await run(["docker", "logs", id])).stderr}`);
        await Bun.sleep(250);
      }
      expect(await inspect(".Config.User")).toBe("65532:65532");
      await proveService(`http://127.0.0.1:${port}`, async () => {
        await run(["docker", "kill", "--signal=TERM", id]);
      });
      await run(["docker", "wait", id]);
      expect(await inspect(".State.ExitCode")).toBe("0");
    } finally {
      await run(["docker", "rm", "-f", id]);
    }
  }, 120_000);
});
