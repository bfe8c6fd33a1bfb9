// Checksums that clients send with a body, `x-amz-checksum-*`, in base64.

import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { fromBase64 } from '@svc/protocol/bytes'
import { CRC32, CRC32C, CRC64NVME, combineCrcs } from './crc-combine.ts'
import { crc32c, crc64nvme } from './crcs.ts'
import { s3Error } from './errors.ts'

export type CrcAlgorithm = 'crc32' | 'crc32c' | 'crc64nvme'
export type ChecksumAlgorithm = CrcAlgorithm | 'sha1' | 'sha256'

/** Values in base64. */
export type Checksums = Partial<Record<ChecksumAlgorithm, string>>

const BYTES: Readonly<Record<ChecksumAlgorithm, number>> = { crc32: 4, crc32c: 4, crc64nvme: 8, sha1: 20, sha256: 32 }

const POLYNOMIALS = { crc32: CRC32, crc32c: CRC32C, crc64nvme: CRC64NVME }

const PREFIX = 'x-amz-checksum-'
/** What follows the prefix in headers that are not checksums. */
const OTHERS: readonly string[] = ['algorithm', 'type', 'mode']

/** The algorithm of a header or a trailer; null for other names. */
export function algorithmOf(name: string): ChecksumAlgorithm | null {
  if (!name.startsWith(PREFIX)) return null
  const rest = name.slice(PREFIX.length)
  if (OTHERS.includes(rest)) return null
  if (isAlgorithm(rest)) return rest
  const known = Object.keys(BYTES).join(', ')
  throw s3Error('NotImplemented', `the checksum algorithm ${rest.slice(0, 20)} is not supported`, `use one of ${known}`)
}

function isAlgorithm(text: string): text is ChecksumAlgorithm {
  return Object.hasOwn(BYTES, text)
}

/** The checksum in the headers, if any; a composite one ends with the number of parts. */
export function readChecksums(headers: Readonly<Record<string, string>>): Checksums {
  const found: Checksums = {}
  for (const [name, value] of Object.entries(headers)) {
    const algorithm = algorithmOf(name)
    if (algorithm) found[algorithm] = requireChecksum(name, algorithm, value)
  }
  if (Object.keys(found).length > 1)
    throw s3Error('InvalidRequest', 'a request may have only one x-amz-checksum- header')
  return found
}

export function requireChecksum(name: string, algorithm: ChecksumAlgorithm, value: string): string {
  const bytes = fromBase64(value.replace(/-\d{1,5}$/, ''))
  if (bytes?.length === BYTES[algorithm]) return value
  throw s3Error('InvalidRequest', `the value of ${name} is not the base64 of ${BYTES[algorithm]} bytes`)
}

export interface RunningChecksum {
  update(bytes: Buffer): void
  /** Base64. */
  digest(): string
}

export function startChecksum(algorithm: ChecksumAlgorithm | 'md5'): RunningChecksum {
  switch (algorithm) {
    case 'crc32':
      return running(crc32, 0, base64Of32)
    case 'crc32c':
      return running(crc32c, 0n, (value) => base64Of32(Number(value)))
    case 'crc64nvme':
      return running(crc64nvme, 0n, base64Of64)
  }
  const hash = createHash(algorithm)
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('base64') }
}

function running<State>(
  add: (bytes: Buffer, state: State) => State,
  initial: State,
  format: (state: State) => string,
): RunningChecksum {
  let state = initial
  return {
    update(bytes) {
      state = add(bytes, state)
    },
    digest: () => format(state),
  }
}

function base64Of32(value: number): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes.toString('base64')
}

function base64Of64(value: bigint): string {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(value)
  return bytes.toString('base64')
}

/** The checksum of a whole object, computed from those of its parts (`x-amz-checksum-type: FULL_OBJECT`). */
export function combineChecksums(
  algorithm: CrcAlgorithm,
  parts: readonly { checksum: string; size: number }[],
): string {
  const crcs = parts.map(({ checksum, size }) => ({ crc: crcOf(checksum), size }))
  const whole = combineCrcs(POLYNOMIALS[algorithm], crcs)
  return algorithm === 'crc64nvme' ? base64Of64(whole) : base64Of32(Number(whole))
}

function crcOf(base64: string): bigint {
  return BigInt(`0x${Buffer.from(base64, 'base64').toString('hex')}`)
}

/** The checksum of the checksums of the parts (`COMPOSITE`): `<base64>-<count>`. */
export function compositeChecksum(algorithm: ChecksumAlgorithm, parts: readonly string[]): string {
  const checksum = startChecksum(algorithm)
  for (const part of parts) checksum.update(Buffer.from(part, 'base64'))
  return `${checksum.digest()}-${parts.length}`
}
