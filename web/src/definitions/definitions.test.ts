import { expect, test } from 'vitest';
import { inWords } from '@/api/words';
import { changes, columnText, lensChanges, wordChanges } from './diff';
import { examples } from './examples';
import { carried, columnOf, derived, draftColumn, freeName } from './lens';
import { blank, type Definition, definitionOf, draftOf, keyOf, moved, plain, slugOf } from './model';
import { readPasted, toYaml } from './paste';
import { localLensProblems, localProblems, placeOf, problemsByPath } from './problems';

const definition: Definition = {
  fields: [{ key: 'subject' }, { key: 'message', label: 'Message' }],
  questions: [
    { key: 'topic', type: 'choice', text: 'About what?', options: [{ key: 'a', label: 'A' }, { key: 'b', label: 'B' }] },
    { key: 'mood', type: 'scale', text: 'How?', levels: [{ key: 'low', label: 'Low' }, { key: 'high', label: 'High' }] },
    { key: 'upset', type: 'yes_no', text: 'Upset?' },
  ],
};

test('a definition survives being edited', () => {
  expect(definitionOf(draftOf(definition))).toEqual(definition);
});

test('a second model survives being edited and pasted', async () => {
  for (const escalate of [{ to: 'strong', below: 0.6 }, { to: 'strong', below: 1, questions: ['topic', 'upset'] }]) {
    const escalating = { ...definition, escalate };
    expect(definitionOf(draftOf(escalating))).toEqual(escalating);
    const pasted = await readPasted(await toYaml({ slug: 's', ...escalating }));
    expect(pasted.problems).toEqual([]);
    expect(definitionOf(pasted.draft!)).toEqual(escalating);
    expect(changes(definition, escalating).map((c) => [c.what, c.before])).toEqual([['Second model', 'none']]);
    expect([...localProblems(draftOf(escalating), false)]).toEqual([]);
  }
  const draft = draftOf({ ...definition, model: 'fast', escalate: { to: 'fast', below: 2, questions: ['topic', 'gone'] } });
  expect([...localProblems(draft, false).keys()]).toEqual(['escalate.below', 'escalate.to', 'escalate.questions']);
  const wrong = await readPasted('escalate: {below: 0.6, question: a, questions: 7}');
  expect(wrong.problems.map((p) => p.path)).toEqual(['escalate.question', 'escalate.to', 'escalate.questions']);
  expect((await readPasted('escalate: {to: strong}')).draft!.escalate?.below).toBe('');
});

// spec: version-examples
test('examples survive being edited and pasted, but for emptied ones', async () => {
  const example = {
    fields: { subject: 's', message: 'Where is it?' }, answers: { topic: 'b', mood: 'low', upset: true },
    result_id: '0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10',
  };
  const shown = { ...definition, examples: [example, { fields: { subject: '', message: 'x' }, answers: { upset: false } }] };
  expect(definitionOf(draftOf(shown))).toEqual(shown);
  const pasted = await readPasted(await toYaml({ slug: 's', ...shown }));
  expect(pasted.problems).toEqual([]);
  expect(definitionOf(pasted.draft!)).toEqual(shown);
  expect(changes(definition, shown).map((c) => [c.kind, c.after])).toEqual([
    ['added', 's · Where is it? → b, low, true'], ['added', ' · x → false'],
  ]);
  expect(plain({ ...definition, examples: [{ fields: {}, answers: {} }] })).toEqual(definition);
  const wrong = await readPasted('examples: [{fields: 7, answers: {a: b}, more: 1}]');
  expect(wrong.problems.map((p) => p.path)).toEqual(['examples.0.more', 'examples.0.fields']);
});

test('defaults and empty members make no difference', () => {
  const [topic, mood, upset] = definition.questions;
  const wordy = { ...definition, model: null, instructions: null, questions: [
    { ...topic!, insufficient_information: false },
    { ...mood!, levels: [{ key: 'low', label: 'Low', value: 1 }, { key: 'high', label: 'High', value: 2 }] },
    upset!] } as Definition;
  expect(plain(wordy)).toEqual(plain(definition));
  expect(changes(plain(wordy), plain(definition))).toEqual([]);
});

