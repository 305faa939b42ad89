/** Reading of JSON request bodies, with a limit and with errors that help. */
import { ApiError } from "./error.ts";

/** Bytes that a request body may have. */
export const bodyLimit = 64 * 1024;

const tooLarge = () =>
  new ApiError(413, "VALIDATION_ERROR", `The body is larger than ${bodyLimit} bytes.`, [`body: larger than ${bodyLimit} bytes`]);

function isJson(type: string): boolean {
  const essence = type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return essence === "application/json" || /^application\/[\w.+-]+\+json$/.test(essence);
}

async function readBytes(request: Request): Promise<Uint8Array> {
  const length = request.headers.get("content-length");
  if (length !== null) {
    if (Number(length) > bodyLimit) throw tooLarge();
    return await request.bytes();
  }
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > bodyLimit) throw tooLarge();
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/** Where a JSON text stops being JSON: line and column, both from 1. */
export function jsonErrorPosition(text: string): { line: number; column: number } {
  const index = firstInvalid(text);
  const before = text.slice(0, index);
  return { line: before.split("\n").length, column: index - before.lastIndexOf("\n") };
}

/** Index of the first character that cannot continue a JSON text (RFC 8259); the length when the text just ends too early. */
function firstInvalid(text: string): number {
  let at = 0;
  let failed = -1;
  const fail = (index: number): false => {
    if (failed < 0) failed = index;
    return false;
  };
  const space = () => {
    while (/[ \t\n\r]/.test(text[at] ?? "")) at++;
  };
  const word = (literal: string): boolean => {
    for (const char of literal) {
      if (text[at] !== char) return fail(at);
      at++;
    }
    return true;
  };
  const string = (): boolean => {
    at++;
    for (;;) {
      const char = text[at];
      if (char === undefined || char < " ") return fail(at);
      at++;
      if (char === '"') return true;
      if (char !== "\\") continue;
      const escaped = text[at] ?? "";
      if (escaped === "u") {
        at++;
        for (let digit = 0; digit < 4; digit++, at++) if (!/[0-9a-fA-F]/.test(text[at] ?? "")) return fail(at);
      } else if (/["\\/bfnrt]/.test(escaped)) at++;
      else return fail(at);
    }
  };
  const number = (): boolean => {
    const match = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/.exec(text.slice(at, at + 400));
    if (!match) return fail(at + (text[at] === "-" ? 1 : 0));
    at += match[0].length;
    return true;
  };
  const open: ("}" | "]")[] = [];
  // One loop instead of recursion: a body of 64 KiB can nest deeper than a call stack.
  for (;;) {
    space();
    const char = text[at];
    if (char === "{" || char === "[") {
      at++;
      const close = char === "{" ? "}" : "]";
      open.push(close);
      space();
      if (text[at] === close) {
        at++;
        open.pop();
      } else if (close === "}") {
        if (!key()) return failed;
        continue;
      } else continue;
    } else {
      const good =
        char === '"' ? string() : char === "t" ? word("true") : char === "f" ? word("false") : char === "n" ? word("null") : number();
      if (!good) return failed;
    }
    for (;;) {
      space();
      const close = open.at(-1);
      if (close === undefined) return at;
      if (text[at] === close) {
        at++;
        open.pop();
        continue;
      }
      if (text[at] !== ",") return at;
      at++;
      if (close === "}" && !key()) return failed;
      break;
    }
  }
  function key(): boolean {
    space();
    if (text[at] !== '"') return fail(at);
    if (!string()) return false;
    space();
    if (text[at] !== ":") return fail(at);
    at++;
    return true;
  }
}

/**
 * Reads the body as JSON.
 * @throws {ApiError} 413 (too large), 415 (not `application/json`), 400 (not UTF-8, not JSON, not an object).
 */
export async function readJsonObject(request: Request): Promise<Readonly<Record<string, unknown>>> {
  const type = request.headers.get("content-type");
  if (type === null || !isJson(type)) {
    const given = type === null ? "missing" : `"${type}"`;
    throw new ApiError(
      415,
      "VALIDATION_ERROR",
      `The header Content-Type is ${given}; it must be application/json.`,
      [`Content-Type: is ${given}; it must be application/json`],
      {
        Accept: "application/json",
      },
    );
  }
  const bytes = await readBytes(request);
  if (bytes.byteLength > bodyLimit) throw tooLarge();
  const invalid = (message: string, problem: string) => new ApiError(400, "VALIDATION_ERROR", message, [problem]);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalid("The body is not UTF-8 text.", "body: not UTF-8");
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    if (text.trim() === "") throw invalid("The body is empty; it must be a JSON object.", "body: empty; it must be a JSON object");
    const { line, column } = jsonErrorPosition(text);
    throw invalid(`The body is not valid JSON: line ${line}, column ${column}.`, `body: not valid JSON at line ${line}, column ${column}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const kind = value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
    throw invalid(`The body is ${kind}; it must be a JSON object.`, `body: is ${kind}; it must be a JSON object`);
  }
  return value as Record<string, unknown>;
}
