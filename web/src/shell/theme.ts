import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';

const stored = 'prism.theme';
const listeners = new Set<() => void>();

export function theme(): Theme {
  const value = localStorage.getItem(stored);
  return value === 'light' || value === 'dark' ? value : 'system';
}

export function setTheme(to: Theme): void {
  if (to === 'system') localStorage.removeItem(stored);
  else localStorage.setItem(stored, to);
  applyTheme();
  for (const listener of listeners) listener();
}

/** Puts the choice on the document, where the tokens read it. */
export function applyTheme(): void {
  const value = theme();
  if (value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = value;
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => { listeners.add(listener); return () => listeners.delete(listener); }, theme);
}
