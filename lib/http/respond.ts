/** From a reply to the response that is sent: coding, validator, CORS, safety, limit and id. */
import { memo } from "../memo.ts";
import type { LimitState } from "./limit.ts";
import { type Coding, matchesEtag, preferredCoding } from "./negotiate.ts";
import { isRepresentation, type Reply, type Representation } from "./reply.ts";

const exposed = "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Content-Disposition, ETag, X-Request-Id, Allow";

/** Makes the response to a request; `limit` is what the request found in its bucket. */
export type Respond = (request: Request, id: string, reply: Reply, limit: LimitState | undefined) => Response;

/**
 * Makes a `Respond` for an allowed origin. What all answers of a kind share is made once as `Headers`: setting a few fields on a
 * copy takes half the time of making them all.
 */
export function responder(corsOrigin: string): Respond {
  const anyOrigin = corsOrigin === "*";
  const shared: Readonly<Record<string, string>> = {
    "X-Content-Type-Options": "nosniff",
    "Access-Control-Allow-Origin": corsOrigin,
    "Access-Control-Expose-Headers": exposed,
    ...(anyOrigin ? {} : { Vary: "Origin" }),
  };
  const plain = memo((fields: Reply["headers"]) => new Headers({ ...shared, "Content-Type": "application/json", ...fields }));
  const bare = memo((fields: Reply["headers"]) => new Headers({ ...shared, ...fields }));
  const variants = memo((_: Representation) => new Map<Coding, { etag: string; whole: Headers; unchanged: Headers }>());

  function variantOf(body: Representation, coding: Coding, fields: Reply["headers"]) {
    const known = variants(body);
    let variant = known.get(coding);
    if (variant === undefined) {
      const identity = coding === "identity";
      const etag = identity ? body.etag : `${body.etag.slice(0, -1)}-${coding}"`;
      const unchanged = { ...shared, ...fields, ETag: etag, Vary: anyOrigin ? "Accept-Encoding" : "Accept-Encoding, Origin" };
      const whole = { ...unchanged, "Content-Type": body.type, ...(identity ? {} : { "Content-Encoding": coding }) };
      variant = { etag, whole: new Headers(whole), unchanged: new Headers(unchanged) };
      known.set(coding, variant);
    }
    return variant;
  }

  function prepare(request: Request, { status, headers, body }: Reply): { status: number; headers: Headers; body: Body } {
    if (body === null) return { status, headers: bare(headers), body };
    if (!isRepresentation(body)) return { status, headers: plain(headers), body };
    const coding = preferredCoding(request.headers.get("accept-encoding"));
    const variant = variantOf(body, coding, headers);
    const condition = request.headers.get("if-none-match");
    if (condition !== null && status === 200 && (matchesEtag(condition, variant.etag) || matchesEtag(condition, body.etag)))
      return { status: 304, headers: variant.unchanged, body: null };
    return { status, headers: variant.whole, body: body[coding] };
  }

  return (request, id, reply, limit) => {
    const { status, headers: fields, body } = prepare(request, reply);
    const head = request.method === "HEAD";
    const response = new Response(head ? null : (body as string | Uint8Array<ArrayBuffer> | null), { status, headers: fields });
    const { headers } = response;
    headers.set("X-Request-Id", id);
    if (limit !== undefined) {
      headers.set("X-RateLimit-Limit", String(limit.limit));
      headers.set("X-RateLimit-Remaining", String(limit.remaining));
      headers.set("X-RateLimit-Reset", String(Math.ceil(limit.resetAt / 1000)));
    }
    if (head && body !== null) headers.set("Content-Length", String(typeof body === "string" ? Buffer.byteLength(body) : body.byteLength));
    return response;
  };
}

type Body = string | Uint8Array | null;
