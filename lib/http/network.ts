/** IP addresses and CIDR ranges (RFC 4632, RFC 4291), as far as trusting a proxy needs them. */

/** A range: its first address as bytes (4 or 16) and the number of leading bits that count. */
export interface Network {
  readonly bytes: Uint8Array;
  readonly bits: number;
}

function parseV4(text: string): Uint8Array | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  const bytes = new Uint8Array(4);
  for (const [index, part] of parts.entries()) {
    if (!/^\d{1,3}$/.test(part) || Number(part) > 255) return undefined;
    bytes[index] = Number(part);
  }
  return bytes;
}

function parseV6(text: string): Uint8Array | undefined {
  let rest = text;
  const tail: number[] = [];
  const colon = rest.lastIndexOf(":");
  if (rest.includes(".")) {
    const v4 = parseV4(rest.slice(colon + 1));
    if (!v4) return undefined;
    tail.push(...v4);
    rest = rest.slice(0, colon + 1) + (rest.slice(0, colon + 1).endsWith("::") ? "" : "x");
    rest = rest.replace(/:x$/, "");
  }
  const halves = rest.split("::");
  if (halves.length > 2) return undefined;
  const groups = (half: string | undefined): number[] | undefined => {
    if (!half) return [];
    const bytes: number[] = [];
    for (const group of half.split(":")) {
      if (!/^[0-9a-f]{1,4}$/i.test(group)) return undefined;
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 255);
    }
    return bytes;
  };
  const left = groups(halves[0]);
  const right = groups(halves[1]);
  if (!left || !right) return undefined;
  right.push(...tail);
  const gap = 16 - left.length - right.length;
  if (halves.length === 1 ? gap !== 0 : gap < 2) return undefined;
  return Uint8Array.from([...left, ...new Array<number>(gap).fill(0), ...right]);
}

/** Parses an address; an IPv4 address mapped into IPv6 (`::ffff:192.0.2.1`) comes out as IPv4. */
export function parseAddress(text: string): Uint8Array | undefined {
  if (!text.includes(":")) return parseV4(text);
  const bytes = parseV6(text.replace(/^\[(.*)\]$/, "$1").replace(/%.*$/, ""));
  const mapped = bytes && bytes[10] === 255 && bytes[11] === 255 && bytes.subarray(0, 10).every((byte) => byte === 0);
  return mapped ? bytes.slice(12) : bytes;
}

/** Parses a list of addresses and CIDR ranges joined by commas; `wrong` holds the entries that are neither. */
export function parseNetworks(list: string): { networks: Network[]; wrong: string[] } {
  const networks: Network[] = [];
  const wrong: string[] = [];
  for (const entry of list.split(",").map((part) => part.trim())) {
    if (entry === "") continue;
    const [address = "", prefix] = entry.split("/");
    const bytes = parseAddress(address);
    const bits = prefix === undefined ? (bytes?.length ?? 0) * 8 : /^\d+$/.test(prefix) ? Number(prefix) : Number.NaN;
    if (bytes && bits <= bytes.length * 8) networks.push({ bytes, bits });
    else wrong.push(entry);
  }
  return { networks, wrong };
}

/** Whether `address` lies in one of `networks`. */
export function isWithin(address: Uint8Array, networks: readonly Network[]): boolean {
  return networks.some(({ bytes, bits }) => {
    if (bytes.length !== address.length) return false;
    const whole = bits >> 3;
    for (let index = 0; index < whole; index++) if (bytes[index] !== address[index]) return false;
    const mask = 0xff00 >> (bits & 7);
    return (bits & 7) === 0 || ((bytes[whole] as number) & mask & 0xff) === ((address[whole] as number) & mask & 0xff);
  });
}

/**
 * The address that a request is counted under. `X-Forwarded-For` is read from its right end, as long as the
 * hop that wrote the entry is trusted, so a client cannot forge its own. IPv6 clients are counted by their /64
 * network, since one host usually owns all of it (RFC 4291, section 2.5.4).
 */
export function clientAddress(peer: string, forwardedFor: string | null, trusted: readonly Network[]): string {
  let address = peer;
  if (trusted.length > 0 && forwardedFor !== null) {
    const hops = forwardedFor.split(",");
    for (let hop = hops.length; ; hop--) {
      const bytes = parseAddress(address);
      if (bytes === undefined || !isWithin(bytes, trusted) || hop === 0) break;
      const next = (hops[hop - 1] as string).trim();
      if (parseAddress(next) === undefined) break;
      address = next;
    }
  }
  if (!address.includes(":")) return address;
  const bytes = parseAddress(address);
  if (bytes === undefined) return address;
  return bytes.length === 4 ? bytes.join(".") : bytes.subarray(0, 8).toHex();
}
