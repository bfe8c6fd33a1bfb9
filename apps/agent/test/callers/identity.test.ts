import { toBase58 } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import type { WireRequest } from '@svc/service/http/wire-request'
import { expect, it } from 'vitest'
import { identityOf } from '../../src/callers/identity.ts'

const KEY = toBase58(ed25519Signer(new Uint8Array(32).fill(7)).publicKey)
const ADDRESS = `0x${'aB'.repeat(20)}`
const requestFrom = (identity: string | undefined) =>
  ({ headers: { 'x-svc-identity': identity } }) as unknown as WireRequest

it('AGENT-03 AGENT-04 an identity is a base58 key, or an EVM address in any letter case', () => {
  expect(identityOf(requestFrom(KEY))).toBe(KEY)
  expect(identityOf(requestFrom(` ${KEY}\t`))).toBe(KEY)
  expect(identityOf(requestFrom(ADDRESS))).toBe(ADDRESS.toLowerCase())
  expect(identityOf(requestFrom(ADDRESS.toLowerCase()))).toBe(ADDRESS.toLowerCase())
})

it.each([
  ['nothing', undefined],
  ['an empty header', ''],
  ['two identities, as Node joins them', `${KEY}, ${KEY}`],
  ['half an address', ADDRESS.slice(0, -1)],
  ['an address that is too long', `${ADDRESS}0`],
  ['an address with a capital X', ADDRESS.replace('0x', '0X')],
  ['an address without 0x', ADDRESS.slice(2)],
  ['an address that is not hexadecimal', `0x${'zz'.repeat(20)}`],
  ['31 bytes', toBase58(new Uint8Array(31).fill(7))],
  ['33 bytes', toBase58(new Uint8Array(33).fill(7))],
  ['a letter that base58 does not have', `${KEY.slice(0, -1)}0`],
  ['a weak key, for which anyone can sign', toBase58(new Uint8Array(32))],
  ['bytes that are not a key', toBase58(new Uint8Array(32).fill(2))],
  ['a word', 'constructor'],
  ['a very long text', '1'.repeat(16_000)],
])('AGENT-03 an identity header with %s is rejected with a 422 that names it', (_, text) => {
  const loc = ['header', 'X-Svc-Identity']
  try {
    expect.unreachable(identityOf(requestFrom(text)))
  } catch (error) {
    expect(error).toMatchObject({ code: 'validation_error', status: 422 })
    expect((error as { body(id: string): unknown }).body('r')).toMatchObject({ detail: [{ loc }] })
  }
})
