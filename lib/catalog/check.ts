/** Checks what a schema cannot: that the entries of a catalog fit one another and their images. */
import { imageProblems } from "./image-model.ts";
import type { Catalog } from "./load.ts";
import { ownReferences, referencesIn, serverFields, stackSettings, variableStem, variablesIn } from "./notation.ts";
import type { Container, Service } from "./schema.ts";

/** Every text of a container in which `${NAME}` and `{{reference}}` may stand, with the services that may be spoken of there. */
function* texts(service: Service, container: Container): Generator<{ text: string; also?: string }> {
  for (const text of Object.values(container.environment)) yield { text };
  for (const text of Object.values(container.whenRouted?.environment ?? {})) yield { text };
  for (const text of Object.values(container.gpu?.environment ?? {})) yield { text };
  if (container.hostname) yield { text: container.hostname };
  for (const [also, addition] of Object.entries(container.whenPresent)) {
    for (const text of Object.values(addition.environment)) yield { text, also };
  }
  if (service.containers[service.id] !== container) return;
  for (const text of Object.values(service.agent?.environment ?? {})) yield { text };
}

/**
 * Variables that must not reach the gateway: it fetches a plugin before it starts when it finds one of the first two, so that
 * it would not come up without the internet (seen with OpenClaw 2026.9.6); it hides the others from its tools.
 */
const unfitForGateway = new Set([
  "SEARXNG_BASE_URL",
  "MATTERMOST_URL",
  "REDIS_URL",
  "DATABASE_URL",
  "MONGODB_URI",
  "AMQP_URL",
  "GITHUB_TOKEN",
  "GH_TOKEN",
  "AWS_ACCESS_KEY_ID",
]);

/** Public names that a service's ports ask for, mapped to nothing yet: `<id>` for `route: true`. */
export function routeNames(service: Service): string[] {
  return Object.values(service.containers).flatMap((container) =>
    container.ports.flatMap((port) => (port.route === false ? [] : [port.route === true ? service.id : port.route])),
  );
}

