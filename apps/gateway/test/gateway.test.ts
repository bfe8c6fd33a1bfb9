// @module-tag nightly

import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { forEachDatabase } from '@svc/devnet/databases'
import { startProcess } from '@svc/devnet/start-process'
import type { Providers } from '@svc/storage/open-providers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../src/config.ts'
import { startGateway } from '../src/gateway.ts'

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

forEachDatabase('a start that fails because the port is taken', (database) => {
  it('leaves nothing open: the process ends by itself', async () => {
    const { ended } = startProcess(program, { env: { ...settings, DATABASE_URL: database.url } })
    expect(await ended).toEqual({ code: 0, signal: null, stdout: 'EADDRINUSE\n', stderr: '' })
  })
})

describe('a start that fails because the port is taken', () => {
  it('closes providers while the database is still open, and then the database', async () => {
    const { config, secrets } = readConfig(settings)
    const filesAtClose: string[][] = []
    const unused = () => {
      throw new Error('no provider is asked for anything')
    }
    const providers: Providers = {
      named: unused,
      slow: unused,
      health: unused,
      close: async () => void filesAtClose.push(await readdir(folder)),
    }
    await expect(startGateway(config, secrets, { providers })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    // SQLite removes this file with its last connection.
    const log = 'gateway.db-wal'
    expect(filesAtClose).toEqual([expect.arrayContaining([log])])
    expect(await readdir(folder)).not.toContain(log)
  })
})
