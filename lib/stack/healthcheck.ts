/** Health checks: from what the catalog states to the `test` of a Compose `healthcheck`. */
import type { Healthcheck } from "../catalog/schema.ts";
import { memo } from "../memo.ts";

/** A `healthcheck` as Compose has it; times in seconds. */
export interface PlannedHealthcheck {
  /** `undefined`: the image's own test is kept. */
  readonly test: readonly string[] | undefined;
  readonly interval: number;
  readonly timeout: number;
  readonly retries: number;
  readonly startPeriod: number;
}

function httpTest(tool: Extract<Healthcheck, { http: string }>["tool"], port: number, path: string): string[] {
  const url = `http://127.0.0.1:${port}${path}`;
  switch (tool) {
    case "curl":
      return ["curl", "-fsS", "-o", "/dev/null", url];
    case "wget":
      return ["wget", "-q", "-O", "/dev/null", url];
    case "node":
    case "bun":
      return [tool, "-e", `fetch("${url}").then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))`];
    case "python3":
    case "python":
      return [tool, "-c", `import urllib.request; urllib.request.urlopen("${url}", timeout=5)`];
    case "php":
      return ["php", "-r", `exit(@file_get_contents("${url}") === false ? 1 : 0);`];
    case "ruby":
      return ["ruby", "-rnet/http", "-e", `exit Net::HTTP.get_response(URI("${url}")).is_a?(Net::HTTPSuccess)`];
    case "perl":
      return ["perl", "-MHTTP::Tiny", "-e", `exit !HTTP::Tiny->new->get("${url}")->{success}`];
    case "bash":
      return [
        "bash",
        "-c",
        `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET ${path} HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [[ $status == 2* ]]`,
      ];
  }
}

function tcpTest(tool: Extract<Healthcheck, { tcp: number }>["tool"], port: number): string[] {
  switch (tool) {
    case "nc":
      return ["nc", "-z", "127.0.0.1", String(port)];
    case "bash":
      return ["bash", "-c", `: </dev/tcp/127.0.0.1/${port}`];
    case "node":
      return ["node", "-e", `require("node:net").connect(${port}, "127.0.0.1", () => process.exit(0)).on("error", () => process.exit(1))`];
    case "python3":
    case "python":
      return [tool, "-c", `import socket; socket.create_connection(("127.0.0.1", ${port}), 5)`];
    case "php":
      return ["php", "-r", `exit(@fsockopen("127.0.0.1", ${port}) ? 0 : 1);`];
    case "perl":
      return ["perl", "-MIO::Socket::INET", "-e", `exit !IO::Socket::INET->new("127.0.0.1:${port}")`];
  }
}

/** Plans a health check; `undefined` where none is possible. */
export function planHealthcheck(check: Healthcheck): PlannedHealthcheck | undefined {
  return "none" in check ? undefined : planned(check);
}

const planned = memo((check: Exclude<Healthcheck, { none: string }>): PlannedHealthcheck => {
  const times = {
    interval: check.interval ?? 10,
    timeout: check.timeout ?? 5,
    retries: check.retries ?? 6,
    startPeriod: check.startPeriod ?? 30,
  };
  if ("http" in check) return { test: ["CMD", ...httpTest(check.tool, check.port, check.http)], ...times };
  if ("tcp" in check) return { test: ["CMD", ...tcpTest(check.tool, check.tcp)], ...times };
  if ("command" in check) return { test: ["CMD", ...check.command], ...times };
  if ("shell" in check) return { test: ["CMD-SHELL", check.shell], ...times };
  return { test: undefined, ...times };
});
