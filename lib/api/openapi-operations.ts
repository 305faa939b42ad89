/** What the OpenAPI document says of each operation: its words, and the requests whose answers are its examples. */
import type * as v from "valibot";
import { maturities } from "../catalog/words.ts";
import { GenerateBody, ValidateBody } from "../stack/request.ts";
import * as answers from "./answers.ts";
import { basePath } from "./index.ts";
import type { JsonSchema } from "./json-schema.ts";
import type { FailureName } from "./openapi-failures.ts";

/** A request whose answer becomes an example. */
export interface Example {
  readonly name: string;
  readonly summary: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Operation {
  readonly id: string;
  readonly tag: "Service" | "Catalog" | "Stacks";
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly JsonSchema[];
  readonly body?: v.GenericSchema;
  /** Payload of the success envelope; without one, the answer is an OpenAPI document. */
  readonly data?: v.GenericSchema;
  /** Whether the answer has an `ETag` and can be a 304. */
  readonly cached: boolean;
  /** Names of failures beyond those that every operation has. */
  readonly failures: readonly FailureName[];
  readonly examples: readonly Example[];
}

/** The stack of the examples of `generate`. */
export const stack = { name: "my-stack", services: ["postgresql"], proxy: "caddy", domain: "stack.example.com" };

/** The operations by method and path of their routes. */
export const operations: Readonly<Record<string, Operation>> = {
  [`GET ${basePath}/health`]: {
    id: "getHealth",
    tag: "Service",
    summary: "Health status",
    description: "Tells that the service works, its version and the size of its catalog.",
    data: answers.Health,
    cached: false,
    failures: [],
    examples: [{ name: "healthy", summary: "A working instance", path: `${basePath}/health` }],
  },
  [`GET ${basePath}/services`]: {
    id: "listServices",
    tag: "Catalog",
    summary: "List services",
    description: "Lists the services of the catalog. Filters match exactly and narrow together; an empty filter counts as absent.",
    parameters: [
      {
        name: "category",
        in: "query",
        description: "Keep only services of this category ID.",
        schema: { type: "string" },
        example: "message-queue",
      },
      { name: "tag", in: "query", description: "Keep only services that carry this tag.", schema: { type: "string" }, example: "wiki" },
      {
        name: "maturity",
        in: "query",
        description: "Keep only services of this maturity.",
        schema: { type: "string", enum: [...maturities] },
      },
    ],
    data: answers.ServiceList,
    cached: true,
    failures: ["BadRequest"],
    examples: [
      { name: "category", summary: `GET ${basePath}/services?category=backup`, path: `${basePath}/services?category=backup` },
      { name: "none", summary: `GET ${basePath}/services?tag=none`, path: `${basePath}/services?tag=none` },
    ],
  },
  [`GET ${basePath}/skills`]: {
    id: "listSkillPacks",
    tag: "Catalog",
    summary: "List skill packs",
    description: "Lists the skill packs: sets of agent skills, with the services that they need.",
    data: answers.SkillPackList,
    cached: true,
    failures: [],
    examples: [{ name: "all", summary: "All skill packs", path: `${basePath}/skills` }],
  },
  [`GET ${basePath}/presets`]: {
    id: "listPresets",
    tag: "Catalog",
    summary: "List presets",
    description: "Lists the presets: named selections of services and skill packs.",
    data: answers.PresetList,
    cached: true,
    failures: [],
    examples: [{ name: "all", summary: "All presets", path: `${basePath}/presets` }],
  },
  [`GET ${basePath}/presets/:name`]: {
    id: "getPreset",
    tag: "Catalog",
    summary: "Preset detail",
    description: "Shows one preset with the names of its services and skill packs, and the memory that its stack needs.",
    parameters: [{ name: "name", in: "path", required: true, description: "Preset ID.", schema: { type: "string" }, example: "minimal" }],
    data: answers.PresetDetail,
    cached: true,
    failures: ["NotFound"],
    examples: [{ name: "minimal", summary: `GET ${basePath}/presets/minimal`, path: `${basePath}/presets/minimal` }],
  },
  [`POST ${basePath}/validate`]: {
    id: "validateStack",
    tag: "Stacks",
    summary: "Validate a configuration",
    description:
      "Checks a configuration for conflicts, missing dependencies and invalid options, and resolves it, without making files. " +
      "Conflicts are warnings here. `null` counts as an absent field.",
    body: ValidateBody,
    data: answers.Validation,
    cached: false,
    failures: ["BadRequest", "Unauthorized", "ContentTooLarge", "UnsupportedMediaType"],
    examples: [
      {
        name: "dependencies",
        summary: "Services and what they depend on",
        path: `${basePath}/validate`,
        body: { services: ["postgresql", "redis"], proxy: "caddy" },
      },
      { name: "conflict", summary: "A conflict is a warning", path: `${basePath}/validate`, body: { services: ["redis", "valkey"] } },
      { name: "preset", summary: "A preset", path: `${basePath}/validate`, body: { preset: "minimal" } },
    ],
  },
  [`POST ${basePath}/generate`]: {
    id: "generateStack",
    tag: "Stacks",
    summary: "Generate a stack",
    description:
      "Makes the complete stack: as an envelope with all files, or with `format` `tar` as an archive. `null` counts as an absent field.",
    body: GenerateBody,
    data: answers.GeneratedStack,
    cached: false,
    failures: ["BadRequest", "Unauthorized", "Conflict", "ContentTooLarge", "UnsupportedMediaType"],
    examples: [{ name: "proxy", summary: "A database behind Caddy", path: `${basePath}/generate`, body: stack }],
  },
  "GET /": {
    id: "getRoot",
    tag: "Service",
    summary: "Links",
    description: "Name, version, and where things are.",
    data: answers.Root,
    cached: true,
    failures: [],
    examples: [{ name: "root", summary: "Links", path: "/" }],
  },
  [`GET ${basePath}/openapi.json`]: {
    id: "getOpenApi",
    tag: "Service",
    summary: "This document",
    description: "The description of the API as an OpenAPI 3.1 document.",
    cached: true,
    failures: [],
    examples: [],
  },
};

/** What the schemas do not say of the fields of a request. */
export const fields: Readonly<Record<keyof typeof GenerateBody.entries, JsonSchema>> = {
  name: { description: "Project name; its slug names the Compose project and the archive." },
  preset: { description: "Preset ID, instead of `services` and `skills`, which are ignored beside it." },
  services: { description: "Service IDs to include." },
  skills: { description: "Skill pack IDs to include." },
  proxy: { description: "Reverse proxy in front of the stack; without it, everything is published on loopback only." },
  domain: { description: "Domain of the proxy; `localhost` when absent." },
  gpu: { description: "Enables GPU passthrough." },
  platform: { description: "Target platform, as `<os>/<architecture>`." },
  deploymentType: {
    description: "`bare-metal` gives a hybrid: native services with installers, the rest in containers.",
    default: "docker",
  },
  format: { description: "`json` for an envelope with the files, `tar` for a `.tar.gz` archive.", default: "json" },
};

/** The same for `validate`, where no default matters. */
export const validateFields: Readonly<Record<string, JsonSchema>> = Object.fromEntries(
  Object.entries(fields).map(([name, { description }]) => [
    name,
    { description: name === "name" || name === "format" ? `${description} Checked, and otherwise not used here.` : description },
  ]),
);
