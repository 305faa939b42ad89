/**
 * Stackwright: an HTTP service that writes self-hosted AI-agent stacks.
 * `bun server.ts` starts it; `bun server.ts --help` prints what else it does. Settings are environment variables: see README.md.
 */
import { healthProblem } from "./lib/healthcheck.ts";
import { serve } from "./lib/serve.ts";
import { readSettings, type Settings, SettingsError } from "./lib/settings.ts";
import { version } from "./lib/version.ts";

const usage = `Stackwright ${version}

Starts the HTTP service. Settings are environment variables: PORT, HOST, STACK_API_KEY, REDIS_URL, TRUSTED_PROXIES, CORS_ORIGIN,
LIMIT_READ, LIMIT_WRITE, LIMIT_GENERATE, LOG_LEVEL, METRICS_PORT, REUSE_PORT.

  --version       print the version
  --healthcheck   ask the server on HOST and PORT whether it is healthy: exit code 0 or 1
  --help          print this text
`;

function settingsOrExit(): Settings {
  try {
    return readSettings(Bun.env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    console.error(`Stackwright cannot start:\n${error.message}`);
    process.exit(2);
  }
}

const [argument] = Bun.argv.slice(2);
if (argument === "--version" || argument === "-v") console.log(version);
else if (argument === "--help" || argument === "-h") console.log(usage.trimEnd());
else if (argument === "--healthcheck") {
  // Not all settings: the check must not fail because, say, the key is kept from it.
  const problem = await healthProblem(Bun.env.HOST?.trim() || "127.0.0.1", Number(Bun.env.PORT?.trim() || 3000));
  if (problem !== undefined) {
    console.error(`unhealthy: ${problem}`);
    process.exitCode = 1;
  }
} else if (argument !== undefined) {
  console.error(`Unknown argument "${argument}".\n\n${usage.trimEnd()}`);
  process.exitCode = 2;
} else {
  const settings = settingsOrExit();
  try {
    const server = serve(settings);
    console.error(
      `Stackwright ${version} listens on ${server.url}${settings.apiKey === undefined ? " (no STACK_API_KEY: open, on loopback only)" : ""}`,
    );
    let stopping = false;
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.on(signal, () => {
        if (stopping) process.exit(1);
        stopping = true;
        server.stop().then(() => process.exit(0));
      });
    }
  } catch (error) {
    console.error(`Stackwright cannot listen on ${settings.host}:${settings.port}: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}
