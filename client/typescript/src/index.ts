export {
  type Answer, AnswerError, Answers, type ChoiceAnswer, Row, type ScaleAnswer, type Value, type YesNo, type YesNoAnswer,
} from "./answers.js";
export { type CallOptions, requestIdOf, type ResultOptions } from "./call.js";
export { Prism, type PrismConfig } from "./client.js";
export { Download, type DownloadedRow } from "./download.js";
export {
  ApiError, type Circumstances, type Code, ConnectionError, FailedError, PrismError, type Problem, UnavailableError,
  UnusableFileError,
  ValidationError,
} from "./errors.js";
export { List } from "./lists.js";
export type { ManyOptions, Outcome } from "./many.js";
export type { ChangeOptions, StoreOptions } from "./prisms.js";
export { newIdempotencyKey } from "./results.js";
export { ColumnsChangedError } from "./rows.js";
export { isSettled, type RowsRun, type WatchOptions } from "./runs.js";
export type * from "./types.js";
export { fileFormatOf, type Upload, type UploadOptions } from "./upload.js";
