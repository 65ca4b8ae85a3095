import { Code, Section, Select } from '@/design';
import { allHosts, fileOf, startOf } from './hosts';

/** The lines of the file of models for each of ten hosts, and how Prism is started with them. */
export function Connect({ host, onHost }: { host: string | undefined; onHost: (id: string) => void }) {
  const shown = allHosts.find(({ id }) => id === host) ?? allHosts[0]!;
  return (
    <Section title="Connect a model">
      <div className="models-connect">
        <p className="soft">
          The operator of this Prism writes these lines into a file of models, and starts Prism with it. A model more is an entry
          more: Prism reads the file again when it changes.
        </p>
        <Select label="Host" value={shown.id} options={allHosts.map(({ id, name }) => [id, name])}
          onChange={(event) => onHost(event.target.value)} />
        <h3>models.yaml</h3>
        <Code text={fileOf(shown)} label="Copy lines" />
        <h3>In the shell</h3>
        <Code text={startOf(shown)} label="Copy command" />
        <p className="soft">
          Then <strong>Check</strong> the model above, which names what else to write. The same
          is <code>prismctl models check {shown.id}</code>.
        </p>
      </div>
    </Section>
  );
}
