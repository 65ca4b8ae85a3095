import { cleanup } from '@testing-library/react';
import { afterEach } from 'vitest';

// jsdom has dialogs, but does not open them.
HTMLDialogElement.prototype.showModal ??= function (this: HTMLDialogElement) { this.open = true; };
HTMLDialogElement.prototype.close ??= function (this: HTMLDialogElement) { this.open = false; };

window.scrollTo = () => {};

afterEach(cleanup);
