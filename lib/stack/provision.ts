/** Databases that services have on shared servers, and the jobs that make them. */
import type { CatalogIndex } from "../catalog/index.ts";
import { variableStem } from "../catalog/notation.ts";
import type { Container, Engine, Service } from "../catalog/schema.ts";
import { memo } from "../memo.ts";
import type { PlannedContainer } from "./container.ts";
import type { Variables } from "./variables.ts";

/** A database (or its like) that one service has on another. */
export interface Provision {
  readonly server: string;
  readonly engine: Engine;
  /** Name of the database and of the role that owns it. */
  readonly database: string;
  /** Variable of the `.env` that holds the role's password. */
  readonly password: string;
  readonly extensions: readonly string[];
  readonly index: number;
}

/** Name of the database of a service on a server, when its catalog entry names none. */
export function databaseName(service: Service, wanted?: string): string {
  return wanted ?? service.id.replaceAll("-", "_");
}

/** Plans the provision of `consumer` on `server`. */
export function planProvision(
  index: CatalogIndex,
  variables: Variables,
  consumer: Service,
  on: string,
  entry: Partial<Service["provisions"][number]>,
): Provision | undefined {
  const server = index.services.get(on);
  if (server?.engine === undefined) return undefined;
  const database = databaseName(consumer, entry.database);
  const shared = server.engine === "redis";
  const password = shared
    ? `${variableStem(on)}_PASSWORD`
    : variables.addPassword(
        consumer.name,
        `${variableStem(consumer.id)}_${variableStem(on)}_PASSWORD`,
        `Password of the role ${database} on ${server.name}`,
      );
  return { server: on, engine: server.engine, database, password, extensions: entry.extensions ?? [], index: entry.index ?? 0 };
}

/** What a one-shot container of our own needs of the options of a container. */
const jobOptions: Omit<Container, "image"> = {
  environment: {},
  whenPresent: {},
  volumes: [],
  tmpfs: [],
  ports: [],
  healthcheck: { none: "a job" },
  dependsOn: {},
  oneShot: true,
  memoryMB: 0,
  init: false,
  tty: false,
  readOnly: false,
  capDrop: [],
  capAdd: [],
  noNewPrivileges: true,
  privileged: false,
  devices: [],
  groupAdd: [],
  sysctls: {},
  ulimits: {},
  extraHosts: [],
};

const jobOptionsOf = memo((server: Container): Container => ({ ...jobOptions, image: server.image }));

/** Plans the job that makes the databases of a server, and does nothing where they are. */
export function planProvisionJob(
  server: Service,
  list: readonly Provision[],
  variables: Variables,
  platform: string | undefined,
): PlannedContainer {
  const main = server.containers[server.id] as Container;
  const environment: Record<string, string> = {
    SERVER: server.id,
    ROOT_PASSWORD: variables.reference(`${variableStem(server.id)}_PASSWORD`),
    DATABASES: list.map(({ database, password, extensions }) => [database, password, extensions.join(",")].join(":")).join(" "),
  };
  for (const { password } of list) environment[password] = variables.reference(password);
  return {
    definition: {
      name: `${server.id}-provision`,
      image: `${main.image.name}:${main.image.tag}`,
      platform,
      entrypoint,
      command: undefined,
      environment,
      mounts: [{ type: "bind", source: `./configs/${server.id}/provision.sh`, target: "/provision.sh", readOnly: true }],
      healthcheck: undefined,
      dependsOn: { [server.id]: "service_healthy" },
      labels: { "stackwright.service": server.id },
      memoryMB: 0,
      gpu: false,
      extraHosts: [],
      options: jobOptionsOf(main),
      settings: [],
    },
    ports: [],
  };
}

const entrypoint = ["sh", "/provision.sh"];
