import createClient from 'openapi-fetch';
import { errorOf, errorOfNetwork } from './errors';
import type { components, paths } from './schema';
import { session } from './session';

export type Schemas = components['schemas'];

/** fetch with the session's key. A call that is refused with 401 is made once more with a new key. */
export async function authorized(request: Request): Promise<Response> {
  const again = request.clone();
  try {
    const key = await session.key();
    const response = await fetch(withKey(request, key));
    if (response.status !== 401) return response;
    return await fetch(withKey(again, await session.renew(key)));
  } catch (cause) {
    throw errorOfNetwork(cause);
  }
}

function withKey(request: Request, key: string): Request {
  request.headers.set('Authorization', `Bearer ${key}`);
  return request;
}

/** The API, typed by its OpenAPI document. Wrap each call in `ask`. */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: authorized, credentials: 'omit' });

/** The body of a response, or an ApiError: `const page = await ask(api.GET('/v1/keys'))`. */
export async function ask<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call;
  if (!response.ok) throw errorOf(response, error);
  return data as T;
}

/** All items of a list, page after page: `askAll((cursor) => ask(api.GET('/v1/keys', { params: { query: { cursor } } })))`. */
export async function askAll<T>(
  page: (cursor: string | undefined) => Promise<{ data: T[]; next_cursor: string | null }>, most = 2000,
): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const { data, next_cursor } = await page(cursor);
    items.push(...data);
    cursor = next_cursor ?? undefined;
  } while (cursor && items.length < most);
  return items;
}

/** A response of the API by its path, for what openapi-fetch cannot carry: uploads, downloads and streams of events. */
export async function askRaw(path: string, init?: RequestInit): Promise<Response> {
  const response = await authorized(new Request(new URL(path, location.origin), { credentials: 'omit', ...init }));
  if (!response.ok) throw errorOf(response, await response.json().catch(() => undefined));
  return response;
}
