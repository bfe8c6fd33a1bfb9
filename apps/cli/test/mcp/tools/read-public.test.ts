import { text } from 'node:stream/consumers'
import { startTrap } from '@svc/service/test/outgoing/address-forms'
import { resolveTo, startTestTlsServer } from '@svc/service/test/outgoing/tls-server'
import { expect, it } from 'vitest'
import { readPublic } from '../../../src/mcp/tools/read-public.ts'

const { signal } = new AbortController()
const REFUSED = 'not a public https address'

it('T-08 neither a private address nor a name that resolves to one is called', async () => {
  const trap = await startTrap()
  const own = `https://127.0.0.1:${trap.port}/`
  for (const url of [own, 'https://example.com:25/', 'https://user:password@example.com/'])
    await expect(readPublic(url, signal), url).rejects.toThrow(REFUSED)
  const resolve = resolveTo('1.1.1.1', '::1')
  await expect(readPublic(`https://a.example.test:${trap.port}/`, signal, { resolve })).rejects.toThrow(REFUSED)
  expect(trap.calls()).toBe(0)
  await trap.stop()
})

it('T-08 a public address is read; its redirects are not followed', async () => {
  const server = await startTestTlsServer((request, response) =>
    request.url === '/bundle'
      ? response.end('hello')
      : response.writeHead(302, { location: 'https://localhost/' }).end(),
  )
  const body = await readPublic('https://files.example.test/bundle', signal, server.options)
  expect(await text(body)).toBe('hello')
  await expect(readPublic('https://files.example.test/x', signal, server.options)).rejects.toThrow('HTTP 302')
  await server.stop()
})

it('a host that does not answer and a cancelled call are rejected', async () => {
  const server = await startTestTlsServer(() => {})
  await server.stop()
  await expect(readPublic('https://files.example.test/x', signal, server.options)).rejects.toThrow('cannot be read')
  await expect(readPublic('https://files.example.test/x', AbortSignal.abort(), server.options)).rejects.toMatchObject({
    code: 'bad_url',
  })
})
