/** What the OpenAPI document says of each way to fail. */
import { bodyLimit } from "../http/body.ts";
import type { ErrorCode } from "../http/error.ts";
import { basePath } from "./index.ts";
import type { Example } from "./openapi-operations.ts";

export type FailureName =
  | "BadRequest"
  | "Unauthorized"
  | "NotFound"
  | "MethodNotAllowed"
  | "Conflict"
  | "ContentTooLarge"
  | "UnsupportedMediaType"
  | "TooManyRequests"
  | "InternalServerError";

export interface FailureResponse {
  readonly status: number;
  readonly code: ErrorCode;
  readonly description: string;
  readonly details: boolean;
  readonly headers: readonly string[];
  readonly examples: readonly Example[];
}

const validate = `${basePath}/validate`;

export const failures: Readonly<Record<FailureName, FailureResponse>> = {
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
