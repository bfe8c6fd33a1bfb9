// The program as admins run it.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@svc/devnet/free-port'
import { startProcess } from '@svc/devnet/start-process'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { post, testLog } from './requests.ts'

const MAIN = new URL('../src/main.ts', import.meta.url)
const log = testLog('log.example')

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-witness-program-'))
  await writeFile(join(folder, 'logs.txt'), `${log.line}\n`)
})
afterAll(() => rm(folder, { recursive: true }))

const start = (args: string[], variables: Record<string, string> = {}) =>
  startProcess(MAIN, { args, env: { DATA_DIR: folder, HOST: '127.0.0.1', ...variables } })

const run = (args: string[], variables?: Record<string, string>) => start(args, variables).ended

async function startProgram() {
  const PORT = String(await freePort())
  const witness = start([], { PORT })
  await witness.waitForLine(/witness started/)
  return { ...witness, url: `http://127.0.0.1:${PORT}` }
}

it('WIT-07 the program prints the same key each time, and lists its commands', { tags: ['nightly'] }, async () => {
  const first = await run(['key'], { WITNESS_NAME: 'w.example' })
  expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(/^w\.example\+[0-9a-f]{8}\+\S{44}\n$/) })
  expect(await run(['key'], { WITNESS_NAME: 'w.example' })).toEqual(first)
  expect(await run(['help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('svc-witness [command]') })
  expect(await run(['sing'])).toMatchObject({ code: 2, stderr: expect.stringContaining('unknown command "sing"') })
  const wrong = await run(['key'], { PORT: 'x' })
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringMatching(/^The configuration is not usable:\n.*PORT/) })
})

it('WIT-04 a killed witness continues from the last checkpoint that it acknowledged', async () => {
  let last = 0
  for (const signal of ['SIGKILL', 'SIGKILL', 'SIGTERM'] as const) {
    const witness = await startProgram()
    // Size 1 is not the last cosigned size, so the response is the last size.
    const size = Number((await post(witness.url, await log.request(1, 100))).text)
    expect(size).toBeGreaterThanOrEqual(last)
    const until = size + 5
    for (let sent = size; ; sent++) {
      const { status } = await post(witness.url, await log.request(sent, sent + 1)).catch(() => ({ status: 0 }))
      if (status !== 200) break
      last = sent + 1
      // Kills it while the next request is in progress.
      if (last === until) void witness.kill(signal)
    }
    expect(last).toBeGreaterThanOrEqual(until)
    expect(await witness.ended).toMatchObject({ code: signal === 'SIGTERM' ? 0 : null })
  }
})
