/** `README.md` of a stack, written for somebody who sees it for the first time. */
import { baseServiceId } from "../catalog/index.ts";
import { referencePattern } from "../catalog/notation.ts";
import type { Preset, Service } from "../catalog/schema.ts";
import { memo } from "../memo.ts";
import { bindVariable } from "../stack/container.ts";
import type { Plan } from "../stack/plan.ts";
import type { Address } from "../stack/routes.ts";
import { cutSlots, fillSlots, slot, type Template } from "../stack/slots.ts";
import type { BundleFile } from "./file.ts";

function place(address: Address): string {
  const shown = address.address.startsWith("http") && address.kind !== "internal" ? `<${address.address}>` : `\`${address.address}\``;
  return address.kind === "internal" ? `${shown} (inside the stack)` : shown;
}

/** Prose with `{{url}}`, `{{host:name}}` and the like, cut where an address of the stack belongs. */
function cutProse(text: string, service: string): Template {
  return cutSlots(text.replace(referencePattern, (_, reference: string) => slot(reference, service)));
}

const rowOf = memo((service: Service) => `| [${service.name}](${service.docs}) | ${service.description} | `);
const loginOf = memo((service: Service) => cutProse(`- **${service.name}**: ${service.firstLogin ?? ""}\n`, service.id));
const stepsOf = memo((preset: Preset) => preset.firstSteps.map((step) => cutProse(`- ${step}\n`, baseServiceId)));

function serviceRows(plan: Plan): string {
  let rows = "";
  for (const service of plan.resolution.services) {
    let shown = "";
    for (const address of plan.addresses.of(service.id)) {
      if (address.kind === "internal" && address.container !== service.id) continue;
      shown += `${shown && "<br>"}${place(address)} ${address.purpose}`;
    }
    rows += `${rowOf(service)}${shown || "-"} |\n`;
  }
  return rows;
}

function proxySection(plan: Plan): string {
  const { proxy } = plan;
  if (proxy === undefined) {
    return `Nothing of this stack is reachable from other machines: every port is published on 127.0.0.1. ${tunnel(18789)}`;
  }
  const names = plan.addresses.routes.map((route) => route.host).join(", ");
  if (proxy.reach === "local")
    return `The proxy (${proxy.id}) serves plain HTTP on this machine alone: ${names}. Browsers find names below \`localhost\` by themselves;\nif port 80 is taken, set \`HTTP_PORT\` in \`.env\`.\n`;
  const certificates = {
    caddy: "Caddy gets certificates by itself.",
    traefik: "Traefik gets certificates by itself.",
    nginx: "nginx starts with a self-signed certificate, and certbot replaces it as soon as the names point at this host.",
  }[proxy.id];
  return proxy.reach === "public"
    ? `The proxy (${proxy.id}) takes connections on ports 80 and 443 and redirects to HTTPS. ${certificates}\nBefore the first start, point these names at this host in DNS: ${names}.\n`
    : `The proxy (${proxy.id}) takes connections on ports 80 and 443. \`${proxy.domain}\` is a private name, so its certificates are not signed by a\npublic authority: browsers will ask. Make these names known in your network: ${names}.\n`;
}

/** How a port of loopback is reached from elsewhere. */
function tunnel(port: number): string {
  return `From elsewhere, use an SSH tunnel,\nfor example \`ssh -L ${port}:localhost:${port} you@this-host\`.\n`;
}

/** Behind a proxy: what it does not route. */
function loopbackSection({ proxy, addresses }: Plan): string {
  const port = addresses.all.find((address) => address.kind === "published" && !address.port.public)?.hostPort;
  if (proxy === undefined || proxy.reach === "local" || port === undefined) return "";
  return `\nWhat stands at \`localhost\` is published on 127.0.0.1 alone. ${tunnel(port)}`;
}

function openPorts(plan: Plan): string {
  const rows = plan.resolution.services.filter((service) =>
    plan.addresses.of(service.id).some((address) => address.port.public && address.hostPort !== undefined),
  );
  if (rows.length === 0) return "";
  const lines = rows.map(
    (service) => `- ${service.name}: set \`${bindVariable(service.id)}=0.0.0.0\` in \`.env\` and run \`scripts/start.sh\`.`,
  );
  return `\nThese services are of use only when other machines reach their ports. They are closed until you open them:\n\n${lines.join("\n")}\n`;
}

function firstSteps({ addresses, resolution }: Plan): string {
  const parts: string[] = [];
  if (resolution.preset) for (const step of stepsOf(resolution.preset)) fillSlots(step, addresses, parts);
  parts.push("\n### First login\n\nPasswords that the stack made are in `.env`.\n\n");
  for (const service of resolution.services) if (service.firstLogin) fillSlots(loginOf(service), addresses, parts);
  return parts.join("");
}

function warnings(plan: Plan): string {
  const list = plan.resolution.warnings;
  return list.length === 0 ? "" : `\n## Notes on this stack\n\n${list.map((warning) => `- ${warning.message}`).join("\n")}\n`;
}

