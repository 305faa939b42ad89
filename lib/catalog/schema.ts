/**
 * The shape of everything under `catalog/`. Names follow the Compose Specification
 * (https://github.com/compose-spec/compose-spec/blob/main/spec.md) in camel case.
 *
 * Two notations may stand inside text values:
 * - `${NAME}` is a variable of the stack's `.env`: a secret or a setting of the service, of one it requires,
 *   or of the stack itself (see `lib/stack/variables.ts`).
 * - `{{reference}}` is a value that is decided when a stack is planned (see `lib/stack/references.ts`).
 */
import * as v from "valibot";
import { categories, maturities, tags } from "./words.ts";

const Id = v.pipe(v.string(), v.regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "must be lower-case words joined by hyphens"));
const Variable = v.pipe(v.string(), v.regex(/^[A-Z][A-Z0-9_]*$/, "must be an upper-case variable name"));
const EnvironmentName = v.pipe(v.string(), v.regex(/^[A-Za-z_][A-Za-z0-9_.-]*$/, "must be a variable name"));
const Text = v.pipe(v.string(), v.trim(), v.minLength(1));
const Url = v.pipe(v.string(), v.regex(/^https:\/\/\S+$/, "must be an https address"));
const Port = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65535));
const AbsolutePath = v.pipe(v.string(), v.regex(/^\/\S*$/, "must be an absolute path"));
const Scalar = v.pipe(
  v.union([v.string(), v.number(), v.boolean()]),
  v.transform((value) => String(value)),
);
const Environment = v.record(EnvironmentName, Scalar);
const Seconds = v.pipe(v.number(), v.integer(), v.minValue(1));

/** A variable that `scripts/start.sh` fills with a random value once, on the user's machine. */
export const Secret = v.strictObject({
  description: Text,
  /** `hex` and `alnum` take `length` characters, `base64` takes `length` bytes, `uuid` is a version 4 UUID. */
  format: v.optional(v.picklist(["hex", "alnum", "base64", "uuid"]), "hex"),
  /** Characters (bytes for `base64`); the default is 64 hex digits, which is 32 bytes. */
  length: v.optional(v.pipe(v.number(), v.integer(), v.minValue(16), v.maxValue(256)), 64),
  /** Put before the random value, as in Laravel's `base64:`. */
  prefix: v.optional(v.pipe(v.string(), v.regex(/^[A-Za-z0-9:_-]*$/)), ""),
});

/** A variable that the user may set in `.env`. */
export const Setting = v.strictObject({
  description: Text,
  default: v.optional(Scalar, ""),
});

/** What is known of a container image; `lib/catalog/image-model.ts` holds the rest of the catalog against it. */
export const Image = v.strictObject({
  /** Reference without tag, as in `docker pull`: `redis`, `ghcr.io/owner/name`. */
  name: v.pipe(v.string(), v.regex(/^[a-z0-9]+([._/-]+[a-z0-9]+)*(:\d+)?(\/[a-z0-9._-]+)*$/)),
  /** A version that was seen in a source; never `latest` or another floating word. */
  tag: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/)),
  platforms: v.optional(v.pipe(v.array(v.picklist(["linux/amd64", "linux/arm64"])), v.minLength(1)), ["linux/amd64", "linux/arm64"]),
  /** Programs inside that a health check or command may use: `sh`, `bash`, `curl`, `wget`, `nc`, `node`, `pg_isready`... `[]` for none. */
  tools: v.array(v.pipe(v.string(), v.regex(/^[A-Za-z0-9_./+-]+$/))),
  /** The user that the main process ends up as: `root`, a name, or a uid. */
  user: Scalar,
  /** True when the entrypoint starts as root and steps down to `user` by itself (gosu, su-exec, setpriv, s6). */
  dropsPrivileges: v.optional(v.boolean(), false),
  /**
   * Directories inside that `user` can write: an empty volume mounted there takes over their owner and mode, and one mounted
   * at a path that the image lacks belongs to root. Needed where neither the process nor its entrypoint is root.
   */
  writable: v.optional(v.array(AbsolutePath), []),
});

