import { type KeyboardEvent as PressedIn, useState } from 'react';

/**
 * Makes a handler of keys, which gets none of an input method: with it, Enter ends a composition, and arrows choose a word.
 * Safari has ended the composition when its Enter comes, whose code is 229. Every handler of keys is made here (see
 * keys.test.ts).
 */
export function onKeys<E extends KeyboardEvent | PressedIn>(handler: (event: E) => void): (event: E) => void {
  return (event) => {
    const { isComposing, keyCode } = 'nativeEvent' in event ? event.nativeEvent : event;
    if (!isComposing && keyCode !== 229) handler(event);
  };
}

/** Has a handler get the keys of the whole page. Returns how to stop. */
export function onPageKeys(handler: (event: KeyboardEvent) => void): () => void {
  const listener = onKeys(handler);
  document.addEventListener('keydown', listener);
  return () => document.removeEventListener('keydown', listener);
}

/**
 * The value and handlers of an input that finds or filters: what an input method composes is shown, and not told before it is a
 * word.
 */
export function useTyped(value: string, onValue: (value: string) => void) {
  const [composed, setComposed] = useState<string>();
  const tell = (text: string) => { setComposed(undefined); onValue(text); };
  return {
    value: composed ?? value,
    onChange: ({ target, nativeEvent }: React.ChangeEvent<HTMLInputElement>) => {
      if ((nativeEvent as InputEvent).isComposing) setComposed(target.value);
      else tell(target.value);
    },
    onCompositionEnd: ({ currentTarget }: React.CompositionEvent<HTMLInputElement>) => tell(currentTarget.value),
  };
}

/** Whether a key press belongs to a control that takes text. */
export function editable(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/** Whether a dialog or menu lies over the page and has the keys. */
export function layered(): boolean {
  return document.querySelector('dialog[open], [popover][data-open]') !== null;
}
