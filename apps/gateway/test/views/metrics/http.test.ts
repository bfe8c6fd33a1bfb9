import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { docs } from '@svc/api/info'
import { Bytes } from '@svc/service/http/answer'
import { listen } from '@svc/service/http/listen'
import { serve } from '@svc/service/http/serve'
import { createService } from '@svc/service/http/service'
import { createLog } from '@svc/service/program/log'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHttpMetrics } from '../../../src/views/metrics/http.ts'
import { metricsText } from '../../../src/views/metrics/text.ts'
import { parseMetrics } from './scrape.ts'

const NAME = 'svc_http_request_duration_seconds'

it('a duration counts in every bucket whose bound it does not exceed, and a longer one in +Inf', () => {
  const http = createHttpMetrics()
  const labels = { route: '/v1/keys', method: 'GET', status: '2xx' }
  for (const seconds of [0, 0.001, 0.0011, 0.5, 119, 120, 121, 1e6])
    http.count({ route: '/v1/keys', method: 'GET', status: 200, seconds })
  const { value } = parseMetrics(metricsText([http.family()]))
  const bucket = (le: string) => value(`${NAME}_bucket`, { ...labels, le })
  expect(['0.001', '0.005', '0.25', '0.5', '30', '120', '+Inf'].map(bucket)).toEqual([2, 3, 3, 4, 4, 6, 8])
  expect(value(`${NAME}_count`, labels)).toBe(8)
  expect(value(`${NAME}_sum`, labels)).toBeCloseTo(1_000_360.5021, 6)
})

describe('streamed answers', () => {
  const http = createHttpMetrics()
  const service = createService({ log: createLog('silent'), checkResponses: true, onAnswer: http.count })
  const bytes = (name: string) => ({ ...docs, name, path: `/${name}` })
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc(65_536)
    })(),
  )
  let url: string
  beforeAll(async () => {
    serve(service, bytes('short'), () => new Bytes(200, {}, Readable.from(['short'])))
    serve(service, bytes('empty'), () => new Bytes(304, {}, null))
    serve(service, bytes('endless'), () => new Bytes(200, {}, endless))
    url = await listen(service, { host: '127.0.0.1', port: 0 })
  })
  afterAll(() => service.close())

  const count = (route: string, status = '2xx') =>
    parseMetrics(metricsText([http.family()])).value(`${NAME}_count`, { route, method: 'GET', status })

  it('count once, when they end', async () => {
    await (await fetch(`${url}/short`)).text()
    await expect.poll(() => count('/short')).toBe(1)
    await fetch(`${url}/empty`)
    await expect.poll(() => count('/empty', '3xx')).toBe(1)
  })

  it('count when their reader disconnects in the middle', async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write('GET /endless HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(socket, 'data')
    expect(count('/endless')).toBeNull()
    socket.destroy()
    await expect.poll(() => count('/endless')).toBe(1)
  })
})
