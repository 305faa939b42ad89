/** Bearer tokens (RFC 6750) against the one key of the deployment. */

/** Whether a request's `Authorization` header carries the key. */
export type KeyCheck = (authorization: string | null) => boolean;

/**
 * Makes a check for `apiKey`. Both sides are hashed with a secret of the process before they are compared, so the time
 * a comparison takes tells nothing about the key or its length. Without a key, no header is ever right.
 */
export function keyCheck(apiKey: string | undefined): KeyCheck {
  if (apiKey === undefined) return () => false;
  const salt = crypto.getRandomValues(new Uint8Array(32));
  const digest = (text: string) => new Bun.CryptoHasher("sha256", salt).update(text).digest();
  const expected = digest(apiKey);
  return (authorization) => {
    if (authorization === null) return false;
    const match = /^Bearer +(\S+) *$/i.exec(authorization);
    if (match === null) return false;
    const given = digest(match[1] as string);
    let difference = 0;
    for (let index = 0; index < expected.length; index++) difference |= (expected[index] as number) ^ (given[index] as number);
    return difference === 0;
  };
}
