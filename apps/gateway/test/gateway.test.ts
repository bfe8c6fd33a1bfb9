// @module-tag nightly

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { forEachDatabase } from '@svc/devnet/databases'
import { startProcess } from '@svc/devnet/start-process'
import { afterAll, beforeAll, expect, it } from 'vitest'

const program = new URL('./programs/fail-to-start.ts', import.meta.url)

let folder: string
let holder: Server
let settings: Record<string, string>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-taken-port-'))
  holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  settings = {
    SVC_MODE: 'development',
    HOST: '127.0.0.1',
    PORT: String((holder.address() as AddressInfo).port),
    LOG_LEVEL: 'silent',
    DATA_DIR: folder,
  }
})
afterAll(async () => {
  holder.close()
  await rm(folder, { recursive: true })
})

forEachDatabase('a start that fails because the port is in use', (database) => {
  it('leaves nothing open, so that the process ends by itself', async () => {
    const { ended } = startProcess(program, { env: { ...settings, DATABASE_URL: database.url } })
    expect(await ended).toEqual({ code: 0, signal: null, stdout: 'EADDRINUSE\n', stderr: '' })
  })
})
