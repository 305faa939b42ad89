/**
 * From a resolution to a plan: every decision of a stack, made once. Renderers only print it.
 * Pure: the same resolution gives the same plan.
 */
import { baseServiceId, type CatalogIndex } from "../catalog/index.ts";
import type { Container, ReverseProxy, Service } from "../catalog/schema.ts";
import { entriesOf, memo, valuesOf } from "../memo.ts";
import {
  bindVariable,
  type ContainerContext,
  type DependencyCondition,
  type PlannedContainer,
  type PlannedMount,
  planContainer,
  volumeName,
} from "./container.ts";
import { isNative, type NativeSystem, nativeSystem, rehost } from "./native.ts";
import { type Provision, planProvision, type ReferenceScope, resolveContent, resolveText } from "./references.ts";
import { type StackRequest, slugify } from "./request.ts";
import type { Resolution } from "./resolve.ts";
import { type Addresses, type PlannedProxy, planAddresses, planProxy } from "./routes.ts";
import { type VariableGroup, Variables } from "./variables.ts";

export interface PlannedConfig {
  /** Path in the bundle. */
  readonly path: string;
  readonly content: string;
}

export interface PlannedVolume {
  readonly service: string;
  /** How `backup.sh` keeps it: as an archive, by the dump of its server, or not at all (a cache). */
  readonly backup: "archive" | "dump" | "none";
}

export interface Plan {
  readonly name: string;
  readonly slug: string;
  readonly request: StackRequest;
  readonly resolution: Resolution;
  readonly proxy: PlannedProxy | undefined;
  readonly addresses: Addresses;
  readonly containers: readonly PlannedContainer[];
  /** Named volumes by name. */
  readonly volumes: ReadonlyMap<string, PlannedVolume>;
  readonly variables: readonly VariableGroup[];
  readonly configs: readonly PlannedConfig[];
  /** Databases by server id, in the order of the services that own them. */
  readonly provisions: ReadonlyMap<string, readonly Provision[]>;
  /** Addresses of the stack's network, in Compose's notation, where the proxy needs a fixed one. */
  readonly subnet: string | undefined;
  /** What the agent of the base service is given of the chosen services. */
  readonly gateway: { readonly environment: Readonly<Record<string, string>>; readonly config: Readonly<Record<string, unknown>> };
  /** Services that run on the host itself, in the order in which they are installed. */
  readonly native: { readonly system: NativeSystem; readonly services: readonly Service[] } | undefined;
}

/** Where the base service finds its configuration and its skills. */
export const gatewayPaths = { config: "/home/node/stack-config/config.yaml", skills: "/home/node/stack-skills" } as const;

/** Host name under which containers reach what runs on the host. */
export const hostAlias = "host.docker.internal";

