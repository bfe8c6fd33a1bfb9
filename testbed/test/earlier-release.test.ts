// Everything that release 1.0.0 issued or stored is still valid.

import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { fromHex } from '@svc/protocol/bytes'
import { lockerId } from '@svc/protocol/ids'
import { readPinnedKeys } from '@svc/verifier/pinned-keys'
import { verifyBundle } from '@svc/verifier/verify-bundle'
import { expect, it, onTestFinished } from 'vitest'
import { startTestAgent } from '../src/agent.ts'
import { startTestGateway } from '../src/gateway.ts'
import { ed25519Identity, evmIdentity, type Identity, type SignedCall, signCall } from '../src/signing.ts'

const FIXTURE = new URL('./fixtures/1.0.0/', import.meta.url)
const owner = ed25519Identity(DEMO_PAYERS[0]!.privateKeyBytes)
const evmOwner = evmIdentity(fromHex(DEV_PAYERS[0]!.privateKey.slice(2), 32)!)

/** With their receipts and the number of the next statement. */
const OWNERS = [
  { who: owner, name: 'receipt-sol.json', next: 3 },
  { who: evmOwner, name: 'receipt-evm.json', next: 2 },
]

const answer = (name: string) => readFile(new URL(`answers/${name}`, FIXTURE), 'utf8')
const jsonAnswer = async (name: string) => JSON.parse(await answer(name))

/** Services on a copy of the data. Their clock starts just after the data was written. */
async function openEarlierData() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-earlier-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await cp(new URL('state', FIXTURE), folder, { recursive: true })
  const now = 1000 * (Number(await answer('time')) + 60)
  return { folder, now }
}

async function startOnEarlierData() {
  const { folder, now } = await openEarlierData()
  const gateway = await startTestGateway({ DATA_DIR: folder }, { now: () => now })
  onTestFinished(() => gateway.stop())
  const get = (path: string) => fetch(gateway.url + path)
  async function signed(who: Identity, call: SignedCall) {
    const { headers, body } = signCall(who, call, now)
    const type = { 'content-type': 'application/json' }
    const init = { method: call.method ?? 'GET', headers: { ...headers, ...(body && type) }, ...(body && { body }) }
    const response = await fetch(gateway.url + call.path, init as RequestInit)
    const text = await response.text()
    expect(response.status, text).toBe(200)
    return JSON.parse(text)
  }
  return { gateway, get, signed }
}

it('RCPT-01 receipts of release 1.0.0 are served unchanged, with valid signatures', async () => {
  const { get } = await startOnEarlierData()
  for (const { name } of OWNERS) {
    const receipt = await jsonAnswer(name)
    const served = await get(`/v1/receipts/${receipt.receipt_id}`)
    expect(await served.json()).toEqual(receipt)
    const verified = await get(`/v1/receipts/${receipt.receipt_id}/verify`)
    expect(await verified.json()).toMatchObject({ valid: true })
  }
})

it('PAY-52 a payment of release 1.0.0 that is confirmed again returns its receipt', async () => {
  const { gateway } = await startOnEarlierData()
  const receipt = await jsonAnswer('receipt-sol.json')
  const confirmed = await fetch(`${gateway.url}/v1/storage/confirm`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x402-tx': receipt.tx_hash },
    body: JSON.stringify({ pay_req_id: receipt.pay_req_id }),
  })
  expect(await confirmed.json()).toMatchObject({ receipt: { receipt_id: receipt.receipt_id } })
})

it('SHORT-01 links of release 1.0.0 still open their files', async () => {
  const { get } = await startOnEarlierData()
  for (const name of ['url.json', 'public.json']) {
    const { pathname } = new URL((await jsonAnswer(name)).url)
    const response = await get(pathname)
    expect([response.status, await response.text()]).toEqual([200, 'hello, locker\n'])
  }
})

it('CLI-02 EVID-11 evidence bundles of release 1.0.0 verify, offline and as served today', async () => {
  const { get } = await startOnEarlierData()
  const pinned = readPinnedKeys(await answer('keys.json'))
  if (!pinned.ok) throw new Error(pinned.problem)
  for (const name of ['bundle-sol.json', 'bundle-evm.json']) {
    const kept = await answer(name)
    const served = await (await get(`/v1/storage/evidence-bundle?receipt_id=${JSON.parse(kept).receipt_id}`)).text()
    for (const bundle of [kept, served]) {
      const verified = await verifyBundle([new TextEncoder().encode(bundle)], { pinnedKeys: pinned.keys })
      expect(verified).toMatchObject({ refused: null, failed: [] })
    }
    const { envelope } = JSON.parse(kept)
    expect(JSON.parse(served).envelope).toEqual(envelope)
  }
})

it('LOCK-01 ENV-01 EVID-11 owners of release 1.0.0 can use their lockers, and the next statement follows the last', {
  tags: ['nightly'],
}, async () => {
  const { gateway, get, signed } = await startOnEarlierData()
  for (const { who, name, next } of OWNERS) {
    const { receipt_id: receiptId } = await jsonAnswer(name)
    const ids = { receiptId, lockerId: lockerId(receiptId) }
    const base = `/v1/lockers/${ids.lockerId}`
    const created = await signed(who, {
      ...ids,
      method: 'POST',
      path: `${base}/files`,
      ops: ['locker:write'],
      body: { filename: 'later.txt', content_type: 'text/plain' },
    })
    const { pathname } = new URL(created.upload_url)
    const headers = { 'content-type': 'text/plain' }
    expect((await fetch(gateway.url + pathname, { method: 'PUT', headers, body: 'later' })).status).toBe(200)
    const query = new URLSearchParams({ receipt_id: receiptId, filename: 'later.txt' })
    expect((await fetch(`${gateway.url}/v1/files/confirm?${query}`, { method: 'POST' })).status).toBe(200)
    const path = `/v1/storage/attest?receipt_id=${receiptId}&sync=true`
    await signed(who, { receiptId, method: 'POST', path, ops: ['locker:attest'] })
    const { statements } = (await (await get(`/v1/storage/statements?receipt_id=${receiptId}`)).json()) as {
      statements: { sequence: number; statement_digest: string; prev_statement_digest: string | null }[]
    }
    const [last, before] = [...statements].sort((a, b) => b.sequence - a.sequence)
    expect(last).toMatchObject({ sequence: next, prev_statement_digest: before?.statement_digest })
  }
})

it('ADD-16 lockers of release 1.0.0 are found by the wallet that paid', { tags: ['nightly'] }, async () => {
  const { gateway, signed } = await startOnEarlierData()
  for (const { who, name } of OWNERS) {
    const path = `/v1/lockers?wallet=${who.identity}`
    const { lockers } = await signed(who, { path, ops: ['locker:list'], envelope: { aud: gateway.url } })
    const { receipt_id } = await jsonAnswer(name)
    expect(lockers).toContainEqual(expect.objectContaining({ receipt_id, role: 'owner', opened: true }))
  }
})

it('AGENT-03 a subscription and a delegation bought from release 1.0.0 still exist', async () => {
  const { folder, now } = await openEarlierData()
  const agent = await startTestAgent({ DATA_DIR: `${folder}/agent` }, { now: () => now })
  onTestFinished(() => agent.stop())
  const { headers } = signCall(
    owner,
    { path: '/v1/delegations', ops: ['locker:read'], headers: { 'x-svc-identity': owner.identity } },
    now,
  )
  const response = await fetch(`${agent.url}/v1/delegations`, { headers })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  const { delegations } = JSON.parse(text) as { delegations: { status: string }[] }
  expect(delegations).toMatchObject([{ status: 'active' }])
})
