import { createHash } from 'node:crypto'
import { concat, fromHex, toBase58, toBase64Url, toHex, utf8 } from '@svc/protocol/bytes'
import { ed25519Signer, evmAddressOf, personalSign } from '@svc/protocol/keys'
import { encodeEnvelope, type RequestEnvelope } from '@svc/protocol/request-envelope'
import { keccak256, serializeSignature } from 'viem'
import { sign } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { draft } from './drafts.ts'
import {
  ed25519Identity,
  evmIdentity,
  expectRefusal,
  type Identity,
  type LockerHouse,
  openLockerHouse,
  type TestLocker,
} from './lockers.ts'
import { sendRaw } from './send-raw.ts'

const seed = new Uint8Array(32).fill(5)
const signer = ed25519Signer(seed)
const privateKey = new Uint8Array(32).fill(6)
const ED25519_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n
const SECP256K1_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

let house: LockerHouse
let locker: TestLocker
let evmLocker: TestLocker
beforeAll(async () => {
  house = await openLockerHouse()
  locker = await house.locker(ed25519Identity(seed))
  evmLocker = await house.locker(evmIdentity(privateKey))
})
afterAll(() => house.close())

/** Reads the record with this signature of the envelope's bytes. */
async function read(of: TestLocker, signature: (bytes: Uint8Array) => string | Promise<string>) {
  const target = `/v1/lockers/${of.lockerId}/record`
  const bytes = encodeEnvelope(draft(house, of, { method: 'GET', target, ops: ['locker:read'] }).envelope)
  const headers = { 'x-svc-envelope': toBase64Url(bytes), 'x-svc-signature': await signature(bytes) }
  return sendRaw(house.gateway.url, { method: 'GET', target, headers })
}

describe('Ed25519', () => {
  const good = (bytes: Uint8Array) => toBase58(signer.sign(bytes))

  it('ENV-02 accepts an Ed25519 signature in base58', async () => {
    expect((await read(locker, good)).status).toBe(200)
  })

  it.each<[string, (bytes: Uint8Array) => string]>([
    ['63 bytes', (bytes) => toBase58(signer.sign(bytes).subarray(1))],
    ['65 bytes', (bytes) => toBase58(concat(signer.sign(bytes), Uint8Array.of(0)))],
    ['a zero before it', (bytes) => `1${good(bytes)}`],
    ['no bytes at all', () => '1'],
    ['zeros', () => '1'.repeat(64)],
    ['S beyond the group order', (bytes) => toBase58(withLargeS(signer.sign(bytes)))],
    ['a flipped bit', (bytes) => toBase58(flipped(signer.sign(bytes), 0))],
    ['R and S of two signatures', (bytes) => toBase58(concat(half(bytes, 0), half(utf8('other'), 32)))],
    ['0, not of the alphabet', (bytes) => good(bytes).replace(/^./, '0')],
    ['O, not of the alphabet', (bytes) => good(bytes).replace(/^./, 'O')],
    ['I, not of the alphabet', (bytes) => good(bytes).replace(/.$/, 'I')],
    ['l, not of the alphabet', (bytes) => good(bytes).replace(/.$/, 'l')],
    ['the other case', (bytes) => swapCase(good(bytes))],
    ['a space inside', (bytes) => `${good(bytes).slice(0, 40)} ${good(bytes).slice(40)}`],
    ['hex', (bytes) => toHex(signer.sign(bytes))],
    ['base64url', (bytes) => toBase64Url(signer.sign(bytes))],
    ['a letter that is not ASCII', (bytes) => `é${good(bytes).slice(1)}`],
    ['ten thousand characters', () => 'z'.repeat(10_000)],
    ['the header instead of its bytes', (bytes) => toBase58(signer.sign(utf8(toBase64Url(bytes))))],
    ['a digest', (bytes) => toBase58(signer.sign(createHash('sha256').update(bytes).digest()))],
    ['a personal-sign text', (bytes) => toBase58(signer.sign(concat(personalPrefix(bytes), bytes)))],
    ["an EVM wallet's", (bytes) => personalSign(bytes, privateKey)],
  ])('ENV-02 ENV-17 T-14 refuses %s as an Ed25519 signature', async (_, signature) => {
    expectRefusal(await read(locker, signature), 403, 'SIGNATURE_INVALID')
  })

  it('AMB-20 ERR-10 ERR-15 says which keys could have signed when it refuses a signature', async () => {
    const answer = await read(locker, () => toBase58(ed25519Signer(new Uint8Array(32)).sign(utf8(''))))
    expectRefusal(answer, 403, 'SIGNATURE_INVALID')
    expect(answer.body).toMatchObject({
      message: 'signature does not verify under the owner or any registered operator key',
      hint: expect.any(String),
    })
  })
})

