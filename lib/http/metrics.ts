/** Counters of the server in the Prometheus text format (https://prometheus.io/docs/instrumenting/exposition_formats/). */

const bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

interface Series {
  readonly labels: string;
  readonly buckets: Float64Array;
  count: number;
  sum: number;
}

export interface Metrics {
  /** Counts one answered request; `seconds` is how long it took. */
  readonly observe: (method: string, route: string, status: number, seconds: number) => void;
  /** All counters as text. */
  readonly expose: () => string;
}

const methods = new Set(["GET", "HEAD", "POST", "OPTIONS"]);

/** Makes a set of counters. Routes are patterns and methods are few, so the number of series is bounded. */
export function createMetrics(): Metrics {
  const series = new Map<string, Series>();
  return {
    observe(method, route, status, seconds) {
      const labels = `method="${methods.has(method) ? method : "other"}",route="${route}",status="${status}"`;
      let entry = series.get(labels);
      if (entry === undefined) {
        entry = { labels, buckets: new Float64Array(bounds.length), count: 0, sum: 0 };
        series.set(labels, entry);
      }
      entry.count++;
      entry.sum += seconds;
      for (let index = bounds.length - 1; index >= 0 && seconds <= (bounds[index] as number); index--) {
        entry.buckets[index] = (entry.buckets[index] as number) + 1;
      }
    },
    expose() {
      const name = "stackwright_http_request_duration_seconds";
      const lines = [`# HELP ${name} Time to answer a request.`, `# TYPE ${name} histogram`];
      for (const { labels, buckets, count, sum } of series.values()) {
        for (const [index, bound] of bounds.entries()) lines.push(`${name}_bucket{${labels},le="${bound}"} ${buckets[index]}`);
        lines.push(`${name}_bucket{${labels},le="+Inf"} ${count}`, `${name}_sum{${labels}} ${sum}`, `${name}_count{${labels}} ${count}`);
      }
      const memory = process.memoryUsage().rss;
      lines.push(
        "# HELP process_resident_memory_bytes Resident memory size in bytes.",
        "# TYPE process_resident_memory_bytes gauge",
        `process_resident_memory_bytes ${memory}`,
      );
      return `${lines.join("\n")}\n`;
    },
  };
}
