/** One container of a stack, fully decided: what `render/compose.ts` prints. */
import { stackSettings, variablesIn } from "../catalog/notation.ts";
import type { Container, ContainerPort, Service } from "../catalog/schema.ts";
import { entriesOf, memo } from "../memo.ts";
import { type PlannedHealthcheck, planHealthcheck } from "./healthcheck.ts";
import { type ReferenceScope, resolveText } from "./references.ts";
import { slot } from "./slots.ts";

export interface PlannedMount {
  readonly type: "volume" | "bind";
  /** Volume name, or a host path (relative to the stack's folder when it starts with `./`). */
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
}

export interface PlannedPort {
  /** Address of the host to listen on, in Compose's notation. */
  readonly address: string;
  /** Port of the host, in Compose's notation. */
  readonly published: string;
  readonly target: number;
  readonly protocol: "tcp" | "udp";
}

export type DependencyCondition = "service_started" | "service_healthy" | "service_completed_successfully";

/**
 * What of a container is the same in most stacks. Its texts hold slots (`references.ts`) where an address of the stack belongs,
 * so that it can be made, and printed, once.
 */
export interface ContainerDefinition {
  readonly name: string;
  readonly image: string;
  readonly platform: string | undefined;
  readonly entrypoint: readonly string[] | undefined;
  readonly command: readonly string[] | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly mounts: readonly PlannedMount[];
  readonly healthcheck: PlannedHealthcheck | undefined;
  readonly dependsOn: Readonly<Record<string, DependencyCondition>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly memoryMB: number;
  readonly gpu: boolean;
  readonly extraHosts: readonly string[];
  /** The options that are printed as they stand in the catalog. */
  readonly options: Container;
  /** Settings of the stack (`TZ` and the like) that its texts use. */
  readonly settings: readonly string[];
}

export interface PlannedContainer {
  readonly definition: ContainerDefinition;
  /** Variables that it is given besides those of its definition. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  readonly ports: readonly PlannedPort[];
  /** Fixed address on the stack's network, in Compose's notation. */
  readonly address?: string | undefined;
}

/** What a definition is made with. */
export interface DefinitionContext {
  readonly scope: ReferenceScope;
  readonly present: ReadonlySet<string>;
  readonly routed: ReadonlySet<string>;
  readonly platform: string | undefined;
  readonly gpu: boolean;
  /** Whether people reach a service at an address, by the proxy or by a port of the host. */
  readonly addressed: (service: string) => boolean;
  readonly dependsOn: (name: string, container: Container, service: Service) => Readonly<Record<string, DependencyCondition>>;
  /** Mounts of rendered files that the catalog knows nothing of. */
  readonly mounts: (name: string) => readonly PlannedMount[];
  readonly extraHosts: readonly string[];
}

/** Name of a service's volume in the Compose file. */
export function volumeName(service: string, volume: string): string {
  return `${service}-${volume}`;
}

/** The parts of a container's environment that hold in a stack, later ones over earlier ones. */
function environmentParts(container: Container, service: Service, context: DefinitionContext): Readonly<Record<string, string>>[] {
  const parts = [container.environment];
  for (const [other, addition] of entriesOf(container.whenPresent)) if (context.present.has(other)) parts.push(addition.environment);
  if (container.whenRouted && context.routed.has(service.id)) parts.push(container.whenRouted.environment);
  if (context.gpu && container.gpu) parts.push(container.gpu.environment);
  return parts;
}

/** Mounts of a service's containers, which are the same in every stack. */
const mountsOf = memo((service: Service) => {
  const plan = (volume: Container["volumes"][number]): PlannedMount => {
    if ("name" in volume)
      return { type: "volume", source: volumeName(service.id, volume.name), target: volume.target, readOnly: volume.readOnly };
    if ("file" in volume) return { type: "bind", source: `./configs/${service.id}/${volume.file}`, target: volume.target, readOnly: true };
    return { type: "bind", source: volume.bind, target: volume.target, readOnly: volume.readOnly };
  };
  return new Map(Object.values(service.containers).map((container) => [container, container.volumes.map(plan)]));
});

/** Labels by which the scripts know whose a container is and, of a service's main container, where it is and how it is saved. */
function labelsOf(name: string, service: Service, addressed: boolean): Record<string, string> {
  const labels: Record<string, string> = { "stackwright.service": service.id };
  if (name !== service.id) return labels;
  if (addressed) labels["stackwright.address"] = slot("addresses", service.id);
  for (const [name, command] of Object.entries(service.backup ?? {}))
    if (typeof command === "string") labels[`stackwright.${name}`] = command.replaceAll("$", "$$$$");
  return labels;
}

