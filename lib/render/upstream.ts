/** Where the proxy finds what it routes to. */
import { hostAlias, type Plan } from "../stack/plan.ts";
import type { Route } from "../stack/routes.ts";

/** `host:port` of a route's upstream: the container; the host for a native service; loopback for a native proxy. */
export function upstream(plan: Plan, route: Route): string {
  const native = plan.native?.services.some((service) => service.id === route.service) ?? false;
  if (plan.proxy?.native) return `127.0.0.1:${native ? route.port : route.hostPort}`;
  return `${native ? hostAlias : route.container}:${route.port}`;
}
