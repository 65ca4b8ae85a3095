import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Schemas } from '@/api';
import { type Call, open, refusal, serve } from '@/test/server';
import { frame, root } from '@/shell/root';
import { allHosts, fileOf, startOf } from './hosts';
import { priceOf } from './Models';
import { modelsRoutes } from './routes';
import { byClass, verdict } from './words';

afterEach(() => vi.unstubAllGlobals());

const fast: Schemas['Model'] = {
  name: 'fast', provider: 'openai-chat', model: 'qwen3-8b', default: true, probabilities: 'logprobs',
  price: { currency: 'USD', input: 0.4, output: 1.6, cached_input: null, per_call: null }, price_reported: false,
  fallback: ['strong'], order: null, samples: null,
};
const strong: Schemas['Model'] = { ...fast, name: 'strong', default: false, fallback: [], price: null };
const states: Schemas['ModelState'][] = [
  {
    name: 'fast', state: 'skipped', running: 1, max_in_flight: 64,
    failures: ['refused_key', 'refused_key', 'limited'].map((reason) => ({
      reason: reason as 'limited', at: '2026-11-27T09:00:00.000Z',
    })),
  },
  { name: 'strong', state: 'asked', running: 0, max_in_flight: null, failures: [] },
];
const check: Schemas['ModelCheck'] = {
  name: 'fast', ok: false, took_ms: 212, checks: [
    { part: 'reached', status: 'ok', text: 'the host answers', write: null },
    { part: 'key', status: 'failed', text: 'The model service refused the key.', write: 'api_key_env: NAME' },
  ],
};

/** The page as a role sees it, with a model for calls that name none. */
async function page(role: string, first: Schemas['Model'] = fast, more?: (call: Call) => Response | undefined) {
  const calls = await serve(role, (call) => more?.(call) ?? ({
    '/v1/models': () => Response.json({ data: [first, strong] }),
    '/v1/models/states': () => Response.json({ data: states }),
    '/v1/usage': () => Response.json({ from: '', to: '', more: false, data: [
      { model: 'fast', results: 1200, failed: 3, input_tokens: 10, output_tokens: 1, cost: 0.5, currency: 'USD' },
    ] }),
    '/v1/models/fast/check': () => Response.json(check),
  } as Record<string, () => Response>)[call.path]?.());
  const router = open(root.addChildren([frame.addChildren([...modelsRoutes])]), '/models');
  await screen.findByRole('heading', { level: 1, name: 'Models' });
  return { calls, router };
}

/** The row of the first model. */
const first = async () => (await within(await screen.findByRole('table', { name: 'Models' })).findAllByRole('row'))[1]!;

// spec: console-models-page
describe('the page Models', () => {
  it('says what is configured, how it does and what it used', async () => {
    const { calls, router } = await page('owner');
    const row = await first();
    await waitFor(() => expect(row.textContent).toMatch(/^fast · defaultqwen3-8bskippedrefused_key .*1,2003\$0\.5$/));
    expect(calls.find(({ path }) => path === '/v1/usage')!.query.get('by')).toBe('model');
    fireEvent.click(row);
    const panel = await screen.findByRole('complementary', { name: 'fast' });
    for (const words of ['1 call under way, at most 64', 'computed from log-probabilities', 'strong', '2 times, last']) {
      expect(panel.textContent).toContain(words);
    }
    expect(router.state.location.search).toEqual({ open: 'fast' });
  });

  it('checks a model once, and says what to write', async () => {
    const { calls } = await page('owner');
    fireEvent.click(await first());
    const button = await screen.findByRole('button', { name: 'Check' });
    fireEvent.click(button);
    fireEvent.click(button); // it is under way
    const panel = screen.getByRole('complementary', { name: 'fast' });
    expect(await within(panel).findByText('api_key_env: NAME')).toBeTruthy();
    expect(panel.textContent).toContain('It does not work as it is configured. Checked in 212 ms.');
    expect(panel.textContent).toContain('KeyThe model service refused the key.Write api_key_env: NAME');
    expect(calls.filter(({ path }) => path.endsWith('/check'))).toHaveLength(1);
  });

  it('says that a check was refused, and keeps what it has', async () => {
    await page('owner', fast, ({ path }) => (path.endsWith('/check') ? refusal(404, 'not_found', 'Model not found') : undefined));
    fireEvent.click(await first());
    fireEvent.click(await screen.findByRole('button', { name: 'Check' }));
    expect(await screen.findByText('Model not found')).toBeTruthy();
    expect(screen.getByRole('table', { name: 'Models' })).toBeTruthy();
  });

  it('shows the lines of the host of its address', async () => {
    const { router } = await page('owner');
    expect(await screen.findByText(/host: openrouter/)).toBeTruthy();
    fireEvent.change(screen.getByLabelText('Host'), { target: { value: 'ollama' } });
    expect(await screen.findByText(/host: ollama/)).toBeTruthy();
    expect(router.state.location.search).toEqual({ host: 'ollama' });
  });

  it('asks nothing of owners for others', async () => {
    const { calls } = await page('editor');
    expect(await screen.findByText(/Owners see and check the models here/)).toBeTruthy();
    expect(calls.map(({ path }) => path).filter((path) => path.includes('states') || path === '/v1/usage')).toEqual([]);
  });
});

