export const runsRoutes = [] as const;
