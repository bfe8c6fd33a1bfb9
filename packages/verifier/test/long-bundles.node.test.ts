import { fileURLToPath } from 'node:url'
import { startProcess } from '@svc/devnet/start-process'
import { expect, it } from 'vitest'
import { verifyBundle } from '../src/verify-bundle.ts'

const PROGRAM = fileURLToPath(new URL('./programs/long-bundle.ts', import.meta.url))

it.each([
  ['not redacted', []],
  ['redacted, without names', ['no_names']],
  ['redacted, with two names', ['photos/2026/img-00000000.jpg', 'photos/2026/img-00099999.jpg']],
])(
  'CLI-02 ADD-18 a bundle of 200,000 files is verified in a process with too little memory for all of them (%s)',
  { tags: ['nightly'] },
  async (_, shown) => {
    const args = ['--max-old-space-size=40', PROGRAM, '200000', ...shown]
    const { stdout } = await startProcess(process.execPath, { args }).ended
    expect(JSON.parse(stdout)).toEqual({ failed: [], files: 200_000, key_pinned: 'passed' })
  },
)

it('ADD-05 more than a gigabyte is refused', async () => {
  const { refused } = await verifyBundle([new Uint8Array(1024 ** 3 + 1)])
  expect(refused).toMatchObject({ code: 'too_large' })
})
