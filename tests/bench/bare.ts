/** The yardstick: the least that `Bun.serve` can do, answering every request with the bytes of BODY_FILE. */
const bytes = Bun.env.BODY_FILE ? await Bun.file(Bun.env.BODY_FILE).bytes() : new Uint8Array();
const headers = { "Content-Type": Bun.env.BODY_TYPE ?? "application/json" };
const server = Bun.serve({
  port: Number(Bun.env.PORT ?? 0),
  hostname: "127.0.0.1",
  development: false,
  fetch: () => new Response(bytes, { headers }),
});
console.error(`bare listens on ${server.url}`);
