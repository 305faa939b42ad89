/** Where the proxy finds what it routes to. */
import { hostAlias, type Plan } from "../stack/plan.ts";
import type { Route } from "../stack/routes.ts";

/** `host:port` of a route's upstream: the container, or the host for a native service. */
export function upstream(plan: Plan, route: Route): string {
  const native = plan.native?.services.some((service) => service.id === route.service);
  return `${native ? hostAlias : route.container}:${route.port}`;
}
