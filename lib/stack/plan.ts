/**
 * From a resolution to a plan: every decision of a stack, made once. Renderers only print it.
 * Pure: the same resolution gives the same plan.
 */
import { baseServiceId, type CatalogIndex } from "../catalog/index.ts";
import type { Container, Service } from "../catalog/schema.ts";
import { entriesOf, memo, valuesOf } from "../memo.ts";
import { merge } from "../merge.ts";
import {
  bindVariable,
  type DefinitionContext,
  type DependencyCondition,
  defineContainer,
  definitionOf,
  type PlannedContainer,
  type PlannedMount,
  planPorts,
  volumeName,
} from "./container.ts";
import { isNative, type NativeSystem, nativeSystem, rehost } from "./native.ts";
import { type Provision, planProvision, planProvisionJob } from "./provision.ts";
import { addNetworkSettings, planProxyContainers } from "./proxy.ts";
import { type ReferenceScope, resolveContent, resolveText } from "./references.ts";
import { type StackRequest, slugify } from "./request.ts";
import type { Resolution } from "./resolve.ts";
import { type Addresses, type PlannedProxy, planAddresses, planProxy } from "./routes.ts";
import { addressOf, slot } from "./slots.ts";
import { type VariableGroup, Variables } from "./variables.ts";

export interface PlannedConfig {
  /** Path in the bundle. */
  readonly path: string;
  readonly content: string;
}

export interface PlannedVolume {
  readonly name: string;
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
  readonly volumes: readonly PlannedVolume[];
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
  const slug = slugify(request.name);
  const present = new Set(resolution.services.map((service) => service.id));
  const system = nativeSystem(request);
  const native = new Set(system ? resolution.services.filter((service) => isNative(service.id, system)).map((service) => service.id) : []);
  const base = index.services.get(baseServiceId) as Service;
  const variables = gatherVariables(resolution, present);

  const provisions = new Map<string, Provision[]>();
  const owned = new Map<string, Provision>();
  const provide = (consumer: Service, on: string, entry: Partial<Service["provisions"][number]>) => {
    const provision = planProvision(index, variables, consumer, on, entry);
    if (provision === undefined) return;
    owned.set(`${consumer.id}/${on}`, provision);
    const known = provisions.get(on);
    if (known) known.push(provision);
    else provisions.set(on, [provision]);
  };
  /** Whether the agent is given the service: only what was chosen, not what others brought along. */
  const granted = (service: Service) => service.agent !== undefined && resolution.chosen.has(service.id);
  for (const service of resolution.services) {
    for (const entry of service.provisions) provide(service, entry.on, entry);
    if (service.engine && granted(service) && usesOwnDatabase(service)) provide(base, service.id, {});
  }

  const scope: ReferenceScope = {
    address: (reference, service) => addressOf(reference, service, addresses),
    variables,
    hostOf: (container) => (native.has(container) ? hostAlias : container),
    provisionOf: (consumer, server) => owned.get(`${consumer}/${server}`),
  };

  const contained = proxy && !proxy.native ? proxy : undefined;
  const proxyEntry = contained && index.catalog.proxies.find((entry) => entry.id === contained.id);
  if (proxyEntry) addNetworkSettings(variables, proxyEntry, slug);
  const environment: Record<string, string> = proxyEntry ? { PROXY_ADDRESS: variables.reference("PROXY_ADDRESS") } : {};
  let config: Record<string, unknown> = {};
  for (const service of resolution.services) {
    if (service.agent === undefined || !granted(service)) continue;
    for (const [name, value] of entriesOf(service.agent.environment)) environment[name] = resolveText(value, service, scope, baseServiceId);
    config = merge(config, service.agent.config);
  }

  const platform = request.platform === undefined ? undefined : `linux/${architecture(request.platform)}`;
  const extraHosts = native.size > 0 ? [`${hostAlias}:host-gateway`] : [];
  const context: DefinitionContext = {
    scope: { ...scope, address: slot },
    present,
    routed: new Set(addresses.routes.map((route) => route.service)),
    platform,
    gpu: request.gpu === true && !request.platform?.startsWith("darwin/"),
    addressed: (service) => addresses.of(service).some((address) => address.kind !== "internal"),
    dependsOn,
    mounts: (name) => (name === baseServiceId ? gatewayMounts(resolution) : name === "prometheus" ? metricsMounts(resolution) : []),
    extraHosts,
  };
  // What runs on the host changes texts in many places; without it, definitions are the same in most stacks.
  const define = native.size > 0 ? defineContainer : definitionOf;

