import type { Limits } from '../../dev/limits';

declare const __LIMITS__: Limits;

/** How many items a definition has at least and at most, and how long the group of an option is, as the OpenAPI document says. */
export const limits = __LIMITS__;

/** How many different groups the options of a question have at most. */
export const mostGroups = 32;
