import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { endpoint } from '@svc/api/endpoint'
import Type from 'typebox'
import { expect, it } from 'vitest'
import { listen } from '../../src/http/listen.ts'
import { serve } from '../../src/http/serve.ts'
import { createService } from '../../src/http/service.ts'
import { createLog } from '../../src/program/log.ts'
import { closeService } from '../../src/program/run.ts'
import { GET } from './service.ts'

const hello = endpoint({
  ...GET,
  name: 'hello',
  path: '/hello',
  responses: { 200: Type.Object({ hello: Type.Boolean() }) },
})

const newService = () => {
  const service = createService({ log: createLog('silent'), checkResponses: true })
  serve(service, hello, () => ({ hello: true }))
  return service
}

it('T-89 many simultaneous connections are all served, a port is never shared, and stopping ends them all', async () => {
  const service = newService()
  const url = await listen(service, { host: '127.0.0.1', port: 0 })
  const port = Number(new URL(url).port)
  const agent = new Agent({ keepAlive: true })
  const answers = await Promise.all(
    Array.from({ length: 300 }, async () => {
      const [response] = (await once(get(`${url}/hello`, { agent }), 'response')) as [IncomingMessage]
      return text(response)
    }),
  )
  expect(new Set(answers)).toEqual(new Set(['{"hello":true}']))

  const other = newService()
  await expect(listen(other, { host: '127.0.0.1', port })).rejects.toMatchObject({ code: 'EADDRINUSE', port })
  await other.close()

  // Connections that never sent anything are ended too.
  const silent = Array.from({ length: 50 }, () => connect(port, '127.0.0.1'))
  await Promise.all(silent.map((socket) => once(socket, 'connect')))
  const ended = silent.map(
    (socket) =>
      new Promise((resolve) =>
        socket
          .resume()
          .on('error', () => {})
          .on('close', resolve),
      ),
  )
  await closeService(service, { graceMs: 0 })
  await Promise.all(ended)
  agent.destroy()
  const again = newService()
  await listen(again, { host: '127.0.0.1', port })
  await closeService(again, { graceMs: 0 })
})
