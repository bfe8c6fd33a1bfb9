import { appendFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { openLocalProvider } from '@svc/storage/local'
import { onlyProvider } from '@svc/testbed/only-provider'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ed25519Identity, type LockerHouse, openLockerHouse } from '../auth/lockers.ts'
import { createFile, put } from './transfers.ts'

let folder: string
let house: LockerHouse
let isGrowing = false

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-files-'))
  const local = await openLocalProvider({ folder })
  const providers = onlyProvider({
    ...local,
    /** Simulates a store where the object grows after its size was read. */
    async stat(key) {
      const found = await local.stat(key)
      if (isGrowing) await appendFile(await pathOf(key.id), 'HTTP/1.1 200 OK\r\n')
      return found
    },
  })
  house = await openLockerHouse({ STORAGE_DIR: folder }, { providers })
})
afterAll(async () => {
  await house.close()
  await rm(folder, { recursive: true })
})

async function pathOf(id: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true })
  return join(folder, entries.find((path) => path.endsWith(id)) as string)
}

it('an answer ends after its content length even if the object grows, so that no bytes pass for the next answer', async () => {
  const locker = await house.locker(ed25519Identity())
  const urls = await createFile(house, locker, 'a.txt')
  await put(urls.upload, 'as it was')
  isGrowing = true
  const { hostname, port, pathname } = new URL(urls.download)
  const socket = connect(Number(port), hostname)
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`)
  const [head = '', body] = (await text(socket)).split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1.1 200 .*content-length: 9\r\n/is)
  expect(body).toBe('as it was')
})
