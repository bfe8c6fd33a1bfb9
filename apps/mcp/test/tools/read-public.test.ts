import type { LookupAddress } from 'node:dns'
import { text } from 'node:stream/consumers'
import { forbiddenUrls, startTrap } from '@svc/outgoing/test/address-forms'
import { resolveTo, startTestTlsServer } from '@svc/outgoing/test/tls-server'
import { isPublicAddress } from '@svc/protocol/public-address'
import { expect, it } from 'vitest'
import { readPublic } from '../../src/tools/read-public.ts'

const { signal } = new AbortController()
const REFUSED = 'not a public https address'

it('T-08 T-124 no notation of an address that is not public is called, nor a name that has one', async () => {
  const trap = await startTrap()
  for (const url of [...forbiddenUrls(trap.port), 'https://example.com:25/', 'https://user:password@example.com/'])
    await expect(readPublic(url, signal), url).rejects.toThrow(REFUSED)
  for (const mix of [['127.0.0.1'], ['1.1.1.1', '::1'], ['::ffff:127.0.0.1', '1.1.1.1']]) {
    const url = `https://mixed.example.test:${trap.port}/`
    await expect(readPublic(url, signal, { resolve: resolveTo(...mix) }), mix.join()).rejects.toThrow(REFUSED)
  }
  expect(trap.calls()).toBe(0)
  await trap.stop()
})

it('T-124 a public address is read where it was looked up, once; its redirects are not followed', async () => {
  const server = await startTestTlsServer((request, response) =>
    request.url === '/bundle'
      ? response.end('hello')
      : response.writeHead(302, { location: 'https://localhost/' }).end(),
  )
  let lookups = 0
  const rebinding = async (): Promise<LookupAddress[]> => {
    lookups++
    return [{ address: lookups === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }]
  }
  const connecting = {
    ...server.options,
    resolve: rebinding,
    isPublic: (address: string) => address === '127.0.0.1' || isPublicAddress(address),
  }
  const body = await readPublic('https://files.example.test/bundle', signal, connecting)
  expect([await text(body), lookups]).toEqual(['hello', 1])
  await expect(readPublic('https://files.example.test/bundle', signal, connecting)).rejects.toThrow(REFUSED)
  await expect(readPublic('https://files.example.test/x', signal, server.options)).rejects.toThrow('HTTP 302')
  await server.stop()
})

it('a host that does not answer, and a caller that has left, end in a refusal', async () => {
  const server = await startTestTlsServer(() => {})
  await server.stop()
  await expect(readPublic('https://files.example.test/x', signal, server.options)).rejects.toThrow('cannot be read')
  await expect(readPublic('https://files.example.test/x', AbortSignal.abort(), server.options)).rejects.toMatchObject({
    code: 'bad_url',
  })
})