const Volume = v.union([
  /** A named volume; components of one service share it by the same name. `backup: false` for caches and model files. */
  v.strictObject({
    name: Id,
    target: AbsolutePath,
    readOnly: v.optional(v.boolean(), false),
    backup: v.optional(v.boolean(), true),
  }),
  /** A file of the service's `files`, mounted read-only. */
  v.strictObject({ file: Text, target: AbsolutePath }),
  /** A path of the host, such as the Docker socket. */
  v.strictObject({ bind: AbsolutePath, target: AbsolutePath, readOnly: v.optional(v.boolean(), false) }),
]);

export const ContainerPort = v.strictObject({
  container: Port,
  /** Port on the host; absent: reached from inside the stack only. Defaults should be unique over the catalog. */
  host: v.optional(Port),
  /** `http` is what a proxy can route; the rest is published as it is. */
  scheme: v.optional(v.picklist(["http", "https", "tcp", "udp"]), "http"),
  purpose: Text,
  /**
   * Whether a proxy gives it a public name: `true` for `<id>.<domain>`, a word for `<word>.<domain>`,
   * `false` for ports that stay private (APIs without authentication, dashboards without a login).
   */
  route: v.optional(v.union([v.boolean(), Id]), false),
  /** True for protocols that are of no use unless others reach them (SMTP, WireGuard, TURN): the README tells how to open them. */
  public: v.optional(v.boolean(), false),
});

const timing = {
  interval: v.optional(Seconds),
  timeout: v.optional(Seconds),
  retries: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  /** Seconds that the container may take to start before failures count. */
  startPeriod: v.optional(Seconds),
};

export const Healthcheck = v.union([
  /** An HTTP GET that must answer 2xx, by a program inside the image. */
  v.strictObject({
    http: v.pipe(v.string(), v.regex(/^\/\S*$/, "must be a path")),
    port: Port,
    tool: v.picklist(["curl", "wget", "node", "bun", "python3", "python", "php", "ruby", "perl", "bash"]),
    ...timing,
  }),
  /** A TCP connection that must open. */
  v.strictObject({ tcp: Port, tool: v.picklist(["nc", "bash", "node", "python3", "python", "php", "perl"]), ...timing }),
  /** A program and its arguments, run without a shell. */
  v.strictObject({ command: v.pipe(v.array(Scalar), v.minLength(1)), ...timing }),
  /** A line for the image's `sh`; `$NAME` is a variable inside the container. */
  v.strictObject({ shell: Text, ...timing }),
  /** The image carries a HEALTHCHECK of its own; the text says where that was seen. */
  v.strictObject({ image: Text, ...timing }),
  /** No check is possible; the text says why. */
  v.strictObject({ none: Text }),
]);

