import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import type { Client, Method, Signatures } from '../src/docs/samples/signatures.ts';

/** What the sources of the three clients say of the method of each operation, and of the types that it takes. */
export function signaturesOf(clients: string, operations: string[]): Signatures {
  const of = ({ methods, types, basics }: Client): Client => {
    const own = Object.fromEntries(operations.flatMap((id) => (methods[id] ? [[id, methods[id]]] : [])));
    const wanted = new Set<string>();
    const want = (type: string) => {
      for (const [name] of type.matchAll(/\w+/g)) {
        if (wanted.has(name) || !(name in types || name in basics)) continue;
        wanted.add(name);
        for (const [, inner] of types[name] ?? []) want(inner);
      }
    };
    for (const { takes } of Object.values(own)) for (const [, type] of takes) want(type);
    const only = <T>(all: Record<string, T>) =>
      Object.fromEntries(Object.entries(all).filter(([name]) => wanted.has(name)).sort(([a], [b]) => (a < b ? -1 : 1)));
    return { methods: own, types: only(types), basics: only(basics) };
  };
  return {
    Go: of(goOf(clients)),
    TypeScript: of(typeScriptOf(`${clients}/typescript/src`)),
    Python: of(pythonOf(`${clients}/python/src/prism_results`)),
  };
}

const read = (folder: string, ending: RegExp) =>
  readdirSync(folder).filter((name) => ending.test(name)).map((name) => readFileSync(`${folder}/${name}`, 'utf8'));

// The Go sources are formatted by gofumpt, so lines tell enough. The client's types are those of pkg/api, and some of pkg/prism.
function goOf(folder: string): Client {
  const found: Client = { methods: {}, types: {}, basics: {} };
  for (const text of ['/../pkg/prism', '/../pkg/api', ''].flatMap((of) => read(folder + of, /(?<!_test)\.go$/))) {
    for (const [, name, parameters, result] of text.matchAll(
      /^func \(c \*Client\) ([A-Z]\w*)\(\s*ctx context\.Context, ([^{]*?),?\s*\) (\S+|\(.*\)) \{$/gm,
    )) {
      const takes: Method['takes'] = [];
      for (const parameter of parameters!.split(', ').reverse()) {
        const [of, type = takes[0]![1]] = parameter.split(' ') as [string, string?];
        takes.unshift([of, type]);
      }
      const gives = result!.replace(/^\(|\)$/g, '').split(', ').slice(0, -1).join(', ');
      found.methods[name![0]!.toLowerCase() + name!.slice(1)] = { takes: takes.filter(([of]) => of !== 'options'), gives };
    }
    for (const [, name, body] of text.matchAll(/^type (\w+) struct \{\n([^]*?)^\}/gm)) {
      found.types[name!] = body!.split('\n').flatMap((line): [string, string, string][] => {
        const [, of, type, member] = /^\t(\w+)(?: +([^\s`/]+))?(?: +`json:"([^",]*)[^`]*`)?(?: *\/\/.*)?$/.exec(line) ?? [];
        return of ? [type ? [of, type, member ?? snake(of)] : ['', of, '']] : [];
      });
    }
    for (const [, name, of] of text.matchAll(/^type (\w+) (string|int|int64|float64|bool)$/gm)) found.basics[name!] = of!;
  }
  return found;
}

const snake = (name: string) => name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();

function typeScriptOf(folder: string): Client {
  const methods: Client['methods'] = {};
  const types: Client['types'] = {};
  for (const text of read(folder, /\.ts$/)) {
    const source = ts.createSourceFile('client.ts', text, ts.ScriptTarget.Latest);
    for (const statement of source.statements.filter(ts.isClassDeclaration)) {
      for (const method of statement.members.filter(ts.isMethodDeclaration)) {
        if (!method.body) continue;
        const takes = method.parameters.map((parameter): [string, string] =>
          [parameter.name.getText(source), parameter.type!.getText(source)]);
        methods[method.name.getText(source)] =
          { takes: takes.filter(([name]) => name !== 'options'), gives: method.type?.getText(source) ?? '' };
      }
    }
    // Of a type that is a schema without some of its members, these.
    for (const [, name, left] of text.matchAll(/^export type (\w+) = (?:\w+<)?Omit<Schemas\["\w+"\], ([^>]+)>>?;$/gm)) {
      types[name!] = [...left!.matchAll(/"(\w+)"/g)].map(([, member]) => [member!, 'never']);
    }
  }
  return { methods, types, basics: {} };
}

// Prints what the classes of Python files have: their methods, and the members of models.
const inspect = `
import ast, json, sys
found = {"methods": {}, "types": {}, "basics": {}}
for name in sys.argv[1:]:
    for part in ast.parse(open(name).read()).body:
        if not isinstance(part, ast.ClassDef):
            continue
        members = [one for one in part.body if isinstance(one, ast.AnnAssign)]
        if members:
            found["types"][part.name] = [[one.target.id, ast.unparse(one.annotation)] for one in members]
        for one in part.body:
            if isinstance(one, ast.FunctionDef) and not one.name.startswith("_"):
                a, words = one.args, one.name.split("_")
                takes = [[each.arg, ast.unparse(each.annotation)] for each in a.args[1:] if each.annotation]
                takes += [[each.arg, ast.unparse(each.annotation), "named"] for each in a.kwonlyargs]
                takes += [[a.kwarg.arg, ast.unparse(a.kwarg.annotation), "rest"]] if a.kwarg else []
                gives = ast.unparse(one.returns) if one.returns else ""
                found["methods"][words[0] + "".join(word.title() for word in words[1:])] = {"takes": takes, "gives": gives}
print(json.dumps(found))
`;

function pythonOf(folder: string): Client {
  const files = ['models', '_sync'].flatMap((part) =>
    readdirSync(`${folder}/${part}`).filter((name) => name.endsWith('.py')).sort().map((name) => `${folder}/${part}/${name}`));
  return JSON.parse(execFileSync('python3', ['-c', inspect, ...files], { encoding: 'utf8' })) as Client;
}
