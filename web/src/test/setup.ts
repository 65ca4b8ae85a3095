import { cleanup, configure } from '@testing-library/react';
import { afterEach } from 'vitest';

// jsdom has dialogs, but does not open them.
HTMLDialogElement.prototype.showModal ??= function (this: HTMLDialogElement) { this.open = true; };
HTMLDialogElement.prototype.close ??= function (this: HTMLDialogElement) { this.open = false; };

window.scrollTo = () => {};

// What a page shows after a while comes when the machine has time for it.
configure({ asyncUtilTimeout: 30_000 });

afterEach(cleanup);
