/** The health check of a container: asks the server of the same settings, so that the image needs neither curl nor a shell. */
import { basePath } from "./api/index.ts";

/**
 * Asks the server that listens on `host` and `port` for its health.
 * @returns what is wrong, or `undefined` when it is healthy
 */
export async function healthProblem(host: string, port: number): Promise<string | undefined> {
  // A server on every address is asked on loopback.
  const name =
    host === "0.0.0.0"
      ? "127.0.0.1"
      : host === "::" || host === "[::]"
        ? "[::1]"
        : host.includes(":") && !host.startsWith("[")
          ? `[${host}]`
          : host;
  try {
    const response = await fetch(`http://${name}:${port}${basePath}/health`, { signal: AbortSignal.timeout(3000) });
    // A client without tokens left has been answered, and in time: the server is there.
    return response.ok || response.status === 429 ? undefined : `answers ${response.status}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
