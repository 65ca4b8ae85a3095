/** A condition of `where`: `topic:is:billing`, `refund:from:0.8`, `topic:labelled`. */
export interface Condition {
  name: string;
  operator: string;
  /** Empty for an operator that has none. */
  value: string;
}

export function parse(text: string): Condition {
  const [name = '', operator = '', ...value] = text.split(':');
  return { name, operator, value: value.join(':') };
}

export const write = ({ name, operator, value }: Condition) => [name, operator, ...(value ? [value] : [])].join(':');

type Where = readonly string[] | undefined;

/** The value of the first condition with this name and operator; empty for one that has none. */
export function valueOf(where: Where, name: string, operator: string): string | undefined {
  return (where ?? []).map(parse).find((one) => one.name === name && one.operator === operator)?.value;
}

/** The conditions with this one in place of those with its name and one of the operators; without it, if there is no value. */
export function put(
  where: Where, name: string, operator: string, value: string | undefined, instead: readonly string[] = [operator],
): string[] | undefined {
  const mine = (text: string) => {
    const one = parse(text);
    return one.name === name && instead.includes(one.operator);
  };
  const at = (where ?? []).findIndex(mine);
  const others = (where ?? []).filter((text) => !mine(text));
  if (value !== undefined) others.splice(at < 0 ? others.length : at, 0, write({ name, operator, value }));
  return others.length ? others : undefined;
}

/** The key of the question that a condition is about; undefined for what Prism itself knows. */
export function questionOf({ name }: Condition): string | undefined {
  return name.startsWith('@') ? undefined : name.split(/[.@]/)[0];
}

export const labelStates = { labelled: 'has a label', unlabelled: 'has no label', wrong: 'differs from its label' } as const;

/**
 * A probability that somebody typed: a percentage, or a part of 1 with a point or comma. Undefined if it is none, as for no text.
 */
export function partOf(typed: string): number | undefined {
  const found = /^\s*(\d*[.,]?\d+|\d+[.,])\s*(%?)\s*$/.exec(typed);
  if (!found) return undefined;
  const number = Number(found[1]!.replace(',', '.'));
  const part = found[2] || number >= 1 ? number / 100 : number;
  return part <= 1 ? Math.round(part * 1e6) / 1e6 : undefined;
}

/** A part of 1 as a percentage to type. */
export const typedPart = (value: string | undefined) => (value ? String(Math.round(Number(value) * 1e6) / 1e4) : '');
