import { createContext, Fragment, type ReactNode, useContext } from 'react';
import { deref, limits, membersOf, nameOf, objectsIn, type Row, type Schema, within } from './document';
import { Disclosure } from './Listing';
import { Markdown } from './markdown';
import { useAnchor } from './target';

export const Schemas = createContext<Record<string, Schema>>({});

/** The parameters of a call or the members of an object. `prefix` begins the anchors of the rows. */
export function Members({ rows, prefix }: { rows: Row[]; prefix: string }) {
  return <dl className="members">{rows.map((row) => <Member key={row.name} row={row} id={`${prefix}.${row.name}`} />)}</dl>;
}

// Objects in the row open in place.
function Member({ row, id }: { row: Row; id: string }) {
  const schemas = useContext(Schemas);
  const objects = objectsIn(row.schema, schemas);
  useAnchor(id);
  return (
    <div id={id}>
      <dt>
        <a className="anchor" href={`#${id}`}><code>{row.name}</code></a>
        {' '}<span className="type">{typeOf(row.schema)}</span>
        {row.place && <>{' '}<span className="type">in {row.place}</span></>}
        {row.required && <>{' '}<Required /></>}
      </dt>
      <dd>
        <Markdown text={row.description} />
        <Limits schema={row.place ? deref(row.schema, schemas) : row.schema} />
        {objects.map(({ name, schema }, at) => (
          <Disclosure key={at} className="nested" holds={within(id, objects, at)}
            summary={<>Members of {name ? <code>{name}</code> : 'the object'}</>}
            label={`Members of ${name ?? 'the object'} in ${row.name}`}>
            <Members rows={membersOf(schema, schemas)} prefix={within(id, objects, at)} />
          </Disclosure>
        ))}
      </dd>
    </div>
  );
}

export function Limits({ schema }: { schema: Schema }) {
  const all = limits(schema);
  return all.length > 0 && (
    <p className="limits">{all.map((limit) => <Fragment key={limit}><span>{limit}</span>{' '}</Fragment>)}</p>
  );
}

export const Required = () => <em className="required">required</em>;

/** A schema's type in words, with links to the schemas that it refers to. */
export function typeOf(schema: Schema): ReactNode {
  const name = nameOf(schema);
  if (name) return <a href={`#schema-${name}`}>{name}</a>;
  if (schema.const !== undefined) return String(schema.const);
  const choices = (!schema.properties && schema.oneOf) || schema.anyOf;
  if (choices) return choices.map((choice, at) => <Fragment key={at}>{at > 0 && ' or '}{typeOf(choice)}</Fragment>);
  const inner = schema.items ?? (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);
  return (
    <>{[schema.type ?? []].flat().join(' or ').replace('string', schema.format ?? 'string')}{inner && <> of {typeOf(inner)}</>}</>
  );
}
