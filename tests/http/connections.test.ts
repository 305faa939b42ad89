import { afterAll, describe, expect, test } from "bun:test";
import { connect, type RawConnection } from "../raw.ts";
import { start } from "../support.ts";

const client = start();
afterAll(() => client.server.stop());

const text = (body: Uint8Array) => new TextDecoder().decode(body);
const json = "Host: localhost\r\nContent-Type: application/json\r\n";
const get = (path: string, fields = "") => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n`;
const post = (path: string, body: string, fields = json) =>
  `POST ${path} HTTP/1.1\r\n${fields}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const validate = "/api/v1/validate";

/** Connects, lets `talk` go on for at most two seconds, and closes. */
async function on(talk: (connection: RawConnection) => Promise<void>): Promise<void> {
  const connection = await connect(client.url);
  const timer = setTimeout(() => connection.close(), 2000);
  try {
    await talk(connection);
  } finally {
    clearTimeout(timer);
    connection.close();
  }
}

describe("Expect: 100-continue", () => {
  test("is answered with 100 before the body is sent", () =>
    on(async (connection) => {
      connection.write(`POST ${validate} HTTP/1.1\r\n${json}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`);
      const answer = connection.response();
      await Bun.sleep(20);
      connection.write("{}");
      const { interim, status } = await answer;
      expect(interim).toEqual([100]);
      expect(status).toBe(200);
    }));

  test("may be answered with the final status, when the body is not wanted", () =>
    on(async (connection) => {
      connection.write(`POST ${validate} HTTP/1.1\r\n${json}Expect: 100-continue\r\nContent-Length: 70000\r\n\r\n`);
      expect((await connection.response()).status).toBe(413);
    }));
});

describe("chunked bodies", () => {
  const head = `POST ${validate} HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\n`;
  const chunk = (data: string, extension = "") => `${data.length.toString(16)}${extension}\r\n${data}\r\n`;

  test.each([
    ["one chunk", [`${chunk('{"services":["redis"]}')}0\r\n\r\n`]],
    ["a chunk a character", [...[...'{"services":["redis"]}'].map((char) => chunk(char)), "0\r\n\r\n"]],
    ["extensions and trailers", [`${chunk('{"services":', ";a=b")}${chunk('["redis"]}')}0\r\nX-Checksum: 1\r\n\r\n`]],
    ["bytes that arrive one by one", [...`${chunk('{"services":["redis"]}')}0\r\n\r\n`]],
  ])("of %s", (_, parts) =>
    on(async (connection) => {
      connection.write(head);
      for (const part of parts) {
        connection.write(part);
        await Bun.sleep(0);
      }
      const { status, body } = await connection.response();
      expect(status).toBe(200);
      expect(text(body)).toContain('"resolvedServices":["openclaw","redis"]');
    }),
  );

  test("that are too large are refused as soon as that is known", () =>
    on(async (connection) => {
      connection.write(head);
      for (let part = 0; part < 9; part++) connection.write(chunk(" ".repeat(8192)));
      // The body has no end yet.
      const { status, headers } = await connection.response();
      expect(status).toBe(413);
      expect(headers.get("x-ratelimit-limit")).toBeTruthy();
    }));
});

describe("bodies far beyond the limit", () => {
  test.each([2_000_000, 10_000_000_000])("of %d bytes are refused like others: JSON, with the limit headers", (length) =>
    on(async (connection) => {
      connection.write(`POST ${validate} HTTP/1.1\r\n${json}Content-Length: ${length}\r\n\r\n${" ".repeat(100_000)}`);
      const { status, headers, body } = await connection.response();
      expect(status).toBe(413);
      expect(headers.get("x-ratelimit-limit")).toBeTruthy();
      expect(JSON.parse(text(body)).error.code).toBe("VALIDATION_ERROR");
    }),
  );

  test.each(["Content-Length", "Transfer-Encoding"])("take no memory, with %s", async (framing) => {
    Bun.gc(true);
    const before = process.memoryUsage.rss();
    const size = 256 * 1024 * 1024;
    const part = new Uint8Array(1024 * 1024).fill(32);
    const chunked = framing === "Transfer-Encoding";
    await on(async (connection) => {
      connection.write(`POST ${validate} HTTP/1.1\r\n${json}${framing}: ${chunked ? "chunked" : size}\r\n\r\n`);
      for (let sent = 0; sent < size; sent += part.length) {
        if (chunked) connection.write(`${part.length.toString(16)}\r\n`);
        connection.write(part);
        if (chunked) connection.write("\r\n");
        await connection.written();
      }
      if (chunked) connection.write("0\r\n\r\n");
      expect((await connection.response()).status).toBe(413);
      connection.write(get("/api/v1/health"));
      expect((await connection.response()).status).toBe(200);
    });
    Bun.gc(true);
    // Half of what was sent leaves room for what else this process does.
    expect(process.memoryUsage.rss() - before).toBeLessThan(size / 2);
  });
});