function skills(plan: Plan): string {
  if (plan.resolution.packs.length === 0) return "";
  const rows = plan.resolution.packs.map(
    (pack) => `- **${pack.name}** (\`skills/${pack.id}/\`): ${pack.skills.join(", ")}. ${pack.description}`,
  );
  return `\n## Skills\n\nThe gateway loads these skills from \`skills/\`. Edit them there; it notices changes.\n\n${rows.join("\n")}\n`;
}

function native(plan: Plan): string {
  if (plan.native === undefined) return "";
  const names = plan.native.services.map((service) => service.name);
  const rest = plan.containers.length > 0 ? ", and then starts the containers" : "";
  const data =
    plan.native.system === "linux"
      ? "they are systemd services (`systemctl status\nopenclaw`, `journalctl -u openclaw`) with their data below `/var/lib`"
      : "their data is where\ntheir packages keep it";
  return `
## On the host

${joined(names)} ${names.length === 1 ? "runs" : "run"} on this machine itself. ${startCommand(plan, true)} installs what is missing, one installer of \`native/\`
after another${rest}. Running it again changes nothing that is already right.

The scripts of \`scripts/\` see to containers only. You manage these by the means of this machine: ${data}.
Back that up, too.
`;
}

/** How the stack is started, as a command in prose or by itself. */
function startCommand(plan: Plan, prose: boolean): string {
  if (plan.native === undefined) return prose ? "`scripts/start.sh`" : "scripts/start.sh";
  if (plan.native.system === "windows") return prose ? "`./install.ps1` in PowerShell as administrator" : "./install.ps1";
  return prose ? "`sudo ./install.sh`" : "sudo ./install.sh";
}

function joined(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function introduction(plan: Plan): string {
  const companions = plan.resolution.services.length - 1;
  const gateway = `An OpenClaw gateway${companions === 0 ? "" : ` with ${companions} companion service${companions === 1 ? "" : "s"}`}`;
  const memory = `about\n${plan.resolution.estimatedMemoryMB} MB of memory`;
  const first = "writes `.env`, fills in every password with a random value";
  if (plan.containers.length === 0)
    return `${gateway}, on this machine itself, without containers. It needs ${memory}.

\`\`\`sh
${startCommand(plan, false)}
\`\`\`

The first run ${first} and installs what is missing. Keep \`.env\`
safe: it holds all secrets.
`;
  return `${gateway}, in Docker Compose. It needs Docker with Compose v2 and ${memory}.

\`\`\`sh
${startCommand(plan, false)}
\`\`\`

The first start ${first}, pulls the images, waits until all is healthy and prints
the addresses. Keep \`.env\` safe: it holds all secrets, and \`scripts/backup.sh\` puts a copy into every backup.
`;
}

function running(plan: Plan): string {
  if (plan.containers.length === 0) return "";
  return `
## Running it

| Command | What it does |
|---|---|
| \`scripts/start.sh\` | starts the stack, waits until it is healthy, prints addresses |
| \`scripts/stop.sh\` | stops it; data stays |
| \`scripts/status.sh\` | shows every container; fails when one is sick |
| \`scripts/update.sh\` | pulls images, recreates what changed |
| \`scripts/backup.sh [FOLDER]\` | dumps databases and archives volumes into \`backups/\` |
| \`scripts/restore.sh FOLDER\` | brings such a backup back, replacing what is there |

Logs: \`docker compose logs -f <container>\`. Versions are pinned in \`docker-compose.yml\`; to move to a newer one, change the tag there
and run \`scripts/update.sh\`.
`;
}

/** Renders the stack's README. */
export function renderReadme(plan: Plan): BundleFile[] {
  const start = startCommand(plan, true);
  const content = `# ${plan.name}

${introduction(plan)}
## What is inside

| Service | What it is | Where |
|---|---|---|
${serviceRows(plan)}
${proxySection(plan)}${loopbackSection(plan)}${openPorts(plan)}
## First steps

- Give the gateway a model: put a key such as \`ANTHROPIC_API_KEY\` or \`OPENAI_API_KEY\` into \`.env\` and run ${start} again${plan.resolution.chosen.has("ollama") ? ", or use a model of Ollama" : ""}.
${firstSteps(plan)}${skills(plan)}${native(plan)}${running(plan)}
## Settings

All settings are in \`.env\`, explained in \`.env.example\`; files that services read are under \`configs/\`. After a change run
${start} again. The gateway's own configuration is \`configs/${baseServiceId}/config.yaml\`.

## Adding a service

Ask Stackwright for the stack again with the same name and the further service, unpack the archive over this folder, and run
${start}: it adds the variables that are new to \`.env\` and leaves the rest as it is. Databases that the new service needs
are made on the way.
${warnings(plan)}`;
  return [{ path: "README.md", content }];
}
