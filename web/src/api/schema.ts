/** The types of the OpenAPI document, which the TypeScript client has: `make typescript` writes them. */
export type { components, paths } from '../../../client/typescript/src/schema';
