/** `docker-compose.yml`, after the Compose Specification. */
import type { PlannedContainer, PlannedMount, PlannedPort } from "../stack/container.ts";
import type { Plan } from "../stack/plan.ts";
import type { BundleFile } from "./file.ts";
import { printMapping, type Yaml } from "./yaml.ts";

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

function port({ address, published, target, protocol }: PlannedPort): string {
  return `${address}:${published}:${target}${protocol === "udp" ? "/udp" : ""}`;
}

/** The container's entry under `services`, keys in the order in which people read them. */
function service(container: PlannedContainer): Mapping {
  const { options, healthcheck } = container;
  const memory: Mapping = container.memoryMB > 0 ? { reservations: { memory: `${container.memoryMB}M` } } : {};
  if (container.gpu)
    memory.reservations = {
      ...(memory.reservations as Mapping),
      devices: [{ driver: "nvidia", count: "all", capabilities: ["gpu"] }],
    } as Yaml;
  return {
    "<<": "*common",
    image: container.image,
    platform: container.platform,
    restart: container.role === "job" ? "no" : undefined,
    entrypoint: container.entrypoint,
    command: container.command,
    user: options.user,
    working_dir: options.workingDir,
    hostname: options.hostname,
    init: options.init || undefined,
    tty: options.tty || undefined,
    read_only: options.readOnly || undefined,
    privileged: options.privileged ? true : undefined,
    security_opt: options.noNewPrivileges === true ? undefined : [],
    cap_drop: some(options.capDrop),
    cap_add: some(options.capAdd),
    network_mode: options.networkMode,
    pid: options.pid,
    shm_size: options.shmSize,
    stop_signal: options.stopSignal,
    stop_grace_period: options.stopGracePeriod === undefined ? undefined : `${options.stopGracePeriod}s`,
    group_add: some(options.groupAdd),
    devices: some(options.devices),
    sysctls: someEntries(options.sysctls),
    ulimits: someEntries(options.ulimits),
    extra_hosts: some(container.extraHosts),
    environment: someEntries(container.environment),
    volumes: some(container.mounts.map(mount)),
    tmpfs: some(options.tmpfs),
    ports: some(container.ports.map(port)),
    depends_on: someEntries(Object.fromEntries(Object.entries(container.dependsOn).map(([name, condition]) => [name, { condition }]))),
    healthcheck: healthcheck && {
      test: healthcheck.test?.map((word) => word.replaceAll("$", "$$$$")),
      interval: `${healthcheck.interval}s`,
      timeout: `${healthcheck.timeout}s`,
      retries: healthcheck.retries,
      start_period: `${healthcheck.startPeriod}s`,
    },
    labels: someEntries(container.labels),
    deploy: someEntries(memory) && { resources: memory },
  };
}

/** Renders the Compose file. */
export function renderCompose(plan: Plan): BundleFile[] {
  let text = `# The stack "${plan.name}". Settings and secrets come from .env, which scripts/start.sh writes.\nname: ${JSON.stringify(plan.slug)}\n\n${common}\nservices:${plan.containers.length === 0 ? " {}" : ""}\n`;
  for (const container of plan.containers) {
    const description = container.options.description;
    text += `${description ? `  # ${description}\n` : ""}  ${container.name}:\n${printMapping(service(container), "    ")}\n`;
  }
  if (plan.volumes.size > 0) {
    text += "volumes:\n";
    for (const [name, { service: owner, backup }] of plan.volumes)
      text += `  ${name}:\n    labels:\n      stackwright.service: ${owner}\n      stackwright.backup: ${backup}\n`;
    text += "\n";
  }
  text += "networks:\n  default:\n    driver: bridge\n";
  return [{ path: "docker-compose.yml", content: text }];
}
