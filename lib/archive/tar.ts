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
  const size = Buffer.byteLength(path);
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

/** Writes `value` as `digits` octal digits, with zeros in front. */
function writeOctal(header: Uint8Array, value: number, offset: number, digits: number): void {
  let rest = value;
  for (let index = offset + digits - 1; index >= offset; index--) {
    header[index] = 0x30 + (rest % 8);
    rest = Math.floor(rest / 8);
  }
}

/** The fields that all headers share; the checksum's own bytes count as spaces. */
const commonHeader = (() => {
  const header = new Uint8Array(block);
  const text = (value: string, offset: number) => encoder.encodeInto(value, header.subarray(offset));
  for (const offset of [108, 116, 329, 337]) writeOctal(header, 0, offset, 7);
  writeOctal(header, entryTime, 136, 11);
  header.fill(0x20, 148, 156);
  text("0", 156);
  text("ustar\u000000", 257);
  text("root", 265);
  text("root", 297);
  return header;
})();

/** Encodes files as one ustar archive. @throws {RangeError} for a path or size that the format cannot hold. */
export function encodeTar(entries: readonly TarEntry[]): Uint8Array<ArrayBuffer> {
  const prepared = entries.map(({ path, content, mode }) => {
    const size = typeof content === "string" ? Buffer.byteLength(content) : content.byteLength;
    if (size > 0o77777777777) throw new RangeError(`tar: "${path}" is larger than 8 GiB`);
    const { prefix, name } = splitPath(path);
    return { prefix, name, size, content, mode };
  });
  let total = 2 * block;
  for (const { size } of prepared) total += block + Math.ceil(size / block) * block;
  const archive = new Uint8Array(total);
  let at = 0;
  for (const { name, prefix, mode, size, content } of prepared) {
    const header = archive.subarray(at, at + block);
    header.set(commonHeader);
    encoder.encodeInto(name, header);
    writeOctal(header, mode, 100, 7);
    writeOctal(header, size, 124, 11);
    encoder.encodeInto(prefix, header.subarray(345));
    let sum = 0;
    for (let index = 0; index < block; index++) sum += header[index] as number;
    writeOctal(header, sum, 148, 6);
    header[154] = 0;
    at += block;
    if (typeof content === "string") encoder.encodeInto(content, archive.subarray(at, at + size));
    else archive.set(content, at);
    at += Math.ceil(size / block) * block;
  }
  return archive;
}
