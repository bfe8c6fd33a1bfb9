// Only writes requests to files and files to responses. Files are durable, as in the gateway.

import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { reportTo } from '../server-process.ts'

const folder = await mkdtemp(join(tmpdir(), 'svc-bare-'))
const server = createServer(async (request, response) => {
  const file = join(folder, (request.url ?? '').replaceAll('/', '_'))
  if (request.method === 'PUT') {
    await pipeline(request, createWriteStream(file, { flush: true }))
    response.end('{}')
  } else {
    // The load may end in the middle of a response.
    await pipeline(createReadStream(file), response).catch(() => response.destroy())
  }
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
reportTo(process, `http://127.0.0.1:${(server.address() as AddressInfo).port}`, async () => {
  server.close()
  await rm(folder, { recursive: true })
})
