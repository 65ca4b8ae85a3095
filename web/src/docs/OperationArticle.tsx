import { useContext } from 'react';
import { type Answer, deref, json, membersOf, objectsIn, type Operation, within } from './document';
import { Disclosure, Listing, Samples } from './Listing';
import { heightOfCall, InWords } from './InWords';
import { Inline, Markdown, Rows } from './markdown';
import { Members, Schemas, typeOf } from './Members';
import { useNear } from './near';
import { operationEntries } from './search';
import { StatusCode } from './StatusCode';
import { useAnchor } from './target';
import { TryIt } from './TryIt';

/** A call. Until it comes near the window it has its text alone, which the browser finds. */
export function OperationArticle({ operation }: { operation: Operation }) {
  const { id, method, path, summary } = operation;
  const [near, article] = useNear(id);
  return (
    <article ref={article} id={id} className="operation" aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}><a className="anchor" href={`#${id}`}>{summary}</a></h3>
      <p className="route">
        <Verb method={method} />{' '}
        <code>{path.split(/({[^}]*})/).map((part, at) => (at % 2 ? <b key={at}>{part}</b> : part))}</code>
      </p>
      {near ? <Call operation={operation} /> : <CallInWords operation={operation} />}
    </article>
  );
}

function CallInWords({ operation }: { operation: Operation }) {
  const schemas = useContext(Schemas);
  return <InWords entries={operationEntries(operation, schemas)} height={heightOfCall(operation, schemas)} />;
}

function Call({ operation }: { operation: Operation }) {
  const { id, summary, description, parameters, body, answers, errors } = operation;
  const schemas = useContext(Schemas);
  return (
    <>
      <Disclosure className="try" summary="Try it" label={`Try it: ${summary}`}><TryIt operation={operation} /></Disclosure>
      <div className="halves">
        <div className="text">
          <Markdown text={description} />
          {parameters.length > 0 && (
            <>
              <h4>Parameters</h4>
              <Members prefix={id} rows={parameters.map((each) => ({
                ...each, place: each.in, required: each.required ?? false, description: each.description ?? '',
              }))} />
            </>
          )}
          {body?.type === json && (
            <><h4>Body</h4><Members prefix={`${id}.body`} rows={membersOf(deref(body.schema, schemas), schemas)} /></>
          )}
          {answers.map((answer) => <Returns key={answer.status} answer={answer} prefix={`${id}.${answer.status}`} />)}
        </div>
        <div className="examples">
          <Samples operation={operation} />
          {body?.examples.slice(1).map((example) => (
            <ExampleOf key={example.summary} summary={example.summary} type={body.type} value={example.value} />
          ))}
          {answers.map((answer) => answer.examples.map(({ type, example }, at) => (
            <ExampleOf key={answer.status + example.summary + type} summary={example.summary} type={type} value={example.value}
              status={answer.status}
              open={at === 0 && answer.status < '300'} />
          )))}
        </div>
      </div>
      {errors.length > 0 && (
        <Disclosure className="errors" summary={<>Errors <span className="soft">{errors.length}</span></>}
          instead={<p>{errors.map((row) => row.message).join(' ')}</p>}>
          <Rows label={`Errors: ${summary}`} heads={['Status', 'Code', 'Message', 'When']}
            rows={errors.map(({ status, code, message, when }) => [
              <StatusCode code={status} />, code ? <code>{code}</code> : 'none', <span className="message">{message}</span>,
              <Inline text={when} />,
            ])} />
        </Disclosure>
      )}
    </>
  );
}

function Returns({ answer: { status, description, schema }, prefix }: { answer: Answer; prefix: string }) {
  const schemas = useContext(Schemas);
  const objects = schema ? objectsIn(schema, schemas) : [];
  useAnchor(prefix);
  return (
    <div className="returns" id={prefix}>
      <h4>
        Returns <StatusCode code={status} />{' '}
        {schema && (schema.$ref || objects.length > 0) && <span className="type">{typeOf(schema)}</span>}
      </h4>
      <Markdown text={description} />
      {objects.map((object, at) => (
        <Disclosure key={at} className="nested" holds={within(prefix, objects, at)}
          label={`Members of ${object.name ?? 'the object'} of ${status}`}
          summary={<>Members of {object.name ? <code>{object.name}</code> : 'the object'}</>}>
          <Members rows={membersOf(object.schema, schemas)} prefix={within(prefix, objects, at)} />
        </Disclosure>
      ))}
    </div>
  );
}

interface ExampleOfProps {
  summary: string;
  type: string;
  value: unknown;
  status?: string;
  open?: boolean;
}

function ExampleOf({ summary, type, value, status, open = false }: ExampleOfProps) {
  const isJson = type === json;
  return (
    <Disclosure className="example" open={open} summary={
      <>
        {status && <StatusCode code={status} />} <span className="grow"><Inline text={summary} /></span>
        {!isJson && <span className="type">{type}</span>}
      </>
    }>
      <Listing label="Example" isJson={isJson} text={isJson ? JSON.stringify(value) : String(value)} />
    </Disclosure>
  );
}

export const Verb = ({ method }: { method: string }) => <span className={`verb ${method}`}>{method}</span>;
