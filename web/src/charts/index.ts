export { AreaChart, Sparkline, type Series } from './Area';
export { Figure } from './Figure';
export { Probabilities, Scale, YesNo, type Part } from './Probabilities';