/** Plans a stack. The resolution must be free of problems. */
export function planStack(index: CatalogIndex, request: StackRequest & { name: string }, resolution: Resolution): Plan {
  const proxy = planProxy(request);
  const addresses = planAddresses(resolution, proxy);
  const variables = new Variables();
  const present = new Set(resolution.services.map((service) => service.id));
  const routed = new Set(addresses.routes.map((route) => route.service));
  const system = nativeSystem(request);
  const native = new Set(system ? resolution.services.filter((service) => isNative(service.id, system)).map((service) => service.id) : []);

  variables.addStackSetting("TZ");
  if (present.has("mailpit")) {
    variables.addStackSetting("SMTP_HOST", "mailpit");
    variables.addStackSetting("SMTP_PORT", "1025");
  }
  for (const service of resolution.services) {
    variables.addSecrets(service.name, service.secrets);
    variables.addSettings(service.name, service.settings);
    if (
      valuesOf(service.containers).some((container) =>
        container.ports.some((port) => port.public && resolution.ports.of(port) !== undefined),
      )
    ) {
      variables.addSettings(service.name, {
        [bindVariable(service.id)]: {
          description: `Address of this host on which ${service.name} takes connections; 0.0.0.0 opens it to other machines`,
          default: "127.0.0.1",
        },
      });
    }
  }

  const provisions = new Map<string, Provision[]>();
  const provide = (consumer: Service, on: string, entry: Partial<Service["provisions"][number]>) => {
    const provision = planProvision(index, variables, consumer, on, entry);
    if (provision === undefined) return;
    owned.set(`${consumer.id}/${on}`, provision);
    provisions.set(on, [...(provisions.get(on) ?? []), provision]);
  };
  const owned = new Map<string, Provision>();
  const base = index.services.get(baseServiceId) as Service;
  for (const service of resolution.services) {
    for (const entry of service.provisions) provide(service, entry.on, entry);
    if (service.engine && granted(service) && usesOwnDatabase(service)) provide(base, service.id, {});
  }

  const scope: ReferenceScope = {
    addresses,
    variables,
    domain: proxy?.domain ?? "localhost",
    hostOf: (container) => (native.has(container) ? hostAlias : container),
    provisionOf: (consumer, server) => owned.get(`${consumer}/${server}`),
  };

  function granted(service: Service): boolean {
    return service.agent !== undefined && resolution.chosen.has(service.id);
  }
  const gatewayEnvironment: Record<string, string> = {};
  const proxyEntry = index.catalog.proxies.find((entry) => entry.id === proxy?.id);
  if (proxy && proxyEntry && !proxy.native) {
    const network = planNetwork(slugify(request.name));
    variables.addSettings(proxyEntry.name, {
      STACK_SUBNET: {
        description: "Addresses of the stack's own network; change it, and PROXY_ADDRESS, where it collides with another",
        default: network.subnet,
      },
      PROXY_ADDRESS: {
        description: `Address of ${proxyEntry.name} on that network; the gateway believes what comes from it about clients`,
        default: network.proxyAddress,
      },
    });
    gatewayEnvironment.PROXY_ADDRESS = variables.reference("PROXY_ADDRESS");
  }
  let gatewayConfig: Record<string, unknown> = {};
  for (const service of resolution.services) {
    if (!granted(service) || service.agent === undefined) continue;
    for (const [name, value] of entriesOf(service.agent.environment))
      gatewayEnvironment[name] = resolveText(value, service, scope, baseServiceId);
    gatewayConfig = merge(gatewayConfig, service.agent.config);
  }

  const containers: PlannedContainer[] = [];
  const volumes = new Map<string, PlannedVolume>();
  const configs: PlannedConfig[] = [];
  const gpu = request.gpu === true && !request.platform?.startsWith("darwin/");
  const platform = request.platform === undefined ? undefined : `linux/${emulated(request.platform)}`;
  const shared = { scope, present, routed, gpu };

  for (const service of resolution.services) {
    for (const [path, content] of entriesOf(service.files))
      configs.push({ path: `configs/${service.id}/${path}`, content: resolveContent(content, service, scope) });
    if (native.has(service.id)) continue;
    for (const [name, container] of entriesOf(service.containers)) {
      const planned = planContainer(name, container, service, {
        ...shared,
        platform: container.image.platforms.includes(platform as never)
          ? platform
          : platform && `linux/${container.image.platforms[0]?.split("/")[1]}`,
        hostPort: resolution.ports.of,
        dependsOn: dependencies(name, container, service),
        environment: name === baseServiceId ? gatewayEnvironment : {},
        mounts: name === baseServiceId ? gatewayMounts(resolution) : metricsMounts(name, resolution),
        labels: labelsOf(name, service),
        extraHosts: native.size > 0 ? [`${hostAlias}:host-gateway`] : [],
      });
      containers.push(native.size > 0 ? rehost(planned, native) : planned);
      for (const volume of container.volumes) {
        if (!("name" in volume)) continue;
        const dumped = service.backup?.covers.includes(volume.name) ?? false;
        volumes.set(volumeName(service.id, volume.name), {
          service: service.id,
          backup: dumped ? "dump" : volume.backup ? "archive" : "none",
        });
      }
    }
    const own = provisions.get(service.id);
    if (own && service.engine !== "redis") containers.push(provisionJob(service, own));
  }
  for (const target of metricsTargets(resolution, present, native)) configs.push(target);

  if (proxy && proxyEntry && !proxy.native) planProxyContainers(proxyEntry, proxy);

  return {
    name: request.name,
    slug: slugify(request.name),
    request,
    resolution,
    proxy,
    addresses,
    containers,
    volumes,
    variables: variables.list(),
    configs,
    provisions,
    subnet: proxy && !proxy.native ? variables.reference("STACK_SUBNET") : undefined,
    gateway: { environment: gatewayEnvironment, config: gatewayConfig },
    native: system && { system, services: resolution.services.filter((service) => native.has(service.id)) },
  };

  function dependencies(name: string, container: Container, service: Service): Record<string, DependencyCondition> {
    const conditions: Record<string, DependencyCondition> = {};
    for (const [other, condition] of entriesOf(container.dependsOn))
      conditions[other] = condition === "completed" ? "service_completed_successfully" : `service_${condition}`;
    if (name === service.id || Object.keys(container.dependsOn).length === 0) {
      for (const id of service.requires) {
        if (native.has(id)) continue;
        const check = index.services.get(id)?.containers[id]?.healthcheck;
        conditions[id] = check && "none" in check ? "service_started" : "service_healthy";
        if (owned.has(`${service.id}/${id}`) && index.services.get(id)?.engine !== "redis")
          conditions[`${id}-provision`] = "service_completed_successfully";
      }
    }
    return conditions;
  }

  function labelsOf(name: string, service: Service): Record<string, string> {
    const labels: Record<string, string> = { "stackwright.service": service.id };
    if (name === service.id) {
      const shown = addresses.all
        .filter((address) => address.service === service.id && address.kind !== "internal")
        .map((address) => address.address);
      if (shown.length > 0) labels["stackwright.address"] = shown.join(" ");
      if (service.backup) {
        labels["stackwright.dump"] = escapeCompose(service.backup.dump);
        labels["stackwright.restore"] = escapeCompose(service.backup.restore);
      }
    }
    return labels;
  }

  function provisionJob(server: Service, list: readonly Provision[]): PlannedContainer {
    const main = server.containers[server.id] as Container;
    const root = `${server.id.toUpperCase().replaceAll("-", "_")}_PASSWORD`;
    const environment: Record<string, string> = {
      SERVER: server.id,
      ROOT_PASSWORD: variables.reference(root),
      DATABASES: list.map((provision) => [provision.database, provision.password, provision.extensions.join(",")].join(":")).join(" "),
    };
    for (const provision of list) environment[provision.password] = variables.reference(provision.password);
    const script = `configs/${server.id}/provision.sh`;
    return {
      name: `${server.id}-provision`,
      service: server.id,
      role: "job",
      image: `${main.image.name}:${main.image.tag}`,
      platform,
      entrypoint: ["sh", "/provision.sh"],
      command: undefined,
      environment,
      mounts: [{ type: "bind", source: `./${script}`, target: "/provision.sh", readOnly: true }],
      ports: [],
      healthcheck: undefined,
      dependsOn: { [server.id]: "service_healthy" },
      labels: { "stackwright.service": server.id },
      memoryMB: 0,
      gpu: false,
      extraHosts: [],
      address: undefined,
      options: jobOptionsOf(main),
    };
  }

  function planProxyContainers(entry: ReverseProxy, settings: PlannedProxy): void {
    variables.addSettings(entry.name, entry.settings);
    variables.addSettings(entry.name, {
      HTTP_PORT: { description: "Port of this host for plain HTTP", default: "80" },
      ...(settings.reach === "local" ? {} : { HTTPS_PORT: { description: "Port of this host for HTTPS", default: "443" } }),
      PROXY_BIND_ADDRESS: {
        description: `Address of this host on which ${entry.name} takes connections; 0.0.0.0 is every interface`,
        default: settings.reach === "local" ? "127.0.0.1" : "0.0.0.0",
      },
    });
    const owner: Service = {
      ...base,
      id: entry.id,
      name: entry.name,
      secrets: {},
      settings: entry.settings,
      containers: entry.containers,
      files: {},
    };
    const needed = Object.entries(entry.containers).filter(([name]) => name !== "certbot" || settings.reach === "public");
    for (const [name, container] of needed) {
      const main = name === entry.id;
      const planned = planContainer(name, container, owner, {
        ...shared,
        platform,
        hostPort: () => undefined,
        dependsOn: Object.fromEntries(Object.keys(container.dependsOn).map((other) => [other, "service_started" as const])),
        environment: {},
        mounts: proxyMounts(name),
        labels: { "stackwright.service": entry.id },
        extraHosts: native.size > 0 ? [`${hostAlias}:host-gateway`] : [],
      });
      const bind = variables.reference("PROXY_BIND_ADDRESS");
      const http = { address: bind, published: variables.reference("HTTP_PORT"), target: 80, protocol: "tcp" as const };
      const https = { address: bind, published: variables.reference("HTTPS_PORT"), target: 443, protocol: "tcp" as const };
      const quic = entry.id === "caddy" ? [{ ...https, protocol: "udp" as const }] : [];
      const address = main ? variables.reference("PROXY_ADDRESS") : undefined;
      containers.push({
        ...planned,
        role: "proxy",
        address,
        ports: main ? (settings.reach === "local" ? [http] : [http, https, ...quic]) : [],
      });
      for (const volume of container.volumes)
        if ("name" in volume)
          volumes.set(volumeName(entry.id, volume.name), { service: entry.id, backup: volume.backup ? "archive" : "none" });
    }
  }
}