/** All problems of a catalog, each naming the entry and the field. Empty: the catalog is sound. */
export function checkCatalog(catalog: Catalog): string[] {
  const problems: string[] = [];
  const services = new Map(catalog.services.map((service) => [service.id, service]));
  const packs = new Map(catalog.packs.map((pack) => [pack.id, pack]));
  const owners = new Map<string, string>(Object.keys(stackSettings).map((name) => [name, "the stack"]));
  const containerNames = new Map<string, string>();
  const routes = new Map<string, string>();
  const redisIndexes = new Map<string, string>();

  const claim = (claimed: Map<string, string>, key: string, id: string, what: string) => {
    const other = claimed.get(key);
    if (other !== undefined && other !== id) problems.push(`${id}: ${what} ${key} is taken by ${other}`);
    claimed.set(key, id);
  };
  const known = (id: string, field: string, other: string) => {
    if (!services.has(other)) problems.push(`${id}: ${field}: there is no service "${other}"`);
  };

  const usedAnywhere = new Set<string>();
  for (const service of catalog.services) {
    for (const container of Object.values(service.containers)) {
      for (const { text } of texts(service, container)) for (const variable of variablesIn(text)) usedAnywhere.add(variable);
    }
  }
  const given = new Set(catalog.services.flatMap((service) => Object.keys(service.agent?.environment ?? {})));

  if (!services.has("openclaw")) problems.push("openclaw: the base service is missing");
  for (const service of catalog.services) {
    for (const name of [...Object.keys(service.secrets), ...Object.keys(service.settings)]) claim(owners, name, service.id, "variable");
    for (const name of Object.keys(service.containers)) claim(containerNames, name, service.id, "container");
    for (const name of routeNames(service)) claim(routes, name, service.id, "route");
  }
  for (const service of catalog.services) {
    for (const provision of service.provisions) {
      const server = services.get(provision.on);
      if (server?.engine !== "redis") continue;
      if (provision.index === undefined) problems.push(`${service.id}: provisions on ${provision.on}: state an index of its own`);
      else claim(redisIndexes, String(provision.index), service.id, "Redis index");
    }
    checkService(service);
  }

  function checkService(service: Service): void {
    const { id } = service;
    const say = (text: string) => problems.push(`${id}: ${text}`);
    const names = Object.keys(service.containers);
    if (names[0] !== id) say(`containers: the first must be named "${id}", it is "${names[0]}"`);
    for (const name of names.slice(1)) if (!name.startsWith(`${id}-`)) say(`containers: "${name}" must start with "${id}-"`);
    if (service.maturity === "stable" && service.unconfirmed.length > 0) say("maturity: stable with unconfirmed facts");
    for (const name of Object.keys(service.agent?.environment ?? {}))
      if (unfitForGateway.has(name)) say(`agent: environment: ${name} is unfit for the gateway; choose another name`);
    for (const other of service.requires) known(id, "requires", other);
    for (const other of service.conflicts) known(id, "conflicts", other.with);
    for (const provision of service.provisions) {
      if (!service.requires.includes(provision.on)) say(`provisions: "${provision.on}" is not one of requires`);
      if (services.get(provision.on)?.engine === undefined) say(`provisions: "${provision.on}" is no server (it has no engine)`);
    }
    if (service.engine && !(`${variableStem(id)}_PASSWORD` in service.secrets))
      say(`engine: a server needs the secret ${variableStem(id)}_PASSWORD`);

    const mounted = new Set<string>();
    const volumes = new Set<string>();
    for (const [name, container] of Object.entries(service.containers)) {
      for (const problem of imageProblems(container, service.containers)) say(`${name}: ${problem}`);
      for (const other of Object.keys(container.dependsOn))
        if (!names.includes(other) || other === name) say(`${name}: dependsOn: "${other}" is not another container of the service`);
      for (const [other, condition] of Object.entries(container.dependsOn)) {
        const check = service.containers[other]?.healthcheck;
        if (condition === "healthy" && check && "none" in check) say(`${name}: dependsOn: "${other}" has no health check to wait for`);
        if ((condition === "completed") !== (service.containers[other]?.oneShot ?? false))
          say(`${name}: dependsOn: "completed" is for containers with oneShot, and they for it: "${other}"`);
      }
      for (const other of Object.keys(container.whenPresent)) known(id, `${name}: whenPresent`, other);
      for (const port of container.ports) {
        if (port.route === false) continue;
        if (port.scheme !== "http" && port.scheme !== "https") say(`${name}: port ${port.container}: only http can be routed`);
        if (service.login === "none") say(`${name}: port ${port.container}: a service without a login of its own is never routed`);
        if (service.engine) say(`${name}: port ${port.container}: a database is never routed`);
      }
      if (container.networkMode === "host" && container.ports.length > 0) say(`${name}: ports do nothing with networkMode host`);
      for (const volume of container.volumes) {
        if ("file" in volume) {
          mounted.add(volume.file);
          const isFile = volume.file in service.files;
          const isDirectory = Object.keys(service.files).some((file) => file.startsWith(`${volume.file}/`));
          if (!isFile && !isDirectory) say(`${name}: volumes: there is no file "${volume.file}" in files`);
        }
        if ("name" in volume) volumes.add(volume.name);
      }
      for (const { text, also } of texts(service, container)) {
        const within = new Set([id, ...service.requires, ...(also ? [also] : [])]);
        for (const variable of variablesIn(text)) {
          const owner = owners.get(variable);
          if (owner === undefined) say(`${name}: \${${variable}} is no secret or setting`);
          else if (owner !== "the stack" && !within.has(owner))
            say(`${name}: \${${variable}} belongs to ${owner}, which is neither required nor named in whenPresent`);
        }
        for (const reference of referencesIn(text)) checkReference(service, name, reference, within);
        if (!text.includes("${")) continue;
        const plain = text.replace(/\$\{[A-Z][A-Z0-9_]*\}/g, "");
        if (/\$\{/.test(plain)) say(`${name}: "${text}" holds a \${…} that is not a plain variable`);
      }
      for (const list of [container.entrypoint ?? [], container.command ?? []]) {
        for (const word of list)
          for (const reference of referencesIn(word)) checkReference(service, name, reference, new Set([id, ...service.requires]));
      }
    }
    for (const variable of [...Object.keys(service.secrets), ...Object.keys(service.settings)]) {
      const shared = service.engine && variable === `${variableStem(id)}_PASSWORD`;
      if (!usedAnywhere.has(variable) && !shared) say(`variable ${variable} is used nowhere`);
    }
    for (const [path, content] of Object.entries(service.files)) {
      const covered = mounted.has(path) || Array.from(mounted).some((directory) => path.startsWith(`${directory}/`));
      if (!covered) say(`files: "${path}" is mounted by no container`);
      for (const reference of referencesIn(content)) {
        if (reference.endsWith(".password") || reference.endsWith(".url"))
          say(`files: "${path}": {{${reference}}} would put a secret into a file`);
        else checkReference(service, path, reference, new Set([id, ...service.requires]));
      }
    }
    const covered = service.backup && "covers" in service.backup ? service.backup.covers : [];
    for (const volume of covered) if (!volumes.has(volume)) say(`backup: covers: there is no volume "${volume}"`);
    checkProse(service, id, "firstLogin", service.firstLogin ?? "", new Set([id]));
  }

  /** Prose for people may speak of addresses alone. */
  function checkProse(service: Service, entry: string, place: string, text: string, within: ReadonlySet<string>): void {
    for (const reference of referencesIn(text)) {
      const problem = reference.includes(".") ? "is no address" : referenceProblem(service, reference, within);
      if (problem) problems.push(`${entry}: ${place}: {{${reference}}} ${problem}`);
    }
  }

  function checkReference(service: Service, place: string, reference: string, within: ReadonlySet<string>): void {
    const problem = referenceProblem(service, reference, within);
    if (problem) problems.push(`${service.id}: ${place}: {{${reference}}} ${problem}`);
  }

  function referenceProblem(service: Service, reference: string, within: ReadonlySet<string>): string | undefined {
    if ((ownReferences as readonly string[]).includes(reference)) return undefined;
    const [kind = "", name] = reference.split(":");
    if (name !== undefined) {
      if (!["url", "host", "hostname"].includes(kind)) return "is no reference; with a colon: url, host or hostname";
      const owner = services.has(name) ? name : routes.get(name);
      if (owner === undefined) return `speaks of "${name}", which is neither a service nor a route`;
      return within.has(owner) || owner === "openclaw" ? undefined : `speaks of ${owner}, which need not be in the stack`;
    }
    const [server = "", field = ""] = reference.split(".");
    if (!(serverFields as readonly string[]).includes(field)) {
      return `is no reference; known: ${ownReferences.join(", ")}, url:<name>, <server>.${serverFields.join("|")}`;
    }
    const own = server === service.id && service.engine !== undefined;
    return own || service.provisions.some((provision) => provision.on === server) ? undefined : `needs "${server}" in provisions`;
  }

  for (const service of catalog.services) {
    const path: string[] = [];
    const visit = (id: string): boolean => {
      if (path.includes(id)) return id === service.id;
      path.push(id);
      const cyclic = (services.get(id)?.requires ?? []).some(visit);
      path.pop();
      return cyclic;
    };
    if (visit(service.id)) problems.push(`${service.id}: requires itself through its dependencies`);
  }

  const skillNames = new Map<string, string>();
  for (const pack of catalog.packs) {
    for (const other of [...pack.requiredServices, ...pack.optionalServices]) known(`pack ${pack.id}`, "services", other);
    for (const skill of pack.skills) claim(skillNames, skill, `pack ${pack.id}`, "skill");
    const offered = new Set<string>(
      [...pack.requiredServices, ...pack.optionalServices].flatMap((id) => Object.keys(services.get(id)?.agent?.environment ?? {})),
    );
    for (const skill of catalog.skills[pack.id] ?? []) {
      for (const [file, text] of Object.entries(skill.files)) {
        for (const name of new Set(Array.from(text.matchAll(/\$\{?([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b/g), (match) => match[1] as string))) {
          if (given.has(name) && !offered.has(name))
            problems.push(
              `pack ${pack.id}: ${skill.name}/${file}: $${name} comes from a service that the pack neither requires nor lists as optional`,
            );
          if (!given.has(name) && !new RegExp(`(^|[\\s;(])(export |read (-r )?)?${name}=|for ${name} in`, "m").test(text))
            problems.push(
              `pack ${pack.id}: ${skill.name}/${file}: $${name} is given by no service's agent.environment and not set in the text`,
            );
        }
      }
    }
  }
  for (const preset of catalog.presets) {
    for (const id of preset.services) known(`preset ${preset.id}`, "services", id);
    for (const id of preset.skills) if (!packs.has(id)) problems.push(`preset ${preset.id}: skills: there is no pack "${id}"`);
    const within = new Set(preset.services);
    for (const id of within) for (const required of services.get(id)?.requires ?? []) within.add(required);
    const base = services.get("openclaw");
    if (base) for (const step of preset.firstSteps) checkProse(base, `preset ${preset.id}`, "firstSteps", step, within);
  }
  return problems;
}
