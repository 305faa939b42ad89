/** Resolves `{{reference}}` and `${NAME}` in the texts of a service, for one stack. */

import { referencePattern } from "../catalog/notation.ts";
import type { Engine, Service } from "../catalog/schema.ts";
import type { Provision } from "./provision.ts";
import type { Variables } from "./variables.ts";

/** What references are resolved with. */
export interface ReferenceScope {
  /** What an address reference (`url`, `host:n8n`) in the texts of a service becomes: the address, or a slot for it. */
  readonly address: (reference: string, service: string) => string;
  readonly variables: Variables;
  /** Host name under which containers reach a container or, in a bare-metal stack, a native service. */
  readonly hostOf: (container: string) => string;
  /** The database that a service has on a server. */
  readonly provisionOf: (consumer: string, server: string) => Provision | undefined;
}

const schemes: Record<Engine, string> = {
  postgresql: "postgresql",
  mysql: "mysql",
  mongodb: "mongodb",
  redis: "redis",
  clickhouse: "http",
};
const defaultPorts: Record<Engine, number> = { postgresql: 5432, mysql: 3306, mongodb: 27017, redis: 6379, clickhouse: 8123 };

function serverField(field: string, provision: Provision, scope: ReferenceScope): string {
  const { engine, database, index } = provision;
  const host = scope.hostOf(provision.server);
  const port = defaultPorts[engine];
  const password = scope.variables.reference(provision.password);
  switch (field) {
    case "host":
      return host;
    case "port":
      return String(port);
    case "user":
      return engine === "redis" ? "default" : database;
    case "password":
      return password;
    case "database":
      return database;
    case "index":
      return String(index);
    default:
      if (engine === "redis") return `redis://:${password}@${host}:${port}/${index}`;
      if (engine === "mongodb") return `mongodb://${database}:${password}@${host}:${port}/${database}?authSource=${database}`;
      return `${schemes[engine]}://${database}:${password}@${host}:${port}/${database}`;
  }
}

/** Value of one reference in the texts of `service`; `consumer` is who the provisions are looked up for. */
function dereference(reference: string, service: Service, consumer: string, scope: ReferenceScope): string {
  if (reference.includes(":") || !reference.includes(".")) return scope.address(reference, service.id);
  const [server = "", field = ""] = reference.split(".");
  const provision = scope.provisionOf(consumer, server);
  if (provision === undefined) throw new Error(`${service.id}: {{${reference}}}: ${consumer} has nothing on ${server}`);
  return serverField(field, provision, scope);
}

const dollar = /\$(?:\{([A-Z][A-Z0-9_]*)\})?/g;

/** A text of the catalog, cut where something is filled in. */
type Piece = { readonly kind: "text" | "variable" | "reference"; readonly value: string };

const pieces = new Map<string, readonly Piece[]>();
const marks = new RegExp(`${dollar.source}|${referencePattern.source}`, "g");

/** Cuts a text, once: texts are the catalog's, so there is no end to how often the same one comes. */
function cut(text: string): readonly Piece[] {
  const known = pieces.get(text);
  if (known !== undefined) return known;
  const found: Piece[] = [];
  let at = 0;
  for (const match of text.matchAll(marks)) {
    if (match.index > at) found.push({ kind: "text", value: text.slice(at, match.index) });
    const [whole, variable, reference] = match;
    if (reference !== undefined) found.push({ kind: "reference", value: reference });
    else if (variable !== undefined) found.push({ kind: "variable", value: variable });
    else found.push({ kind: "text", value: "$$" });
    at = match.index + whole.length;
  }
  if (at < text.length) found.push({ kind: "text", value: text.slice(at) });
  pieces.set(text, found);
  return found;
}

/** Resolves the references and variables of a text into Compose's notation; any other `$` is escaped for Compose. */
export function resolveText(text: string, service: Service, scope: ReferenceScope, consumer: string = service.id): string {
  if (!text.includes("$") && !text.includes("{{")) return text;
  let resolved = "";
  for (const { kind, value } of cut(text)) {
    if (kind === "text") resolved += value;
    else if (kind === "reference") resolved += dereference(value, service, consumer, scope);
    // The default of a setting may hold references of its own.
    else resolved += resolveReferences(scope.variables.reference(value), service, consumer, scope);
  }
  return resolved;
}

function resolveReferences(text: string, service: Service, consumer: string, scope: ReferenceScope): string {
  return text.includes("{{")
    ? text.replace(referencePattern, (_, reference: string) => dereference(reference, service, consumer, scope))
    : text;
}

/** Resolves the references of a file's content, where `$` has no meaning of ours. */
export function resolveContent(text: string, service: Service, scope: ReferenceScope): string {
  return resolveReferences(text, service, service.id, scope);
}
