import { forAllTests } from '@svc/devnet/for-tests'
import {
  ed25519Identity,
  evmIdentity,
  expectRefusal,
  type Identity,
  openTestGateway,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { fromHex, toBase58, toBase64Url, toHex, utf8 } from '@svc/protocol/bytes'
import { ed25519Signer, evmAddressOf, personalSign } from '@svc/protocol/keys'
import { encodeEnvelope, type RequestEnvelope } from '@svc/protocol/request-envelope'
import { keccak256, serializeSignature } from 'viem'
import { sign } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { draft, sendDraft } from './drafts.ts'
import { sendRaw } from './send-raw.ts'

const seed = new Uint8Array(32).fill(5)
const signer = ed25519Signer(seed)
const privateKey = new Uint8Array(32).fill(6)

const instance = forAllTests(() => openTestGateway())
const locker = forAllTests(() => instance.locker(ed25519Identity(seed)))
const evmLocker = forAllTests(() => instance.locker(evmIdentity(privateKey)))

/** Reads the record with this signature of the envelope's bytes. */
async function read(of: TestLocker, signature: (bytes: Uint8Array) => string | Promise<string>) {
  const target = `/v1/lockers/${of.lockerId}/record`
  const bytes = encodeEnvelope(draft(instance, of, { method: 'GET', target, ops: ['locker:read'] }).envelope)
  const headers = { 'x-svc-envelope': toBase64Url(bytes), 'x-svc-signature': await signature(bytes) }
  return sendRaw(instance.gateway.url, { method: 'GET', target, headers })
}

it.each<[string, (bytes: Uint8Array) => string]>([
  ['a flipped bit', (bytes) => toBase58(signer.sign(bytes).map((byte, i) => (i === 0 ? byte ^ 1 : byte)))],
  ['hex', (bytes) => toHex(signer.sign(bytes))],
  ['the header instead of its bytes', (bytes) => toBase58(signer.sign(utf8(toBase64Url(bytes))))],
  ["an EVM wallet's", (bytes) => personalSign(bytes, privateKey)],
])('ENV-02 T-14 the gateway refuses %s as an Ed25519 signature', async (_, signature) => {
  expectRefusal(await read(locker, signature), 403, 'SIGNATURE_INVALID')
})

describe('keys under which anyone can sign', () => {
  // S·B = R + k·A for every message where A is the neutral element: R is B, and S is 1. Many libraries agree.
  const forgery = fromHex(`58${'66'.repeat(31)}01${'00'.repeat(31)}`)!
  const neutral = toBase58(fromHex(`01${'00'.repeat(31)}`)!)

  it('ADD-04 ENV-17 open no locker, even after they paid', async () => {
    const payer = forger(neutral)
    const receiptId = await instance.receipt(payer)
    const call = { method: 'POST', path: '/v1/storage/signed_provision', ops: ['locker:provision'], receiptId }
    expectRefusal(await instance.call(payer, { ...call, body: { receipt_id: receiptId } }), 403, 'SIGNATURE_INVALID')
  })

  it('ADD-04 ENV-17 read nothing, even as operators', async () => {
    const { lockerId } = await instance.locker(ed25519Identity())
    const { db } = instance.gateway.context.database
    const operators = JSON.stringify([neutral])
    await writable(db).updateTable('lockers').set({ operators }).where('locker_id', '=', lockerId).execute()
    const call = { path: `/v1/lockers/${lockerId}/record`, ops: ['locker:read'], lockerId }
    expectRefusal(await instance.call(forger(neutral), call), 403, 'SIGNATURE_INVALID')
  })

  function forger(identity: string): Identity {
    const sign = (envelope: RequestEnvelope) => ({
      envelope: toBase64Url(encodeEnvelope(envelope)),
      signature: toBase58(forgery),
    })
    return { identity, sigAlg: 'ed25519', sign }
  }
})

describe('secp256k1', () => {
  const good = (bytes: Uint8Array) => personalSign(bytes, privateKey)

  it.each<[string, (bytes: Uint8Array) => string]>([
    ['with 0x', good],
    ['without 0x, in upper case', (bytes) => good(bytes).slice(2).toUpperCase()],
  ])('ENV-03 accepts a secp256k1 signature %s', async (_, signature) => {
    expect((await read(evmLocker, signature)).status).toBe(200)
  })

  it.each<[string, (bytes: Uint8Array) => string | Promise<string>]>([
    ['a digest without the prefix', (bytes) => signedDigest(keccak256(bytes))],
    ["another wallet's", (bytes) => personalSign(bytes, seed)],
    ['an Ed25519 signature', (bytes) => toBase58(signer.sign(bytes))],
  ])('ENV-03 T-14 refuses %s as a secp256k1 signature', async (_, signature) => {
    expectRefusal(await read(evmLocker, signature), 403, 'SIGNATURE_INVALID')
  })

  it('ENV-03 compares the address of the owner without regard to case', async () => {
    const { db } = instance.gateway.context.database
    const setOwner = (owner: string) =>
      writable(db).updateTable('lockers').set({ owner }).where('locker_id', '=', evmLocker.lockerId).execute()
    await setOwner(`0x${evmAddressOf(privateKey).slice(2).toUpperCase()}`)
    expect((await read(evmLocker, good)).status).toBe(200)
    await setOwner(evmAddressOf(privateKey))
  })
})

async function signedDigest(hash: `0x${string}`): Promise<string> {
  return serializeSignature(await sign({ hash, privateKey: `0x${toHex(privateKey)}` }))
}

/** `ID` is replaced with the id of the locker. */
const withId = (path: string) => path.replaceAll('ID', locker.lockerId)
const RECORD = '/v1/lockers/ID/record'

async function readAt({ signed = RECORD, target = RECORD, method = 'GET' }) {
  const request = draft(instance, locker, { method, target: withId(target), ops: ['locker:read'] })
  request.envelope.path = withId(signed)
  return sendDraft(instance, request)
}

describe('paths that match', () => {
  it.each([
    { target: '/%76%31/lockers/ID/%72%65%63%6f%72%64' },
    { signed: '/v1/lockers/ID/%72ecord', target: '/v1/lockers/ID/r%65cord' },
  ])('T-05 ENV-06 decodes each path segment once: %j', async (paths) => {
    expect((await readAt(paths)).status).toBe(200)
  })

  it.each([{ target: `${RECORD}?x=%2e%2e/../#?` }, { signed: `${RECORD}?x=1&y=%20`, target: `${RECORD}?x=1&y=%20` }])(
    'ENV-06 accepts a signed path without its query, or with the exact query: %j',
    async (paths) => {
      expect((await readAt(paths)).status).toBe(200)
    },
  )

  it('ENV-06 binds HEAD like GET', async () => {
    expect((await readAt({ method: 'HEAD', target: `${RECORD}?x` })).status).toBe(200)
    expect((await readAt({ method: 'HEAD', signed: `${RECORD}/x` })).status).toBe(403)
  })

  it.each(['http://gateway.example', 'HTTPS://user@[::1]:8402'])(
    'ENV-06 binds the path after %s in an absolute target',
    async (origin) => {
      expect((await readAt({ target: `${origin}${RECORD}?x`, signed: `${RECORD}?x` })).status).toBe(200)
      expectRefusal(await readAt({ target: origin + RECORD, signed: origin + RECORD }), 403, 'PATH_MISMATCH')
    },
  )
})

describe('paths that do not match', () => {
  it.each([
    { signed: '/v1/storage/metadata/ID' },
    { signed: '/v1/lockers/ID%2Frecord' },
    { signed: `${RECORD}?x=1`, target: `${RECORD}?x=%31` },
    { target: '/v1/storage/%6detadata/ID' },
    { target: `${RECORD}#x` },
  ])('ENV-06 T-05 refuses an envelope for another path: %j', async (paths) => {
    expectRefusal(await readAt(paths), 403, 'PATH_MISMATCH')
  })

  it.each<[string, number, string]>([
    ['/v1/lockers/ID/%2572ecord', 404, 'not_found'],
    ['/v1/lockers/ID%2Frecord', 404, 'not_found'],
    ['//v1/lockers/ID/record', 404, 'not_found'],
    ['/v1/lockers/ID/record/', 404, 'not_found'],
    ['/v1/x/../lockers/ID/record', 404, 'not_found'],
    ['/v1/x/%2e%2e/lockers/ID/record', 404, 'not_found'],
    ['/V1/lockers/ID/record', 404, 'not_found'],
    ['\\v1\\lockers\\ID\\record', 400, 'malformed_request'],
    ['ftp://gateway.example/v1/lockers/ID/record', 404, 'not_found'],
    ['/v1/lockers/ID/%', 422, 'validation_error'],
    ['/v1/lockers/%c0%ae%c0%ae/record', 422, 'validation_error'],
    ['/v1/lockers/ID%00/record', 422, 'validation_error'],
    ['/v1/lockers/%2e%2e%2FID/record', 401, 'LOCKER_ID_MISMATCH'],
    [`/v1/lockers/${'x'.repeat(3000)}/record`, 401, 'LOCKER_ID_MISMATCH'],
  ])('ENV-06 T-05 answers the target %s with %i, whatever path is signed', async (target, status, code) => {
    for (const signed of [RECORD, target]) expectRefusal(await readAt({ signed, target }), status, code)
  })
})
