import { describe, expect, test } from "bun:test";
import { clientAddress, isWithin, parseAddress, parseNetworks } from "../../lib/http/network.ts";

const within = (address: string, list: string) => isWithin(parseAddress(address) as Uint8Array, parseNetworks(list).networks);

describe("addresses", () => {
  test.each([
    ["192.0.2.1", [192, 0, 2, 1]],
    ["::ffff:192.0.2.1", [192, 0, 2, 1]],
    ["::1", [...new Array(15).fill(0), 1]],
    ["2001:db8::5", [0x20, 1, 0x0d, 0xb8, ...new Array(11).fill(0), 5]],
  ])("%s", (text, bytes) => expect([...(parseAddress(text) ?? [])]).toEqual(bytes));
  test.each(["", "256.0.0.1", "1.2.3", "1:2", "::1::", "g::", "localhost", "1.2.3.4.5", ":::"])("%p is none", (text) =>
    expect(parseAddress(text)).toBeUndefined(),
  );
});

describe("networks", () => {
  test.each([
    ["10.1.2.3", "10.0.0.0/8", true],
    ["11.1.2.3", "10.0.0.0/8", false],
    ["192.168.1.129", "192.168.1.128/25", true],
    ["192.168.1.127", "192.168.1.128/25", false],
    ["192.0.2.1", "192.0.2.1", true],
    ["192.0.2.2", "192.0.2.1, 198.51.100.0/24", false],
    ["2001:db8:1::1", "2001:db8::/32", true],
    ["192.0.2.1", "::/0", false],
    ["192.0.2.1", "0.0.0.0/0", true],
  ])("%s in %s: %p", (address, list, expected) => expect(within(address, list)).toBe(expected));
  test("what is neither address nor range is named", () =>
    expect(parseNetworks("10.0.0.0/33, x, 10.0.0.1, ::/129").wrong).toEqual(["10.0.0.0/33", "x", "::/129"]));
});

describe("the address that a request is counted under", () => {
  const { networks } = parseNetworks("10.0.0.0/8, 127.0.0.1");
  test.each([
    ["192.0.2.1", null, "192.0.2.1"],
    ["192.0.2.1", "198.51.100.1", "192.0.2.1"],
    ["10.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["10.0.0.1", "203.0.113.5, 198.51.100.1", "198.51.100.1"],
    ["10.0.0.1", "203.0.113.5, 198.51.100.1, 10.0.0.2", "198.51.100.1"],
    ["10.0.0.1", "junk", "10.0.0.1"],
    ["10.0.0.1", "10.0.0.3", "10.0.0.3"],
  ])("from %s with %p: %s", (peer, header, expected) => expect(clientAddress(peer, header, networks)).toBe(expected));
  test("one IPv6 network is one client", () => {
    expect(clientAddress("2001:db8:1:2::1", null, [])).toBe(clientAddress("2001:db8:1:2:ffff::9", null, []));
    expect(clientAddress("2001:db8:1:2::1", null, [])).not.toBe(clientAddress("2001:db8:1:3::1", null, []));
    expect(clientAddress("::ffff:192.0.2.1", null, [])).toBe("192.0.2.1");
  });
});
