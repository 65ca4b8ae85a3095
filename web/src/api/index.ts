export { api, ask, askAll, askRaw, type Schemas } from './client';
export { ApiError, type Problem } from './errors';
export { useKeys, useModels, usePrisms } from './lists';
export { queries } from './query';
export { session, useCan, useSession, type Account, type Member, type Role } from './session';
