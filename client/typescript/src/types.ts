import type { Answers, Row } from "./answers.js";
import type { components, operations } from "./schema.js";

/** The types of the OpenAPI document. */
export type Schemas = components["schemas"];

// A request whose times may be Dates too.
type WithTimes<T> = { [Name in keyof T]: Name extends "from" | "to" | "before" | "expires_at" ? T[Name] | Date : T[Name] };
// A query whose "true" and "false" may be booleans too.
type WithBooleans<T> = { [Name in keyof T]: NonNullable<T[Name]> extends "true" | "false" ? T[Name] | boolean : T[Name] };

/** What an operation's query selects. Times may be Dates. */
export type Selection<Operation extends keyof operations> =
  WithBooleans<WithTimes<NonNullable<operations[Operation]["parameters"]["query"]>>>;

/**
 * How a result is written: `raw` has the answers with every probability, `json` the columns of the Lens; the others are rows of
 * text.
 */
export type Format = Schemas["Format"];

/** The formats of rows, which exports have. */
export type RowFormat = Exclude<Format, "json" | "raw">;

/** Whether a result has answers: `ok`, or `failed` if the model gave no usable answer. */
export type Status = Schemas["Status"];

type Told = Omit<Schemas["Result"], "status" | "error" | "answers">;
type Ok = Told & { status: "ok"; error: null };
type Failed = Told & { status: "failed"; error: string };

/** A result with answers. */
export type AnsweredResult = Ok & { answers: Answers };

/** A result whose model gave no usable answer. `error` says why in words. */
export type FailedResult = Failed & { answers: null };

/** A saved result. `status` tells whether it has answers. */
export type Result = AnsweredResult | FailedResult;

/** A result with answers in the format json: `row` has the columns of the current Lens of its prism. */
export type AnsweredRow = Ok & { row: Row };

/** A saved result in the format json. */
export type ResultRow = AnsweredRow | (Failed & { row: null });

/** What a created or retried result is in a format. A failed one is a FailedError. */
export type AnsweredIn<F extends Format> = F extends "raw" ? AnsweredResult : F extends "json" ? AnsweredRow : string;

/** What a read result is in a format. */
export type ResultIn<F extends Format> = F extends "raw" ? Result : F extends "json" ? ResultRow : string;

// Either `fields` or `text`.
type Input =
  /** Field key to value, for every field of the version. */
  | { fields: Record<string, string>; text?: never }
  /** The value of the version's only field. */
  | { text: string; fields?: never };

/**
 * A call of a prism. Without `idempotency_key` the client chooses one, so that it can repeat the call; with null there is none,
 * and a call whose response is lost is not repeated.
 */
export type NewResult =
  Input & Omit<Schemas["CreateResult"], "fields" | "text" | "idempotency_key"> & { idempotency_key?: string | null };

/** Everything that is kept of the call that made a result. */
export type ResultRecord = Omit<Schemas["Record"], "escalation"> & Escalated;
type Escalated = { escalation: Escalation | null };
/** Both models of a call whose first answers were doubtful. */
export type Escalation = Omit<Schemas["Escalation"], "first" | "second"> & { first: AnsweredModel; second: AnsweredModel };
/** One of the models of an escalation. Its answers are null if it gave none. */
export type AnsweredModel = Omit<Schemas["AnsweredModel"], "answers"> & { answers: Answers | null };
export type ResultDeletion = WithTimes<Omit<Schemas["ResultDeletion"], "dry_run">>;
export type ResultAssignment = WithTimes<Omit<Schemas["ResultAssignment"], "dry_run">>;
export type ResultRetry = WithTimes<Omit<Schemas["ResultRetry"], "status" | "dry_run">>;
/** A page of results. If something was searched for, it says what the search did not look at. */
export type FoundPage<T> = Page<T> & Pick<Schemas["ResultPage"], "indexed_until" | "indexed_from" | "sorted_newest">;
export type ResultCounts = Schemas["ResultCounts"];
export type ValueCount = Schemas["ValueCount"];
export type Deleting = Schemas["Deleting"];
export type Retrying = Schemas["Retrying"];

/** A prism with its latest version and its Lens. */
export type StoredPrism = Schemas["Prism"] & {
  /** Names the prism as it is here, for the option `ifMatch`. Prisms of lists and of dry runs have none. */
  etag?: string;
};
export type NewPrism = Omit<Schemas["NewPrism"], "dry_run">;
export type NewVersion = Omit<Schemas["NewVersion"], "dry_run">;
export type Version = Schemas["Version"];
export type Field = Schemas["Field"];
export type Question = Schemas["Question"];
export type Option = Schemas["Option"];
export type Level = Schemas["Level"];
export type Lens = Schemas["Lens"];
export type Column = Schemas["Column"];
/** Has a second model answer when an answer of the first one is doubtful. */
export type Escalate = Schemas["Escalate"];

/** A definition to try, and what to ask it about. */
export type NewTry = Input & Omit<Schemas["NewTry"], "fields" | "text">;
type TryTold = Omit<Schemas["Try"], "status" | "error" | "raw" | "json" | "escalation"> & Escalated;
/** What a definition answered, and the row of its Lens. Nothing of it is saved. */
export type Try = TryTold & { status: "ok"; error: null; answers: Answers; row: Row };
/** A try whose model gave no usable answer. */
export type FailedTry = TryTold & { status: "failed"; error: string; answers: null; row: null };

