import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import vectors from '../../../vectors/protocol.json' with { type: 'json' }
import { fromHex } from '../src/bytes.ts'
import {
  decodeRecord,
  encodeRecord,
  type RegistryRecord,
  readRegistryAccount,
  registryAddresses,
} from '../src/registry.ts'

const hex = (bytes: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: bytes * 2, maxLength: bytes * 2 })
const u32 = fc.integer({ min: 0, max: 0xffffffff })
const anyRecord: fc.Arbitrary<RegistryRecord> = fc.record({
  proof_id: hex(16),
  snapshot_id: hex(32),
  statement_digest: hex(32),
  merkle_root: hex(32),
  file_count: u32,
  sequence: u32,
  issued_at: fc.maxSafeNat(),
  issuer_key_id: fc.string({ unit: 'binary' }).filter((s) => s.isWellFormed()),
})
const account = fromHex(vectors.sas.account_bytes_with_trailing_token_account.hex)!
const SPECIFIED_BYTES = 313

describe('registry record', () => {
  it('SAS-03 decodes to the encoded record', () => {
    fc.assert(fc.property(anyRecord, (record) => void expect(decodeRecord(encodeRecord(record))).toEqual(record)))
  })

  it('SAS-03 is null for bytes that are truncated or too long', () => {
    const data = fromHex(vectors.sas.data.hex)!
    for (let length = 0; length < data.length; length++) expect(decodeRecord(data.subarray(0, length))).toBeNull()
    expect(decodeRecord(Uint8Array.of(...data, 0))).toBeNull()
  })

  it('ANCH-12 SAS-03 cannot contain counts beyond u32 or ids of another length', () => {
    const record = decodeRecord(fromHex(vectors.sas.data.hex)!)!
    for (const change of [
      { file_count: 2 ** 32 },
      { sequence: -1 },
      { file_count: 1.5 },
      { proof_id: 'ab' },
      { merkle_root: 'AB'.repeat(32) },
    ]) {
      expect(() => encodeRecord({ ...record, ...change })).toThrow(RangeError)
    }
  })

  it('SAS-08 SAS-09 is null for an account that is truncated or of another kind', () => {
    for (let length = 0; length < SPECIFIED_BYTES; length++) {
      expect(readRegistryAccount(account.subarray(0, length))).toBeNull()
    }
    expect(readRegistryAccount(Uint8Array.of(1, ...account.subarray(1)))).toBeNull()
  })

  it('SAS-09 is read from any bytes without throwing', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        expect(() => readRegistryAccount(bytes)).not.toThrow()
      }),
    )
  })

  it('SAS-04 requires an authority that is an address', () => {
    expect(() => registryAddresses('not-an-address')).toThrow(RangeError)
  })
})
