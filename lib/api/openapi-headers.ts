/** What the OpenAPI document says of the fields of answers. */
import type { JsonSchema } from "./json-schema.ts";

const text = { type: "string" };
const header = (description: string, schema: JsonSchema, example: unknown) => ({ description, required: true, schema, example });
export const headers: Readonly<Record<string, JsonSchema>> = {
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

/** Those that every answer carries. */
export const everywhere = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-Request-Id",
  "X-Content-Type-Options",
  "Cache-Control",
];
