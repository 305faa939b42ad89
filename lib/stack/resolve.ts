/** From a request to a resolution: preset expanded, dependencies added, problems and warnings found. Pure. */
import { baseServiceId, type CatalogIndex } from "../catalog/index.ts";
import type { Preset, Service, SkillPack } from "../catalog/schema.ts";
import { entriesOf, memo } from "../memo.ts";
import { isProxyNative } from "./native.ts";
import { nearest } from "./nearest.ts";
import { assignPorts, type PortAssignment } from "./ports.ts";
import type { StackRequest } from "./request.ts";

export interface Warning {
  readonly code:
    | "CONFLICT"
    | "PRESET_OVERRIDES"
    | "PLATFORM_EMULATED"
    | "PORT_REASSIGNED"
    | "GPU_REQUIRED"
    | "GPU_UNUSED"
    | "GPU_UNAVAILABLE"
    | "DOMAIN_UNUSED";
  readonly message: string;
}

export interface Conflict {
  readonly a: string;
  readonly b: string;
  readonly reason: string;
}

export interface Resolution {
  readonly preset: Preset | undefined;
  /** The base service first, then every service after those it requires. */
  readonly services: readonly Service[];
  /** Ids that the request, its preset or its packs named; the rest was brought by dependencies. */
  readonly chosen: ReadonlySet<string>;
  readonly packs: readonly SkillPack[];
  readonly conflicts: readonly Conflict[];
  readonly warnings: readonly Warning[];
  /** What makes the request invalid; with any, the rest is the best that could be made of it. */
  readonly problems: readonly string[];
  readonly ports: PortAssignment;
  readonly estimatedMemoryMB: number;
}

function unknown(field: string, kind: string, id: string, known: Iterable<string>): string {
  const meant = nearest(id, known);
  return `${field}: unknown ${kind} "${id}"${meant ? `; did you mean "${meant}"?` : ""}`;
}

/** The services of `ids` and all they require by their ids, dependencies first. */
export function withDependencies(index: CatalogIndex, ids: Iterable<string>): Map<string, Service> {
  const ordered = new Map<string, Service>();
  const add = (id: string) => {
    if (ordered.has(id)) return;
    const service = index.services.get(id);
    if (service === undefined) return;
    for (const dependency of service.requires) add(dependency);
    ordered.set(id, service);
  };
  for (const id of ids) add(id);
  return ordered;
}

/** The sum of `minMemoryMB` over services. */
export function memoryOf(index: CatalogIndex, services: Iterable<Service>): number {
  let sum = 0;
  for (const service of services) sum += index.memory.get(service.id) ?? 0;
  return sum;
}

