import { AnswerError } from "./errors.js";
import type { ChoiceAnswer, RawAnswer, ScaleAnswer, YesNoAnswer } from "./types.js";

/** What a column of a Lens has: a text, a number, or null if the stored answers have no value for the column. */
export type Value = string | number | null;

/** The answer to a yes_no question in a column. */
export type YesNo = "yes" | "no" | "unsure";

/** The columns of a result, in Lens order. `get` returns any value; the other methods return a value of one kind or throw an {@link AnswerError}. */
export class Answers extends Map<string, Value> {
  /** The key of the chosen option. */
  choice(column: string): string {
    return this.#text(column);
  }

  yesNo(column: string): YesNo {
    const value = this.#text(column);
    if (value !== "yes" && value !== "no" && value !== "unsure") throw new AnswerError(`the column ${quote(column)} is not that of a yes_no question`);
    return value;
  }

  /** The key of the chosen level. */
  scale(column: string): string {
    return this.#text(column);
  }

  /** A probability, an average or a confidence. */
  number(column: string): number {
    const value = this.#value(column);
    if (typeof value !== "number") throw new AnswerError(`the column ${quote(column)} has a text, not a number`);
    return value;
  }

  #text(column: string): string {
    const value = this.#value(column);
    if (typeof value !== "string") throw new AnswerError(`the column ${quote(column)} has a number, not an answer`);
    return value;
  }

  #value(column: string): string | number {
    const value = this.get(column);
    if (value === undefined) throw none(this, "column", column);
    if (value === null) throw new AnswerError(`the column ${quote(column)} is null: the version that answered lacks its question`);
    return value;
  }

  /** The answers as an object, as the API writes them. */
  toJSON(): Record<string, Value> {
    return Object.fromEntries(this);
  }
}

/** The stored answers by question key, in the version's order. */
export class RawAnswers extends Map<string, RawAnswer> {
  choice(question: string): ChoiceAnswer {
    return this.#of("choice", question);
  }

  yesNo(question: string): YesNoAnswer {
    return this.#of("yes_no", question);
  }

  scale(question: string): ScaleAnswer {
    return this.#of("scale", question);
  }

  #of<T extends RawAnswer["type"]>(type: T, question: string): Extract<RawAnswer, { type: T }> {
    const answer = this.get(question);
    if (!answer) throw none(this, "question", question);
    if (answer.type !== type) throw new AnswerError(`the question ${quote(question)} has the type ${answer.type}, not ${type}`);
    return answer as Extract<RawAnswer, { type: T }>;
  }

  /** The answers as an object, as the API writes them. */
  toJSON(): Record<string, RawAnswer> {
    return Object.fromEntries(this);
  }
}

function none(answers: Map<string, unknown>, what: string, name: string): AnswerError {
  return new AnswerError(`there is no ${what} ${quote(name)}; there are ${[...answers.keys()].map(quote).join(", ")}`);
}

const quote = (name: string) => JSON.stringify(name);
