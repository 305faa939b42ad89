import manifest from "../package.json" with { type: "json" };

/** Version of the running software. */
export const version: string = manifest.version;
