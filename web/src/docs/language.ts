import { useSyncExternalStore } from 'react';
import { type Language, languages } from './samples';

const stored = 'prism.docs.language';
const listeners = new Set<() => void>();

function language(): Language {
  const value = localStorage.getItem(stored);
  return languages.find((known) => known === value) ?? 'curl';
}

export function setLanguage(to: Language): void {
  localStorage.setItem(stored, to);
  for (const listener of listeners) listener();
}

export function useLanguage(): Language {
  return useSyncExternalStore((listener) => { listeners.add(listener); return () => listeners.delete(listener); }, language);
}
