import { describe, expect, it } from 'vitest';
import { pageOf } from './page';

describe('the page after a sign-in (spec: return-page)', () => {
  it.each([
    '/', '/usage?by=key', '/prisms/a%20b?q=a&q=b', '/keys?next=//evil.example', '/results?from=2026-01-01T00:00:00Z',
  ])('is the page that was asked for: %s', (page) => {
    expect(pageOf(page)).toBe(page);
  });
  it('has no fragment, which may be a sign-in link', () => {
    expect(pageOf('/sign-in#abcdefghijklmnopqrstuvwxyzABCDEF')).toBe('/sign-in');
  });
  it.each([
    undefined, '', 'usage', '?x', '#x', '@evil.example', '.evil.example', ':443/', 'https://evil.example/', 'https:/evil.example',
    'https:evil.example', 'javascript:alert(1)',
    '//evil.example/', '///evil.example/../x', '////evil.example', '//@evil.example', '/x//evil.example', '/..', '/../v1/keys',
    '/./x', '/x/../y', '/%2e%2e/v1/keys', '/.%2E/v1/keys',
    '/..\\v1', '/\\evil.example', '\\\\evil.example', '\\/evil.example', '/\\/evil.example', '/x\\..\\y', '/\t/evil.example',
    '\t//evil.example', ' //evil.example', '/\n/evil.example',
    '/\r\n/evil.example', '/x\u0000', '/.\t./v1', '/x\t', '/\u00a0', '/é',
  ])('is the first page for %j', (address) => {
    expect(pageOf(address)).toBe('/');
  });
  it.each([
    '/%2f%2fevil.example', '/%5c%5cevil.example', '/%09/evil.example', '/@evil.example', '/https:', '/..%2fv1', '/%252e%252e/v1',
  ])('stays below the console for %s', (address) => {
    const { origin, pathname } = new URL(`/console${pageOf(address)}`, location.origin);
    expect([origin, pathname]).toEqual([location.origin, `/console${address}`]);
  });
});