/**
 * A network of 254 addresses below 10.128.0.0/9, picked by the stack's name so that two stacks rarely collide, and the proxy's
 * address on it. The gateway believes one proxy only, so that proxy needs an address that stays.
 */
function planNetwork(slug: string): { subnet: string; proxyAddress: string } {
  let hash = 0x811c9dc5;
  for (const char of slug) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  const prefix = `10.${128 + (hash % 127)}.${(hash >>> 8) % 256}`;
  return { subnet: `${prefix}.0/24`, proxyAddress: `${prefix}.250` };
}

/** What a one-shot container of our own needs of the options of a container. */
const jobOptions: Omit<Container, "image"> = {
  environment: {},
  whenPresent: {},
  volumes: [],
  tmpfs: [],
  ports: [],
  healthcheck: { none: "a job" },
  dependsOn: {},
  oneShot: true,
  memoryMB: 0,
  init: false,
  tty: false,
  readOnly: false,
  capDrop: [],
  capAdd: [],
  noNewPrivileges: true,
  privileged: false,
  devices: [],
  groupAdd: [],
  sysctls: {},
  ulimits: {},
  extraHosts: [],
};

const jobOptionsOf = memo((server: Container): Container => ({ ...jobOptions, image: server.image }));

/** Whether what the agent is given of a server speaks of a database there, which is then made for the base service. */
const usesOwnDatabase = memo((service: Service) => JSON.stringify(service.agent).includes(`{{${service.id}.`));

