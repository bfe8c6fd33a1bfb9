import { endpoint } from '@svc/api/endpoint'
import { expect, it } from 'vitest'
import { listen } from '../../src/http/listen.ts'
import { serve } from '../../src/http/serve.ts'
import { createService } from '../../src/http/service.ts'
import { createLog } from '../../src/program/log.ts'
import { closeService } from '../../src/program/run.ts'
import { GET, OK } from '../http/service.ts'

const slow = endpoint({ ...GET, name: 'slow', path: '/slow', responses: OK })

it('a closing service finishes running requests and accepts no new ones', async () => {
  const service = createService({ log: createLog('silent'), checkResponses: true })
  const [begun, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  serve(service, slow, async () => {
    begun.resolve()
    await finish.promise
    return { ok: true }
  })
  const url = await listen(service, { host: '127.0.0.1', port: 0 })
  const inFlight = fetch(`${url}/slow`)
  await begun.promise
  const closed = closeService(service, { graceMs: 60_000 })
  finish.resolve()
  expect(await (await inFlight).json()).toEqual({ ok: true })
  await closed
  await expect(fetch(`${url}/slow`)).rejects.toThrow()
})
