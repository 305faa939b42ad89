/** What holds for every stack: all presets, all services, each proxy and none, both architectures, with and without a GPU. */
import { describe, expect, test } from "bun:test";
import { parse } from "yaml";
import { renderBundle } from "../../lib/render/index.ts";
import { planStack } from "../../lib/stack/plan.ts";
import { proxies, type StackRequest } from "../../lib/stack/request.ts";
import { resolve } from "../../lib/stack/resolve.ts";
import { catalog } from "../support.ts";

interface ComposeService {
  image: string;
  environment?: Record<string, string>;
  volumes?: { type: string; source: string; target: string }[];
  ports?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test?: string[] };
  labels?: Record<string, string>;
  command?: string[];
  deploy?: { resources?: { reservations?: { memory?: string; devices?: unknown[] } } };
}

function generate(request: StackRequest) {
  const resolution = resolve(catalog, request);
  if (resolution.problems.length > 0) return undefined;
  const plan = planStack(catalog, { ...request, name: "test stack" }, resolution);
  const files = renderBundle(plan, catalog);
  return { plan, paths: files.map((file) => file.path), files: Object.fromEntries(files.map((file) => [file.path, file.content])) };
}

function checkStack(request: StackRequest) {
  const stack = generate(request);
  if (stack === undefined) return;
  const { plan, paths, files } = stack;
  const problems: string[] = [];
  const say = (text: string) => problems.push(`${JSON.stringify(request)}: ${text}`);
  if (new Set(paths).size !== paths.length) say("a path occurs twice");

  const compose = parse(files["docker-compose.yml"] ?? "", { merge: true }) as {
    name: string;
    services: Record<string, ComposeService> | null;
    volumes?: Record<string, unknown>;
  };
  const services = Object.entries(compose.services ?? {});
  const names = new Set(services.map(([name]) => name));
  const example = files[".env.example"] ?? "";
  const variables = new Map(
    Array.from(example.matchAll(/^(?:# generate: (.*)\n)?([A-Z][A-Z0-9_]*)=(.*)$/gm), (match) => [
      match[2] as string,
      { secret: match[1] !== undefined, value: match[3] },
    ]),
  );

  for (const [name, { secret, value }] of variables) if (secret && value !== "") say(`${name}: a secret has a value in .env.example`);
  for (const [, name, tail] of (files["docker-compose.yml"] ?? "").matchAll(/(?<!\$)\$\{([A-Z][A-Z0-9_]*)([^}]*)\}/g)) {
    const variable = variables.get(name as string);
    if (variable === undefined) say(`\${${name}} is not in .env.example`);
    else if (variable.secret && !tail?.startsWith(":?")) say(`\${${name}} is a secret and not required`);
  }
  if (/\{\{[a-z]/.test((files["docker-compose.yml"] ?? "") + example + files["README.md"])) say("a reference was not resolved");

  let reserved = 0;
  const published = new Set<string>();
  for (const [name, service] of services) {
    if (/:latest$|^[^:]+$/.test(service.image)) say(`${name}: the image ${service.image} is not pinned`);
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      if (!names.has(other)) say(`${name}: depends on ${other}, which is not there`);
      if (condition === "service_healthy" && !compose.services?.[other]?.healthcheck)
        say(`${name}: waits for the health of ${other}, which has no check`);
    }
    for (const volume of service.volumes ?? []) {
      if (volume.type === "volume" && !(volume.source in (compose.volumes ?? {})))
        say(`${name}: the volume ${volume.source} is not declared`);
      const path = volume.source.replace(/^\.\//, "");
      if (volume.source.startsWith("./") && !paths.some((file) => file === path || file.startsWith(`${path}/`)))
        say(`${name}: mounts ${volume.source}, which is not in the bundle`);
    }
    for (const port of service.ports ?? []) {
      if (
        !/^(127\.0\.0\.1|\$\{[A-Z0-9_]+_BIND_ADDRESS:-127\.0\.0\.1\}):/.test(port) &&
        !(name === plan.proxy?.id && port.startsWith("${PROXY_BIND_ADDRESS:-"))
      )
        say(`${name}: ${port} listens on every interface`);
      const host = port.replace(/:\d+(\/udp)?$/, "$1");
      if (published.has(host)) say(`${name}: ${host} is published twice`);
      published.add(host);
    }
    for (const text of [...(service.command ?? []), ...Object.values(service.labels ?? {})])
      if (/(?<!\$)\$\{/.test(text)) say(`${name}: a variable stands in a command or label: ${text}`);
    const memory = service.deploy?.resources?.reservations?.memory;
    if (memory && name !== plan.proxy?.id && name !== "certbot") reserved += Number.parseInt(memory, 10);
    if (service.deploy?.resources?.reservations?.devices && request.gpu !== true) say(`${name}: asks for a GPU`);
  }
  if (request.deploymentType !== "bare-metal" && reserved > plan.resolution.estimatedMemoryMB)
    say(`reserves ${reserved} MB, more than the estimate`);

  const proxyText = (files.Caddyfile ?? "") + (files["nginx.conf"] ?? "") + (files["configs/traefik/routes.yml"] ?? "");
  for (const route of plan.addresses.routes) {
    if (!proxyText.includes(route.host)) say(`${route.host} is not in the proxy's configuration`);
    if (!names.has(route.container) && !plan.native) say(`the route ${route.name} leads to ${route.container}, which is not there`);
    const owner = catalog.services.get(route.service);
    if (owner?.login === "none" || owner?.engine) say(`${route.host} is routed without a login of its own`);
  }
  if (plan.proxy && !plan.addresses.routes.some((route) => route.service === "openclaw" && route.host === plan.proxy?.domain))
    say("the domain itself does not lead to the gateway");
  JSON.parse(files["configs/openclaw/config.yaml"] ?? "");
  expect(problems).toEqual([]);
}

const variants = [undefined, ...proxies].flatMap((proxy) =>
  (["linux/amd64", "linux/arm64"] as const).flatMap((platform) =>
    [false, true].map((gpu) => ({ ...(proxy ? { proxy, domain: "stack.example.org" } : {}), platform, gpu })),
  ),
);

describe.each([...catalog.presets.keys()])("preset %s", (preset) => {
  test("makes a stack that fits together, in every variant", () => {
    for (const variant of variants) checkStack({ preset, ...variant });
    for (const proxy of proxies) {
      checkStack({ preset, proxy });
      checkStack({ preset, proxy, domain: "stack.internal" });
    }
    for (const platform of ["linux/amd64", "darwin/arm64", "windows/amd64"] as const)
      checkStack({ preset, proxy: "caddy", domain: "a.example.org", platform, deploymentType: "bare-metal" });
  });
});

describe("each service alone", () => {
  test.each([...catalog.services.keys()])("%s", (id) => {
    for (const variant of variants) checkStack({ services: [id], ...variant });
    checkStack({ services: [id], deploymentType: "bare-metal" });
  });
});

describe("all services that do not conflict, together", () => {
  const chosen: string[] = [];
  for (const id of catalog.services.keys()) if (!chosen.some((other) => catalog.conflicts.get(id)?.has(other))) chosen.push(id);
  const ids = chosen.filter((id) => resolve(catalog, { services: [...chosen, id] }).conflicts.length === 0);
  test("fit together", () => {
    for (const proxy of [undefined, ...proxies])
      checkStack({ services: ids.length > 0 ? ids : ["redis"], ...(proxy ? { proxy, domain: "stack.example.org" } : {}) });
  });
});

describe("adding a service", () => {
  test("changes nothing of those that were there: same volumes, variables and databases", () => {
    const before = generate({ services: ["n8n"] });
    const after = generate({ services: ["n8n", "redis"] });
    for (const volume of before?.plan.volumes ?? []) expect(after?.plan.volumes).toContainEqual(volume);
    const lines = (text: string | undefined) => new Set(text?.match(/^[A-Z][A-Z0-9_]*=.*$/gm));
    const later = lines(after?.files[".env.example"]);
    for (const line of lines(before?.files[".env.example"])) expect(later.has(line)).toBe(true);
  });
});
