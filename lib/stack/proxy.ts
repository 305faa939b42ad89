/** The containers of a stack's proxy, and the network on which the gateway knows it. */
import type { ReverseProxy, Service } from "../catalog/schema.ts";
import { type DefinitionContext, definitionOf, type PlannedContainer, type PlannedMount, type PlannedPort } from "./container.ts";
import type { ReferenceScope } from "./references.ts";
import type { PlannedProxy } from "./routes.ts";
import type { Variables } from "./variables.ts";

/**
 * A network of 254 addresses below 10.128.0.0/9, picked by the stack's name so that two stacks rarely collide, and the proxy's
 * address on it. The gateway believes one proxy only, so that proxy needs an address that stays.
 */
function networkOf(slug: string): { subnet: string; proxyAddress: string } {
  let hash = 0x811c9dc5;
  for (const char of slug) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  const prefix = `10.${128 + (hash % 127)}.${(hash >>> 8) % 256}`;
  return { subnet: `${prefix}.0/24`, proxyAddress: `${prefix}.250` };
}

/** Adds the settings by which the network of a stack, and the proxy's address on it, can be changed. */
export function addNetworkSettings(variables: Variables, entry: ReverseProxy, slug: string): void {
  const { subnet, proxyAddress } = networkOf(slug);
  variables.addSettings(entry.name, {
    STACK_SUBNET: {
      description: "Addresses of the stack's own network; change it, and PROXY_ADDRESS, where it collides with another",
      default: subnet,
    },
    PROXY_ADDRESS: {
      description: `Address of ${entry.name} on that network; the gateway believes what comes from it about clients`,
      default: proxyAddress,
    },
  });
}

/** Adds the settings of a proxy: its own, and where it listens. */
function addProxySettings(variables: Variables, entry: ReverseProxy, proxy: PlannedProxy): void {
  variables.addSettings(entry.name, entry.settings);
  variables.addSettings(entry.name, {
    HTTP_PORT: { description: "Port of this host for plain HTTP", default: "80" },
    ...(proxy.reach === "local" ? {} : { HTTPS_PORT: { description: "Port of this host for HTTPS", default: "443" } }),
    PROXY_BIND_ADDRESS: {
      description: `Address of this host on which ${entry.name} takes connections; 0.0.0.0 is every interface`,
      default: proxy.reach === "local" ? "127.0.0.1" : "0.0.0.0",
    },
  });
}

/** Plans the containers of a proxy as those of a service that has no secrets. */
export function planProxyContainers(
  entry: ReverseProxy,
  proxy: PlannedProxy,
  base: Service,
  scope: ReferenceScope,
  { platform, extraHosts }: { readonly platform: string | undefined; readonly extraHosts: readonly string[] },
): PlannedContainer[] {
  const { variables } = scope;
  addProxySettings(variables, entry, proxy);
  const { id, name, settings, containers } = entry;
  const owner: Service = { ...base, id, name, secrets: {}, settings, containers, files: {}, backup: undefined };
  const context: DefinitionContext = {
    scope,
    present: new Set(),
    routed: new Set(),
    platform,
    gpu: false,
    addressed: () => false,
    dependsOn: (_, { dependsOn }) => Object.fromEntries(Object.keys(dependsOn).map((other) => [other, "service_started" as const])),
    mounts: mountsOf,
    extraHosts,
  };
  const published = (variable: string, target: number, protocol: "tcp" | "udp" = "tcp"): PlannedPort => ({
    address: variables.reference("PROXY_BIND_ADDRESS"),
    published: variables.reference(variable),
    target,
    protocol,
  });
  const ports = [published("HTTP_PORT", 80)];
  if (proxy.reach !== "local") ports.push(published("HTTPS_PORT", 443));
  if (proxy.reach !== "local" && id === "caddy") ports.push(published("HTTPS_PORT", 443, "udp"));
  return (
    Object.entries(containers)
      // Only public names get certificates by certbot.
      .filter(([container]) => container !== "certbot" || proxy.reach === "public")
      .map(([container, options]) => {
        const main = container === id;
        return {
          definition: definitionOf(container, options, owner, context),
          ports: main ? ports : [],
          address: main ? variables.reference("PROXY_ADDRESS") : undefined,
        };
      })
  );
}

/** The rendered files that a container of a proxy reads, where it reads them. */
function mountsOf(container: string): PlannedMount[] {
  const mount = (source: string, target: string): PlannedMount => ({ type: "bind", source, target, readOnly: true });
  switch (container) {
    case "caddy":
      return [mount("./Caddyfile", "/etc/caddy/Caddyfile")];
    case "traefik":
      return [mount("./traefik.yml", "/etc/traefik/traefik.yml"), mount("./configs/traefik", "/etc/traefik/dynamic")];
    case "nginx":
      return [
        mount("./nginx.conf", "/etc/nginx/nginx.conf"),
        mount("./configs/nginx/certificates.sh", "/docker-entrypoint.d/10-certificates.sh"),
      ];
    case "certbot":
      return [mount("./configs/nginx/certbot.sh", "/certbot.sh"), mount("./configs/nginx/domains", "/domains")];
    default:
      return [];
  }
}
