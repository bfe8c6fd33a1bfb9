// Runs before each test file. The time limits of tests are kept by the process they run in, which does not keep them
// when it never gets back to its timers.

import { afterAll, expect } from 'vitest'
import { watch } from './watch.ts'

/** Many times what the longest file takes. */
const LIMIT_MS = 10 * 60_000

watch({ file: expect.getState().testPath ?? 'a test file', limitMs: LIMIT_MS })
afterAll(() => watch(null))
