import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type ChecksumAlgorithm,
  type CrcAlgorithm,
  combineChecksums,
  compositeChecksum,
  readChecksums,
  startChecksum,
} from '../src/checksums.ts'

const CRCS: readonly CrcAlgorithm[] = ['crc32', 'crc32c', 'crc64nvme']

function checksum(algorithm: ChecksumAlgorithm | 'md5', ...pieces: Uint8Array[]): string {
  const running = startChecksum(algorithm)
  for (const piece of pieces) running.update(Buffer.from(piece))
  return running.digest()
}

/** The definition of a CRC: one bit at a time. */
function slowCrc(algorithm: CrcAlgorithm, bytes: Uint8Array): string {
  const width = algorithm === 'crc64nvme' ? 64 : 32
  const polynomial = { crc32: 0xedb88320n, crc32c: 0x82f63b78n, crc64nvme: 0x9a6c9329ac4bc9b5n }[algorithm]
  const ones = (1n << BigInt(width)) - 1n
  let crc = ones
  for (const byte of bytes) {
    crc ^= BigInt(byte)
    for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ polynomial : crc >> 1n
  }
  return toBase64((crc ^ ones).toString(16).padStart(width / 4, '0'))
}

function toBase64(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64')
}

const bytes = fc.uint8Array({ maxLength: 200 })

describe('CRCs', () => {
  it.each<[CrcAlgorithm, string]>([
    ['crc32', 'cbf43926'],
    ['crc32c', 'e3069283'],
    ['crc64nvme', 'ae8b14860a799888'],
  ])('ADD-41 %s has its published check value', (algorithm, hex) => {
    expect(checksum(algorithm, Buffer.from('123456789'))).toBe(toBase64(hex))
  })

  it.each(CRCS)('ADD-41 %s follows its definition, however the bytes are split', (algorithm) => {
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 4 }), (pieces) => {
        expect(checksum(algorithm, ...pieces)).toBe(slowCrc(algorithm, Buffer.concat(pieces)))
      }),
    )
  })

  it.each(['crc32c', 'crc64nvme'] as const)(
    'ADD-41 %s of more bytes than its memory holds at once',
    { tags: ['nightly'] },
    (algorithm) => {
      const long = Buffer.from(Array.from({ length: 250_001 }, (_, i) => (i * i) >> 3))
      for (const piece of [long, long.subarray(1), long.subarray(7, 200_000)]) {
        expect(checksum(algorithm, piece)).toBe(slowCrc(algorithm, piece))
      }
    },
  )
})

describe('uploads in parts', () => {
  it.each(CRCS)('ADD-41 %s of a whole object follows from the checksums of its parts', (algorithm) => {
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 6 }), (parts) => {
        const known = parts.map((part) => ({ checksum: checksum(algorithm, part), size: part.length }))
        expect(combineChecksums(algorithm, known)).toBe(checksum(algorithm, Buffer.concat(parts)))
      }),
    )
  })

  it('ADD-41 parts may be as long as S3 allows', () => {
    const none = { checksum: checksum('crc32', Buffer.alloc(0)), size: 0 }
    const large = { checksum: checksum('crc32', Buffer.from('a')), size: 5 * 2 ** 30 }
    expect(combineChecksums('crc32', [large, none])).toBe(large.checksum)
    expect(combineChecksums('crc32', [large, large])).not.toBe(
      combineChecksums('crc32', [large, { ...large, size: 1 }]),
    )
  })

  it('ADD-41 a composite checksum covers the checksums and their number', () => {
    const parts = [Buffer.from('one'), Buffer.from('two')].map((part) => createHash('sha256').update(part).digest())
    const whole = createHash('sha256').update(Buffer.concat(parts)).digest('base64')
    const texts = parts.map((part) => part.toString('base64'))
    expect(compositeChecksum('sha256', texts)).toBe(`${whole}-2`)
  })
})

describe('headers', () => {
  it('ADD-41 the checksum of a request is read, even a composite one', () => {
    expect(readChecksums({ host: 'a', 'x-amz-checksum-crc32': 'AAAAAA==' })).toEqual({ crc32: 'AAAAAA==' })
    expect(readChecksums({ 'x-amz-checksum-crc32': 'AAAAAA==-3' })).toEqual({ crc32: 'AAAAAA==-3' })
    const about = {
      'x-amz-checksum-algorithm': 'CRC32',
      'x-amz-checksum-type': 'COMPOSITE',
      'x-amz-checksum-mode': 'ENABLED',
    }
    expect(readChecksums(about)).toEqual({})
  })

  it('T-93 a malformed CRC32 or an unknown algorithm is rejected', () => {
    const values = ['', '=', 'AAAAAA', 'AAAAAB==', 'AAAAAA== ', 'AAAAAAAA', '-1', 'AAAAAA==-', 'AAAAAA==-1-1']
    for (const value of [...values, 'constructor']) {
      const invalid = expect.objectContaining({ code: 'InvalidRequest' })
      expect(() => readChecksums({ 'x-amz-checksum-crc32': value }), value).toThrow(invalid)
    }
    for (const name of ['xxhash64', 'sha512', 'constructor', '']) {
      const unknown = expect.objectContaining({ code: 'NotImplemented' })
      expect(() => readChecksums({ [`x-amz-checksum-${name}`]: 'AAAAAA==' }), name).toThrow(unknown)
    }
  })
})
