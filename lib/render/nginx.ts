/** `nginx.conf` (https://nginx.org/en/docs/), with certificates that certbot renews. */

import { template } from "../embedded.ts";
import type { Plan } from "../stack/plan.ts";
import type { Route } from "../stack/routes.ts";
import type { BundleFile } from "./file.ts";
import { upstream } from "./upstream.ts";

/** The name of the upstream is a variable, so that nginx looks it up per request and starts without it. */
function server(plan: Plan, route: Route): string {
  const local = plan.proxy?.reach === "local";
  const listen = local ? "        listen 80;\n" : "        listen 443 ssl;\n        http2 on;\n".replace("        http2 on;\n", "");
  const insecure = route.scheme === "https" ? "            proxy_ssl_verify off;\n" : "";
  return `
    server {
${listen}        server_name ${route.host};
        location / {
            set $upstream ${upstream(plan, route)};
            proxy_pass ${route.scheme}://$upstream;
${insecure}        }
    }
`;
}

/** Renders `nginx.conf`, and for HTTPS the script that keeps a certificate in place from the first start. */
export function renderNginx(plan: Plan): BundleFile[] {
  const { proxy } = plan;
  if (proxy?.id !== "nginx") return [];
  const names = plan.addresses.routes.map((route) => route.host);
  const longest = Math.max(...names.map((name) => name.length));
  const bucket =
    longest > 100 ? "    server_names_hash_bucket_size 512;\n" : longest > 40 ? "    server_names_hash_bucket_size 128;\n" : "";
  const tls =
    proxy.reach === "local"
      ? ""
      : `
    ssl_certificate /etc/letsencrypt/live/stack/fullchain.pem;
    ssl_certificate_key /etc/letsencrypt/live/stack/privkey.pem;
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_session_cache shared:tls:2m;
    ssl_session_timeout 1d;
${proxy.reach === "public" ? '    add_header Strict-Transport-Security "max-age=31536000" always;\n' : ""}
    server {
        listen 80 default_server;
        server_name _;
        location /.well-known/acme-challenge/ {
            root /var/www/acme;
        }
        location / {
            return 301 https://$host$request_uri;
        }
    }

    # Names that the stack does not know get no answer.
    server {
        listen 443 ssl default_server;
        server_name _;
        return 444;
    }
`;
  const unknown =
    proxy.reach === "local"
      ? "\n    server {\n        listen 80 default_server;\n        server_name _;\n        return 444;\n    }\n"
      : "";
  const content = `# Reverse proxy of the stack "${plan.name}".
user nginx;
worker_processes auto;
error_log stderr warn;
pid /var/run/nginx.pid;

events {
    worker_connections 1024;
}

http {
    include /etc/nginx/mime.types;
    default_type application/octet-stream;
    access_log /dev/stdout;
    server_tokens off;
    sendfile on;
    keepalive_timeout 65;
${bucket}
    # Docker's own name server; names are looked up again when containers are recreated.
    resolver 127.0.0.11 valid=10s ipv6=off;

    # Uploads of any size, answers as they come, connections that stay open.
    client_max_body_size 0;
    proxy_request_buffering off;
    proxy_buffering off;
    proxy_read_timeout 1h;
    proxy_send_timeout 1h;
    proxy_http_version 1.1;

    map $http_upgrade $connection_upgrade {
        default upgrade;
        '' '';
    }
    proxy_set_header Upgrade $http_upgrade;
    proxy_set_header Connection $connection_upgrade;
    proxy_set_header Host $host;
    proxy_set_header X-Real-IP $remote_addr;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_set_header X-Forwarded-Host $host;
${tls}${unknown}
    server {
        listen 127.0.0.1:8081;
        access_log off;
        location /healthz {
            return 200 "ok";
        }
    }
${plan.addresses.routes.map((route) => server(plan, route)).join("")}}
`;
  const domains = proxy.reach === "public" ? names.join(" ") : "";
  return [
    { path: "nginx.conf", content },
    {
      path: "configs/nginx/certificates.sh",
      content: template("proxy/certificates.sh").replace("@DOMAIN@", proxy.domain).replace("@REACH@", proxy.reach),
      executable: true,
    },
    ...(proxy.reach === "public"
      ? [
          { path: "configs/nginx/domains", content: `${domains}\n` },
          { path: "configs/nginx/certbot.sh", content: template("proxy/certbot.sh"), executable: true },
        ]
      : []),
  ];
}
