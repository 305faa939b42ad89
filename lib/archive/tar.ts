/**
 * A small encoder for ustar archives (POSIX.1-1988; https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html,
 * "ustar Interchange Format"). Owner, group and time are fixed, so the same files give the same bytes.
 */

export interface TarEntry {
  /** Path with `/` between names; up to 255 bytes, of which the last part up to 100. */
  readonly path: string;
  readonly content: string | Uint8Array;
  /** Permission bits, such as 0o644. */
  readonly mode: number;
}

const block = 512;
const encoder = new TextEncoder();

/** Seconds since the epoch that every entry carries: 2020-01-01, since some tools complain about 1970. */
export const entryTime = 1_577_836_800;

/** Splits a path into the `prefix` and `name` fields. @throws {RangeError} when it fits no split. */
export function splitPath(path: string): { prefix: string; name: string } {
  const size = encoder.encode(path).byteLength;
  if (path === "" || path.startsWith("/") || path.split("/").includes(".."))
    throw new RangeError(`tar: "${path}" is not a path below the archive's root`);
  if (size <= 100) return { prefix: "", name: path };
  for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
    const prefix = path.slice(0, slash);
    const name = path.slice(slash + 1);
    if (name !== "" && encoder.encode(name).byteLength <= 100 && encoder.encode(prefix).byteLength <= 155) return { prefix, name };
  }
  throw new RangeError(`tar: the path "${path}" (${size} bytes) cannot be held: a name takes 100 bytes, the folders before it 155`);
}

/** Encodes files as one ustar archive. @throws {RangeError} for a path or size that the format cannot hold. */
export function encodeTar(entries: readonly TarEntry[]): Uint8Array<ArrayBuffer> {
  const prepared = entries.map((entry) => {
    const size = typeof entry.content === "string" ? Buffer.byteLength(entry.content) : entry.content.byteLength;
    if (size > 0o77777777777) throw new RangeError(`tar: "${entry.path}" is larger than 8 GiB`);
    return { ...entry, ...splitPath(entry.path), size };
  });
  let total = 2 * block;
  for (const { size } of prepared) total += block + Math.ceil(size / block) * block;
  const archive = new Uint8Array(total);
  let at = 0;
  for (const { name, prefix, mode, size, content } of prepared) {
    const header = archive.subarray(at, at + block);
    const text = (value: string, offset: number) => encoder.encodeInto(value, header.subarray(offset));
    const octal = (value: number, offset: number, digits: number) => text(value.toString(8).padStart(digits, "0"), offset);
    text(name, 0);
    octal(mode, 100, 7);
    octal(0, 108, 7);
    octal(0, 116, 7);
    octal(size, 124, 11);
    octal(entryTime, 136, 11);
    header.fill(0x20, 148, 156);
    text("0", 156);
    text("ustar\u000000", 257);
    text("root", 265);
    text("root", 297);
    octal(0, 329, 7);
    octal(0, 337, 7);
    text(prefix, 345);
    let sum = 0;
    for (const byte of header) sum += byte;
    octal(sum, 148, 6);
    header[154] = 0;
    at += block;
    if (typeof content === "string") encoder.encodeInto(content, archive.subarray(at, at + size));
    else archive.set(content, at);
    at += Math.ceil(size / block) * block;
  }
  return archive;
}
