import { shapes } from "./shapes.js";

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null && !Array.isArray(value);

const membersOf = (value: object): Map<string, unknown> =>
  value instanceof Map ? (value as Map<string, unknown>) : new Map(Object.entries(value));

/**
 * The members that a value lacks of those that every Prism sends, by their paths. A member that may be null may also be absent,
 * as an older Prism does not send it. `of` is a shape as in `shapes`.
 */
export function lacking(value: unknown, of: string, path = ""): string[] {
  const at = (name: string) => (path ? `${path}.${name}` : name);
  if (of.startsWith("[]")) {
    return Array.isArray(value) ? value.flatMap((item, i) => lacking(item, of.slice(2), at(String(i)))) : [path];
  }
  if (!isObject(value)) return [path];
  const members = membersOf(value);
  if (of.startsWith("{}")) {
    // A value that is no object is one of the format json.
    return [...members].flatMap(([name, item]) => (isObject(item) ? lacking(item, of.slice(2), at(name)) : []));
  }
  const found = of.split("|").flatMap((schema) => {
    const wanted = shapes[schema]!.split(" ").map((member) => /^(\w*)(\??)(?:=(\w+)|:(.+))?$/.exec(member)!);
    const kind = wanted.find(([, , , is]) => is);
    if (kind && members.get(kind[1]!) !== kind[3]) return members.has(kind[1]!) ? [] : [at(kind[1]!)];
    return wanted.flatMap(([, name, optional, , inner]) => {
      const item = members.get(name!) ?? null;
      if (item === null) return name && !optional ? [at(name)] : [];
      return inner ? lacking(item, inner, at(name!)) : [];
    });
  });
  return [...new Set(found)];
}

/** Names what a response lacks. */
export function without(missing: string[]): string {
  const more = missing.length > 5 ? ` and ${missing.length - 5} more` : "";
  return `a response without ${missing.slice(0, 5).join(", ")}${more}`;
}
