import type { Operation } from '../document';
import { curl } from './curl';
import { go } from './go';
import { python } from './python';
import type { Signatures } from './signatures';
import known from './signatures.json';
import { typeScript } from './typescript';

export const languages = ['curl', 'Go', 'TypeScript', 'Python'] as const;
export type Language = (typeof languages)[number];

const signatures = known as unknown as Signatures;

/** The call of the document's first example, which works as it stands when PRISM_API_KEY is in the environment. */
export function sample(language: Language, operation: Operation, origin: string): string {
  const text = {
    curl: () => curl(operation, origin),
    Go: () => go(operation, origin, signatures.Go),
    TypeScript: () => typeScript(operation, origin, signatures.TypeScript),
    Python: () => python(operation, origin, signatures.Python),
  }[language]();
  return text?.trimEnd() ?? `The ${language} client has no method for this call.`;
}
