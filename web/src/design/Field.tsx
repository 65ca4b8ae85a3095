import {
  type InputHTMLAttributes, type ReactNode, type Ref, type SelectHTMLAttributes, type TextareaHTMLAttributes, useId,
} from 'react';
import './controls.css';
import { Icon } from './icons';

interface Labelled {
  label: ReactNode;
  /** Says what is expected, before anything is wrong. */
  hint?: ReactNode;
  /** What is wrong and what to do; marks the control as invalid. */
  error?: ReactNode;
  /** Keeps the label for assistive technology only, where the place says it to the eye. */
  hideLabel?: boolean;
}

interface Ids {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
}

interface FieldProps extends Labelled {
  className?: string | undefined;
  children: (ids: Ids) => ReactNode;
}

/** The label, hint and error around a control of one's own: `<Field label="Role">{(ids) => <X {...ids} />}</Field>`. */
export function Field({ label, hint, error, hideLabel, className, children }: FieldProps) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;
  return (
    <div className={['field', className].filter(Boolean).join(' ')}>
      <label htmlFor={id} className={hideLabel ? 'unseen' : undefined}>{label}</label>
      {children({ id, 'aria-describedby': described, 'aria-invalid': error ? true : undefined })}
      {error && <p className="field-error" id={`${id}-error`}><Icon name="bad" />{error}</p>}
      {hint && <p className="field-hint" id={`${id}-hint`}>{hint}</p>}
    </div>
  );
}

interface InputProps extends Labelled, InputHTMLAttributes<HTMLInputElement> {
  ref?: Ref<HTMLInputElement>;
}

export function Input({ label, hint, error, hideLabel, className, ...rest }: InputProps) {
  return (
    <Field {...{ label, hint, error, hideLabel, className }}>
      {(ids) => <input {...ids} autoComplete="off" {...rest} className="input" />}
    </Field>
  );
}

interface TextareaProps extends Labelled, TextareaHTMLAttributes<HTMLTextAreaElement> {
  mono?: boolean;
  ref?: Ref<HTMLTextAreaElement>;
}

export function Textarea({ label, hint, error, hideLabel, className, mono, ...rest }: TextareaProps) {
  return (
    <Field {...{ label, hint, error, hideLabel, className }}>
      {(ids) => <textarea {...ids} rows={4} {...rest} className={mono ? 'input mono' : 'input'} />}
    </Field>
  );
}

interface SelectProps extends Labelled, SelectHTMLAttributes<HTMLSelectElement> {
  options?: readonly (readonly [string, string])[];
  ref?: Ref<HTMLSelectElement>;
}

/** A native select. Options are `[value, words]`, or children. */
export function Select({ label, hint, error, hideLabel, className, options, children, ...rest }: SelectProps) {
  return (
    <Field {...{ label, hint, error, hideLabel, className }}>
      {(ids) => (
        <span className="select">
          <select {...ids} {...rest} className="input">
            {options?.map(([value, words]) => <option key={value} value={value}>{words}</option>)}
            {children}
          </select>
          <Icon name="down" />
        </span>
      )}
    </Field>
  );
}

interface CheckboxProps extends InputHTMLAttributes<HTMLInputElement> {
  label: ReactNode;
  hint?: ReactNode;
}

export function Checkbox({ label, hint, className, ...rest }: CheckboxProps) {
  const id = useId();
  return (
    <div className={['check', className].filter(Boolean).join(' ')}>
      <input {...rest} type="checkbox" id={id} aria-describedby={hint ? `${id}-hint` : undefined} />
      <label htmlFor={id}>{label}</label>
      {hint && <p className="field-hint" id={`${id}-hint`}>{hint}</p>}
    </div>
  );
}
