import { useContext, useEffect, useLayoutEffect, useState, useSyncExternalStore } from 'react';
import { Button } from '@/design/Button';
import { Dialog } from '@/design/Dialog';
import { Select } from '@/design/Field';
import { setTheme, type Theme, useTheme } from '@/shell/theme';
import { useAccount } from './account';
import { Contents } from './Contents';
import { membersOf, type OpenApi, read, type Reference, type Schema, slug } from './document';
import { heightOfSchema, InWords } from './InWords';
import { Markdown } from './markdown';
import { Limits, Members, Required, Schemas, typeOf } from './Members';
import { useNear } from './near';
import { OperationArticle } from './OperationArticle';
import { Search } from './Search';
import { schemaEntries } from './search';

/** Shows the OpenAPI document of the same server. */
export function App() {
  const [reference, setReference] = useState<Reference>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    fetch('/openapi.json', { credentials: 'omit' })
      .then((response) =>
        (response.ok ? response.json() : Promise.reject(new Error(`The server responds with ${response.status}.`))))
      .then((found) => setReference(read(found as OpenApi)))
      .catch((cause: unknown) => setError(cause instanceof Error ? cause.message : String(cause)));
  }, []);
  return (
    <>
      <a className="skip" href="#main">Skip to content</a>
      <Bar reference={reference} />
      <div className="docs">
        {reference && <div className="side-contents"><Contents reference={reference} /></div>}
        <main id="main" tabIndex={-1} aria-busy={!reference && !error}>
          {error && <p role="alert" className="note bad">The OpenAPI document can&apos;t be shown. {error}</p>}
          {reference && <Schemas value={reference.schemas}><Body reference={reference} /></Schemas>}
        </main>
      </div>
    </>
  );
}

function Bar({ reference }: { reference: Reference | undefined }) {
  const [menu, setMenu] = useState(false);
  const narrow = useNarrow();
  return (
    <header className="bar">
      {narrow && <Button small variant="quiet" icon="menu" aria-haspopup="dialog" onClick={() => setMenu(true)}>Menu</Button>}
      <a className="brand" href="#main">
        <svg width="20" height="20" viewBox="0 0 32 32" aria-hidden="true">
          <path className="logo-a" d="M16 4 29 27H3z" />
          <path className="logo-b" d="M16 4v23L3 27z" />
        </svg>
        <span>{narrow ? <span className="unseen">Prism API</span> : 'Prism API'}</span>
      </a>
      {reference && !narrow && <span className="soft num">v{reference.info.version}</span>}
      {reference && <Search reference={reference} />}
      {!narrow && <Links />}
      <Dialog open={menu && narrow} onClose={() => setMenu(false)} title="Prism API">
        <div className="row"><Links /></div>
        {reference && <Contents reference={reference} onGo={() => setMenu(false)} />}
      </Dialog>
    </header>
  );
}

function Links() {
  const theme = useTheme();
  const account = useAccount();
  return (
    <div className="bar-links">
      {account && <a href="/console/">Console<span className="unseen"> of {account.name}</span></a>}
      <a href="/openapi.json">OpenAPI document</a>
      <Select label="Appearance" hideLabel value={theme} onChange={(event) => setTheme(event.target.value as Theme)}
        options={[['system', 'Appearance of the system'], ['light', 'Light'], ['dark', 'Dark']]} />
    </div>
  );
}

const narrow = matchMedia('(max-width: 860px)');

function useNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => { narrow.addEventListener('change', listener); return () => narrow.removeEventListener('change', listener); },
    () => narrow.matches,
  );
}

function Body({ reference: { info, opening, chapters, groups, schemas } }: { reference: Reference }) {
  useLayoutEffect(() => {
    // The browser looked for the target before there was one.
    if (location.hash) location.replace(location.hash);
  }, []);
  return (
    <>
      <section className="intro">
        <h1>{info.title}</h1>
        <p className="lead">{info.summary}</p>
        <Markdown text={opening} />
        {chapters.map(({ name, text }) => (
          <section key={name}><h2 id={slug(name)}><Anchor to={slug(name)}>{name}</Anchor></h2><Markdown text={text} /></section>
        ))}
      </section>
      {groups.map(({ name, description, operations }) => (
        <section key={name} className="group" aria-labelledby={slug(name)}>
          <h2 id={slug(name)}><Anchor to={slug(name)}>{name}</Anchor></h2>
          <div className="lead"><Markdown text={description} /></div>
          {operations.map((operation) => <OperationArticle key={operation.id} operation={operation} />)}
        </section>
      ))}
      <section className="group" aria-labelledby="schemas">
        <h2 id="schemas"><Anchor to="schemas">Schemas</Anchor></h2>
        <p className="lead">The shapes of what is sent and received. Members marked <Required /> are always there.</p>
        {Object.entries(schemas).map(([name, schema]) => <SchemaArticle key={name} name={name} schema={schema} />)}
      </section>
      <footer>
        <p>
          {info.title} v{info.version}. {info.license.name}. This page and
          the <a href="/openapi.json">OpenAPI document</a> describe the server that they come from.
        </p>
      </footer>
    </>
  );
}

// A schema, drawn as a call is.
function SchemaArticle({ name, schema }: { name: string; schema: Schema }) {
  const id = `schema-${name}`;
  const [near, article] = useNear(id);
  return (
    <article ref={article} id={id} className="schema" aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}><Anchor to={id}>{name}</Anchor> <span className="type">{typeOf(schema)}</span></h3>
      {near ? <SchemaBody id={id} schema={schema} /> : <SchemaInWords name={name} schema={schema} />}
    </article>
  );
}

function SchemaBody({ id, schema }: { id: string; schema: Schema }) {
  const rows = membersOf(schema, useContext(Schemas));
  return (
    <>
      <Markdown text={schema.description ?? ''} />
      <Limits schema={schema} />
      {rows.length > 0 && <Members rows={rows} prefix={id} />}
    </>
  );
}

function SchemaInWords({ name, schema }: { name: string; schema: Schema }) {
  const schemas = useContext(Schemas);
  return <InWords entries={schemaEntries(name, schemas)} height={heightOfSchema(schema, schemas)} />;
}

const Anchor = ({ to, children }: { to: string; children: React.ReactNode }) => (
  <a className="anchor" href={`#${to}`}>{children}</a>
);
