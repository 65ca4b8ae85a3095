/** A text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A text as a Go string literal: a raw one where that is easier to read. */
export function goString(text: string): string {
  if (text.includes('\n') && !/[`\r]/.test(text)) return `\`${text}\``;
  return JSON.stringify(text)
    .replace(/[\u007f-\u009f\u2028\u2029\ufeff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
