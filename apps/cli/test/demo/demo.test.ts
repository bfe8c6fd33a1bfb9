import { readdir } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { exits, jsonLines, useHome } from '../host.ts'

const home = useHome({ PATH: process.env.PATH ?? '' })

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
    const nowhere = 'http://127.0.0.1:9'
    const ended = await home.svc(['demo', '--gateway', nowhere, '--primary-rpc', nowhere])
    expect(ended).toMatchObject(exits(1, 'has no faucet'))
  })
})
