/** The entry that `docs/adding-a-service.md` shows must be one that the catalog would take. */
import { expect, test } from "bun:test";
import * as v from "valibot";
import { checkCatalog } from "../../lib/catalog/check.ts";
import { indexCatalog } from "../../lib/catalog/index.ts";
import { review } from "../../lib/catalog/review.ts";
import { Service } from "../../lib/catalog/schema.ts";
import { renderBundle } from "../../lib/render/index.ts";
import { planStack } from "../../lib/stack/plan.ts";
import { resolve } from "../../lib/stack/resolve.ts";
import { catalog, root } from "../support.ts";

const guide = await Bun.file(`${root}/docs/adding-a-service.md`).text();
const service = v.parse(Service, Bun.YAML.parse(/```yaml\n([\s\S]*?)```/.exec(guide)?.[1] ?? ""));
const extended = { ...catalog.catalog, services: [...catalog.catalog.services, service] };

test("the guide's entry is new, sound and needs no second look", () => {
  expect(catalog.services.has(service.id)).toBe(false);
  expect(checkCatalog(extended)).toEqual([]);
  expect(Object.values(review({ ...extended, services: [service], proxies: [] })).flat()).toEqual([]);
});

test("the guide's entry makes a stack with a database of its own", () => {
  const index = indexCatalog(extended);
  const request = { name: "try", services: [service.id], proxy: "caddy", domain: "example.org" } as const;
  const resolution = resolve(index, { ...request, services: [service.id] });
  expect(resolution.problems).toEqual([]);
  const files = renderBundle(planStack(index, { ...request, services: [service.id] }, resolution), index);
  const file = (path: string) => files.find((entry) => entry.path === path)?.content ?? "";
  expect(file("docker-compose.yml")).toContain("miniflux/miniflux:2.3.3");
  expect(file("docker-compose.yml")).toMatch(/postgresql:\/\/miniflux:\$\{\w+:\?.*\}@postgresql:5432\/miniflux\?sslmode=disable/);
  expect(file(".env.example")).toContain("MINIFLUX_PASSWORD=");
  expect(files.map(({ content }) => String(content)).join("\n")).toContain("miniflux.example.org");
});
