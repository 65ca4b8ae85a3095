import type { components } from "./schema.js";

type Schemas = components["schemas"];
/** The answer to one question, with every probability. */
export type Answer = Schemas["Answer"];
export type ChoiceAnswer = Schemas["ChoiceAnswer"];
export type YesNoAnswer = Schemas["YesNoAnswer"];
export type ScaleAnswer = Schemas["ScaleAnswer"];
export type TagsAnswer = Schemas["TagsAnswer"];

/** A result has no answer of the wanted kind under a name. */
export class AnswerError extends Error {
  override name = "AnswerError";
}

/**
 * The answers to the questions of a version, by their keys and in its order, with every probability. `get` returns any answer;
 * the other methods return one of their type, or throw an {@link AnswerError} that says what there is.
 */
export class Answers extends Map<string, Answer> {
  /** The chosen option, which is the most probable one, with a confidence of 1 if it is certain and 0 if it is a guess. */
  choice(question: string): ChoiceAnswer {
    return this.#of("choice", question);
  }

  /** The probability of yes. */
  yesNo(question: string): YesNoAnswer {
    return this.#of("yes_no", question);
  }

  /** The chosen level, which is the most probable one. */
  scale(question: string): ScaleAnswer {
    return this.#of("scale", question);
  }

  /** The options with a probability of 0.5 or more, the most probable first, and the probability of each option. */
  tags(question: string): TagsAnswer {
    return this.#of("tags", question);
  }

  #of<T extends Answer["type"]>(type: T, question: string): Extract<Answer, { type: T }> {
    const answer = this.get(question);
    if (!answer) throw none(this, "question", question);
    if (answer.type !== type) throw new AnswerError(`the question ${quote(question)} has the type ${answer.type}, not ${type}`);
    return answer as Extract<Answer, { type: T }>;
  }

  /** The answers as an object, as the API writes them. */
  toJSON(): Record<string, Answer> {
    return Object.fromEntries(this);
  }
}

/** What a column of a Lens has: a text, a number, or null if the stored answers have no value for the column. */
export type Value = string | number | null;

/** The answer to a yes_no question in a column. */
export type YesNo = "yes" | "no" | "unsure";

/**
 * A result as the columns of a Lens, in their order. `get` returns any value; the other methods return one of their kind, or
 * throw an {@link AnswerError}.
 */
export class Row extends Map<string, Value> {
  /** The key of the chosen option or level, or those of several options with `; ` between them. */
  text(column: string): string {
    const value = this.#value(column);
    if (typeof value !== "string") throw new AnswerError(`the column ${quote(column)} has a number, not a text`);
    return value;
  }

  yesNo(column: string): YesNo {
    const value = this.#value(column);
    if (value !== "yes" && value !== "no" && value !== "unsure") {
      throw new AnswerError(`the column ${quote(column)} is not that of a yes_no question`);
    }
    return value;
  }

  /** The keys of the options in the answer of a tags question, the most probable first; none in an empty text. */
  tags(column: string): string[] {
    return this.text(column).split("; ").filter((key) => key !== "");
  }

  /** A probability, an average, a confidence or a count. */
  number(column: string): number {
    const value = this.#value(column);
    if (typeof value !== "number") throw new AnswerError(`the column ${quote(column)} has a text, not a number`);
    return value;
  }

  #value(column: string): string | number {
    const value = this.get(column);
    if (value === undefined) throw none(this, "column", column);
    if (value === null) throw new AnswerError(`the column ${quote(column)} is null: the stored answers have no value for it`);
    return value;
  }

  /** The columns as an object, as the API writes them. */
  toJSON(): Record<string, Value> {
    return Object.fromEntries(this);
  }
}

function none(of: Map<string, unknown>, what: string, name: string): AnswerError {
  return new AnswerError(`there is no ${what} ${quote(name)}; there are ${[...of.keys()].map(quote).join(", ")}`);
}

const quote = (name: string) => JSON.stringify(name);
