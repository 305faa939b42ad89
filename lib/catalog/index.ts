/** The catalog in memory: immutable, indexed once, used by everything after it. */
import type { Catalog, Skill } from "./load.ts";
import type { Preset, Service, SkillPack } from "./schema.ts";

export type { Catalog, Skill } from "./load.ts";

/** Id of the service that is part of every stack. */
export const baseServiceId = "openclaw";

export interface CatalogIndex {
  readonly catalog: Catalog;
  readonly services: ReadonlyMap<string, Service>;
  readonly packs: ReadonlyMap<string, SkillPack>;
  readonly presets: ReadonlyMap<string, Preset>;
  readonly skills: Readonly<Record<string, readonly Skill[]>>;
  /** Ids that each service conflicts with, either side having said so. */
  readonly conflicts: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Sum of the containers' `memoryMB`, by service id. */
  readonly memory: ReadonlyMap<string, number>;
}

/** A catalog that is at hand when it is needed, and what is known of it before. */
export interface CatalogSource {
  readonly counts: { readonly services: number; readonly skillPacks: number; readonly presets: number };
  readonly index: () => CatalogIndex;
}

/** A catalog that is there already, as a source. */
export function sourceOf(index: CatalogIndex): CatalogSource {
  return { counts: { services: index.services.size, skillPacks: index.packs.size, presets: index.presets.size }, index: () => index };
}

/** Indexes a catalog. */
export function indexCatalog(catalog: Catalog): CatalogIndex {
  const conflicts = new Map<string, Map<string, string>>();
  const conflict = (a: string, b: string, reason: string) => {
    const known = conflicts.get(a) ?? new Map<string, string>();
    if (!known.has(b)) known.set(b, reason);
    conflicts.set(a, known);
  };
  for (const service of catalog.services) {
    for (const other of service.conflicts) {
      conflict(service.id, other.with, other.reason);
      conflict(other.with, service.id, other.reason);
    }
  }
  return {
    catalog,
    services: new Map(catalog.services.map((service) => [service.id, service])),
    packs: new Map(catalog.packs.map((pack) => [pack.id, pack])),
    presets: new Map(catalog.presets.map((preset) => [preset.id, preset])),
    get skills() {
      return catalog.skills;
    },
    conflicts,
    memory: new Map(
      catalog.services.map((service) => [
        service.id,
        Object.values(service.containers).reduce((sum, container) => sum + container.memoryMB, 0),
      ]),
    ),
  };
}
