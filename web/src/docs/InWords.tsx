import { json, membersOf, type Operation, type Schema } from './document';
import type { Entry } from './search';

/** The words of a part of the page that is not drawn: one element in the place of hundreds, with about their height. */
export function InWords({ entries: [itself, ...rest], height }: { entries: Entry[]; height: number }) {
  const words = [itself?.text, ...rest.map(({ title, text }) => `${title} ${text}`)].filter(Boolean).join(' ');
  return <p className="in-words" style={{ minHeight: `${height}px` }}>{words.replace(/[`*|]/g, '')}</p>;
}

// Heights in pixels of what is drawn, as wide as on a laptop: they keep the scroll bar nearly still, and need not be exact.
const line = 20;
const characters = 60;
const heightOfText = (text: string, wide = characters) => line * Math.ceil(text.length / wide);
const heightOfMembers = (rows: { description?: string }[], wide = characters) =>
  rows.reduce((sum, row) => sum + 48 + heightOfText(row.description ?? '', wide), 0);

export function heightOfCall(call: Operation, schemas: Record<string, Schema>): number {
  const { description, parameters, body, answers, errors } = call;
  const rows = body?.type === json ? membersOf(body.schema, schemas) : [];
  const texts = heightOfText(description) + heightOfMembers(parameters) + heightOfMembers(rows) + 90 * answers.length;
  return 100 + Math.max(texts, 400) + (errors.length > 0 ? 44 : 0);
}

export const heightOfSchema = (schema: Schema, schemas: Record<string, Schema>) =>
  heightOfText(schema.description ?? '', 110) + heightOfMembers(membersOf(schema, schemas), 110);
