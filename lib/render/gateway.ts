/**
 * Configuration of the base service. The gateway reads JSON5 and JSON is YAML, so the file is both
 * (https://docs.openclaw.ai/gateway/configuration-reference).
 */
import { baseServiceId } from "../catalog/index.ts";
import { merge } from "../merge.ts";
import { gatewayPaths, type Plan } from "../stack/plan.ts";
import type { BundleFile } from "./file.ts";

/** The host on Docker's default bridge, where a proxy in a container reaches a gateway on the host. */
const bridgeAddress = "172.17.0.1";

/** Origins that the Control UI may be opened from. */
function allowedOrigins(plan: Plan): string[] {
  const url = plan.addresses.urls.get(baseServiceId) ?? "http://localhost:18789";
  return [...new Set([url, url.replace("//localhost", "//127.0.0.1")])];
}

/** Renders `configs/openclaw/config.yaml`. */
export function renderGateway(plan: Plan): BundleFile[] {
  const native = plan.native?.services.some((service) => service.id === baseServiceId) ?? false;
  const config = merge(
    {
      gateway: {
        mode: "local",
        ...(native && plan.proxy && !plan.proxy.native
          ? { bind: "custom", customBindHost: bridgeAddress }
          : { bind: native ? "loopback" : "lan" }),
        port: 18789,
        auth: { mode: "token", token: "${OPENCLAW_GATEWAY_TOKEN}" },
        controlUi: { allowedOrigins: allowedOrigins(plan) },
        ...(plan.proxy ? { trustedProxies: [plan.proxy.native ? "127.0.0.1" : "${PROXY_ADDRESS}"] } : {}),
      },
      ...(plan.resolution.packs.length > 0
        ? { skills: { load: { extraDirs: [native ? "${STACKWRIGHT_SKILLS}" : gatewayPaths.skills] } } }
        : {}),
    },
    plan.gateway.config,
  );
  return [{ path: `configs/${baseServiceId}/config.yaml`, content: `${JSON.stringify(config, null, 2)}\n` }];
}
