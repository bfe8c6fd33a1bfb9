// From a payment to files that are there after a restart, as an owner and an operator do it over HTTP.

import { createHash, randomBytes } from 'node:crypto'
import { DEV_PAYERS } from '@svc/testbed/evm-chain/dev-accounts'
import { type PayableLeg, payLeg } from '@svc/testbed/pay-leg'
import { DEMO_PAYERS } from '@svc/testbed/primary-chain/dev-accounts'
import { bytesOf, ed25519Identity, evmIdentity, type Identity, type SignedCall, signCall } from '@svc/testbed/signing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPlace, npmStart, type Place, type Started } from './npm-start.ts'

let place: Place
let started: Started
beforeAll(async () => {
  place = await findPlace()
  started = await npmStart(place)
})
afterAll(async () => {
  await started.interrupt()
  await place.leave()
})

async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const bytes = bytesOf(body)
  const json = bytes && { 'content-type': 'application/json' }
  const init = { method, headers: { ...json, ...headers }, ...(bytes && { body: bytes as BodyInit }) }
  const response = await fetch(place.gateway + path, init)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

async function call(who: Identity, request: SignedCall) {
  const { headers, body } = signCall(who, request, Date.now())
  const answer = await send(request.method ?? 'GET', request.path, body, headers)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

async function buyLocker(owner: Identity, asset: string, network: string) {
  const quote = await send('POST', '/v1/storage/request', { units: 1, pay_network: network, pay_asset: asset })
  const [leg] = quote.body.accepts as [PayableLeg]
  const chains = { primary: { url: place.primaryChain }, evm: { url: place.evmChain } }
  const tx = await payLeg(chains, leg)
  const confirm = () =>
    send(
      'POST',
      '/v1/storage/confirm',
      { pay_req_id: leg.extra.pay_req_id, pay_network: network, pay_asset: asset },
      { 'x402-tx': tx },
    )
  await expect.poll(async () => (await confirm()).status, { timeout: 20_000, interval: 500 }).toBe(200)
  const receiptId = (await confirm()).body.receipt_id as string
  const body = { receipt_id: receiptId, tags: ['acceptance'] }
  const request = { method: 'POST', path: '/v1/storage/signed_provision', body, ops: ['locker:provision'], receiptId }
  const { space } = (await call(owner, request)) as { space: { locker_id: string } }
  return { receiptId, lockerId: space.locker_id }
}

const sha256 = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

describe.each([
  ['SOL', 'primary-mainnet', () => ed25519Identity(DEMO_PAYERS[0]!.privateKeyBytes)],
  ['USDC', 'evm-mainnet', () => evmIdentity(Buffer.from(DEV_PAYERS[0]!.privateKey.slice(2), 'hex'))],
])('a locker paid in %s on %s', (asset, network, ownerOf) => {
  it('GEN-09 payment, locker, operator, upload, confirmation, list, public link, restart, deletion', async () => {
    const owner = ownerOf()
    const operator = ed25519Identity()
    const { receiptId, lockerId } = await buyLocker(owner, asset, network)
    const ids = { lockerId, receiptId }
    const files = `/v1/lockers/${lockerId}/files`
    const add = { pubkey: operator.identity }
    await call(owner, {
      ...ids,
      method: 'POST',
      path: `/v1/lockers/${lockerId}/operators`,
      body: add,
      ops: ['locker:admin'],
    })

    const bytes = randomBytes(3_000_000)
    const create = { filename: 'reports/q3 ü.bin', content_type: 'application/x-report', expected_hash: sha256(bytes) }
    const urls = await call(operator, { ...ids, method: 'POST', path: files, body: create, ops: ['locker:write'] })
    const headers = urls.upload_headers as Record<string, string>
    const put = await fetch(urls.upload_url as string, { method: 'PUT', headers, body: bytes })
    expect(put.status, await put.text()).toBe(200)

    const query = new URLSearchParams({ receipt_id: receiptId, filename: create.filename })
    expect(await send('POST', `/v1/files/confirm?${query}`)).toMatchObject({
      status: 200,
      body: { content_hash: sha256(bytes), size_bytes: bytes.length },
    })
    const link = `${place.gateway}/v1/r/${receiptId}/f/reports/q3%20%C3%BC.bin`
    const readLink = async () => sha256(new Uint8Array(await (await fetch(link)).arrayBuffer()))
    expect(await readLink()).toBe(sha256(bytes))

    await started.interrupt()
    started = await npmStart(place)
    expect(await readLink()).toBe(sha256(bytes))
    const list = () => call(owner, { ...ids, path: files, ops: ['locker:list'] })
    expect(await list()).toMatchObject({
      count: 1,
      files: [{ filename: create.filename, status: 'confirmed', content_hash: sha256(bytes) }],
    })
    const ranged = await fetch(urls.download_url as string, { headers: { range: 'bytes=-5' } })
    expect([ranged.status, Buffer.from(await ranged.arrayBuffer())]).toEqual([206, bytes.subarray(-5)])

    await call(operator, { ...ids, method: 'DELETE', path: `${files}/reports/q3%20%C3%BC.bin`, ops: ['locker:write'] })
    expect((await fetch(link)).status).toBe(404)
    expect(await list()).toMatchObject({ count: 0 })
  })
})
