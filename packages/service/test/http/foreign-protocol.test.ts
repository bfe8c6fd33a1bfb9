import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { listen } from '../../src/http/listen.ts'
import { headerList } from '../../src/http/send.ts'
import { createService, type Service } from '../../src/http/service.ts'
import { createLog } from '../../src/program/log.ts'

let service: Service
let url: string
let takes = true

beforeAll(async () => {
  service = createService({
    log: createLog('silent'),
    checkResponses: true,
    admit: (begin) => begin(takes ? () => {} : null),
  })
  service.addForeignProtocol({
    route: '/protocol',
    owns: (target, host) => target.startsWith('/protocol/') || host === 'protocol.example',
    answerOf: ({ status, code }, id) => ({
      status,
      headers: { 'content-type': 'text/protocol' },
      text: `${code} ${id}`,
    }),
  })
  service.add({
    method: 'GET',
    path: '/protocol',
    maxBodyBytes: null,
    handle(request) {
      const { target } = request
      if (target.endsWith('fail')) throw new Error('broken')
      service.send(request, { route: '/protocol', status: 200, headers: headerList({}), text: target })
    },
  })
  url = await listen(service, { host: '127.0.0.1', port: 0 })
})
afterAll(() => service.close())

/** The answer to a request with an unchanged target. */
function ask(target: string, { method = 'GET', host = 'x' } = {}): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(port), hostname, () =>
      socket.write(`${method} ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`),
    )
    socket.setEncoding('utf8').on('data', (chunk) => {
      answer += chunk
    })
    socket.on('error', reject).on('close', () => resolve(answer))
  })
}

it('T-93 a protocol gets its requests at any path, with an unchanged target', async () => {
  for (const target of ['/protocol/a//b/../%2F?x=%zz', '/protocol/%', '/protocol/a?b?c'])
    expect((await ask(target)).split('\r\n\r\n')).toEqual([expect.stringMatching('^HTTP/1.1 200 '), target])
  expect(await ask('/elsewhere', { host: 'protocol.example' })).toMatch(/200 OK.*\r\n\r\n\/elsewhere$/s)
  expect(await ask('/elsewhere')).toMatch(/404 .*"error":"not_found"/s)
})

it('T-93 errors of a protocol have its form, wherever they occur', async () => {
  expect(await ask('/protocol/a', { method: 'PROPFIND' })).toMatch(/405 .*text\/protocol.*method_not_allowed req_/s)
  expect(await ask('/protocol/fail')).toMatch(/500 .*text\/protocol.*internal_error req_/s)
  takes = false
  expect(await ask('/protocol/a')).toMatch(/503 .*text\/protocol.*overloaded req_/s)
  expect(await ask('/elsewhere')).toMatch(/503 .*application\/json.*"error":"overloaded"/s)
  takes = true
})
