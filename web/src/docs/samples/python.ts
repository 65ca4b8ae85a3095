import type { Operation } from '../document';
import { argumentsOf, type Kind } from './arguments';
import type { Client } from './signatures';
import { named, type Part, write } from './text';

const bare = (type: string) => type.replace(/ \| None$/, '');

/** The call as a program of the Python client. */
export function python(operation: Operation, origin: string, { methods, types }: Client): string | undefined {
  const method = methods[operation.id];
  if (!method) return undefined;
  const models = new Set<string>();
  let times = false;

  const kindOf = (type: string): Kind => {
    const known: Record<string, Kind> = { str: 'text', int: 'number', float: 'number', bytes: 'bytes', 'Sequence[str]': 'texts' };
    return known[bare(type)] ?? (bare(type) in types ? 'object' : 'other');
  };
  const membersOf = (type: string) => (types[/^Unpack\[(.*)\]$/.exec(type)?.[1] ?? bare(type)] ?? []).map(([name]) => name);
  const literal = (type: string, value: unknown): Part => {
    const of = bare(type);
    const many = /^Sequence\[(.*)\]$/.exec(of);
    if (many && Array.isArray(value)) return { open: '[', parts: value.map((one) => literal(many[1]!, one)), close: ']' };
    if (of === 'bytes') return `${JSON.stringify(value)}.encode()`;
    if (of === 'datetime' && typeof value === 'string') {
      times = true;
      return `datetime.fromisoformat(${JSON.stringify(value.replace('Z', '+00:00'))})`;
    }
    if (of in types && typeof value === 'object' && value !== null) {
      models.add(of);
      const object = value as Record<string, unknown>;
      const parts = types[of]!.flatMap(([name, inner]) =>
        (object[name] === undefined ? [] : [named(`${name}=`, literal(inner, object[name]))]));
      return { open: `${of}(`, parts, close: ')' };
    }
    return pythonPart(value);
  };

  const parts = argumentsOf(operation, method, kindOf, membersOf).flatMap(({ name, type, kind, value }, at, all): Part[] => {
    if (value === undefined) return [];
    if (kind === 'rest') return Object.entries(value as object).map(([member, one]) => named(`${member}=`, pythonPart(one)));
    const positional = !kind && all.slice(0, at).every((earlier) => earlier.value !== undefined);
    return [positional ? literal(type, value) : named(`${name}=`, literal(type, value))];
  });
  const call: Part = {
    open: `client.${operation.id.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}(`, parts, close: ')',
  };

  const { gives } = method;
  const style = { indent: '    ' };
  const lines = /^(Pages\[|LabelQueue$)/.test(gives) ? [`${write(named('for one in ', call), style)}:`, '    print(one)']
    : gives === 'Stream'
    ? [`${write(named('with ', call), style)} as stream:`, '    for piece in stream:', '        sys.stdout.buffer.write(piece)']
      : gives === 'None' ? [write(call, style)]
        : [write(named('response = ', call), style), 'print(response)'];
  return [
    'import os', ...(gives === 'Stream' ? ['import sys'] : []), ...(times ? ['from datetime import datetime'] : []), '',
    `from prism_results import ${['Client', ...models].sort().join(', ')}`, '',
    `client = Client(${JSON.stringify(origin)}, os.environ["PRISM_API_KEY"])`, ...lines, '',
  ].join('\n');
}

/** A value as a literal. */
function pythonPart(value: unknown): Part {
  if (Array.isArray(value)) return { open: '[', parts: value.map(pythonPart), close: ']' };
  if (typeof value === 'object' && value !== null) {
    return {
      open: '{', parts: Object.entries(value).map(([name, one]) => named(`${JSON.stringify(name)}: `, pythonPart(one))),
      close: '}',
    };
  }
  return value === null ? 'None' : typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);
}
