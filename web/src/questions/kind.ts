import type { Bounds, LensColumn, Question } from '@/answers/words';
import type { Schemas } from '@/api';
import type { Layer } from '@/charts';

export type Answer = Schemas['Answer'];
export type QuestionType = Question['type'];
export type LabelValue = Schemas['Label']['value'];
export type Show = LensColumn['show'];

/** An answer that a question can have, as pictures draw it. */
export type Drawn = Omit<Layer, 'values'>;

/** The key of the answer of a yes_no question that is neither. */
export const unsureKey = 'unsure';
/** The key of all options for which there is no place. */
export const othersKey = '';

/** A value that a question can be labelled with. */
export interface Value {
  value: string | boolean;
  label: string;
  /** The key that labels with it, of a question that has keys of its own. */
  keys?: string | undefined;
  /** The group of an option. */
  more?: string | undefined;
}

/** A part of an answer: the label of an option or level, or yes or no, and its probability. */
export interface Part {
  key: string;
  label: string;
  p: number;
}

/** What labels tell of probabilities: those of yes, or those of the answer, whichever it is. */
export interface Tells {
  /** Probabilities are of yes, so thresholds are chosen and calibrations are those of yes and no. */
  ofYes: boolean;
}

/**
 * All that differs between the types of questions beside their pictures, which are in `answers/pictures.tsx`. A type is one file
 * of this folder.
 */
export interface Kind<Q extends Question = Question, A extends Answer = Answer> extends Tells {
  type: Q['type'];
  /** As an editor chooses it: `Choice of options`. */
  name: string;
  /** In a sentence: `A scale has no confidence.` */
  noun: string;
  /** What an editor is told where the type is chosen. */
  hint?: string;

  /** What a definition lists, and whether the text may say too little to choose one of them. */
  lists?: 'options' | 'levels';
  lacks?: boolean;
  /** How many of them a definition has at least and at most, insufficient information included. */
  range?: { least: number; most: number };

  /** What a column of a Lens can show. */
  shows: readonly Show[];
  /** What the second column of a derived Lens shows (spec: derived-lens). */
  derived?: Show;
  /** What a column of probabilities without an option shows; undefined where each names one, or where there is none to name. */
  chosen?: string;
  /** The thresholds of a column that shows one of `bounded`: what they are called, and what they are by default. */
  bounds: Partial<Record<'yes_at' | 'no_at', { label: string; usual: number }>>;
  bounded: readonly Show[];

  /** What an answer says, and how probable that is. */
  said(answer: A, question: Q | undefined, bounds: Bounds): { words: string; p: number };
  /** A cell of a Lens column that shows the answer, as people read it. */
  cell(text: string, question: Q): string;
  /** A value of an answer, of a condition or of such a cell, as people read it: `Billing`, `Yes`. */
  label(value: string, question: Question | undefined): string;
  /** What such a cell says with its probability from another column. */
  shaped(text: string, question: Q, p: number): { words: string; p: number };
  /** The parts of an answer that are right from a threshold on, the most probable first, where any number can be. */
  several?(answer: A, question: Q | undefined, bounds: Bounds): Part[];
  /** The option in whose hue an answer is drawn. */
  option?(answer: A): string;
  /** What was answered, and the other answers, the most probable first; `sure` is false of an answer that is neither. */
  parts(answer: A, question: Q, bounds: Bounds): { chosen: Part; others: Part[]; sure: boolean };

  /** What a question can be labelled with, in its order. */
  values(question: Q): Value[];
  /** What the model answered as a label, as measures count it, and how probable that is. */
  answered(answer: A): { value: LabelValue; p: number };
  /** Whether an answer is what a label says. */
  right(answer: A, label: LabelValue, bounds: Bounds): boolean;
  /** What is said of the cells of a file that are labels. */
  cells?: string;
  /** The label that a cell of a file says (spec: label-value); `find` looks it up among the values. */
  read?(cell: string, question: Q, find: (text: string) => Value['value'] | undefined): LabelValue | undefined;

  /** An option as the yes_no question that is measured, calibrated and watched by itself. */
  part?(question: Q, option: string): Question | undefined;
  /** The parts of the Quality page that it does not have. */
  without: readonly string[];
  /** A prism is about its first question of such a type at first sight. */
  leads?: boolean;
  /** Which answers moved is shown beside its drift. */
  moves?: boolean;

  /** The name of what an order of results by it is. */
  sort(question: Q): string | undefined;
  /** The width of a column of answers, in pixels. */
  width: number;
  /** What a bound of its probability is called in a filter; of several that may be right, of an option that is chosen. */
  probability: string;
  /** The values that a filter names; `count` says how many results have one. */
  filters(question: Q): { value: string; label: string }[];
  /** Which of those a counted value is. */
  filterOf(value: string): string;

  /** The answers that it can have, in its order: options in their hues, levels the darker the higher, what is unsure last. */
  drawn(question: Q): Drawn[];
  /** The condition of results with an answer; undefined for what no condition says. */
  where(question: Q, key: string, bounds: Bounds): string[] | undefined;
  /** The answer of a counted value: that of a yes_no is a tenth. */
  answerOf(value: string, bounds: Bounds): string;
}
