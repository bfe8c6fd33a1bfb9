// @module-tag nightly

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { createFreshDatabase } from '@svc/devnet/databases'
import { freePort } from '@svc/devnet/free-port'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Scrape, scrape } from '../info/metrics/scrape.ts'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

describe('a gateway of two processes', () => {
  const closing: (() => Promise<unknown>)[] = []
  const lines: Record<string, unknown>[] = []
  let env: NodeJS.ProcessEnv
  let gateway: ChildProcess
  let url: string

  beforeAll(async () => {
    const database = await createFreshDatabase('postgres')
    closing.push(database.drop)
    const folder = await mkdtemp(join(tmpdir(), 'svc-processes-'))
    closing.push(() => rm(folder, { recursive: true }))
    const port = String(await freePort())
    url = `http://127.0.0.1:${port}`
    env = {
      PATH: process.env.PATH,
      SVC_MODE: 'development',
      DATABASE_URL: database.url,
      DATA_DIR: folder,
      HOST: '127.0.0.1',
      PORT: port,
      PROCESSES: '2',
    }
    gateway = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    createInterface(gateway.stdout!).on('line', (line) => lines.push(JSON.parse(line)))
  })
  afterAll(async () => {
    gateway.kill('SIGKILL')
    for (const close of closing.reverse()) await close()
  })

  const logged = (msg: string) => lines.filter((line) => line.msg === msg)
  const newestProcess = () => logged('process started').at(-1)?.pid as number
  const startTime = (metrics: Scrape, place: string) => metrics.value('process_start_time_seconds', { process: place })

  async function untilBothAnswer(): Promise<Scrape> {
    let metrics: Scrape
    await expect
      .poll(
        async () => {
          metrics = await scrape(url)
          return startTime(metrics, '1') !== null && startTime(metrics, '2') !== null
        },
        { timeout: 60_000 },
      )
      .toBe(true)
    return metrics!
  }

  it('says once where it serves, and answers metrics of both processes from either', async () => {
    await expect.poll(() => logged('gateway started').length).toBe(1)
    await untilBothAnswer()
    for (let i = 0; i < 4; i++)
      expect((await fetch(`${url}/health`, { headers: { connection: 'close' } })).status).toBe(200)
    const metrics = await scrape(url)
    const answered = (place: string) =>
      metrics.value('svc_http_request_duration_seconds_count', {
        process: place,
        route: '/health',
        method: 'GET',
        status: '2xx',
      })
    expect((answered('1') ?? 0) + (answered('2') ?? 0)).toBe(4)
    expect(metrics.value('svc_receipts_total')).toBe(0)
    expect(logged('gateway started')).toMatchObject([{ url, processes: 2 }])
  })

  it('T-16 goes on while one process is killed, and starts another in its place', async () => {
    process.kill(newestProcess(), 'SIGKILL')
    await expect.poll(() => logged('a process ended, and another takes its place').length).toBe(1)
    expect((await fetch(`${url}/health`)).status).toBe(200)
    await untilBothAnswer()
  })

  it('T-89 shares its port with nobody but its processes', async () => {
    const other = spawn(process.execPath, [main], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    expect(await text(other.stderr)).toContain(`Port ${env.PORT} is in use`)
    expect(other.exitCode ?? (await once(other, 'exit'))[0]).toBe(1)
  })

  it('stops with its processes on SIGTERM', async () => {
    const worker = newestProcess()
    gateway.kill('SIGTERM')
    expect(await once(gateway, 'exit')).toEqual([0, null])
    expect(() => process.kill(worker, 0)).toThrow('ESRCH')
  })
})
