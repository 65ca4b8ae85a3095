import type { Schemas } from '@/api';
import { Button, ErrorNote, Icon, Section, Skeleton } from '@/design';
import { FileReading } from './FileReading';
import { FileStep, fileText } from './FileStep';

interface FileSectionProps {
  /** The id of the chosen file; undefined without one. */
  id: string | undefined;
  file: Schemas['File'] | undefined;
  /** Why the file could not be read. */
  error: Error | null;
  /** The command that does the same. */
  command: string;
  onFile: (id: string | undefined) => void;
}

/** A file is chosen and uploaded, and then shown with how it was read. */
export function FileSection({ id, file, error, command, onFile }: FileSectionProps) {
  return (
    <Section title="File">
      {file && file.status !== 'uploading' ? (
        <div className="stack">
          <div className="runs-file">
            <Icon name={file.status === 'ready' ? 'check' : file.status === 'reading' ? 'clock' : 'bad'} />
            <span>{fileText(file)}</span>
            <Button small onClick={() => onFile(undefined)}>Choose another file</Button>
          </div>
          <FileReading key={file.id} file={file} />
        </div>
      ) : id && !error && !file ? <Skeleton lines={2} /> : (
        <>
          <ErrorNote error={error} title="The file could not be read." />
          <FileStep command={command} onFile={(there) => onFile(there.id)} />
        </>
      )}
    </Section>
  );
}
