/** Traefik's static and dynamic configuration (https://doc.traefik.io/traefik/reference/). */
import type { Plan } from "../stack/plan.ts";
import type { BundleFile } from "./file.ts";
import { upstream } from "./upstream.ts";
import { printMapping, type Yaml } from "./yaml.ts";

type Mapping = { [key: string]: Yaml };

/** Renders `traefik.yml` and the routes that it reads from `configs/traefik/`. */
export function renderTraefik(plan: Plan): BundleFile[] {
  const { proxy } = plan;
  if (proxy?.id !== "traefik") return [];
  const certified = proxy.reach === "public";
  // Long requests and uploads: no limit on the time that a body takes to arrive.
  const transport = { respondingTimeouts: { readTimeout: "0s" } };
  const entryPoints: Mapping =
    proxy.reach === "local"
      ? { web: { address: ":80", transport } }
      : {
          web: { address: ":80", http: { redirections: { entryPoint: { to: "websecure", scheme: "https" } } } },
          websecure: { address: ":443", transport, http: { tls: certified ? { certResolver: "acme" } : {} } },
        };
  const fixed: Mapping = {
    global: { checkNewVersion: false, sendAnonymousUsage: false },
    entryPoints: { ...entryPoints, ping: { address: "127.0.0.1:8082" } },
    ping: { entryPoint: "ping" },
    log: { level: "INFO" },
    providers: { file: { directory: "/etc/traefik/dynamic", watch: true } },
    ...(certified
      ? { certificatesResolvers: { acme: { acme: { storage: "/acme/acme.json", httpChallenge: { entryPoint: "web" } } } } }
      : {}),
  };

  const routers: Mapping = {};
  const services: Mapping = {};
  for (const route of plan.addresses.routes) {
    routers[route.name] = {
      rule: `Host(\`${route.host}\`)`,
      entryPoints: [proxy.reach === "local" ? "web" : "websecure"],
      service: route.name,
      ...(proxy.reach === "local" ? {} : { middlewares: ["safety"] }),
    };
    services[route.name] = {
      loadBalancer: {
        servers: [{ url: `${route.scheme}://${upstream(plan, route)}` }],
        ...(route.scheme === "https" ? { serversTransport: "insecure" } : {}),
      },
    };
  }
  const insecure = plan.addresses.routes.some((route) => route.scheme === "https");
  const dynamic: Mapping = {
    http: {
      routers,
      services,
      ...(proxy.reach === "local"
        ? {}
        : { middlewares: { safety: { headers: { contentTypeNosniff: true, ...(certified ? { stsSeconds: 31536000 } : {}) } } } }),
      ...(insecure ? { serversTransports: { insecure: { insecureSkipVerify: true } } } : {}),
    },
  };
  return [
    {
      path: "traefik.yml",
      content: `# Traefik's static configuration; the routes are in configs/traefik/routes.yml.\n${printMapping(fixed, "")}`,
    },
    {
      path: "configs/traefik/routes.yml",
      content: `# Routes of the stack; Traefik reads changes by itself.\n${printMapping(dynamic, "")}`,
    },
  ];
}
