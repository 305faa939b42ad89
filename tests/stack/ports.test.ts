import { expect, test } from "bun:test";
import * as v from "valibot";
import { ContainerPort, type Service } from "../../lib/catalog/schema.ts";
import { assignPorts } from "../../lib/stack/ports.ts";

const port = (fields: Record<string, unknown>) => v.parse(ContainerPort, { purpose: "web", ...fields });
const service = (id: string, ...ports: ReturnType<typeof port>[]) =>
  ({ id, name: id, containers: { [id]: { ports } } }) as unknown as Service;

test("each service keeps its own port where it is free; the later one is moved and reported", () => {
  const a = port({ container: 3000, host: 3000 });
  const b = port({ container: 3000, host: 3000 });
  const c = port({ container: 3001, host: 3001 });
  const ports = assignPorts([service("a", a), service("b", b), service("c", c)], false);
  expect([a, b, c].map(ports.of)).toEqual([3000, 3002, 3001]);
  expect(ports.reassigned).toEqual([{ service: "b", purpose: "web", wanted: 3000, given: 3002 }]);
});

test("tcp and udp do not collide", () => {
  const tcp = port({ container: 53, host: 53, scheme: "tcp" });
  const udp = port({ container: 53, host: 53, scheme: "udp" });
  const ports = assignPorts([service("dns", tcp, udp)], false);
  expect(ports.reassigned).toEqual([]);
  expect(ports.of(udp)).toBe(53);
});

test("behind a proxy, routed ports are not published, and the proxy's own are taken", () => {
  const routed = port({ container: 80, host: 8080, route: true });
  const web = port({ container: 80, host: 80 });
  const ports = assignPorts([service("a", routed), service("b", web)], true);
  expect(ports.of(routed)).toBeUndefined();
  expect(ports.of(web)).toBe(8080);
});

test("ports without a host port stay inside", () => {
  const inner = port({ container: 9000 });
  expect(assignPorts([service("a", inner)], false).of(inner)).toBeUndefined();
});
