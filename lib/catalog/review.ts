/** What is not wrong in the catalog but deserves a look: facts nobody confirmed, thin sources, tags that move. */
import { floating } from "./image-model.ts";
import type { Catalog } from "./load.ts";
import type { Container } from "./schema.ts";

/** Collections of templates: maintained, but not the word of the project itself. */
const templates = /^https:\/\/github\.com\/(coollabsio\/coolify|Dokploy\/templates)\//i;

/** A tag that stands for every release of a major version: `17-alpine`, `v3`, `8`. A long number (`260728`) is a date or a build. */
const major = /^v?\d{1,2}([-_][a-z][a-z0-9_-]*)?$/i;

export interface Review {
  /** `<id>: <fact>`, one for each unconfirmed fact. */
  readonly unconfirmed: readonly string[];
  /** Services whose sources are templates only, nothing by the project itself. */
  readonly templatesOnly: readonly string[];
  /** `<id>: <image>:<tag>` with a tag that names no version. */
  readonly floating: readonly string[];
  /** `<id>: <image>:<tag>` with a tag that names a major version only. */
  readonly majorOnly: readonly string[];
}

/** Images that a container may run: its own, and the one for a GPU. */
export function imagesOf({ image, gpu }: Container): { name: string; tag: string }[] {
  const own = { name: image.name, tag: image.tag };
  return gpu?.name || gpu?.tag ? [own, { name: gpu.name ?? own.name, tag: gpu.tag ?? own.tag }] : [own];
}

/** Goes through services and proxies. */
export function review(catalog: Catalog): Review {
  const entries = [...catalog.services, ...catalog.proxies];
  const tagged = (pattern: RegExp) =>
    entries.flatMap(({ id, containers }) => {
      const images = Object.values(containers).flatMap(imagesOf);
      return [...new Set(images.filter(({ tag }) => pattern.test(tag)).map(({ name, tag }) => `${id}: ${name}:${tag}`))];
    });
  return {
    unconfirmed: entries.flatMap(({ id, unconfirmed }) => unconfirmed.map((fact) => `${id}: ${fact}`)),
    templatesOnly: entries.filter(({ sources }) => sources.every((source) => templates.test(source))).map(({ id }) => id),
    floating: tagged(floating),
    majorOnly: tagged(major),
  };
}

/** Counts for the documentation: services by category, by maturity within it, and by whether every fact is confirmed. */
export function counts(
  catalog: Catalog,
): { category: string; services: number; stable: number; beta: number; experimental: number; confirmed: number }[] {
  const categories = [...new Set(catalog.services.map(({ category }) => category))];
  return categories.map((category) => {
    const services = catalog.services.filter((service) => service.category === category);
    const count = (maturity: string) => services.filter((service) => service.maturity === maturity).length;
    return {
      category,
      services: services.length,
      stable: count("stable"),
      beta: count("beta"),
      experimental: count("experimental"),
      confirmed: services.filter(({ unconfirmed }) => unconfirmed.length === 0).length,
    };
  });
}
