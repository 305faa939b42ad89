/** The bare-metal hybrid: which services run on the host, and how containers and host find one another. */
import { templates } from "../embedded.ts";
import type { PlannedContainer } from "./container.ts";
import type { StackRequest } from "./request.ts";

export type NativeSystem = "linux" | "darwin" | "windows";

/** The system that native services are installed on; `undefined` for a stack of containers alone. */
export function nativeSystem(request: StackRequest): NativeSystem | undefined {
  if (request.deploymentType !== "bare-metal") return undefined;
  return (request.platform?.split("/")[0] as NativeSystem | undefined) ?? "linux";
}

/** Path of a service's installer below `templates/native/` and below `native/` of a bundle. */
export function installerPath(service: string, system: NativeSystem): string {
  return `${system}/${service}.${system === "windows" ? "ps1" : "sh"}`;
}

/** Whether a service has a native recipe for a system. */
export function isNative(service: string, system: NativeSystem): boolean {
  return `native/${installerPath(service, system)}` in templates();
}

/** Whether the proxy of a request runs on the host: then it reaches containers by the ports that they publish. */
export function isProxyNative(request: StackRequest): boolean {
  const system = nativeSystem(request);
  return system !== undefined && request.proxy !== undefined && isNative(request.proxy, system);
}

/** Points a container at services that run on the host instead of in containers. */
export function rehost(container: PlannedContainer, native: ReadonlySet<string>): PlannedContainer {
  const names = [...native].map((name) => name.replace(/[^\w-]/g, "")).join("|");
  const inUrl = new RegExp(`(//(?:[^/@\\s]*@)?)(${names})(?=[:/]|$)`, "g");
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...container.definition.environment, ...container.environment })) {
    environment[name] = native.has(value) ? "host.docker.internal" : value.replace(inUrl, "$1host.docker.internal");
  }
  const dependsOn = Object.fromEntries(
    Object.entries(container.definition.dependsOn).filter(([name]) => !native.has(name.replace(/-provision$/, ""))),
  );
  return { ...container, definition: { ...container.definition, environment, dependsOn }, environment: undefined };
}