// spec: console-offline-model
describe('the bar of the offline model', () => {
  const words = 'The offline model only matches words. Connect a model.';
  const bar = () => document.querySelector('.bar-top.info')?.textContent;

  it('is on the page while the offline model answers, and leads to the lines', async () => {
    await page('owner', { ...fast, probabilities: 'simulated' });
    await waitFor(() => expect(bar()).toBe(words));
    expect(screen.getByRole('link', { name: 'Connect a model.' }).getAttribute('href')).toContain('/models');
  });

  it('is not there when a model is connected', async () => {
    await page('owner', fast);
    await screen.findAllByText('qwen3-8b');
    expect(bar()).toBeUndefined();
  });
});

describe('what is said', () => {
  it('of a check is its worst part', () => {
    const of = (...statuses: Schemas['CheckedPart']['status'][]) => verdict({
      ...check, checks: statuses.map((status) => ({ ...check.checks[0]!, status })),
    });
    expect(of('ok', 'failed', 'doubt').text).toBe('It does not work as it is configured.');
    expect(of('ok', 'doubt')).toEqual({ tone: 'warn', text: 'It works, and one thing could be better.' });
    expect(of('doubt', 'doubt').text).toBe('It works, and 2 things could be better.');
    expect(of('ok')).toEqual({ tone: 'good', text: 'It works.' });
  });

  it('of failures is each class once, the newest first', () => {
    const classes = byClass(states[0]!.failures);
    expect(classes.map(({ reason, count }) => [reason, count])).toEqual([['refused_key', 2], ['limited', 1]]);
  });

  it('of a price is what a million tokens cost', () => {
    expect(priceOf(fast)).toBe('$0.4 in, $1.6 out for a million tokens');
    const more = { ...fast.price!, cached_input: 0.1, per_call: 2 };
    expect(priceOf({ ...fast, price: more })).toContain('$0.1 from a cache for a million tokens, and $2 a call');
    expect(priceOf({ ...strong, price_reported: true })).toBe('as its host reports');
    expect(priceOf(strong)).toBe('not configured');
  });

  it('of a host are its lines and how Prism is started with them', () => {
    expect(allHosts).toHaveLength(10);
    const [router, ollama] = [allHosts[0]!, allHosts.find(({ id }) => id === 'ollama')!];
    expect(fileOf(router)).toBe(
      'default: openrouter\nmodels:\n  - name: openrouter\n    provider: openai-chat\n    host: openrouter\n'
      + '    model: mistralai/mistral-small-3.2-24b-instruct\n    api_key_env: OPENROUTER_API_KEY\n',
    );
    expect(startOf(router)).toBe('export OPENROUTER_API_KEY=…\nPRISM_MODELS_FILE=models.yaml prism');
    expect(startOf(ollama)).toBe('PRISM_MODELS_FILE=models.yaml prism');
  });
});
