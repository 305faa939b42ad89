/** Routing by method and path: exact paths in a map, paths with parameters as `URLPattern`s. */
import type { LimitClass } from "./limit.ts";
import type { Reply } from "./reply.ts";

/** What a handler is given. `query` is without the question mark. */
export interface RouteContext {
  readonly request: Request;
  readonly query: string;
  readonly params: Readonly<Record<string, string>>;
}

export interface Route {
  readonly method: "GET" | "POST";
  /** A path, or a pattern such as `/api/v1/presets/:name`. */
  readonly path: string;
  readonly limit: LimitClass;
  /** Whether the operation asks for the API key. */
  readonly protected: boolean;
  readonly handle: (context: RouteContext) => Reply | Promise<Reply>;
}

/** The outcome of routing. `HEAD` finds the route of `GET` (RFC 9110, section 9.3.2). */
export type Match =
  | { readonly kind: "found"; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: "other-method"; readonly allow: string; readonly path: string }
  | { readonly kind: "none" };

/** Bounds of the memory for matched paths, which strangers can fill with what they like. */
const maxMatched = 1000;
const maxLength = 200;

const noParams: Readonly<Record<string, string>> = Object.freeze({});

/** Makes a function that finds the route of a method and path. */
export function router(routes: readonly Route[]): (method: string, path: string) => Match {
  const exact = new Map<string, Map<string, Route>>();
  const patterns: { pattern: URLPattern; path: string; methods: Map<string, Route> }[] = [];
  for (const route of routes) {
    let methods = exact.get(route.path) ?? patterns.find((entry) => entry.path === route.path)?.methods;
    if (methods === undefined) {
      methods = new Map();
      if (/[:*(]/.test(route.path)) patterns.push({ pattern: new URLPattern({ pathname: route.path }), path: route.path, methods });
      else exact.set(route.path, methods);
    }
    methods.set(route.method, route);
  }
  const choose = (method: string, path: string, methods: Map<string, Route>, params: Readonly<Record<string, string>>): Match => {
    const route = methods.get(method === "HEAD" ? "GET" : method);
    if (route !== undefined) return { kind: "found", route, params };
    const allow = [...methods.keys()].flatMap((name) => (name === "GET" ? ["GET", "HEAD"] : [name]));
    return { kind: "other-method", allow: [...allow, "OPTIONS"].join(", "), path };
  };
  // Paths that a pattern matched for GET: a pattern costs more than all else of such a request.
  const matched = new Map<string, Match>();
  return (method, path) => {
    const methods = exact.get(path);
    if (methods !== undefined) return choose(method, path, methods, noParams);
    const known = method === "GET" ? matched.get(path) : undefined;
    if (known !== undefined) return known;
    for (const entry of patterns) {
      const match = entry.pattern.exec({ pathname: path });
      if (match === null) continue;
      const params: Record<string, string> = {};
      for (const [name, value] of Object.entries(match.pathname.groups)) params[name] = decode(value ?? "");
      const found = choose(method, entry.path, entry.methods, params);
      if (method === "GET" && path.length <= maxLength && matched.size < maxMatched) matched.set(path, found);
      return found;
    }
    return { kind: "none" };
  };
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
