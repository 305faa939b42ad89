/** A file of a bundle. */
export interface BundleFile {
  /** Path below the bundle's root, with `/` between names. */
  readonly path: string;
  readonly content: string;
  /** Whether it is extracted with mode 0755 instead of 0644. */
  readonly executable?: boolean;
}
