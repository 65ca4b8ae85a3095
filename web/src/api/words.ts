// The API names what is wrong with a member of a request in words for programmers.

/** What people are told instead, also before a request is sent. */
export const texts = {
  key: 'Lowercase letters, digits and _, at most 64, beginning with a letter.',
  slug: 'Lowercase letters, digits and hyphens inside, at most 64.',
  name: 'Letters, digits, spaces and _ . -, 1 to 64.',
  twice: 'Another one has this key.',
  row: 'Another column of a row has this name.',
  required: 'Required.',
  other: 'Another model than the first one.',
};

const words: [RegExp, (...found: string[]) => string][] = [
  [/^Required$/, () => texts.required],
  [/^must match \^\[a-z\]\[a-z0-9_\]/, () => texts.key],
  [/^must match \^\[a-z0-9\]/, () => texts.slug],
  [/^must match \^\[A-Za-z0-9_ /, () => texts.name],
  [/^must be unique$/, () => texts.twice],
  [/^must be unique in a row$/, () => texts.row],
  [/^must not be a UUID$/, () => 'A slug cannot have the form of a UUID.'],
  [/^must not begin with (.+)$/, (n) => `A slug cannot begin with ${n}.`],
  [/^must be greater than the level before$/, () => 'More than the value of the level before.'],
  [/^String must contain at least 1 /, () => texts.required],
  [/^String must contain at most (\d+) /, (n) => `At most ${Number(n).toLocaleString('en-US')} characters.`],
  [/^Array must contain at least (\d+) /, (n) => `At least ${n}.`],
  [/^Array must contain at most (\d+) /, (n) => `At most ${n}.`],
  [/^Number must be greater than or equal to (.+)$/, (n) => `At least ${n}.`],
  [/^Number must be less than or equal to (.+)$/, (n) => `At most ${n}.`],
  [/^Expected number, /, () => 'A number.'],
  [/^Number must be greater than (\d+)$/, (n) => `More than ${n}.`],
  [/^must be another model than the version's$/, () => texts.other],
  [/^No such model$/, () => 'No model of this name is configured.'],
  [/^Unknown question$/, () => 'The latest version has no such question.'],
  [/^Unknown option$/, () => 'The question has no such option.'],
];

/** The API's text of a problem as a sentence for people; one that is not known stays as it is. */
export function inWords(message: string): string {
  for (const [pattern, say] of words) {
    const found = pattern.exec(message);
    if (found) return say(...found.slice(1));
  }
  return message;
}
