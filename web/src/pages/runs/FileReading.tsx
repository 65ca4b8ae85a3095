import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, ApiError, ask, type Schemas } from '@/api';
import { shellWord } from '@/commands/commands';
import { fileKey, rowsKey, useFileRows } from '@/data/runs';
import { Button, Code, ErrorNote, Input, Note, Select, shown, Skeleton } from '@/design';
import { type Choices, choicesOf, delimiters, encodings, flagsOf, has, optionsOf, rowProblem, withoutOption } from './reading';

type File_ = Schemas['File'];

/** How a file was read, beside its first rows, and the form that has it read in another way. */
export function FileReading({ file }: { file: File_ }) {
  const client = useQueryClient();
  const [last, setLast] = useState(file);
  const [changed, setChanged] = useState<Partial<Choices>>({});
  const [sent, setSent] = useState<Partial<Choices>>({});
  if (file !== last && file.status !== 'reading') { // what was sent is what the file was read with
    setLast(file);
    setChanged(Object.fromEntries(Object.entries(changed).filter(([name, value]) => sent[name as keyof Choices] !== value)));
  }
  const again = useMutation({
    mutationFn: (body: Schemas['FileOptions']) =>
      ask(api.POST('/v1/files/{file_id}/read', { params: { path: { file_id: file.id } }, body })),
    onSuccess: (now) => {
      client.removeQueries({ queryKey: rowsKey(file.id) });
      client.setQueryData(fileKey(file.id), now);
    },
  });
  if (last.status === 'reading') return <Skeleton shape="table" lines={6} />;
  const choices = { ...choicesOf(last), ...changed };
  const wrong = rowProblem(choices.headerRow);
  const busy = again.isPending || file.status === 'reading';
  const set = (change: Partial<Choices>) => setChanged((old) => ({ ...old, ...change }));
  const read = (more: Partial<Choices> = {}) => {
    const all = { ...changed, ...more };
    setChanged(all);
    setSent(all);
    again.mutate(optionsOf(last, all));
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (!wrong && !busy) read();
  };
  const proposed = changed.headerRow === undefined ? last.proposed_header_row : null;
  return (
    <div className="runs-reading">
      <form className="stack" aria-label="How the file is read" onSubmit={onSubmit}>
        <div className="runs-options">
          {has.encoding(last) && (
            <Select label="Encoding" value={choices.encoding} options={[['', 'Find out'], ...Object.entries(encodings)]}
              hint={changed.encoding === undefined && last.encoding_sure === false
                ? 'A guess. If letters look wrong, choose another.' : undefined}
              onChange={(event) => set({ encoding: event.target.value as Choices['encoding'] })} />
          )}
          {has.delimiter(last) && (
            <Select label="Between cells" value={choices.delimiter} options={[['', 'Find out'], ...Object.entries(delimiters)]}
              onChange={(event) => set({ delimiter: event.target.value as Choices['delimiter'] })} />
          )}
          {has.sheet(last) && (
            <Input label="Sheet" hint="Its name or its number." maxLength={100} value={choices.sheet}
              onChange={(event) => set({ sheet: event.target.value })} />
          )}
          {has.headerRow(last) && (
            <Input label="Header row" hint="The row with the names of the columns." inputMode="numeric" value={choices.headerRow}
              error={wrong} onChange={(event) => set({ headerRow: event.target.value })} />
          )}
          <Select label="Rows that cannot be read" value={choices.badRows}
            options={[['invalid', 'Are invalid in the run'], ['refuse', 'Make the file unusable']]}
            onChange={(event) => set({ badRows: event.target.value as Choices['badRows'] })} />
        </div>
        {proposed != null && (
          <Note action={<Button small disabled={busy} onClick={() => read({ headerRow: String(proposed) })}>
            Use row {shown(proposed)}
          </Button>}>
            Row {shown(proposed)} looks like the header.
          </Note>
        )}
        <div className="row">
          <Button type="submit" icon="retry" busy={busy} disabled={Boolean(wrong) || Object.keys(changed).length === 0}>
            Read again
          </Button>
          <span role="status" className="soft">{busy ? 'Prism reads the file again.' : ''}</span>
        </div>
        {again.error instanceof ApiError && again.error.status === 409
          ? <Note tone="bad">A run has this file, which stays as it was read. Choose a copy with another name instead.</Note>
          : <ErrorNote error={again.error} />}
        {Object.keys(changed).length > 0 && !wrong && (
          <Code text={`prismctl files read ${file.id}${flagsOf(optionsOf(last, changed), shellWord)}`} label="Copy command" />
        )}
      </form>
      <div className="stack" aria-busy={busy || undefined}>
        {last.notes && last.notes.length > 0 && (
          <ul className="soft runs-notes" aria-label="What was done to the file">
            {last.notes.map((note) => <li key={note}>{proposed == null ? note : withoutOption(note)}</li>)}
          </ul>
        )}
        {last.status === 'unusable'
          ? <Note tone="bad">Prism cannot use this file. {last.error}</Note>
          : <FirstRows file={last} ready={file.status === 'ready'} />}
      </div>
    </div>
  );
}

const mostColumns = 30; // a table of more is no help

/** The first rows of a file, with all its columns. */
function FirstRows({ file, ready }: { file: File_; ready: boolean }) {
  const { data: rows, error } = useFileRows(ready ? file.id : undefined);
  const columns = (file.columns ?? []).slice(0, mostColumns);
  const more = (file.columns?.length ?? 0) - columns.length;
  return (
    <>
      <ErrorNote error={error} title="The rows could not be read." />
      <div className="runs-preview" role="region" aria-label="The first rows of the file" tabIndex={0}>
        <table className="table" aria-label="The first rows as they were read">
          <thead><tr>{columns.map(({ name }) => <th key={name} scope="col">{name}</th>)}</tr></thead>
          <tbody>
            {(rows ?? []).map((row, i) => (
              <tr key={i}>
                {columns.map(({ name }) => (
                  <td key={name} className="clip" title={row[name]?.slice(0, 1000)}>
                    {row[name] || <span className="soft">empty</span>}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more > 0 && <p className="soft">and {shown(more)} more columns</p>}
    </>
  );
}
