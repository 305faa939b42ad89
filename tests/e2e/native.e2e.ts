/** Bare metal: the installers, run on a Debian with systemd. A container that may run systemd stands for the machine. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { catalog, must, run, start } from "../support.ts";
import { build, fromBase, install } from "./images/build.ts";

const minutes = 60_000;
const machine = `stackwright-proof-machine-${process.pid}`;
const services = ["postgresql", "redis"];
const skills = [...catalog.packs.values()].filter((pack) => pack.requiredServices.every((id) => services.includes(id))).map(({ id }) => id);

/** Package registry and its certificates as this host has them set. */
const settings: string[] = [];
const inside = (script: string) => run(["docker", "exec", ...settings, machine, "sh", "-c", script]);
const variable = async (name: string) => (await inside(`sed -n 's/^${name}=//p' /root/stack/.env`)).stdout.trim();
const units = ["openclaw", "postgresql", "redis-server", "caddy"];

beforeAll(async () => {
  // A machine in a container has no user namespaces to give, and no more files than its host allows.
  const relaxed =
    "RUN mkdir -p /etc/systemd/system/service.d && printf '[Service]\\nPrivateUsers=no\\nLimitNOFILE=4096\\n' > /etc/systemd/system/service.d/proof.conf";
  await build(
    "stackwright-proof-machine:2",
    fromBase(install("systemd systemd-sysv dbus curl ca-certificates procps"), relaxed, 'CMD ["/lib/systemd/systemd"]'),
  );
  const options = "--cap-add SYS_ADMIN --security-opt seccomp=unconfined --security-opt apparmor=unconfined --cgroupns=host";
  const mounts = "-v /sys/fs/cgroup:/sys/fs/cgroup:rw --tmpfs /run --tmpfs /run/lock";
  await must(`docker run -d --name ${machine} ${options} ${mounts} stackwright-proof-machine:2`.split(" "));
  const setting = async (name: string) => (await run(["npm", "config", "get", name])).stdout.trim();
  settings.push("-e", `npm_config_registry=${await setting("registry")}`);
  const authorities = await setting("cafile");
  if (authorities !== "null") {
    await must(["docker", "cp", "-L", authorities, `${machine}:/etc/authorities.pem`]);
    settings.push("-e", "npm_config_cafile=/etc/authorities.pem");
  }
  await using server = start();
  const request = {
    name: "machine",
    services,
    skills,
    proxy: "caddy",
    domain: "machine.internal",
    deploymentType: "bare-metal",
    platform: "linux/amd64",
    format: "tar",
  };
  const archive = await (await server.post("/api/v1/generate", request)).bytes();
  await must(["docker", "exec", "-i", machine, "sh", "-c", "mkdir /root/stack && tar -xzf - -C /root/stack --strip-components 1"], {
    stdin: archive,
  });
  const { code, stdout, stderr } = await inside("/root/stack/install.sh");
  if (code !== 0) throw new Error(`install.sh exited with ${code}\n${stdout.slice(-3000)}\n${stderr.slice(-3000)}`);
}, 15 * minutes);
afterAll(() => run(["docker", "rm", "-f", "-v", machine]).then(() => {}), minutes);

test("every service runs under systemd and starts with the machine", async () => {
  for (const unit of units) {
    expect({ unit, active: (await inside(`systemctl is-active ${unit}`)).stdout.trim() }).toEqual({ unit, active: "active" });
    expect({ unit, enabled: (await inside(`systemctl is-enabled ${unit}`)).stdout.trim() }).toEqual({ unit, enabled: "enabled" });
  }
});

test(
  "the gateway answers through the proxy",
  async () => {
    let answer = "";
    for (let tries = 0; tries < 90 && !answer.includes("live"); tries++) {
      answer = (await inside("curl -sk --resolve machine.internal:443:127.0.0.1 https://machine.internal/healthz")).stdout;
      if (!answer.includes("live")) await Bun.sleep(1000);
    }
    expect({ answer, log: answer.includes("live") ? "" : (await inside("journalctl -n 30 -u openclaw -u caddy")).stdout }).toEqual({
      answer: '{"ok":true,"status":"live"}',
      log: "",
    });
  },
  2 * minutes,
);

test("the servers ask for the stack's passwords", async () => {
  expect((await inside("redis-cli ping")).stdout).toContain("NOAUTH");
  expect((await inside(`REDISCLI_AUTH=${await variable("REDIS_PASSWORD")} redis-cli ping`)).stdout.trim()).toBe("PONG");
  const connect = (password: string) =>
    inside(`PGPASSWORD=${password} psql -h 127.0.0.1 -U openclaw -d openclaw -Atc 'select current_user'`);
  expect((await connect(await variable("OPENCLAW_POSTGRESQL_PASSWORD"))).stdout.trim()).toBe("openclaw");
  expect((await connect("wrong")).stderr).toContain("authentication failed");
});

test("what the gateway reads is its own: nobody else sees its secrets", async () => {
  expect((await inside("stat -c '%a %U:%G' /etc/openclaw/environment")).stdout.trim()).toBe("640 root:openclaw");
  expect((await inside("stat -c %a /root/stack/.env")).stdout.trim()).toBe("600");
  expect((await inside("ps -o user= -C openclaw-gateway -C openclaw -C node | sort -u")).stdout.trim()).toBe("openclaw");
});

test(
  "a second run changes nothing",
  async () => {
    const state = async () => (await inside(`cat /root/stack/.env; systemctl show -p InvocationID ${units.join(" ")}`)).stdout;
    const before = await state();
    const { code, stderr } = await inside("/root/stack/install.sh");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(await state()).toBe(before);
  },
  3 * minutes,
);
