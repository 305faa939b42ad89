/** The two notations inside text values of the catalog: `${NAME}` and `{{reference}}`. */

/** Matches `${NAME}`; the first group is the name. */
export const variablePattern = /\$\{([A-Z][A-Z0-9_]*)\}/g;

/** Matches `{{reference}}`; the first group is the reference. */
export const referencePattern = /\{\{([a-z][A-Za-z0-9.:-]*)\}\}/g;

/** References that speak of the service's own main address. */
export const ownReferences = ["url", "host", "hostname", "scheme", "secure", "domain"] as const;

/** References of the form `{{<server>.<field>}}`, for servers in `provisions`. */
export const serverFields = ["host", "port", "user", "password", "database", "url", "index"] as const;

/**
 * Variables that belong to the stack rather than to one service. A stack's `.env.example` holds those that
 * its services use.
 */
export const stackSettings: Readonly<Record<string, { readonly description: string; readonly default: string }>> = {
  TZ: { description: "Time zone of all services, a name of the IANA database", default: "UTC" },
  ADMIN_EMAIL: { description: "E-mail address of the first administrator", default: "admin@example.com" },
  SMTP_HOST: { description: "Mail server that services send through; empty: they send no mail", default: "" },
  SMTP_PORT: { description: "Port of the mail server", default: "587" },
  SMTP_USER: { description: "User name at the mail server", default: "" },
  SMTP_PASSWORD: { description: "Password at the mail server", default: "" },
  SMTP_FROM: { description: "Sender address of the services' mail", default: "stack@example.com" },
};

/** Names of the variables in a text, in order of appearance. */
export function variablesIn(text: string): string[] {
  return text.includes("${") ? Array.from(text.matchAll(variablePattern), (match) => match[1] as string) : [];
}

/** References in a text, in order of appearance. */
export function referencesIn(text: string): string[] {
  return text.includes("{{") ? Array.from(text.matchAll(referencePattern), (match) => match[1] as string) : [];
}

/** The upper-case stem of a service's variables: `paperless-ngx` becomes `PAPERLESS_NGX`. */
export function variableStem(id: string): string {
  return id.toUpperCase().replaceAll("-", "_");
}
