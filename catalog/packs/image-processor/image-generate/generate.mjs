// Generates pictures with ComfyUI from a prompt, by the plain text-to-image workflow. Run without arguments for the usage.
import { readFileSync, writeFileSync } from "node:fs";
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";

const { values: o } = parseArgs({
  options: {
    prompt: { type: "string" },
    not: { type: "string", default: "text, watermark, low quality" },
    model: { type: "string" },
    width: { type: "string", default: "1024" },
    height: { type: "string", default: "1024" },
    steps: { type: "string", default: "25" },
    cfg: { type: "string", default: "6" },
    seed: { type: "string" },
    count: { type: "string", default: "1" },
    out: { type: "string", default: "picture" },
    workflow: { type: "string" },
    models: { type: "boolean", default: false },
  },
});
const base = (process.env.COMFYUI_URL ?? "http://comfyui:8188").replace(/\/$/, "");
const fail = (message) => {
  console.error(message);
  process.exit(1);
};
async function get(path, options) {
  const response = await fetch(base + path, { signal: AbortSignal.timeout(60_000), ...options }).catch((error) => fail(`ComfyUI does not answer: ${error.cause?.code ?? error.message}`));
  if (response.ok) return response;
  const text = await response.text();
  let message = text.slice(0, 400);
  try {
    const { error, node_errors: nodes } = JSON.parse(text);
    message = [error?.message ?? error, ...Object.values(nodes ?? {}).flatMap((node) => node.errors.map((one) => `${node.class_type}: ${one.message} ${one.details}`))].join("; ");
  } catch {}
  return fail(`ComfyUI answered ${response.status}: ${message}`);
}
const checkpoints = await (await get("/models/checkpoints")).json();
if (o.models) {
  console.log(checkpoints.length ? checkpoints.join("\n") : "no checkpoint: put a .safetensors file into the models volume, folder checkpoints");
  process.exit(0);
}
if (!o.prompt && !o.workflow) fail("usage: node generate.mjs --prompt TEXT [--not TEXT] [--model FILE] [--width N] [--height N] [--steps N] [--cfg N] [--seed N] [--count N] [--out NAME]\n       node generate.mjs --workflow FILE.json [--out NAME]     a workflow exported in API format\n       node generate.mjs --models");
const seed = o.seed ? Number(o.seed) : randomInt(2 ** 47);
let prompt;
if (o.workflow) {
  prompt = JSON.parse(readFileSync(o.workflow, "utf8"));
} else {
  const model = o.model ?? checkpoints[0] ?? fail("ComfyUI has no checkpoint");
  if (!checkpoints.includes(model)) fail(`no checkpoint ${model}; there are: ${checkpoints.join(", ")}`);
  prompt = {
    model: { class_type: "CheckpointLoaderSimple", inputs: { ckpt_name: model } },
    yes: { class_type: "CLIPTextEncode", inputs: { clip: ["model", 1], text: o.prompt } },
    no: { class_type: "CLIPTextEncode", inputs: { clip: ["model", 1], text: o.not } },
    empty: { class_type: "EmptyLatentImage", inputs: { width: Number(o.width), height: Number(o.height), batch_size: Number(o.count) } },
    sample: { class_type: "KSampler", inputs: { model: ["model", 0], positive: ["yes", 0], negative: ["no", 0], latent_image: ["empty", 0], seed, steps: Number(o.steps), cfg: Number(o.cfg), sampler_name: "dpmpp_2m", scheduler: "karras", denoise: 1 } },
    decode: { class_type: "VAEDecode", inputs: { samples: ["sample", 0], vae: ["model", 2] } },
    save: { class_type: "SaveImage", inputs: { images: ["decode", 0], filename_prefix: "agent" } },
  };
}
const { prompt_id: id } = await (await get("/prompt", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ prompt }) })).json();
console.error(`job ${id}, seed ${seed}`);
for (const end = Date.now() + 3_600_000; Date.now() < end; await new Promise((resume) => setTimeout(resume, 2000))) {
  const job = (await (await get(`/history/${id}`)).json())[id];
  if (!job) continue;
  if (job.status?.status_str === "error") fail(job.status.messages.filter(([kind]) => kind === "execution_error").map(([, error]) => `${error.node_type}: ${error.exception_message}`).join("; ") || "the job failed");
  const pictures = Object.values(job.outputs).flatMap((output) => output.images ?? []);
  for (const [at, { filename, subfolder, type }] of pictures.entries()) {
    const file = `${o.out}${pictures.length > 1 ? `-${at + 1}` : ""}.${filename.split(".").pop()}`;
    const query = new URLSearchParams({ filename, subfolder, type });
    writeFileSync(file, Buffer.from(await (await get(`/view?${query}`)).arrayBuffer()));
    console.log(file);
  }
  if (pictures.length === 0) fail("the workflow made no picture");
  process.exit(0);
}
fail(`job ${id} is not done after an hour`);
