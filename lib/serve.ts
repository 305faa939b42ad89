/** Starts the server: settings, limiter, routes, listeners, and an orderly end. */
import { apiRoutes } from "./api/index.ts";
import { embeddedCatalog } from "./embedded.ts";
import { createApp } from "./http/app.ts";
import { memoryLimiter } from "./http/limit.ts";
import { redisLimiter } from "./http/limit-redis.ts";
import { createLog } from "./http/log.ts";
import { createMetrics } from "./http/metrics.ts";
import type { Settings } from "./settings.ts";
import { version } from "./version.ts";

export interface RunningServer {
  readonly url: URL;
  /** Refuses new connections, lets requests in flight finish, and resolves when all is closed. */
  readonly stop: () => Promise<void>;
}

/** Starts listening. @throws when the address cannot be listened on. */
export function serve(settings: Settings, startedAt: number = performance.now()): RunningServer {
  const log = createLog(settings.logLevel);
  const metrics = settings.metricsPort === undefined ? undefined : createMetrics();
  const shared = settings.redisUrl === undefined ? undefined : redisLimiter(settings.redisUrl, settings.limits, log);
  const limiter = shared?.take ?? memoryLimiter(settings.limits);
  const handle = createApp({ settings, routes: apiRoutes(embeddedCatalog, startedAt), limiter, log, metrics });
  const server = Bun.serve({
    port: settings.port,
    hostname: settings.host,
    reusePort: settings.reusePort,
    development: false,
    // None of Bun's own: the handler reads no more than a body may have and says what is wrong; Bun drops what is not read.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch: handle,
  });
  const metricsServer =
    metrics &&
    Bun.serve({
      port: settings.metricsPort as number,
      hostname: "127.0.0.1",
      development: false,
      fetch: (request) =>
        new URL(request.url).pathname === "/metrics"
          ? new Response(metrics.expose(), { headers: { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" } })
          : new Response("See /metrics.\n", { status: 404 }),
    });
  log.info(`Stackwright ${version} listens on ${server.url}`);
  return {
    url: server.url,
    async stop() {
      // Connections that clients keep open for later are closed at once.
      await Promise.all([server.stop(), metricsServer?.stop()]);
      shared?.close();
      log.flush();
    },
  };
}
