/** `Caddyfile` (https://caddyserver.com/docs/caddyfile). */
import type { Plan } from "../stack/plan.ts";
import type { Route } from "../stack/routes.ts";
import type { BundleFile } from "./file.ts";
import { upstream } from "./upstream.ts";

function site(plan: Plan, route: Route): string {
  const local = plan.proxy?.reach === "local";
  const secure = plan.proxy?.reach === "internal" ? "\ttls internal\n" : "";
  const transport = route.scheme === "https" ? " {\n\t\ttransport http {\n\t\t\ttls_insecure_skip_verify\n\t\t}\n\t}" : "";
  // Caddy passes WebSockets, streams and large bodies as they are; it sets X-Forwarded-For, -Proto and -Host itself.
  return `${local ? "http://" : ""}${route.host} {\n${secure}\timport common\n\treverse_proxy ${upstream(plan, route)}${transport}\n}\n`;
}

/** Renders the Caddyfile: one site for each route, HTTPS and its certificates by Caddy itself. */
export function renderCaddy(plan: Plan): BundleFile[] {
  if (plan.proxy?.id !== "caddy") return [];
  const global = plan.proxy.reach === "local" ? "\tauto_https off\n" : "";
  const hsts = plan.proxy.reach === "public" ? '\theader ?Strict-Transport-Security "max-age=31536000"\n' : "";
  const head = `{\n${global}\t{$CADDY_GLOBAL_OPTIONS}\n}\n\n(common) {\n\tencode zstd gzip\n\theader ?X-Content-Type-Options nosniff\n${hsts}}\n`;
  // Names that the stack does not know get no answer.
  const rest = plan.proxy.reach === "local" ? ["http:// {\n\tabort\n}\n"] : [];
  return [{ path: "Caddyfile", content: [head, ...plan.addresses.routes.map((route) => site(plan, route)), ...rest].join("\n") }];
}
