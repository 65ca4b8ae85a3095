import { render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { Button } from './Button';
import { Confirm, Dialog } from './Dialog';

const nothing = () => {};

it('a dialog whose next step cannot be taken yet begins at what changes nothing', () => {
  render(<Dialog open onClose={nothing} title="Retry?" actions={
    <><Button>Cancel</Button><Button variant="primary" disabled>Retry</Button></>
  }>Counting</Dialog>);
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Cancel' }));
});

it('a dialog of words alone is scrolled by keys', () => {
  const { unmount } = render(<Dialog open onClose={nothing} title="Keys">Words</Dialog>);
  expect(document.querySelector<HTMLElement>('.dialog-body')!.tabIndex).toBe(0);
  unmount();
  render(<Dialog open onClose={nothing} title="Name"><input aria-label="Name" /></Dialog>);
  expect(document.querySelector<HTMLElement>('.dialog-body')!.tabIndex).toBe(-1);
  expect(document.activeElement).toBe(screen.getByRole('textbox'));
});

it('what keeps a run is not called as what cancels it', () => {
  render(
    <Confirm open onClose={nothing} onConfirm={nothing} title="Cancel November?" verb="Cancel run" keep="Keep run">Rows</Confirm>,
  );
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Keep run' }));
  expect(screen.queryByRole('button', { name: 'Cancel' })).toBeNull();
});
