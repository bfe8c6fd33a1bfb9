import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { expect, it } from 'vitest'
import { createLog } from '../src/log.ts'
import { closeService } from '../src/run.ts'
import { createService } from '../src/service.ts'

it('T-11 a connection without a request does not keep the service from closing', async () => {
  const service = createService({ log: createLog('silent'), checkResponses: true })
  await service.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = service.app.server.address() as AddressInfo // it listens
  const accepted = once(service.app.server, 'connection')
  const silent = connect(port, '127.0.0.1')
  await accepted
  const gone = once(silent, 'close')
  await closeService(service, { graceMs: 10 })
  silent.resume()
  await gone
  expect(service.app.server.listening).toBe(false)
})