function escapeCompose(text: string): string {
  return text.replaceAll("$", "$$$$");
}

/** Architecture of the images for a platform: containers on macOS and Windows are Linux containers. */
function emulated(platform: string): string {
  return platform.split("/")[1] ?? "amd64";
}

function gatewayMounts(resolution: Resolution): PlannedMount[] {
  const mounts: PlannedMount[] = [
    { type: "bind", source: `./configs/${baseServiceId}`, target: gatewayPaths.config.replace(/\/[^/]*$/, ""), readOnly: true },
  ];
  if (resolution.packs.length > 0) mounts.push({ type: "bind", source: "./skills", target: gatewayPaths.skills, readOnly: true });
  return mounts;
}

const targetsDirectory = "configs/prometheus/targets";

function metricsMounts(container: string, resolution: Resolution): PlannedMount[] {
  const scraped = container === "prometheus" && resolution.services.some((other) => other.metrics);
  return scraped ? [{ type: "bind", source: `./${targetsDirectory}`, target: "/etc/prometheus/targets", readOnly: true }] : [];
}

/** A target file (file_sd format) for each service with a metrics page, when Prometheus is in the stack. */
function metricsTargets(resolution: Resolution, present: ReadonlySet<string>, native: ReadonlySet<string>): PlannedConfig[] {
  if (!present.has("prometheus")) return [];
  return resolution.services.flatMap(({ id, metrics }) => {
    if (metrics === undefined) return [];
    const host = native.has(id) ? hostAlias : (metrics.container ?? id);
    return [
      {
        path: `${targetsDirectory}/${id}.yaml`,
        content: `- targets: ["${host}:${metrics.port}"]\n  labels:\n    job: ${id}\n    __metrics_path__: "${metrics.path}"\n`,
      },
    ];
  });
}

/** The rendered files that a container of a proxy reads, where it reads them. */
function proxyMounts(container: string): PlannedMount[] {
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

/** Merges plain objects deeply; of two values that are not both objects, the later wins; arrays are joined. */
export function merge(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const before = merged[key];
    if (Array.isArray(before) && Array.isArray(value)) merged[key] = [...before, ...value];
    else if (isRecord(before) && isRecord(value)) merged[key] = merge(before, value);
    else merged[key] = value;
  }
  return merged;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export type { ContainerContext };
