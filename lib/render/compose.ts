/** `docker-compose.yml`, after the Compose Specification. */
import type { Container } from "../catalog/schema.ts";
import { memo } from "../memo.ts";
import type { PlannedContainer, PlannedMount, PlannedPort } from "../stack/container.ts";
import type { PlannedHealthcheck } from "../stack/healthcheck.ts";
import type { Plan } from "../stack/plan.ts";
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

function port({ address, published, target, protocol }: PlannedPort): string {
  return `${address}:${published}:${target}${protocol === "udp" ? "/udp" : ""}`;
}

const indent = "    ";
const print = (mapping: Mapping) => printMapping(mapping, indent);

/** What a container's entry takes from the catalog alone, printed once. */
const printOptions = memo((options: Container) =>
  print({
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
  }),
);

const printTmpfs = memo((tmpfs: readonly string[]) => print({ tmpfs: some(tmpfs) }));
const printEntrypoint = memo((entrypoint: readonly string[]) => print({ entrypoint }));
const printCommand = memo((command: readonly string[]) => print({ command }));

const printHealthcheck = memo(({ test, interval, timeout, retries, startPeriod }: PlannedHealthcheck) =>
  print({
    healthcheck: {
      test: test?.map((word) => word.replaceAll("$", "$$$$")),
      interval: `${interval}s`,
      timeout: `${timeout}s`,
      retries,
      start_period: `${startPeriod}s`,
    },
  }),
);

const printMount = memo((planned: PlannedMount) => printMapping({ volumes: [mount(planned)] }, indent).replace(/^.*\n/, ""));

function printMounts(mounts: readonly PlannedMount[]): string {
  let text = "";
  for (const planned of mounts) text += printMount(planned);
  return text === "" ? "" : `${indent}volumes:\n${text}`;
}

function deploy({ memoryMB, gpu }: PlannedContainer): Mapping {
  const memory: Mapping = memoryMB > 0 ? { memory: `${memoryMB}M` } : {};
  if (gpu) memory.devices = [{ driver: "nvidia", count: "all", capabilities: ["gpu"] }];
  const reservations = someEntries(memory);
  return { deploy: reservations && { resources: { reservations: reservations as Yaml } } };
}

/** A mapping of strings, which most of a Compose file consists of. */
function printStrings(name: string, record: Readonly<Record<string, string>>): string {
  let text = "";
  for (const key in record) text += `${indent}  ${scalar(key)}: ${scalar(record[key] as string)}\n`;
  return text === "" ? "" : `${indent}${name}:\n${text}`;
}

/** The container's entry under `services`, keys in the order in which people read them. */
function printContainer(container: PlannedContainer): string {
  const { options } = container;
  let dependencies = "";
  for (const name in container.dependsOn)
    dependencies += `${indent}  ${scalar(name)}:\n${indent}    condition: ${container.dependsOn[name]}\n`;
  return (
    `${indent}<<: *common\n` +
    print({ image: container.image, platform: container.platform, restart: container.role === "job" ? "no" : undefined }) +
    (container.entrypoint ? printEntrypoint(container.entrypoint) : "") +
    (container.command ? printCommand(container.command) : "") +
    printOptions(options) +
    print({
      extra_hosts: some(container.extraHosts),
      networks: container.address ? { default: { ipv4_address: container.address } } : undefined,
    }) +
    printStrings("environment", container.environment) +
    printMounts(container.mounts) +
    printTmpfs(options.tmpfs) +
    print({ ports: some(container.ports.map(port)) }) +
    (dependencies === "" ? "" : `${indent}depends_on:\n${dependencies}`) +
    (container.healthcheck ? printHealthcheck(container.healthcheck) : "") +
    printStrings("labels", container.labels) +
    print(deploy(container))
  );
}

/** Renders the Compose file. */
export function renderCompose(plan: Plan): BundleFile[] {
  let text = `# The stack "${plan.name}". Settings and secrets come from .env, which scripts/start.sh writes.\nname: ${JSON.stringify(plan.slug)}\n\n${common}\nservices:${plan.containers.length === 0 ? " {}" : ""}\n`;
  for (const container of plan.containers) {
    const description = container.options.description;
    text += `${description ? `  # ${description}\n` : ""}  ${container.name}:\n${printContainer(container)}\n`;
  }
  if (plan.volumes.size > 0) {
    text += "volumes:\n";
    for (const [name, { service: owner, backup }] of plan.volumes)
      text += `  ${name}:\n    labels:\n      stackwright.service: ${owner}\n      stackwright.backup: ${backup}\n`;
    text += "\n";
  }
  text += "networks:\n  default:\n    driver: bridge\n";
  if (plan.subnet) text += printMapping({ ipam: { config: [{ subnet: plan.subnet }] } }, "    ");
  return [{ path: "docker-compose.yml", content: text }];
}
