import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { callCommands, compareCommands, goString, qualityCommands, readCommands, shellWord, thresholdCommands } from './commands';

const call = {
  prism: 'support', version: 2, fields: { subject: "it's $HOME `x`", message: 'two\nlines "quoted" \\ back' }, ref: 'r 1',
  context: null,
};

describe('a word of the shell', () => {
  it.each([
    'plain-1', "it's", '$HOME `id` "x"', 'a\nb', '', '~', '--flag', '!history', 'ü ﬁ 💡', "'''",
  ])('is %j again when a shell reads it', (text) => {
    expect(execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' })).toBe(text);
  });
});

describe('the call of a result', () => {
  it('as curl sends the body that made it, without its idempotency key', () => {
    const { curl } = callCommands('http://127.0.0.1:8080', call);
    const body = execFileSync('sh', ['-c', curl.replace(/^curl[^]*? -d /, 'printf %s ')], { encoding: 'utf8' });
    expect(JSON.parse(body)).toEqual({ fields: call.fields, version: 2, ref: 'r 1' });
    expect(curl).toContain('"Authorization: Bearer $PRISM_API_KEY"');
  });

  it('as TypeScript and Python have the same text, which TypeScript and Python read as it is', () => {
    const { typescript, python } = callCommands('http://127.0.0.1:8080', call);
    const argument = /createResult\("support", (.*)\);$/s.exec(typescript)![1]!;
    const given = new Function(`return ${argument}`)() as object;
    expect(given).toEqual({ fields: call.fields, version: 2, ref: 'r 1' });
    const program = python.replace(
      'from prism_results import Client',
      'import json\nclass Client:\n    def __init__(self, *to): pass\n'
      + '    def create_result(self, *prism, **rest): print(json.dumps([*prism, rest]))',
    );
    const printed = execFileSync('python3', ['-c', program], { encoding: 'utf8', env: { ...process.env, PRISM_API_KEY: 'k' } });
    expect(JSON.parse(printed)).toEqual(['support', { fields: call.fields, version: 2, ref: 'r 1' }]);
  });

  it('as prismctl has a flag for each field', () => {
    const { prismctl } = callCommands('http://127.0.0.1:8080', call);
    const words =
      execFileSync('sh', ['-c', prismctl.replace('prismctl', "printf '%s\\0'")], { encoding: 'utf8' }).split('\0').slice(0, -1);
    expect(words).toEqual([
      'call', 'support', '--field', `subject=${call.fields.subject}`, '--field', `message=${call.fields.message}`, '--version',
      '2', '--ref', 'r 1',
    ]);
  });

  it('as Go leaves out a ref and a context that were not sent', () => {
    const { go } = callCommands('http://127.0.0.1:8080', { ...call, ref: null });
    expect(go).toContain('c.CreateResult(ctx, "support", client.NewResult{');
    expect(go).not.toMatch(/Ref:|Context:/);
  });
});

it('writes a text with line breaks as a raw Go string unless it has a backquote', () => {
  expect(goString('a\nb')).toBe('`a\nb`');
  expect(goString('a\n`b')).toBe('"a\\n`b"');
  expect(goString('a\u2028"')).toBe('"a\\u2028\\""');
});

it('reads a result by its id', () => {
  const { curl, prismctl, typescript, python } = readCommands('https://prism.example', 'id-1');
  expect(typescript).toMatch(/^const result = await prism\.readResult\("id-1"\);$/m);
  expect(python).toMatch(/^result = client\.read_result\("id-1"\)$/m);
  expect(curl).toMatch(/https:\/\/prism\.example\/v1\/results\/id-1$/);
  expect(prismctl).toBe('prismctl results get id-1');
});

it('measures, thresholds and comparisons are the same call in each language', () => {
  const of = { prism: 'support', version: 2, question: 'refund', model: 'a b', calibrated: true };
  const quality = qualityCommands('https://prism.example', of);
  expect(quality.curl).toContain(
    "'https://prism.example/v1/prisms/support/versions/2/quality?question=refund&model=a+b&calibrated=true'",
  );
  expect(quality.go).toContain(
    'c.ReadQuality(ctx, "support", 2, client.QualityFilter{Question: "refund", Model: "a b", Calibrated: true})',
  );
  expect(quality.typescript).toContain(
    'await prism.readQuality("support", 2, { question: "refund", model: "a b", calibrated: true });',
  );
  expect(quality.python).toContain('client.read_quality("support", 2, question="refund", model="a b", calibrated=True)');
  expect(quality.prismctl).toBe("prismctl quality support --version 2 --question refund --model 'a b' --calibrated");
  expect(
    qualityCommands('https://prism.example', { prism: 'support', version: 2 }).prismctl,
  ).toBe('prismctl quality support --version 2');
  const thresholds = thresholdCommands(
    'https://prism.example', { prism: 'support', version: 2, question: 'refund' }, { false_yes: 5, false_no: 1, unsure: 0.5 },
  );
  expect(thresholds.curl).toContain('/quality/thresholds?question=refund&false_yes=5&false_no=1&unsure=0.5');
  expect(thresholds.go).toContain('client.Costs{FalseYes: 5, FalseNo: 1, Unsure: 0.5})');
  expect(thresholds.typescript).toContain(
    'await prism.readThresholds("support", 2, { question: "refund", false_yes: 5, false_no: 1, unsure: 0.5 });',
  );
  expect(thresholds.python).toContain(
    'client.read_thresholds("support", 2, question="refund", false_yes=5, false_no=1, unsure=0.5)',
  );
  expect(thresholds.prismctl).toMatch(
    /^prismctl quality thresholds support --version 2 --question refund \\\n {2}--false-yes 5 --false-no 1 --unsure 0\.5$/,
  );
  expect(compareCommands('https://prism.example', 'support', 1, 2, { question: 'refund' }).typescript).toContain(
    'await prism.compareVersions("support", { a: 1, b: 2, question: "refund" });',
  );
  expect(compareCommands('https://prism.example', 'support', 1, 2, { question: 'refund' }).python).toContain(
    'client.compare_versions("support", 1, 2, "refund")',
  );
  expect(compareCommands('https://prism.example', 'support', 1, 2, { question: 'refund' }).prismctl).toBe(
    'prismctl compare support 1 2 --question refund',
  );
});
