/** The token of a sign-in link, or of a token by itself: 32 base62 characters. */
export function tokenOf(link: string): string | undefined {
  return /(?:^|#)([0-9A-Za-z]{32})$/.exec(link.trim())?.[1];
}
