import type { Answers, RawAnswers } from "./answers.js";
import type { components, operations } from "./schema.js";

/** The types of the OpenAPI document. */
export type Schemas = components["schemas"];

// A request whose times may be Dates too.
type WithTimes<T> = { [Name in keyof T]: Name extends "from" | "to" | "before" | "expires_at" ? T[Name] | Date : T[Name] };

/** What an operation's query selects. Times may be Dates. */
export type Selection<Operation extends keyof operations> = WithTimes<NonNullable<operations[Operation]["parameters"]["query"]>>;

/** How a result is written: `json` has the columns of the Lens, `raw` every stored probability; the others are rows of text. */
export type Format = Schemas["Format"];

/** The formats of rows, which exports have. */
export type RowFormat = Exclude<Format, "json" | "raw">;

/** Whether a result has answers: `ok`, or `failed` if the model gave no usable answer. */
export type Status = Schemas["Status"];

type Told = Omit<Schemas["Result"], "status" | "error" | "answers">;

/** A result whose model gave no usable answer. `error` says why in words. */
export type FailedResult = Told & { status: "failed"; error: string; answers: null };

/** A result with answers. */
export type Answered<A> = Told & { status: "ok"; error: null; answers: A };

/** A saved result, with its answers as the Lens of its prism shapes them. `status` tells whether it has answers. */
export type Result = Answered<Answers> | FailedResult;

/** A saved result with the stored answer to every question. */
export type RawResult = Answered<RawAnswers> | FailedResult;

/** What a created or retried result is in a format. A failed one is a FailedError. */
export type AnsweredIn<F extends Format> = F extends "json" ? Answered<Answers> : F extends "raw" ? Answered<RawAnswers> : string;

/** What a read result is in a format. */
export type ResultIn<F extends Format> = F extends "json" ? Result : F extends "raw" ? RawResult : string;

/** The stored answer to one question. */
export type RawAnswer = Schemas["Answer"];
export type ChoiceAnswer = Schemas["ChoiceAnswer"];
export type YesNoAnswer = Schemas["YesNoAnswer"];
export type ScaleAnswer = Schemas["ScaleAnswer"];

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
export type NewResult = Input & Omit<Schemas["CreateResult"], "fields" | "text" | "idempotency_key"> & { idempotency_key?: string | null };

/** Everything that is kept of the call that made a result. */
export type ResultRecord = Schemas["Record"];
export type ResultDeletion = WithTimes<Omit<Schemas["ResultDeletion"], "dry_run">>;
export type ResultRetry = WithTimes<Omit<Schemas["ResultRetry"], "status" | "dry_run">>;
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

/** A definition to try, and what to ask it about. */
export type NewTry = Input & Omit<Schemas["NewTry"], "fields" | "text">;
type TryTold = Omit<Schemas["Try"], "status" | "error" | "raw" | "json">;
/** What a definition answered. Nothing of it is saved. */
export type Try = TryTold & { status: "ok"; error: null; raw: RawAnswers; json: Answers };
/** A try whose model gave no usable answer. */
export type FailedTry = TryTold & { status: "failed"; error: string; raw: null; json: null };

/** A result under a Lens that is not stored. `missing` says, by the name of each column that is null, why. */
export type PreviewedResult = Omit<Schemas["PreviewedResult"], "result"> & { result: Result };
export type PreviewedLens = Omit<Schemas["PreviewedLens"], "data"> & { data: PreviewedResult[] };

export type Model = Schemas["Model"];
export type ModelList = Schemas["ModelList"];
export type Role = Schemas["Role"];
export type NewKey = WithTimes<Schemas["NewKey"]>;
export type ApiKey = Schemas["ApiKey"];
/** A new key. Its text is shown only here. */
export type CreatedApiKey = Schemas["CreatedApiKey"];
export type NewMember = Schemas["NewMember"];
export type MemberChange = Schemas["MemberChange"];
export type Member = Schemas["Member"];
/** A member with its sign-in link, which is shown only here. */
export type InvitedMember = Schemas["InvitedMember"];
export type AuditEntry = Schemas["AuditEntry"];
export type Usage = Schemas["Usage"];
export type UsageSum = Schemas["UsageSum"];

export type FileFormat = Schemas["FileFormat"];
export type NewFile = Schemas["NewFile"];
export type File = Schemas["File"];
export type FilePart = Schemas["FilePart"];
/** Rows of a file: of each column the cell, or null for what the row of a jsonl file lacks. */
export type FileRows = { data: Record<string, string | null>[] };

/** A run of a file. Its idempotency key is like that of {@link NewResult}. */
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
