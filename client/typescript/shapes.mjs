// Writes src/shapes.ts from the OpenAPI document: what each response must have. With --check it writes nothing, and fails if the file
// is not what it would write.
import { readFileSync, writeFileSync } from "node:fs";

const { paths, components } = JSON.parse(readFileSync("../../services/gateway/internal/apidoc/openapi.json", "utf8"));
const resolve = (one) => (one.$ref ? one.$ref.slice(2).split("/").reduce((at, name) => at[name], { components }) : one);
const nameOf = (ref) => ref.split("/").at(-1);
const isNull = (one) => one.type === "null";

/** Whether a value may be null. */
function nullable(schema) {
  const { type, anyOf, oneOf } = resolve(schema);
  const choices = anyOf ?? oneOf;
  return choices ? choices.some(nullable) : [type].flat().includes("null") || (type === undefined && resolve(schema).const === undefined);
}

/** Where the members of a value are: the names of its schemas, behind [] in an array and behind {} in a map; "" without members. */
function shape(schema) {
  if (schema.$ref && resolve(schema).properties) return nameOf(schema.$ref);
  const { anyOf, oneOf, items, additionalProperties } = resolve(schema);
  const choices = (anyOf ?? oneOf)?.filter((one) => !isNull(one)).map(shape);
  if (choices?.some(Boolean)) return choices.join("|");
  for (const [mark, inner] of [["[]", items], ["{}", additionalProperties]]) {
    const of = typeof inner === "object" && shape(inner);
    if (of) return mark + of;
  }
  return "";
}

const shapes = {};
function add(of) {
  for (const name of of.replace(/^(\[\]|\{\})*/, "").split("|")) {
    if (name === "" || name in shapes) continue;
    const { required = [], properties } = components.schemas[name];
    const members = Object.entries(properties).map(([member, schema]) => {
      const inner = shape(schema);
      const must = required.includes(member) && !nullable(schema);
      if (schema.const !== undefined) return `${member}=${schema.const}`;
      return (must || inner) && member + (must ? "" : "?") + (inner && `:${inner}`);
    });
    shapes[name] = members.filter(Boolean).join(" ");
    Object.values(properties).forEach((schema) => add(shape(schema)));
  }
}

const responses = {};
for (const { operationId, responses: all } of Object.values(paths).flatMap((path) => Object.values(path))) {
  for (const [status, response] of Object.entries(all ?? {})) {
    const schema = resolve(response).content?.["application/json"]?.schema;
    if (!schema || !(status.startsWith("2") || shape(schema) === "Try" || resolve(response).content["text/csv"])) continue;
    responses[`${operationId} ${status}`] = shape(schema);
    add(shape(schema));
  }
}
responses["followRun 200"] = "Run"; // of an event
responses["followEvents 200"] = "Event";

const table = (members) => Object.entries(members).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`).join("");
const text = `// Written by \`npm run shapes\` from the OpenAPI document.

/** The schemas of each response of JSON, by operation and status. */
export const responses: Record<string, string> = {
${table(responses)}};

/**
 * The members that each schema must have, and those with members of their own: \`name:Schema\`, \`[]Schema\` in an array, \`{}Schema\` in
 * a map. A member with a question mark may be null or absent. \`type=choice\` tells which of several schemas a value has.
 */
export const shapes: Record<string, string> = {
${table(shapes)}};
`;
if (!process.argv.includes("--check")) writeFileSync("src/shapes.ts", text);
else if (readFileSync("src/shapes.ts", "utf8") !== text) throw new Error("src/shapes.ts is stale: npm run shapes");
