/** The catalog operations. Their answers are made once and served as bytes. */
import type { CatalogIndex } from "../catalog/index.ts";
import { baseServiceId } from "../catalog/index.ts";
import type { Maturity, Preset, Service, SkillPack } from "../catalog/schema.ts";
import { maturities } from "../catalog/words.ts";
import { ApiError } from "../http/error.ts";
import { envelope, type Reply, type Representation, represent, represented } from "../http/reply.ts";
import { nearest } from "../stack/nearest.ts";
import { memoryOf, withDependencies } from "../stack/resolve.ts";

/** A service as the API shows it. */
export interface ServiceView {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly image: string;
  readonly imageTag: string;
  readonly maturity: Maturity;
  readonly ports: readonly { readonly host: number; readonly container: number }[];
  readonly requires: readonly string[];
  readonly conflictsWith: readonly string[];
  readonly minMemoryMB: number;
  readonly tags: readonly string[];
}

function viewService(index: CatalogIndex, service: Service): ServiceView {
  const containers = Object.values(service.containers);
  const image = containers[0]?.image;
  return {
    id: service.id,
    name: service.name,
    description: service.description,
    category: service.category,
    image: image?.name ?? "",
    imageTag: image?.tag ?? "",
    maturity: service.maturity,
    ports: containers.flatMap((container) =>
      container.ports.flatMap((port) => (port.host === undefined ? [] : [{ host: port.host, container: port.container }])),
    ),
    requires: service.requires,
    conflictsWith: [...(index.conflicts.get(service.id)?.keys() ?? [])],
    minMemoryMB: index.memory.get(service.id) ?? 0,
    tags: service.tags,
  };
}

function viewPack({ id, name, description, requiredServices, optionalServices, skills }: SkillPack) {
  return { id, name, description, requiredServices, optionalServices, skills };
}

function viewPreset({ id, name, description, services, skills }: Preset) {
  return { id, name, description, services, skills };
}

function viewPresetDetail(index: CatalogIndex, preset: Preset) {
  return {
    id: preset.id,
    name: preset.name,
    description: preset.description,
    services: preset.services.flatMap((id) => {
      const service = index.services.get(id);
      return service ? [{ id, name: service.name, category: service.category }] : [];
    }),
    skills: preset.skills.flatMap((id) => {
      const pack = index.packs.get(id);
      return pack ? [{ id, name: pack.name, skillCount: pack.skills.length }] : [];
    }),
    estimatedMemoryMB: memoryOf(index, withDependencies(index, [baseServiceId, ...preset.services]).values()),
  };
}

const filterNames = ["category", "tag", "maturity"] as const;

interface Filters {
  readonly category: string | undefined;
  readonly tag: string | undefined;
  readonly maturity: string | undefined;
}

/** Reads the filters of a query. An empty value counts as absent. */
function readFilters(query: string): Filters {
  const parameters = new URLSearchParams(query);
  const problems: string[] = [];
  const [category, tag, maturity] = filterNames.map((name) => {
    const values = parameters.getAll(name);
    if (values.length > 1) problems.push(`${name}: is given ${values.length} times; once is enough`);
    return values[0] || undefined;
  });
  if (maturity !== undefined && !(maturities as readonly string[]).includes(maturity))
    problems.push(`maturity: is "${maturity.slice(0, 80)}"; it must be one of ${maturities.join(", ")}`);
  if (problems.length > 0) throw new ApiError(400, "VALIDATION_ERROR", "The query is not valid.", problems);
  return { category, tag, maturity };
}

/** Handlers of the operations that read the catalog. */
export interface CatalogHandlers {
  readonly services: (query: string) => Reply;
  readonly skills: () => Reply;
  readonly presets: () => Reply;
  readonly preset: (name: string) => Reply;
}

/** Makes the catalog handlers. */
export function catalogHandlers(index: CatalogIndex): CatalogHandlers {
  const views = index.catalog.services.map((service) => viewService(index, service));
  const listServices = (services: readonly ServiceView[]) => represent(envelope({ total: services.length, services }));
  const all = represented(listServices(views));
  const none = represented(listServices([]));
  const skills = represented(represent(envelope({ total: index.packs.size, skillPacks: index.catalog.packs.map(viewPack) })));
  const presets = represented(represent(envelope({ presets: index.catalog.presets.map(viewPreset) })));
  const details = new Map(
    index.catalog.presets.map((preset) => [preset.id, represented(represent(envelope(viewPresetDetail(index, preset))))]),
  );
  // Filled as filters are asked for; only combinations that find something are kept, so it cannot grow without bound.
  const filtered = new Map<string, Representation>();
  return {
    services(query) {
      if (query === "") return all;
      const { category, tag, maturity } = readFilters(query);
      if (category === undefined && tag === undefined && maturity === undefined) return all;
      const key = JSON.stringify([category, tag, maturity]);
      let found = filtered.get(key);
      if (found === undefined) {
        const services = views.filter(
          (view) =>
            (category === undefined || view.category === category) &&
            (tag === undefined || view.tags.includes(tag)) &&
            (maturity === undefined || view.maturity === maturity),
        );
        if (services.length === 0) return none;
        found = listServices(services);
        filtered.set(key, found);
      }
      return represented(found);
    },
    skills: () => skills,
    presets: () => presets,
    preset(name) {
      const detail = details.get(name);
      if (detail !== undefined) return detail;
      const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name;
      const meant = nearest(name, index.presets.keys());
      throw new ApiError(
        404,
        "NOT_FOUND",
        `There is no preset "${shown}".${meant ? ` Did you mean "${meant}"?` : ""} GET /api/v1/presets lists them.`,
      );
    },
  };
}
