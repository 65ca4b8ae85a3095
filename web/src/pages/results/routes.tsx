export const resultsRoutes = [] as const;
