import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

/** The package that a file comes from, or undefined for our own. */
const packageOf = (file: string) => /^.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];

/**
 * Writes licenses.txt into a build: the license of each package of which something is in it, scripts and typefaces alike. A
 * package without one is an error.
 */
export function licenses(): Plugin {
  return {
    name: 'prism-licenses',
    apply: 'build',
    generateBundle(_, bundle) {
      const { root } = this.environment.config;
      const files = Object.values(bundle).flatMap((part) => (part.type === 'chunk' ? part.moduleIds
        : part.originalFileNames.map((name) => join(root, name))));
      const names = new Set(files.flatMap((file) => packageOf(file) ?? []));
      const texts = [...names].sort().map((name) => {
        const folder = join(root, 'node_modules', name);
        const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
          version: string; license?: string;
        };
        const text = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
        if (!text || !license) throw new Error(`${name} has no license.`);
        return `${name} ${version}, ${license}\n\n${readFileSync(join(folder, text), 'utf8').replaceAll('\r\n', '\n').trim()}\n`;
      });
      this.emitFile({
        type: 'asset', fileName: 'licenses.txt',
        source: `The pages of Prism contain these packages.\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`,
      });
    },
  };
}