/** Resolves a request against the catalog. */
export function resolve(index: CatalogIndex, request: StackRequest): Resolution {
  const problems: string[] = [];
  const warnings: Warning[] = [];
  const preset = request.preset === undefined ? undefined : index.presets.get(request.preset);
  let serviceIds = request.services ?? [];
  let packIds = request.skills ?? [];

  if (request.preset !== undefined) {
    if (preset === undefined) problems.push(unknown("preset", "preset", request.preset, index.presets.keys()));
    const ignored = (["services", "skills"] as const).filter((field) => request[field] !== undefined);
    if (ignored.length > 0) {
      warnings.push({
        code: "PRESET_OVERRIDES",
        message: `The preset "${request.preset}" decides what the stack holds; ${ignored.join(" and ")} of the request ${ignored.length > 1 ? "are" : "is"} ignored.`,
      });
    }
    serviceIds = preset?.services ?? [];
    packIds = preset?.skills ?? [];
  }

  const chosen = new Set<string>([baseServiceId]);
  const strange = new Set<string>();
  for (const id of serviceIds) {
    if (index.services.has(id)) chosen.add(id);
    else strange.add(id);
  }
  for (const id of strange) problems.push(unknown("services", "service", id, index.services.keys()));
  const packs: SkillPack[] = [];
  for (const id of new Set(packIds)) {
    const pack = index.packs.get(id);
    if (pack) packs.push(pack);
    else problems.push(unknown("skills", "skill pack", id, index.packs.keys()));
  }

  const present = withDependencies(index, chosen);
  const services = [...present.values()];
  for (const pack of packs) {
    for (const id of pack.requiredServices) {
      if (!present.has(id))
        problems.push(`skills: the skill pack "${pack.id}" needs the service "${id}", which is not selected; add "${id}" to services`);
    }
  }

  const conflicts: Conflict[] = [];
  for (const [position, service] of services.entries()) {
    const known = index.conflicts.get(service.id);
    if (known === undefined) continue;
    for (let next = position + 1; next < services.length; next++) {
      const other = services[next] as Service;
      const reason = known.get(other.id);
      if (reason === undefined) continue;
      conflicts.push({ a: service.id, b: other.id, reason });
      warnings.push({ code: "CONFLICT", message: `${service.name} (${service.id}) and ${other.name} (${other.id}) conflict: ${reason}.` });
    }
  }

  checkPlatform(request, services, problems, warnings);
  checkGpu(request, services, warnings);
  if (request.domain !== undefined && request.proxy === undefined) {
    warnings.push({ code: "DOMAIN_UNUSED", message: `The domain ${request.domain} is not used: the request names no proxy.` });
  }

  const ports = assignPorts(services, request.proxy !== undefined && !isProxyNative(request));
  for (const { service, purpose, wanted, given } of ports.reassigned) {
    warnings.push({
      code: "PORT_REASSIGNED",
      message: `${service} (${purpose}) is published on port ${given}: ${wanted} is taken by another service.`,
    });
  }
  // Chosen by a pack: the agent is given the addresses of the services that its skills speak of.
  for (const pack of packs) for (const id of [...pack.requiredServices, ...pack.optionalServices]) if (present.has(id)) chosen.add(id);

  return { preset, services, chosen, packs, conflicts, warnings, problems, ports, estimatedMemoryMB: memoryOf(index, services) };
}

function checkPlatform(request: StackRequest, services: readonly Service[], problems: string[], warnings: Warning[]): void {
  if (request.platform === undefined) return;
  const [system = "", architecture = ""] = request.platform.split("/");
  const image = `linux/${architecture}`;
  for (const service of services) {
    const lacking = entriesOf(service.containers).filter(
      ([, container]) => !(container.image.platforms as readonly string[]).includes(image),
    );
    if (lacking.length === 0) continue;
    const names = lacking.map(([, container]) => container.image.name).join(", ");
    if (system === "darwin" && architecture === "arm64")
      warnings.push({
        code: "PLATFORM_EMULATED",
        message: `${service.name} (${service.id}) has no ${image} image (${names}); it runs emulated.`,
      });
    else problems.push(`platform: "${service.id}" has no image for ${image} (${names}); leave it out or choose another platform`);
  }
}

const gpuOf = memo((service: Service) => {
  const uses = Object.values(service.containers).flatMap((container) => container.gpu ?? []);
  return { able: uses.length > 0, required: uses.some((use) => use.required) };
});

function checkGpu(request: StackRequest, services: readonly Service[], warnings: Warning[]): void {
  if (request.gpu !== true) {
    for (const service of services) {
      if (gpuOf(service).required) {
        warnings.push({ code: "GPU_REQUIRED", message: `${service.name} (${service.id}) does not run without a GPU; set gpu to true.` });
      }
    }
  } else if (request.platform?.startsWith("darwin/")) {
    warnings.push({ code: "GPU_UNAVAILABLE", message: "Containers on macOS cannot use the GPU; gpu has no effect." });
  } else if (!services.some((service) => gpuOf(service).able)) {
    warnings.push({ code: "GPU_UNUSED", message: "No service of the stack can use a GPU; gpu has no effect." });
  }
}
