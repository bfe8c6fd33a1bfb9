import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { verifyBundle } from '../src/verify-bundle.ts'
import type { measure } from './programs/verify-long-bundle.ts'

const PROGRAM = fileURLToPath(new URL('./programs/verify-long-bundle.ts', import.meta.url))
const run = promisify(execFile)

describe('long bundles', () => {
  it('CLI-02 200,000 files verify in a process that could not hold them', async () => {
    const { stdout } = await run(process.execPath, ['--max-old-space-size=40', PROGRAM, '200000'])
    const outcome: Partial<Awaited<ReturnType<typeof measure>>> = JSON.parse(stdout)
    expect(outcome).toMatchObject({ failed: [], files: 200_000, key_pinned: 'passed' })
  })

  it('ADD-05 more than a gigabyte is refused', async () => {
    const { refused } = await verifyBundle([new Uint8Array(1024 ** 3 + 1)])
    expect(refused).toMatchObject({ code: 'too_large' })
  })
})