export const Container = v.strictObject({
  image: Image,
  /** What it does, for components. */
  description: v.optional(Text),
  /** In `entrypoint` and `command`, `$NAME` is a variable inside the container: secrets come by `environment` only. */
  entrypoint: v.optional(v.array(Scalar)),
  command: v.optional(v.array(Scalar)),
  environment: v.optional(Environment, {}),
  /** Additions for stacks that hold another service: `ollama: { environment: { … } }`. */
  whenPresent: v.optional(v.record(Id, v.strictObject({ environment: Environment })), {}),
  /** Additions for stacks whose proxy gives this service a public name. */
  whenRouted: v.optional(v.strictObject({ environment: Environment })),
  volumes: v.optional(v.array(Volume), []),
  tmpfs: v.optional(v.array(AbsolutePath), []),
  ports: v.optional(v.array(ContainerPort), []),
  healthcheck: Healthcheck,
  /** Containers of the same service to wait for. */
  dependsOn: v.optional(v.record(Id, v.picklist(["started", "healthy", "completed"])), {}),
  /** True for a job that ends by itself (a migration); it is not restarted. */
  oneShot: v.optional(v.boolean(), false),
  /** What it needs to start and do light work; the service's `minMemoryMB` is the sum over its containers. */
  memoryMB: v.pipe(v.number(), v.integer(), v.minValue(8)),
  user: v.optional(Scalar),
  workingDir: v.optional(AbsolutePath),
  hostname: v.optional(Text),
  init: v.optional(v.boolean(), false),
  tty: v.optional(v.boolean(), false),
  readOnly: v.optional(v.boolean(), false),
  /** `[ALL]` only where the image is known to live without: see `lib/catalog/image-model.ts`. */
  capDrop: v.optional(v.array(Text), []),
  capAdd: v.optional(v.array(Text), []),
  /** False, with the reason, where the image needs a set-user-id program. */
  noNewPrivileges: v.optional(v.union([v.literal(true), v.strictObject({ off: Text })]), true),
  privileged: v.optional(v.union([v.literal(false), v.strictObject({ because: Text })]), false),
  devices: v.optional(v.array(Text), []),
  groupAdd: v.optional(v.array(Scalar), []),
  shmSize: v.optional(v.pipe(v.string(), v.regex(/^\d+[kmg]b$/))),
  sysctls: v.optional(v.record(v.string(), Scalar), {}),
  ulimits: v.optional(v.record(v.string(), v.pipe(v.number(), v.integer())), {}),
  extraHosts: v.optional(v.array(Text), []),
  networkMode: v.optional(v.picklist(["host", "none"])),
  pid: v.optional(v.picklist(["host"])),
  stopGracePeriod: v.optional(Seconds),
  stopSignal: v.optional(Text),
  /** GPU use; the fields replace those of the image when a request asks for a GPU. */
  gpu: v.optional(
    v.strictObject({
      required: v.optional(v.boolean(), false),
      name: v.optional(Image.entries.name),
      tag: v.optional(Image.entries.tag),
      environment: v.optional(Environment, {}),
    }),
  ),
});

/** Kinds of server on which other services get a database (or its like) of their own. */
export const engines = ["postgresql", "mysql", "mongodb", "redis", "clickhouse"] as const;

export const Service = v.strictObject({
  id: Id,
  name: Text,
  /** One sentence: what it is. No marketing. */
  description: v.pipe(Text, v.maxLength(160)),
  category: v.picklist(categories),
  tags: v.pipe(v.array(v.picklist(tags)), v.minLength(1)),
  maturity: v.picklist(maturities),
  /** Services that it does not start without. */
  requires: v.optional(v.array(Id), []),
  /** Said on one side, true of both. */
  conflicts: v.optional(v.array(v.strictObject({ with: Id, reason: Text })), []),
  docs: Url,
  /** Where the facts were looked up: official Compose file or documentation first, then maintained templates. */
  sources: v.pipe(v.array(Url), v.minLength(1)),
  /** Facts nobody could confirm, one sentence each; with any, the service is not `stable`. */
  unconfirmed: v.optional(v.array(Text), []),
  /** `own`: it asks for credentials itself (a login page, an enforced API key). `none`: whoever reaches it may use it. */
  login: v.picklist(["own", "none"]),
  /** For the README: how the first login goes. May hold `{{url}}` and name variables of `.env` as `NAME`. */
  firstLogin: v.optional(Text),
  secrets: v.optional(v.record(Variable, Secret), {}),
  settings: v.optional(v.record(Variable, Setting), {}),
  /** Databases and cache indexes of its own on servers that it requires. */
  provisions: v.optional(
    v.array(
      v.strictObject({
        /** The server, one of `requires`. */
        on: Id,
        /** Name of the database and of its owner; default: the service's id with `_` for `-`. */
        database: v.optional(v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]{0,30}$/))),
        /** PostgreSQL extensions to create. */
        extensions: v.optional(v.array(Text), []),
        /** Redis: the database number, unique over the catalog. */
        index: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(255))),
      }),
    ),
    [],
  ),
  /** Set on servers: what kind of server this is for those who name it in `provisions`. */
  engine: v.optional(v.picklist(engines)),
  /** Files for `configs/<id>/<path>`, mounted by containers; no secret may stand in them. */
  files: v.optional(v.record(v.pipe(v.string(), v.regex(/^[\w.-]+(\/[\w.-]+)*$/)), v.string()), {}),
  /** Commands for `backup.sh` and `restore.sh`, run by `sh` inside the main container. */
  backup: v.optional(
    v.union([
      /** Dump to standard output, restore from standard input. */
      v.strictObject({ dump: Text, restore: Text, /** Volumes that the dump stands for. */ covers: v.array(Id) }),
      /** Writes what the server holds in memory alone, and ends when it is written: the volumes are archived after it. */
      v.strictObject({ flush: Text }),
    ]),
  ),
  /** A Prometheus metrics page that needs no authentication. */
  metrics: v.optional(v.strictObject({ container: v.optional(Id), port: Port, path: v.optional(v.string(), "/metrics") })),
  /** What the gateway is given when this service was chosen: addresses and credentials for skills, and parts of its own configuration. */
  agent: v.optional(
    v.strictObject({
      environment: v.optional(v.record(Variable, Scalar), {}),
      /** Merged into the gateway's configuration. */
      config: v.optional(v.record(v.string(), v.unknown()), {}),
    }),
  ),
  /** Keyed by container name; the first is the main one and bears the service's id. */
  containers: v.pipe(
    v.record(Id, Container),
    v.check((containers) => Object.keys(containers).length > 0, "must hold at least one container"),
  ),
});

