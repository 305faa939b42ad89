/** Addresses of a stack: which ports get a public name, which are published on the host, and as what URL. */

import { baseServiceId } from "../catalog/index.ts";
import type { ContainerPort, Service } from "../catalog/schema.ts";
import { entriesOf } from "../memo.ts";
import { isProxyNative } from "./native.ts";
import type { StackRequest } from "./request.ts";
import type { Resolution } from "./resolve.ts";

/** The proxy of a stack. */
export interface PlannedProxy {
  readonly id: "caddy" | "traefik" | "nginx";
  readonly domain: string;
  /**
   * `local`: a name of this machine (`localhost` and below), served over plain HTTP on loopback.
   * `internal`: a name of a private network (RFC 6762, RFC 8375, RFC 6761), which no public authority certifies.
   * `public`: everything else; certificates come by ACME, and HTTP redirects to HTTPS.
   */
  readonly reach: "local" | "internal" | "public";
  readonly scheme: "http" | "https";
  /** Runs on the host instead of in a container. */
  readonly native: boolean;
}

/** A public name and the container port behind it. */
export interface Route {
  readonly name: string;
  readonly host: string;
  readonly service: string;
  readonly container: string;
  readonly port: number;
  /** Port of the host that leads there, where it is published. */
  readonly hostPort: number | undefined;
  readonly scheme: "http" | "https";
}

/** One port of the stack as people see it. */
export interface Address {
  readonly service: string;
  readonly container: string;
  readonly purpose: string;
  /** An `http` URL, or `host:port` for other protocols. */
  readonly address: string;
  /** `routed`: through the proxy. `published`: on the host's loopback. `internal`: inside the stack only. */
  readonly kind: "routed" | "published" | "internal";
  readonly port: ContainerPort;
  readonly hostPort: number | undefined;
}

export interface Addresses {
  /** The domain of the stack; `localhost` without a proxy. */
  readonly domain: string;
  readonly routes: readonly Route[];
  readonly all: readonly Address[];
  /** The addresses of each service that has any. */
  readonly of: (service: string) => readonly Address[];
  /** The addresses of a service that people reach, with spaces between. */
  readonly shown: (service: string) => string;
  /** Base URL by route name or service id, without a trailing slash. */
  readonly urls: ReadonlyMap<string, string>;
}

/** Plans the proxy of a request; without a domain it serves `localhost`. */
export function planProxy(request: StackRequest): PlannedProxy | undefined {
  if (request.proxy === undefined) return undefined;
  const domain = request.domain ?? "localhost";
  const local = domain === "localhost" || domain.endsWith(".localhost");
  const internal = !domain.includes(".") || /\.(local|internal|lan|home|test|invalid|example|home\.arpa)$/.test(domain);
  const reach = local ? "local" : internal ? "internal" : "public";
  return { id: request.proxy, domain, reach, scheme: local ? "http" : "https", native: isProxyNative(request) };
}

/** Plans routes and addresses. The base service gets the domain itself, others `<name>.<domain>`. */
export function planAddresses(resolution: Resolution, proxy: PlannedProxy | undefined): Addresses {
  const routes: Route[] = [];
  const all: Address[] = [];
  const byService = new Map<string, Address[]>();
  const urls = new Map<string, string>();
  for (const service of resolution.services) {
    let main: string | undefined;
    const before = all.length;
    for (const [container, { ports }] of entriesOf(service.containers)) {
      for (const port of ports) {
        const name = port.route === true ? service.id : port.route;
        const address = plan(service, container, port, name);
        if (name !== false) urls.set(name, address);
        if (port.scheme === "http" || port.scheme === "https") main ??= address;
        if (port.route === true) main = address;
      }
    }
    if (all.length > before) byService.set(service.id, all.slice(before));
    urls.set(service.id, urls.get(service.id) ?? main ?? `http://${service.id}`);
  }
  const of = (service: string) => byService.get(service) ?? [];
  const shown = (service: string) =>
    of(service)
      .filter((address) => address.kind !== "internal")
      .map((address) => address.address)
      .join(" ");
  return { domain: proxy?.domain ?? "localhost", routes, all, of, shown, urls };

  function plan(service: Service, container: string, port: ContainerPort, name: string | false): string {
    const web = port.scheme === "http" || port.scheme === "https";
    const hostPort = resolution.ports.of(port);
    const fact = { service: service.id, container, purpose: port.purpose, port, hostPort };
    if (proxy !== undefined && name !== false && web) {
      const host = service.id === baseServiceId && name === service.id ? proxy.domain : `${name}.${proxy.domain}`;
      routes.push({
        name,
        host,
        service: service.id,
        container,
        port: port.container,
        hostPort,
        scheme: port.scheme === "https" ? "https" : "http",
      });
      const address = `${proxy.scheme}://${host}`;
      all.push({ ...fact, address, kind: "routed" });
      return address;
    }
    const kind = hostPort === undefined ? "internal" : "published";
    const place = hostPort === undefined ? `${container}:${port.container}` : `localhost:${hostPort}`;
    const address = web ? `${port.scheme}://${place}` : place;
    all.push({ ...fact, address, kind });
    return address;
  }
}
