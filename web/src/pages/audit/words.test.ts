import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { detailOf, folded, saying } from './words';

it('every action of the API is said in words', () => {
  const document = JSON.parse(readFileSync('../services/gateway/internal/apidoc/openapi.json', 'utf8')) as {
    components: { schemas: { AuditEntry: { properties: { action: { enum: string[] } } } } };
  };
  const actions = document.components.schemas.AuditEntry.properties.action.enum;
  expect(actions).toContain('key.create');
  expect(actions.filter((action) => saying(action) === action)).toEqual([]);
});

it('a detail reads as a list of facts', () => {
  expect(detailOf({ role: 'caller', expires_at: '2027-01-01T00:00:00.000Z' })).toBe('role caller, expires 2027-01-01');
  expect(detailOf({ days: null, deleted: 3 })).toBe('kept for good, deleted 3');
  expect(detailOf({ days: 1 })).toBe('1 day');
  expect(detailOf({ by: ['ref', 'status'] })).toBe('by ["ref","status"]');
  expect(detailOf({})).toBe('');
});

it('a series of renewals of a session is one row', () => {
  const entry = (action: string, id: string) => ({ action, actor: { id } });
  const entries = [
    entry('member.key', 'a'), entry('member.key', 'a'), entry('member.key', 'b'), entry('key.create', 'a'),
    entry('key.create', 'a'), entry('member.key', 'a'),
  ];
  expect(folded(entries).map((row) => [entries.indexOf(row.entry), row.times])).toEqual([[0, 2], [2, 1], [3, 1], [4, 1], [5, 1]]);
});
