/** A typed client of the API in a few lines, over the types that `bun run client` makes of `openapi.json`. */
import type { paths } from "./client.types.ts";

type Operation<Path extends keyof paths, Method extends "get" | "post"> = paths[Path][Method];
/** Every JSON answer of an operation, success and failures; `ok` tells them apart. */
type Answer<Op> = Op extends { responses: infer Responses }
  ? {
      [Status in keyof Responses]: Responses[Status] extends { content: { "application/json": infer Json } } ? Json : never;
    }[keyof Responses]
  : never;
type Body<Op> = Op extends { requestBody: { content: { "application/json": infer Json } } } ? Json : never;
type Query<Op> = Op extends { parameters: { query?: infer Parameters } } ? NonNullable<Parameters> : never;

/** Paths that have an operation of a method. */
type PathsWith<Method extends "get" | "post"> = { [Path in keyof paths]: paths[Path][Method] extends object ? Path : never }[keyof paths];

/** Makes a client of the deployment at `url`. */
export function createClient(url: string, key?: string) {
  const headers: Record<string, string> = {
    "Content-Type": "application/json",
    ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
  };
  return {
    async get<Path extends PathsWith<"get">>(path: Path, query?: Query<Operation<Path, "get">>): Promise<Answer<Operation<Path, "get">>> {
      const search = new URLSearchParams(query as Record<string, string> | undefined);
      return (await fetch(`${url}${path}?${search}`, { headers })).json() as Promise<Answer<Operation<Path, "get">>>;
    },
    async post<Path extends PathsWith<"post">>(path: Path, body: Body<Operation<Path, "post">>): Promise<Answer<Operation<Path, "post">>> {
      const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
      return response.json() as Promise<Answer<Operation<Path, "post">>>;
    },
  };
}

/** Makes a stack of all stable services of a category, and returns its Compose file. @throws when the API refuses. */
export async function composeFileOf(url: string, key: string | undefined, category: string): Promise<string> {
  const client = createClient(url, key);
  const list = await client.get("/api/v1/services", { category, maturity: "stable" });
  if (!list.ok) throw new Error(list.error.message);
  const stack = await client.post("/api/v1/generate", { name: category, services: list.data.services.map(({ id }) => id), proxy: "caddy" });
  if (stack.ok) return stack.data.files["docker-compose.yml"] ?? "";
  if (stack.error.code === "CONFLICT") throw new Error(stack.error.details.errors.join("\n"));
  throw new Error(`${stack.error.code}: ${stack.error.message}`);
}
