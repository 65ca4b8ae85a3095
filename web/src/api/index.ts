export { api, ask, askRaw, type Schemas } from './client';
export { ApiError, type Problem } from './errors';
export { queries } from './query';
export { session, useCan, useSession, type Account, type Member, type Role } from './session';
