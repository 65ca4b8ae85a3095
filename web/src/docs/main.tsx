import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { session } from '../api/session';
import '../design/base.css';
import { applyTheme } from '../shell/theme';
import { App } from './App';
import './docs.css';
import { forgetKey } from './key';

applyTheme();
// The browser may keep the page in its memory for the way back, and the keys with it.
addEventListener('pagehide', () => {
  session.forget();
  forgetKey();
});
createRoot(document.getElementById('root')!).render(<StrictMode><App /></StrictMode>);
