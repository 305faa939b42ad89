/**
 * Reads `catalog/` from disk, checks every file against its schema and the whole against `check.ts`,
 * and returns it as one value. Runs at bundle time (see `embedded.ts`), in tests and in `report.ts`.
 */
import { Glob, YAML } from "bun";
import * as v from "valibot";
import { parseDocument } from "yaml";
import { Preset, ReverseProxy, Service, SkillFrontMatter, SkillPack } from "./schema.ts";

/** One skill: its directory name, front matter, and files by path relative to that directory. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly files: Readonly<Record<string, string>>;
}

/** Everything under `catalog/`, in a stable order: categories and ids sorted. */
export interface Catalog {
  readonly services: readonly Service[];
  readonly packs: readonly SkillPack[];
  readonly presets: readonly Preset[];
  readonly proxies: readonly ReverseProxy[];
  /** Skills by pack id. */
  readonly skills: Readonly<Record<string, readonly Skill[]>>;
}

/** All that is wrong with a catalog, each line starting with the file's path. */
export class CatalogError extends Error {
  override name = "CatalogError";
  constructor(readonly problems: readonly string[]) {
    super(`the catalog has ${problems.length} problem(s):\n${problems.map((problem) => `- ${problem}`).join("\n")}`);
  }
}

type Problems = string[];

/** Parses YAML fast; when that fails, once more with a parser that tells line and column. */
function parseYaml(path: string, text: string, problems: Problems): unknown {
  try {
    return YAML.parse(text);
  } catch {
    for (const error of parseDocument(text).errors) problems.push(`${path}: ${error.message.split("\n")[0]}`);
    return undefined;
  }
}

function check<S extends v.GenericSchema>(schema: S, path: string, value: unknown, problems: Problems): v.InferOutput<S> | undefined {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  for (const issue of result.issues) {
    const at = v.getDotPath(issue) ?? "(whole file)";
    const within = issue.issues?.map((sub) => `${v.getDotPath(sub) ?? ""} ${sub.message}`).join("; ");
    problems.push(`${path}: ${at}: ${issue.message}${within ? ` (${within})` : ""}`);
  }
  return undefined;
}

async function scan(root: string, pattern: string): Promise<string[]> {
  const paths = await Array.fromAsync(new Glob(pattern).scan({ cwd: root, onlyFiles: true }));
  return paths.sort();
}

/** Splits a `SKILL.md` into its front matter (text between two lines of `---`) and the rest. */
export function frontMatter(text: string): string | undefined {
  return /^---\n([\s\S]*?)\n---\n/.exec(text)?.[1];
}

async function loadSkill(root: string, dir: string, problems: Problems): Promise<Skill | undefined> {
  const files: Record<string, string> = {};
  for (const path of await scan(`${root}/${dir}`, "**/*")) files[path] = await Bun.file(`${root}/${dir}/${path}`).text();
  const text = files["SKILL.md"];
  if (text === undefined) {
    problems.push(`${dir}: SKILL.md is missing`);
    return undefined;
  }
  const yaml = frontMatter(text);
  if (yaml === undefined) {
    problems.push(`${dir}/SKILL.md: does not begin with front matter between two lines of ---`);
    return undefined;
  }
  const matter = check(SkillFrontMatter, `${dir}/SKILL.md`, parseYaml(`${dir}/SKILL.md`, yaml, problems), problems);
  const name = dir.slice(dir.lastIndexOf("/") + 1);
  if (matter && matter.name !== name) problems.push(`${dir}/SKILL.md: name: is "${matter.name}" in a directory named "${name}"`);
  return matter && { name, description: matter.description, files };
}

/**
 * Loads the catalog below `root`.
 * @throws {CatalogError} naming every file that does not fit its schema or its place.
 */
export async function loadCatalog(root: string): Promise<Catalog> {
  const problems: Problems = [];
  const read = async (path: string) => parseYaml(path, await Bun.file(`${root}/${path}`).text(), problems);

  const services: Service[] = [];
  for (const path of await scan(root, "services/*/*.yaml")) {
    const service = check(Service, path, await read(path), problems);
    if (!service) continue;
    const expected = `services/${service.category}/${service.id}.yaml`;
    if (path !== expected) problems.push(`${path}: should lie at ${expected}`);
    services.push(service);
  }

  const packs: SkillPack[] = [];
  const skills: Record<string, Skill[]> = {};
  for (const path of await scan(root, "packs/*/pack.yaml")) {
    const pack = check(SkillPack, path, await read(path), problems);
    if (!pack) continue;
    if (path !== `packs/${pack.id}/pack.yaml`) problems.push(`${path}: should lie at packs/${pack.id}/pack.yaml`);
    packs.push(pack);
    const found: Skill[] = [];
    for (const name of pack.skills) {
      const skill = await loadSkill(root, `packs/${pack.id}/${name}`, problems);
      if (skill) found.push(skill);
    }
    skills[pack.id] = found;
    const held = new Set((await scan(root, `packs/${pack.id}/*/SKILL.md`)).map((file) => file.split("/")[2] ?? ""));
    for (const name of held) if (!pack.skills.includes(name)) problems.push(`${path}: skills: "${name}" has a directory and is not listed`);
  }

  const presets: Preset[] = [];
  for (const path of await scan(root, "presets/*.yaml")) {
    const preset = check(Preset, path, await read(path), problems);
    if (!preset) continue;
    if (path !== `presets/${preset.id}.yaml`) problems.push(`${path}: should lie at presets/${preset.id}.yaml`);
    presets.push(preset);
  }

  const proxies: ReverseProxy[] = [];
  for (const path of await scan(root, "proxies/*.yaml")) {
    const proxy = check(ReverseProxy, path, await read(path), problems);
    if (proxy) proxies.push(proxy);
  }

  if (problems.length > 0) throw new CatalogError(problems);
  return { services, packs, presets, proxies, skills };
}
