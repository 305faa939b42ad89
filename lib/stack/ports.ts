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

/** Ports of a service that ask for a port of the host. */
const hostPorts = memo((service: Service) =>
  Object.values(service.containers).flatMap((container) => container.ports.filter((port) => port.host !== undefined)),
);

/**
 * Assigns host ports. Two protocols may share a number (53/tcp and 53/udp). First come, first served in the order of
 * `services`; wanted ports of all are kept free for their owners before anybody is moved.
 */
export function assignPorts(services: readonly Service[], proxied: boolean): PortAssignment {
  const assigned = new Map<ContainerPort, number>();
  const taken = new Set<string>(proxied ? proxyPorts.map((port) => `tcp/${port}`) : []);
  const key = (port: ContainerPort, number: number) => `${port.scheme === "udp" ? "udp" : "tcp"}/${number}`;
  const moved: { port: ContainerPort; service: string }[] = [];

  for (const service of services) {
    for (const port of hostPorts(service)) {
      if (!isPublished(port, proxied)) continue;
      const wanted = key(port, port.host as number);
      if (taken.has(wanted)) moved.push({ port, service: service.id });
      else {
        taken.add(wanted);
        assigned.set(port, port.host as number);
      }
    }
  }
  const reassigned: Reassignment[] = [];
  for (const { port, service } of moved) {
    const wanted = port.host as number;
    let given = wanted < 1024 ? wanted + 8000 : wanted + 1;
    while (taken.has(key(port, given))) given = given >= 65535 ? 1024 : given + 1;
    taken.add(key(port, given));
    assigned.set(port, given);
    reassigned.push({ service, purpose: port.purpose, wanted, given });
  }
  return { of: (port) => assigned.get(port), reassigned };
}
