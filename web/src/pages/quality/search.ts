import { compact, texts } from '../results/search';

export const parts = ['confusion', 'coverage', 'thresholds', 'versions', 'calibration', 'drift'] as const;
export type Part = (typeof parts)[number];

const languages = ['go', 'typescript', 'python', 'prismctl'] as const;
type Language = (typeof languages)[number];

/** What the Quality page shows. */
export interface QualitySearch {
  /** The version that is measured, if not the latest. */
  version?: number;
  /** The question; without one, all of them are listed. */
  question?: string;
  /** The option of it, where any number of them can be right; without one, all of them together. */
  option?: string;
  /** The configured model that answered, if not any. */
  model?: string;
  /** The pinned calibration's probabilities are measured. */
  calibrated?: true;
  /** The part of the page, if not the reliability. */
  tab?: Part;
  /** The version that is compared with this one. */
  with?: number;
  /** What mistakes cost. */
  false_yes?: number;
  false_no?: number;
  unsure?: number;
  /** The thresholds that the sliders are at. */
  yes_at?: number;
  no_at?: number;
  /** Drift by days in place of hours. */
  span?: 'days';
  /** The language of the call. */
  as?: Language;
}

/** What the labelling page shows. */
export interface LabelSearch {
  /** The question that is asked; without one, each question of the version. */
  question?: string;
  order?: 'uncertain';
  /** Only results of this version; `any` says each of them. */
  version?: number | 'any';
  /** Only results with these words, and for which these conditions hold. */
  q?: string;
  where?: string[];
  /** Only results that are assigned to this member, to `me`, or to nobody, `none`. */
  assignee?: string;
  /** The model's answers are shown before one has answered. */
  answers?: true;
  /** Labels are imported from a file, from this one if it is uploaded. */
  import?: true;
  file?: string;
  /** The language of the call. */
  as?: Language;
}

const text = (value: unknown) => (typeof value === 'string' && value !== ''
  ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined);
const version = (value: unknown) =>
  (Number.isInteger(Number(value)) && Number(value) > 0 && Number(value) <= 2147483647 ? Number(value) : undefined);
const yes = (value: unknown) => value === true || value === 'true' || undefined;
const oneOf = <T extends string>(value: unknown, words: readonly T[]) => words.find((word) => word === value);
const number = (value: unknown, most: number) => {
  const n = Number(text(value));
  return n >= 0 && n <= most ? n : undefined;
};

export function qualitySearch(search: Record<string, unknown>): QualitySearch {
  const hundredth = (value: unknown) => {
    const n = number(value, 1);
    return n === undefined ? undefined : Math.round(n * 100) / 100;
  };
  return compact({
    version: version(search.version), question: text(search.question), option: text(search.option), model: text(search.model),
    calibrated: yes(search.calibrated),
    tab: oneOf(search.tab, parts), with: version(search.with),
    false_yes: number(search.false_yes, 1e9), false_no: number(search.false_no, 1e9), unsure: number(search.unsure, 1e9),
    yes_at: hundredth(search.yes_at), no_at: hundredth(search.no_at), span: oneOf(search.span, ['days']),
    as: oneOf(search.as, languages),
  });
}

export function labelSearch(search: Record<string, unknown>): LabelSearch {
  return compact({
    question: text(search.question), order: oneOf(search.order, ['uncertain']),
    version: search.version === 'any' ? 'any' : version(search.version),
    answers: yes(search.answers), as: oneOf(search.as, languages), q: text(search.q), where: texts(search.where),
    assignee: text(search.assignee),
    import: yes(search.import), file: text(search.file),
  });
}

/**
 * The version whose results are labelled; undefined for each of them. A label counts for the version that answered its result, so
 * the latest one is chosen where nobody chose a version, or the results themselves.
 */
export function queuedVersion({ version, q, where, assignee }: LabelSearch, latest: number): number | undefined {
  if (version === 'any') return undefined;
  return version ?? (latest === 1 || (q ?? where ?? assignee) !== undefined ? undefined : latest);
}