  const containers: PlannedContainer[] = [];
  const volumes: PlannedVolume[] = [];
  const configs: PlannedConfig[] = [];
  for (const service of resolution.services) {
    for (const [path, content] of entriesOf(service.files))
      configs.push({ path: `configs/${service.id}/${path}`, content: resolveContent(content, service, scope) });
    if (native.has(service.id)) continue;
    for (const [name, container] of entriesOf(service.containers)) {
      const planned = {
        definition: define(name, container, service, context),
        environment: name === baseServiceId ? environment : undefined,
        ports: planPorts(container, service, resolution.ports.of, scope),
      };
      containers.push(native.size > 0 ? rehost(planned, native) : planned);
    }
    volumes.push(...volumesOf(service));
    const own = provisions.get(service.id);
    if (own && service.engine !== "redis") containers.push(planProvisionJob(service, own, variables, platform));
  }
  configs.push(...metricsTargets(resolution, present, native));
  if (contained && proxyEntry) {
    containers.push(...planProxyContainers(proxyEntry, contained, base, context.scope, { platform, extraHosts }));
    volumes.push(...volumesOf(proxyEntry));
  }

  return {
    name: request.name,
    slug,
    request,
    resolution,
    proxy,
    addresses,
    containers,
    volumes,
    variables: variables.list(),
    configs,
    provisions,
    subnet: contained && variables.reference("STACK_SUBNET"),
    gateway: { environment, config },
    native: system && { system, services: resolution.services.filter((service) => native.has(service.id)) },
  };

  /** What a container waits for: what its entry says, and for one that starts by itself, what its service requires. */
  function dependsOn(name: string, container: Container, service: Service): Record<string, DependencyCondition> {
    const conditions: Record<string, DependencyCondition> = {};
    for (const [other, condition] of entriesOf(container.dependsOn))
      conditions[other] = condition === "completed" ? "service_completed_successfully" : `service_${condition}`;
    if (name === service.id || entriesOf(container.dependsOn).length === 0) {
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
}

/** The variables of the services, those of the stack first. */
function gatherVariables(resolution: Resolution, present: ReadonlySet<string>): Variables {
  const variables = new Variables();
  variables.addStackSetting("TZ");
  if (present.has("mailpit")) {
    variables.addStackSetting("SMTP_HOST", "mailpit");
    variables.addStackSetting("SMTP_PORT", "1025");
  }
  for (const service of resolution.services) {
    variables.addSecrets(service.name, service.secrets);
    variables.addSettings(service.name, service.settings);
    if (publicPorts(service).some((port) => resolution.ports.of(port) !== undefined))
      variables.addSettings(service.name, {
        [bindVariable(service.id)]: {
          description: `Address of this host on which ${service.name} takes connections; 0.0.0.0 opens it to other machines`,
          default: "127.0.0.1",
        },
      });
  }
  return variables;
}

const publicPorts = memo((service: Service) =>
  valuesOf(service.containers).flatMap((container) => container.ports.filter((port) => port.public)),
);

/** Volumes of a service or a proxy; containers may share one. */
const volumesOf = memo((service: Pick<Service, "id" | "containers" | "backup">) => {
  const volumes = new Map<string, PlannedVolume>();
  for (const container of valuesOf(service.containers)) {
    for (const volume of container.volumes) {
      if (!("name" in volume)) continue;
      const name = volumeName(service.id, volume.name);
      const dumped = service.backup !== undefined && "covers" in service.backup && service.backup.covers.includes(volume.name);
      volumes.set(name, { name, service: service.id, backup: dumped ? "dump" : volume.backup ? "archive" : "none" });
    }
  }
  return [...volumes.values()];
});

/** Whether what the agent is given of a server speaks of a database there, which is then made for the base service. */
const usesOwnDatabase = memo((service: Service) => JSON.stringify(service.agent).includes(`{{${service.id}.`));

/** Architecture of the images for a platform: containers on macOS and Windows are Linux containers. */
function architecture(platform: string): string {
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

function metricsMounts(resolution: Resolution): PlannedMount[] {
  const scraped = resolution.services.some((other) => other.metrics);
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
