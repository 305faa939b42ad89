// Looks at a public address from outside a browser: certificate, protocol, redirects, security headers, open ports.
//   node check.mjs tls HOST [PORT]
//   node check.mjs headers URL
//   node check.mjs ports HOST PORT...
import net from "node:net";
import tls from "node:tls";

const [command, target, ...rest] = process.argv.slice(2);
const usage = "usage: node check.mjs tls HOST [PORT] | headers URL | ports HOST PORT...";
const print = (value) => console.log(JSON.stringify(value, null, 1));

function handshake(host, port, options) {
  return new Promise((resolve) => {
    const socket = tls.connect({ host, port, servername: net.isIP(host) ? undefined : host, rejectUnauthorized: false, ...options });
    socket.setTimeout(10_000, () => socket.destroy(new Error("no answer within 10 s")));
    socket.on("error", (error) => resolve({ error: error.message }));
    socket.on("secureConnect", () => {
      const certificate = socket.getPeerCertificate();
      resolve({
        trusted: socket.authorized,
        problem: socket.authorizationError ? String(socket.authorizationError) : undefined,
        protocol: socket.getProtocol(),
        cipher: socket.getCipher().name,
        subject: certificate.subject?.CN,
        names: certificate.subjectaltname,
        issuer: certificate.issuer?.O ?? certificate.issuer?.CN,
        validTo: certificate.valid_to,
        daysLeft: Math.floor((Date.parse(certificate.valid_to) - Date.now()) / 86_400_000),
      });
      socket.destroy();
    });
  });
}

if (command === "tls" && target) {
  const port = Number(rest[0] ?? 443);
  const result = await handshake(target, port, {});
  const old = await handshake(target, port, { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" });
  print({ ...result, oldProtocols: old.error ? "refused" : old.protocol });
} else if (command === "headers" && target) {
  const steps = [];
  let url = target;
  for (let hop = 0; hop < 6; hop++) {
    const answer = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(15_000) }).catch((error) => ({ error }));
    if (answer.error) {
      steps.push({ url, error: answer.error.cause?.message ?? answer.error.message });
      break;
    }
    const location = answer.headers.get("location");
    steps.push({ url, status: answer.status });
    if (answer.status >= 300 && answer.status < 400 && location) {
      url = new URL(location, url).href;
      continue;
    }
    const wanted = ["strict-transport-security", "content-security-policy", "x-frame-options", "x-content-type-options", "referrer-policy", "permissions-policy"];
    print({
      steps,
      present: Object.fromEntries(wanted.filter((name) => answer.headers.has(name)).map((name) => [name, answer.headers.get(name)])),
      missing: wanted.filter((name) => !answer.headers.has(name)),
      tellsTooMuch: Object.fromEntries(["server", "x-powered-by", "via"].filter((name) => answer.headers.has(name)).map((name) => [name, answer.headers.get(name)])),
      cookies: answer.headers.getSetCookie().map((cookie) => ({
        name: cookie.split("=")[0],
        secure: /;\s*secure/i.test(cookie),
        httpOnly: /;\s*httponly/i.test(cookie),
        sameSite: /;\s*samesite=(\w+)/i.exec(cookie)?.[1] ?? "none stated",
      })),
    });
    process.exit(0);
  }
  print({ steps });
} else if (command === "ports" && target && rest.length > 0 && rest.length <= 50) {
  const probe = (port) =>
    new Promise((resolve) => {
      const socket = net.connect({ host: target, port });
      const done = (state) => {
        socket.destroy();
        resolve([port, state]);
      };
      socket.setTimeout(4000, () => done("no answer (filtered)"));
      socket.on("connect", () => done("open"));
      socket.on("error", (error) => done(error.code === "ECONNREFUSED" ? "closed" : error.message));
    });
  print(Object.fromEntries(await Promise.all(rest.map(Number).map(probe))));
} else {
  console.error(usage);
  process.exit(1);
}
