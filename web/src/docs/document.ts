/** The parts of OpenAPI 3.1 that our document uses. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  oneOf?: Schema[];
  anyOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
}

export interface Example {
  summary: string;
  value: unknown;
}

interface Media {
  schema?: Schema;
  examples?: Record<string, Example | { $ref: string }>;
}

interface Response {
  description: string;
  content?: Record<string, Media>;
}

/** The document as it is served. */
export interface OpenApi {
  info: { title: string; version: string; summary: string; description: string; license: { name: string } };
  tags: { name: string; description: string }[];
  security: object[];
  paths: Record<string, Record<string, {
    operationId: string; summary: string; description: string; tags: string[]; security?: object[];
    parameters?: (Parameter | { $ref: string })[]; requestBody?: { content: Record<string, Media> };
    responses: Record<string, Response | { $ref: string }>;
  }>>;
  components: { schemas: Record<string, Schema> } & Record<string, unknown>;
}

/** An answer with an example for each media type, or for each case. */
export interface Answer {
  status: string;
  description: string;
  schema: Schema | undefined;
  examples: { type: string; example: Example }[];
}

interface ErrorRow {
  status: string;
  code: string | undefined;
  message: string;
  when: string;
}

/** A call with its references followed, but for those of schemas. */
export interface Operation {
  id: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  parameters: Parameter[];
  /** A call takes a body of one media type, or none. */
  body: { type: string; schema: Schema; examples: Example[] } | undefined;
  answers: Answer[];
  errors: ErrorRow[];
  needsKey: boolean;
}

export interface Group {
  name: string;
  description: string;
  operations: Operation[];
}

export interface Reference {
  info: OpenApi['info'];
  opening: string;
  /** The parts of the description that have a heading. */
  chapters: { name: string; text: string }[];
  groups: Group[];
  schemas: Record<string, Schema>;
}

export const json = 'application/json';

/** Reads the document into what the page shows. */
export function read(api: OpenApi): Reference {
  const resolve = <T>(value: T | { $ref: string }): T =>
    typeof value === 'object' && value !== null && '$ref' in value
      ? (value.$ref as string).split('/').slice(1).reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], api) as T
      : value as T;
  const examplesOf = (media: Media) => Object.values(media.examples ?? {}).map((example) => resolve<Example>(example));

  const operations = Object.entries(api.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, found]) => {
    const [body] = Object.entries(found.requestBody?.content ?? {}).map(([type, media]) =>
      ({ type, schema: media.schema ?? {}, examples: examplesOf(media) }));
    const answers: Answer[] = [];
    const errors: ErrorRow[] = [];
    for (const [status, of] of Object.entries(found.responses)) {
      const { description, content = {} } = resolve<Response>(of);
      const media = Object.entries(content);
      const schema = media[0]?.[1].schema;
      if (/\/(Error|Unavailable)$/.test(schema?.$ref ?? '')) {
        errors.push(...media.flatMap(([, each]) => examplesOf(each)).map((example) => errorRow(status, example)));
      }
      else answers.push({
        status, description, schema,
        examples: media.flatMap(([type, each]) => examplesOf(each).map((example) => ({ type, example }))),
      });
    }
    const operation: Operation = {
      id: found.operationId, method: method.toUpperCase(), path, summary: found.summary, description: found.description,
      parameters: (found.parameters ?? []).map((parameter) => resolve<Parameter>(parameter)), body, answers, errors,
      needsKey: (found.security ?? api.security).length > 0,
    };
    return { tags: found.tags, operation };
  }));

  // The description's parts begin with their titles. The first part has none.
  const [opening = '', ...parts] = `\n${api.info.description}`.split('\n## ');
  return {
    info: api.info,
    opening,
    chapters: parts.map((part) => ({ name: part.split('\n', 1)[0]!, text: part.replace(/.*\n/, '') })),
    groups: api.tags.map((tag) => ({
      ...tag, operations: operations.filter(({ tags }) => tags.includes(tag.name)).map(({ operation }) => operation),
    })),
    schemas: api.components.schemas,
  };
}

// The body of a 503 has no code.
function errorRow(status: string, { summary, value }: Example): ErrorRow {
  const body = value as { message?: string; error: { code: string; message: string } };
  return body.message !== undefined
    ? { status, code: undefined, message: body.message, when: summary }
    : { status, code: body.error.code, message: body.error.message, when: summary };
}

/** The anchor of a heading. */
export const slug = (title: string) => title.toLowerCase().replaceAll(' ', '-');

/** The name of the schema that a schema refers to. */
export const nameOf = (schema: Schema) => schema.$ref?.split('/').at(-1);

export function deref(schema: Schema, schemas: Record<string, Schema>): Schema {
  const name = nameOf(schema);
  return name ? schemas[name] ?? {} : schema;
}

export interface Row {
  name: string;
  schema: Schema;
  required: boolean;
  description: string;
  /** Where a parameter is sent; a member of an object has none. */
  place?: Parameter['in'];
}

/** The members of an object. */
export function membersOf(schema: Schema, schemas: Record<string, Schema>): Row[] {
  const { properties = {}, required = [] } = deref(schema, schemas);
  return Object.entries(properties).map(([name, member]) => ({
    name, schema: member, required: required.includes(name),
    description: member.description ?? deref(member, schemas).description ?? '',
  }));
}

/** The objects that a value is, holds in a list or a map, or is one of. */
export function objectsIn(schema: Schema, schemas: Record<string, Schema>): { name: string | undefined; schema: Schema }[] {
  const found = deref(schema, schemas);
  if (found.properties) return [{ name: nameOf(schema), schema: found }];
  const inner = [...(found.oneOf ?? []), ...(found.anyOf ?? []), found.items, found.additionalProperties];
  return inner.flatMap((each) => (typeof each === 'object' ? objectsIn(each, schemas) : []));
}

/**
 * What begins the anchors of the members of an object that opens in the row with an anchor. One of several objects has its name
 * there.
 */
export const within = (id: string, objects: { name: string | undefined }[], at: number) =>
  (objects.length > 1 ? `${id}.${objects[at]!.name ?? at + 1}` : id);

/** The rules of a schema's values, each in a few characters. */
export function limits(schema: Schema): string[] {
  const span = (low: number | undefined, high: number | undefined, unit: string) => {
    const [least, most] = [low, high].map((n) => n?.toLocaleString('en'));
    if (least && most) return `${least}–${most} ${unit}`;
    return most ? `≤ ${most} ${unit}` : least && `≥ ${least} ${unit}`;
  };
  return [
    ...(schema.enum ?? []).map(String), span(schema.minLength, schema.maxLength, 'characters'),
    span(schema.minItems, schema.maxItems, 'items'),
    schema.minimum !== undefined && `≥ ${schema.minimum}`, schema.maximum !== undefined && `≤ ${schema.maximum}`,
    schema.pattern, schema.default !== undefined && `default ${String(schema.default)}`,
  ].filter((limit) => typeof limit === 'string');
}
