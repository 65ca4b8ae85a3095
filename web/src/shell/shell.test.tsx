import { fireEvent, render } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Action, listenForKeys, useActions } from './actions';
import { match } from './Palette';
import { tokenOf } from './token';

const token = 'abcdefghijklmnopqrstuvwxyzABCDEF';

describe('the token of a sign-in link', () => {
  it('is read from a whole address, a fragment, or by itself', () => {
    expect(tokenOf(`https://prism.example/console/sign-in#${token}`)).toBe(token);
    expect(tokenOf(`#${token}`)).toBe(token);
    expect(tokenOf(` ${token}\n`)).toBe(token);
  });
  it('is not guessed from part of one', () => {
    expect(tokenOf(`https://prism.example/console/sign-in#${token.slice(1)}`)).toBeUndefined();
    expect(tokenOf(`${token}0`)).toBeUndefined();
    expect(tokenOf('')).toBeUndefined();
  });
});

function Actions({ actions }: { actions: Action[] }) {
  useActions(actions);
  return <textarea aria-label="text" />;
}

describe('keys', () => {
  let stop = () => {};
  beforeEach(() => { stop = listenForKeys(); });
  afterEach(() => stop());
  const press = (key: string, target: Element = document.body, more = {}) => fireEvent.keyDown(target, { key, ...more });

  it('run the action that has them, pairs included, while it is shown', () => {
    const [go, help, nothing] = [vi.fn(), vi.fn(), vi.fn()];
    const { unmount } = render(<Actions actions={[
      { id: '1', group: 'Go to', label: 'Prisms', keys: 'g p', run: go },
      { id: '2', group: 'Help', label: 'Keys', keys: '?', run: help },
      { id: '3', group: 'Help', label: 'Without keys', run: nothing },
    ]} />);
    press('p');
    expect(go).not.toHaveBeenCalled();
    press('g');
    press('p');
    expect(go).toHaveBeenCalledOnce();
    press('?');
    expect(help).toHaveBeenCalledOnce();
    expect(nothing).not.toHaveBeenCalled();
    unmount();
    press('?');
    expect(help).toHaveBeenCalledOnce();
  });
  it('are left to fields and to the browser', () => {
    const run = vi.fn();
    const { getByLabelText } = render(<Actions actions={[{ id: '1', group: 'A', label: 'New', keys: 'n', run }]} />);
    press('n', getByLabelText('text'));
    press('n', document.body, { ctrlKey: true });
    press('n', document.body, { metaKey: true });
    expect(run).not.toHaveBeenCalled();
    press('n');
    expect(run).toHaveBeenCalledOnce();
  });
  it('belong to the newest action where two have them, which runs as it was last shown', () => {
    const [old, fresh, freshest] = [vi.fn(), vi.fn(), vi.fn()];
    const action = (id: string, run: () => void): Action => ({ id, group: 'A', label: id, keys: 'n', run });
    render(<Actions actions={[action('frame', old)]} />);
    const { rerender, unmount } = render(<Actions actions={[action('page', fresh)]} />);
    rerender(<Actions actions={[action('page', freshest)]} />);
    press('n');
    expect([old, fresh, freshest].map((run) => run.mock.calls.length)).toEqual([0, 0, 1]);
    unmount();
    press('n');
    expect(old).toHaveBeenCalledOnce();
  });
});

describe('the palette', () => {
  const action = (label: string, group = 'Go to', words?: string): Action => ({ id: label, label, group, words, run: () => {} });
  const all = [
    action('API reference', 'Help'), action('Prisms'), action('Create prism', 'Prisms'), action('tickets', 'Prism', 'Support'),
  ];
  const found = (text: string) => match(all, text).map((a) => a.label);
  it('finds by any part of a name, what begins with it first', () =>
    expect(found('pris')).toEqual(['Prisms', 'Create prism', 'tickets']));
  it('finds by each of several words and by words behind the name', () => {
    expect(found('prism support')).toEqual(['tickets']);
    expect(found('PRISM create')).toEqual(['Create prism']);
  });
  it('has everything without a text and nothing for one that matches nothing', () => {
    expect(found('')).toHaveLength(4);
    expect(found('zebra')).toEqual([]);
  });
});
