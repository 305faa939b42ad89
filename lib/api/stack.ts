/** `POST /v1/validate` and `POST /v1/generate`. */
import { packBundle } from "../archive/bundle.ts";
import type { CatalogIndex } from "../catalog/index.ts";
import { readJsonObject } from "../http/body.ts";
import { ApiError } from "../http/error.ts";
import { json, jsonText, type Reply } from "../http/reply.ts";
import { quoted } from "../render/file.ts";
import { renderBundle } from "../render/index.ts";
import { planStack } from "../stack/plan.ts";
import { parseStackRequest, type StackRequest } from "../stack/request.ts";
import { type Resolution, resolve } from "../stack/resolve.ts";

/** Parses and resolves a body. @throws {ApiError} 400 with every problem of the request. */
async function resolved(
  index: CatalogIndex,
  request: Request,
  required: readonly "name"[],
): Promise<{ stack: StackRequest; resolution: Resolution }> {
  const body = await readJsonObject(request);
  const { request: stack, problems } = parseStackRequest(body, required);
  const resolution = resolve(index, stack);
  const all = [...problems, ...resolution.problems];
  if (all.length > 0)
    throw new ApiError(
      400,
      "VALIDATION_ERROR",
      `The stack configuration is not valid: ${all.length} problem${all.length > 1 ? "s" : ""}.`,
      all,
    );
  return { stack, resolution };
}

/** Handler of `validate`: what a stack would hold, without making it. */
export function validateHandler(index: CatalogIndex): (request: Request) => Promise<Reply> {
  return async (request) => {
    const { resolution } = await resolved(index, request, []);
    return json({
      valid: true,
      warnings: resolution.warnings,
      resolvedServices: resolution.services.map((service) => service.id),
      resolvedSkills: resolution.packs.map((pack) => pack.id),
      estimatedMemoryMB: resolution.estimatedMemoryMB,
    });
  };
}

/** Handler of `generate`: the stack as JSON or as a `.tar.gz`. */
export function generateHandler(index: CatalogIndex): (request: Request) => Promise<Reply> {
  return async (request) => {
    const { stack, resolution } = await resolved(index, request, ["name"]);
    if (resolution.conflicts.length > 0) {
      const pairs = resolution.conflicts.map(({ a, b, reason }) => `services: "${a}" and "${b}" conflict: ${reason}`);
      throw new ApiError(409, "CONFLICT", "Conflicting services are selected.", pairs);
    }
    const plan = planStack(index, { ...stack, name: stack.name as string }, resolution);
    const files = renderBundle(plan, index);
    if (stack.format === "tar") {
      return {
        status: 200,
        headers: {
          "Content-Type": "application/gzip",
          "Content-Disposition": `attachment; filename="${plan.slug}.tar.gz"`,
          "Cache-Control": "no-store",
        },
        body: packBundle(plan.slug, files),
      };
    }
    const summary = {
      services: resolution.services.length,
      skills: resolution.packs.length,
      proxy: plan.proxy?.id ?? "none",
      estimatedMemoryMB: resolution.estimatedMemoryMB,
    };
    const contents = files.map((file) => `${JSON.stringify(file.path)}:${quoted(file)}`).join(",");
    return jsonText(`{"name":${JSON.stringify(plan.name)},"files":{${contents}},"summary":${JSON.stringify(summary)}}`);
  };
}
