import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openPdp } from '../../src/filecoin/pdp.ts'
import { TIMEOUTS } from '../../src/filecoin/timeouts.ts'

const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }
const HASH = `0x${'ab'.repeat(32)}`

/** A provider that returns this answer to every request. */
async function answering(answer: (response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    request.resume()
    answer(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo // a listening TCP server has one
  return openPdp(`http://127.0.0.1:${port}`, TIMEOUTS, new AbortController().signal)
}

describe('an answer of a Filecoin provider', () => {
  it.each([
    'http://169.254.169.254/latest/meta-data',
    '/pdp/piece/uploads/../../ping',
    '/pdp/piece/uploads/',
    `/pdp/data-sets/7/pieces/added/${HASH}/..`,
    '/pdp/data-sets/7/pieces/added/0xab',
  ])('is not followed to %s', async (location) => {
    const pdp = await answering((response) => response.writeHead(201, { location }).end())
    await expect(pdp.beginUpload()).rejects.toMatchObject(UNAVAILABLE)
    await expect(pdp.addPiece('7', 'bafkzci', '0x')).rejects.toMatchObject(UNAVAILABLE)
  })

  it('is not followed to another host, and only its id is used', async () => {
    const location = `https://elsewhere.example/pdp/data-sets/7/pieces/added/${HASH}`
    const pdp = await answering((response) => response.writeHead(201, { location }).end())
    expect(await pdp.addPiece('7', 'bafkzci', '0x')).toBe(HASH)
  })

  it.each(['', '<html>', '[', 'null'])('does not confirm a transaction when its body is %j', async (said) => {
    const pdp = await answering((response) => response.writeHead(200).end(said))
    const status = pdp.transactionStatus('7', HASH)
    if (said === 'null') expect(await status).toBe('pending')
    else await expect(status).rejects.toMatchObject(UNAVAILABLE)
  })

  it.each([
    ['pending', { txStatus: 'pending', addMessageOk: null }],
    ['confirmed', { txStatus: 'confirmed', addMessageOk: true }],
    ['rejected', { txStatus: 'rejected', addMessageOk: null }],
    ['rejected', { txStatus: 'confirmed', addMessageOk: false }],
  ])('reports that a transaction is %s', async (status, said) => {
    const pdp = await answering((response) => response.writeHead(200).end(JSON.stringify(said)))
    expect(await pdp.transactionStatus('7', HASH)).toBe(status)
  })

  it('is read only up to a limit', async () => {
    const pdp = await answering((response) => response.writeHead(200).end(Buffer.alloc(5_000_000, ' ')))
    await expect(pdp.ping()).rejects.toMatchObject(UNAVAILABLE)
  })
})
