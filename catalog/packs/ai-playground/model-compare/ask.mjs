// Sends the same prompts to several models and records answers, times and tokens. Run without arguments for the usage.
// A model is the name of an Ollama model, or litellm/NAME for one that LiteLLM offers.
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

const usage = `usage: node ask.mjs --models a,b,litellm/c --prompts FILE [--system FILE] [--out FILE.jsonl] [--temperature N] [--context TOKENS] [--max TOKENS]
FILE holds one prompt (.txt, .md) or many (.jsonl, lines like {"id":"1","prompt":"...","expect":"regular expression"}).`;
const fail = (message, code = 1) => {
  console.error(message);
  process.exit(code);
};
const { values: o } = parseArgs({
  options: {
    models: { type: "string" },
    prompts: { type: "string" },
    system: { type: "string" },
    out: { type: "string", default: "answers.jsonl" },
    temperature: { type: "string", default: "0" },
    context: { type: "string", default: "8192" },
    max: { type: "string", default: "2048" },
  },
});
if (!o.models || !o.prompts) fail(usage, 2);
const raw = readFileSync(o.prompts, "utf8");
const cases = o.prompts.endsWith(".jsonl") ? raw.split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line)) : [{ id: "1", prompt: raw.trim() }];
const models = o.models.split(",").map((name) => name.trim()).filter(Boolean);
const system = o.system ? [{ role: "system", content: readFileSync(o.system, "utf8").trim() }] : [];

async function post(url, body, key) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key ? { authorization: `Bearer ${key}` } : {}) },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(900_000),
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok || answer.error) throw new Error(answer.error?.message ?? answer.error ?? `HTTP ${response.status}`);
  return answer;
}

async function ask(model, prompt) {
  const messages = [...system, { role: "user", content: prompt }];
  if (model.startsWith("litellm/")) {
    if (!process.env.LITELLM_URL) throw new Error("LITELLM_URL is not set");
    const answer = await post(`${process.env.LITELLM_URL}/v1/chat/completions`, { model: model.slice(8), messages, temperature: Number(o.temperature), max_tokens: Number(o.max) }, process.env.LITELLM_API_KEY);
    const [choice] = answer.choices;
    return { text: choice.message.content ?? "", cut: choice.finish_reason === "length", tokensIn: answer.usage?.prompt_tokens, tokensOut: answer.usage?.completion_tokens };
  }
  const answer = await post(`${process.env.OLLAMA_URL ?? "http://ollama:11434"}/api/chat`, { model, messages, stream: false, keep_alive: "10m", options: { temperature: Number(o.temperature), num_ctx: Number(o.context), num_predict: Number(o.max), seed: 1 } });
  return { text: answer.message.content, cut: answer.done_reason === "length", tokensIn: answer.prompt_eval_count, tokensOut: answer.eval_count, loadSeconds: Math.round((answer.load_duration ?? 0) / 1e8) / 10 };
}

writeFileSync(o.out, "");
const summary = [];
for (const model of models) {
  const row = { model, answered: 0, failed: 0, cut: 0, matched: 0, checked: 0, seconds: 0, tokensOut: 0 };
  for (const { id, prompt, expect } of cases) {
    const start = performance.now();
    try {
      const answer = await ask(model, prompt);
      const seconds = (performance.now() - start) / 1000;
      row.answered++;
      row.seconds += seconds - (answer.loadSeconds ?? 0);
      row.tokensOut += answer.tokensOut ?? 0;
      if (answer.cut) row.cut++;
      let matched;
      if (expect) {
        row.checked++;
        matched = new RegExp(expect, "is").test(answer.text);
        if (matched) row.matched++;
      }
      appendFileSync(o.out, `${JSON.stringify({ model, id, matched, seconds: Math.round(seconds * 10) / 10, ...answer })}\n`);
    } catch (error) {
      row.failed++;
      appendFileSync(o.out, `${JSON.stringify({ model, id, error: error.cause?.code ?? error.message })}\n`);
    }
  }
  const { seconds, tokensOut, checked, ...rest } = row;
  summary.push({ ...rest, checked, secondsEach: row.answered ? Math.round((seconds / row.answered) * 10) / 10 : null, tokensPerSecond: seconds > 0 ? Math.round(tokensOut / seconds) : null });
}
console.table(summary);
console.log(`answers: ${o.out}`);
