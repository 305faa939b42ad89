/** Configuration files of services, and the jobs that make databases. */
import { template } from "../embedded.ts";
import type { Plan } from "../stack/plan.ts";
import type { BundleFile } from "./file.ts";

/** Renders `configs/`: what the catalog states, and for servers with databases of others the script that makes them. */
export function renderConfigs(plan: Plan): BundleFile[] {
  const files: BundleFile[] = plan.configs.map(({ path, content }) => ({ path, content }));
  for (const [server, provisions] of plan.provisions) {
    const engine = provisions[0]?.engine;
    if (engine && engine !== "redis")
      files.push({ path: `configs/${server}/provision.sh`, content: template(`provision/${engine}.sh`), executable: true });
  }
  return files;
}
