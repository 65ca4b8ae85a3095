export const auditRoutes = [] as const;
