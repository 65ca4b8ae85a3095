export { AreaChart, Sparkline } from './Area';
export { Curve } from './Curve';
export { Figure } from './Figure';
export { Probabilities, Scale, YesNo, type Part } from './Probabilities';
export { strengthOf } from './ramp';
export { type Bin, Reliability } from './Reliability';
export { type Layer, ShareBar, SmallStacked, Stacked, Swatch } from './Stacked';