describe('keys under which anybody can sign', () => {
  // S·B = R + k·A for every message where A is the neutral element: R is B, and S is 1. Many libraries agree.
  const forgery = fromHex(`58${'66'.repeat(31)}01${'00'.repeat(31)}`)!
  const keys: [string, string][] = [
    ['the neutral element', `01${'00'.repeat(31)}`],
    ['its second encoding', `ee${'ff'.repeat(30)}7f`],
    ['its negative', `01${'00'.repeat(30)}80`],
  ]

  it.each(keys)('ADD-04 ENV-17 does not open a locker for %s, even if it paid', async (_, hex) => {
    const payer = forger(toBase58(fromHex(hex)!))
    const receiptId = await house.receipt(payer)
    const call = { method: 'POST', path: '/v1/storage/signed_provision', ops: ['locker:provision'], receiptId }
    expectRefusal(await house.call(payer, { ...call, body: { receipt_id: receiptId } }), 403, 'SIGNATURE_INVALID')
  })

  it.each(keys)('ADD-04 ENV-17 lets %s read nothing, even if it is among the operators', async (_, hex) => {
    const key = toBase58(fromHex(hex)!)
    const { lockerId } = await house.locker(ed25519Identity())
    const { db } = house.gateway.context.database
    await db
      .updateTable('lockers')
      .set({ operators: JSON.stringify([key]) })
      .where('locker_id', '=', lockerId)
      .execute()
    const call = { path: `/v1/lockers/${lockerId}/record`, ops: ['locker:read'], lockerId }
    expectRefusal(await house.call(forger(key), call), 403, 'SIGNATURE_INVALID')
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
  const v = (signature: string, change: (recovery: number) => number) =>
    signature.slice(0, -2) + toHex(Uint8Array.of(change(Number.parseInt(signature.slice(-2), 16) - 27)))

  it.each<[string, (bytes: Uint8Array) => string]>([
    ['with 0x', good],
    ['without 0x', (bytes) => good(bytes).slice(2)],
    ['in upper case', (bytes) => `0x${good(bytes).slice(2).toUpperCase()}`],
    ['with v 0 or 1', (bytes) => v(good(bytes), (recovery) => recovery)],
  ])('ENV-03 AMB-26 accepts a secp256k1 signature %s', async (_, signature) => {
    expect((await read(evmLocker, signature)).status).toBe(200)
  })

  it.each<[string, (bytes: Uint8Array) => string | Promise<string>]>([
    ['the other v', (bytes) => v(good(bytes), (recovery) => 28 - recovery)],
    ['v 2', (bytes) => v(good(bytes), () => 2)],
    ['v 26', (bytes) => v(good(bytes), () => 26)],
    ['v 29', (bytes) => v(good(bytes), (recovery) => 29 + recovery)],
    ['v of a chain', (bytes) => v(good(bytes), (recovery) => 37 + recovery)],
    ['v 255', (bytes) => v(good(bytes), () => 255)],
    ['a high s', (bytes) => withHighS(good(bytes))],
    ['64 bytes', (bytes) => good(bytes).slice(0, -2)],
    ['66 bytes', (bytes) => `${good(bytes)}00`],
    ['zeros', () => `0x${'00'.repeat(64)}1b`],
    ['an s of zero', (bytes) => `${good(bytes).slice(0, 66)}${'00'.repeat(32)}1b`],
    ['an r beyond the field', (bytes) => `0x${'ff'.repeat(32)}${good(bytes).slice(66)}`],
    ['0X', (bytes) => good(bytes).replace('0x', '0X')],
    ['0x twice', (bytes) => `0x${good(bytes)}`],
    ['base58', (bytes) => toBase58(fromHex(good(bytes).slice(2))!)],
    ['a digest without the prefix', (bytes) => signedDigest(keccak256(bytes))],
    ["another wallet's", (bytes) => personalSign(bytes, seed)],
    ['the header instead of its bytes', (bytes) => personalSign(utf8(toBase64Url(bytes)), privateKey)],
    ['an Ed25519 signature', (bytes) => toBase58(signer.sign(bytes))],
  ])('ENV-03 ENV-17 AMB-26 T-14 refuses %s as a secp256k1 signature', async (_, signature) => {
    expectRefusal(await read(evmLocker, signature), 403, 'SIGNATURE_INVALID')
  })

  it('AMB-26 compares the address of the owner without regard to case', async () => {
    const { db } = house.gateway.context.database
    const setOwner = (owner: string) =>
      db.updateTable('lockers').set({ owner }).where('locker_id', '=', evmLocker.lockerId).execute()
    await setOwner(`0x${evmAddressOf(privateKey).slice(2).toUpperCase()}`)
    expect((await read(evmLocker, good)).status).toBe(200)
    await setOwner(evmAddressOf(privateKey))
  })
})

function half(message: Uint8Array, from: number): Uint8Array {
  return signer.sign(message).subarray(from, from + 32)
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.map((byte, i) => (i === at ? byte ^ 1 : byte))
}

/** A second encoding of the same point of the curve. */
function withLargeS(signature: Uint8Array): Uint8Array {
  const s = BigInt(`0x${toHex(signature.slice(32).reverse())}`) + ED25519_ORDER
  return concat(signature.subarray(0, 32), fromHex(s.toString(16).padStart(64, '0'))!.reverse())
}

function withHighS(signature: string): string {
  const s = SECP256K1_ORDER - BigInt(`0x${signature.slice(66, 130)}`)
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${signature.endsWith('1b') ? '1c' : '1b'}`
}

function personalPrefix(message: Uint8Array): Uint8Array {
  return utf8(`\x19Ethereum Signed Message:\n${message.length}`)
}

async function signedDigest(hash: `0x${string}`): Promise<string> {
  return serializeSignature(await sign({ hash, privateKey: `0x${toHex(privateKey)}` }))
}

function swapCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()))
}
