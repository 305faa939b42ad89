/** Request limits: a token bucket per client and class of request, kept in a TTL cache. */
import { TTLCache } from "@isaacs/ttlcache";

export type LimitClass = "read" | "write" | "generate";

/** What a request finds in its bucket. */
export interface LimitState {
  readonly limit: number;
  readonly remaining: number;
  /** When the bucket is full again, in milliseconds since the epoch. */
  readonly resetAt: number;
  /** False when the bucket was empty. */
  readonly allowed: boolean;
}

/** Takes one token of a client's bucket, or with `peek` only looks at it. */
export type Limiter = (kind: LimitClass, client: string, peek: boolean) => LimitState | Promise<LimitState>;

/** Milliseconds that a bucket lives from its first request. */
export const windowMs = 60_000;

/** Buckets held at most; past that, those that expire first are dropped. */
const maxBuckets = 100_000;

interface Bucket {
  remaining: number;
  readonly resetAt: number;
}

/** A limiter that counts in this process. Memory is bounded by `max` buckets. */
export function memoryLimiter(
  limits: Readonly<Record<LimitClass, number>>,
  max: number = maxBuckets,
): (kind: LimitClass, client: string, peek: boolean) => LimitState {
  const caches: Record<LimitClass, TTLCache<string, Bucket>> = {
    read: new TTLCache({ ttl: windowMs, max }),
    write: new TTLCache({ ttl: windowMs, max }),
    generate: new TTLCache({ ttl: windowMs, max }),
  };
  return (kind, client, peek) => {
    const limit = limits[kind];
    const cache = caches[kind];
    const now = Date.now();
    let bucket = cache.get(client);
    if (bucket === undefined || bucket.resetAt <= now) {
      if (peek) return { limit, remaining: limit, resetAt: now + windowMs, allowed: true };
      bucket = { remaining: limit, resetAt: now + windowMs };
      cache.set(client, bucket);
    }
    const allowed = bucket.remaining > 0;
    if (allowed && !peek) bucket.remaining--;
    return { limit, remaining: bucket.remaining, resetAt: bucket.resetAt, allowed };
  };
}
