import { describe, expect, test } from "bun:test";
import { renderReadme } from "../../lib/render/readme.ts";
import { planStack } from "../../lib/stack/plan.ts";
import type { StackRequest } from "../../lib/stack/request.ts";
import { resolve } from "../../lib/stack/resolve.ts";
import { catalog } from "../support.ts";

const readme = (request: StackRequest) =>
  renderReadme(planStack(catalog, { ...request, name: "test" }, resolve(catalog, request)))[0]?.content ?? "";

describe("the README of a stack", () => {
  test("names each service with its address, and what to do at the first login", () => {
    const text = readme({ services: ["n8n"], proxy: "caddy", domain: "stack.example.com" });
    expect(text).toMatch(/\| \[n8n\]\(https:\S+\) \| .+ \| <https:\/\/n8n\.stack\.example\.com> .+ \|/);
    expect(text).toContain("- **OpenClaw**: Open https://stack.example.com,");
    expect(text).not.toContain("{{");
  });

  test("says how what listens on loopback is reached from elsewhere", () => {
    expect(readme({ services: ["redis"] })).toContain("`ssh -L 18789:localhost:18789 you@this-host`");
    expect(readme({ services: ["redis"], proxy: "nginx", domain: "stack.example.com" })).toContain(
      "`ssh -L 6379:localhost:6379 you@this-host`",
    );
    expect(readme({ services: ["redis"], proxy: "nginx" })).not.toContain("ssh -L");
    expect(readme({ services: [], proxy: "nginx", domain: "stack.example.com" })).not.toContain("ssh -L");
  });

  test("gives the first steps of its preset with the addresses of the stack", () => {
    expect(readme({ preset: "minimal" })).toContain("- Open http://localhost:18789, enter `OPENCLAW_GATEWAY_TOKEN`");
  });
});
