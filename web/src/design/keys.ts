/** Whether a key press belongs to a control that takes text. */
export function editable(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/** Whether a dialog or menu lies over the page and has the keys. */
export function layered(): boolean {
  return document.querySelector('dialog[open], [popover][data-open]') !== null;
}
