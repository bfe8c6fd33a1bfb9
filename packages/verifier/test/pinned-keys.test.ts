import { describe, expect, it } from 'vitest'
import vectors from '../../../vectors/protocol.json' with { type: 'json' }
import { NOTHING_LISTED as nothingElse, readPinnedKeys } from '../src/pinned-keys.ts'

const list = vectors.signing_keys_example
const hex = vectors.keys.statement_signing.public_key_hex
const otherHex = vectors.keys.short_url.public_key_hex
const [entry] = list.keys
const unbounded = { use: null, validFrom: null, validTo: null }

function listWith(change: object): string {
  return JSON.stringify({ ...list, keys: [{ ...entry, ...change }] })
}

describe('pinned keys', () => {
  it.each([hex, ` ${hex}\n`, `${hex},${otherHex}`, `${hex}\n${otherHex}\n`])(
    'CLI-01 can be given in hex: %s',
    (text) => {
      const keys = text.includes(otherHex) ? [hex, otherHex] : [hex]
      expect(readPinnedKeys(text)).toEqual({
        ok: true,
        keys: keys.map((publicKeyHex) => ({ publicKeyHex, ...unbounded })),
        ...nothingElse,
      })
    },
  )

  it('CLI-01 VER-17 can be given as a list that gateways publish', () => {
    expect(readPinnedKeys(JSON.stringify(list))).toEqual({
      ok: true,
      keys: list.keys.map(({ use }) => ({ ...unbounded, publicKeyHex: hex, use })),
      ...nothingElse,
    })
  })

  it('ADD-07 include the period of a retired key', () => {
    const period = { status: 'retired', valid_from: '2026-01-01T00:00:00Z', valid_to: '2026-06-12T00:00:00.000Z' }
    expect(readPinnedKeys(listWith(period))).toMatchObject({
      ok: true,
      keys: [{ validFrom: 1767225600, validTo: 1781222400 }],
    })
  })

  it.each([
    ['a key id, which is too short to pin', vectors.keys.statement_signing.issuer_key_id, 'too short'],
    ['an empty text', ' \n', 'no key'],
    ['63 digits', hex.slice(1), 'not an Ed25519 public key'],
    ['uppercase hex', hex.toUpperCase(), 'not an Ed25519 public key'],
    ['a key of small order', `01${'00'.repeat(31)}`, 'not an Ed25519 public key'],
    ['a point that is not on the curve', `02${'00'.repeat(31)}`, 'not an Ed25519 public key'],
    ['another schema', JSON.stringify({ ...list, schema: 'x' }), 'schema'],
    ['an empty list', JSON.stringify({ ...list, keys: [] }), 'no key'],
    ['a key twice in one object', `{"schema":"x",${JSON.stringify(list).slice(1)}`, 'occurs twice'],
    ['a key that is not in hex', listWith({ public_key_hex: 7 }), 'not an Ed25519 public key'],
    ['the id of another key', listWith({ key_id: 'ed25519:0000000000000000' }), 'does not match it'],
    ['another algorithm', listWith({ alg: 'rsa' }), 'alg'],
    ['an unknown status', listWith({ status: 'compromised' }), 'status'],
    ['an invalid time', listWith({ valid_to: 'yesterday' }), 'not a time'],
    ['an invalid date', listWith({ valid_to: '2026-02-31T99:00:00Z' }), 'not a time'],
    ['a day that some engines read as the next month', listWith({ valid_to: '2026-02-31T00:00:00Z' }), 'not a time'],
    ['the end of a day as hour 24', listWith({ valid_to: '2026-02-28T24:00:00Z' }), 'not a time'],
    ['a text instead of a key', JSON.stringify({ ...list, keys: ['x'] }), 'not an object'],
    ['a text as recovery key', JSON.stringify({ ...list, recovery: hex }), 'recovery'],
    ['a text as logs', JSON.stringify({ ...list, logs: 'x' }), 'logs'],
  ])('CLI-01 cannot be given as %s', (_, text, problem) => {
    expect(readPinnedKeys(text)).toEqual({ ok: false, problem: expect.stringContaining(problem) })
  })
})
