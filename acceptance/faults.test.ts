// `npm run faults` in its short form: gateways that are killed under a mixed load while their database and nodes fail.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProcess } from '@svc/devnet/start-process'
import { describe, expect, it, onTestFinished } from 'vitest'

const PROGRAM = new URL('../bench/src/faults/main.ts', import.meta.url)
const KILLS = 5

describe('npm run faults', () => {
  it('ADD-32 T-01 two gateways that are killed with their database and nodes keep every promise', {
    tags: ['nightly'],
  }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-faults-test-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const json = join(folder, 'summary.json')
    const options = ['--rounds', KILLS, '--replicas', 2, '--buyers', 3, '--faults', 'postgres,rpc-cut', '--json', json]
    const { code, stdout, stderr } = await startProcess(PROGRAM, { args: options.map(String) }).ended
    expect([code, stdout], stderr).toEqual([0, expect.stringContaining('Every promise was kept.')])
    const { kills, faults, acknowledged, checks } = JSON.parse(await readFile(json, 'utf8'))
    expect(kills).toBe(KILLS)
    expect(Math.min(faults.postgres, faults['rpc-cut'])).toBeGreaterThan(0)
    expect(acknowledged.payments).toBeGreaterThan(0)
    expect(checks).toHaveLength(13)
    for (const { promise, broken } of checks) expect(broken, promise).toEqual([])
  })

  it('ADD-32 lists its options when one is unknown', async () => {
    const { code, stderr } = await startProcess(PROGRAM, { args: ['--faults', 'earthquake'] }).ended
    expect([code, stderr]).toEqual([2, expect.stringMatching(/unknown fault: earthquake\n.*--rounds/s)])
  })
})
