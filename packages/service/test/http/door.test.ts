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
  service.addDoor({
    route: '/door',
    owns: (target, host) => target.startsWith('/door/') || host === 'door.example',
    answerOf: ({ status, code }, id) => ({ status, headers: { 'content-type': 'text/door' }, text: `${code} ${id}` }),
  })
  service.add({
    method: 'GET',
    path: '/door',
    maxBodyBytes: null,
    handle(request) {
      const { target } = request
      if (target.endsWith('fail')) throw new Error('broken')
      service.send(request, { route: '/door', status: 200, headers: headerList({}), text: target })
    },
  })
  url = await listen(service, { host: '127.0.0.1', port: 0 })
})
afterAll(() => service.close())

/** The answer to a request whose target is sent as it is. */
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

it('T-93 a door gets its requests at any path, with the target as it was sent', async () => {
  for (const target of ['/door/a//b/../%2F?x=%zz', '/door/%', '/door/a?b?c'])
    expect((await ask(target)).split('\r\n\r\n')).toEqual([expect.stringMatching('^HTTP/1.1 200 '), target])
  expect(await ask('/elsewhere', { host: 'door.example' })).toMatch(/200 OK.*\r\n\r\n\/elsewhere$/s)
  expect(await ask('/elsewhere')).toMatch(/404 .*"error":"not_found"/s)
})

it('T-93 errors of a door have its form, wherever they are found', async () => {
  expect(await ask('/door/a', { method: 'PROPFIND' })).toMatch(/405 .*text\/door.*method_not_allowed req_/s)
  expect(await ask('/door/fail')).toMatch(/500 .*text\/door.*internal_error req_/s)
  takes = false
  expect(await ask('/door/a')).toMatch(/503 .*text\/door.*overloaded req_/s)
  expect(await ask('/elsewhere')).toMatch(/503 .*application\/json.*"error":"overloaded"/s)
  takes = true
})
