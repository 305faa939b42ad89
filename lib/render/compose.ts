/** `docker-compose.yml`, after the Compose Specification. */
import type { Container } from "../catalog/schema.ts";
import { memo } from "../memo.ts";
import type { ContainerDefinition, PlannedContainer, PlannedMount, PlannedPort } from "../stack/container.ts";
import type { PlannedHealthcheck } from "../stack/healthcheck.ts";
import type { Plan, PlannedVolume } from "../stack/plan.ts";
import type { Addresses } from "../stack/routes.ts";
import { cutSlots, fillSlots, type Template } from "../stack/slots.ts";
import type { BundleFile } from "./file.ts";
import { printMapping, scalar, type Yaml } from "./yaml.ts";

type Mapping = { [key: string]: Yaml | undefined };

/** What every container shares; restart and privileges are overridden where the catalog says so. */
const common = `x-common: &common
  restart: unless-stopped
  security_opt: ["no-new-privileges:true"]
  logging:
    driver: json-file
    options:
      max-size: "10m"
      max-file: "3"
`;

/** A list of a container's option, or nothing where it is empty. */
function some<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length > 0 ? list : undefined;
}

function someEntries<T extends object>(record: T): T | undefined {
  return Object.keys(record).length > 0 ? record : undefined;
}

function mount({ type, source, target, readOnly }: PlannedMount): Yaml {
  return {
    type,
    source,
    target,
    ...(readOnly ? { read_only: true } : {}),
    ...(type === "bind" ? { bind: { create_host_path: false } } : {}),
  };
}

const indent = "    ";
const print = (mapping: Mapping) => printMapping(mapping, indent);

/** What a container's entry takes from the catalog as it stands there. */
function options(container: Container): Mapping {
  return {
    user: container.user,
    working_dir: container.workingDir,
    hostname: container.hostname,
    init: container.init || undefined,
    tty: container.tty || undefined,
    read_only: container.readOnly || undefined,
    privileged: container.privileged ? true : undefined,
    security_opt: container.noNewPrivileges === true ? undefined : [],
    cap_drop: some(container.capDrop),
    cap_add: some(container.capAdd),
    network_mode: container.networkMode,
    pid: container.pid,
    shm_size: container.shmSize,
    stop_signal: container.stopSignal,
    stop_grace_period: container.stopGracePeriod === undefined ? undefined : `${container.stopGracePeriod}s`,
    group_add: some(container.groupAdd),
    devices: some(container.devices),
    sysctls: someEntries(container.sysctls),
    ulimits: someEntries(container.ulimits),
  };
}

function healthcheck({ test, interval, timeout, retries, startPeriod }: PlannedHealthcheck): Mapping {
  return {
    test: test?.map((word) => word.replaceAll("$", "$$$$")),
    interval: `${interval}s`,
    timeout: `${timeout}s`,
    retries,
    start_period: `${startPeriod}s`,
  };
}

function deploy({ memoryMB, gpu }: ContainerDefinition): Mapping | undefined {
  const reservations: Mapping = memoryMB > 0 ? { memory: `${memoryMB}M` } : {};
  if (gpu) reservations.devices = [{ driver: "nvidia", count: "all", capabilities: ["gpu"] }];
  return someEntries(reservations) && { resources: { reservations: reservations as Yaml } };
}

/**
 * Prints what a definition says, once: `head` comes before what differs between stacks, `tail` after it. Keys are in the order in
 * which people read them.
 */
const printDefinition = memo((definition: ContainerDefinition): { head: Template; tail: Template } => {
  const { name, options: own } = definition;
  const head =
    `${own.description ? `  # ${own.description}\n` : ""}  ${name}:\n${indent}<<: *common\n` +
    print({
      image: definition.image,
      platform: definition.platform,
      restart: own.oneShot ? "no" : undefined,
      entrypoint: definition.entrypoint,
      command: definition.command,
      ...options(own),
      extra_hosts: some(definition.extraHosts),
      volumes: some(definition.mounts.map(mount)),
      tmpfs: some(own.tmpfs),
      environment: someEntries(definition.environment),
    });
  const conditions = Object.entries(definition.dependsOn).map(([other, condition]) => [other, { condition }]);
  const tail = print({
    depends_on: someEntries(Object.fromEntries(conditions)),
    healthcheck: definition.healthcheck && healthcheck(definition.healthcheck),
    deploy: deploy(definition),
    labels: definition.labels,
  });
  return { head: cutSlots(head), tail: cutSlots(`${tail}\n`) };
});

const printPort = memo(
  ({ address, published, target, protocol }: PlannedPort) =>
    `${indent}  - "${address}:${published}:${target}${protocol === "udp" ? "/udp" : ""}"\n`,
);

const printVolume = memo(
  ({ name, service, backup }: PlannedVolume) =>
    `  ${name}:\n    labels:\n      stackwright.service: ${service}\n      stackwright.backup: ${backup}\n`,
);

/** Prints the container's entry under `services` into `parts`. */
function printContainer({ definition, environment, ports, address }: PlannedContainer, addresses: Addresses, parts: string[]): void {
  const { head, tail } = printDefinition(definition);
  fillSlots(head, addresses, parts);
  if (environment) {
    if (Object.keys(definition.environment).length === 0) parts.push(`${indent}environment:\n`);
    for (const variable in environment) parts.push(indent, "  ", variable, ": ", scalar(environment[variable] as string), "\n");
  }
  if (address) parts.push(print({ networks: { default: { ipv4_address: address } } }));
  if (ports.length > 0) {
    parts.push(`${indent}ports:\n`);
    for (const port of ports) parts.push(printPort(port));
  }
  fillSlots(tail, addresses, parts);
}

/** Renders the Compose file. */
export function renderCompose(plan: Plan): BundleFile[] {
  const parts = [
    `# The stack "${plan.name}". Settings and secrets come from .env, which scripts/start.sh writes.\n`,
    `name: ${JSON.stringify(plan.slug)}\n\n${common}\nservices:${plan.containers.length === 0 ? " {}" : ""}\n`,
  ];
  for (const container of plan.containers) printContainer(container, plan.addresses, parts);
  if (plan.volumes.length > 0) {
    parts.push("volumes:\n");
    for (const volume of plan.volumes) parts.push(printVolume(volume));
    parts.push("\n");
  }
  parts.push("networks:\n  default:\n    driver: bridge\n");
  if (plan.subnet) parts.push(printMapping({ ipam: { config: [{ subnet: plan.subnet }] } }, indent));
  return [{ path: "docker-compose.yml", content: parts.join("") }];
}
