/**
 * Slots: places in a text where an address of the stack belongs. Texts with slots are the same in every stack, so they are made
 * and printed once; each stack fills in its own addresses.
 */
import type { Addresses } from "./routes.ts";

// PU1 and PU2 of ISO 6429, for private use: nothing of the catalog holds them, and no printer escapes them. Being Latin-1, they
// leave texts in the engine's one-byte strings, which are twice as fast to join and to send.
const open = "\u0091";
const close = "\u0092";

/** A text cut at its slots: `literals` has one entry more than `slots`. */
export interface Template {
  readonly literals: readonly string[];
  /** A reference such as `url` or `host:n8n`, and the service in whose texts it stands. */
  readonly slots: readonly { readonly reference: string; readonly service: string }[];
}

/** The slot of a reference in the texts of a service. */
export function slot(reference: string, service: string): string {
  return `${open}${reference}@${service}${close}`;
}

/** Cuts a text at its slots. */
export function cutSlots(text: string): Template {
  const [first = "", ...rest] = text.split(open);
  const literals = [first];
  const slots = rest.map((part) => {
    const end = part.indexOf(close);
    const [reference = "", service = ""] = part.slice(0, end).split("@");
    literals.push(part.slice(end + 1));
    return { reference, service };
  });
  return { literals, slots };
}

/** Appends a text to `parts`, with the addresses of a stack in its slots. */
export function fillSlots({ literals, slots }: Template, addresses: Addresses, parts: string[]): void {
  parts.push(literals[0] as string);
  for (let index = 0; index < slots.length; index++) {
    const { reference, service } = slots[index] as Template["slots"][number];
    parts.push(addressOf(reference, service, addresses), literals[index + 1] as string);
  }
}

/**
 * What a reference to an address stands for in a stack: `url`, `host:n8n` and so on, `addresses` for all that people reach;
 * `service` is whose text it stands in.
 */
export function addressOf(reference: string, service: string, addresses: Addresses): string {
  if (reference === "domain") return addresses.domain;
  if (reference === "addresses") return addresses.shown(service);
  const colon = reference.indexOf(":");
  const name = colon < 0 ? service : reference.slice(colon + 1);
  const url = addresses.urls.get(name) ?? `http://${name}`;
  const separator = url.indexOf("://");
  const host = url.slice(separator + 3);
  switch (colon < 0 ? reference : reference.slice(0, colon)) {
    case "url":
      return url;
    case "host":
      return host;
    case "hostname":
      return host.replace(/:\d+$/, "");
    case "scheme":
      return url.slice(0, separator);
    case "secure":
      return String(url.startsWith("https:"));
    default:
      throw new Error(`${service}: {{${reference}}} is no reference`);
  }
}