test('a change of type keeps options and levels for the way back', () => {
  const draft = draftOf(definition);
  const turned = { ...draft, questions: draft.questions.map((q) => ({ ...q, type: 'yes_no' as const })) };
  expect(definitionOf(turned).questions[0]).toEqual({ key: 'topic', type: 'yes_no', text: 'About what?' });
  expect(turned.questions[0]!.options.map((o) => o.key)).toEqual(['a', 'b']);
});

test('keys and slugs are made of words', () => {
  expect(keyOf('Is it über-urgent?')).toBe('is_it_uber_urgent');
  expect(keyOf('2 days')).toBe('days');
  expect(slugOf('Help desk (EU)')).toBe('help-desk-eu');
});

test('items move inside their list only', () => {
  expect(moved(['a', 'b', 'c'], 0, 1)).toEqual(['b', 'a', 'c']);
  const list = ['a'];
  expect(moved(list, 0, 1)).toBe(list);
});

test('every example is valid and has a slug of its own', () => {
  for (const { definition: d } of examples) expect([...localProblems(draftOf(d), true)]).toEqual([]);
  expect(new Set(examples.map((e) => e.definition.slug)).size).toBe(examples.length);
});

test('problems of a draft stand at the API’s paths', () => {
  const draft = draftOf({ fields: [{ key: 'ref' }], questions: [
    { key: 'Topic', type: 'choice', text: '', options: [{ key: 'a', label: 'A' }, { key: 'a', label: '' }] },
    { key: 'mood', type: 'scale', text: 'How?', levels: [{ key: 'x', label: 'X', value: 3 }, { key: 'y', label: 'Y' }] }] });
  expect([...localProblems(draft, true).keys()].sort()).toEqual([
    'fields.0.key', 'questions.0.key', 'questions.0.options.1.key', 'questions.0.options.1.label', 'questions.0.text',
    'questions.1.levels.1.value', 'slug']);
  expect(placeOf('questions.0.options.1.label', draft)).toBe('Question Topic, option a, label');
});

test('a blank form only lacks what must be typed', () => {
  expect([...localProblems(blank(), false).values()].every((text) => text === 'Required.')).toBe(true);
});

test('the API’s problems are said in words at the same path', () => {
  const found = problemsByPath([
    { path: 'definition.questions.0.key', message: 'must match ^[a-z][a-z0-9_]{0,63}$' },
    { path: 'model', message: 'No such model' },
  ], 'definition.');
  expect([...found]).toEqual([
    ['questions.0.key', 'Lowercase letters, digits and _, at most 64, beginning with a letter.'],
    ['model', 'No model of this name is configured.'],
  ]);
  expect(inWords('something new')).toBe('something new');
});

test('differences match items by key', () => {
  const [topic, mood, upset] = definition.questions;
  const after = { ...definition, fields: [definition.fields[0]!], questions: [
    upset!, { ...topic!, options: [{ key: 'a', label: 'Alpha' }, { key: 'c', label: 'C' }] }, mood!,
    { key: 'new', type: 'yes_no', text: 'New?' }] } as Definition;
  expect(changes(definition, after)).toEqual([
    { kind: 'removed', what: 'Field message', before: 'Message' },
    { kind: 'moved', what: 'Question upset' },
    { kind: 'removed', what: 'Question topic: option b', before: 'B' },
    { kind: 'changed', what: 'Question topic: option a: label', before: 'A', after: 'Alpha' },
    { kind: 'added', what: 'Question topic: option c', after: 'C' },
    { kind: 'added', what: 'Question new', after: 'New?' },
  ]);
});

test('a text is compared by words', () => {
  expect(wordChanges('Is it very urgent?', 'Is it urgent?')).toEqual([
    { kind: 'same', text: 'Is it ' }, { kind: 'removed', text: 'very ' }, { kind: 'same', text: 'urgent?' }]);
});

