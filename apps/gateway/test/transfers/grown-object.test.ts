import { appendFile, readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { onlyProvider } from '@svc/testbed/only-provider'
import { ed25519Identity, openTestGateway } from '@svc/testbed/test-gateway'
import { expect, it, onTestFinished } from 'vitest'
import { watchedStorage } from '../files/confirm/confirm.ts'
import { createFile, put } from './transfers.ts'

it('an answer ends after its content length even if the object grows, so that no bytes pass for the next answer', async () => {
  const storage = await watchedStorage()
  onTestFinished(storage.remove)
  const local = storage.providers.named('gcs')
  let isGrowing = false
  const providers = onlyProvider({
    ...local,
    /** As of a store where the object grows after its size was read. */
    async stat(key) {
      const found = await local.stat(key)
      const paths = await readdir(storage.folder, { recursive: true })
      const path = join(storage.folder, paths.find((path) => path.endsWith(key.id)) as string)
      if (isGrowing) await appendFile(path, 'HTTP/1.1 200 OK\r\n')
      return found
    },
  })
  const house = await openTestGateway({}, { providers })
  onTestFinished(house.close)
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
