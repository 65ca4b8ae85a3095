export const prismsRoutes = [] as const;