/** A result under a Lens that is not stored. `missing` says, by the name of each column that is null, why. */
export type PreviewedResult = Omit<Schemas["PreviewedResult"], "result"> & { result: ResultRow };
export type PreviewedLens = Omit<Schemas["PreviewedLens"], "data"> & { data: PreviewedResult[] };

export type Model = Schemas["Model"];
export type ModelList = Schemas["ModelList"];
export type Role = Schemas["Role"];
export type NewKey = WithTimes<Schemas["NewKey"]>;
export type ApiKey = Schemas["ApiKey"];
/** A new key. Its text is shown only here. */
export type CreatedApiKey = Schemas["CreatedApiKey"];
export type Comment = Schemas["Comment"];
export type Assignee = Schemas["Assignee"];
export type Assigned = Schemas["Assigned"];
export type ViewFilters = WithTimes<Schemas["ViewFilters"]>;
export type NewView = Omit<Schemas["NewView"], "filters"> & { filters: ViewFilters };
export type View = Schemas["View"];
export type NewWebhook = Schemas["NewWebhook"];
/** Which `result.created` are sent: those of whose Lens this holds. */
export type EventCondition = Schemas["EventCondition"];
export type Webhook = Schemas["Webhook"];
/** A webhook with a new secret, which is shown only here. */
export type CreatedWebhook = Schemas["CreatedWebhook"];
/** An event for a webhook, with how it was tried. */
export type Delivery = Schemas["Delivery"];
export type DeliveryTry = Schemas["DeliveryTry"];
/** What a webhook is sent. */
export type Event = Omit<Schemas["ListedEvent"], "id">;
/** An event with its place. */
export type ListedEvent = Schemas["ListedEvent"];
export type Events = Schemas["Events"];
export type NewMember = Schemas["NewMember"];
export type MemberChange = Schemas["MemberChange"];
export type Member = Schemas["Member"];
/** A member with its sign-in link, which is shown only here. */
export type InvitedMember = Schemas["InvitedMember"];
export type AuditEntry = Schemas["AuditEntry"];
export type Change = Schemas["Change"];
export type Changes = Schemas["Changes"];
export type Usage = Schemas["Usage"];
export type UsageSum = Schemas["UsageSum"];

/** How the results were chosen that are labelled. Labels of results that were chosen as `uncertain` enter no measure. */
export type LabelSample = Schemas["LabelSample"];
/** What was right for a question of a result. */
export type Label = Schemas["Label"];
export type LabelledResult = Schemas["LabelledResult"];
export type NewLabels = Schemas["NewLabels"];
export type NewLabel = Schemas["NewLabel"];
export type ManyLabels = Schemas["ManyLabels"];
export type AddedLabels = Schemas["AddedLabels"];
export type InvalidLabel = Schemas["InvalidLabel"];
export type QueuedResult = Omit<Schemas["QueuedResult"], "answers"> & { answers: Answers };
/** A page of results to label. Send their labels with its `sample`. */
export type LabelQueue = Page<QueuedResult> & Pick<Schemas["LabelQueue"], "sample">;

export type NewCalibration = Schemas["NewCalibration"];
/** Maps the probabilities of a question of a version. */
export type Calibration = Schemas["Calibration"];
export type PinnedCalibrations = Schemas["PinnedCalibrations"];
/** An estimate with its 95% interval. */
export type Figure = Schemas["Figure"];
export type Quality = Schemas["Quality"];
export type QuestionQuality = Schemas["QuestionQuality"];
export type QualityClass = Schemas["QualityClass"];
export type Confusion = Schemas["Confusion"];
export type ReliabilityBin = Schemas["ReliabilityBin"];
export type CoveragePoint = Schemas["CoveragePoint"];
export type Thresholds = Schemas["Thresholds"];
export type Threshold = Schemas["Threshold"];
export type Comparison = Schemas["Comparison"];
export type ComparedVersion = Schemas["ComparedVersion"];

/** Whether a prism is watched, and what its answers are compared with. */
export type DriftChange = Omit<Schemas["DriftChange"], "reference"> & { reference?: WithTimes<Schemas["DriftPeriod"]> | null };
export type Distribution = Schemas["Distribution"];
export type DistributionRow = Schemas["DistributionRow"];
export type Drift = Schemas["Drift"];
export type DriftReference = Schemas["DriftReference"];
export type QuestionDrift = Schemas["DriftOfQuestion"];
export type DriftWindow = Schemas["DriftWindow"];
export type DriftIndex = Schemas["DriftIndex"];

export type FileFormat = Schemas["FileFormat"];
export type NewFile = Schemas["NewFile"];
export type FileOptions = Schemas["FileOptions"];
export type File = Schemas["File"];
export type FilePart = Schemas["FilePart"];
/** Rows of a file: of each column the cell, or null for what the row of a jsonl file lacks. */
export type FileRows = { data: Record<string, string | null>[] };

/**
 * A run of a file, with its columns, of the labelled inputs of a version, or of the inputs of results. Its
 * idempotency key is like that of {@link NewResult}.
 */
export type NewRun = Omit<Schemas["NewRun"], "dry_run">;
export type Run = Schemas["Run"];
export type RunStatus = Schemas["RunStatus"];
/** How fast a run goes at most. A limit that is left out stays as it is, null removes it. */
export type RunLimits = Schemas["RunLimits"];
/** What a run would do. */
export type DryRun = Schemas["DryRun"];

/** One page of a list. */
export interface Page<T> {
  data: T[];
  /** Reads the next page; null on the last. */
  next_cursor: string | null;
}
