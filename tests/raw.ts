/** Requests byte by byte over a socket, for what `fetch` does not let out or hides. */

/** One response as it came: status, headers, body, and interim (1xx) statuses before it. */
export interface RawResponse {
  readonly interim: readonly number[];
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** A connection that bytes are written to and responses are read from. */
export interface RawConnection {
  readonly write: (text: string | Uint8Array) => void;
  /** Resolves when all that was written has left. */
  readonly written: () => Promise<void>;
  /** Closes the writing side; the other end can still answer. */
  readonly end: () => void;
  readonly close: () => void;
  /** Reads the next response. `method` is that of its request: a response to `HEAD` has no body, whatever its headers say. */
  readonly response: (method?: string) => Promise<RawResponse>;
  /** Resolves when the other end has closed the connection, with the bytes that no response was read from. */
  readonly closed: Promise<Uint8Array>;
}

/** Thrown when what came is not an HTTP response, or the connection ended within one. */
export class RawError extends Error {}

/** Connects to a server on loopback. */
export async function connect(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  let received = Buffer.alloc(0);
  let open = true;
  let wake = () => {};
  let drained = () => {};
  const done = Promise.withResolvers<Uint8Array>();
  const finish = () => {
    open = false;
    wake();
    drained();
    done.resolve(received);
  };
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    allowHalfOpen: true,
    socket: {
      data(_, chunk) {
        received = Buffer.concat([received, chunk]);
        wake();
      },
      end: (peer) => {
        peer.end();
        finish();
      },
      close: finish,
      error: finish,
      drain: () => flush(),
    },
  });
  let pending = Buffer.alloc(0);
  const flush = () => {
    if (pending.length > 0) pending = pending.subarray(Math.max(0, socket.write(pending)));
    if (pending.length === 0) drained();
  };
  const more = async () => {
    if (!open) throw new RawError(`the connection is closed; unread: ${JSON.stringify(received.toString().slice(0, 200))}`);
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  };
  const head = async (): Promise<{ status: number; headers: Headers }> => {
    let length = received.indexOf("\r\n\r\n");
    while (length < 0) {
      await more();
      length = received.indexOf("\r\n\r\n");
    }
    const [line = "", ...fields] = received.subarray(0, length).toString("latin1").split("\r\n");
    received = received.subarray(length + 4);
    const status = /^HTTP\/1\.1 (\d{3})( |$)/.exec(line)?.[1];
    if (status === undefined) throw new RawError(`not a status line: ${line}`);
    const headers = new Headers();
    for (const field of fields) {
      const colon = field.indexOf(":");
      if (colon < 1) throw new RawError(`not a header field: ${field}`);
      headers.append(field.slice(0, colon), field.slice(colon + 1).trim());
    }
    return { status: Number(status), headers };
  };
  return {
    write(text) {
      pending = Buffer.concat([pending, Buffer.from(text as string)]);
      flush();
    },
    async written() {
      while (open && pending.length > 0) {
        await new Promise<void>((resolve) => {
          drained = resolve;
        });
      }
    },
    end: () => socket.shutdown(),
    close: () => socket.terminate(),
    closed: done.promise,
    async response(method = "GET") {
      const interim: number[] = [];
      let { status, headers } = await head();
      while (status < 200) {
        interim.push(status);
        ({ status, headers } = await head());
      }
      const bodiless = method === "HEAD" || status === 204 || status === 304;
      const length = bodiless ? 0 : Number(headers.get("content-length") ?? Number.NaN);
      if (Number.isNaN(length)) throw new RawError("no Content-Length");
      while (received.length < length) await more();
      const body = new Uint8Array(received.subarray(0, length));
      received = received.subarray(length);
      return { interim, status, headers, body };
    },
  };
}
