import { useSyncExternalStore } from 'react';

// The API key that a reader types. It is in this variable and in the inputs, and nowhere else: a reload forgets it.
let key = '';
let typed = false; // whether it is used though there is a session
const inputs = new Set<HTMLInputElement>();
const listeners = new Set<() => void>();

/** Shows the key in an input, and follows what is typed there. React's own value would copy the key into an attribute. */
export function keyInput(input: HTMLInputElement): () => void {
  const follow = () => {
    key = input.value;
    for (const other of inputs) if (other !== input) other.value = key;
  };
  input.value = key;
  inputs.add(input);
  input.addEventListener('input', follow);
  return () => {
    input.removeEventListener('input', follow);
    inputs.delete(input);
  };
}

export const typedKey = () => key;

/** Drops the key, also from the inputs: the browser may keep the page for the way back to it. */
export function forgetKey(): void {
  key = '';
  for (const input of inputs) input.value = '';
}

/** Whether a reader who has a session types a key nevertheless. */
export function useOwnKey(): boolean {
  return useSyncExternalStore((listener) => { listeners.add(listener); return () => listeners.delete(listener); }, () => typed);
}

export function setOwnKey(to: boolean): void {
  typed = to;
  forgetKey();
  for (const listener of listeners) listener();
}
