// @module-tag nightly

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFreshDatabase } from '@svc/devnet/databases'
import { freePort } from '@svc/devnet/free-port'
import type { StartedProcess } from '@svc/devnet/start-process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand, startCommand } from '../gateway-process.ts'
import { type Scrape, scrape } from '../views/metrics/scrape.ts'

describe('a gateway of two processes', { shuffle: false }, () => {
  const closing: (() => Promise<unknown>)[] = []
  let env: Record<string, string>
  let gateway: StartedProcess
  let url: string

  beforeAll(async () => {
    const database = await createFreshDatabase('postgres')
    closing.push(database.drop)
    const folder = await mkdtemp(join(tmpdir(), 'svc-processes-'))
    closing.push(() => rm(folder, { recursive: true }))
    const port = String(await freePort())
    url = `http://127.0.0.1:${port}`
    env = {
      SVC_MODE: 'development',
      DATABASE_URL: database.url,
      DATA_DIR: folder,
      HOST: '127.0.0.1',
      PORT: port,
      PROCESSES: '2',
    }
    gateway = startCommand(['start'], env)
    closing.push(gateway.kill)
    await gateway.waitForLine(/gateway started/)
  })
  afterAll(async () => {
    for (const close of closing.reverse()) await close()
  })

  const logged = (msg: string) => gateway.log().filter((line) => line.msg === msg)
  const newestProcess = () => logged('process started').at(-1)?.pid as number
  const startTime = (metrics: Scrape, process: string) => metrics.value('process_start_time_seconds', { process })

  async function untilBothAnswer(): Promise<Scrape> {
    let metrics: Scrape
    const bothAnswer = async () => {
      metrics = await scrape(url)
      return startTime(metrics, '1') !== null && startTime(metrics, '2') !== null
    }
    await expect.poll(bothAnswer).toBe(true)
    return metrics!
  }

  it('logs its address once, and serves the metrics of both processes from either', async () => {
    await untilBothAnswer()
    for (let i = 0; i < 4; i++)
      expect((await fetch(`${url}/health`, { headers: { connection: 'close' } })).status).toBe(200)
    const metrics = await scrape(url)
    const answered = (process: string) =>
      metrics.value('svc_http_request_duration_seconds_count', {
        process,
        route: '/health',
        method: 'GET',
        status: '2xx',
      })
    expect((answered('1') ?? 0) + (answered('2') ?? 0)).toBe(4)
    expect(metrics.value('svc_receipts_total')).toBe(0)
    expect(logged('gateway started')).toMatchObject([{ url, processes: 2 }])
  })

  it('T-01 keeps serving when one process is killed, and starts a replacement', async () => {
    process.kill(newestProcess(), 'SIGKILL')
    await gateway.waitForLine(/a process ended and is replaced/)
    expect((await fetch(`${url}/health`)).status).toBe(200)
    await untilBothAnswer()
  })

  it('T-89 shares its port only with its processes', async () => {
    const { code, stderr } = await runCommand(['start'], env)
    expect([code, stderr]).toEqual([1, expect.stringContaining(`Port ${env.PORT} is in use`)])
  })

  it('stops with its processes on SIGTERM', async () => {
    const worker = newestProcess()
    expect(await gateway.kill('SIGTERM')).toMatchObject({ code: 0 })
    expect(() => process.kill(worker, 0)).toThrow('ESRCH')
  })
})
