/**
 * The OpenAPI 3.1 document of the API, made of the schemas that check requests, the routes, and the answers of the
 * handlers. `bun run openapi` stores it as `openapi.json`, which the server carries inside; nothing of this runs while serving.
 */
import type * as v from "valibot";
import { type CatalogIndex, sourceOf } from "../catalog/index.ts";
import { maturities } from "../catalog/words.ts";
import { createApp } from "../http/app.ts";
import { bodyLimit } from "../http/body.ts";
import type { ErrorCode } from "../http/error.ts";
import type { Limiter } from "../http/limit.ts";
import type { Route } from "../http/router.ts";
import { GenerateBody, ValidateBody } from "../stack/request.ts";
import { version } from "../version.ts";
import * as answers from "./answers.ts";
import { apiRoutes, basePath } from "./index.ts";
import { type JsonSchema, jsonSchema } from "./json-schema.ts";

const apiKey = "example-key";
const bearer = { Authorization: `Bearer ${apiKey}` };

/** Schemas with a name of their own in the document. */
const names = new Map<v.GenericSchema, string>([
  [answers.Health, "Health"],
  [answers.Service, "Service"],
  [answers.SkillPack, "SkillPack"],
  [answers.Preset, "Preset"],
  [answers.PresetDetail, "PresetDetail"],
  [answers.StackWarning, "Warning"],
  [answers.Validation, "Validation"],
  [answers.GeneratedStack, "GeneratedStack"],
  [answers.Root, "Root"],
  [ValidateBody, "ValidateRequest"],
  [GenerateBody, "GenerateRequest"],
]);