/** Makes the definition of a container of a service. */
export function defineContainer(name: string, container: Container, service: Service, context: DefinitionContext): ContainerDefinition {
  const gpu = context.gpu && container.gpu !== undefined;
  const texts: string[] = [];
  const resolve = (text: string) => {
    texts.push(text);
    return resolveText(text, service, context.scope);
  };
  const environment: Record<string, string> = {};
  for (const part of environmentParts(container, service, context))
    for (const [key, value] of entriesOf(part)) environment[key] = resolve(value);
  const words = (list: readonly string[]) =>
    // In commands `$` belongs to the container's shell: it is escaped for Compose, and only references are resolved.
    list.map((word) => resolveText(word.replaceAll("$", "\u0000"), service, context.scope).replaceAll("\u0000", "$$$$"));
  const platform = (container.image.platforms as readonly string[]).includes(context.platform ?? "")
    ? context.platform
    : context.platform && `linux/${container.image.platforms[0]?.split("/")[1]}`;
  return {
    name,
    image: `${(gpu && container.gpu?.name) || container.image.name}:${(gpu && container.gpu?.tag) || container.image.tag}`,
    platform,
    entrypoint: container.entrypoint && words(container.entrypoint),
    command: container.command && words(container.command),
    environment,
    mounts: [...(mountsOf(service).get(container) ?? []), ...context.mounts(name)],
    healthcheck: planHealthcheck(container.healthcheck),
    dependsOn: context.dependsOn(name, container, service),
    labels: labelsOf(name, service, context.addressed(service.id)),
    memoryMB: container.memoryMB,
    gpu,
    extraHosts: [...container.extraHosts, ...context.extraHosts],
    options: container,
    settings: [...new Set(texts.flatMap(variablesIn))].filter((variable) => variable in stackSettings),
  };
}

/** Definitions of a container by the shape of the stacks that they belong to. */
const definitions = memo((_container: Container) => new Map<string, ContainerDefinition>());

/**
 * The definition of a container of a service, made once for all stacks in which it is the same. Whoever calls it must know that
 * nothing of the stack matters but what `shapeOf` lists.
 */
export function definitionOf(name: string, container: Container, service: Service, context: DefinitionContext): ContainerDefinition {
  const known = definitions(container);
  const shape = shapeOf(name, container, service, context);
  let definition = known.get(shape);
  if (definition === undefined) {
    definition = defineContainer(name, container, service, context);
    known.set(shape, definition);
  } else for (const setting of definition.settings) context.scope.variables.addStackSetting(setting);
  return definition;
}

/** What a definition depends on; there are few shapes of a container, as each part has few values. */
function shapeOf(name: string, container: Container, service: Service, context: DefinitionContext): string {
  const { platform, gpu, routed, present } = context;
  let shape = platform ?? "";
  if (gpu && container.gpu) shape += " gpu";
  if (container.whenRouted && routed.has(service.id)) shape += " routed";
  if (context.addressed(service.id)) shape += " addressed";
  // With Mailpit in the stack, the mail settings have other defaults.
  if (present.has("mailpit")) shape += " mailpit";
  for (const [other] of entriesOf(container.whenPresent)) if (present.has(other)) shape += ` ${other}`;
  for (const { source } of context.mounts(name)) shape += ` ${source}`;
  for (const host of context.extraHosts) shape += ` ${host}`;
  return shape;
}

/** A port that is published where its entry wants it. */
const asWanted = memo((port: ContainerPort) => planPort(port, port.host as number, "127.0.0.1"));

function planPort(port: ContainerPort, published: number, address: string): PlannedPort {
  return { address, published: String(published), target: port.container, protocol: port.scheme === "udp" ? "udp" : "tcp" };
}

/** Plans the ports of a container that are published on the host. */
export function planPorts(
  container: Container,
  service: Service,
  hostPort: (port: ContainerPort) => number | undefined,
  scope: ReferenceScope,
): readonly PlannedPort[] {
  const ports: PlannedPort[] = [];
  for (const port of container.ports) {
    const published = hostPort(port);
    if (published === undefined) continue;
    if (port.public) ports.push(planPort(port, published, scope.variables.reference(bindVariable(service.id))));
    else ports.push(published === port.host ? asWanted(port) : planPort(port, published, "127.0.0.1"));
  }
  return ports;
}

/** Variable that opens the public ports of a service to other machines. */
export function bindVariable(service: string): string {
  return `${service.toUpperCase().replaceAll("-", "_")}_BIND_ADDRESS`;
}