export const SkillPack = v.strictObject({
  id: Id,
  name: Text,
  description: v.pipe(Text, v.maxLength(200)),
  requiredServices: v.optional(v.array(Id), []),
  optionalServices: v.optional(v.array(Id), []),
  /** Directory names under `catalog/packs/<id>/`, each with a `SKILL.md`. */
  skills: v.pipe(v.array(Id), v.minLength(1)),
});

export const Preset = v.strictObject({
  id: Id,
  name: Text,
  description: v.pipe(Text, v.maxLength(200)),
  services: v.array(Id),
  skills: v.optional(v.array(Id), []),
  /** For the README of its stacks: what to do first, as Markdown list items. May hold `{{url:<id>}}`. */
  firstSteps: v.pipe(v.array(Text), v.minLength(1)),
});

/** Front matter of a `SKILL.md`, after https://agentskills.io/specification. */
export const SkillFrontMatter = v.object({
  name: v.pipe(Id, v.maxLength(64)),
  description: v.pipe(Text, v.maxLength(1024)),
});

export type Maturity = (typeof maturities)[number];
export type Engine = (typeof engines)[number];
export type Secret = v.InferOutput<typeof Secret>;
export type Setting = v.InferOutput<typeof Setting>;
export type Image = v.InferOutput<typeof Image>;
export type ContainerPort = v.InferOutput<typeof ContainerPort>;
export type Healthcheck = v.InferOutput<typeof Healthcheck>;
export type Container = v.InferOutput<typeof Container>;
export type Service = v.InferOutput<typeof Service>;
export type SkillPack = v.InferOutput<typeof SkillPack>;
export type Preset = v.InferOutput<typeof Preset>;

/** A reverse proxy: containers like those of a service, but no service itself. Its configuration is rendered. */
export const ReverseProxy = v.strictObject({
  id: v.picklist(["caddy", "traefik", "nginx"]),
  name: Text,
  docs: Url,
  sources: v.pipe(v.array(Url), v.minLength(1)),
  unconfirmed: v.optional(v.array(Text), []),
  settings: v.optional(v.record(Variable, Setting), {}),
  containers: v.record(Id, Container),
});
export type ReverseProxy = v.InferOutput<typeof ReverseProxy>;
