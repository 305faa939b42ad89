/** Checks answers against the stored OpenAPI document: status, headers, media type and body. */
import Ajv2020, { type ValidateFunction } from "ajv/dist/2020";
import document from "../openapi.json" with { type: "json" };

interface Media {
  schema: object;
  examples?: Record<string, { value: unknown }>;
}
export interface DocumentedResponse {
  description: string;
  headers: Record<string, { $ref: string }>;
  content?: Record<string, Media>;
}
export interface DocumentedOperation {
  operationId: string;
  security: object[];
  parameters?: { $ref?: string; name?: string; in?: string }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { $ref: string } | DocumentedResponse>;
}
interface DocumentedHeader {
  required: boolean;
  schema: { type: string };
}

export const paths = document.paths as unknown as Record<string, Record<string, DocumentedOperation>>;

/** Strict about formats and types that it does not know; the rest of the document is known to `ajv` only by references. */
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema(document, "openapi");
const compiled = new Map<object, ValidateFunction>();

/** Resolves a reference into the document. */
export function resolve<T extends object>(value: T | { $ref: string }): T {
  if (!("$ref" in value)) return value;
  let found: unknown = document;
  for (const part of value.$ref.slice(2).split("/"))
    found = (found as Record<string, unknown>)[part.replaceAll("~1", "/").replaceAll("~0", "~")];
  return found as T;
}

function validator(schema: object): ValidateFunction {
  let validate = compiled.get(schema);
  if (validate === undefined) {
    // References are relative to the document, not to the schema that holds them.
    validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"openapi#/')) as object);
    compiled.set(schema, validate);
  }
  return validate;
}

/** What is wrong with a value, by a schema of the document; empty when nothing is. */
export function invalid(schema: object, value: unknown): string[] {
  const validate = validator(schema);
  if (validate(value)) return [];
  return (validate.errors ?? []).map((error) => `${error.instancePath || "(value)"} ${error.message} ${JSON.stringify(error.params)}`);
}

/** The template of the document that a path belongs to. */
export function templateOf(path: string): string | undefined {
  if (Object.hasOwn(paths, path)) return path;
  return Object.keys(paths).find(
    (template) => template.includes("{") && new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`).test(path),
  );
}

/** Methods of a path, as `Allow` should list them. */
export function allowed(template: string): string {
  const methods = Object.keys(paths[template] ?? {}).map((method) => method.toUpperCase());
  return [...methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])), "OPTIONS"].join(", ");
}

/** An answer, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

const limitHeaders = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id", "X-Content-Type-Options"];

function checkHeaders(documented: DocumentedResponse["headers"], headers: Headers): string[] {
  return Object.entries(documented).flatMap(([name, reference]) => {
    const { required, schema } = resolve<DocumentedHeader>(reference);
    const value = headers.get(name);
    if (value === null) return required ? [`header ${name} is missing`] : [];
    return invalid(schema, schema.type === "integer" ? Number(value) : value).map((problem) => `header ${name}: ${problem}`);
  });
}

function decoded(answer: Answer): Uint8Array {
  const coding = answer.headers.get("content-encoding");
  const body = answer.body as Uint8Array<ArrayBuffer>;
  return coding === "gzip" ? Bun.gunzipSync(body) : coding === "zstd" ? Bun.zstdDecompressSync(body) : body;
}

function checkBody(content: DocumentedResponse["content"], answer: Answer): string[] {
  const type = answer.headers.get("content-type");
  if (content === undefined) return answer.body.length > 0 ? ["has a body"] : type === null ? [] : [`has a Content-Type: ${type}`];
  const media = content[type ?? ""];
  if (media === undefined) return [`Content-Type ${type} is not documented`];
  if (type === "application/gzip") {
    const magic = new TextDecoder().decode(Bun.gunzipSync(answer.body as Uint8Array<ArrayBuffer>).subarray(257, 262));
    return magic === "ustar" ? [] : ["is not a ustar archive"];
  }
  try {
    return invalid(media.schema, JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(decoded(answer))));
  } catch (error) {
    return [`is not JSON: ${error}`];
  }
}

/** What the document does not allow of an answer to `method` on `path`; empty when all is as documented. */
export function undocumented(method: string, path: string, answer: Answer): string[] {
  const problems: string[] = [];
  const { status, headers, body } = answer;
  if (headers.has("server")) problems.push("has a Server header");
  const template = templateOf(path);
  const bodiless = method === "HEAD" || status === 204 || status === 304;
  if (bodiless && body.length > 0) problems.push("has a body, though it must not");
  if (!bodiless && headers.get("content-length") !== String(body.length))
    problems.push(`Content-Length is ${headers.get("content-length")} for ${body.length} bytes`);
  if (template !== undefined && method === "OPTIONS") {
    if (status !== 204) problems.push(`OPTIONS is answered with ${status}`);
    if (headers.get("allow") !== allowed(template)) problems.push(`Allow is ${headers.get("allow")} instead of ${allowed(template)}`);
    return [...problems, ...limitHeaders.filter((name) => !headers.has(name)).map((name) => `header ${name} is missing`)];
  }
  const operation = template === undefined ? undefined : paths[template]?.[(method === "HEAD" ? "GET" : method).toLowerCase()];
  let response: DocumentedResponse | undefined;
  if (operation !== undefined) {
    if (status === 405) problems.push("405 on an operation of the document");
    const found = operation.responses[status];
    response = found && resolve(found);
  } else {
    // Nothing at this path, or no operation of this method.
    const names = status === 429 ? "TooManyRequests" : template === undefined ? "NotFound" : "MethodNotAllowed";
    const expected = { TooManyRequests: 429, NotFound: 404, MethodNotAllowed: 405 }[names];
    if (status === expected) response = resolve<DocumentedResponse>({ $ref: `#/components/responses/${names}` });
    if (status === 405 && headers.get("allow") !== allowed(template ?? "")) problems.push(`Allow is ${headers.get("allow")}`);
  }
  if (response === undefined) return [...problems, `status ${status} is not documented`];
  problems.push(...checkHeaders(response.headers, headers));
  if (method !== "HEAD") problems.push(...checkBody(response.content, answer));
  return problems;
}

/** Reads a response of `fetch` to its end; ask with `decompress: false`. */
export async function read(response: Response): Promise<Answer> {
  return { status: response.status, headers: response.headers, body: await response.bytes() };
}
