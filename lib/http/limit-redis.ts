/**
 * Request limits shared by several processes and machines through Redis or Valkey.
 *
 * Each request runs one script (https://redis.io/docs/latest/develop/programmability/eval-intro/), so two processes that ask
 * at the same moment never let the same token through twice. When the server is slow or gone, the process limits by itself:
 * a request is never lost, never waits longer than the timeout, and is never unlimited.
 *
 * @example
 * const shared = redisLimiter("redis://127.0.0.1:6379", { read: 100, write: 20, generate: 5 }, log);
 * const state = await shared.take("read", "192.0.2.1", false);
 */
import { RedisClient } from "bun";
import { type LimitClass, type Limiter, type LimitState, memoryLimiter, windowMs } from "./limit.ts";
import type { Log } from "./log.ts";

export interface SharedLimiter {
  readonly take: Limiter;
  /** Closes the connection. Afterwards the process limits by itself. */
  readonly close: () => void;
}

export interface RedisLimiterOptions {
  /** Milliseconds that a request waits for an answer. */
  readonly timeoutMs: number;
  /** Milliseconds between two attempts to come back. */
  readonly retryMs: number;
  /** What the names of keys start with. */
  readonly prefix: string;
}

const defaults: RedisLimiterOptions = { timeoutMs: 100, retryMs: 500, prefix: "stackwright:limit:" };

/**
 * KEYS: the bucket. ARGV: limit, window in milliseconds, 1 to only look.
 * Returns tokens used, milliseconds until the key expires (negative: there is none), 1 when the request may pass.
 * A key without an expiry, which only a foreign hand can have made, is given one.
 */
const script = `
local used = tonumber(redis.call("GET", KEYS[1]) or "0")
local left = redis.call("PTTL", KEYS[1])
local allowed = used < tonumber(ARGV[1])
if ARGV[3] ~= "1" then
  if allowed then used = redis.call("INCR", KEYS[1]) end
  if left < 0 then
    redis.call("PEXPIRE", KEYS[1], ARGV[2])
    left = tonumber(ARGV[2])
  end
end
return {used, left, allowed and 1 or 0}
`;
const scriptHash = new Bun.CryptoHasher("sha1").update(script).digest("hex");

type Answer = readonly [used: number, left: number, allowed: number];

/** Runs the script, sending its text only when the server does not know it yet. */
async function runScript(client: RedisClient, key: string, limit: number, window: number, peek: boolean): Promise<Answer> {
  const rest = ["1", key, String(limit), String(window), peek ? "1" : "0"];
  try {
    return (await client.send("EVALSHA", [scriptHash, ...rest])) as Answer;
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
    return (await client.send("EVAL", [script, ...rest])) as Answer;
  }
}

/**
 * Rejects when `promise` takes longer than `ms`. The time is waited for in two halves: after the first the event loop looks at
 * its sockets, so an answer that lies there already counts as in time even when this process was busy for longer.
 */
function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer = setTimeout(() => {
      timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms / 2);
    }, ms / 2);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/**
 * A limiter over the server at `url`, with the semantics of `memoryLimiter`: a window starts with a client's first request.
 * The time left in a window is the server's, so the clocks of the machines need not agree.
 */
export function redisLimiter(
  url: string,
  limits: Readonly<Record<LimitClass, number>>,
  log: Pick<Log, "warn">,
  options: Partial<RedisLimiterOptions> = {},
): SharedLimiter {
  const { timeoutMs, retryMs, prefix } = { ...defaults, ...options };
  const open = () => new RedisClient(url, { autoReconnect: false, connectionTimeout: timeoutMs * 5 });
  // Counts along while limits are shared, so that a client who used up its tokens gets none back when the server goes.
  const alone = memoryLimiter(limits);
  let client: RedisClient | undefined = open();
  let retry: Timer | undefined;

  /** Goes on without `failed`, unless another request has noticed already. */
  const leave = (failed: RedisClient, error: unknown) => {
    if (client !== failed) return;
    client = undefined;
    failed.close();
    const reason = error instanceof Error ? error.message : String(error);
    log.warn(`Redis at REDIS_URL does not serve limits (${reason}): this process limits by itself until it does`);
    retry = setTimeout(comeBack, retryMs);
    retry.unref();
  };

  const comeBack = async () => {
    const candidate = open();
    try {
      // The whole script, not a PING: a replica or a server that is still loading answers a PING, too.
      await within(runScript(candidate, `${prefix}probe`, 1, 1000, false), timeoutMs * 5);
      if (retry === undefined) return candidate.close();
      client = candidate;
      log.warn("Redis at REDIS_URL is back: limits are shared again");
    } catch {
      candidate.close();
      if (retry === undefined) return;
      retry = setTimeout(comeBack, retryMs);
      retry.unref();
    }
  };

  const ask = async (server: RedisClient, kind: LimitClass, key: string, peek: boolean, own: LimitState): Promise<LimitState> => {
    const limit = limits[kind];
    try {
      const [used, left, allowed] = await within(runScript(server, prefix + key, limit, windowMs, peek), timeoutMs);
      return { limit, remaining: Math.max(0, limit - used), resetAt: Date.now() + (left < 0 ? windowMs : left), allowed: allowed === 1 };
    } catch (error) {
      leave(server, error);
      return own;
    }
  };

  return {
    take(kind, key, peek) {
      const own = alone(kind, key, peek);
      return client === undefined ? own : ask(client, kind, `${kind}:${key}`, peek, own);
    },
    close() {
      clearTimeout(retry);
      retry = undefined;
      const last = client;
      client = undefined;
      last?.close();
    },
  };
}
