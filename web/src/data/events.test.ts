import { describe, expect, it } from 'vitest';
import { EventReader, moving, over } from './events';

const sent = 'event: run\ndata: {"id":1}\n\n: still here\n\nevent: run\r\ndata: {"a":\r\ndata: 2}\r\n\r\ndata:bare\r\r';
const events = [{ event: 'run', data: '{"id":1}' }, { event: 'run', data: '{"a":\n2}' }, { event: 'message', data: 'bare' }];

describe('events', () => {
  it('are read with every kind of line break', () => {
    expect(new EventReader().read(sent)).toEqual(events);
  });

  it.each([1, 2, 3, 5, 17])('do not depend on pieces, here of %i characters', (size) => {
    const reader = new EventReader();
    const found = [];
    for (let at = 0; at < sent.length; at += size) found.push(...reader.read(sent.slice(at, at + size)));
    expect(found).toEqual(events);
  });

  it('that are not whole are not told', () => {
    expect(new EventReader().read('event: run\ndata: {"id":1}\n')).toEqual([]);
  });

  it('without data are none, and their name does not stay', () => {
    expect(new EventReader().read('event: run\n\ndata: x\n\n')).toEqual([{ event: 'message', data: 'x' }]);
  });

  it('keep all spaces but the first', () => {
    expect(new EventReader().read('data:  x \n\n')).toEqual([{ event: 'message', data: ' x ' }]);
  });
});

it('tells which runs change by themselves', () => {
  expect((['queued', 'running', 'pausing', 'cancelling'] as const).every((status) => moving({ status }))).toBe(true);
  expect((['paused', 'finished', 'cancelled'] as const).some((status) => moving({ status }))).toBe(false);
  expect(over({ status: 'paused' })).toBe(false);
});
