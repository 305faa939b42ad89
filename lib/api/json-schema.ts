/** JSON Schema (draft 2020-12) of valibot schemas, as far as this API uses them. */
import type * as v from "valibot";

export interface JsonSchema {
  [keyword: string]: unknown;
}

export interface ConvertOptions {
  /** Schemas that become references: their names below `#/components/schemas/`. */
  readonly names: ReadonlyMap<v.GenericSchema, string>;
  /** Whether an optional property may also be `null`, which a request may hold in place of an absent field. */
  readonly nullable?: boolean;
  /** Keywords to add to properties of the outermost object. */
  readonly annotations?: Readonly<Record<string, JsonSchema>>;
}

/** What is read of a valibot schema or action. */
interface Node {
  readonly type: string;
  readonly pipe?: readonly Node[];
  readonly requirement?: unknown;
  readonly description?: string;
  readonly entries?: Readonly<Record<string, Node>>;
  readonly item?: Node;
  readonly value?: Node;
  readonly wrapped?: Node;
  readonly literal?: unknown;
  readonly options?: readonly unknown[];
}

/** A pattern of JSON Schema has no flags: of `i`, the letter ranges are written out. */
function pattern(regex: RegExp): string {
  if (regex.flags === "") return regex.source;
  if (regex.flags !== "i" || /[A-Za-z]/.test(regex.source.replace(/a-z|\\[a-z]/g, "")))
    throw new Error(`no JSON Schema pattern for ${regex}`);
  return regex.source.replaceAll("a-z", "A-Za-z");
}

function applyAction(schema: JsonSchema, action: Node): void {
  const size = schema.type === "array" ? "Items" : "Length";
  switch (action.type) {
    case "regex": {
      const own = pattern(action.requirement as RegExp);
      if (schema.pattern === undefined) schema.pattern = own;
      else schema.allOf = [...((schema.allOf as JsonSchema[]) ?? []), { pattern: own }];
      return;
    }
    case "min_length":
      schema[`min${size}`] = action.requirement;
      return;
    case "max_length":
      schema[`max${size}`] = action.requirement;
      return;
    case "min_value":
      schema.minimum = action.requirement;
      return;
    case "max_value":
      schema.maximum = action.requirement;
      return;
    case "integer":
      schema.type = "integer";
      return;
    case "description":
      schema.description = action.description;
      return;
    case "to_lower_case":
      return; // what is sent may be in any case
    default:
      throw new Error(`no JSON Schema for the valibot action ${action.type}`);
  }
}

function object(node: Node, options: ConvertOptions): JsonSchema {
  const { annotations = {}, ...inner } = options;
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const [name, entry] of Object.entries(node.entries ?? {})) {
    const optional = entry.type === "optional";
    if (!optional) required.push(name);
    const property = convert(optional ? (entry.wrapped as Node) : entry, inner);
    if (optional && options.nullable) {
      property.type = [property.type, "null"];
      if (property.enum !== undefined) property.enum = [...(property.enum as unknown[]), null];
    }
    properties[name] = { ...property, ...annotations[name] };
  }
  return { type: "object", properties, ...(required.length > 0 ? { required } : {}), additionalProperties: false };
}

function base(node: Node, options: ConvertOptions): JsonSchema {
  switch (node.type) {
    case "string":
    case "number":
    case "boolean":
      return { type: node.type };
    case "literal":
      return { type: typeof node.literal, const: node.literal };
    case "picklist":
      return { type: "string", enum: [...(node.options ?? [])] };
    case "array":
      return { type: "array", items: convert(node.item as Node, options) };
    case "record":
      return { type: "object", additionalProperties: convert(node.value as Node, options) };
    case "strict_object":
      return object(node, options);
    default:
      throw new Error(`no JSON Schema for the valibot schema ${node.type}`);
  }
}

function convert(node: Node, options: ConvertOptions): JsonSchema {
  const name = options.names.get(node as unknown as v.GenericSchema);
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
  const [first = node, ...actions] = node.pipe ?? [];
  const schema = base(first, options);
  for (const action of actions) applyAction(schema, action);
  return schema;
}

/**
 * Converts a schema; inside it, those that `options.names` lists become references.
 * @throws {Error} for a schema or action that has no JSON Schema here, so that none is left out unnoticed.
 */
export function jsonSchema(schema: v.GenericSchema, options: ConvertOptions): JsonSchema {
  const names = new Map(options.names);
  names.delete(schema);
  return convert(schema as unknown as Node, { ...options, names });
}
