/** A file of a bundle. */
import { memo } from "../memo.ts";

export interface BundleFile {
  /** Path below the bundle's root, with `/` between names. */
  readonly path: string;
  readonly content: string;
  /** Whether it is extracted with mode 0755 instead of 0644. */
  readonly executable?: boolean;
}

/** A file's content as a JSON string; files that many stacks share are quoted once. */
export const quoted = memo((file: BundleFile) => JSON.stringify(file.content));
