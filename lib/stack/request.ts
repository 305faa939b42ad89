/** The stack request: the body of `validate` and `generate`, after its fields were checked one by one. */
import * as v from "valibot";
import { platforms } from "../catalog/words.ts";
import { nearest } from "./nearest.ts";

export const proxies = ["caddy", "traefik", "nginx"] as const;
export const deploymentTypes = ["docker", "bare-metal"] as const;
export const formats = ["json", "tar"] as const;

/** Entries that a list in a request may have. */
const maxIds = 500;

const Ids = v.pipe(
  v.array(v.pipe(v.string("must be a string"), v.maxLength(200, "must be at most 200 characters long")), "must be an array of strings"),
  v.maxLength(maxIds, `must have at most ${maxIds} entries`),
);

/** Host names after RFC 1123, section 2.1: labels of letters, digits and inner hyphens, at most 253 characters. */
const hostName = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;

const oneOf = <const Options extends readonly string[]>(options: Options) => v.picklist(options, `must be one of ${options.join(", ")}`);

const entries = {
  name: v.pipe(
    v.string("must be a string"),
    v.regex(
      /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,62}$/,
      "must have 1 to 63 letters, digits, spaces, dots, underscores or hyphens, and start with a letter or digit",
    ),
  ),
  preset: v.pipe(v.string("must be a string"), v.maxLength(200, "must be at most 200 characters long")),
  services: Ids,
  skills: Ids,
  proxy: oneOf(proxies),
  domain: v.pipe(
    v.string("must be a string"),
    v.regex(hostName, "must be a host name such as stack.example.com"),
    v.regex(/^(?!(.*\.)?\d+$)/, "must be a host name, not an address: certificates and subdomains need a name"),
    v.toLowerCase(),
  ),
  gpu: v.boolean("must be true or false"),
  platform: oneOf(platforms),
  deploymentType: oneOf(deploymentTypes),
  format: oneOf(formats),
};

/** Body of `POST /v1/validate`: every field is optional. */
export const ValidateBody = v.partial(v.strictObject(entries));

/** Body of `POST /v1/generate`: only `name` is required. */
export const GenerateBody = v.strictObject({ ...ValidateBody.entries, name: entries.name });

export type StackRequest = v.InferOutput<typeof ValidateBody>;

type Field = keyof typeof entries;
const fields = Object.keys(entries) as Field[];

/** Prints a value in an error message, shortened. */
export function show(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : (JSON.stringify(value) ?? String(value));
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

/**
 * Checks a body field by field, so that one wrong field hides nothing of the others.
 * `null` counts as absent. Problems name the field, the value and what would be right.
 */
export function parseStackRequest(
  body: Readonly<Record<string, unknown>>,
  required: readonly Field[],
): { request: StackRequest; problems: string[] } {
  const problems: string[] = [];
  const request: Partial<Record<Field, unknown>> = {};
  for (const field of fields) {
    const value = Object.hasOwn(body, field) ? body[field] : undefined;
    if (value === undefined || value === null) {
      if (required.includes(field)) problems.push(`${field}: is missing; it is required`);
      continue;
    }
    const result = v.safeParse(entries[field], value);
    if (result.success) request[field] = result.output;
    else for (const issue of result.issues) problems.push(`${field}${itemPath(issue)}: is ${show(issue.input)}; it ${issue.message}`);
  }
  for (const field of Object.keys(body)) {
    if ((fields as string[]).includes(field)) continue;
    const meant = nearest(field, fields);
    problems.push(
      `${show(field).slice(1, -1)}: is not a known field${meant ? `; did you mean "${meant}"?` : `; known are ${fields.join(", ")}`}`,
    );
  }
  return { request: request as StackRequest, problems };
}

function itemPath(issue: v.BaseIssue<unknown>): string {
  return (issue.path ?? []).map((item) => `[${String(item.key)}]`).join("");
}

/** The slug of a project name: lower-case letters, digits and single hyphens, as Compose project names want. */
export function slugify(name: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return slug || "stack";
}
