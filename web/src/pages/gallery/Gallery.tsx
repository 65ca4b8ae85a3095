import { useState } from 'react';
import { ApiError } from '@/api';
import {
  Badge, Button, ButtonLink, Checkbox, Code, type Column, Confirm, Copy, Dialog, Empty, ErrorNote, Facts, Input, Kbd, Menu, Note,
  Num, Page, Panel, Progress, Section,
  Select, Skeleton, type Sort, Split, Status, Table, Tabs, Textarea, Time, toast, Toolbar, type Tone,
} from '@/design';
import { Charts } from './Charts';

interface Planet { name: string; moons: number; seen: string | null }

const planets: Planet[] = [
  { name: 'Jupiter', moons: 95, seen: '2026-11-22T12:00:00.000Z' }, { name: 'Mars', moons: 2, seen: '2026-01-02T12:00:00.000Z' },
  { name: 'Venus', moons: 0, seen: null },
];
const columns: Column<Planet>[] = [
  { id: 'name', head: 'Name', cell: (planet) => planet.name, sort: (planet) => planet.name },
  {
    id: 'moons', head: 'Moons', cell: (planet) => <Num value={planet.moons * 1234.5678} />, sort: (planet) => planet.moons,
    align: 'end',
  },
  {
    id: 'seen', head: 'Seen', cell: (planet) => <Time at={planet.seen} none="never" />, sort: (planet) => planet.seen,
    show: 'wide',
  },
];
const failure = new ApiError(503, 'internal_error', 'The server is busy. Try again.', '01a20558-8efa-7bf6-b7d4-037c0b26bbdf');
const tones: Tone[] = ['neutral', 'info', 'good', 'warn', 'bad'];
const statuses = [
  'ok', 'failed', 'invalid', 'queued', 'running', 'pausing', 'paused', 'cancelling', 'cancelled', 'finished', 'active', 'revoked',
  'expired', 'archived', 'invited', 'new one',
];

/** Every component in every state, to look at while it changes. Only in development. */
export function Gallery() {
  return (
    <Page title="Gallery" lead="Every component in every state."
      actions={<Button variant="primary" icon="plus">The next step</Button>}
      tabs={
        <Tabs label="Tabs" tabs={[{ label: 'Current', to: '.', current: true }, { label: 'Another', to: '.', current: false }]} />
      }>
      <Buttons />
      <Fields />
      <Tables />
      <Layers />
      <Values />
      <Feedback />
      <Charts />
    </Page>
  );
}

function Buttons() {
  return (
    <Section title="Buttons">
      {[false, true].map((small) => (
        <div className="row" key={String(small)}>
          <Button small={small} variant="primary">Primary</Button>
          <Button small={small}>Secondary</Button>
          <Button small={small} variant="quiet" icon="filter">Quiet</Button>
          <Button small={small} variant="danger" icon="trash">Delete result</Button>
          <Button small={small} disabled>Disabled</Button>
          <Button small={small} variant="primary" busy>Saving</Button>
          <ButtonLink small={small} to="/" icon="home">A link</ButtonLink>
        </div>
      ))}
      <div className="row">
        <Copy text="text" label="Copy id" /><Copy text="text" label="Copy" variant="secondary">Copy as curl</Copy>
        <Menu label="Actions" icon="more" items={[
          { label: 'Edit', icon: 'edit', onSelect: () => toast('Edited') },
          { label: 'Chosen', checked: true, onSelect: () => {} },
          { label: 'Cannot be chosen', disabled: true, onSelect: () => {} },
          'line', { label: 'Delete', icon: 'trash', danger: true, onSelect: () => {} },
        ]}>Actions</Menu>
      </div>
    </Section>
  );
}

function Fields() {
  return (
    <Section title="Fields">
      <Input label="Name" hint="What people call it." placeholder="Placeholder" />
      <Input label="Slug" defaultValue="Not a slug" error="Use lowercase letters, digits and hyphens."
        hint="Part of the address." />
      <Input label="Disabled" disabled defaultValue="Cannot be changed" />
      <Select label="Role" options={[['a', 'Reader'], ['b', 'Owner']]} hint="What it may do." />
      <Textarea label="Text" defaultValue={'Several\nlines'} />
      <Textarea label="YAML" mono defaultValue="slug: tickets" error="Line 1: a field is missing." />
      <Checkbox label="Insufficient information" hint="Adds an option that the text does not say." />
      <Toolbar label="Filters">
        <Select label="Status" options={[['', 'All'], ['ok', 'ok']]} />
        <Input label="From" type="date" />
        <Input label="Ref" />
        <Button icon="filter">More filters</Button>
      </Toolbar>
    </Section>
  );
}

