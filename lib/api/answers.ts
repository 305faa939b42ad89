/** Shapes of the answers, for the OpenAPI document and for tests. Handlers make them; nothing checks them while serving. */
import * as v from "valibot";
import { categories, maturities } from "../catalog/words.ts";
import type { ErrorCode } from "../http/error.ts";
import { proxies } from "../stack/request.ts";
import type { Warning } from "../stack/resolve.ts";

const text = (description: string) => v.pipe(v.string(), v.description(description));
const count = (description: string) => v.pipe(v.number(), v.integer(), v.minValue(0), v.description(description));
const ids = (description: string) => v.pipe(v.array(v.string()), v.description(description));
const port = (description: string) => v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535), v.description(description));
const keysOf = <Key extends string>(record: Readonly<Record<Key, unknown>>) => Object.keys(record) as Key[];

export const Health = v.strictObject({
  status: v.pipe(v.picklist(["healthy"]), v.description("Health state of the API.")),
  version: text("Version of the running software."),
  uptime: count("Whole seconds since the start."),
  services: count("Number of known services."),
  skillPacks: count("Number of known skill packs."),
  presets: count("Number of known presets."),
});

export const Service = v.strictObject({
  id: text("Service identifier."),
  name: text("Display name."),
  description: text("What the service does."),
  category: v.pipe(v.picklist(categories), v.description("Category ID.")),
  image: text("Container image reference."),
  imageTag: text("Container image tag."),
  maturity: v.pipe(v.picklist(maturities), v.description("How settled the service is.")),
  ports: v.pipe(
    v.array(v.strictObject({ host: port("Port on the host."), container: port("Port in the container.") })),
    v.description("Ports that are published."),
  ),
  requires: ids("IDs of services that this one depends on."),
  conflictsWith: ids("IDs of services that conflict with this one."),
  minMemoryMB: count("Minimum memory in megabytes."),
  tags: ids("Tags, to filter by."),
});

export const SkillPack = v.strictObject({
  id: text("Skill pack identifier."),
  name: text("Display name."),
  description: text("What the skills are for."),
  requiredServices: ids("IDs of services that must be selected."),
  optionalServices: ids("IDs of services that may be selected."),
  skills: ids("Names of the skills in the pack."),
});

export const Preset = v.strictObject({
  id: text("Preset identifier."),
  name: text("Display name."),
  description: text("What the preset is for."),
  services: ids("IDs of its services."),
  skills: ids("IDs of its skill packs."),
});

export const PresetDetail = v.strictObject({
  id: text("Preset identifier."),
  name: text("Display name."),
  description: text("What the preset is for."),
  services: v.pipe(
    v.array(v.strictObject({ id: text("Service identifier."), name: text("Display name."), category: v.picklist(categories) })),
    v.description("Its services."),
  ),
  skills: v.pipe(
    v.array(
      v.strictObject({
        id: text("Skill pack identifier."),
        name: text("Display name."),
        skillCount: count("Number of skills in the pack."),
      }),
    ),
    v.description("Its skill packs."),
  ),
  estimatedMemoryMB: count("Estimated memory of the whole stack in megabytes."),
});

/** Every code of a warning; a record, so that none can be forgotten. */
const warningCodes: Readonly<Record<Warning["code"], true>> = {
  CONFLICT: true,
  PRESET_OVERRIDES: true,
  PLATFORM_EMULATED: true,
  PORT_REASSIGNED: true,
  GPU_REQUIRED: true,
  GPU_UNUSED: true,
  GPU_UNAVAILABLE: true,
  DOMAIN_UNUSED: true,
};

export const StackWarning = v.strictObject({
  code: v.pipe(v.picklist(keysOf(warningCodes)), v.description("Kind of the warning.")),
  message: text("Human-readable text."),
});

export const Validation = v.strictObject({
  valid: v.literal(true),
  warnings: v.pipe(v.array(StackWarning), v.description("What to know of before using the stack. Warnings leave it valid.")),
  resolvedServices: ids("IDs of the selected services, those that they depend on, and the base service."),
  resolvedSkills: ids("IDs of the selected skill packs."),
  estimatedMemoryMB: count("Sum of `minMemoryMB` over `resolvedServices`."),
});

export const GeneratedStack = v.strictObject({
  name: text("The project name of the request."),
  files: v.pipe(v.record(v.string(), v.string()), v.description("File content by path.")),
  summary: v.strictObject({
    services: count("Number of services in the stack."),
    skills: count("Number of skill packs."),
    proxy: v.pipe(v.picklist([...proxies, "none"]), v.description("The proxy.")),
    estimatedMemoryMB: count("Estimated memory in megabytes."),
  }),
});

export const Root = v.strictObject({
  name: text("Name of the software."),
  version: text("Version of the running software."),
  links: v.pipe(v.record(v.string(), v.string()), v.description("Paths of the operations, by name.")),
});

/** The failure envelope with `code`; `details` tells whether it lists problems one by one. */
export const failure = (code: ErrorCode, details: boolean) => {
  const entries = {
    code: v.pipe(v.literal(code), v.description("What went wrong, for programs.")),
    message: text("What went wrong, for people."),
  };
  const problems = { details: v.strictObject({ errors: ids("One entry per problem.") }) };
  return v.strictObject({ ok: v.literal(false), error: details ? v.strictObject({ ...entries, ...problems }) : v.strictObject(entries) });
};

/** The success envelope around `data`. */
export const success = (data: v.GenericSchema) => v.strictObject({ ok: v.literal(true), data });

export const ServiceList = v.strictObject({ total: count("Number of services in the list."), services: v.array(Service) });
export const SkillPackList = v.strictObject({ total: count("Number of skill packs in the list."), skillPacks: v.array(SkillPack) });
export const PresetList = v.strictObject({ presets: v.array(Preset) });
