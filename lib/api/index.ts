/** The operations of the API and the routes that lead to them. */
import type { CatalogSource } from "../catalog/index.ts";
import { documentText } from "../embedded.ts";
import { envelope, json, type Reply, represent, represented } from "../http/reply.ts";
import type { Route } from "../http/router.ts";
import { lazy } from "../memo.ts";
import { version } from "../version.ts";
import { catalogHandlers } from "./catalog.ts";
import { generateHandler, validateHandler } from "./stack.ts";

/** Path that every operation lies below. */
export const basePath = "/api/v1";

/** A reply that is made when it is first asked for, so that starting costs nothing, and kept. */
function once(make: () => string): () => Reply {
  return lazy(() => represented(represent(make())));
}

/** Makes the routes of the API over a catalog, which is taken up with the first request that needs it. `startedAt` is in milliseconds of `performance.now()`. */
export function apiRoutes({ counts, index }: CatalogSource, startedAt: number): Route[] {
  const handlers = lazy(() => catalogHandlers(index()));
  const validate = lazy(() => validateHandler(index()));
  const generate = lazy(() => generateHandler(index()));
  const read = { method: "GET", limit: "read", protected: false } as const;
  const write = { method: "POST", protected: true } as const;
  // Made once in each second of uptime.
  let uptime = -1;
  let reply: Reply | undefined;
  const health = () => {
    const seconds = Math.floor((performance.now() - startedAt) / 1000);
    if (reply === undefined || seconds !== uptime) reply = json({ status: "healthy", version, uptime: seconds, ...counts });
    uptime = seconds;
    return reply;
  };
  const links = Object.fromEntries(
    ["health", "services", "skills", "presets", "validate", "generate", "openapi.json"].map((name) => [
      name.replace(".json", ""),
      `${basePath}/${name}`,
    ]),
  );
  return [
    { ...read, path: `${basePath}/health`, handle: health },
    { ...read, path: `${basePath}/services`, handle: ({ query }) => handlers().services(query) },
    { ...read, path: `${basePath}/skills`, handle: () => handlers().skills() },
    { ...read, path: `${basePath}/presets`, handle: () => handlers().presets() },
    { ...read, path: `${basePath}/presets/:name`, handle: ({ params }) => handlers().preset(params.name ?? "") },
    { ...write, limit: "write", path: `${basePath}/validate`, handle: ({ request }) => validate()(request) },
    { ...write, limit: "generate", path: `${basePath}/generate`, handle: ({ request }) => generate()(request) },
    { ...read, path: `${basePath}/openapi.json`, handle: once(documentText) },
    { ...read, path: "/", handle: once(() => envelope({ name: "Stackwright", version, links })) },
  ];
}
