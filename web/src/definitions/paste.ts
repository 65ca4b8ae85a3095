import type { Problem } from '@/api';
import { limits } from '@/api/limits';
import { kinds } from '@/questions';
import { type Definition, type Draft, draftOf, type Example, type Label, type LensColumn, type Question } from './model';

/** A problem of a pasted text. `line` counts from 1 and is absent where the place is not known. */
interface PasteProblem {
  line?: number;
  path: string;
  message: string;
}

export interface Pasted {
  /** Absent while the text is no definition at all. */
  draft?: Draft;
  problems: PasteProblem[];
  /** The line of a member, for the problems that the API finds in the draft. */
  lineOf: (path: string) => number | undefined;
}

const prismMembers = ['slug', 'name', 'instructions', 'model', 'escalate', 'fields', 'questions', 'examples', 'lens'];
const exampleMembers = ['fields', 'answers', 'result_id'];
const escalateMembers = ['to', 'below', 'questions'];
const fieldMembers = ['key', 'label'];
const optionMembers = ['key', 'label', 'description', ...(limits.group === undefined ? [] : ['group'])];
const levelMembers = ['key', 'label', 'value'];
const questionMembers = ['key', 'type', 'text', 'options', 'levels', 'insufficient_information'];
const columnMembers = ['name', 'question', 'show', 'option', 'yes_at', 'no_at', 'calibrated'];

/** Reads a definition in YAML or JSON, the form of `prismctl prisms get` and of the API. The reader of YAML is loaded here. */
export async function readPasted(text: string): Promise<Pasted> {
  const { LineCounter, parseAllDocuments } = await import('yaml');
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false });
  const nothing: Pasted = { problems: [], lineOf: () => undefined };
  if (!Array.isArray(documents) || documents.length === 0) return nothing;
  const line = (offset: number | undefined) => (offset === undefined ? undefined : lines.linePos(offset).line);
  const broken = documents.flatMap((d) => d.errors);
  if (broken.length) return { ...nothing, problems: broken.map((e) => ({ line: line(e.pos[0]), path: '', message: e.message })) };
  if (documents.length > 1) return {
    ...nothing,
    problems: [{ path: '', message: `${documents.length} prisms. Paste one at a time, or use prismctl prisms apply.` }],
  };
  const document = documents[0]!;
  const lineOf = (path: string): number | undefined => {
    const steps = path.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step));
    for (let n = steps.length; n > 0; n--) {
      const node = document.getIn(steps.slice(0, n), true) as { range?: [number, number, number] } | undefined;
      if (node?.range) return line(node.range[0]);
    }
    return undefined;
  };
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    return { ...nothing, problems: [{ path: '', message: error instanceof Error ? error.message : String(error) }] };
  }
  const reader = new Reader();
  const draft = reader.prism(value);
  return { draft, lineOf, problems: reader.problems.map((p) => ({ ...p, line: lineOf(p.path) })) };
}

type Members = Record<string, unknown>;

/** Takes what is there and notes what is not as it should be; the API checks the rest. */
class Reader {
  problems: Problem[] = [];

