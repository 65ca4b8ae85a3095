import type { Operation } from '../document';
import { argumentsOf, type Kind } from './arguments';
import type { Client } from './signatures';
import { named, type Part, write } from './text';

const kindOf = (type: string): Kind => {
  const known: Record<string, Kind> = { string: 'text', number: 'number', 'string[]': 'texts', Uint8Array: 'bytes' };
  return known[type.replace(' | null', '')] ?? 'object';
};

/** The call as a module of the TypeScript client. */
export function typeScript(operation: Operation, origin: string, { methods, types }: Client): string | undefined {
  const method = methods[operation.id];
  if (!method) return undefined;
  // The types list what they leave out of the body, because the client sends it.
  const membersOf = (type: string, left: string[]) => left.filter((name) => !types[type]?.some(([without]) => without === name));
  const given = argumentsOf(operation, method, kindOf, membersOf);
  while (given.length > 0 && given.at(-1)!.value === undefined) given.pop();
  const parts = given.map(({ type, value }) =>
    (kindOf(type) === 'bytes' ? `new TextEncoder().encode(${JSON.stringify(value)})` : typeScriptPart(value)));
  const call: Part = { open: `prism.${operation.id}(`, parts, close: ')' };
  const style = { indent: '  ', pad: ' ', hugs: true };

  const { gives } = method;
  const loops = /^(List|AsyncGenerator)</.test(gives);
  const text = write(loops ? { ...named('for await (const one of ', call) as Exclude<Part, string>, close: ')) {' }
    : named(gives === 'Promise<void>'
      ? 'await ' : gives === 'Promise<Download>' ? 'const rows = await ' : 'const response = await ', call), style);
  return [
    'import { Prism } from "@prism-results/client";', '',
    `const prism = new Prism({ url: ${JSON.stringify(origin)}, key: process.env.PRISM_API_KEY ?? "" });`, '',
    loops ? `${text}\n  console.log(one);\n}` : `${text};`,
    ...(loops || gives === 'Promise<void>'
      ? [] : [gives === 'Promise<Download>' ? 'console.log(await rows.text());' : 'console.log(response);']), '',
  ].join('\n');
}

/** A value as a literal. */
function typeScriptPart(value: unknown): Part {
  if (Array.isArray(value)) return { open: '[', parts: value.map(typeScriptPart), close: ']' };
  if (typeof value === 'object' && value !== null) {
    const key = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));
    return {
      open: '{', parts: Object.entries(value).map(([name, one]) => named(`${key(name)}: `, typeScriptPart(one))), close: '}',
    };
  }
  return value === undefined ? 'undefined' : JSON.stringify(value);
}
