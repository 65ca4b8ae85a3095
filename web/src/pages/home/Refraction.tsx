import type { CSSProperties } from 'react';
import type { LensColumn, Question } from '@/answers/words';
import { exactly, shown, wholePercent } from '@/design';
import { kindOf, thresholds } from '@/questions';
import { beamHue, type RawAnswers } from './answered';

const [height, apex] = [72, 30]; // pixels of the picture, and where light enters
const little = 0.02; // below it, answers are counted only
const most = 5; // other answers that are named

interface Props {
  questions: Question[];
  columns: LensColumn[];
  answers: RawAnswers | undefined;
}

/** A text that the mark refracts into the answers to its questions. The picture says nothing that the bars below do not. */
export function Refraction({ questions, columns, answers }: Props) {
  const place = (i: number) => (questions.length === 1 ? apex + 6 : 14 + ((height - 28) * i) / (questions.length - 1));
  return (
    <div className="refraction" data-lit={answers ? true : undefined}>
      <svg className="refraction-mark" width="100%" height={height} aria-hidden="true">
        <line className="light" x1="0" y1="10" x2="50%" y2={apex + 6} />
        {questions.map((question, i) => (
          <line key={question.key} className="beam" data-hue={beamHue(answers?.[question.key], question, i)} style={at(i)}
            pathLength="1" x1="50%" y1={apex + 6} x2="100%" y2={place(i)} />
        ))}
        <svg x="50%" overflow="visible"><path d="M0 6 31 62H-31z" /></svg>
      </svg>
      <ol className="refraction-answers" aria-live="polite">
        {questions.map((question, i) => (
          <Answer key={question.key} question={question} columns={columns} answer={answers?.[question.key]} place={i} />
        ))}
      </ol>
    </div>
  );
}

/** The place of a question, by which its motion begins later. */
const at = (place: number) => ({ '--place': place }) as CSSProperties;

interface AnswerProps {
  question: Question;
  columns: LensColumn[];
  answer: RawAnswers[string] | undefined;
  place: number;
}

function Answer({ question, columns, answer, place }: AnswerProps) {
  const parts = answer && kindOf(question).parts(answer, question, thresholds(question, columns));
  const named = parts?.others.filter(({ p }) => p >= little).slice(0, most) ?? [];
  const others = named.map(({ label, p }) => `${label} ${wholePercent(p)}`);
  const rest = parts?.others.slice(named.length) ?? [];
  const counted = rest.length === 0 ? [] : [`${shown(rest.length)} ${rest[0]!.p < little ? 'under 2%' : 'more'}`];
  return (
    <li data-hue={beamHue(answer, question, place)} style={at(place)}>
      <h2>{question.text}</h2>
      <p className="refraction-words">
        {parts ? (
          <>{!parts.sure ? `Unsure: ${parts.chosen.label}` : parts.chosen.label}{' '}
            <span className="soft num" title={exactly(parts.chosen.p)}>{wholePercent(parts.chosen.p)}</span></>
        ) : <span className="soft">–</span>}
      </p>
      <span className="refraction-bar" aria-hidden="true"><span style={{ width: `${(parts?.chosen.p ?? 0) * 100}%` }} /></span>
      <p className="soft">{[...others, ...counted].join(' · ')}</p>
    </li>
  );
}
