/**
 * The path and query of a page of the app, below /console, and `/` for any other address (spec: return-page). Anybody may have
 * written the address, so a path that the browser would read otherwise than it is written is refused.
 */
export function pageOf(address: string | undefined): string {
  const [path] = (address ?? '').split(/[?#]/, 1);
  if (!path?.startsWith('/') || path.includes('//')) return '/';
  const url = new URL(`/console${address}`, location.origin);
  return url.pathname === `/console${path}` ? path + url.search : '/';
}
