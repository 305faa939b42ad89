/** Holds an entry against a Compose file, such as the project's own: what the two say differently. */
import { parse } from "yaml";
import { programs, shellPrograms } from "./image-model.ts";
import { imagesOf } from "./review.ts";
import type { Service } from "./schema.ts";

/** What is compared of one image, over all containers that run it. */
interface Facts {
  readonly tags: Set<string>;
  readonly ports: Set<string>;
  readonly mounts: Set<string>;
  readonly environment: Set<string>;
  readonly healthcheck: Set<string>;
}

type Dictionary = Record<string, unknown>;
const isDictionary = (value: unknown): value is Dictionary => typeof value === "object" && value !== null && !Array.isArray(value);
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Puts the default of `${NAME:-default}` in its place, innermost first; a variable without one stays as it is. */
export function withDefaults(text: string): string {
  let before: string;
  let after = text;
  do {
    before = after;
    after = before.replace(/\$\{\w+:?-([^${}]*)\}/g, "$1");
  } while (after !== before);
  return after;
}

/** Splits an image reference; Docker Hub's own names lose their prefix. */
export function splitImage(reference: string): { name: string; tag: string } {
  const plain = withDefaults(reference)
    .replace(/@sha256:.*$/, "")
    .replace(/^(registry-1\.|index\.)?docker\.io\//, "")
    .replace(/^library\//, "");
  const [, name = plain, tag = "latest"] = /^(.+?):([^/]+)$/.exec(plain) ?? [];
  return { name, tag };
}

/** Splits at colons that do not belong to a `${…}`. */
const fields = (text: string) => withDefaults(text).split(/:(?![^{]*\})/);

function portsOf(service: Dictionary): string[] {
  const published = list(service.ports).map((port) => (isDictionary(port) ? String(port.target) : (fields(String(port)).at(-1) ?? "")));
  return [...published, ...list(service.expose).map(String)].map((port) => port.replace(/\/(tcp|udp)$/, ""));
}

function mountsOf(service: Dictionary): string[] {
  const volumes = list(service.volumes).map((volume) => {
    if (isDictionary(volume)) return String(volume.target);
    const parts = fields(String(volume));
    return parts[1] ?? parts[0] ?? "";
  });
  const configs = list(service.configs).flatMap((config) => (isDictionary(config) && config.target ? [String(config.target)] : []));
  return [...volumes, ...configs].map((path) => (path.length > 1 ? path.replace(/\/$/, "") : path));
}

function environmentOf({ environment }: Dictionary): string[] {
  if (isDictionary(environment)) return Object.keys(environment).filter((name) => name !== "<<");
  return list(environment).map((line) => String(line).split("=")[0] ?? "");
}

function healthcheckOf({ healthcheck }: Dictionary): string[] {
  if (!isDictionary(healthcheck)) return [];
  const { test } = healthcheck;
  if (typeof test === "string") return shellPrograms(test);
  const [kind, first] = list(test).map(String);
  if (kind === "CMD-SHELL") return shellPrograms(first ?? "");
  return kind === "CMD" && first ? [first] : [];
}

const base = (program: string) => program.slice(program.lastIndexOf("/") + 1);

function collect<T>(found: Map<string, Facts>, name: string, add: (facts: Facts) => T): T {
  const facts = found.get(name) ?? { tags: new Set(), ports: new Set(), mounts: new Set(), environment: new Set(), healthcheck: new Set() };
  found.set(name, facts);
  return add(facts);
}

/** Facts of a Compose file by image name. */
function factsOfCompose(text: string): Map<string, Facts> {
  const document: unknown = parse(text, { merge: true });
  if (!isDictionary(document) || !isDictionary(document.services)) throw new Error("the file has no services: it is no Compose file");
  const found = new Map<string, Facts>();
  for (const service of Object.values(document.services)) {
    if (!isDictionary(service) || typeof service.image !== "string") continue;
    const { name, tag } = splitImage(service.image);
    collect(found, name, (facts) => {
      facts.tags.add(tag);
      for (const port of portsOf(service)) facts.ports.add(port);
      for (const mount of mountsOf(service)) facts.mounts.add(mount);
      for (const variable of environmentOf(service)) facts.environment.add(variable);
      for (const program of healthcheckOf(service)) facts.healthcheck.add(base(program));
    });
  }
  return found;
}

/** Facts of an entry by image name. */
function factsOfService(entry: Service): Map<string, Facts> {
  const found = new Map<string, Facts>();
  for (const container of Object.values(entry.containers)) {
    for (const image of imagesOf(container)) collect(found, splitImage(image.name).name, (facts) => facts.tags.add(image.tag));
    collect(found, splitImage(container.image.name).name, (facts) => {
      for (const port of container.ports) facts.ports.add(String(port.container));
      for (const volume of container.volumes) facts.mounts.add(volume.target);
      for (const path of container.tmpfs) facts.mounts.add(path);
      for (const variable of Object.keys(container.environment)) facts.environment.add(variable);
      for (const program of programs(container.healthcheck)) facts.healthcheck.add(base(program));
    });
  }
  return found;
}

/**
 * The differences between an entry and a Compose file, one sentence each, image by image. Names that only one side
 * has are listed; tags and health checks differ when the sides have none in common. Empty: no drift.
 */
export function drift(entry: Service, compose: string): string[] {
  const theirs = factsOfCompose(compose);
  const ours = factsOfService(entry);
  const lines: string[] = [];
  for (const [image, own] of ours) {
    const other = theirs.get(image);
    if (!other) {
      lines.push(`${image}: not in the file`);
      continue;
    }
    if (own.tags.isDisjointFrom(other.tags))
      lines.push(`${image}: tag: ${[...own.tags].join(", ")} here, ${[...other.tags].join(", ")} in the file`);
    for (const [what, field] of [
      ["port", "ports"],
      ["mount", "mounts"],
      ["variable", "environment"],
    ] as const) {
      for (const name of own[field].difference(other[field])) lines.push(`${image}: ${what} ${name}: only here`);
      for (const name of other[field].difference(own[field])) lines.push(`${image}: ${what} ${name}: only in the file`);
    }
    if (other.healthcheck.size > 0 && own.healthcheck.isDisjointFrom(other.healthcheck)) {
      lines.push(
        `${image}: health check: ${[...own.healthcheck].join(", ") || "none"} here, ${[...other.healthcheck].join(", ")} in the file`,
      );
    }
  }
  for (const [image, other] of theirs) if (!ours.has(image)) lines.push(`${image}:${[...other.tags].join(", ")}: only in the file`);
  return lines;
}
