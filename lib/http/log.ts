/** Log lines as JSON on standard output; errors on standard error. Nothing secret is ever logged: no header, no body. */
import type { LogLevel } from "../settings.ts";

export interface RequestRecord {
  readonly id: string;
  readonly method: string;
  /** The route's pattern, not the path that was asked for. */
  readonly route: string;
  readonly status: number;
  /** Milliseconds from the request's arrival to its response. */
  readonly duration: number;
}

export interface Log {
  /** Present only when requests are logged, so that nobody pays for records that nobody writes. */
  readonly request: ((record: RequestRecord) => void) | undefined;
  readonly info: (message: string) => void;
  /** Something that an operator should know of, though requests are served. */
  readonly warn: (message: string) => void;
  readonly error: (message: string, error?: unknown) => void;
  /** Writes what is held back. */
  readonly flush: () => void;
}

/** Makes a log. Request lines are gathered and written together. */
export function createLog(level: LogLevel): Log {
  const sink = Bun.stdout.writer({ highWaterMark: 64 * 1024 });
  let pending = false;
  const flush = () => {
    pending = false;
    sink.flush();
  };
  const write = (line: string) => {
    sink.write(line);
    if (pending) return;
    pending = true;
    setTimeout(flush, 100).unref();
  };
  const line = (fields: Record<string, unknown>) => `${JSON.stringify({ time: new Date().toISOString(), ...fields })}\n`;
  const chatty = level === "info" || level === "debug";
  return {
    request: chatty
      ? (record) => write(line({ level: "info", ...record, duration: Math.round(record.duration * 1000) / 1000 }))
      : undefined,
    info: (message) => {
      if (chatty) write(line({ level: "info", message }));
    },
    warn: (message) => {
      if (level !== "silent") Bun.stderr.write(line({ level: "warn", message }));
    },
    error: (message, error) => {
      if (level === "silent") return;
      const detail = error instanceof Error ? { error: error.message, stack: error.stack } : {};
      Bun.stderr.write(line({ level: "error", message, ...detail }));
    },
    flush,
  };
}
