import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiError } from '@/api';
import { ErrorNote } from './Feedback';

afterEach(cleanup);

const said = (error: unknown) => {
  render(<ErrorNote error={error} title="Nothing was saved." />);
  const note = screen.getByRole('alert');
  const details = note.querySelector('details')?.textContent ?? '';
  const words = note.textContent!.slice(0, note.textContent!.length - details.length);
  cleanup();
  return [words, details];
};

// spec: console-errors
describe('an error on a page', () => {
  it.each([
    [403, 'The key needs the role editor.', 'Your role may not do this.'],
    [404, 'Result not found.', 'It is not there, or no longer.'],
    [429, 'Too many requests.', 'There are too many calls at the moment. Try again in a few seconds.'],
    [503, 'The results service is away.', 'Prism could not do this at the moment. Try again in a few seconds.'],
  ])('of status %d is in words for people, with the text of the API behind them', (status, text, words) => {
    expect(said(new ApiError(status, 'code', text, 'req-1'))).toEqual(
      [`Nothing was saved. ${words}`, `Details${text}Request id req-1Copy request id`],
    );
  });

  it('that names what is wrong says that, without its path', () => {
    expect(said(new ApiError(400, 'validation_failed', 'Invalid request: q: Expected a word'))).toEqual(
      ['Nothing was saved. Expected a word.', 'DetailsInvalid request: q: Expected a word'],
    );
    const text = 'Invalid request: name: String must contain at most 200 character(s); days: Expected number, received string';
    expect(said(new ApiError(400, 'validation_failed', text))).toEqual(
      ['Nothing was saved. At most 200 characters. A number.', `Details${text}`],
    );
  });

  it('of what stands against the call, or without a response, has nothing to hide', () => {
    expect(said(new ApiError(409, 'conflict', '3 results match now.'))).toEqual(['Nothing was saved. 3 results match now.', '']);
    expect(said(new ApiError(0, 'no_response', 'Prism does not respond.'))).toEqual(
      ['Nothing was saved. Prism does not respond.', ''],
    );
    expect(said(new Error('The disk is full.'))).toEqual(['Nothing was saved. The disk is full.', '']);
  });
});
