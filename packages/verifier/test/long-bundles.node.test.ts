import { fileURLToPath } from 'node:url'
import { startProcess } from '@svc/devnet/start-process'
import { describe, expect, it } from 'vitest'
import { verifyBundle } from '../src/verify-bundle.ts'
import type { measure } from './programs/verify-long-bundle.ts'

const PROGRAM = fileURLToPath(new URL('./programs/verify-long-bundle.ts', import.meta.url))
const REDACT_PROGRAM = fileURLToPath(new URL('./programs/redact-long-bundle.ts', import.meta.url))

/** With 40 MB for objects. */
const run = (...args: string[]) => startProcess(process.execPath, { args: ['--max-old-space-size=40', ...args] }).ended

describe('long bundles', () => {
  it('CLI-02 200,000 files verify in a process that could not hold them', { tags: ['nightly'] }, async () => {
    const { stdout } = await run(PROGRAM, '200000')
    const outcome: Partial<Awaited<ReturnType<typeof measure>>> = JSON.parse(stdout)
    expect(outcome).toMatchObject({ failed: [], files: 200_000, key_pinned: 'passed' })
  })

  it.each([['no_names'], ['photos/2026/img-00000000.jpg', 'photos/2026/img-00099999.jpg']])(
    'ADD-18 100,000 files are redacted and verified within 40 MB of objects: %s',
    { tags: ['nightly'] },
    async (...shown) => {
      const { stdout } = await run(REDACT_PROGRAM, '100000', ...shown)
      expect(JSON.parse(stdout)).toMatchObject({ refused: null, failed: [], total: 100_000 })
    },
  )

  it('ADD-05 more than a gigabyte is refused', async () => {
    const { refused } = await verifyBundle([new Uint8Array(1024 ** 3 + 1)])
    expect(refused).toMatchObject({ code: 'too_large' })
  })
})
