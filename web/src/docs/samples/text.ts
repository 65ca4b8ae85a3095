const widest = 84; // characters of a line

/** A part of a sample: a text, or what stands between two brackets, on a line if it is short. */
export type Part = string | { open: string; parts: Part[]; close: string };

export const named = (name: string, part: Part): Part =>
  (typeof part === 'string' ? name + part : { ...part, open: name + part.open });

interface Style {
  indent: string;
  /** What stands inside of braces on a line. */
  pad?: string;
  /** Whether the last part keeps its brackets beside those around it: `call("a", {`. */
  hugs?: boolean;
}

function flat(part: Part, pad: string): string {
  if (typeof part === 'string') return part;
  const inside = part.parts.map((each) => flat(each, pad)).join(', ');
  const around = part.open.endsWith('{') && inside !== '' ? pad : '';
  return part.open + around + inside + around + part.close;
}

/** Writes a part behind `before` characters of its first line. */
export function write(part: Part, style: Style, depth = 0, before = 0): string {
  const { indent, pad = '', hugs = false } = style;
  const short = flat(part, pad);
  const fits = depth * (indent === '\t' ? 4 : indent.length) + before + short.length <= widest && !short.includes('\n');
  if (typeof part === 'string' || part.parts.length === 0 || fits) return short;
  const last = part.parts.at(-1)!;
  if (hugs && part.open.endsWith('(') && typeof last !== 'string' && last.parts.length > 0) {
    const first = part.parts.slice(0, -1).map((each) => `${flat(each, pad)}, `).join('');
    return part.open + first + write(last, style, depth, widest) + part.close;
  }
  const lines = part.parts.map((each) => `${indent.repeat(depth + 1)}${write(each, style, depth + 1)},\n`);
  return `${part.open}\n${lines.join('')}${indent.repeat(depth)}${part.close}`;
}
