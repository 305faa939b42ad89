/** Settings of the server, read from environment variables once at start. */
import { type Network, parseNetworks } from "./http/network.ts";

export const logLevels = ["silent", "error", "info", "debug"] as const;
export type LogLevel = (typeof logLevels)[number];

export interface Settings {
  readonly port: number;
  readonly host: string;
  /** Key that `POST` operations ask for; `undefined` leaves them open, on loopback only. */
  readonly apiKey: string | undefined;
  /** Where limits are shared; `undefined`: every process counts by itself. */
  readonly redisUrl: string | undefined;
  /** Peers whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly Network[];
  /** Value of `Access-Control-Allow-Origin`. */
  readonly corsOrigin: string;
  /** Requests per minute. */
  readonly limits: { readonly read: number; readonly write: number; readonly generate: number };
  readonly logLevel: LogLevel;
  /** Port of the metrics listener on loopback; `undefined`: none. */
  readonly metricsPort: number | undefined;
  /** Several processes may listen on the same port. */
  readonly reusePort: boolean;
}

/** All that is wrong with the settings, one line each. */
export class SettingsError extends Error {
  override name = "SettingsError";
  constructor(readonly problems: readonly string[]) {
    super(problems.map((problem) => `- ${problem}`).join("\n"));
  }
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/;

/**
 * Reads the settings from `env`. An empty variable counts as absent.
 * @throws {SettingsError} naming every variable that is wrong, its value and what would be right.
 */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const problems: string[] = [];
  const text = (name: string): string | undefined => env[name]?.trim() || undefined;
  const integer = (name: string, fallback: number, least: number, most: number): number => {
    const value = text(name);
    if (value === undefined) return fallback;
    if (/^\d+$/.test(value) && Number(value) >= least && Number(value) <= most) return Number(value);
    problems.push(`${name} is "${value}"; it must be a whole number from ${least} to ${most}`);
    return fallback;
  };

  const host = text("HOST") ?? "127.0.0.1";
  const apiKey = text("STACK_API_KEY");
  if (apiKey === undefined && !loopback.test(host)) {
    problems.push(
      `HOST is "${host}" and STACK_API_KEY is not set: without a key the server listens on loopback only. ` +
        "Set STACK_API_KEY to a long random value, or HOST to 127.0.0.1",
    );
  }
  const redisUrl = text("REDIS_URL");
  if (redisUrl !== undefined && !/^(rediss?|valkeys?|redis\+unix):\/\//.test(redisUrl)) {
    problems.push("REDIS_URL must start with redis:// or rediss://");
  }
  const { networks, wrong } = parseNetworks(text("TRUSTED_PROXIES") ?? "");
  for (const entry of wrong)
    problems.push(`TRUSTED_PROXIES holds "${entry}"; it must be a list of addresses or CIDR ranges, joined by commas`);
  const logLevel = text("LOG_LEVEL") ?? "error";
  if (!(logLevels as readonly string[]).includes(logLevel)) {
    problems.push(`LOG_LEVEL is "${logLevel}"; it must be one of ${logLevels.join(", ")}`);
  }
  const corsOrigin = text("CORS_ORIGIN") ?? "*";
  if (corsOrigin !== "*" && !/^https?:\/\/[^/\s]+$/.test(corsOrigin)) {
    problems.push(`CORS_ORIGIN is "${corsOrigin}"; it must be * or one origin such as https://app.example.com`);
  }
  const settings: Settings = {
    port: integer("PORT", 3000, 0, 65535),
    host,
    apiKey,
    redisUrl,
    trustedProxies: networks,
    corsOrigin,
    limits: {
      read: integer("LIMIT_READ", 100, 1, 1_000_000_000),
      write: integer("LIMIT_WRITE", 20, 1, 1_000_000_000),
      generate: integer("LIMIT_GENERATE", 5, 1, 1_000_000_000),
    },
    logLevel: logLevel as LogLevel,
    metricsPort: text("METRICS_PORT") === undefined ? undefined : integer("METRICS_PORT", 0, 0, 65535),
    reusePort: /^(1|true|yes|on)$/i.test(text("REUSE_PORT") ?? ""),
  };
  if (problems.length > 0) throw new SettingsError(problems);
  return settings;
}
