import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Button, Checkbox, Code, Dialog, ErrorNote, Select, toast } from '@/design';
import { canStream, download, forExcel, sizeText, styleFlags, type TextStyle } from './download';

interface Props {
  title: string;
  formats: readonly (readonly [string, string])[];
  large?: boolean;
  path: (format: string, style: TextStyle) => string;
  /** What is sent to the path, of a download that needs it. */
  body?: (format: string) => object;
  name: (format: string) => string;
  command?: (format: string) => string;
  children?: ReactNode | ((format: string) => ReactNode);
  onClose: () => void;
}

/** Asks for the format, and downloads with progress. `path`, `body`, `name` and `command` are of a format. */
export function DownloadDialog({ title, formats, large, path, body, name, command, children, onClose }: Props) {
  const [format, setFormat] = useState(formats[0]![0]);
  const [excel, setExcel] = useState(false);
  const separated = !body && (format === 'csv' || format === 'tsv');
  const style = excel && separated ? forExcel(format, navigator.language) : {};
  const [stream, setStream] = useState(Boolean(large) && canStream());
  const [bytes, setBytes] = useState<number>();
  const [error, setError] = useState<unknown>();
  const under = useRef<AbortController>(undefined);
  useEffect(() => () => under.current?.abort(), []);
  const start = async () => {
    const controller = (under.current = new AbortController());
    setError(undefined);
    setBytes(0);
    try {
      await download(path(format, style), name(format), {
        stream, signal: controller.signal, onBytes: setBytes, body: body?.(format),
      });
      toast(`${name(format)} is downloaded.`);
      onClose();
    } catch (cause) {
      if (!(cause instanceof DOMException && cause.name === 'AbortError')) setError(cause);
    } finally {
      setBytes(undefined);
    }
  };
  const busy = bytes !== undefined;
  return (
    <Dialog open onClose={onClose} firm={busy} title={title} onSubmit={() => { if (!busy) void start(); }} actions={
      <>
        <Button onClick={() => (busy ? under.current?.abort() : onClose())}>{busy ? 'Stop' : 'Cancel'}</Button>
        <Button variant="primary" type="submit" icon="download" busy={busy}>Download</Button>
      </>
    }>
      <div className="stack">
        {typeof children === 'function' ? children(format) : children}
        <Select label="Format" value={format} disabled={busy} options={formats}
          onChange={(event) => setFormat(event.target.value)} />
        {separated && (
          <Checkbox label="For Excel"
            hint="With a mark for UTF-8, your language's separator, and a ' before what could be a formula."
            checked={excel} disabled={busy} onChange={(event) => setExcel(event.target.checked)} />
        )}
        {canStream() && (
          <Checkbox label="Write straight into a file" hint="For downloads of more than 500 MB." checked={stream} disabled={busy}
            onChange={(event) => setStream(event.target.checked)} />
        )}
        {busy && (
          <p role="status" className="num">{bytes === 0 ? 'Waiting for the first rows …' : `${sizeText(bytes)} received`}</p>
        )}
        <ErrorNote error={error} title="The download did not finish." />
        {command && (
          <>
            <p className="soft">
              The command does the same{continues(format) && ', and continues when the connection is lost'}:
            </p>
            <Code text={command(format) + styleFlags(style)} label="Copy command" />
          </>
        )}
      </div>
    </Dialog>
  );
}

const continues = (format: string) => format !== 'xlsx' && format !== 'parquet';

/** The formats of results, as people want them first. */
export const resultFormats = [
  ['xlsx', 'Excel workbook'], ['csv', 'CSV, with labels'], ['tsv', 'TSV, with labels'], ['jsonl', 'JSON Lines, with keys'],
  ['parquet', 'Parquet, with keys'],
] as const;