function Tables() {
  const [sort, setSort] = useState<Sort>('-moons');
  const [open, setOpen] = useState<string>();
  return (
    <Section title="Table and panel">
      <Split>
        <Table label="Planets" columns={columns} rows={planets} rowKey={(planet) => planet.name} sort={sort} onSort={setSort}
          open={open} onOpen={(planet) => setOpen(planet.name)} />
        {open && (
          <Panel title={open} onClose={() => setOpen(undefined)} onNext={() => {}}>
            <Facts items={[['Name', open], ['Moons', <Num value={95} />]]} />
          </Panel>
        )}
      </Split>
      <Table label="Old planets" main={false} stale columns={columns} rows={planets.slice(0, 1)}
        rowKey={(planet) => planet.name} />
      <Table label="No planets" main={false} columns={columns} rows={[]} rowKey={(planet) => planet.name}
        empty={
          <Empty title="No planets yet" drawing="stacked" action={<Button variant="primary">Add planet</Button>}
            command="prismctl planets add">
            A planet goes around a star.
          </Empty>
        } />
    </Section>
  );
}

function Layers() {
  const [layer, setLayer] = useState<'dialog' | 'form' | 'confirm'>();
  const close = () => setLayer(undefined);
  return (
    <Section title="Layers">
      <div className="row">
        <Button onClick={() => setLayer('dialog')}>Dialog</Button>
        <Button onClick={() => setLayer('form')}>Form</Button>
        <Button onClick={() => setLayer('confirm')}>Confirm</Button>
        <Button onClick={() => toast('Archived tickets.', () => toast('Back again.'))}>Toast</Button>
      </div>
      <Dialog open={layer === 'dialog'} onClose={close} title="A dialog" wide><p>It is wide.</p></Dialog>
      <Dialog open={layer === 'form'} onClose={close} firm title="Create key" onSubmit={close}
        actions={<Button type="submit" variant="primary">Create key</Button>}>
        <Input label="Name" />
      </Dialog>
      <Confirm open={layer === 'confirm'} onClose={close} onConfirm={close} title="Revoke production?" verb="Revoke key"
        error={<ErrorNote error={failure} />}>
        <p>This cannot be undone.</p>
      </Confirm>
    </Section>
  );
}

function Values() {
  return (
    <Section title="Values">
      <div className="row">{statuses.map((status) => <Status key={status} status={status} />)}</div>
      <div className="row">{tones.map((tone) => <Badge key={tone} tone={tone}>{tone}</Badge>)}</div>
      <Facts items={[
        ['Numbers', <>{[0, 7, 1234567, 0.123456, 12.3456].map((n) => <span key={n}><Num value={n} /> </span>)}</>],
        ['Money', <><Num value={0.004801} currency="USD" /> <Num value={12} currency="credits" /></>],
        ['With a unit', <Num value={1234} unit="ms" />],
        ['None', <Num value={null} />],
        ['Times', <><Time at="2026-11-22T12:00:00.000Z" /> <Time at={null} none="never" /></>],
        ['Keys', <><Kbd keys="Mod K" /> <Kbd keys="g p" /></>],
      ]} />
      <Code text={'curl --fail-with-body -sS https://prism.example/v1/prisms \\\n  -H "Authorization: Bearer $PRISM_API_KEY"'}
        label="Copy call" />
    </Section>
  );
}

function Feedback() {
  return (
    <Section title="Feedback">
      <ErrorNote error={failure} onRetry={() => {}} />
      <ErrorNote error={new Error('This is no sign-in link.')} title="Not signed in." />
      {tones.map((tone) => <Note key={tone} tone={tone} action={<Button small>Do it</Button>}>A remark that is {tone}.</Note>)}
      <Progress label="Upload" max={100} value={42} />
      <Progress label="Rows" max={1000} parts={[
        { value: 600, tone: 'good', label: 'ok' }, { value: 40, tone: 'bad', label: 'failed' },
        { value: 10, tone: 'warn', label: 'invalid' },
      ]} />
      <Skeleton />
      <div className="row">
        {(['table', 'results', 'chart', 'bars', 'form', 'stats'] as const).map((shape) => (
          <div key={shape} className="grow"><Skeleton shape={shape} /></div>
        ))}
      </div>
    </Section>
  );
}
