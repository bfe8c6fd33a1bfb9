// Receives a file in sequential parts, hashes it and writes each part durably at its position, and does nothing else.

import { createHash } from 'node:crypto'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reportTo } from '../server-process.ts'

const folder = await mkdtemp(join(tmpdir(), 'svc-bare-'))
let sha256 = createHash('sha256')
const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
  let position = Number(searchParams.get('offset'))
  const file = await open(join(folder, pathname.replaceAll('/', '_')), position === 0 ? 'w' : 'r+')
  if (position === 0) sha256 = createHash('sha256')
  for await (const chunk of request as AsyncIterable<Buffer>) {
    sha256.update(chunk)
    await file.write(chunk, 0, chunk.length, position)
    position += chunk.length
  }
  await file.sync()
  await file.close()
  response.end(searchParams.has('last') ? sha256.digest('hex') : '{}')
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
reportTo(process, `http://127.0.0.1:${(server.address() as AddressInfo).port}`, async () => {
  server.close()
  await rm(folder, { recursive: true })
})