  prism(value: unknown): Draft | undefined {
    const prism = this.#object(value, 'definition', prismMembers, '');
    if (!prism) return undefined;
    const definition: Definition & { slug: string; name: string; lens?: { columns: LensColumn[] } } = {
      slug: this.#text(prism, 'slug', ''),
      name: this.#text(prism, 'name', ''),
      instructions: this.#text(prism, 'instructions', ''),
      model: this.#text(prism, 'model', ''),
      fields: this.#list(prism, 'fields', '', fieldMembers)
        .map(({ item, at }) => ({ key: this.#text(item, 'key', at), label: this.#text(item, 'label', at) })),
      questions: this.#list(prism, 'questions', '', questionMembers).map(({ item, at }) => this.#question(item, at)),
    };
    if (prism.escalate != null) {
      const escalate = this.#object(prism.escalate, 'second model', escalateMembers, 'escalate');
      if (escalate) definition.escalate = this.#escalate(escalate);
    }
    if (prism.examples != null) {
      definition.examples = this.#list(prism, 'examples', '', exampleMembers).map(({ item, at }) => this.#example(item, at));
    }
    if (prism.lens != null) {
      const lens = this.#object(prism.lens, 'lens', ['columns'], 'lens');
      if (lens) definition.lens =
        { columns: this.#list(lens, 'columns', 'lens.', columnMembers).map(({ item, at }) => this.#column(item, at)) };
    }
    return draftOf(definition);
  }

  #escalate(item: Members): NonNullable<Definition['escalate']> {
    if (!this.#text(item, 'to', 'escalate')) this.#problem('escalate.to', 'Required.');
    const keys = item.questions ?? [];
    if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'string')) {
      this.#problem('escalate.questions', 'Expected a list of keys of questions.');
    }
    return {
      to: typeof item.to === 'string' ? item.to : '', below: this.#number(item, 'below', 'escalate') as number,
      ...(Array.isArray(keys) && keys.length > 0 && { questions: keys.map(String) }),
    };
  }

  #example(item: Members, at: string): Example {
    const result = this.#text(item, 'result_id', at);
    const members = (name: string) => {
      const value = item[name] ?? {};
      if (typeof value === 'object' && !Array.isArray(value)) return Object.entries(value as Members);
      this.#problem(`${at}.${name}`, 'Expected members.');
      return [];
    };
    return {
      fields: Object.fromEntries(members('fields').map(([key, value]) => {
        if (typeof value !== 'string') this.#problem(`${at}.fields.${key}`, 'Expected a text.');
        return [key, String(value)];
      })),
      answers: Object.fromEntries(members('answers').map(([key, value]) => [key, value as Label])),
      ...(result && { result_id: result }),
    };
  }

  #question(item: Members, at: string): Question {
    const known = kinds.find(({ type }) => type === item.type);
    if (!known) this.#problem(`${at}.type`, `One of ${kinds.map(({ type }) => type).join(', ')}.`);
    const { type, lists, lacks } = known ?? kinds[0]!;
    return {
      key: this.#text(item, 'key', at), text: this.#text(item, 'text', at), type,
      ...(lacks && { insufficient_information: this.#boolean(item, 'insufficient_information', at) }),
      ...(lists === 'levels' && {
        levels: this.#list(item, 'levels', `${at}.`, levelMembers).map(({ item: level, at: where }) => ({
          key: this.#text(level, 'key', where), label: this.#text(level, 'label', where),
          value: this.#number(level, 'value', where) })),
      }),
      ...(lists === 'options' && {
        options: this.#list(item, 'options', `${at}.`, optionMembers).map(({ item: option, at: where }) => ({
          key: this.#text(option, 'key', where), label: this.#text(option, 'label', where),
          description: this.#text(option, 'description', where), ...this.#group(option, where) })),
      }),
    } as Question;
  }

  #group(option: Members, where: string): { group?: string } {
    const group = this.#text(option, 'group', where);
    return group ? { group } : {};
  }

  #column(item: Members, at: string): LensColumn {
    const [option, yes, no] = [this.#text(item, 'option', at), this.#number(item, 'yes_at', at), this.#number(item, 'no_at', at)];
    return {
      name: this.#text(item, 'name', at), question: this.#text(item, 'question', at),
      show: this.#text(item, 'show', at) as LensColumn['show'],
      ...(option && { option }), ...(yes !== undefined && { yes_at: yes }), ...(no !== undefined && { no_at: no }),
      ...(this.#boolean(item, 'calibrated', at) && { calibrated: true }),
    };
  }

  #object(value: unknown, what: string, known: string[], at: string): Members | undefined {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.#problem(at, `Expected the members of a ${what}.`);
      return undefined;
    }
    // The API ignores what it does not know, so a misspelled member would be lost without a word.
    for (const name of Object.keys(value)) {
      if (!known.includes(name)) this.#problem(at ? `${at}.${name}` : name, `No such member. A ${what} has ${known.join(', ')}.`);
    }
    return value as Members;
  }

  #list(members: Members, name: string, at: string, known: string[]): { item: Members; at: string }[] {
    const value = members[name];
    if (value == null) return [];
    if (!Array.isArray(value)) {
      this.#problem(at + name, 'Expected a list.');
      return [];
    }
    return value.flatMap((one, i) => {
      const where = `${at}${name}.${i}`;
      const item = this.#object(one, name.replace(/s$/, ''), known, where);
      return item ? [{ item, at: where }] : [];
    });
  }

  #text(members: Members, name: string, at: string): string {
    const value = members[name];
    if (value == null) return '';
    if (typeof value === 'string') return value;
    this.#problem(
      at ? `${at}.${name}` : name, `Expected a text. Put ${typeof value === 'object' ? 'it' : String(value)} in quotes.`,
    );
    return typeof value === 'object' ? '' : String(value);
  }

  #number(members: Members, name: string, at: string): number | undefined {
    const value = members[name];
    if (value == null) return undefined;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    this.#problem(`${at}.${name}`, 'Expected a number.');
    return undefined;
  }

  #boolean(members: Members, name: string, at: string): boolean {
    if (members[name] != null && typeof members[name] !== 'boolean') this.#problem(`${at}.${name}`, 'true or false.');
    return members[name] === true;
  }

  #problem(path: string, message: string): void {
    this.problems.push({ path, message });
  }
}

/** A definition as YAML, the form that `prismctl prisms apply` takes. */
export async function toYaml(definition: object): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(definition, { lineWidth: 120 });
}
