/** One container of a stack, fully decided: what `render/compose.ts` prints. */
import type { Container, Service } from "../catalog/schema.ts";
import { entriesOf, memo } from "../memo.ts";
import { type PlannedHealthcheck, planHealthcheck } from "./healthcheck.ts";
import { type ReferenceScope, resolveText } from "./references.ts";

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

export interface PlannedContainer {
  readonly name: string;
  /** Id of the service, or of the proxy. */
  readonly service: string;
  readonly role: "main" | "component" | "job" | "proxy";
  readonly image: string;
  readonly platform: string | undefined;
  readonly entrypoint: readonly string[] | undefined;
  readonly command: readonly string[] | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly mounts: readonly PlannedMount[];
  readonly ports: readonly PlannedPort[];
  readonly healthcheck: PlannedHealthcheck | undefined;
  readonly dependsOn: Readonly<Record<string, DependencyCondition>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly memoryMB: number;
  readonly gpu: boolean;
  readonly extraHosts: readonly string[];
  /** Fixed address on the stack's network, in Compose's notation. */
  readonly address: string | undefined;
  /** The options that are printed as they stand in the catalog. */
  readonly options: Container;
}

export interface ContainerContext {
  readonly scope: ReferenceScope;
  readonly present: ReadonlySet<string>;
  readonly routed: ReadonlySet<string>;
  readonly platform: string | undefined;
  readonly gpu: boolean;
  readonly hostPort: (port: Container["ports"][number]) => number | undefined;
  readonly dependsOn: Readonly<Record<string, DependencyCondition>>;
  readonly environment: Readonly<Record<string, string>>;
  readonly mounts: readonly PlannedMount[];
  readonly labels: Readonly<Record<string, string>>;
  readonly extraHosts: readonly string[];
}

/** Name of a service's volume in the Compose file. */
export function volumeName(service: string, volume: string): string {
  return `${service}-${volume}`;
}

function planEnvironment(container: Container, service: Service, context: ContainerContext): Record<string, string> {
  const environment: Record<string, string> = {};
  const add = (entries: Readonly<Record<string, string>>) => {
    for (const [key, value] of entriesOf(entries)) environment[key] = resolveText(value, service, context.scope);
  };
  add(container.environment);
  for (const [other, addition] of entriesOf(container.whenPresent)) if (context.present.has(other)) add(addition.environment);
  if (container.whenRouted && context.routed.has(service.id)) add(container.whenRouted.environment);
  if (context.gpu && container.gpu) add(container.gpu.environment);
  Object.assign(environment, context.environment);
  return environment;
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

/** Plans one container of a service. */
export function planContainer(name: string, container: Container, service: Service, context: ContainerContext): PlannedContainer {
  const gpu = context.gpu && container.gpu !== undefined;
  const image = `${(gpu && container.gpu?.name) || container.image.name}:${(gpu && container.gpu?.tag) || container.image.tag}`;
  const ports: PlannedPort[] = [];
  for (const port of container.ports) {
    const hostPort = context.hostPort(port);
    if (hostPort === undefined) continue;
    const address = port.public ? context.scope.variables.reference(bindVariable(service.id)) : "127.0.0.1";
    ports.push({ address, published: String(hostPort), target: port.container, protocol: port.scheme === "udp" ? "udp" : "tcp" });
  }
  return {
    name,
    service: service.id,
    role: name === service.id ? "main" : container.oneShot ? "job" : "component",
    image,
    platform: context.platform,
    entrypoint: container.entrypoint && commandWords(container.entrypoint, service, context.scope),
    command: container.command && commandWords(container.command, service, context.scope),
    environment: planEnvironment(container, service, context),
    mounts: [...(mountsOf(service).get(container) ?? []), ...context.mounts],
    ports,
    healthcheck: planHealthcheck(container.healthcheck),
    dependsOn: context.dependsOn,
    labels: context.labels,
    memoryMB: container.memoryMB,
    gpu,
    extraHosts: [...container.extraHosts, ...context.extraHosts],
    address: undefined,
    options: container,
  };
}

/** Variable that opens the public ports of a service to other machines. */
export function bindVariable(service: string): string {
  return `${service.toUpperCase().replaceAll("-", "_")}_BIND_ADDRESS`;
}

/** The words of a command that are the same in every stack; `undefined` when there are references in it. */
const fixedWords = memo((words: readonly string[]) => ({
  words: words.some((word) => word.includes("{{")) ? undefined : words.map((word) => word.replaceAll("$", "$$$$")),
}));

/** In commands `$` belongs to the container's shell: it is escaped for Compose, and only references are resolved. */
function commandWords(words: readonly string[], service: Service, scope: ReferenceScope): readonly string[] {
  return (
    fixedWords(words).words ?? words.map((word) => resolveText(word.replaceAll("$", "\u0000"), service, scope).replaceAll("\u0000", "$$$$"))
  );
}