describe("pipelined requests", () => {
  test("are answered in their order, whatever their kind", () =>
    on(async (connection) => {
      connection.write(
        get("/api/v1/health") +
          post("/api/v1/generate", '{"name":"first"}') +
          "HEAD /api/v1/skills HTTP/1.1\r\nHost: localhost\r\n\r\n" +
          get("/api/v1/skills", "If-None-Match: *\r\n") +
          post(validate, "{}") +
          get("/nowhere"),
      );
      expect(text((await connection.response()).body)).toContain("healthy");
      expect(text((await connection.response()).body)).toContain('"name":"first"');
      expect((await connection.response("HEAD")).status).toBe(200);
      expect((await connection.response()).status).toBe(304);
      expect(text((await connection.response()).body)).toContain("resolvedServices");
      expect((await connection.response()).status).toBe(404);
    }));

  test("after one whose body was refused unread are still read from the right place", () =>
    on(async (connection) => {
      connection.write(
        post(validate, "x".repeat(70_000)) + post(validate, "{}", "Host: localhost\r\n") + get("/api/v1/health", "Content-Length: 0\r\n"),
      );
      expect((await connection.response()).status).toBe(413);
      expect((await connection.response()).status).toBe(415);
      expect((await connection.response()).status).toBe(200);
    }));

  test("a body of GET is skipped", () =>
    on(async (connection) => {
      connection.write(`${get("/api/v1/health", "Content-Length: 5\r\n")}GET /${get("/nowhere")}`);
      expect((await connection.response()).status).toBe(200);
      expect((await connection.response()).status).toBe(404);
    }));
});

describe("half-closed connections", () => {
  test.each([
    ["GET", get("/api/v1/services")],
    ["POST", post("/api/v1/generate", '{"name":"a","preset":"minimal"}')],
  ])("a %s is answered in full after the client has closed its side", (_, request) =>
    on(async (connection) => {
      connection.write(request);
      connection.end();
      const { status, body } = await connection.response();
      expect(status).toBe(200);
      expect(JSON.parse(text(body)).ok).toBe(true);
    }),
  );

  test("a request that ends too early is not answered, and the connection is closed", () =>
    on(async (connection) => {
      connection.write(`POST ${validate} HTTP/1.1\r\n${json}Content-Length: 12\r\n\r\n{"na`);
      connection.end();
      expect(await connection.closed).toHaveLength(0);
    }));
});

