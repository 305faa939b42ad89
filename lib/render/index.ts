/** From a plan to the files of a bundle. Renderers know nothing of one another. */
import type { CatalogIndex } from "../catalog/index.ts";
import type { Plan } from "../stack/plan.ts";
import { renderCaddy } from "./caddy.ts";
import { renderCompose } from "./compose.ts";
import { renderConfigs } from "./configs.ts";
import { renderEnvironment } from "./env.ts";
import type { BundleFile } from "./file.ts";
import { renderGateway } from "./gateway.ts";
import { renderNative } from "./native.ts";
import { renderNginx } from "./nginx.ts";
import { renderReadme } from "./readme.ts";
import { renderScripts } from "./scripts.ts";
import { renderSkills } from "./skills.ts";
import { renderTraefik } from "./traefik.ts";

export type { BundleFile } from "./file.ts";

const renderers: readonly ((plan: Plan, index: CatalogIndex) => readonly BundleFile[])[] = [
  renderCompose,
  renderEnvironment,
  renderCaddy,
  renderTraefik,
  renderNginx,
  renderGateway,
  renderConfigs,
  renderScripts,
  (plan, index) => renderSkills(plan, index.skills),
  renderNative,
  renderReadme,
];

/** Renders all files of a stack. No path occurs twice. */
export function renderBundle(plan: Plan, index: CatalogIndex): BundleFile[] {
  return renderers.flatMap((render) => render(plan, index));
}
