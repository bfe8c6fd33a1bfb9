import { readdir } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonLines, openHome, type TestHome } from '../world.ts'

let home: TestHome
beforeAll(async () => {
  home = await openHome({ PATH: process.env.PATH ?? '' })
})
afterAll(() => home.leave())

describe('svc demo', () => {
  it('GEN-09 CLI-04 runs every step on its own local chains, detects the tampered file and leaves nothing behind', {
    tags: ['nightly'],
  }, async () => {
    const { exitCode, stdout, stderr } = await home.svc(['demo', '--evm', '--json'], { env: { TMPDIR: home.folder } })
    expect([exitCode, stderr]).toEqual([0, ''])
    const steps = jsonLines(stdout)
    expect(steps.map(({ ok }) => ok)).toEqual(Array(11).fill(true))
    expect(steps.at(-1)).toMatchObject({ command: expect.stringContaining('svc verify bundle.json'), exit_code: 3 })
    expect((await readdir(home.folder)).filter((name) => name.startsWith('svc-demo-'))).toEqual([])
    expect((await home.svc(['lockers'])).stdout).toBe('')
  })

  it('uses only its own wallet, and fails where the chain has no faucet', async () => {
    const { exitCode, stderr } = await home.svc([
      'demo',
      '--gateway',
      'http://127.0.0.1:9',
      '--primary-rpc',
      'http://127.0.0.1:9',
    ])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('has no faucet')])
  })
})
