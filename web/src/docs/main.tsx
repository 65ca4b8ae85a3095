import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import '../design/base.css';
import { applyTheme } from '../shell/theme';
import { App } from './App';
import './docs.css';

applyTheme();
createRoot(document.getElementById('root')!).render(<StrictMode><App /></StrictMode>);
