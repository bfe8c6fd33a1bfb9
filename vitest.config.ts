import { availableParallelism } from 'node:os'
import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'
import { chromiumPath } from './scripts/chromium.ts'

/** Only what hangs takes so long, however busy the machine is. */
const HANGS_MS = 300_000

/** The same values in each run, unless a run asks for others (`npm run test:all` does). */
const PROPERTY_SEED = Number(process.env.SVC_TEST_SEED ?? 1)

const WATCH_FILE = 'scripts/test-setup/watch-file.ts'
const LIMIT_PROPERTIES = 'scripts/test-setup/limit-properties.ts'

export default defineConfig({
  test: {
    provide: { propertySeed: PROPERTY_SEED },
    globalSetup: 'scripts/test-setup/memory-folder.ts',
    tags: [{ name: 'nightly', description: 'takes a second or more, and others show the same requirement sooner' }],
    // Tests wait a good deal for what they started: one more than there are cores keeps them busy.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        test: {
          name: 'node',
          include: ['{packages,apps}/*/test/**/*.test.ts', '{contracts,bench,fuzz,model}/test/**/*.test.ts'],
          isolate: false,
          setupFiles: [WATCH_FILE, LIMIT_PROPERTIES],
          testTimeout: HANGS_MS,
          hookTimeout: HANGS_MS,
          expect: { requireAssertions: true, poll: { timeout: HANGS_MS / 2 } },
        },
      },
      {
        test: {
          name: 'acceptance',
          include: ['acceptance/**/*.test.ts'],
          isolate: false,
          setupFiles: [WATCH_FILE],
          testTimeout: HANGS_MS,
          hookTimeout: HANGS_MS,
          expect: { requireAssertions: true, poll: { timeout: HANGS_MS / 2 } },
        },
      },
      {
        test: {
          name: 'browser',
          include: ['packages/{protocol,verifier}/test/**/*.test.ts'],
          exclude: ['**/*.node.test.ts'],
          isolate: false,
          setupFiles: [LIMIT_PROPERTIES],
          testTimeout: HANGS_MS,
          expect: { requireAssertions: true },
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            connectTimeout: HANGS_MS,
            provider: playwright({
              launchOptions: {
                executablePath: chromiumPath(),
                args: [
                  '--no-sandbox',
                  '--disable-gpu',
                  '--disable-background-networking',
                  '--disable-component-update',
                ],
              },
            }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
    ],
  },
})
