/**
 * Every preset on a real engine, wired: each container up and healthy by the means that its image has, each route answered by
 * the container it belongs to, nothing else open. Where images cannot be pulled, most are stand-ins (see `images/build.ts`).
 */
import { afterAll, describe, expect, test } from "bun:test";
import type { StackRequest } from "../../lib/stack/request.ts";
import { resolve } from "../../lib/stack/resolve.ts";
import { planAddresses, planProxy } from "../../lib/stack/routes.ts";
import { catalog } from "../support.ts";
import { askRouted, exposesNoMore, localPorts, startedWell, unpack } from "./engine.ts";

const minutes = 60_000;
const table: Record<string, unknown>[] = [];
afterAll(() => console.table(table));

/** The kinds of proxy in turn, so that each meets many presets. */
const kinds: Pick<StackRequest, "proxy" | "domain">[] = [
  { proxy: "nginx", domain: "wired.example.org" },
  { proxy: "caddy" },
  { proxy: "caddy", domain: "wired.example.org" },
  { proxy: "nginx" },
  {},
  ...(Bun.which("traefik") ? ([{ proxy: "traefik", domain: "wired.internal" }, { proxy: "traefik" }] as const) : []),
];
const cases = [...catalog.presets.values()].map((preset, index) => ({ preset: preset.id, ...kinds[index % kinds.length] }));

describe.each(cases)("$preset ($proxy, $domain)", (chosen) => {
  test(
    "comes up healthy, answers where it is routed and nowhere else",
    async () => {
      const request = { name: "proof-wired", ...chosen } satisfies StackRequest;
      const resolution = resolve(catalog, request);
      const proxy = planProxy(request);
      const addresses = planAddresses(resolution, proxy);
      await using stack = await unpack(request, { interval: 2 });
      await stack.set(localPorts);
      const seconds = Math.round(await startedWell(stack));
      let answered = 0;
      for (const route of addresses.routes) {
        const path = route.service === "openclaw" ? "/healthz" : "/";
        const { status, body } = await askRouted(proxy?.scheme ?? "http", route.host, path);
        if (stack.standins.includes(route.container))
          expect({ host: route.host, status, by: status === 200 && JSON.parse(body).standin }).toEqual({
            host: route.host,
            status: 200,
            by: route.container,
          });
        else expect({ host: route.host, well: status >= 200 && status < 500 }).toEqual({ host: route.host, well: true });
        answered++;
      }
      await exposesNoMore(addresses, proxy);
      expect((await stack.script("status")).code).toBe(0);
      const containers = await stack.containers();
      table.push({
        preset: chosen.preset,
        proxy: proxy?.id ?? "none",
        containers: containers.length,
        healthy: containers.filter(({ health }) => health === "healthy").length,
        "stand-ins": stack.standins.length,
        seconds,
        answered,
      });
    },
    15 * minutes,
  );
});
