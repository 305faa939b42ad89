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
