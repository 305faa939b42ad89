/** What tests share: a real server on a real port, and the catalog as the server has it. */
import { indexCatalog } from "../lib/catalog/index.ts";
import { loadCatalog } from "../lib/catalog/load.ts";
import { type RunningServer, serve } from "../lib/serve.ts";
import { readSettings } from "../lib/settings.ts";

export const root = `${import.meta.dir}/..`;
export const catalog = indexCatalog(await loadCatalog(`${root}/catalog`));

/** A started server, and a short way to ask it. */
export interface Client extends AsyncDisposable {
  readonly url: string;
  readonly server: RunningServer;
  readonly get: (path: string, headers?: Record<string, string>) => Promise<Response>;
  readonly post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Response>;
}

/** Starts a server on a free port of loopback, with limits too wide to matter unless `env` sets them. */
export function start(env: Record<string, string> = {}): Client {
  const wide = "1000000";
  const server = serve(readSettings({ PORT: "0", LOG_LEVEL: "silent", LIMIT_READ: wide, LIMIT_WRITE: wide, LIMIT_GENERATE: wide, ...env }));
  const url = server.url.origin;
  return {
    url,
    server,
    get: (path, headers = {}) => fetch(url + path, { headers }),
    post: (path, body, headers = {}) =>
      fetch(url + path, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
      }),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/** The failure envelope of a response. */
export async function failure(response: Response): Promise<{ code: string; message: string; errors: string[] }> {
  const body = (await response.json()) as { ok: boolean; error: { code: string; message: string; details?: { errors: string[] } } };
  if (body.ok !== false) throw new Error(`not a failure: ${JSON.stringify(body).slice(0, 200)}`);
  return { code: body.error.code, message: body.error.message, errors: body.error.details?.errors ?? [] };
}

/** The payload of a success response. */
// biome-ignore lint/suspicious/noExplicitAny: tests look at answers as a client would, without types
export async function payload(response: Response): Promise<any> {
  const body = (await response.json()) as { ok: boolean; data: unknown };
  if (body.ok !== true) throw new Error(`not a success: ${JSON.stringify(body).slice(0, 400)}`);
  return body.data;
}

/** Runs a program to its end. */
export async function run(command: string[], options: { cwd?: string; env?: Record<string, string>; stdin?: Uint8Array | string } = {}) {
  const child = Bun.spawn(command, {
    cwd: options.cwd ?? root,
    env: { ...process.env, ...options.env },
    stdin: options.stdin === undefined ? "ignore" : new Blob([options.stdin as string]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, code };
}

/** Runs a program; fails with its output when it fails. */
export async function must(command: string[], options: Parameters<typeof run>[1] = {}): Promise<string> {
  const { code, stdout, stderr } = await run(command, options);
  if (code !== 0) throw new Error(`${command.join(" ").slice(0, 300)} exited with ${code}\n${stdout.slice(-3000)}\n${stderr.slice(-3000)}`);
  return stdout;
}

/** A port of loopback that nothing listened on a moment ago. */
export function freePort(): number {
  const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = probe;
  probe.stop(true);
  return port;
}

/** A server in a process of its own. */
export interface ServerProcess extends AsyncDisposable {
  readonly url: string;
  readonly process: Bun.Subprocess<"ignore", "ignore", "pipe">;
  /** What it wrote to standard error so far. */
  readonly errors: () => string;
}

/** Starts a program that prints its address as Stackwright does, and waits for that line. */
export async function startProcess(
  env: Record<string, string> = {},
  command: string[] = ["bun", `${root}/server.ts`],
  cwd: string = root,
): Promise<ServerProcess> {
  const wide = "1000000";
  const child = Bun.spawn(command, {
    cwd,
    env: { ...process.env, PORT: "0", LIMIT_READ: wide, LIMIT_WRITE: wide, LIMIT_GENERATE: wide, ...env },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  let errors = "";
  const url = await new Promise<string>((resolve, reject) => {
    (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of child.stderr) {
        errors += decoder.decode(chunk, { stream: true });
        const address = /listens on (http:\/\/\S+?)\/?(?:\s|$)/.exec(errors)?.[1];
        if (address !== undefined) resolve(address);
      }
      reject(new Error(`it ended without listening: ${errors}`));
    })();
  });
  return {
    url,
    process: child,
    errors: () => errors,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}
