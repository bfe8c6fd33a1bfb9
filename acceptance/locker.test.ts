// The life of a locker over HTTP, from payment to deletion, with an owner and an operator; its files survive a restart.

import { createHash, randomBytes } from 'node:crypto'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { ed25519Identity, evmIdentity } from '@svc/devnet/services/signing'
import { describe, expect, it } from 'vitest'
import { gatewayRequests } from './gateway-requests.ts'
import { useNpmStart } from './npm-start.ts'

const service = useNpmStart()

const sha256 = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

describe.each([
  ['SOL', 'primary-mainnet', () => ed25519Identity(DEMO_PAYERS[0]!.privateKeyBytes)],
  ['USDC', 'evm-mainnet', () => evmIdentity(Buffer.from(DEV_PAYERS[0]!.privateKey.slice(2), 'hex'))],
])('a locker paid in %s on %s', (asset, network, ownerOf) => {
  it('GEN-09 stores, lists, serves and deletes a file of an operator, before and after a restart', {
    tags: ['nightly'],
  }, async () => {
    const { call, buyLocker, putFile, confirmFile } = gatewayRequests(service)
    const owner = ownerOf()
    const operator = ed25519Identity()
    const ids = await buyLocker(owner, asset, network)
    const { receiptId, lockerId } = ids
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
    const urls = await putFile(operator, ids, create, bytes)
    expect(await confirmFile(ids, create.filename)).toMatchObject({
      status: 200,
      body: { content_hash: sha256(bytes), size_bytes: bytes.length },
    })
    const link = `${service.gateway}/v1/r/${receiptId}/f/reports/q3%20%C3%BC.bin`
    const readLink = async () => sha256(new Uint8Array(await (await fetch(link)).arrayBuffer()))
    expect(await readLink()).toBe(sha256(bytes))

    await service.restart()
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
