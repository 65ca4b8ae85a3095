import { goString } from '@/commands/strings';
import type { Operation } from '../document';
import { argumentsOf, type Kind } from './arguments';
import type { Client } from './signatures';
import { named, type Part, write } from './text';

const numbers = /^u?int(8|16|32|64)?$|^float(32|64)$/;

/** The call as a program of the Go client. */
export function go(operation: Operation, origin: string, { methods, types, basics }: Client): string | undefined {
  const method = methods[operation.id];
  if (!method) return undefined;
  const imports = new Set(['context', 'log', 'os']);

  const kindOf = (type: string): Kind => {
    const of = type.replace(/^\*/, '');
    if (of === '[]byte') return 'bytes';
    if (of === '[]string') return 'texts';
    if (of in types) return 'object';
    if (numbers.test(basics[of] ?? of)) return 'number';
    return (basics[of] ?? of) === 'string' ? 'text' : 'other';
  };
  const namesOf = (type: string): string[] =>
    (types[type.replace(/^\*/, '')] ?? []).flatMap(([name, of, member]) => (name ? [member!] : namesOf(of)));
  const qualified = (type: string): string => type.replace(/(?<![.\w])[A-Z]\w*/g, 'client.$&');

  const literal = (type: string, value: unknown, elided = false): Part => {
    const open = elided ? '' : qualified(type);
    if (type.startsWith('*')) {
      const of = type.slice(1);
      if (value === null) return numbers.test(of) ? 'new(0)' : 'nil'; // of a limit, 0 is what null is
      if (of in types) return named(elided ? '' : '&', literal(of, value, elided));
      if (of === 'Time' || of === 'time.Time') return named(
        of === 'Time' ? '&' : 'new(', named('', of === 'Time' ? literal(of, value) : `${literal(of, value) as string})`),
      );
      if (of === 'float64' && Number.isInteger(value)) return `new(${String(value)}.0)`;
      const typed = of in basics || /^u?int\d/.test(of);
      return typed ? `new(${qualified(of)}(${literal(of, value) as string}))` : `new(${literal(of, value) as string})`;
    }
    if (type === '[]byte') return `[]byte(${goString(String(value))})`;
    if (type.startsWith('[]')) {
      return { open: `${open}{`, parts: (value as unknown[]).map((one) => literal(type.slice(2), one, true)), close: '}' };
    }
    const map = /^map\[string\](.*)$/.exec(type);
    if (map) return {
      open: `${open}{`,
      parts: Object.entries(value as object).map(([key, one]) => named(`${goString(key)}: `, literal(map[1]!, one, true))),
      close: '}',
    };
    if (type === 'Time') return { open: 'client.Time{', parts: [named('Time: ', literal('time.Time', value))], close: '}' };
    if (type === 'time.Time') {
      imports.add('time');
      const at = new Date(String(value));
      return `time.Date(${[
        at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate(), at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds(), 0,
      ].join(', ')}, time.UTC)`;
    }
    if (type in types) {
      const object = (value ?? {}) as Record<string, unknown>;
      const parts = types[type]!.flatMap(([name, of, member]): Part[] => {
        if (!name) return namesOf(of).some((each) => object[each] !== undefined) ? [named(`${of}: `, literal(of, object))] : [];
        const one = object[member!];
        return one === undefined || (one === null && !of.startsWith('*')) ? [] : [named(`${name}: `, literal(of, one))];
      });
      return { open: `${open}{`, parts, close: '}' };
    }
    if ((basics[type] ?? type) === 'string') return goString(String(value));
    if (numbers.test(basics[type] ?? type) || type === 'bool') return String(value);
    return anything(value);
  };

  const zero = (type: string, name: string): Part => {
    const kind = kindOf(type);
    if (type.startsWith('*') || type.startsWith('[]') || type.startsWith('map')) return 'nil';
    if (kind === 'object') return `${qualified(type)}{}`;
    return kind === 'number'
      ? String(operation.parameters.find((parameter) => parameter.name === name)?.schema.default ?? 0) : '""';
  };
  const parts = argumentsOf(operation, method, kindOf, namesOf)
    .map(({ name, type, value }) => (value === undefined ? zero(type, name) : value === null ? 'nil' : literal(type, value)));
  const call: Part = {
    open: `c.${operation.id[0]!.toUpperCase()}${operation.id.slice(1)}(`, parts: ['context.Background()', ...parts], close: ')',
  };

  const { gives } = method;
  const variable = gives.startsWith('Page[') ? 'page' : gives === 'io.ReadCloser' ? 'content' : gives ? 'response' : '';
  const text = write(named(variable ? `${variable}, err := ` : 'err = ', call), { indent: '\t', hugs: true }, 1);
  const then = {
    page: ['\tfor _, one := range page.Data {', '\t\tfmt.Printf("%+v\\n", one)', '\t}'],
    content: ['\tdefer content.Close()', '\tif _, err := io.Copy(os.Stdout, content); err != nil {', '\t\tlog.Print(err)', '\t}'],
    response: ['\tfmt.Printf("%+v\\n", response)'],
    '': [],
  }[variable];
  if (variable === 'content') imports.add('io');
  else if (variable) imports.add('fmt');
  return [
    'package main', '', 'import (', ...[...imports].sort().map((name) => `\t"${name}"`), '',
    '\t"github.com/prism-results/prism/client"', ')', '',
    'func main() {', `\tc, err := client.New(client.Config{URL: ${goString(origin)}, Key: os.Getenv("PRISM_API_KEY")})`,
    '\tif err != nil {', '\t\tlog.Fatal(err)', '\t}', `\t${text}`, '\tif err != nil {', '\t\tlog.Fatal(err)', '\t}', ...then, '}',
    '',
  ].join('\n');
}

// A value whose type holds any JSON.
function anything(value: unknown): Part {
  if (Array.isArray(value)) return { open: '[]any{', parts: value.map(anything), close: '}' };
  if (typeof value === 'object' && value !== null) {
    return {
      open: 'map[string]any{', parts: Object.entries(value).map(([key, one]) => named(`${goString(key)}: `, anything(one))),
      close: '}',
    };
  }
  return value === null ? 'nil' : typeof value === 'string' ? goString(value) : String(value);
}
