// The reference server of the tus protocol, on its file store.

import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FileStore } from '@tus/file-store'
import { Server } from '@tus/server'
import { reportTo } from '../server-process.ts'

const directory = await mkdtemp(join(tmpdir(), 'svc-tus-'))
const server = new Server({ path: '/files', datastore: new FileStore({ directory }) }).listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
reportTo(process, `http://127.0.0.1:${(server.address() as AddressInfo).port}`, async () => {
  server.close()
  await rm(directory, { recursive: true })
})
