/**
 * Certificates by ACME: each proxy gets one for its names from an authority on the stack's network (Pebble, of Let's Encrypt,
 * from Debian), and serves it, without anyone touching it. `bun run proofs`.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parse, stringify } from "yaml";
import { must, run } from "../support.ts";
import { httpPort, httpsPort, type Stack, unpack } from "./engine.ts";
import { build, fromBase, install } from "./images/build.ts";

const minutes = 60_000;
const authority = "stackwright-proof-pebble:1";
const names = ["acme.example.org", "uptime-kuma.acme.example.org"];

beforeAll(
  () =>
    build(
      authority,
      fromBase(
        install("pebble openssl curl"),
        "RUN openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=pebble -addext subjectAltName=DNS:pebble -keyout /key.pem -out /certificate.pem 2>/dev/null",
        `RUN printf '${JSON.stringify({
          pebble: {
            listenAddress: "0.0.0.0:14000",
            managementListenAddress: "0.0.0.0:15000",
            certificate: "/certificate.pem",
            privateKey: "/key.pem",
            httpPort: 80,
            tlsPort: 443,
          },
        })}' > /pebble.json`,
        "ENV PEBBLE_VA_NOSLEEP=1",
        'CMD ["pebble", "-config", "/pebble.json"]',
      ),
    ),
  5 * minutes,
);

/** How each proxy is pointed at the authority: by what its image reads, or by a file that its user may edit. */
const proxies: Record<string, { account: string; environment: Record<string, string>; env?: Record<string, string> }> = {
  nginx: { account: "certbot", environment: { REQUESTS_CA_BUNDLE: "/pebble.pem" }, env: { ACME_SERVER: "https://pebble:14000/dir" } },
  caddy: {
    account: "caddy",
    environment: { SSL_CERT_FILE: "/pebble.pem" },
    env: { CADDY_GLOBAL_OPTIONS: "acme_ca https://pebble:14000/dir" },
  },
  ...(Bun.which("traefik") ? { traefik: { account: "traefik", environment: { LEGO_CA_CERTIFICATES: "/pebble.pem" } } } : {}),
};

describe.each(Object.entries(proxies))("%s", (proxy, { account, environment, env = {} }) => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await unpack({ name: "Proof ACME", services: ["uptime-kuma"], proxy, domain: names[0] }, { interval: 2 });
    const { folder } = stack;
    const path = `${folder}/docker-compose.override.yml`;
    const override = JSON.parse(await Bun.file(path).text()) as { services: Record<string, object> };
    await must(["bash", "-c", `docker run --rm ${authority} cat /certificate.pem > pebble.pem`], { cwd: folder });
    override.services.pebble = { image: authority };
    override.services[proxy] = { ...override.services[proxy], networks: { default: { aliases: names } } };
    override.services[account] = {
      ...override.services[account],
      environment,
      volumes: ["./pebble.pem:/pebble.pem:ro"],
      // Whoever asks first would wait long for a second attempt.
      depends_on: { pebble: { condition: "service_started" } },
    };
    await Bun.write(path, JSON.stringify(override));
    if (proxy === "traefik") {
      const fixed = parse(await Bun.file(`${folder}/traefik.yml`).text());
      fixed.certificatesResolvers.acme.acme.caServer = "https://pebble:14000/dir";
      await Bun.write(`${folder}/traefik.yml`, stringify(fixed));
    }
    await stack.set({ HTTP_PORT: httpPort, HTTPS_PORT: httpsPort, ...env });
    const { code, stdout, stderr } = await stack.script("start");
    if (code !== 0) throw new Error(`${stdout}\n${stderr}`);
  }, 10 * minutes);
  afterAll(async () => {
    await stack?.[Symbol.asyncDispose]();
  }, 3 * minutes);

  test(
    "serves a certificate of the authority for each name, within three minutes of the start",
    async () => {
      const chain = await stack.compose("exec", "-T", "pebble", "curl", "-sk", "https://localhost:15000/roots/0");
      await Bun.write(`${stack.folder}/root.pem`, chain);
      for (const name of names) {
        const asked = () =>
          run([
            "curl",
            "-sS",
            "--cacert",
            `${stack.folder}/root.pem`,
            "--resolve",
            `${name}:${httpsPort}:127.0.0.1`,
            "-o",
            "/dev/null",
            "-w",
            "%{http_code}",
            `https://${name}:${httpsPort}/`,
          ]);
        const deadline = Date.now() + 3 * minutes;
        let answer = await asked();
        while (answer.code !== 0 && Date.now() < deadline) {
          await Bun.sleep(1000);
          answer = await asked();
        }
        const logs = answer.code === 0 ? "" : await stack.compose("logs", "--tail", "30", account);
        expect({ name, status: answer.stdout, error: answer.stderr, logs }).toEqual({ name, status: "200", error: "", logs: "" });
      }
    },
    8 * minutes,
  );
});
