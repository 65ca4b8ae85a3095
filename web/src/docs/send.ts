const longestWait = 75; // seconds; no call of Prism takes so long
const mostShown = 200_000; // characters; an export can be of any length

export interface Sent {
  status?: { code: number; words: string };
  outcome: string;
  headers: string;
  text: string;
  type: string;
}

export interface Call {
  method: string;
  path: string;
  /** Throws where there is none. */
  key: () => Promise<string | undefined>;
  /** By name; an empty one is not sent. */
  parameters: { name: string; in: string; value: string }[];
  body: { type: string; text: string } | undefined;
}

/** Sends a call to the server that the page comes from, and says what came of it. */
export async function send(call: Call): Promise<Sent> {
  const nothing = { headers: '', text: '', type: '' };
  const began = performance.now();
  let request: Request;
  let response: Response;
  try {
    request = requestOf(call, await call.key());
  } catch (error) {
    return { ...nothing, outcome: `Not sent. ${error instanceof Error ? error.message : String(error)}` };
  }
  try {
    response = await fetch(request);
  } catch (error) {
    const late = error instanceof DOMException && error.name === 'TimeoutError';
    return { ...nothing, outcome: late ? `No answer within ${longestWait} seconds.` : "No answer. The server can't be reached." };
  }
  const { text, note } = await read(response);
  const took = Math.round(performance.now() - began);
  const headers = ['Content-Type', 'X-Request-Id', 'WWW-Authenticate', 'Retry-After']
    .flatMap((name) => { const value = response.headers.get(name); return value === null ? [] : [`${name}: ${value}`]; });
  return {
    status: { code: response.status, words: response.statusText },
    outcome: `in ${took} ms.${note && ` ${note}`}`,
    headers: headers.join('\n'), text, type: response.headers.get('Content-Type') ?? '',
  };
}

function requestOf({ method, path, parameters, body }: Call, key: string | undefined): Request {
  const query = new URLSearchParams();
  const headers = new Headers();
  for (const { name, in: place, value } of parameters) {
    if (place === 'path') path = path.replace(`{${name}}`, () => encodeURIComponent(value));
    else if (value === '') continue;
    else if (place === 'query') query.append(name, value);
    else headers.set(name, value);
  }
  if (query.size > 0) path += `?${query.toString()}`;
  if (key !== undefined) headers.set('Authorization', `Bearer ${key.trim()}`);
  if (body) headers.set('Content-Type', body.type);
  return new Request(path, {
    method, headers, body: body?.text ?? null, cache: 'no-store', credentials: 'omit', redirect: 'error',
    referrerPolicy: 'no-referrer',
    signal: AbortSignal.timeout(longestWait * 1000),
  });
}

// read returns the part of a response that can be shown, and a note if that is not the whole response.
async function read(response: Response): Promise<{ text: string; note: string }> {
  const type = response.headers.get('Content-Type') ?? 'text/plain';
  const reader = response.body?.getReader();
  if (!reader) return { text: '', note: '' };
  if (!/^(text\/|application\/jsonl?\b)/.test(type)) {
    await reader.cancel();
    return { text: '', note: 'Only text is shown.' };
  }
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { text: text + decoder.decode(), note: '' };
      text += decoder.decode(value, { stream: true });
      if (text.length > mostShown) {
        await reader.cancel();
        return { text: text.slice(0, mostShown), note: `These are its first ${mostShown.toLocaleString('en')} characters.` };
      }
    }
  } catch {
    return { text, note: 'It broke off before its end.' };
  }
}
