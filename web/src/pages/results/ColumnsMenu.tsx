import { titleOf } from '@/answers/words';
import type { Schemas } from '@/api';
import { Button, Checkbox, Popover } from '@/design';
import { extras } from './columns';
import { useWanted, want, wantDefaults } from './wanted';

/** Which columns there are, remembered in this browser. The text always is. */
export function ColumnsMenu({ prism }: { prism: Schemas['Prism'] | undefined }) {
  const { wanted } = useWanted();
  const box = (id: string, label: string) =>
    <Checkbox key={id} label={label} checked={wanted(id)} onChange={({ target }) => want(id, target.checked)} />;
  return (
    <Popover label="Columns" button="Columns" icon="table" align="end" className="button secondary small">
      {() => (
        <>
          {prism && (
            <fieldset className="stack-2">
              <legend>Answers</legend>
              {prism.version.questions.map(({ key }) => box(`${prism.slug}/${key}`, titleOf(key)))}
            </fieldset>
          )}
          <fieldset className="stack-2">
            <legend>{prism ? 'Also' : 'Columns'}</legend>
            {extras.map(({ id, name }) => box(id, name))}
          </fieldset>
          <Button variant="quiet" small onClick={wantDefaults}>Reset columns</Button>
        </>
      )}
    </Popover>
  );
}
