/** Codes of the failure envelope. */
export type ErrorCode = "VALIDATION_ERROR" | "UNAUTHORIZED" | "NOT_FOUND" | "CONFLICT" | "RATE_LIMITED" | "INTERNAL_ERROR";

/** A failure that the client is told about: an HTTP status and the fields of the failure envelope. */
export class ApiError extends Error {
  override name = "ApiError";
  constructor(
    readonly status: number,
    readonly code: ErrorCode,
    message: string,
    readonly errors: readonly string[] | undefined = undefined,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }

  /** The failure envelope. */
  get envelope(): { ok: false; error: { code: ErrorCode; message: string; details?: { errors: readonly string[] } } } {
    const { code, message, errors } = this;
    return { ok: false, error: errors ? { code, message, details: { errors } } : { code, message } };
  }
}
