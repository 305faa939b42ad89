/**
 * A program that stands for a web application where its image cannot be pulled: it answers HTTP and WebSocket on the ports
 * that the application has. `docker-compose.override.yml` of a proof tells it which, by environment:
 * STANDIN_PORTS (http ports), STANDIN_TCP (ports that take connections), STANDIN_ONESHOT (a job: it ends well at once),
 * STANDIN_WRITABLE (folders that it must be able to write to).
 * Started under another name, it is that program's health probe: it succeeds when the first port answers.
 */
import { accessSync, constants, writeFileSync } from "node:fs";

const name = (await Bun.file("/proc/self/cmdline").text()).split("\0")[0]?.split("/").at(-1) ?? "standin";
const list = (value: string | undefined) => (value ?? "").split(" ").filter(Boolean);
const http = list(Bun.env.STANDIN_PORTS).map(Number);
const tcp = list(Bun.env.STANDIN_TCP).map(Number);

if (name !== "standin" && process.pid !== 1 && Bun.env.STANDIN_PARENT === undefined && (await isUp())) process.exit(0);
if (Bun.env.STANDIN_ONESHOT) process.exit(0);
if (name !== "standin" && process.pid !== 1 && (await Bun.file("/proc/1/cmdline").text()).includes("standin")) process.exit(1);

for (const folder of list(Bun.env.STANDIN_WRITABLE)) {
  accessSync(folder, constants.W_OK);
  writeFileSync(`${folder}/.standin`, "written\n");
}
console.log(`standing in as ${name}: http ${http.join(" ")}, tcp ${tcp.join(" ")}`);
for (const port of http) {
  Bun.serve({
    port,
    hostname: "0.0.0.0",
    maxRequestBodySize: 1024 * 1024 * 1024,
    idleTimeout: 255,
    async fetch(request, server) {
      if (server.upgrade(request)) return;
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/proof/stream") {
        const body = new ReadableStream({
          async start(controller) {
            for (let part = 1; part <= 3; part++) {
              controller.enqueue(`part ${part}\n`);
              await Bun.sleep(1000);
            }
            controller.close();
          },
        });
        return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
      }
      if (pathname === "/proof/upload") {
        let bytes = 0;
        for await (const chunk of request.body ?? []) bytes += chunk.byteLength;
        return Response.json({ bytes });
      }
      if (pathname === "/proof/slow") await Bun.sleep(Number(searchParams.get("seconds") ?? 1) * 1000);
      return Response.json({ standin: Bun.env.STANDIN_NAME, path: pathname, headers: request.headers.toJSON() });
    },
    websocket: { message: (socket, message) => void socket.send(message) },
  });
}
for (const port of tcp) Bun.listen({ port, hostname: "0.0.0.0", socket: { data: (socket) => void socket.end() } });
for (const signal of ["SIGTERM", "SIGINT", "SIGQUIT"] as const) process.on(signal, () => process.exit(0));
setInterval(() => {}, 60_000);

async function isUp(): Promise<boolean> {
  const port = http[0] ?? tcp[0];
  if (port === undefined) return true;
  try {
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } });
    socket.end();
    return true;
  } catch {
    return false;
  }
}
