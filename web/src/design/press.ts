let pressed = false;
for (const type of ['pointerdown', 'pointerup', 'pointercancel'] as const) {
  addEventListener(type, () => { pressed = type === 'pointerdown'; }, { capture: true, passive: true });
}

/**
 * Does what moves the page once the press that is under way, if any, has had its click: a button that moves between the press and
 * its end gets none. A press takes the focus before it ends, and on touch screens both come after the pointer is up.
 */
export function afterPress(act: () => void): void {
  const later = () => void setTimeout(act);
  if (!pressed) return later();
  const ended = new AbortController();
  for (const type of ['pointerup', 'pointercancel'] as const) {
    addEventListener(type, () => { ended.abort(); later(); }, { signal: ended.signal, capture: true });
  }
}
