/**
 * The OpenAPI 3.1 document of the API, made of the schemas that check requests, the routes, and the answers of the
 * handlers. `bun run openapi` stores it as `openapi.json`, which the server carries inside; nothing of this runs while serving.
 */
import type * as v from "valibot";
import { type CatalogIndex, sourceOf } from "../catalog/index.ts";
import { createApp } from "../http/app.ts";
import { bodyLimit } from "../http/body.ts";
import type { Limiter } from "../http/limit.ts";
import type { Route } from "../http/router.ts";
import { GenerateBody, ValidateBody } from "../stack/request.ts";
import { version } from "../version.ts";
import * as answers from "./answers.ts";
import { apiRoutes } from "./index.ts";
import { type JsonSchema, jsonSchema } from "./json-schema.ts";
import { type FailureName, failures } from "./openapi-failures.ts";
import { everywhere, headers } from "./openapi-headers.ts";
import { type Example, fields, operations, stack, validateFields } from "./openapi-operations.ts";

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

const ref = (section: string, name: string) => ({ $ref: `#/components/${section}/${name}` });
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
          schema: { type: "string" },
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