test('a new version keeps the columns that fit and adds those of new questions', () => {
  const old = [
    ...derived(definition.questions).slice(0, 2), { name: 'b', question: 'topic', show: 'probability' as const, option: 'b' },
    { name: 'sad', question: 'upset', show: 'answer' as const, yes_at: 0.7 },
  ];
  const after = { ...definition, questions: [
    { key: 'topic', type: 'choice' as const, text: 'About what?', options: [{ key: 'a', label: 'A' }, { key: 'c', label: 'C' }] },
    definition.questions[2]!, { key: 'new', type: 'yes_no' as const, text: 'New?' }] };
  expect(carried(old, definition, after).map((c) => c.name)).toEqual([
    'topic', 'topic_probability', 'sad', 'new', 'new_probability',
  ]);
  expect(lensChanges(old, carried(old, definition, after)).map((c) => `${c.kind} ${c.what}`)).toEqual([
    'removed Column b', 'added Column new', 'added Column new_probability',
  ]);
});

test('a column is sent with what its show takes only', () => {
  const column = { ...draftColumn({ name: 'x', question: 'upset', show: 'answer', yes_at: 0.7 }), option: 'a', noAt: '0.2' };
  expect(columnOf(column, definition.questions)).toEqual({
    name: 'x', question: 'upset', show: 'answer', yes_at: 0.7, no_at: 0.2,
  });
  expect(columnOf({ ...column, show: 'probability' }, definition.questions)).toEqual({
    name: 'x', question: 'upset', show: 'probability',
  });
});

test('a calibrated column stays calibrated through an edit, a new version and YAML', async () => {
  const column = { name: 'p', question: 'upset', show: 'probability' as const, calibrated: true };
  expect(columnOf(draftColumn(column), definition.questions)).toEqual(column);
  expect(columnOf(draftColumn({ ...column, calibrated: false }), definition.questions)).toEqual({
    name: 'p', question: 'upset', show: 'probability',
  });
  expect(carried([column], definition, definition)).toEqual([column]);
  expect(columnText(column)).toBe('probability, of upset (calibrated)');
  const { draft, problems } = await readPasted(await toYaml({ slug: 'x', ...definition, lens: { columns: [column] } }));
  expect([draft!.lens, problems]).toEqual([[column], []]);
  const wrong =
    await readPasted(JSON.stringify({ slug: 'x', ...definition, lens: { columns: [{ ...column, calibrated: 'yes' }] } }));
  expect(wrong.problems.map(({ path, message }) => [path, message])).toEqual([['lens.columns.0.calibrated', 'true or false.']]);
});

test('problems of a Lens stand at their columns', () => {
  const columns = [draftColumn({ name: 'subject', question: 'topic', show: 'average' }),
    draftColumn({ name: 'ü', question: 'gone', show: 'answer' }),
    { ...draftColumn({ name: 'ok', question: 'upset', show: 'answer' }), yesAt: '2' }];
  expect([...localLensProblems(columns, definition).keys()]).toEqual([
    'columns.0.name', 'columns.0.show', 'columns.1.name', 'columns.1.question', 'columns.2.yes_at',
  ]);
  expect(freeName('subject', [{ name: 'subject_2' }], definition.fields)).toBe('subject_3');
});

test('YAML and JSON are read the same, with a Lens', async () => {
  const whole = { slug: 'x', ...definition, lens: { columns: derived(definition.questions) } };
  for (const text of [await toYaml(whole), JSON.stringify(whole)]) {
    const { draft, problems } = await readPasted(text);
    expect(problems).toEqual([]);
    expect(definitionOf(draft!)).toEqual(definition);
    expect(draft!.lens).toEqual(whole.lens.columns);
  }
});

test('problems of a pasted text have their lines', async () => {
  const { draft, problems, lineOf } =
    await readPasted('slug: x\nfields:\n  - key: 5\nquestions:\n  - key: q\n    type: maybe\n    text: T\n    texte: T\n');
  expect(problems.map(({ line, path }) => [line, path])).toEqual([
    [3, 'fields.0.key'], [8, 'questions.0.texte'], [6, 'questions.0.type'],
  ]);
  expect(lineOf('questions.0.text')).toBe(7);
  expect(draft!.fields[0]!.key).toBe('5');
  const broken = await readPasted('slug: [x\n');
  expect(broken.draft).toBeUndefined();
  expect(broken.problems[0]!.line).toBe(2);
  expect((await readPasted('slug: a\n---\nslug: b\n')).problems[0]!.message).toContain('2 prisms');
});
