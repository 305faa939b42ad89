/** Servers that clients sign in to: each takes the stack's password and no other, and finds its data again after a restore. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { run } from "../support.ts";
import { type Stack, startedWell, unpack } from "./engine.ts";

const minutes = 60_000;
let stack: Stack;

beforeAll(async () => {
  stack = await unpack({ name: "Proof servers", services: ["valkey", "rabbitmq", "mosquitto", "prometheus"] }, { interval: 3 });
  await startedWell(stack);
}, 15 * minutes);
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
}, 3 * minutes);

const exec = async (container: string, script: string) => {
  const { code, stdout, stderr } = await run(["docker", "compose", "exec", "-T", container, "sh", "-c", script], { cwd: stack.folder });
  return { code, said: `${stdout}${stderr}`.trim() };
};
const manage = (user: string, path: string, method = "GET", body?: object) =>
  fetch(`http://127.0.0.1:15672/api/${path}`, {
    method,
    headers: { authorization: `Basic ${btoa(user)}` },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });

test("Valkey refuses who has no password, and takes the stack's", async () => {
  expect((await exec("valkey", "env -u VALKEYCLI_AUTH -u REDISCLI_AUTH valkey-cli ping")).said).toContain("NOAUTH");
  expect((await exec("valkey", "valkey-cli ping")).said).toBe("PONG");
});

test("RabbitMQ refuses guests and wrong passwords, and takes the stack's user", async () => {
  const { RABBITMQ_PASSWORD } = await stack.env();
  expect((await manage("guest:guest", "whoami")).status).toBe(401);
  expect((await manage("admin:wrong", "whoami")).status).toBe(401);
  expect(await (await manage(`admin:${RABBITMQ_PASSWORD}`, "whoami")).json()).toMatchObject({ name: "admin" });
});

test("Mosquitto refuses who has no password or a wrong one, and takes the stack's", async () => {
  const publish = "mosquitto_pub -h 127.0.0.1 -t proof -m x";
  expect((await exec("mosquitto", publish)).said).toContain("not authorised");
  expect((await exec("mosquitto", `${publish} -u stack -P wrong`)).said).toContain("not authorised");
  expect(await exec("mosquitto", `${publish} -u stack -P "$MOSQUITTO_PASSWORD"`)).toEqual({ code: 0, said: "" });
});

test(
  "Prometheus scrapes what the stack measures",
  async () => {
    const up = async () => {
      const answer = (await (await fetch("http://127.0.0.1:9090/api/v1/query?query=up")).json()) as {
        data: { result: { metric: { job: string }; value: [number, string] }[] };
      };
      return Object.fromEntries(answer.data.result.map(({ metric, value }) => [metric.job, value[1]]));
    };
    const deadline = Date.now() + minutes;
    const all = async () => Object.values(await up()).filter((value) => value === "1").length;
    while ((await all()) < 2 && Date.now() < deadline) await Bun.sleep(2000);
    expect(await up()).toMatchObject({ prometheus: "1", rabbitmq: "1" });
  },
  2 * minutes,
);

test(
  "what was written is there again after the volumes were lost and a backup restored",
  async () => {
    const user = `admin:${(await stack.env()).RABBITMQ_PASSWORD}`;
    await exec("valkey", "valkey-cli set proof valkey-data");
    await manage(user, "queues/%2F/proof", "PUT", { durable: true });
    await manage(user, "exchanges/%2F/amq.default/publish", "POST", {
      properties: { delivery_mode: 2 },
      routing_key: "proof",
      payload: "rabbitmq-data",
      payload_encoding: "string",
    });
    await exec("mosquitto", 'mosquitto_pub -h 127.0.0.1 -u stack -P "$MOSQUITTO_PASSWORD" -t proof -r -q 1 -m mosquitto-data');
    // Older versions of RabbitMQ write what was declared two seconds later.
    await Bun.sleep(3000);
    const saved = await stack.script("backup");
    expect({ code: saved.code, stderr: saved.stderr }).toEqual({ code: 0, stderr: "" });
    await stack.down("-v", "-t", "20");
    const restored = await stack.script("restore", /written to (\S+)/.exec(saved.stdout)?.[1] ?? "");
    if (restored.code !== 0) throw new Error(`${restored.stdout}\n${restored.stderr}`);
    expect((await exec("valkey", "valkey-cli get proof")).said).toBe("valkey-data");
    const got = await manage(user, "queues/%2F/proof/get", "POST", { count: 1, ackmode: "ack_requeue_false", encoding: "auto" });
    expect(await got.json()).toMatchObject([{ payload: "rabbitmq-data" }]);
    expect((await exec("mosquitto", 'mosquitto_sub -h 127.0.0.1 -u stack -P "$MOSQUITTO_PASSWORD" -t proof -C 1 -W 5')).said).toBe(
      "mosquitto-data",
    );
  },
  8 * minutes,
);
