// `npm run faults` in its short form: gateways that are killed under a mixed load while their database and nodes fail.

import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { programEnvironment } from '@svc/devnet/start-process'
import { describe, expect, it, onTestFinished } from 'vitest'

const PROGRAM = fileURLToPath(new URL('../bench/src/faults/main.ts', import.meta.url))
const KILLS = 5

describe('npm run faults', () => {
  it('ADD-32 T-16 PAY-52 PAY-53 STATE-01 two gateways that are killed with their database and nodes keep every promise', {
    tags: ['nightly'],
  }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-faults-test-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const json = join(folder, 'summary.json')
    const options = ['--rounds', KILLS, '--replicas', 2, '--buyers', 3, '--faults', 'postgres,rpc-cut', '--json', json]
    const run = promisify(execFile)(process.execPath, [PROGRAM, ...options.map(String)], {
      env: programEnvironment({}),
    })
    const { stdout } = await run.catch((error: { stdout: string; stderr: string }) => {
      throw new Error(`${error.stderr}\n${error.stdout}`)
    })
    expect(stdout).toContain('Every promise was kept.')
    const { kills, faults, acknowledged, checks } = JSON.parse(await readFile(json, 'utf8'))
    expect(kills).toBe(KILLS)
    expect(Math.min(faults.postgres, faults['rpc-cut'])).toBeGreaterThan(0)
    expect(acknowledged.payments).toBeGreaterThan(0)
    expect(checks).toHaveLength(12)
    for (const { promise, broken } of checks) expect(broken, promise).toEqual([])
  })

  it('ADD-32 says what it takes when it does not understand', async () => {
    const run = promisify(execFile)(process.execPath, [PROGRAM, '--faults', 'earthquake'])
    await expect(run).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/no fault earthquake\n.*--rounds/s),
    })
  })
})
