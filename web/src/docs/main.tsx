import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import '../design/base.css';
import { applyTheme } from '../shell/theme';

applyTheme();
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <main className="page"><h1>Prism API reference</h1><p>The document is <a href="/openapi.json">openapi.json</a>.</p></main>
  </StrictMode>,
);