describe("message framing", () => {
  test("HEAD has the Content-Length of GET and no body", () =>
    on(async (connection) => {
      for (const path of ["/api/v1/health", "/api/v1/services", "/api/v1/openapi.json", "/nowhere"]) {
        connection.write(get(path) + get(path).replace("GET", "HEAD"));
        const length = String((await connection.response()).body.length);
        // Any byte of a body would be read as the start of the next response, and fail.
        expect((await connection.response("HEAD")).headers.get("content-length")).toBe(length);
      }
    }));

  test("304 and 204 have no body, no Content-Type, and no Content-Length other than GET's", () =>
    on(async (connection) => {
      connection.write(
        get("/api/v1/services", "If-None-Match: *\r\n") + get("/api/v1/health").replace("GET", "OPTIONS") + get("/api/v1/health"),
      );
      const { status, headers } = await connection.response();
      expect(status).toBe(304);
      for (const name of ["content-type", "content-encoding", "content-length", "transfer-encoding"]) expect(headers.get(name)).toBeNull();
      for (const name of ["etag", "cache-control", "vary"]) expect(headers.get(name)).toBeTruthy();
      const options = await connection.response();
      expect(options.status).toBe(204);
      for (const name of ["content-type", "content-length", "transfer-encoding"]) expect(options.headers.get(name)).toBeNull();
      expect((await connection.response()).status).toBe(200);
    }));

  test.each([
    ["Content-Length and Transfer-Encoding", `${json}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n`],
    ["two Content-Lengths", `${json}Content-Length: 5\r\nContent-Length: 6\r\n`],
  ])("a request with %s is refused, since it could smuggle another", (_, fields) =>
    on(async (connection) => {
      connection.write(`POST ${validate} HTTP/1.1\r\n${fields}\r\n0\r\n\r\n${get("/api/v1/health")}`);
      expect(text(await connection.closed)).toMatch(/^HTTP\/1\.1 400 [^\r]*\r\n(?!.*healthy)/s);
    }),
  );

  test("HTTP/1.1 without Host is refused", () =>
    on(async (connection) => {
      connection.write("GET /api/v1/health HTTP/1.1\r\n\r\n");
      expect(text(await connection.closed)).toStartWith("HTTP/1.1 400 ");
    }));

  test("Connection: close is obeyed", () =>
    on(async (connection) => {
      connection.write(get("/api/v1/health", "Connection: close\r\n"));
      expect((await connection.response()).status).toBe(200);
      expect(await connection.closed).toHaveLength(0);
    }));
});

describe("header fields", () => {
  const requests = [
    get("/api/v1/health"),
    get("/api/v1/services"),
    get("/nowhere"),
    post(validate, "{}"),
    post(validate, "x"),
    get(validate),
  ];

  test("every response has a Date", () =>
    on(async (connection) => {
      for (const request of requests) {
        connection.write(request);
        const date = Date.parse((await connection.response()).headers.get("date") ?? "");
        expect(Math.abs(Date.now() - date)).toBeLessThan(2500);
      }
    }));

  test("what may be kept, and what not, is said", () =>
    on(async (connection) => {
      const kept = ["/", "/api/v1/services", "/api/v1/skills", "/api/v1/presets", "/api/v1/presets/minimal", "/api/v1/openapi.json"].map(
        (path) => get(path),
      );
      const moment = [
        get("/api/v1/health"),
        get("/nowhere"),
        get(validate),
        post(validate, "{}"),
        post(validate, "x"),
        post("/api/v1/generate", '{"name":"a"}'),
      ];
      const cacheControl = async (request: string) => {
        connection.write(request);
        return (await connection.response()).headers.get("cache-control");
      };
      for (const request of kept) expect(await cacheControl(request)).toBe("public, no-cache");
      for (const request of moment) expect(await cacheControl(request)).toBe("no-store");
    }));
});

test("Vary names what an answer depends on", async () => {
  await using one = start({ CORS_ORIGIN: "https://a.example" });
  for (const [{ get }, list, health] of [
    [client, "Accept-Encoding", null],
    [one, "Accept-Encoding, Origin", "Origin"],
  ] as const) {
    expect((await get("/api/v1/services")).headers.get("vary")).toBe(list);
    expect((await get("/api/v1/health")).headers.get("vary")).toBe(health);
  }
});

describe("targets and Host", () => {
  test.each([
    ["HTTP/1.0 without Host", "GET /api/v1/health HTTP/1.0\r\n\r\n"],
    ["a Host that is no host name", "GET /api/v1/health HTTP/1.1\r\nHost: a b\r\n\r\n"],
    ["an empty Host", "GET /api/v1/health HTTP/1.1\r\nHost:\r\n\r\n"],
    ["an IPv6 Host", "GET /api/v1/health HTTP/1.1\r\nHost: [::1]:3000\r\n\r\n"],
    ["the absolute form", "GET http://localhost/api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ["dots", "GET /api/../api/./v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ["a query", "GET /api/v1/health?a=/b//c HTTP/1.0\r\n\r\n"],
  ])("%s finds the operation", (_, request) =>
    on(async (connection) => {
      connection.write(request);
      expect((await connection.response()).status).toBe(200);
    }),
  );

  test("OPTIONS to an unknown path names that path", async () => {
    const response = await fetch(`${client.url}/nowhere`, { method: "OPTIONS" });
    expect(response.status).toBe(404);
    expect(await response.text()).toContain("/nowhere");
  });
});
