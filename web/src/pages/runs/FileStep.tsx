import { useQueryClient } from '@tanstack/react-query';
import { type DragEvent, useEffect, useRef, useState } from 'react';
import type { Schemas } from '@/api';
import { fileKey } from '@/data/runs';
import { Button, Code, count, ErrorNote, Note, Progress } from '@/design';
import { sizeText } from '../results/download';
import { adviceOf, formatOf } from './mapping';
import { type Progress as Sent, upload } from './upload';

type File_ = Schemas['File'];

const largest = 5 * 1024 ** 3; // bytes, as the API says

const steps = {
  hashing: 'Checking the file', sending: 'Sending', waiting: 'No connection. It goes on by itself',
  reading: 'Prism reads the file',
};

/**
 * Takes a file by drop or choice and uploads it, or says which command does the same. `onFile` gets it when Prism has read it,
 * usable or not.
 */
export function FileStep({ command, onFile }: { command: string; onFile: (file: File_) => void }) {
  const client = useQueryClient();
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const [chosen, setChosen] = useState<File>();
  const [sent, setSent] = useState<Sent>();
  const [error, setError] = useState<unknown>();
  const under = useRef<AbortController>(undefined);
  useEffect(() => () => under.current?.abort(), []);

  const take = async (file: File | undefined) => {
    if (!file) return;
    under.current?.abort();
    setChosen(file);
    setSent(undefined);
    const format = formatOf(file.name);
    if (!format) {
      return setError(new Error(`Prism takes a file named .csv, .tsv, .jsonl, .xlsx or .parquet.${adviceOf(file.name)}`));
    }
    if (file.size === 0 || file.size > largest) {
      return setError(new Error(file.size ? 'A file has at most 5 GiB.' : 'This file is empty.'));
    }
    setError(undefined);
    const controller = (under.current = new AbortController());
    try {
      const there = await upload(file, format, setSent, controller.signal);
      client.setQueryData(fileKey(there.id), there);
      onFile(there);
    } catch (cause) {
      if (controller.signal.aborted) return;
      setError(cause instanceof DOMException && cause.name === 'NotReadableError'
        ? new Error('The file has changed since it was chosen. Choose it again.') : cause);
    }
    setSent(undefined);
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void take(event.dataTransfer.files[0]);
  };
  const stop = () => {
    under.current?.abort();
    setSent(undefined);
    setChosen(undefined);
  };
  return (
    <div className="stack">
      <div className="runs-drop" data-over={over || undefined} onDragOver={(event) => { event.preventDefault(); setOver(true); }}
        onDragLeave={() => setOver(false)} onDrop={onDrop}>
        <p><strong>Drop a file here,</strong> or choose one. CSV, TSV, JSON Lines, Excel or Parquet, up to 5 GiB.</p>
        <input ref={input} type="file" hidden aria-label="File"
          accept=".csv,.tsv,.tab,.jsonl,.ndjson,.xlsx,.xlsm,.parquet,.gz,.zst,.zip"
          onChange={(event) => { void take(event.target.files?.[0]); event.target.value = ''; }} />
        <Button variant={sent ? 'secondary' : 'primary'} icon="upload" disabled={sent !== undefined}
          onClick={() => input.current?.click()}>
          Choose a file
        </Button>
      </div>
      {chosen && sent && (
        <div className="stack-2">
          <div className="runs-line">
            <strong>{chosen.name}</strong>
            <span className="num" role="status">
              {steps[sent.step]}
              {sent.step !== 'reading' && `: ${sizeText(sent.bytes)} of ${sizeText(chosen.size)}`}
            </span>
          </div>
          <Progress label={steps[sent.step]} max={chosen.size} value={sent.bytes} />
          {sent.continued && <Note>{sent.bytes >= chosen.size ? 'Prism has this file already, so it is not sent again.'
            : 'This upload was begun before and goes on where it was cut.'}</Note>}
          <div><Button small icon="stop" onClick={stop}>Stop</Button></div>
          <p className="soft">If the page closes, choose the same file again: only what is missing is sent.</p>
        </div>
      )}
      <ErrorNote error={error} title={chosen && `${chosen.name}:`} />
      {!sent && <Code text={command} label="Copy command" />}
    </div>
  );
}

/** What is known of a file that was uploaded. */
export const fileText = ({ name, status, rows, columns, bytes }: File_) => [
  name, ...(status === 'ready' ? [count(rows ?? 0, 'row'), count(columns?.length ?? 0, 'column')] : []), sizeText(bytes),
].join(', ');
