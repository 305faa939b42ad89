/** The gateway with everything that the catalog can give it: all services that do not conflict, all packs. */
import { expect, test } from "bun:test";
import { resolve } from "../../lib/stack/resolve.ts";
import { catalog, run } from "../support.ts";
import { unpack } from "./engine.ts";

const minutes = 60_000;

test(
  "comes up alone, whatever it is told of its companions, and finds every skill",
  async () => {
    const services: string[] = [];
    for (const id of catalog.services.keys())
      if (resolve(catalog, { services: [...services, id] }).conflicts.length === 0) services.push(id);
    const present = new Set(resolve(catalog, { services }).services.map((service) => service.id));
    const packs = [...catalog.packs.values()].filter((pack) => pack.requiredServices.every((id) => present.has(id)));
    await using stack = await unpack({ name: "proof-gateway", services, skills: packs.map((pack) => pack.id) }, { only: ["openclaw"] });
    expect((await stack.script("start", "--env-only")).code).toBe(0);
    await stack.compose("up", "-d", "openclaw");
    for (let tries = 0; tries < 90; tries++) {
      const [gateway] = await stack.containers();
      if (gateway?.health === "healthy" || gateway?.state === "restarting") break;
      await Bun.sleep(1000);
    }
    const { stdout, stderr } = await run(["docker", "compose", "logs", "--tail", "20", "openclaw"], { cwd: stack.folder });
    expect({ gateway: (await stack.containers())[0]?.health, log: stdout + stderr }).toMatchObject({ gateway: "healthy" });
    await stack.compose("exec", "-T", "openclaw", "node", "openclaw.mjs", "config", "validate");
    const { skills } = JSON.parse(await stack.compose("exec", "-T", "openclaw", "node", "openclaw.mjs", "skills", "list", "--json")) as {
      skills: { name: string }[];
    };
    const found = new Set(skills.map((skill) => skill.name));
    for (const pack of packs) for (const name of pack.skills) expect({ name, found: found.has(name) }).toEqual({ name, found: true });
  },
  8 * minutes,
);
