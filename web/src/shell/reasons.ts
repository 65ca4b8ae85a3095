const again = 'Begin again with the button below.';
const owner = 'Ask an owner of your account for an invitation, or for its address to sign in at.';

// Why a sign-in by OpenID Connect signed nobody in, and what to do (spec: openid-errors).
const reasons: Record<string, string> = {
  openid_denied: `The sign-in was declined at your provider. ${again}`,
  openid_expired: `The sign-in took longer than 10 minutes, or began in another browser. ${again}`,
  openid_failed:
    'Your provider’s answer could not be trusted, so nobody was signed in. '
    + 'Begin again; if it fails again, tell whoever runs Prism, whose log says why.',
  openid_unavailable: 'Your provider or Prism does not respond now. Try again in a minute, or use a sign-in link.',
  not_a_member: `Your provider knows you, but no account here has you as a member, or not the one that you named. ${owner}`,
  link_invalid: 'The invitation was used or has expired. Ask an owner of your account for a new link.',
  too_many_sign_ins: 'There were too many sign-ins from your network. Wait a minute, then try again.',
};

/** What the address of the sign-in page says of a sign-in that failed, in words; undefined if it says nothing. */
export function reasonOf(error: string | undefined): string | undefined {
  if (error === undefined) return undefined;
  return Object.hasOwn(reasons, error) ? reasons[error] : 'The sign-in failed. Try again.';
}
