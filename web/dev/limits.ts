import { readFileSync } from 'node:fs';

interface Schema {
  properties: Record<string, { minItems?: number; maxItems?: number; maxLength?: number }>;
}

/** The bounds of the OpenAPI document that pages say before the API does; `group` is absent where options have none. */
export function limitsOf(file: string) {
  const { schemas } = (JSON.parse(readFileSync(file, 'utf8')) as { components: { schemas: Record<string, Schema> } }).components;
  const range = (schema: string, member: string) => {
    const { minItems: least, maxItems: most } = schemas[schema]!.properties[member]!;
    if (least === undefined || most === undefined) throw new Error(`${file} does not bound ${schema}.${member}`);
    return { least, most };
  };
  const group = schemas.Option!.properties.group;
  return {
    fields: range('NewVersion', 'fields'), questions: range('NewVersion', 'questions'),
    options: range('ChoiceQuestion', 'options'), tags: range('TagsQuestion', 'options'), levels: range('ScaleQuestion', 'levels'),
    examples: { least: 0, most: schemas.NewVersion!.properties.examples!.maxItems ?? 0 },
    columns: range('Lens', 'columns'), ...(group && { group: group.maxLength ?? 100 }),
  };
}

export type Limits = ReturnType<typeof limitsOf>;
