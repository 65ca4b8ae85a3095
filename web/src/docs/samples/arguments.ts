import { json, nameOf, type Operation } from '../document';
import type { Method } from './signatures';

/** What a parameter takes, as far as it tells what is meant for it; `other` is found by its name alone. */
export type Kind = 'text' | 'number' | 'texts' | 'bytes' | 'object' | 'other';

const is: Record<Kind, (value: unknown) => boolean> = {
  text: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' || value === null,
  texts: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
  bytes: () => false,
  object: () => false,
  other: () => false,
};

/** An argument of a method; undefined is for the method to choose. */
interface Argument {
  name: string;
  type: string;
  kind: string | undefined;
  value: unknown;
}

/**
 * The arguments that make a method send what the document's first example sends. The first parameters are those of the path.
 * Others have the value of the body's member, or of the query's parameter, that has their name or else their type; an object
 * takes the members that its type has, `membersOf`; where it is all that is taken, or has the type of the body, its name is not
 * that of a member.
 */
export function argumentsOf(
  operation: Operation, { takes }: Method, kindOf: (type: string) => Kind, membersOf: (type: string, left: string[]) => string[],
): Argument[] {
  const path = operation.parameters.filter((parameter) => parameter.in === 'path');
  const example = operation.body?.examples[0]?.value;
  const left: Record<string, unknown> = operation.body?.type === json ? { ...(example as object) }
    : Object.fromEntries(operation.parameters.flatMap((each) =>
      (each.in === 'query' && each.example !== undefined ? [[each.name, each.example]] : [])));
  const take = (name: string | undefined) => {
    if (name === undefined || !Object.hasOwn(left, name)) return undefined;
    const value = left[name];
    delete left[name];
    return value;
  };
  const whole = nameOf(operation.body?.schema ?? {});
  const made = takes.map(([name, type, kind]): Argument => ({ name, type, kind, value: undefined }));
  const objects: Argument[] = [];
  const alone = takes.filter(([, , kind]) => !kind).length - path.length === 1 && Object.keys(left).length > 1;
  for (const argument of made) {
    const kind = kindOf(argument.type);
    const own = argument.name.replace(/_$/, '').replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();
    if (path.length > 0 && !argument.kind) argument.value = path.shift()!.example;
    else if (kind === 'bytes') argument.value = example;
    else if (Object.hasOwn(left, own)
      && !(kind === 'object' && !argument.kind && (alone || argument.type === whole))) argument.value = take(own);
    else if (kind === 'object' || argument.kind === 'rest') objects.push(argument);
    else if (!argument.kind) argument.value = take(Object.keys(left).find((name) => is[kind](left[name])));
  }
  for (const argument of objects) {
    const found =
      membersOf(argument.type, Object.keys(left)).flatMap((name) => (Object.hasOwn(left, name) ? [[name, take(name)]] : []));
    if (found.length > 0) argument.value = Object.fromEntries(found);
  }
  return made;
}
