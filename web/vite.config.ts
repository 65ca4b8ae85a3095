import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import { licenses } from './dev/licenses.ts';
import { limitsOf } from './dev/limits.ts';
import { devSession } from './dev/session.ts';

const prism = process.env.PRISM_URL ?? 'http://127.0.0.1:8080';
const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

export default defineConfig({
  base: '/console/',
  appType: 'spa',
  plugins: [react(), devSession(), licenses()],
  define: { __LIMITS__: JSON.stringify(limitsOf(path('../services/gateway/internal/apidoc/openapi.json'))) },
  resolve: { alias: { '@': path('./src') } },
  server: {
    fs: { allow: ['.', '../client/typescript/src'] },
    proxy: Object.fromEntries(
      ['/v1', '/openapi.json', '/console/session', '/console/config', '/console/openid'].map((prefix) => [
        prefix,
        { target: prism },
      ]),
    ),
  },
  build: {
    target: 'es2023',
    // Nothing of the machine or the moment is in the output: `make verify` compares a second build byte for byte.
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: { input: { index: path('./index.html'), docs: path('./docs.html') } },
  },
  experimental: {
    // The gateway serves docs.html at /docs, also where there is no console, so each page asks below its own path.
    renderBuiltUrl(file, { hostId, hostType }) {
      if (hostType !== 'html') return { relative: true };
      return hostId.endsWith('docs.html') ? `/docs/${file}` : `/console/${file}`;
    },
  },
  test: { environment: 'jsdom', setupFiles: ['./src/test/setup.ts'], restoreMocks: true, testTimeout: 300_000 },
});
