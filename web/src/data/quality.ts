import { queryOptions } from '@tanstack/react-query';
import { api, ApiError, ask, askAll, type Schemas } from '@/api';
import type { LabelValue } from '@/questions';

export type Quality = Schemas['Quality'];
export type Measured = Schemas['QuestionQuality'];
export type Figures = Pick<
  Measured,
  'accuracy' | 'log_loss' | 'brier' | 'macro_f1' | 'classes' | 'confusion' | 'rps' | 'mae' | 'kappa' | 'ece' | 'ece_plain'
  | 'bins' | 'coverage'
>;
export type Figure = Schemas['Figure'];
export type Thresholds = Schemas['Thresholds'];
export type Threshold = Schemas['Threshold'];
export type Comparison = Schemas['Comparison'];
export type Calibration = Schemas['Calibration'];
export type QueuedResult = Schemas['QueuedResult'];
export type LabelQueue = Schemas['LabelQueue'];

/** What is measured: without `question`, each question of the version. */
export interface Of {
  prism: string;
  version: number;
  question?: string | undefined;
  /** One of the options of which any number can be right, measured as a yes_no question. */
  option?: string | undefined;
  model?: string | undefined;
  calibrated?: boolean | undefined;
}

const parametersOf = ({ question, option, model, calibrated }: Of) => ({
  ...(question !== undefined && { question }), ...(option !== undefined && { option }), ...(model !== undefined && { model }),
  ...(calibrated && { calibrated: 'true' as const }),
});

// Measures change only with labels; computing them again takes seconds of a processor.
const kept = { staleTime: 30_000, placeholderData: undefined };

export const qualityQuery = (of: Of) => queryOptions({
  ...kept,
  queryKey: ['quality', of.prism, 'measures', of],
  queryFn: ({ signal }) => ask(api.GET('/v1/prisms/{prism}/versions/{version}/quality', {
    params: { path: { prism: of.prism, version: of.version }, query: parametersOf(of) }, signal,
  })),
});

export interface Costs {
  false_yes: number;
  false_no: number;
  unsure: number;
}

export const thresholdsQuery = (of: Of & { question: string }, costs: Costs) => queryOptions({
  ...kept,
  queryKey: ['quality', of.prism, 'thresholds', of, costs],
  queryFn: ({ signal }) => ask(api.GET('/v1/prisms/{prism}/versions/{version}/quality/thresholds', {
    params: { path: { prism: of.prism, version: of.version }, query: { ...parametersOf(of), question: of.question, ...costs } },
    signal,
  })),
});

/** Old thresholds of the same labels stay while those of other costs are computed. */
export const costedQuery = (of: Of & { question: string }, costs: Costs) => queryOptions({
  ...thresholdsQuery(of, costs),
  placeholderData: (previous: Thresholds | undefined, query) =>
    (JSON.stringify(query?.queryKey[3]) === JSON.stringify(of) ? previous : undefined),
});

/** A question, or an option of it. */
export type Target = Pick<Of, 'option'> & { question: string };

const targetOf = ({ question, option }: Target) => ({ question, ...(option !== undefined && { option }) });

/** The name of a target in pins and searches. */
export const targetName = ({ question, option }: Target) => (option === undefined ? question : `${question}.${option}`);

export const compareQuery = (prism: string, a: number, b: number, target: Target) => queryOptions({
  ...kept,
  queryKey: ['quality', prism, 'compare', a, b, targetName(target)],
  queryFn: ({ signal }) => ask(api.GET('/v1/prisms/{prism}/compare', {
    params: { path: { prism }, query: { a, b, ...targetOf(target) } }, signal,
  })),
});

export const calibrationsQuery = (prism: string, version: number, target: Target) => queryOptions({
  queryKey: ['quality', prism, 'calibrations', version, targetName(target)],
  placeholderData: undefined,
  queryFn: ({ signal }) => askAll((cursor) => ask(api.GET('/v1/prisms/{prism}/versions/{version}/calibrations', {
    params: { path: { prism, version }, query: { ...targetOf(target), limit: 100, cursor } }, signal,
  }))),
});

export const pinsQuery = (prism: string, version: number) => queryOptions({
  queryKey: ['quality', prism, 'pins', version],
  placeholderData: undefined,
  queryFn: ({ signal }) =>
    ask(api.GET('/v1/prisms/{prism}/versions/{version}/calibration', { params: { path: { prism, version } }, signal })),
});

