import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { globalSetup: "test/prism.ts", testTimeout: 60_000, hookTimeout: 120_000 },
});
