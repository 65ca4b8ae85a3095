// The page comes before its files, which have a hash in their names. While a release is rolled out, they may be asked of a replica
// of another release, which answers 404. Then the page is loaded once more; if that does not help, it says so instead of staying
// empty. This file has the same name in every release, so that each replica has it.
(() => {
  const again = 'prism.again'; // that the page was loaded once more
  let failed = false;
  let reloading = false;

  const first = () => {
    try {
      if (sessionStorage.getItem(again) !== null) return false;
      sessionStorage.setItem(again, '');
      return true;
    } catch {
      return false; // without a memory it would be loaded for ever
    }
  };
  const say = () => {
    const add = (to, name, text) => {
      const made = to.appendChild(document.createElement(name));
      made.textContent = text;
      return made;
    };
    document.title = 'Not loaded · Prism';
    const root = document.getElementById('root');
    root.textContent = '';
    const main = add(root, 'main', '');
    main.className = 'sign-in';
    add(main, 'h1', 'Prism could not be loaded');
    add(main, 'p', 'Some of its files are missing. A new release may be starting: reload the page in a moment.').setAttribute('role', 'alert');
    const button = add(main, 'button', 'Reload');
    button.type = 'button';
    button.className = 'button primary';
    button.addEventListener('click', () => location.reload());
  };
  const fail = ({ target }) => {
    const script = target instanceof HTMLScriptElement;
    if (reloading || (!script && !(target instanceof HTMLLinkElement && target.rel === 'stylesheet'))) return;
    if (!failed && first()) {
      reloading = true;
      location.reload();
    } else if (script) { // without a style sheet alone the page is readable
      if (document.getElementById('root')) say();
      else addEventListener('DOMContentLoaded', say);
    }
    failed = true;
  };
  addEventListener('error', fail, true);
  addEventListener('load', () => {
    removeEventListener('error', fail, true);
    if (failed) return;
    try {
      sessionStorage.removeItem(again);
    } catch { /* nothing was kept */ }
  }, { once: true });
})();
