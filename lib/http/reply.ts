/** What handlers answer with, before limits, CORS and coding are added, and the success envelope. */

/** Bytes that are made once and sent often, in each content coding (RFC 9110, section 8.4), with a strong validator. */
export interface Representation {
  readonly type: string;
  readonly etag: string;
  readonly identity: Uint8Array;
  readonly gzip: Uint8Array;
  readonly zstd: Uint8Array;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | Representation | null;
}

const encoder = new TextEncoder();

/** `application/json` text of a success envelope around `data`. */
export function envelope(data: unknown): string {
  return enclose(JSON.stringify(data));
}

function enclose(text: string): string {
  return `{"ok":true,"data":${text}}`;
}

/** A success reply with a JSON body that is made for this request. */
export function json(data: unknown, headers: Readonly<Record<string, string>> = noStore): Reply {
  return jsonText(JSON.stringify(data), headers);
}

/** A success reply around a JSON text. */
export function jsonText(text: string, headers: Readonly<Record<string, string>> = noStore): Reply {
  return { status: 200, headers, body: enclose(text) };
}

const noStore: Readonly<Record<string, string>> = Object.freeze({ "Cache-Control": "no-store" });

/** Makes the representation of a text that does not change while the process lives. */
export function represent(text: string, type: string = "application/json"): Representation {
  const identity = encoder.encode(text);
  // Compressed when first asked for: the server starts in a fraction of the time, and most codings are never wanted.
  let gzip: Uint8Array | undefined;
  let zstd: Uint8Array | undefined;
  return {
    type,
    etag: `"${Bun.hash(identity).toString(36)}"`,
    identity,
    get gzip() {
      gzip ??= Bun.gzipSync(identity, { level: 9 });
      return gzip;
    },
    get zstd() {
      zstd ??= Bun.zstdCompressSync(identity, { level: 12 });
      return zstd;
    },
  };
}

/** A reply with a representation that clients may keep, but must ask about before use. */
export function represented(body: Representation): Reply {
  return { status: 200, headers: revalidate, body };
}

const revalidate: Readonly<Record<string, string>> = Object.freeze({ "Cache-Control": "public, no-cache" });

/** Whether a reply's body is a `Representation`. */
export function isRepresentation(body: Reply["body"]): body is Representation {
  return body !== null && typeof body === "object" && "etag" in body;
}
