/** The bare-metal hybrid: `native/`, `install.sh` and `install.ps1`. */
import { baseServiceId } from "../catalog/index.ts";
import { template, templates } from "../embedded.ts";
import { installerPath, isNative, type NativeSystem } from "../stack/native.ts";
import type { Plan } from "../stack/plan.ts";
import type { BundleFile } from "./file.ts";

const systems: readonly NativeSystem[] = ["linux", "darwin", "windows"];

/** Names of what is installed on the host for a system, in order: services, then the proxy when it is native there. */
function installed(plan: Plan, system: NativeSystem): string[] {
  return plan.resolution.services.filter((service) => isNative(service.id, system)).map((service) => service.id);
}

/** Databases on native servers, for their installers: `<server> <database> <variable> <extensions>`. */
function databases(plan: Plan): string {
  const lines: string[] = [];
  for (const [server, provisions] of plan.provisions) {
    for (const { database, password, extensions } of provisions)
      lines.push([server, database, password, extensions.join(",") || "-"].join(" "));
  }
  return lines.map((line) => `${line}\n`).join("");
}

/** What the native gateway is given: variables of the stack by name, addresses as the host sees them. */
function gatewayEnvironment(plan: Plan): string {
  const native = new Set(plan.native?.services.map((service) => service.id));
  const published = new Map(plan.addresses.all.map((address) => [`${address.container}:${address.port.container}`, address.hostPort]));
  const names = plan.resolution.services.flatMap((service) => Object.keys(service.containers));
  const base = plan.resolution.services[0];
  const own = [...Object.keys(base?.secrets ?? {}), ...Object.keys(base?.settings ?? {}), "TZ"];
  const lines = own.map((name) => `${name}=\${${name}}\n`);
  for (const [name, value] of Object.entries(plan.gateway.environment)) {
    let text = value.replaceAll(/\$\{([A-Z][A-Z0-9_]*)[^}]*\}/g, "${$1}").replaceAll("host.docker.internal", "127.0.0.1");
    for (const container of names) {
      text = text.replace(new RegExp(`(//(?:[^/@\\s]*@)?)${container}:(\\d+)`), (whole, before: string, port: string) => {
        const hostPort = native.has(container) ? port : published.get(`${container}:${port}`);
        return hostPort === undefined ? whole : `${before}127.0.0.1:${hostPort}`;
      });
      if (text === container) text = "127.0.0.1";
    }
    lines.push(`${name}=${text}\n`);
  }
  return lines.join("");
}

/** Renders the installers of a bare-metal stack; nothing for others. */
export function renderNative(plan: Plan): BundleFile[] {
  if (plan.native === undefined) return [];
  const { system } = plan.native;
  const order = [...installed(plan, system), ...(plan.proxy?.native ? [plan.proxy.id] : [])];
  const files: BundleFile[] = [
    { path: "install.sh", content: template("native/install.sh"), executable: true },
    { path: "install.ps1", content: template("native/install.ps1"), executable: true },
    { path: "native/order", content: order.map((id) => `${id}\n`).join("") },
    {
      path: "native/versions",
      content: plan.native.services.map((service) => `${service.id} ${service.containers[service.id]?.image.tag}\n`).join(""),
    },
    { path: "native/databases", content: databases(plan) },
    { path: `native/${baseServiceId}.env`, content: gatewayEnvironment(plan) },
  ];
  for (const other of systems) {
    for (const id of [...installed(plan, other), ...(plan.proxy && isNative(plan.proxy.id, other) ? [plan.proxy.id] : [])]) {
      const path = installerPath(id, other);
      files.push({ path: `native/${path}`, content: template(`native/${path}`), executable: true });
    }
    const shared = `native/${other}/common.${other === "windows" ? "ps1" : "sh"}`;
    if (shared in templates()) files.push({ path: shared, content: template(shared), executable: true });
  }
  return files;
}
