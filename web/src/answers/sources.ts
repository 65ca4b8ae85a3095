import type { Schemas } from '@/api';

/** Where probabilities come from, in words that stand behind "Probabilities:". */
export const sources: Record<Schemas['Probabilities'], string> = {
  native: 'returned by the model’s API',
  logprobs: 'computed from log-probabilities',
  stated: 'stated by the model',
  sampled: 'shares of several answers',
  simulated: 'simulated without a model',
};