/** Fits a calibration; `auto` takes the best method, if one is better than none. */
export function createCalibration(
  prism: string, version: number, target: Target, method: Schemas['NewCalibration']['method'],
): Promise<Calibration> {
  return ask(api.POST(
    '/v1/prisms/{prism}/versions/{version}/calibrations',
    { params: { path: { prism, version } }, body: { ...targetOf(target), method } },
  ));
}

/** Pins a calibration to a question or an option of it, or with null none. */
export function pinCalibration(prism: string, version: number, target: Target, id: string | null) {
  return ask(api.PUT(
    '/v1/prisms/{prism}/versions/{version}/calibration',
    { params: { path: { prism, version } }, body: { questions: { [targetName(target)]: id } } },
  ));
}

export type Drift = Schemas['Drift'];
export type DriftWindow = Schemas['DriftWindow'];

/** How far the answers of a version are from its reference; counted each minute or so. */
export const driftQuery = (prism: string, version: number) => queryOptions({
  queryKey: ['drift', prism, version],
  staleTime: 60_000, refetchInterval: 60_000, placeholderData: undefined,
  queryFn: ({ signal }) => ask(api.GET('/v1/prisms/{prism}/drift', { params: { path: { prism }, query: { version } }, signal })),
});

/**
 * Watches a prism, or stops to, which forgets what was counted. A watched one gets the reference of a version: a period, or with
 * null its first 2,000 results.
 */
export function setDrift(prism: string, change: Schemas['DriftChange']): Promise<Drift> {
  return ask(api.PUT('/v1/prisms/{prism}/drift', { params: { path: { prism } }, body: change }));
}

export interface QueueOf {
  prism: string;
  question: string;
  order: 'random' | 'uncertain';
  version?: number | undefined;
  q?: string | undefined;
  where?: string[] | undefined;
  assignee?: string | undefined;
}

export function readQueue(
  { prism, question, order, version, q, where, assignee }: QueueOf, cursor: string | undefined, signal?: AbortSignal,
): Promise<LabelQueue> {
  const query = {
    question, order, limit: 20, ...(version !== undefined && { version }), ...(cursor !== undefined && { cursor }),
    ...(q && { q }), ...(where && { where }), ...(assignee && { assignee }),
  };
  return ask(api.GET('/v1/prisms/{prism}/label-queue', { params: { path: { prism }, query }, signal: signal ?? null }));
}

/** A result of a queue, with the questions that have labels already. */
export type OpenResult = QueuedResult & { labelled: string[] };

/**
 * The questions in whose order their queues are read. Queues at random have one order, and texts are labelled from the first
 * question on: in that of the last question a text that was left halfway comes before those that were not begun.
 */
export const queuesOf = (questions: string[], { order }: QueueOf) => (order === 'random' ? questions.toReversed() : questions);

/** A page of the queue of one of several questions, with which of them have labels already. */
export async function readOpen(
  of: QueueOf, questions: string[], at: number, cursor: string | undefined, signal: AbortSignal,
): Promise<Omit<LabelQueue, 'data'> & { data: OpenResult[] }> {
  const many = questions.length > 1;
  const page = await readQueue({ ...of, question: questions[at]! }, cursor, signal).catch((error: unknown): LabelQueue => {
    // An older version may lack a question of the latest one.
    const lacking = many && of.version !== undefined && error instanceof ApiError && error.message.includes('Unknown question');
    if (!lacking) throw error;
    return { data: [], sample: of.order, next_cursor: null };
  });
  const labels = async (result_id: string) => Object.keys((await ask(
    api.GET('/v1/results/{result_id}/labels', { params: { path: { result_id } }, signal }),
  )).labels);
  return { ...page, data: await Promise.all(page.data.map(async (one) => (
    { ...one, labelled: many ? await labels(one.result_id).catch(() => []) : [] }))) };
}

/** Puts labels of a result; null removes one. */
export function putLabels(result: string, labels: Record<string, LabelValue | null>, sample: LabelQueue['sample']) {
  return ask(api.PUT('/v1/results/{result_id}/labels', { params: { path: { result_id: result } }, body: { labels, sample } }));
}

/** How many labels count and how many are needed, of an error that says that they are too few. */
export function tooFew(error: unknown): { have: number; need: number } | undefined {
  if (!(error instanceof ApiError) || error.status !== 409) return undefined;
  const found = /^Too few labels(?: of one class)?: (\d+) of (\d+)\.$/.exec(error.message);
  return found ? { have: Number(found[1]), need: Number(found[2]) } : undefined;
}
