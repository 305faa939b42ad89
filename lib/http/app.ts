/**
 * The fetch handler: route, identify, limit, authorise, answer.
 * Every response passes `respond`, so every one carries the limit, CORS and safety headers.
 */
import type { Settings } from "../settings.ts";
import { keyCheck } from "./authorize.ts";
import { ApiError } from "./error.ts";
import type { LimitClass, Limiter, LimitState } from "./limit.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { clientAddress } from "./network.ts";
import type { Reply } from "./reply.ts";
import { responder } from "./respond.ts";
import { type Match, type Route, router } from "./router.ts";

export interface AppOptions {
  readonly settings: Pick<Settings, "apiKey" | "trustedProxies" | "corsOrigin">;
  readonly routes: readonly Route[];
  readonly limiter: Limiter;
  readonly log: Log;
  readonly metrics: Metrics | undefined;
}

/** The part of `Bun.Server` that the handler needs. */
export interface Peer {
  requestIP(request: Request): { address: string } | null;
}

const documentation = "/api/v1/openapi.json";
/** Splits the target of a request into path and query, without the cost of a `URL`. */
function split(url: string): { path: string; query: string } {
  // Without a usable Host (HTTP/1.0, or one that is no host name), the URL of the request is its path alone.
  const start = url.charCodeAt(0) === 47 ? 0 : url.indexOf("/", url.indexOf("//") + 2);
  if (start < 0) return { path: "/", query: "" };
  let end = url.indexOf("#", start);
  if (end < 0) end = url.length;
  const question = url.indexOf("?", start);
  if (question < 0 || question > end) return { path: url.slice(start, end), query: "" };
  return { path: url.slice(start, question), query: url.slice(question + 1, end) };
}

function limitClass(match: Match, method: string): LimitClass {
  if (match.kind === "found") return match.route.limit;
  return method === "GET" || method === "HEAD" || method === "OPTIONS" ? "read" : "write";
}

/** Makes the handler to give to `Bun.serve`. */
export function createApp(options: AppOptions): (request: Request, peer: Peer) => Promise<Response> | Response {
  const { settings, log, limiter, metrics } = options;
  const find = router(options.routes);
  const hasKey = keyCheck(settings.apiKey);
  const respond = responder(settings.corsOrigin);
  const prefix = crypto.getRandomValues(new Uint8Array(6)).toHex();
  let count = 0;

  const requestId = (request: Request): string => {
    const given = request.headers.get("x-request-id");
    if (given !== null && /^[\w.:-]{1,128}$/.test(given)) return given;
    count = (count + 1) | 0;
    return `${prefix}-${(count >>> 0).toString(36)}`;
  };

  function failure(error: unknown, id: string): Reply {
    if (error instanceof ApiError) {
      return { status: error.status, headers: { "Cache-Control": "no-store", ...error.headers }, body: JSON.stringify(error.envelope) };
    }
    log.error(`request ${id} failed`, error);
    return failure(new ApiError(500, "INTERNAL_ERROR", "An unexpected error occurred. It was logged under the id in X-Request-Id."), id);
  }

  function preflight(match: Match, path: string): Reply {
    const allow =
      match.kind === "found"
        ? `${match.route.method === "GET" ? "GET, HEAD" : match.route.method}, OPTIONS`
        : match.kind === "other-method"
          ? match.allow
          : undefined;
    if (allow === undefined) throw notFound(path);
    return {
      status: 204,
      headers: {
        Allow: allow,
        "Access-Control-Allow-Methods": allow,
        "Access-Control-Allow-Headers": "Authorization, Content-Type, X-Request-Id",
        "Access-Control-Max-Age": "86400",
      },
      body: null,
    };
  }

  function notFound(path: string): ApiError {
    return new ApiError(
      404,
      "NOT_FOUND",
      `There is nothing at ${path.length > 200 ? `${path.slice(0, 200)}…` : path}. The API is described at ${documentation}.`,
    );
  }

  function answer(request: Request, match: Match, path: string, query: string, limit: LimitState, keyed: boolean): Reply | Promise<Reply> {
    // Before the limit: a browser whose preflight is refused cannot read the 429 of the request either.
    if (request.method === "OPTIONS") return preflight(match, path);
    if (!limit.allowed) {
      const seconds = Math.max(1, Math.ceil((limit.resetAt - Date.now()) / 1000));
      throw new ApiError(
        429,
        "RATE_LIMITED",
        `Too many requests: the limit is ${limit.limit} per minute. Try again in ${seconds} s.`,
        undefined,
        { "Retry-After": String(seconds) },
      );
    }
    if (match.kind === "none") throw notFound(path);
    if (match.kind === "other-method") {
      throw new ApiError(405, "NOT_FOUND", `${request.method} is not allowed on ${path}; allowed: ${match.allow}.`, undefined, {
        Allow: match.allow,
      });
    }
    if (match.route.protected && settings.apiKey !== undefined && !keyed) {
      throw new ApiError(401, "UNAUTHORIZED", "This operation needs the API key: send it as Authorization: Bearer <key>.", undefined, {
        "WWW-Authenticate": "Bearer",
      });
    }
    return match.route.handle({ request, query, params: match.params });
  }

  return (request, peer) => {
    const started = log.request !== undefined || metrics !== undefined ? performance.now() : 0;
    const id = requestId(request);
    const { path, query } = split(request.url);
    const { method } = request;
    const match = find(method === "OPTIONS" ? (request.headers.get("access-control-request-method") ?? "GET") : method, path);
    const keyed = hasKey(request.headers.get("authorization"));
    const address = clientAddress(
      peer.requestIP(request)?.address ?? "",
      settings.trustedProxies.length > 0 ? request.headers.get("x-forwarded-for") : null,
      settings.trustedProxies,
    );

    const conclude = (reply: Reply, limit: LimitState | undefined): Response => {
      const response = respond(request, id, reply, limit);
      if (started !== 0) {
        const route = match.kind === "found" ? match.route.path : match.kind === "other-method" ? match.path : "(none)";
        const duration = performance.now() - started;
        log.request?.({ id, method, route, status: response.status, duration });
        metrics?.observe(method, route, response.status, duration / 1000);
      }
      return response;
    };
    const serve = (limit: LimitState): Response | Promise<Response> => {
      try {
        const reply = answer(request, match, path, query, limit, keyed);
        if (!(reply instanceof Promise)) return conclude(reply, limit);
        return reply.then(
          (settled) => conclude(settled, limit),
          (error) => conclude(failure(error, id), limit),
        );
      } catch (error) {
        return conclude(failure(error, id), limit);
      }
    };
    const state = limiter(limitClass(match, method), keyed ? `+${address}` : address, method === "OPTIONS");
    return state instanceof Promise ? state.then(serve, (error) => conclude(failure(error, id), undefined)) : serve(state);
  };
}
