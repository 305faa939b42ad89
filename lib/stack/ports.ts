/** Host ports: each service's own where it is free, the next free one where it is not. */
import type { ContainerPort, Service } from "../catalog/schema.ts";
import { memo } from "../memo.ts";

export interface Reassignment {
  readonly service: string;
  readonly purpose: string;
  readonly wanted: number;
  readonly given: number;
}

export interface PortAssignment {
  /** Host port of a published port, `undefined` where it is not published. */
  readonly of: (port: ContainerPort) => number | undefined;
  readonly reassigned: readonly Reassignment[];
}

/** Ports that a proxy listens on. */
const proxyPorts = [80, 443];

/** Whether a port is published on the host: behind a proxy, what the proxy routes is not. */
export function isPublished(port: ContainerPort, proxied: boolean): boolean {
  return port.host !== undefined && !(proxied && port.route !== false);
}

/** The number under which a port of the host is taken: two protocols may share one (53/tcp and 53/udp), so UDP counts on. */
const claim = (port: ContainerPort, number: number) => (port.scheme === "udp" ? number + 65536 : number);

/** Ports of a service that ask for a port of the host, with what they claim. */
const hostPorts = memo((service: Service) =>
  Object.values(service.containers).flatMap((container) =>
    container.ports.flatMap((port) => (port.host === undefined ? [] : [{ port, wanted: port.host, key: claim(port, port.host) }])),
  ),
);

/**
 * Assigns host ports. First come, first served in the order of `services`; wanted ports of all are kept free for their owners
 * before anybody is moved.
 */
export function assignPorts(services: readonly Service[], proxied: boolean): PortAssignment {
  const taken = new Set<number>(proxied ? proxyPorts : []);
  const moved: { port: ContainerPort; wanted: number; service: string }[] = [];
  for (const service of services) {
    for (const { port, wanted, key } of hostPorts(service)) {
      if (!isPublished(port, proxied)) continue;
      if (taken.has(key)) moved.push({ port, wanted, service: service.id });
      else taken.add(key);
    }
  }
  const elsewhere = new Map<ContainerPort, number>();
  const reassigned: Reassignment[] = [];
  for (const { port, wanted, service } of moved) {
    let given = wanted < 1024 ? wanted + 8000 : wanted + 1;
    while (taken.has(claim(port, given))) given = given >= 65535 ? 1024 : given + 1;
    taken.add(claim(port, given));
    elsewhere.set(port, given);
    reassigned.push({ service, purpose: port.purpose, wanted, given });
  }
  return { of: (port) => (isPublished(port, proxied) ? (elsewhere.get(port) ?? port.host) : undefined), reassigned };
}
