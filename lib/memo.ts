/**
 * Remembers what a pure function made of an object of the catalog. The catalog never changes while the process lives, so what
 * follows from it alone is worked out once; what a request adds is worked out each time.
 *
 * @example
 * const portsOf = memo((service: Service) => Object.values(service.containers).flatMap((container) => container.ports));
 */
export function memo<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new WeakMap<Key, Value>();
  return (key) => {
    let value = made.get(key);
    if (value === undefined) {
      value = make(key);
      made.set(key, value);
    }
    return value;
  };
}

/** Makes a value when it is first asked for, and keeps it. */
export function lazy<Value extends object>(make: () => Value): () => Value {
  let value: Value | undefined;
  return () => (value ??= make());
}

const entries = memo((record: object) => Object.entries(record));

/** `Object.entries` of a record of the catalog, made once. */
export function entriesOf<Value>(record: Readonly<Record<string, Value>>): readonly (readonly [string, Value])[] {
  return entries(record);
}

const values = memo((record: object) => Object.values(record));

/** `Object.values` of a record of the catalog, made once. */
export function valuesOf<Value>(record: Readonly<Record<string, Value>>): readonly Value[] {
  return values(record);
}