/** What the schemas do not say of the fields of a request. */
const fields: Readonly<Record<keyof typeof GenerateBody.entries, JsonSchema>> = {
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
const validateFields: Readonly<Record<string, JsonSchema>> = Object.fromEntries(
  Object.entries(fields).map(([name, { description }]) => [
    name,
    { description: name === "name" || name === "format" ? `${description} Checked, and otherwise not used here.` : description },
  ]),
);

const ref = (section: string, name: string) => ({ $ref: `#/components/${section}/${name}` });

/** A request whose answer becomes an example. */
interface Example {
  readonly name: string;
  readonly summary: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Operation {
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

const stack = { name: "my-stack", services: ["postgresql"], proxy: "caddy", domain: "stack.example.com" };

/** The operations by method and path of their routes. */
const operations: Readonly<Record<string, Operation>> = {
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

type FailureName =
  | "BadRequest"
  | "Unauthorized"
  | "NotFound"
  | "MethodNotAllowed"
  | "Conflict"
  | "ContentTooLarge"
  | "UnsupportedMediaType"
  | "TooManyRequests"
  | "InternalServerError";

interface FailureResponse {
  readonly status: number;
  readonly code: ErrorCode;
  readonly description: string;
  readonly details: boolean;
  readonly headers: readonly string[];
  readonly examples: readonly Example[];
}

const validate = `${basePath}/validate`;

const failures: Readonly<Record<FailureName, FailureResponse>> = {
  BadRequest: {
    status: 400,
    code: "VALIDATION_ERROR",
    description: "The body or the query is not valid; `details.errors` names every problem.",
    details: true,
    headers: [],
    examples: [
      {
        name: "body",
        summary: "Several problems at once",
        path: validate,
        body: { services: ["postgres", "redsi"], gpu: "yes", proxies: "caddy" },
      },
      { name: "query", summary: "An unknown maturity", path: `${basePath}/services?maturity=old` },
      { name: "json", summary: "Not JSON", path: validate, body: '{"services": [}' },
    ],
  },
  Unauthorized: {
    status: 401,
    code: "UNAUTHORIZED",
    description: "The API key is missing or wrong.",
    details: false,
    headers: ["WWW-Authenticate"],
    examples: [{ name: "key", summary: "No key", path: validate, body: {}, headers: { Authorization: "" } }],
  },
  NotFound: {
    status: 404,
    code: "NOT_FOUND",
    description: "There is no such preset, or nothing at this path.",
    details: false,
    headers: [],
    examples: [
      { name: "preset", summary: "An unknown preset", path: `${basePath}/presets/minimum` },
      { name: "path", summary: "An unknown path", path: `${basePath}/preset` },
    ],
  },
  MethodNotAllowed: {
    status: 405,
    code: "NOT_FOUND",
    description: "The path has operations, but none of this method; `Allow` lists the methods that it has.",
    details: false,
    headers: ["Allow"],
    examples: [{ name: "method", summary: "POST on a path to read", path: `${basePath}/health`, body: {} }],
  },
  Conflict: {
    status: 409,
    code: "CONFLICT",
    description: "Services are selected that conflict; `details.errors` names each pair.",
    details: true,
    headers: [],
    examples: [
      {
        name: "conflict",
        summary: "Two services that conflict",
        path: `${basePath}/generate`,
        body: { name: "my-stack", services: ["redis", "valkey"] },
      },
    ],
  },
  ContentTooLarge: {
    status: 413,
    code: "VALIDATION_ERROR",
    description: `The body is larger than ${bodyLimit} bytes.`,
    details: true,
    headers: [],
    examples: [{ name: "large", summary: "A body that is too large", path: validate, body: " ".repeat(bodyLimit + 1) }],
  },
  UnsupportedMediaType: {
    status: 415,
    code: "VALIDATION_ERROR",
    description: "The body is not `application/json`.",
    details: true,
    headers: ["Accept"],
    examples: [{ name: "type", summary: "Text instead of JSON", path: validate, body: "{}", headers: { "Content-Type": "text/plain" } }],
  },
  TooManyRequests: {
    status: 429,
    code: "RATE_LIMITED",
    description: "The limit is used up; `Retry-After` tells when to try again.",
    details: false,
    headers: ["Retry-After"],
    examples: [{ name: "limit", summary: "Too many requests", path: `${basePath}/health`, headers: { "X-Request-Id": "limited" } }],
  },
  InternalServerError: {
    status: 500,
    code: "INTERNAL_ERROR",
    description: "An error of the server, logged under the id in `X-Request-Id`.",
    details: false,
    headers: [],
    examples: [{ name: "internal", summary: "An unexpected error", path: "/broken" }],
  },
};

const text = { type: "string" };
const header = (description: string, schema: JsonSchema, example: unknown) => ({ description, required: true, schema, example });
const headers: Readonly<Record<string, JsonSchema>> = {
  "X-RateLimit-Limit": header("Requests per minute that are allowed for operations of this kind.", { type: "integer", minimum: 1 }, 100),
  "X-RateLimit-Remaining": header("Requests that are left until the reset.", { type: "integer", minimum: 0 }, 99),
  "X-RateLimit-Reset": header("When the limit is full again, in Unix seconds.", { type: "integer", minimum: 0 }, 1_800_000_060),
  "X-Request-Id": header(
    "Id of the request: the one that it came with, or a new one.",
    { type: "string", pattern: "^[\\w.:-]{1,128}$" },
    "2f1c9a40b7e3-1",
  ),
  "X-Content-Type-Options": header("Tells clients not to guess the type.", { type: "string", const: "nosniff" }, "nosniff"),
  "Cache-Control": header(
    "`no-store` for answers of the moment; `public, no-cache` for those that may be kept and asked about with `If-None-Match`.",
    { type: "string", enum: ["no-store", "public, no-cache"] },
    "no-store",
  ),
  Vary: header("Request fields that choose the answer (RFC 9110, section 12.5.5).", text, "Accept-Encoding"),
  ETag: header("Strong validator of the answer (RFC 9110, section 8.8.3).", { type: "string", pattern: '^"[\\w-]+"$' }, '"1k2j3h4g5f6d"'),
  "Retry-After": header(
    "Seconds to wait before the next request (RFC 9110, section 10.2.3).",
    { type: "integer", minimum: 1, maximum: 60 },
    42,
  ),
  "WWW-Authenticate": header("How to authenticate (RFC 6750, section 3).", { type: "string", const: "Bearer" }, "Bearer"),
  Allow: header("Methods of the path (RFC 9110, section 10.2.1).", text, "GET, HEAD, OPTIONS"),
  Accept: header(
    "The media type that is accepted (RFC 9110, section 12.5.1).",
    { type: "string", const: "application/json" },
    "application/json",
  ),
  "Content-Disposition": {
    ...header(
      "The file name of the archive; only with `format` `tar`.",
      { type: "string", pattern: '^attachment; filename="[a-z0-9-]+\\.tar\\.gz"$' },
      'attachment; filename="my-stack.tar.gz"',
    ),
    required: false,
  },
};
const everywhere = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-Request-Id",
  "X-Content-Type-Options",
  "Cache-Control",
];
const headerRefs = (...more: readonly string[]) => Object.fromEntries([...everywhere, ...more].map((name) => [name, ref("headers", name)]));

/** Asks the handlers, with time and limits standing still. */
function examiner(index: CatalogIndex): (example: Example) => Promise<{ status: number; body: unknown }> {
  const broken: Route = {
    method: "GET",
    path: "/broken",
    limit: "read",
    protected: false,
    handle: () => {
      throw new Error("broken on purpose");
    },
  };
  const silent = () => {};
  const limiter =
    (allowed: boolean): Limiter =>
    (kind) => ({ limit: { read: 100, write: 20, generate: 5 }[kind], remaining: allowed ? 4 : 0, resetAt: Date.now() + 42_000, allowed });
  const app = (allowed: boolean) =>
    createApp({
      settings: { apiKey, trustedProxies: [], corsOrigin: "*" },
      routes: [...apiRoutes(sourceOf(index), performance.now() - 86_400_000), broken],
      limiter: limiter(allowed),
      log: { request: undefined, info: silent, warn: silent, error: silent, flush: silent },
      metrics: undefined,
    });
  const [open, limited] = [app(true), app(false)];
  return async ({ path, body, headers: own }) => {
    const request = new Request(`http://localhost${path}`, {
      headers: { ...bearer, ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...own },
      ...(body === undefined ? {} : { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const response = await (own?.["X-Request-Id"] === "limited" ? limited : open)(request, { requestIP: () => null });
    return { status: response.status, body: await response.json() };
  };
}

/** The OpenAPI 3.1 document as a value. Its examples are answers of the handlers over `index`. */
export async function openApiDocument(index: CatalogIndex): Promise<JsonSchema> {
  const ask = examiner(index);
  const convert = (schema: v.GenericSchema) => jsonSchema(schema, { names });
  const examplesOf = async (list: readonly Example[], status: number) => {
    const entries: [string, JsonSchema][] = [];
    for (const example of list) {
      const answer = await ask(example);
      if (answer.status !== status)
        throw new Error(
          `the example "${example.summary}" is answered with ${answer.status} instead of ${status}: ${JSON.stringify(answer.body)}`,
        );
      entries.push([example.name, { summary: example.summary, value: answer.body }]);
    }
    return Object.fromEntries(entries);
  };

  const operation = async (route: Route): Promise<JsonSchema> => {
    const own = operations[`${route.method} ${route.path}`];
    if (own === undefined) throw new Error(`${route.method} ${route.path} is not described`);
    const content: Record<string, JsonSchema> = {
      "application/json":
        own.data === undefined
          ? {
              schema: {
                type: "object",
                description: "An OpenAPI document.",
                properties: { openapi: { type: "string", pattern: "^3\\.1\\.\\d+$" } },
                required: ["openapi"],
              },
            }
          : { schema: convert(answers.success(own.data)), examples: await examplesOf(own.examples, 200) },
    };
    const archive = own.body === GenerateBody;
    if (archive)
      content["application/gzip"] = { schema: { type: "string", format: "binary", description: "The archive, with `format` `tar`." } };
    const more = [...(own.cached ? ["ETag", "Vary"] : []), ...(archive ? ["Content-Disposition"] : [])];
    const responses: Record<string, JsonSchema> = { 200: { description: "Success.", headers: headerRefs(...more), content } };
    if (own.cached) responses[304] = ref("responses", "NotModified");
    const all: readonly FailureName[] = [...own.failures, "MethodNotAllowed", "TooManyRequests", "InternalServerError"];
    for (const name of all) responses[failures[name].status] = ref("responses", name);
    const parameters = [...(own.parameters ?? []), ...(own.cached ? [ref("parameters", "IfNoneMatch")] : [])];
    const bodies = own.examples
      .filter((example) => example.body !== undefined)
      .map(({ name, summary, body }) => [name, { summary, value: body }]);
    if (archive) bodies.push(["archive", { summary: "The same as an archive", value: { ...stack, format: "tar" } }]);
    return {
      operationId: own.id,
      tags: [own.tag],
      summary: own.summary,
      description: `${own.description} Counted as \`${route.limit}\`.`,
      security: route.protected ? [{ apiKey: [] }] : [],
      ...(parameters.length > 0 ? { parameters } : {}),
      ...(own.body === undefined
        ? {}
        : {
            requestBody: {
              required: true,
              description: `At most ${bodyLimit} bytes.`,
              content: {
                "application/json": { schema: ref("schemas", names.get(own.body) as string), examples: Object.fromEntries(bodies) },
              },
            },
          }),
      responses,
    };
  };
  const paths: Record<string, JsonSchema> = {};
  for (const route of apiRoutes(sourceOf(index), 0)) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: await operation(route) };
  }

  const responses: Record<string, JsonSchema> = {
    NotModified: {
      description: "The answer is still the one that `If-None-Match` names; there is no body.",
      headers: headerRefs("ETag", "Vary"),
    },
  };
  for (const [name, { status, code, description, details, headers: own, examples }] of Object.entries(failures)) {
    responses[name] = {
      description,
      headers: headerRefs(...own),
      content: {
        "application/json": {
          schema: convert(answers.failure(code, details)),
          examples: await examplesOf(examples, status),
        },
      },
    };
  }

  const schemas: Record<string, JsonSchema> = {};
  for (const [schema, name] of names) {
    const annotations = schema === ValidateBody ? validateFields : schema === GenerateBody ? fields : {};
    schemas[name] = jsonSchema(schema, { names, annotations, nullable: schema === ValidateBody || schema === GenerateBody });
  }

  return {
    openapi: "3.1.1",
    info: {
      title: "Stackwright",
      version,
      summary: "Writes self-hosted AI-agent stacks.",
      description:
        "Lists companion services, skill packs and presets, validates a stack configuration, and generates the files of a stack.\n\n" +
        "Answers are envelopes: `ok` and `data`, or `ok` and `error`. Every answer carries the limit headers. " +
        "`HEAD` is answered wherever `GET` is, without the body; `OPTIONS` is answered on every path with 204 and `Allow`, and takes nothing from a limit. " +
        "The catalog is sent with gzip or zstd to clients that accept it.",
      contact: { name: "The Stackwright authors" },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "The server that this document comes from." }],
    tags: [
      { name: "Catalog", description: "What a stack can be made of." },
      { name: "Stacks", description: "Checking and making stacks; with the API key where the deployment has one." },
      { name: "Service", description: "The service itself." },
    ],
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description: "The key of the deployment, `STACK_API_KEY`. Where none is set, no operation asks for it.",
        },
      },
      parameters: {
        IfNoneMatch: {
          name: "If-None-Match",
          in: "header",
          description: "An `ETag` from before, to be answered with 304 when nothing has changed.",
          schema: text,
        },
      },
      headers,
      responses,
      schemas,
    },
  };
}

/** The document as the text that `openapi.json` holds. */
export async function openApiText(index: CatalogIndex): Promise<string> {
  return `${JSON.stringify(await openApiDocument(index), null, 2)}\n`;
}

if (import.meta.main) {
  const { embeddedCatalog } = await import("../embedded.ts");
  const path = `${import.meta.dir}/../../openapi.json`;
  const made = await openApiText(embeddedCatalog.index());
  await Bun.write(path, made);
  console.log(`openapi.json: ${made.length} bytes`);
}
