/**
 * Holds a container against what is known of its image: a health check, a command or a hardening option that
 * the image cannot bear is a problem, found without an engine.
 */
import type { Container, Healthcheck } from "./schema.ts";

const shells = new Set(["sh", "/bin/sh", "bash", "/bin/bash", "ash", "dash"]);
/** Tags that name no version. */
export const floating =
  /^(latest|stable|main|master|edge|nightly|dev|develop|canary|release|beta|alpha|rolling|next|lts|community|ce)([-_.]\D*)?$|^(latest|nightly)/i;

/** The programs that a health check starts inside the container. */
export function programs(check: Healthcheck): string[] {
  if ("http" in check || "tcp" in check) return [check.tool];
  if ("command" in check) return [check.command[0] ?? ""];
  if ("shell" in check) return ["sh", ...shellPrograms(check.shell)];
  return [];
}

/** Words that a command may follow. */
const prefixes = new Set(["exec", "if", "then", "else", "while", "until", "do", "!", "env", "eval"]);
/** Words that the shell carries out by itself. */
const builtins = new Set(
  "test [ true false echo exit printf cd set export done for read : umask trap wait unset shift . fi return local case esac".split(" "),
);

/** Programs that a shell line starts: enough to catch a `curl` in an image without one. */
export function shellPrograms(line: string): string[] {
  const bare = line
    .replace(/'[^']*'|"(?:\\.|[^"\\])*"/g, " _ ")
    .replace(/\$\([^)]*\)/g, " _ ")
    .replace(/\d*[<>]+&?\s*\S*/g, " ");
  const programs: string[] = [];
  for (const part of bare.split(/\|\||&&|[|;&\n(){}]/)) {
    const word = part
      .trim()
      .split(/\s+/)
      .find((token) => !/^\w+=/.test(token) && !prefixes.has(token));
    if (word && word !== "_" && !builtins.has(word) && !/^[-$\d]/.test(word)) programs.push(word);
  }
  return programs;
}

/** POSIX utilities that every image with a shell has, from coreutils or busybox. */
const posix = new Set([
  "grep",
  "cat",
  "sleep",
  "mkdir",
  "chown",
  "chmod",
  "cp",
  "mv",
  "rm",
  "ls",
  "awk",
  "sed",
  "tr",
  "cut",
  "head",
  "tail",
  "wc",
  "id",
  "date",
  "env",
  "touch",
  "ln",
  "find",
  "sort",
  "xargs",
  "kill",
  "tee",
  "base64",
  "hostname",
  "uname",
  "basename",
  "dirname",
  "expr",
  "su",
  "stat",
]);

function has(container: Container, program: string): boolean {
  const { tools } = container.image;
  const name = program.slice(program.lastIndexOf("/") + 1);
  if (tools.includes(program) || tools.includes(name)) return true;
  return posix.has(name) && tools.some((tool) => shells.has(tool));
}

/** Whether the process is root, or its image's entrypoint is before it steps down: then it can make any volume its own. */
const startsAsRoot = ({ user, image }: Container) =>
  /^(root|0)(:|$)/.test(user ?? image.user) || (user === undefined && image.dropsPrivileges);

/** Volumes of a service that a container finds prepared: a container that starts as root mounts them, and its work is waited for. */
function prepared(container: Container, others: Readonly<Record<string, Container>>): Set<string> {
  const volumes = new Set<string>();
  // What a container waits for has waited in its turn.
  const chain = new Set([container]);
  for (const link of chain) {
    for (const [name, condition] of Object.entries(link.dependsOn)) {
      const other = others[name];
      if (other === undefined) continue;
      chain.add(other);
      if (condition === "started" || !startsAsRoot(other)) continue;
      for (const volume of other.volumes) if ("name" in volume) volumes.add(volume.name);
    }
  }
  return volumes;
}

/**
 * Problems of one container against its image, each a sentence without the container's name.
 *
 * @param others The containers of its service, by name.
 */
export function imageProblems(container: Container, others: Readonly<Record<string, Container>> = {}): string[] {
  const problems: string[] = [];
  const { image, healthcheck } = container;

  for (const program of new Set(programs(healthcheck))) {
    if (program && !has(container, program))
      problems.push(`the health check starts ${program}, which ${image.name} is not known to have (image.tools)`);
  }
  for (const list of [container.entrypoint, container.command]) {
    const first = list?.[0];
    if (first && shells.has(first) && !has(container, first))
      problems.push(`a command starts ${first}, which ${image.name} is not known to have (image.tools)`);
  }
  if (floating.test(image.tag)) problems.push(`the tag ${image.tag} floats; pin a version`);

  const runsAs = container.user ?? image.user;
  const root = /^(root|0)(:|$)/.test(runsAs);
  const stepsDown = image.dropsPrivileges && container.user === undefined;
  if (container.capDrop.includes("ALL")) {
    const kept = new Set(container.capAdd);
    if (stepsDown && !(kept.has("SETUID") && kept.has("SETGID"))) {
      problems.push("capDrop ALL stops an entrypoint that starts as root and steps down (it needs SETUID and SETGID)");
    } else if (root && kept.size === 0) {
      problems.push("capDrop ALL on an image that runs as root, with no capability kept");
    }
  }
  if (container.readOnly && container.tmpfs.length === 0 && container.volumes.length === 0) {
    problems.push("readOnly without a writable mount");
  }
  if (container.readOnly && stepsDown) problems.push("readOnly on an image whose entrypoint prepares directories as root");
  const ready = prepared(container, others);
  const targets = new Set<string>();
  for (const volume of container.volumes) {
    if (targets.has(volume.target)) problems.push(`two volumes are mounted at ${volume.target}`);
    targets.add(volume.target);
    if ("name" in volume && !volume.readOnly && !startsAsRoot(container) && !ready.has(volume.name)) {
      if (!image.writable.includes(volume.target))
        problems.push(`a volume at ${volume.target}, where ${runsAs} is not known to be able to write (image.writable)`);
    }
    if (/^\/(bin|sbin|usr|lib|proc|sys|dev|etc)?\/?$/.test(volume.target))
      problems.push(`a mount at ${volume.target} hides the image's own files`);
  }
  return problems;
}
