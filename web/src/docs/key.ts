// The API key that a reader types. It is in this variable and in the inputs, and nowhere else: a reload forgets it.
let key = '';
const inputs = new Set<HTMLInputElement>();

/** Shows the key in an input, and follows what is typed there. React's own value would copy the key into an attribute. */
export function keyInput(input: HTMLInputElement): () => void {
  const typed = () => {
    key = input.value;
    for (const other of inputs) if (other !== input) other.value = key;
  };
  input.value = key;
  inputs.add(input);
  input.addEventListener('input', typed);
  return () => {
    input.removeEventListener('input', typed);
    inputs.delete(input);
  };
}

export const typedKey = () => key;
