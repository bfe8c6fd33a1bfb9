import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromHex, toBase58, toHex } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import vectors from '../../../../vectors/protocol.json' with { type: 'json' }
import { developmentSeed, isDevelopmentSeed, parseKeySeed } from '../../src/program/keys.ts'

const seed = new Uint8Array(32).fill(5)
const pair = Buffer.concat([seed, ed25519Signer(seed).publicKey])

describe('parseKeySeed', () => {
  it.each([
    ['hex', toHex(seed)],
    ['uppercase hex with a line end', `${toHex(seed).toUpperCase()}\n`],
    ["a wallet's JSON array", JSON.stringify([...pair])],
    ['base58 of the pair', toBase58(pair)],
  ])('reads %s', (_, text) => {
    expect(parseKeySeed(text)).toEqual(seed)
  })

  it.each([
    ['nothing', ''],
    ['short hex', 'ab'.repeat(31)],
    ['a damaged pair', JSON.stringify([...pair.subarray(0, 63), 0])],
    ['an array of 32', JSON.stringify([...seed])],
    ['numbers beyond a byte', JSON.stringify([...pair.subarray(1), 256])],
    ['broken JSON', '[1,2'],
  ])('refuses %s', (_, text) => {
    expect(parseKeySeed(text)).toBeNull()
  })
})

describe('development keys', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-keys-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('T-13 are created once, readable by their owner only, and recognised', () => {
    const first = developmentSeed(folder, 'statement')
    expect(developmentSeed(folder, 'statement')).toEqual(first)
    expect(developmentSeed(folder, 'publication')).not.toEqual(first)
    expect(statSync(join(folder, 'statement.development.key')).mode & 0o077).toBe(0)
    expect(isDevelopmentSeed(first)).toBe(true)
  })

  it('T-13 include the published test keys, and no others', () => {
    for (const key of Object.values(vectors.keys)) {
      if (typeof key === 'object' && 'seed_hex' in key) expect(isDevelopmentSeed(fromHex(key.seed_hex)!)).toBe(true)
    }
    expect(isDevelopmentSeed(seed)).toBe(false)
  })

  it('are not replaced when their file is damaged, and the error names the file', () => {
    writeFileSync(join(folder, 'x.development.key'), 'not a key')
    expect(() => developmentSeed(folder, 'x')).toThrow('x.development.key')
  })
})
